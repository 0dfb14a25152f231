"""Runs a pair of commands alternately and measures each run: wall clock, processor, memory."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from cases import Case, Growth, Phases, Side, Step
from inputs import Input
from programs import ONWARD, ROOT, NotRunError, Outcome, Tools, failure, finish

# ru_maxrss is in bytes on macOS, in KiB elsewhere.
MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True)
class Run:
    """One run: wall-clock seconds, processor seconds (user and system), peak memory in bytes."""

    wall: float
    cpu: float
    memory: int


@dataclass
class Measured:
    """The runs of a command on two examples and on all."""

    command: str
    input: Input
    start_ups: list[Run] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)

    def turn(self, tools: Tools):
        """Runs once on both."""
        self.start_ups.append(timed(arguments(tools, self.command, self.input, self.input.two)))
        self.runs.append(timed(arguments(tools, self.command, self.input, self.input.file)))

    def start_up(self, what: Callable[[Run], float]) -> float:
        return statistics.median(map(what, self.start_ups))

    def net(self, what: Callable[[Run], float]) -> list[float]:
        """The value of each run minus the median start-up."""
        return [what(run) - self.start_up(what) for run in self.runs]

    def median(self, what: Callable[[Run], float]) -> float:
        return statistics.median(self.net(what))

    def memory(self) -> float:
        return statistics.median(run.memory for run in self.runs)


@dataclass
class MeasuredSide(Measured):
    """One side of a case, with the loss it reports."""

    outcome: Outcome | None = None


@dataclass(frozen=True)
class Result:
    """A case with both sides measured, or the reason why it was not run."""

    case: Case
    onward: MeasuredSide | None = None
    peer: MeasuredSide | None = None
    not_run: str | None = None


@dataclass(frozen=True)
class PhasesResult:
    """The measured steps of an input with ``features`` non-zeros, or the reason why they were not run."""

    phases: Phases
    features: int = 0
    steps: tuple[tuple[Step, Measured], ...] = ()
    not_run: str | None = None


@dataclass(frozen=True)
class GrowthResult:
    """The peak memory on few and on many rows, or the reason why it was not measured."""

    growth: Growth
    few: float = 0.0
    many: float = 0.0
    not_run: str | None = None

    @property
    def grown(self) -> float:
        return max(0.0, self.many - self.few)


def wall(run: Run) -> float:
    return run.wall


def cpu(run: Run) -> float:
    return run.cpu


def compare(case: Case, tools: Tools, runs: int) -> Result:
    sides = [ask(side, tools) for side in (case.onward, case.peer)]
    check(*sides)
    for turn in range(runs):
        # The two take turns in going first.
        for measured in sides[:: 1 if turn % 2 == 0 else -1]:
            measured.turn(tools)
    say(f"{sides[0].median(wall):.2f} s, {case.peer.program.name} {sides[1].median(wall):.2f} s")
    return Result(case, *sides)


def compare_phases(phases: Phases, tools: Tools, runs: int) -> PhasesResult:
    whole = ask(phases.whole, tools)
    steps = [(step, Measured(step.command, step.input)) for step in phases.steps]
    for step in phases.steps:
        step.input.ready(tools)
    for _ in range(runs):
        for _, measured in steps:
            measured.turn(tools)
    say(", ".join(f"{step.program} {step.what} {measured.median(wall):.2f} s" for step, measured in steps))
    return PhasesResult(phases, whole.outcome.features, tuple(steps))


def compare_growth(growth: Growth, tools: Tools, runs: int) -> GrowthResult:
    few, many = (ask(Side(ONWARD, growth.command, given), tools) for given in (growth.few, growth.many))
    for _ in range(runs):
        for measured in (few, many):
            measured.runs.append(timed(arguments(tools, growth.command, measured.input, measured.input.file)))
    result = GrowthResult(growth, few.memory(), many.memory())
    say(f"{result.few / 1e6:.0f} MB, {result.many / 1e6:.0f} MB")
    return result


def say(what: str):
    print(what, file=sys.stderr)


def arguments(tools: Tools, command: str, given: Input, file: str) -> list[str]:
    return tools.arguments(command, file, given.file, given.two)


def ask(side: Side, tools: Tools) -> MeasuredSide:
    """The preparing commands, and an untimed run that reports the loss and leaves the input in the page cache."""
    side.input.ready(tools)
    for command in side.before:
        finish(arguments(tools, command, side.input, side.input.file))
    outcome = side.program.outcome(arguments(tools, side.command, side.input, side.input.file))
    return MeasuredSide(side.command, side.input, outcome=outcome)


def check(onward: MeasuredSide, peer: MeasuredSide):
    """Checks that both did the same work. A program that only reads has no loss."""
    for what in ("examples", "loss"):
        ours, theirs = getattr(onward.outcome, what), getattr(peer.outcome, what)
        if ours != theirs and theirs is not None:
            raise NotRunError(f"not the same work: {what} {ours} and {theirs}")


def timed(words: list[str]) -> Run:
    """Runs once. The peak is at least this launcher's own, which the child has for a moment."""
    with tempfile.TemporaryFile("w+") as errors:
        began = time.perf_counter()
        child = subprocess.Popen(words, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        if child.returncode != 0:
            raise NotRunError(failure(child.returncode, errors.read()))
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * MAXRSS_UNIT)
