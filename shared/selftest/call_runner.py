"""Runs single calls of learner code in a process of their own: JSON in on stdin, JSON out.

What the learner's code prints goes to stderr: the results have a file descriptor of their own,
which is taken off stdout before any of that code is imported.
"""

from __future__ import annotations

import copy
import dataclasses
import importlib
import json
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any


def main() -> None:
    """Read `{"module", "function", "calls": [[argument, …], …]}`, answer with
    `{"results": [{"value", "arguments", "type"} | {"no_json"} | {"raised"}, …]}`.

    `arguments` are what the call left of its arguments. A module or function that is not there
    raises, as it would anywhere.
    """
    output = os.dup(1)
    os.dup2(2, 1)
    request = json.load(sys.stdin)
    module = importlib.import_module(request["module"])
    if not hasattr(module, request["function"]):
        name = request["function"]
        raise ImportError(
            f"cannot import name {name!r} from {module.__name__!r}", name=module.__name__
        )
    function = getattr(module, request["function"])
    results = [_call(function, arguments) for arguments in request["calls"]]
    with os.fdopen(output, "w", encoding="utf-8") as file:
        json.dump({"results": results}, file)


def _call(function: Callable[..., Any], arguments: list[Any]) -> dict[str, Any]:
    arguments = copy.deepcopy(arguments)
    try:
        value = function(*arguments)
    except Exception:
        return {"raised": traceback.format_exc()}
    kind = type(value).__name__
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return {"no_json": repr(value)[:300]}
    return {"value": value, "arguments": arguments, "type": kind}


if __name__ == "__main__":
    main()
