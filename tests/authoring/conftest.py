"""A small course to generate from."""

from __future__ import annotations

from pathlib import Path

import pytest

BRIDGE = """from .shop import price

PRICES = [price]


def total() -> int:
    # region exercise 1: add
    # starter: return 0
    return sum(each() for each in PRICES)
    # endregion
"""
SHOP = """def price() -> int:
    # region exercise 2: a price
    # starter: raise NotImplementedError
    return 3
    # endregion
"""


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A checkout with one day in `solutions/`, and no `labs/` yet."""
    day = tmp_path / "solutions" / "day01_shop"
    day.mkdir(parents=True)
    (tmp_path / "solutions" / "__init__.py").write_text('"""The days."""\n', encoding="utf-8")
    (day / "__init__.py").write_bytes(b"")
    (day / "bridge.py").write_text(BRIDGE, encoding="utf-8")
    (day / "shop.py").write_text(SHOP, encoding="utf-8")
    (day / "mcp.json").write_text('{"mcpServers": {}}\n', encoding="utf-8")
    (day / "README.md").write_text("# Day 1\n", encoding="utf-8")
    (day / "README.zh-CN.md").write_text("# 第 1 天\n", encoding="utf-8")
    (day / "__pycache__").mkdir()
    (day / "__pycache__" / "shop.cpython-312.pyc").write_bytes(b"\0")
    (day / ".DS_Store").write_bytes(b"\0")
    return tmp_path


@pytest.fixture
def day(course: Path) -> Path:
    """The day's folder in `solutions/`."""
    return course / "solutions" / "day01_shop"
