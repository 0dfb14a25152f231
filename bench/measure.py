"""Runs a pair of commands alternately and measures each run: wall clock, processor, memory."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from cases import Case, Side
from programs import ROOT, NotRunError, Outcome, Tools, failure

# ru_maxrss is in bytes on macOS, in KiB elsewhere.
MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True)
class Run:
    """One run: seconds of wall clock, seconds of processor (user and system), bytes at the peak."""

    wall: float
    cpu: float
    memory: int


@dataclass
class Measured:
    """One side of a case: what it says it paid, and its runs on two examples and on all."""

    side: Side
    outcome: Outcome
    start_ups: list[Run] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)

    def start_up(self, what: Callable[[Run], float]) -> float:
        return statistics.median(map(what, self.start_ups))

    def net(self, what: Callable[[Run], float]) -> list[float]:
        """Of each run, without the median start-up."""
        return [what(run) - self.start_up(what) for run in self.runs]

    def memory(self) -> float:
        return statistics.median(run.memory for run in self.runs)


@dataclass(frozen=True)
class Result:
    """A case with both sides measured, or with the reason why not."""

    case: Case
    onward: Measured | None = None
    peer: Measured | None = None
    not_run: str | None = None


def compare(case: Case, tools: Tools, runs: int) -> Result:
    print(f"{case.name}: ", end="", file=sys.stderr, flush=True)
    try:
        result = measure(case, tools, runs)
    except NotRunError as reason:
        print(f"not run: {reason}", file=sys.stderr)
        return Result(case, not_run=str(reason))
    median = [statistics.median(side.net(lambda run: run.wall)) for side in (result.onward, result.peer)]
    print(f"{median[0]:.2f} s, {case.peer.program.name} {median[1]:.2f} s", file=sys.stderr)
    return result


def measure(case: Case, tools: Tools, runs: int) -> Result:
    sides = [ask(side, tools) for side in (case.onward, case.peer)]
    check(*sides)
    for turn in range(runs):
        # Who goes first changes with each turn.
        for measured in sides[:: 1 if turn % 2 == 0 else -1]:
            measured.start_ups.append(timed(tools.arguments(measured.side.command, measured.side.input.two)))
            measured.runs.append(timed(tools.arguments(measured.side.command, measured.side.input.file)))
    return Result(case, *sides)


def ask(side: Side, tools: Tools) -> Measured:
    """An untimed run, which says what was paid and leaves the input in the page cache."""
    side.input.ready(tools)
    return Measured(side, side.program.outcome(tools.arguments(side.command, side.input.file)))


def check(onward: Measured, peer: Measured):
    for what in ("examples", "loss"):
        ours, theirs = getattr(onward.outcome, what), getattr(peer.outcome, what)
        if ours != theirs:
            raise NotRunError(f"not the same work: {what} {ours} and {theirs}")


def timed(arguments: list[str]) -> Run:
    """Runs once. The peak is at least this launcher's own, which a child has for a moment."""
    with tempfile.TemporaryFile("w+") as errors:
        began = time.perf_counter()
        child = subprocess.Popen(
            arguments, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors
        )
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        if child.returncode != 0:
            raise NotRunError(failure(child.returncode, errors.read()))
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * MAXRSS_UNIT)
