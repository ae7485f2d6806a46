"""Filling in a call: the values that a text offers for a property, going by its schema alone."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..types import Json

DEEPEST = 8  # a schema can refer to itself, and no question fills a tree without end

_BRANCHES = ("anyOf", "oneOf", "allOf")

Found = list[tuple[Any, int]]
"""Values and where in the text they stand."""


@dataclass(frozen=True)
class Missing:
    """A required property that the question has no value for; its schema is resolved."""

    name: str
    schema: Json


@dataclass(frozen=True)
class Filled:
    """The arguments of each call to make. What `missing` names is not among them."""

    calls: list[Json]
    missing: list[Missing]


def fill(parameters: Json, question: str, about: Sequence[str] = ()) -> Filled:
    """The arguments for a tool: one call, or several when the question names several things of the
    kind that the tool looks up.

    `about` are the parts of the question that ask for this tool: a value there goes before one
    elsewhere. A schema without properties is filled with `{}`, whatever the question says.
    """
    return _fill(resolve(parameters, parameters), parameters, question, about, DEEPEST)


def offered(name: str, schema: Json, text: str) -> list[Any]:
    """The values in a text that fit a property, in the order in which they stand, each once.

    `schema` is resolved. Empty for a property that takes free text, since any text would fit.
    """
    return [value for value, _ in placed(name, schema, text)]


def placed(name: str, schema: Json, text: str) -> Found:
    """Like `offered`, with the position of each value in the text."""
    look = _look(name, schema)
    if look is None:
        return []
    unique: dict[str, tuple[Any, int]] = {}
    for value, position in sorted(look(text), key=lambda pair: pair[1]):
        unique.setdefault(json.dumps(value), (value, position))
    return list(unique.values())


def property_schemas(parameters: Json) -> dict[str, Json]:
    """The properties of a tool by name, each resolved."""
    return _properties(resolve(parameters, parameters), parameters)


def resolve(schema: Any, root: Json) -> Json:
    """A schema with its `$ref` followed, its first branch that is not null taken, and one type.

    A reference that leads nowhere, or in a circle, gives a schema that says nothing.
    """
    for _ in range(DEEPEST):
        if not isinstance(schema, dict):
            return {}
        branches: list[Any] = next(
            (schema[key] for key in _BRANCHES if isinstance(schema.get(key), list)), []
        )
        if isinstance(schema.get("$ref"), str):
            rest = {key: value for key, value in schema.items() if key != "$ref"}
            schema = {**_target(schema["$ref"], root), **rest}
        elif branches and "type" not in schema:
            real = [one for one in branches if isinstance(one, dict) and one.get("type") != "null"]
            rest = {k: v for k, v in schema.items() if k not in _BRANCHES}
            schema = {**(real[0] if real else {}), **rest}
        elif isinstance(schema.get("type"), list):
            kinds = [kind for kind in schema["type"] if kind != "null"]
            return {**schema, "type": kinds[0] if kinds else "null"}
        else:
            return schema
    return {}


def _fill(schema: Json, root: Json, question: str, about: Sequence[str], depth: int) -> Filled:
    properties = _properties(schema, root)
    required = schema.get("required") or []
    offers = {name: _nearby(name, prop, question, about) for name, prop in properties.items()}
    arguments: Json = {}
    several: dict[str, list[Any]] = {}
    missing: list[Missing] = []
    taken: list[Any] = []  # one value in the question serves one property
    # Required properties first, so that an optional one does not take the only value there is.
    for name in sorted(properties, key=lambda name: name not in required):
        prop, needed = properties[name], name in required
        free = [value for value in offers[name] if value not in taken]
        if "const" in prop:
            if needed:
                arguments[name] = prop["const"]
        elif free or (offers[name] and needed):
            arguments[name] = (free or offers[name])[0]
            taken.append(arguments[name])
            alone = sum(offers[other] == offers[name] for other in offers) == 1
            if needed and alone and len(offers[name]) > 1 and _selects(name, prop):
                several[name] = offers[name]
        elif needed:
            value = _unasked(name, prop, root, question, depth)
            if isinstance(value, Missing):
                missing.append(value)
            else:
                arguments[name] = value
    ordered = {name: arguments[name] for name in properties if name in arguments}
    if len(several) != 1:
        return Filled([ordered], missing)
    [(name, values)] = several.items()
    return Filled([{**ordered, name: value} for value in values], missing)


def _nearby(name: str, schema: Json, question: str, about: Sequence[str]) -> list[Any]:
    return offered(name, schema, "\n".join(about)) or offered(name, schema, question)


def _unasked(name: str, schema: Json, root: Json, question: str, depth: int) -> Any:
    """A value for a required property that the question does not mention, or Missing."""
    kind = schema.get("type")
    if "default" in schema:
        return schema["default"]
    if schema.get("enum"):
        return schema["enum"][0]
    if kind == "object" and depth > 0:
        inner = _fill(schema, root, question, (), depth - 1)
        return inner.calls[0] if not inner.missing else Missing(name, schema)
    if kind in ("boolean", "null"):
        return False if kind == "boolean" else None
    if _is_zone(name, schema) and (zone := _DEFAULT_ZONE.search(_description(schema))):
        return zone[1]
    if kind in ("string", None) and _look(name, schema) is None:
        return question
    if kind == "array" and _look(name, schema) is None:
        return [question]
    return Missing(name, schema)


def _properties(schema: Json, root: Json) -> dict[str, Json]:
    """The properties of a resolved schema, each resolved; an array brings its items along so."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return {}
    resolved = {name: resolve(prop, root) for name, prop in properties.items()}
    return {
        name: {**prop, "items": resolve(prop["items"], root)} if "items" in prop else prop
        for name, prop in resolved.items()
    }


