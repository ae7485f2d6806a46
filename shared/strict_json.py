"""JSON as its specification has it, from senders that may send anything."""

from __future__ import annotations

import json
import math
from typing import Any

MAX_DEPTH = 100  # of nesting; what reads a message further on does so by recursion


def parse_json(text: str) -> Any:
    """Parse JSON: Python's NaN and Infinity are none, nor are numbers beyond a float.

    Raises ValueError, for nesting without end as well.
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if text.count("[") + text.count("{") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        raise ValueError("nested too deeply")
    return value


def _depth(value: Any) -> int:
    """How deep lists and objects are nested, without recursion."""
    depth, level = 0, [value]
    while level:
        depth += 1
        inner = [one for one in level if isinstance(one, (dict, list))]
        level = [
            child for one in inner for child in (one.values() if isinstance(one, dict) else one)
        ]
    return depth


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text} is more than a float holds")
    return value


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
