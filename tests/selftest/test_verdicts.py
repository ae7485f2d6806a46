"""The untouched starter, the solution, and every status that a result can have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import psutil
import pytest

from shared.processes import Launcher
from shared.selftest import lab as lab_module
from shared.selftest.record import read_record, write_record
from shared.selftest.result import STATUSES, Result

from .conftest import Statuses, Work

TEXTS = {
    "type": "object",
    "properties": {"en": {"type": "string"}, "zh": {"type": "string"}},
    "required": ["en", "zh"],
    "additionalProperties": False,
}
CONTRACT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "schema": {"const": 1},
        "day": {"const": 23},
        "lab": {"const": "day23_mcp_server"},
        "seed": {"type": "integer"},
        "passed": {"type": "integer", "minimum": 0, "maximum": 6},
        "total": {"const": 6},
        "points": {"type": "number"},
        "max_points": {"const": 6.0},
        "duration_ms": {"type": "integer"},
        "items": {
            "type": "array",
            "minItems": 6,
            "maxItems": 6,
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "integer"},
                    "title": TEXTS,
                    "status": {"enum": list(STATUSES)},
                    "exercise": {"type": ["integer", "null"]},
                    "points": {"enum": [0.0, 1.0]},
                    "diagnosis": {"type": "string"},
                    "message": TEXTS,
                    "evidence": {"type": "array", "items": {"type": "object"}},
                    "duration_ms": {"type": "integer"},
                },
                "additionalProperties": False,
            },
        },
    },
    "additionalProperties": False,
}
for schema in (CONTRACT, CONTRACT["properties"]["items"]["items"]):
    schema["required"] = list(schema["properties"])


def document(result: Result) -> dict[str, Any]:
    """The result as its JSON document says it, after a check against the contract."""
    parsed: dict[str, Any] = json.loads(json.dumps(result.as_json(), allow_nan=False))
    jsonschema.validate(parsed, CONTRACT)
    assert [item["id"] for item in parsed["items"]] == [1, 2, 3, 4, 5, 6]
    assert (
        parsed["passed"]
        == parsed["points"]
        == [item["status"] for item in parsed["items"]].count("pass")
    )
    for item in parsed["items"]:
        said = item["message"]["en"] and item["message"]["zh"] and item["diagnosis"]
        assert bool(said) is (item["status"] != "pass")
    return parsed


def test_the_solution_passes_in_full(solution: Work, statuses: Statuses) -> None:
    result = solution.judge()
    assert statuses(result) == ["pass"] * 6
    document(result)


def test_the_untouched_starter_passes_item_1_alone(starter: Work, statuses: Statuses) -> None:
    result = starter.judge()
    assert statuses(result) == ["pass", "fail", "fail", "not_run", "not_run", "fail"]
    assert {item.diagnosis for item in result.items} == {
        "",
        "exercise.not-started",
        "item.waits",
    }
    assert result.items[3].message.en == "Waits for items 2 and 3."
    assert "not started" in result.items[1].message.en
    assert "还没有开始" in result.items[1].message.zh
    line = int(result.items[1].step.en.rpartition(":")[2])
    assert "# region exercise 1" in starter.files["mcp_server.py"].splitlines()[line - 1]
    document(result)


def test_the_starter_shows_what_becomes_of_a_hollow_schema(starter: Work) -> None:
    evidence = starter.item(3).evidence
    assert evidence[1].text == "query_order({})"
    refusal = evidence[2].event
    assert refusal is not None
    assert refusal.message["result"]["isError"] is True
    assert "order_id" in refusal.message["result"]["content"][0]["text"]


def test_exercises_turn_items_green_one_by_one(
    starter: Work, solution: Work, statuses: Statuses, tmp_path: Path
) -> None:
    seen = []
    for name in ("mcp_server", "bridge", "mcp_client", "agent", "should_use_mcp"):
        starter.write(f"{name}.py", solution.files[f"{name}.py"])
        seen.append(statuses(starter.judge()).count("pass"))
    assert seen == [2, 3, 4, 5, 6]


@pytest.mark.parametrize("seed", range(10))
def test_ten_seeds_give_the_same_verdicts(
    solution: Work, starter: Work, statuses: Statuses, seed: int
) -> None:
    assert statuses(solution.judge(seed=seed)) == ["pass"] * 6
    assert statuses(starter.judge(seed=seed)).count("pass") == 1


def test_fresh_processes_give_the_same_verdicts(
    solution: Work, starter: Work, statuses: Statuses
) -> None:
    with Launcher(cold=True) as cold:
        assert statuses(solution.judge(launcher=cold)) == ["pass"] * 6
        assert statuses(starter.judge(launcher=cold)) == statuses(starter.judge())


def test_the_same_seed_draws_the_same_orders(solution: Work) -> None:
    # nothing but the seed decides: a wrong answer fails on the same order each time
    solution.edit("mcp_server.py", '"carrier": order.shipment.carrier', '"carrier": "?"')
    first, again, other = (solution.judge(2, seed=seed).items[1].message for seed in (7, 7, 8))
    assert first == again
    assert first != other


def test_no_child_is_left(solution: Work, starter: Work) -> None:
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    solution.edit("mcp_server.py", "if __name__", "import subprocess\nif __name__")
    solution.edit(
        "mcp_server.py",
        "    server.run()",
        '    subprocess.Popen(["sleep", "60"], start_new_session=True)\n    server.run()',
    )
    solution.judge()
    starter.judge()
    after = {process.pid for process in psutil.Process().children(recursive=True)}
    assert after <= before


def test_status_error(solution: Work) -> None:
    item = solution.edit("bridge.py", '"name": tool["name"]', '"name": tool["nmae"]').item(3)
    assert (item.status, item.diagnosis) == ("error", "code.raised")
    assert "KeyError: 'nmae'" in item.message.en
    assert "labs/day23_mcp_server/bridge.py" in item.message.en
    assert "Traceback" in item.detail


def test_status_timeout(solution: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab_module, "SECONDS", 1.0)
    item = solution.exercise(5, "while True: pass").item(6)
    assert (item.status, item.diagnosis) == ("timeout", "process.timeout")


@pytest.mark.parametrize(
    ("diagnosis", "body"),
    [
        ("process.memory", "kept = []\nwhile True: kept.append(bytes(b'x' * 10_000_000))"),
        ("process.output", "while True: print('x' * 10_000)"),
        (
            "process.processes",
            "import subprocess\nwhile True: subprocess.Popen(['sleep', '60'])",
        ),
    ],
)
def test_status_limit(solution: Work, diagnosis: str, body: str) -> None:
    item = solution.exercise(5, body).item(6)
    assert (item.status, item.diagnosis) == ("limit", diagnosis)
    assert item.message.en
    assert item.message.zh


def test_status_limit_of_a_server_that_floods(solution: Work) -> None:
    solution.edit("mcp_server.py", "    server.run()", "    while True: print('x' * 10_000)")
    item = solution.item(1)
    assert (item.status, item.diagnosis) == ("limit", "process.output")


@pytest.mark.parametrize("code", [0, 3])
def test_status_not_run_when_a_process_ends_early(solution: Work, code: int) -> None:
    item = solution.exercise(5, f"import os\nos._exit({code})").item(6)
    assert (item.status, item.diagnosis) == ("not_run", "process.ended-early")
    assert f"exit code {code}" in item.message.en


def test_a_server_that_ends_early_is_to_blame_and_not_its_client(solution: Work) -> None:
    solution.edit("mcp_server.py", "    server.run()", "    raise SystemExit(0)")
    item = solution.item(1)
    assert (item.status, item.diagnosis) == ("not_run", "process.ended-early")


def test_status_grader_fault_costs_no_point_and_is_no_zero(
    solution: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the grader's own")

    monkeypatch.setattr("solutions.day23_mcp_server.checks._expect_function_tool", broken)
    result = solution.judge()
    assert result.items[2].status == "grader_fault"
    assert "the grader's own" in result.items[2].message.en
    assert result.items[5].status == "pass"
    document(result)


def test_a_supervisor_that_is_killed_is_a_grader_fault(solution: Work) -> None:
    solution.exercise(5, "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)")
    with Launcher() as launcher:
        assert solution.judge(6, launcher=launcher).items[5].status == "grader_fault"


def test_items_that_were_not_asked_for_stay_in_the_result(solution: Work) -> None:
    result = solution.judge(3)
    assert [item.diagnosis for item in result.items] == [
        "",
        "item.not-selected",
        "",
        "item.not-selected",
        "item.not-selected",
        "item.not-selected",
    ]
    document(result)


def test_a_record_is_read_back_whatever_line_ends_a_message_holds(
    starter: Work, tmp_path: Path
) -> None:
    starter.edit("mcp_server.py", "只查订单本身", "只查\u2028订单\u0085本身")
    result = starter.judge(1)
    write_record(result, "labs", tmp_path / "run.jsonl")
    rows = read_record(tmp_path / "run.jsonl")
    assert [row["row"] for row in rows].count("item") == 6
    assert any("\u2028" in json.dumps(row, ensure_ascii=False) for row in rows)


@pytest.mark.parametrize(
    ("exercise", "body"),
    [
        (5, "import os\nos._exit(0)"),
        (5, "return '\\ud800 \\x00 \\x1b'"),
        (5, "raise ValueError('\\x00' * 100)"),
        (2, "parameters = {'type': 'object', 'properties': {}, 'x': float('nan')}"),
    ],
)
def test_the_document_is_valid_whatever_the_code_does(
    solution: Work, exercise: int, body: str
) -> None:
    document(solution.exercise(exercise, body).judge())