def _target(reference: str, root: Json) -> Json:
    """What `#/$defs/Name` leads to; an empty schema when that is nothing, or another document."""
    here: Any = root
    if not reference.startswith("#"):
        return {}
    for step in reference[1:].split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        here = here.get(step) if isinstance(here, dict) else None
    return here if isinstance(here, dict) else {}


# Looking for values: which way of looking suits a property

Look = Callable[[str], Found]


def _look(name: str, schema: Json) -> Look | None:
    """How to find values for a property in a text; None when it takes free text, or an object."""
    kind = schema.get("type")
    if isinstance(schema.get("enum"), list):
        return lambda text: _options(schema["enum"], text)
    if kind in ("integer", "number"):
        return lambda text: _numbers(schema, text)
    if kind == "array":
        one = _look(name, schema.get("items") or {})
        if one is None:
            return None
        return lambda text: [([value for value, _ in found], 0)] if (found := one(text)) else []
    if kind not in ("string", None):
        return None
    if pattern := _matcher(schema.get("pattern")):
        return lambda text: [(m[0], m.start()) for m in pattern.finditer(text) if m[0]]
    if _says(_FREE, name):
        return None
    for suits, look in _LOOKS:
        if suits(name, schema):
            return look
    return None


def _selects(name: str, schema: Json) -> bool:
    """Whether a property says which thing to look up, so that two values mean two calls."""
    return schema.get("type") in ("string", None) and (
        "enum" in schema or _matcher(schema.get("pattern")) is not None or _names_one(name, schema)
    )


def _matcher(pattern: Any) -> re.Pattern[str] | None:
    """A schema's pattern as a search through a text: `^SO\\d{8}$` finds no part of `SO202609011`.

    The digits of `\\d` are ASCII, as in JavaScript, whose patterns these are. None for no pattern,
    and for one that Python cannot read: then the property is looked at as if it had none.
    """
    if not isinstance(pattern, str):
        return None
    begins, ends = pattern.startswith("^"), pattern.endswith("$") and not pattern.endswith(r"\$")
    core = pattern[begins : len(pattern) - ends]
    more = "[A-Za-z0-9_-]*"  # an open end may go on
    core = f"{'' if begins else more}(?:{core}){'' if ends else more}"
    try:
        return re.compile(rf"(?<![A-Za-z0-9_]){core}(?![A-Za-z0-9_])", re.ASCII)
    except re.error:
        return None


def _options(options: Sequence[Any], text: str) -> Found:
    found: Found = []
    taken: list[tuple[int, int]] = []
    for option in sorted(options, key=lambda option: -len(str(option))):
        words = option if isinstance(option, str) else json.dumps(option)
        if not words:
            continue
        match = re.search(rf"(?<![a-z0-9_]){re.escape(words)}(?![a-z0-9_])", text, re.IGNORECASE)
        if match and not any(s <= match.start() and match.end() <= e for s, e in taken):
            taken.append(match.span())
            found.append((option, match.start()))
    return found


_NUMBER = re.compile(r"(?<![A-Za-z0-9_./:-])-?[0-9]+(?:\.[0-9]+)?(?![A-Za-z0-9_/:-]|\.[0-9])")


def _numbers(schema: Json, text: str) -> Found:
    """Numbers that stand alone, not those in a date or an order number; those in bounds first."""
    found: Found = []
    for match in _NUMBER.finditer(text):
        if "." not in match[0]:
            found.append((int(match[0]), match.start()))
        elif schema["type"] == "number":
            found.append((float(match[0]), match.start()))
    low, high = (
        schema[key] if isinstance(schema.get(key), int | float) else endless
        for key, endless in (("minimum", float("-inf")), ("maximum", float("inf")))
    )
    return [pair for pair in found if low <= pair[0] <= high] or found


