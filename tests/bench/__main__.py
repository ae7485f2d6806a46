"""`python -m tests.bench [--rounds N]`: how fast the self-test and the hand-rolled client are."""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import mcp
from mcp import StdioServerParameters
from rich.console import Console
from rich.table import Table

from shared.processes.supervisor import ROOT
from solutions.day23_mcp_server.mcp_client import McpClient

from . import watch

SELFTEST = (sys.executable, str(ROOT / "selftest.py"), "23", "--solution", "--seed", "7")
IMPORTS = (sys.executable, "-c", "import mcp.server, openai")
SERVER = str(ROOT / "solutions" / "day23_mcp_server" / "mcp_server.py")
ARGUMENTS = {"order_id": "SO20260901"}
CALLS = 300

ECHO = """
import sys
for line in sys.stdin.buffer:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
"""


def seconds(run: Callable[[], object]) -> float:
    """How long one run takes."""
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def whole_runs(rounds: int, cold_rounds: int) -> dict[str, float]:
    """Median seconds of the self-test, warm and cold, and of the imports alone, taken in turn so
    that a slow spell of the machine falls on all of them."""
    commands = {"warm": SELFTEST, "imports": IMPORTS, "cold": (*SELFTEST, "--cold")}
    samples: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(rounds):
        for name, command in commands.items():
            if name == "cold" and number >= cold_rounds:
                continue
            samples[name].append(
                seconds(lambda c=command: subprocess.run(c, check=True, capture_output=True))  # type: ignore[misc]
            )
    return {name: statistics.median(values) for name, values in samples.items()}


def by_hand() -> float:
    """Median seconds of a tools/call by the day's own client."""
    with McpClient(sys.executable, [SERVER]) as client:
        client.initialize()
        client.call_tool("query_order", ARGUMENTS)
        return statistics.median(
            seconds(lambda: client.call_tool("query_order", ARGUMENTS)) for _ in range(CALLS)
        )


def by_sdk() -> float:
    """Median seconds of the same call by the SDK's client."""

    async def run() -> float:
        target = StdioServerParameters(command=sys.executable, args=[SERVER])
        async with mcp.Client(target, mode="legacy") as client:
            await client.call_tool("query_order", ARGUMENTS)
            samples = []
            for _ in range(CALLS):
                began = time.perf_counter()
                await client.call_tool("query_order", ARGUMENTS)
                samples.append(time.perf_counter() - began)
            return statistics.median(samples)

    return asyncio.run(run())


def by_pipe() -> float:
    """Median seconds of a line of the same length through a program that only echoes it."""
    line = (
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "query_order"}}\n'
    )
    with subprocess.Popen(
        [sys.executable, "-c", ECHO], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as echo:
        assert echo.stdin
        assert echo.stdout

        def round_trip() -> None:
            assert echo.stdin
            assert echo.stdout
            echo.stdin.write(line)
            echo.stdin.flush()
            echo.stdout.readline()

        round_trip()
        median = statistics.median(seconds(round_trip) for _ in range(CALLS))
        echo.stdin.close()
    return median


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="whole runs of each kind")
    parser.add_argument("--cold-rounds", type=int, default=3, help="of them with --cold")
    options = parser.parse_args()
    os.environ["PYTHONPATH"] = str(ROOT)

    console = Console()
    runs = whole_runs(options.rounds, options.cold_rounds)
    table = Table(title=f"whole self-test of the solution, {options.rounds} rounds, medians")
    for column in ("what", "seconds", "ratio", "aim"):
        table.add_column(column, justify="left" if column == "what" else "right")
    warm = runs["warm"]
    table.add_row("self-test", f"{warm:.2f}", "1", "")
    table.add_row(
        "one interpreter that imports mcp.server and openai",
        f"{runs['imports']:.2f}",
        f"self-test / imports = {warm / runs['imports']:.2f}",
        "1.0, at most 1.5",
    )
    table.add_row(
        "self-test --cold",
        f"{runs['cold']:.2f}",
        f"cold / self-test = {runs['cold'] / warm:.1f}",
        "at least 3",
    )
    console.print(table)
    watch.show(watch.measure(), console)

    hand, sdk, pipe = by_hand(), by_sdk(), by_pipe()
    table = Table(title=f"one tools/call to the day's server, {CALLS} calls, medians")
    for column in ("what", "ms", "ratio"):
        table.add_column(column, justify="left" if column == "what" else "right")
    table.add_row("hand-rolled client", f"{hand * 1000:.3f}", "1")
    table.add_row("the SDK's client", f"{sdk * 1000:.3f}", f"SDK / by hand = {sdk / hand:.2f}")
    table.add_row("bare pipe echo", f"{pipe * 1000:.3f}", f"by hand / pipe = {hand / pipe:.1f}")
    console.print(table)
    console.print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, {Path(ROOT).name}")


if __name__ == "__main__":
    main()
