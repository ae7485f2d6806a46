"""Which tools fit a question: its words against their descriptions, and more weakly their names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..types import Json
from .lexicon import ATTRIBUTES, Meaning, understand

TOPIC_WEIGHT, ATTRIBUTE_WEIGHT, SUBJECT_WEIGHT = 3.0, 2.0, 1.0
WORD_WEIGHT, WORDS_AT_MOST = 0.5, 4  # plain words never outweigh a topic
NAME_FACTOR = 0.5  # what only the name says counts half


@dataclass(frozen=True)
class Tool:
    """A tool as the model sees it: what its description says it is for, and what its name hints."""

    name: str
    parameters: Json
    described: Meaning
    named: Meaning

    @property
    def asked(self) -> frozenset[str]:
        """Everything that this tool can be asked for."""
        return self.described.asked | self.named.asked


@dataclass(frozen=True)
class Choice:
    """A tool to call, and the parts of the question that ask for it."""

    tool: Tool
    reasons: tuple[str, ...]


def read_tools(tools: Sequence[Json]) -> list[Tool]:
    """The tools of a request that passed validation, in their order."""
    functions: list[Json] = [tool["function"] for tool in tools]
    names = [function["name"] for function in functions]
    return [
        Tool(
            name=function["name"],
            parameters=function.get("parameters") or {},
            described=understand(own_words(function, names)),
            named=understand(re.sub(r"(?<=[a-z])(?=[A-Z])|-", " ", function["name"])),
        )
        for function in functions
    ]


def choose(question: str, tools: Sequence[Tool]) -> list[Choice]:
    """The tools that the question asks for, in the order of `tools`; none when none fits.

    Each thing that is asked for goes to the tool that fits best; a tool that serves several of them
    is chosen once.
    """
    whole = understand(question)
    clauses = [(clause, understand(clause)) for clause in split_question(question)]
    chosen: list[Tool] = []
    served: set[tuple[str, frozenset[str]]] = set()  # what was asked for, and of which subjects
    subjects = whole.subjects
    for _, clause in clauses:
        subjects = clause.subjects or subjects  # "and where is it?": a clause before says what
        meaning = replace(clause, subjects=subjects)
        asked = {(one, _owner(one, meaning)) for one in clause.asked}
        while wanted := {one for one, _ in asked - served}:
            able = [tool for tool in tools if tool.asked & wanted and score(meaning, tool) > 0]
            if not able:
                break
            best = _best(able, [meaning, whole])
            if best not in chosen:
                chosen.append(best)
            served |= {(one, _owner(one, meaning)) for one in best.asked}
    if not chosen and (best_at_all := best_of(whole, tools)) and score(whole, best_at_all) > 0:
        chosen = [best_at_all]
    return [
        Choice(tool, tuple(text for text, clause in clauses if clause.asked & tool.asked))
        for tool in tools
        if tool in chosen
    ]


def best_of(question: Meaning, tools: Sequence[Tool]) -> Tool | None:
    """The tool that fits best, however badly; None when there are no tools."""
    return _best(tools, [question]) if tools else None


def _best(tools: Sequence[Tool], meanings: Sequence[Meaning]) -> Tool:
    """The tool that fits the first meaning best; among equals the next, then the tool that does the
    least besides, then the first in the list."""
    return max(
        tools,
        key=lambda tool: (
            *(score(meaning, tool) for meaning in meanings),
            -len(tool.asked - meanings[-1].asked),
        ),
    )


def _owner(concept: str, meaning: Meaning) -> frozenset[str]:
    """Whose attribute a clause asks for; a topic belongs to nobody."""
    return meaning.subjects if concept in ATTRIBUTES else frozenset()


def score(question: Meaning, tool: Tool) -> float:
    """How well a tool fits; 0 when it does not."""
    described, named = tool.described, tool.named
    actions = described.actions | named.actions
    if (question.actions or actions) and not question.actions & actions:
        return 0.0
    subjects = described.subjects | named.subjects
    same_subject = not question.subjects or not subjects or bool(question.subjects & subjects)

    def shared(part: str) -> float:
        asked: frozenset[str] = getattr(question, part)
        by_description: frozenset[str] = asked & getattr(described, part)
        by_name: frozenset[str] = (asked & getattr(named, part)) - by_description
        return len(by_description) + NAME_FACTOR * len(by_name)

    matter = TOPIC_WEIGHT * (shared("topics") + shared("actions"))
    if same_subject:
        matter += ATTRIBUTE_WEIGHT * shared("attributes") + SUBJECT_WEIGHT * shared("subjects")
    elif not matter:
        return 0.0  # about something else altogether, whatever words they share
    return matter + WORD_WEIGHT * min(shared("words"), WORDS_AT_MOST)


# Describing: which words of a description speak for the tool itself

_SENTENCE = re.compile(r"[。；;！!？?\n]|\.(?=\s|$)")
_CLAUSE = re.compile(r"[，,：:（）()]|[—–]")
_DENIED = re.compile(
    r"不(?:含|包括|包含|返回|查|提供|涉及|负责|适用)|不是|而非|而不是|没有"
    r"|\b(?:not|never|without|cannot|can't|doesn't|don't|isn't|except|rather than|other than)\b",
    re.IGNORECASE,
)
# Strict, since an identifier may as well be a parameter: "用 order_id 查询".
_POINTING = re.compile(
    r"请用|请使用|请改用|改用|请调用|请见|参见|参考"
    r"|\binstead\b|\b(?:see|refer to|prefer) [A-Za-z]+_"
    r"|\bfor\b.*\buse\b|\buse [A-Za-z]+_\w+ (?:for|if|when)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"^\s*(?:如果|若|要|想|如需|需要|至于|对于|\b(?:if|for|when|to|in case)\b)", re.IGNORECASE
)
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[_-]+[A-Za-z0-9]+)+")


def own_words(function: Json, names: Sequence[str]) -> str:
    """A tool's description without what it says of other tools, and of what it does not do.

    "For shipments use track_shipment" speaks for the other tool, listed or not.
    """
    name = function["name"]
    others = [other for other in names if other != name]
    own = {name, *_tails(name), *_property_names(function.get("parameters"))}
    kept: list[str] = []
    for sentence in _SENTENCE.split(function.get("description") or ""):
        clauses: list[str] = []
        for clause in _CLAUSE.split(sentence):
            if points_elsewhere(clause, own, others):
                # "to follow the parcel, use track_shipment": the condition belongs to the pointer
                says = understand(_IDENTIFIER.sub(" ", clause))
                if clauses and not says.asked and _CONDITION.search(clauses[-1]):
                    clauses.pop()
                continue
            denied = _DENIED.search(clause)
            clauses.append(clause[: denied.start()] if denied else clause)
        kept += clauses
    return "\n".join(kept)


def points_elsewhere(clause: str, own: set[str], others: Sequence[str]) -> bool:
    """Whether a clause of a description names another tool.

    `others` are the names of the other tools in the list, with or without the prefix of a server;
    an unlisted name counts when the clause says to use it.
    """
    if any(
        mentions(clause, known)
        for other in others
        for known in (other, *_tails(other))
        if known not in own
    ):
        return True
    foreign = [word for word in _IDENTIFIER.findall(clause) if word not in own and "_" in word]
    return bool(foreign) and bool(_POINTING.search(clause))


def mentions(text: str, name: str) -> bool:
    """Whether a text names a tool. A name that is a plain word, such as `today`, has to be
    introduced as a tool, since it is more often meant as the word."""
    whole = rf"{re.escape(name)}(?![\w-])"
    if name.isalpha():
        lead = r"(?:\b(?:use|see|call|try|tool)\s+|(?:用|见|工具)\s*)[`'\"“「]?"
        return bool(re.search(lead + whole, text, re.IGNORECASE | re.ASCII))
    return bool(re.search(r"(?<![\w-])" + whole, text, re.ASCII))


def _tails(name: str) -> list[str]:
    """`shop__track_shipment` is also known as `track_shipment`."""
    return [name.split("__", 1)[1]] if "__" in name.strip("_") else []


def _property_names(parameters: Any) -> list[str]:
    properties = parameters.get("properties") if isinstance(parameters, dict) else None
    return list(properties) if isinstance(properties, dict) else []


# Asking: the parts of a question

_QUESTION_CLAUSE = re.compile(
    r"[，,；;。！!？?\n]|\.(?=\s|$)|并且|以及|还有|顺便|另外|\band\b", re.IGNORECASE
)


def split_question(question: str) -> list[str]:
    """The clauses of a question, without the empty ones."""
    return [clause.strip() for clause in _QUESTION_CLAUSE.split(question) if clause.strip()]
