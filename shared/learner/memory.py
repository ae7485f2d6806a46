"""What a command remembers between runs: one small JSON file, written whole or not at all."""

from __future__ import annotations

import datetime
import json
import os
import secrets
from pathlib import Path
from typing import Any

from shared.i18n import Text

SET_ASIDE = Text(
    en="({path} could not be read, so this begins anew; what it held is kept in {kept}.)",
    zh="（{path} 读不出来，这里从头开始；原来的内容保留在 {kept}。）",
)
UNREADABLE = Text(
    en="({path} could not be read: {reason}. This begins anew.)",
    zh="（{path} 无法读取：{reason}。这里从头开始。）",
)
NOT_KEPT = Text(
    en="({path} could not be written: {reason}. This time will not be remembered.)",
    zh="（{path} 无法写入：{reason}。这一次不会被记住。）",
)


def recall(path: Path) -> tuple[dict[str, Any], Text | None]:
    """The JSON object in a file, empty when there is no such file.

    A file that holds something else is set aside, and the second value says so in a sentence.
    """
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return {}, None
    except OSError as error:
        return {}, UNREADABLE(path=_shown(path), reason=error.strerror or error)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return value, None
    now = datetime.datetime.now()
    kept = path.with_name(f"{path.name}.broken-{now:%Y-%m-%d_%H-%M-%S}-{secrets.token_hex(2)}")
    try:
        path.replace(kept)
    except OSError as error:
        return {}, UNREADABLE(path=_shown(path), reason=error.strerror or error)
    return {}, SET_ASIDE(path=_shown(path), kept=_shown(kept))


def remember(path: Path, value: dict[str, Any]) -> Text | None:
    """Write a JSON object in the place of what a file held; the sentence says why it could not."""
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            text = json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
            part.write_text(text, encoding="utf-8")
            os.replace(part, path)  # noqa: PTH105 - the one call that is atomic on every platform
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    except OSError as error:
        return NOT_KEPT(path=_shown(path), reason=error.strerror or error)
    return None


def _shown(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"
