"""Imported by the supervisor of agents, once: all that an agent loads, the lazy parts included.

The openai client imports much of itself, and builds many of its pydantic models, at the first
request. One request to the mock, in this process, pays for that in advance.
"""

import subprocess  # noqa: F401
import threading  # noqa: F401

import shared.mcp_config
import shared.program
import shared.selftest.call_runner
import shared.selftest.schemas  # noqa: F401
from shared.chat.model import ChatModel

_TOOL = {
    "type": "function",
    "function": {
        "name": "today",
        "description": "the date of today",
        "parameters": {"type": "object", "properties": {}},
    },
}

with ChatModel.from_env({"MOCK": "1"}) as model:
    model.complete([{"role": "user", "content": "What is the date of today?"}], [_TOOL])