_TOKEN = re.compile(
    r"(?<![A-Za-z0-9_/.])"
    r"(?:[A-Z]{1,4} [0-9]{4,}"
    r"|(?=[A-Za-z_-]*[0-9])(?=[0-9_-]*[A-Za-z])[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*)"
    r"(?![A-Za-z0-9_])"
)
_DIGITS = re.compile(r"(?<![A-Za-z0-9_./:-])[0-9]{3,}(?![A-Za-z0-9_/:-]|\.[0-9])")
_CLOCK_OR_ORDINAL = re.compile(r"[0-9]+(?:am|pm|st|nd|rd|th)", re.IGNORECASE)
_ZONE = r"(?:[A-Z][A-Za-z_]+(?:/[A-Z][A-Za-z0-9_+-]+)+|UTC|GMT)"
_DEFAULT_ZONE = re.compile(rf"(?:use|default\w*|默认\w*?|使用|用)\W*({_ZONE})", re.IGNORECASE)


def identifiers(text: str) -> Found:
    """Words of letters and digits, as typed (`SO-20260901`); without any, longer runs of digits."""
    tokens = [m for m in _TOKEN.finditer(text) if not _CLOCK_OR_ORDINAL.fullmatch(m[0])]
    return [(m[0], m.start()) for m in tokens or _DIGITS.finditer(text)]


def _finder(pattern: str) -> Look:
    compiled = re.compile(pattern, re.ASCII)
    return lambda text: [(m[0], m.start()) for m in compiled.finditer(text)]


_paths = _finder(
    r"(?<![A-Za-z0-9_:/.~])(?:~|\.{1,2})?/[^\s,;，。；、：？！'\"“”「」（）()]+"
    r"|\b[A-Za-z]:\\[^\s,;，。；、：？！'\"“”「」（）()]+"
    r"|(?<![A-Za-z0-9_./-])[A-Za-z0-9_-]+\.[A-Za-z]{1,5}(?![A-Za-z0-9_./-])"
)
_zones = _finder(rf"(?<![A-Za-z/]){_ZONE}(?![A-Za-z/])")
_urls = _finder(r"https?://[^\s,;，。；、：？！'\"“”「」（）()]+")
_dates = _finder(r"(?<![0-9])[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])")
_clocks = _finder(r"(?<![0-9:])[0-9]{1,2}:[0-9]{2}(?![0-9:])")


def _description(schema: Json) -> str:
    described = schema.get("description")
    return described if isinstance(described, str) else ""


def _says(pattern: re.Pattern[str], name: str) -> bool:
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ").replace("-", " ")
    return bool(pattern.search(words.lower()))


_FREE = re.compile(
    r"\b(?:query|question|text|keywords?|message|content|prompt|q|input|note|reason)\b"
)
_ZONE_NAME = re.compile(r"\b(?:time ?zone|tz)\b|时区")
_URL_NAME = re.compile(r"\b(?:url|uri|link)\b|网址|链接")
_PATH_NAME = re.compile(r"\b(?:path|paths|files?|filename|dir|directory|folder)\b|路径|目录|文件")
_DATE_NAME = re.compile(r"\b(?:date|day)\b|日期")
_CLOCK_NAME = re.compile(r"\btime\b")
_ID_NAME = re.compile(r"\b(?:ids?|numbers?|no|code|sku|identifier|waybill)\b|编号|号")
_ID_WORDS = re.compile(r"\b(?:id|identifier|number)\b|编号|(?<![符信括引])号", re.IGNORECASE)


def _is_zone(name: str, schema: Json) -> bool:
    return (
        _says(_ZONE_NAME, name) or "IANA" in _description(schema) or "时区" in _description(schema)
    )


def _is_url(name: str, schema: Json) -> bool:
    return schema.get("format") in ("uri", "url") or _says(_URL_NAME, name)


def _is_path(name: str, schema: Json) -> bool:
    return _says(_PATH_NAME, name)


def _is_date(name: str, schema: Json) -> bool:
    return schema.get("format") == "date" or _says(_DATE_NAME, name)


def _is_clock(name: str, schema: Json) -> bool:
    return _says(_CLOCK_NAME, name) and "HH:MM" in _description(schema).upper()


def _is_identifier(name: str, schema: Json) -> bool:
    return _says(_ID_NAME, name) or bool(_ID_WORDS.search(_description(schema)))


def _names_one(name: str, schema: Json) -> bool:
    suits = next((suits for suits, _ in _LOOKS if suits(name, schema)), None)
    return suits in (_is_zone, _is_url, _is_path, _is_identifier) and not _says(_FREE, name)


_LOOKS: tuple[tuple[Callable[[str, Json], bool], Look], ...] = (
    (_is_zone, _zones),
    (_is_url, _urls),
    (_is_path, _paths),
    (_is_clock, _clocks),
    (_is_date, _dates),
    (_is_identifier, identifiers),
)
