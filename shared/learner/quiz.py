"""`python selftest.py quiz 23`: the interview questions of a day, repeated at growing intervals."""

from __future__ import annotations

import argparse
import datetime
import os
import re
import sys
from typing import Any

from shared.i18n import Text
from shared.selftest.record import STATE

from .checklist import load_checklist, print_checklist, ticks
from .command import OK, RED, USAGE, Asked, Printer, Say, refuse, run
from .memory import recall, remember
from .questions import Question, Standing, in_order, load_questions, standing_from

MEMORY = STATE / "quiz.json"  # {day: {"questions": {id: Standing}, "checklist": {key: date}}}
TODAY = "LAB_TODAY"  # the date that counts as today, for tests and for travellers in time

ABOUT = Text(
    en="Ask the day's interview questions that are due, and score the answers.",
    zh="问当天到期的面试题，并给回答打分。",
)
NO_QUESTIONS = Text(en="Day {day} has no questions.", zh="第 {day} 天没有题目。")
BAD_TODAY = Text(
    en="LAB_TODAY is {value!r}; it must be a date such as 2026-11-30.",
    zh="LAB_TODAY 是 {value!r}；应当是日期，例如 2026-11-30。",
)
NOTHING_DUE = Text(
    en="Nothing is due today; next on {due}. All the same: python selftest.py quiz {day} --all",
    zh="今天没有到期的题目，下一次是 {due}。现在就要全部做：python selftest.py quiz {day} --all",
)
NO_TERMINAL = Text(
    en="(Scoring needs a terminal; here are all the questions with their key points.)",
    zh="（打分需要在终端里进行；下面列出全部题目和要点。）",
)
HOW_TO = Text(
    en="{count} questions. Answer aloud, or type; an empty line ends your answer. "
    "Ctrl-D leaves: what is scored is kept.",
    zh="共 {count} 道题。开口答，或者打字；空行表示答完。按 Ctrl-D 离开，已打的分会保留。",
)
HEADING = Text(en="Question {number} of {total}", zh="第 {number} 题，共 {total} 题")
LAST_TIME = Text(en="last time: {points} of {of} points", zh="上次：{of} 个要点中答到 {points} 个")
LAST_ANSWER = Text(en="What you wrote last time", zh="你上次写的")
REASONING = Text(en="How to reason", zh="怎么想")
POINTS = Text(en="Key points", zh="要点")
WHICH = Text(
    en="Which of them did you hit? Numbers such as 1 3 4; Enter for none: ",
    zh="你答到了哪几条？输入编号，例如 1 3 4；一条都没有就直接回车：",
)
BAD_NUMBERS = Text(
    en="{value!r} is none of 1 to {last}. Numbers with spaces between, please.",
    zh="{value!r} 不在 1 到 {last} 之间。请输入编号，用空格隔开。",
)
SCORED = Text(
    en="{points} of {of} points. Again on {due}, in {days} days.",
    zh="{of} 个要点答到 {points} 个。{days} 天后，{due} 再问。",
)
TOMORROW = Text(
    en="{points} of {of} points. Again tomorrow, {due}.",
    zh="{of} 个要点答到 {points} 个。明天（{due}）再问。",
)
PROOF = Text(en="See for yourself", zh="自己去看证据")
SUM = Text(
    en="{points} of {of} points in {count} questions.",
    zh="{count} 道题，{of} 个要点共答到 {points} 个。",
)
YOUR_SENTENCE = Text(en="Yours (Enter to skip): ", zh="你的话（回车跳过）：")
A_GOOD_ONE = Text(en="A good one: {answer}", zh="参考：{answer}")
SAME = Text(en="Does yours say the same? y/n: ", zh="你说的是一个意思吗？y/n：")
YES_OR_NO = Text(en="y or n, please.", zh="请输入 y 或 n。")
SEPARATORS = re.compile(r"[\s,，、;；.。]+")
NUMBER = re.compile(r"\d{1,3}")

YES, NO = ("y", "yes", "是"), ("n", "no", "否", "")


class Left(Exception):
    """The learner has left, with Ctrl-D."""


def main(argv: list[str]) -> int:
    """Hold the quiz: exit code 0; 1 when the day has no questions, 2 on wrong usage."""
    return run(argv, "quiz", ABOUT, _declare, _answer)


def _declare(parser: argparse.ArgumentParser, say: Say) -> None:
    parser.add_argument(
        "--all", action="store_true", help=say("also what is not due yet", "没到期的也问")
    )
    parser.add_argument(
        "--checklist", action="store_true", help=say("the checklist alone", "只看检查清单")
    )


def _answer(asked: Asked) -> int:
    questions = load_questions(asked.lab)
    if not questions:
        return refuse(NO_QUESTIONS(day=asked.day), asked.language, RED)
    given = os.environ.get(TODAY, "").strip()
    try:
        today = datetime.date.fromisoformat(given) if given else datetime.date.today()
    except ValueError:
        return refuse(BAD_TODAY(value=given), asked.language, USAGE)
    memory = Memory(asked.day, questions)
    at_terminal = _is_terminal()
    try:
        if not asked.options.checklist:
            if at_terminal:
                _hold(asked, questions, memory, today)
            else:
                _print_all(asked.printer, questions)
            asked.printer.line()
        if at_terminal:
            _ask_for_word(asked, memory, today)
    except Left:
        asked.printer.line()
    entries = load_checklist(asked.lab)
    found = ticks(entries, asked.day, memory.standings, memory.confirmed)
    print_checklist(asked.printer, found)
    for notice in memory.notices:
        print(notice.get(asked.language), file=sys.stderr)
    return OK


