"""Generate `labs/` from `solutions/`, or say where the two have drifted apart.

python -m shared.authoring.build            write labs/
python -m shared.authoring.build --check    only compare; exit code 1 names what differs
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from shared.console import spoken_language, use_unicode_output
from shared.i18n import Text

from .drift import find_drift
from .gate import Problem, check_lab, day_folders
from .regions import RegionError
from .starters import starter_tree
from .writing import Writing, write_labs

__all__ = ["check_lab", "main", "starter_tree"]

ROOT = Path(__file__).resolve().parents[2]

ABOUT = Text(
    en="Generate labs/ from solutions/.",
    zh="由 solutions/ 生成 labs/。",
)
ABOUT_CHECK = Text(
    en="only compare: name what differs and exit with 1",
    zh="只比较：指出不同之处，并以 1 退出",
)
REFUSED = Text(
    en="Refused; labs/ was left alone. Problems in solutions/: {count}.",
    zh="已拒绝，labs/ 未改动。solutions/ 中的问题：{count} 个。",
)
IN_STEP = Text(
    en="labs/ is what solutions/ gives ({count} files).",
    zh="labs/ 与 solutions/ 一致（{count} 个文件）。",
)
DRIFTED = {
    "changed": Text(
        en="labs/{path}: line {line} is not what solutions/ gives.",
        zh="labs/{path}：第 {line} 行与 solutions/ 生成的不同。",
    ),
    "missing": Text(
        en="labs/{path}: is missing.",
        zh="labs/{path}：缺少该文件。",
    ),
    "extra": Text(
        en="labs/{path}: has no source in solutions/.",
        zh="labs/{path}：在 solutions/ 中没有来源。",
    ),
}
MEND = Text(
    en="Edit solutions/ and run `make labs`; labs/ is generated.",
    zh="请修改 solutions/，然后运行 `make labs`；labs/ 是生成的。",
)
WRITTEN = {
    "changed": Text(en="written: labs/{path}", zh="已写入：labs/{path}"),
    "missing": Text(en="written: labs/{path}", zh="已写入：labs/{path}"),
    "extra": Text(en="removed: labs/{path}", zh="已删除：labs/{path}"),
}
BACKED_UP = Text(
    en="labs/{path} was no generated starter; what it held is kept in {backup}",
    zh="labs/{path} 不是生成的起始文件；原内容已备份到 {backup}",
)


def main(argv: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Write or compare the `labs/` of the checkout `root`.

    Returns 0 when all is well, 1 when a lab is refused or, with `--check`, when `labs/` has
    drifted, 2 on wrong usage.
    """
    use_unicode_output()
    language = spoken_language()
    if language is None:
        return 2
    parser = argparse.ArgumentParser(
        prog="python -m shared.authoring.build", description=ABOUT.get(language)
    )
    parser.add_argument("--check", action="store_true", help=ABOUT_CHECK.get(language))
    only_check: bool = parser.parse_args(argv).check

    problems = check_solutions(root / "solutions")
    if problems:
        for problem in problems:
            print(_relative(problem, root))
        print(REFUSED(count=len(problems)).get(language))
        return 1
    if only_check:
        drifts = find_drift(root)
        for drift in drifts:
            print(DRIFTED[drift.kind](path=drift.path, line=drift.line).get(language))
            print(drift.excerpt, end="")
        if drifts:
            print(MEND.get(language))
            return 1
    else:
        for writing in write_labs(root):
            for text in _told(writing):
                print(text.get(language))
    print(IN_STEP(count=len(starter_tree(root / "solutions"))).get(language))
    return 0


def check_solutions(solutions: Path) -> list[Problem]:
    """What is wrong with the source of the starters as a whole: `check_lab` of every day, and the
    files that belong to no day."""
    problems = [problem for day in day_folders(solutions) for problem in check_lab(day)]
    if not problems:
        try:
            starter_tree(solutions)
        except RegionError as error:
            problems.append(Problem(Path(error.path), error.line, error.message))
    return problems


def _told(writing: Writing) -> list[Text]:
    path = writing.drift.path
    told = [WRITTEN[writing.drift.kind](path=path)]
    if writing.backup:
        told.append(BACKED_UP(path=path, backup=writing.backup))
    return told


def _relative(problem: Problem, root: Path) -> Problem:
    return Problem(problem.path.relative_to(root), problem.line, problem.message)


if __name__ == "__main__":
    sys.exit(main())
