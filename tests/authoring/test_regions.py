"""Blanks: read strictly from the source, and leniently from what a learner has edited."""

from __future__ import annotations

import pytest

from shared.authoring.regions import (
    RegionError,
    find_region,
    parse,
    region_body,
    replace_region,
    solution_of,
    starter_of,
    to_solution,
    to_starter,
)

SOURCE = '''"""A module."""


def total(numbers: list[int]) -> int:
    """Add up."""
    # region exercise 1: add them up
    # starter: # TODO: add them up.
    # starter:
    # starter: if not numbers:
    # starter:     return 0
    # starter: raise NotImplementedError
    return sum(numbers)
    # endregion


class Shop:
\t# region exercise 2: a name
\t# starter: name = ""
\tname = "订单"
\tsigns = "# starter: no marker, since it does not begin the line"
\t# endregion
'''

STARTER = '''"""A module."""


def total(numbers: list[int]) -> int:
    """Add up."""
    # region exercise 1: add them up
    # TODO: add them up.

    if not numbers:
        return 0
    raise NotImplementedError
    # endregion


class Shop:
\t# region exercise 2: a name
\tname = ""
\t# endregion
'''


def test_parse_tells_where_each_blank_is_and_what_it_holds() -> None:
    first, second = parse(SOURCE, "shop.py")
    assert (first.exercise, first.title, first.indent) == (1, "add them up", "    ")
    assert (first.first_line, first.last_line) == (6, 13)
    assert first.solution == ("    return sum(numbers)",)
    assert first.starter[1] == ""
    assert (second.exercise, second.indent, second.starter) == (2, "\t", ('\tname = ""',))
    assert len(second.solution) == 2


def test_the_starter_keeps_markers_and_all_else_to_the_byte() -> None:
    assert to_starter(SOURCE, "shop.py") == STARTER


def test_the_completed_file_has_no_starter_lines() -> None:
    kept = [line for line in SOURCE.split("\n") if not line.strip().startswith("# starter:")]
    assert to_solution(SOURCE, "shop.py") == "\n".join(kept)
    assert len(kept) == len(SOURCE.split("\n")) - 6


@pytest.mark.parametrize("ending", ["", "\n", "\n\n", "\n\x0c\n", "\u2028\n"])
def test_a_file_without_blanks_stays_as_it_is(ending: str) -> None:
    text = "x = 1\n\ty = '# region'" + ending
    assert to_starter(text, "x.py") == text
    assert parse(text, "x.py") == []


def test_only_one_space_behind_the_marker_is_taken_off() -> None:
    source = "# region exercise 1: x\n# starter:  a\n# starter:b\n# starter:  \n# endregion"
    assert parse(source, "x.py")[0].starter == (" a", "b", "")


REGION = "# region exercise 1: a\n# starter: pass\n# endregion\n"


@pytest.mark.parametrize(
    ("source", "line", "message"),
    [
        (
            "# region exercise 1: a\n# region exercise 2: b\n",
            2,
            "region inside the region of line 1",
        ),
        ("x = 1\n# region exercise 1: a\n# starter: b\n", 2, "exercise 1 is never closed"),
        ("x = 1\n# endregion\n", 2, "endregion without a region"),
        (REGION + REGION, 4, "exercise 1 again, after line 1"),
        ("# region exercise 1: a\nx = 1\n# endregion\n", 1, "no '# starter:' line"),
        ("x = 1\n# starter: a\n", 2, "outside a region"),
        ("# region exercise one: a\n", 1, "'one' is not an exercise number"),
        ("# region exercise -1: a\n", 1, "'-1' is not an exercise number"),
        ("# region exercise 0: a\n", 1, "'0' is not an exercise number"),
        ("# region exercise 1.5: a\n", 1, "'1.5' is not an exercise number"),
        ("# region exercise : a\n", 1, "'' is not an exercise number"),
        ("# region exercise 1:\n", 1, "exercise 1 has no title"),
        ("# region exercise 1\n", 1, "a region is written '# region exercise N: title'"),
        ("# region helpers\n", 1, "a region is written '# region exercise N: title'"),
        ("# region exercise 1: a\n#starter: b\n", 2, "is written '# starter: text'"),
        ("# region exercise 1: a\n# Starter : b\n", 2, "is written '# starter: text'"),
        ("x = 1\r\ny = 2\r\n", 1, "carriage return"),
        ("x = 1\ny = '\r'\n", 2, "carriage return"),
    ],
)
def test_what_is_not_well_formed_is_refused(source: str, line: int, message: str) -> None:
    with pytest.raises(RegionError) as caught:
        to_starter(source, "day/shop.py")
    assert (caught.value.path, caught.value.line) == ("day/shop.py", line)
    assert message in caught.value.message
    assert str(caught.value) == f"day/shop.py:{line}: {caught.value.message}"


@pytest.mark.parametrize("exercise", [1, 2])
def test_reset_and_solve_are_the_same_operation_in_two_directions(exercise: int) -> None:
    completed, starter = to_solution(SOURCE, ""), STARTER
    solution_text, starter_text = solution_of(SOURCE, exercise), starter_of(SOURCE, exercise)
    assert solution_text is not None
    assert starter_text is not None
    solved = replace_region(starter, exercise, solution_text)
    assert region_body(solved, exercise) == region_body(completed, exercise) == solution_text
    assert solved != starter
    assert replace_region(solved, exercise, starter_text) == starter
    both = replace_region(solved, 3 - exercise, solution_of(SOURCE, 3 - exercise) or "")
    assert both == completed


def test_an_exercise_that_the_source_lacks() -> None:
    assert starter_of(SOURCE, 3) is None
    assert solution_of(SOURCE, 3) is None


def test_an_edited_file_is_found_by_number_alone() -> None:
    edited = "x = 1\n\n  #region exercise 2\nmine = 1\n\n#endregion of mine\n"
    found = find_region(edited, 2)
    assert found is not None
    assert (found.first_line, found.last_line, found.body) == (3, 6, "mine = 1\n\n")
    assert replace_region(edited, 2, "") == "x = 1\n\n  #region exercise 2\n#endregion of mine\n"


def test_the_line_ends_of_the_edited_file_are_kept() -> None:
    edited = STARTER.replace("\n", "\r\n")
    replaced = replace_region(edited, 2, '\tname = "x"\n')
    assert '\tname = "x"\r\n' in replaced
    assert replaced.count("\n") == replaced.count("\r\n") == STARTER.count("\n")


def test_text_without_a_last_line_end_gets_one() -> None:
    assert region_body(replace_region(STARTER, 2, "\tx = 1"), 2) == "\tx = 1\n"


@pytest.mark.parametrize(
    "damaged",
    [
        "",
        STARTER.replace("    # region exercise 1: add them up\n", ""),
        STARTER.replace("exercise 1", "exercise 11"),
        STARTER.replace("    # endregion\n", ""),
        STARTER.partition("    # endregion")[0],
    ],
)
def test_damaged_markers_are_no_blank(damaged: str) -> None:
    assert find_region(damaged, 1) is None
    assert region_body(damaged, 1) is None
    with pytest.raises(LookupError):
        replace_region(damaged, 1, "x = 1\n")
