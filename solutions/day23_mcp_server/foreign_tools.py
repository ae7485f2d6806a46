"""Tools as other people's servers describe them: what a bridge has to carry over unharmed."""

import copy
import random
from typing import Any

FOREIGN_TOOLS: list[dict[str, Any]] = [
    {
        "name": "create_ticket",
        "title": "Create a ticket",
        "description": "Open a support ticket for a customer.",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {
                "Person": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string"},
                        "manager": {"$ref": "#/$defs/Person"},
                    },
                    "required": ["name"],
                }
            },
            "properties": {
                "customer": {"$ref": "#/$defs/Person"},
                "priority": {"type": "string", "enum": ["low", "normal", "urgent"]},
            },
            "required": ["customer"],
            "additionalProperties": False,
        },
    },
    {
        "name": "search-goods",
        "description": "在商品库里搜索",
        "inputSchema": {
            "type": "object",
            "properties": {
                "filter": {
                    "type": "object",
                    "properties": {
                        "price": {
                            "type": "object",
                            "properties": {
                                "low": {"type": "number", "minimum": 0},
                                "high": {"anyOf": [{"type": "number"}, {"type": "null"}]},
                            },
                        },
                        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 5},
                    },
                    "required": ["price"],
                },
                "limit": {"type": "integer", "default": 10, "maximum": 50},
            },
            "required": ["filter"],
            "minProperties": 1,
            "description": "A filter, and how many to return at most.",
        },
    },
    {
        "name": "list_warehouses",
        "description": "A tool that takes nothing.",
        "inputSchema": {"type": "object"},
    },
    {
        "name": "ping_carrier",
        "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False},
    },
]


def draw_foreign_tools(draw: random.Random) -> list[dict[str, Any]]:
    """These tools under names of this run, with keywords in their schemas that nobody can have
    foreseen: who carries everything over has no need to."""
    tools = []
    for tool in copy.deepcopy(FOREIGN_TOOLS):
        tool["name"] += f"_{draw.randrange(1000)}"
        schema = tool["inputSchema"]
        schema[f"x-{draw.randrange(1000)}"] = draw.randrange(1000)
        keyword = draw.choice(["allOf", "anyOf", "oneOf", "not", "if"])
        part = {"minProperties": draw.randrange(3)}
        schema[keyword] = [part] if keyword.endswith("Of") else part
        for inner in schema.get("properties", {}).values():
            inner[f"x-{draw.randrange(1000)}"] = [draw.randrange(10)]
        tools.append(tool)
    return tools
