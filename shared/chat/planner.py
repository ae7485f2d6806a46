"""What the mock model does next: call tools, or say something.

It plans from the request and nothing else, so that a request always gets the same plan. It picks
tools by their descriptions, fills arguments in by their schemas, and knows of what a tool did only
what the tool message says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..i18n import Text
from .planning.answering import FORBIDDEN, Finding, ask_for, language_of, none_fits, report
from .planning.arguments import Missing, fill
from .planning.choosing import Choice, Tool, best_of, choose, read_tools
from .planning.lexicon import understand
from .planning.reading import Answered, Call, Outcome, remedy, rounds, text_of
from .types import Json

CALLS_AT_MOST = 4
"""Calls for one question, after which the model answers with what it has."""
SAME_CALL_AT_MOST = 3
"""How often a call is made that brings back an empty message."""


@dataclass(frozen=True)
class Plan:
    """The next step: calls to make, or, when there are none, something to say."""

    calls: list[Call]
    speech: str = ""


def plan(request: Json) -> Plan:
    """The next step for a request that passed `validation.validate`."""
    question = asked(request["messages"])
    tools = read_tools(request.get("tools") or [])
    turns = rounds(request["messages"])
    choice = request.get("tool_choice") or "auto"
    calls: list[Call] = []
    speech: Text | None = None
    if choice == "none":
        speech = None if turns else FORBIDDEN
    elif choice == "auto":
        calls, speech = _free_choice(question, tools, turns, request)
    else:
        calls = _forced(question, tools, turns, choice)
    if request.get("parallel_tool_calls") is False:
        calls = calls[:1]
    if calls:
        return Plan(calls)
    return Plan([], (speech or report(findings(turns, tools, question))).get(language_of(question)))


def asked(messages: Sequence[Json]) -> str:
    """The last thing that the user said; '' when the user said nothing."""
    said = (message for message in reversed(messages) if message["role"] == "user")
    return text_of(next(said, {}).get("content"))


def first_calls(question: str, tools: Sequence[Tool]) -> tuple[list[Call], Text | None]:
    """The calls that a question asks for, before anything came back; or what to say instead."""
    choices = choose(question, tools)
    calls: list[Call] = []
    gap: tuple[str, list[Missing]] | None = None
    for choice in choices:
        filled = fill(choice.tool.parameters, question, _about(choice, choices))
        if filled.missing:
            gap = gap or (choice.tool.name, filled.missing)
        else:
            calls += [Call(choice.tool.name, arguments) for arguments in filled.calls]
    if calls:
        return calls[:CALLS_AT_MOST], None
    return [], ask_for(*gap) if gap else none_fits([tool.name for tool in tools])


def next_calls(
    turns: Sequence[Sequence[Answered]], tools: Sequence[Tool], question: str
) -> list[tuple[Answered, Call]]:
    """The calls to make after the last turn, each with the answer that makes it necessary: a
    correction of a call that failed, or the same again where nothing came back."""
    tried = [answered.call for turn in turns for answered in turn]
    following: list[tuple[Answered, Call]] = []
    for answered in turns[-1] if turns else []:
        call: Call | None = None
        if answered.outcome is Outcome.NOTHING:
            call = answered.call if tried.count(answered.call) < SAME_CALL_AT_MOST else None
        elif answered.outcome is Outcome.FAILED:
            call = _correction(answered, tools, [*tried, *(c for _, c in following)], question)
        if call is not None and len(tried) + len(following) < CALLS_AT_MOST:
            following.append((answered, call))
    return following


def findings(
    turns: Sequence[Sequence[Answered]], tools: Sequence[Tool], question: str
) -> list[Finding]:
    """How each matter ended, in the order in which its last call was made.

    What led from one call to the next is planned once more, turn by turn: the messages do not say.
    """
    ended: list[Finding] = []
    origin: dict[int, Call] = {}  # place of a call among all calls: the failed call it goes back to
    everything = [answered for turn in turns for answered in turn]
    done = 0
    for number, turn in enumerate(turns):
        follows = next_calls(turns[: number + 1], tools, question)
        after = turns[number + 1] if number + 1 < len(turns) else []
        for place, answered in enumerate(turn, start=done):
            call = next((call for before, call in follows if before is answered), None)
            heir = next((i for i, later in enumerate(after) if later.call == call), None)
            if heir is None:
                times = sum(other.call == answered.call for other in everything)
                ended.append(Finding(answered, times, origin.get(place)))
            elif answered.outcome is Outcome.FAILED:
                origin[done + len(turn) + heir] = origin.get(place, answered.call)
            elif place in origin:
                origin[done + len(turn) + heir] = origin[place]
        done += len(turn)
    return [
        finding  # of the same call made twice, the later answer counts
        for place, finding in enumerate(ended)
        if all(finding.last.call != later.last.call for later in ended[place + 1 :])
    ]


def _free_choice(
    question: str, tools: Sequence[Tool], turns: Sequence[Sequence[Answered]], request: Json
) -> tuple[list[Call], Text | None]:
    if not turns:
        return first_calls(question, tools)
    following = [call for _, call in next_calls(turns, tools, question)]
    if not following and request.get("parallel_tool_calls") is False:
        # One call a turn: what the question asks for besides is still to be called.
        made = [answered.call for turn in turns for answered in turn]
        wanted, _ = first_calls(question, tools)
        following = [call for call in wanted if call not in made][: CALLS_AT_MOST - len(made)]
    return following, None


def _forced(
    question: str, tools: Sequence[Tool], turns: Sequence[Sequence[Answered]], choice: str | Json
) -> list[Call]:
    """The call that `tool_choice` demands, `required` or a function by its name; none once the
    question has had all its calls, so that a loop around the mock model ends."""
    if sum(len(turn) for turn in turns) >= CALLS_AT_MOST:
        return []
    if isinstance(choice, dict):
        tools = [tool for tool in tools if tool.name == choice["function"]["name"]]
    else:
        calls, _ = first_calls(question, tools)
        if calls:
            return calls
    tool = best_of(understand(question), tools)
    return [Call(tool.name, fill(tool.parameters, question).calls[0])] if tool else []


def _correction(
    failed: Answered, tools: Sequence[Tool], tried: Sequence[Call], question: str
) -> Call | None:
    instead = remedy(failed, tools, tried)
    if isinstance(instead, Tool):
        filled = fill(instead.parameters, question)
        call = Call(instead.name, filled.calls[0])
        return call if not filled.missing and call not in tried else None
    return instead


def _about(choice: Choice, choices: Sequence[Choice]) -> tuple[str, ...]:
    """Where to look for the values of one tool first, when the question asks for several."""
    return choice.reasons if len(choices) > 1 else ()
