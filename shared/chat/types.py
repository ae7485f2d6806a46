"""Types that the chat modules share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Json = dict[str, Any]
"""A JSON object: a request, a message, a schema."""

Reply = Callable[[Json], Json]
"""A chat model: a Chat Completions request in, a Chat Completions response out.

Raises `validation.BadRequest` for a request that it refuses.
"""
