"""Tools as other people's servers describe them: what a bridge has to carry over unharmed."""

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
