"""Tools that live in the host itself: plain functions, no process, no protocol.

Next to the tools of the servers they go into one list; the model cannot tell them apart.
"""

import datetime
from collections.abc import Callable
from typing import Any

WEEKDAYS = "一二三四五六日"


def today(arguments: dict[str, Any]) -> str:
    """The date, in the words of the shop's customers; there are no arguments to look at."""
    day = datetime.date.today()
    return f"今天是 {day.isoformat()}，星期{WEEKDAYS[day.weekday()]}"


FUNCTION_TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "today",
            "description": "查询今天的日期和星期几",
            "parameters": {"type": "object", "properties": {}},
        },
    }
]

FUNCTIONS: dict[str, Callable[[dict[str, Any]], str]] = {"today": today}