class Memory:
    """What is remembered of the questions of one day; kept anew after each answer."""

    def __init__(self, day: int, questions: tuple[Question, ...]) -> None:
        self.notices: list[Text] = []
        self._day = str(day)
        kept, notice = recall(MEMORY)
        self._note(notice)
        self._all = kept
        of_day = _dict(kept.get(self._day))
        rows = _dict(of_day.get("questions"))
        self._others = dict(rows)  # of questions that are no more, too
        self.standings = {one.id: standing_from(rows.get(one.id)) for one in questions}
        self.confirmed = {key: str(value) for key, value in _dict(of_day.get("checklist")).items()}

    def score(self, question: Question, standing: Standing) -> None:
        """Remember how a question stands now."""
        self.standings[question.id] = standing
        self._keep()

    def confirm(self, key: str, today: datetime.date) -> None:
        """Remember the learner's word."""
        self.confirmed[key] = today.isoformat()
        self._keep()

    def _keep(self) -> None:
        asked = {name: one.as_json() for name, one in self.standings.items() if one.box}
        self._all[self._day] = {
            "questions": {**self._others, **asked},
            "checklist": self.confirmed,
        }
        self._note(remember(MEMORY, self._all))

    def _note(self, notice: Text | None) -> None:
        if notice is not None and notice not in self.notices:
            self.notices.append(notice)


def _hold(
    asked: Asked, questions: tuple[Question, ...], memory: Memory, today: datetime.date
) -> None:
    out = asked.printer
    chosen = list(questions) if asked.options.all else in_order(questions, memory.standings, today)
    if not chosen:
        due = min(one.due for one in memory.standings.values() if one.due)
        out.line(NOTHING_DUE(due=due.isoformat(), day=asked.day))
        return
    out.line(HOW_TO(count=len(chosen)), "dim")
    points = of = 0
    for number, question in enumerate(chosen, start=1):
        before = memory.standings[question.id]
        out.line()
        out.line(HEADING(number=number, total=len(chosen)), "bold cyan")
        if before.of:
            out.line(LAST_TIME(points=before.points, of=before.of), "dim")
        out.line(question.question, "bold")
        answer = _read_lines(out)
        _print_solution(out, question, before.answer)
        hit = _read_hits(out, len(question.points))
        after = before.after(hit, len(question.points), answer or before.answer, today)
        memory.score(question, after)
        _print_score(out, after, today)
        _print_proof(out, question)
        points, of = points + hit, of + len(question.points)
    out.line()
    out.line(SUM(points=points, of=of, count=len(chosen)), "bold")


def _print_all(out: Printer, questions: tuple[Question, ...]) -> None:
    out.line(NO_TERMINAL)
    for number, question in enumerate(questions, start=1):
        out.line()
        out.item(f"{number}.", question.question)
        for point in question.points:
            out.item("-", point, indent=3)


def _print_solution(out: Printer, question: Question, last_answer: str) -> None:
    if last_answer:
        out.line(LAST_ANSWER, "bold")
        out.line(last_answer, "dim", 2)
        out.line()
    out.line(REASONING, "bold")
    for paragraph in question.reasoning:
        out.line(paragraph, indent=2)
        out.line()
    out.line(POINTS, "bold")
    for number, point in enumerate(question.points, start=1):
        out.item(f"{number}.", point, indent=2)
    out.line()


def _print_score(out: Printer, standing: Standing, today: datetime.date) -> None:
    assert standing.due is not None
    days = (standing.due - today).days
    words = TOMORROW if days == 1 else SCORED
    due = standing.due.isoformat()
    out.line(words(points=standing.points, of=standing.of, due=due, days=days), "green")


def _print_proof(out: Printer, question: Question) -> None:
    out.line()
    out.line(PROOF, "bold")
    for place in question.proof:
        out.line(place, "dim", 2)


def _ask_for_word(asked: Asked, memory: Memory, today: datetime.date) -> None:
    """What no state shows, the learner says."""
    out = asked.printer
    for entry in load_checklist(asked.lab):
        if not entry.key or entry.key in memory.confirmed or not entry.ask or not entry.model:
            continue
        out.line(entry.ask, "bold")
        if not _read(YOUR_SENTENCE.get(out.language)):
            out.line()
            continue
        out.line(A_GOOD_ONE(answer=entry.model))
        while (word := _read(SAME.get(out.language)).lower()) not in YES + NO:
            out.line(YES_OR_NO)
        if word in YES:
            memory.confirm(entry.key, today)
        out.line()


def _read_lines(out: Printer) -> str:
    lines = []
    while line := _read("> "):
        lines.append(line)
    return "\n".join(lines)


def _read_hits(out: Printer, last: int) -> int:
    """How many points the learner ticked; asks again until the input makes sense."""
    while True:
        words = [
            word for word in re.split(r"[\s,，、;；.]+", _read(WHICH.get(out.language))) if word
        ]
        bad = [word for word in words if not (word.isdecimal() and 1 <= int(word) <= last)]
        if not bad:
            return len({int(word) for word in words})
        out.line(BAD_NUMBERS(value=bad[0], last=last), "yellow")


def _read(prompt: str) -> str:
    """One line of the learner's. Raises Left at the end of the input."""
    try:
        # bytes that are no text in this locale must not end the quiz, nor spoil the state file
        return input(prompt).strip().encode(errors="surrogateescape").decode(errors="replace")
    except EOFError:
        raise Left from None


def _is_terminal() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
