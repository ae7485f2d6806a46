"""What the terminal and the page both say of a record."""

from __future__ import annotations

from shared.i18n import Text, same

from .reading import Recording, Section

STATUSES = {
    "": ("", same("")),
    "pass": ("✔", Text(en="pass", zh="通过")),
    "fail": ("✘", Text(en="fail", zh="未通过")),
    "error": ("✘", Text(en="error", zh="报错")),
    "timeout": ("✘", Text(en="time-out", zh="超时")),
    "limit": ("✘", Text(en="limit", zh="超限")),
    "not_run": ("○", Text(en="not run", zh="未运行")),
    "grader_fault": ("!", Text(en="self-test fault", zh="自检故障")),
    "not_started": ("▷", Text(en="not started", zh="未开始")),
}

DAY = Text(en="Day {day}: what crossed the wires", zh="第 {day} 天：线路上的报文")
TAP = Text(en="{name}: what crossed its stdin and stdout", zh="{name}：stdin 与 stdout 上的报文")
RUN = Text(
    en="{folder}   seed {seed}   {at}   {passed} of {total} items pass",
    zh="{folder}   种子 {seed}   {at}   {total} 项中通过 {passed} 项",
)
SESSION = Text(en="session of {at}", zh="{at} 的会话")
EXITED = Text(en="The server ended with exit code {code}.", zh="server 已结束，退出码 {code}。")
KILLED = Text(en="The server was ended by signal {signal}.", zh="server 被信号 {signal} 结束。")
SILENT = Text(en="No message crossed the wires.", zh="线路上没有任何报文。")
PART = Text(en="part {number} of {total}", zh="第 {number}/{total} 部分")


def state_of(section: Section) -> str:
    """The status as a learner sees it: a blank that is as it came is not started, not wrong."""
    return "not_started" if section.diagnosis == "exercise.not-started" else section.status


def heading(recording: Recording) -> Text:
    """What the record is of."""
    if recording.is_tap:
        return TAP(name=recording.run["tap"])
    return DAY(day=recording.run.get("day", "?"))


def subheading(recording: Recording) -> Text:
    """Where, when and with what result; empty for a tap, whose sessions say it."""
    if recording.is_tap:
        return same("")
    run = recording.run
    names = ("folder", "seed", "passed", "total")
    return RUN(at=moment(run.get("at")), **{name: run.get(name, "?") for name in names})


def title_of(section: Section) -> Text:
    """The title of a section: the item's, or when the session began."""
    return SESSION(at=moment(section.began)) if section.began else section.title


def ending_of(section: Section) -> Text:
    """How the server behind a tap ended; empty when that is not known."""
    if section.exit_code is None:
        return same("")
    if section.exit_code < 0:
        return KILLED(signal=-section.exit_code)
    return EXITED(code=section.exit_code)


def moment(value: object) -> str:
    """`2026-11-30 22:35:57` of an ISO time stamp; anything else as it is."""
    text = str(value or "?")
    return text[:19].replace("T", " ") if text[10:11] == "T" else text
