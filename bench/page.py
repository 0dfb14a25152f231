"""Writes docs/benchmarks.md."""

import os
import resource
import statistics
from collections.abc import Callable, Iterable
from datetime import date

import machine
from inputs import megabytes
from measure import MAXRSS_UNIT, Measured, Result, Run
from programs import ONWARD, ROOT

PAGE = ROOT / "docs" / "benchmarks.md"
FEWEST_RUNS = 5
# Above this share of the machine at other work, the figures are marked.
BUSY = 0.05
# Losses nearer than this are called equal: half a unit of the last digit shown.
EQUAL_LOSS = 0.00005

INTRODUCTION = """\
# Benchmarks

Onward beside its peers, on the same rows. `bench/run` measures and writes this page; nothing here is a test, and \
absolute times are those of one machine: rerun it on yours and read the ratios.
"""

METHOD = """\
## What is measured

- Each pair runs alternately, {runs} times each side, who goes first changing with each turn. An untimed run before \
leaves the input in the page cache; it is also asked for the loss.
- **wall** is elapsed time, **processor** is user and system time of all threads (Onward and Vowpal Wabbit's package \
both use more than one). From both, start-up is taken off: the median time of the same command on the first two \
rows. The median of what is left stands with the least and the most in brackets; the **ratio** is the peer's \
median over Onward's: above 1 Onward needs less.
- **memory** is the median of the peak resident set of the whole process (start-up not taken off: for a peer run \
from Python, the interpreter is in it). It cannot be seen below {floor:.0f} MB, which the launcher itself takes.
- **loss** is the progressive loss: each example predicted before its label was seen, mean over the labelled ones. \
Within the time shown Onward also keeps its account: metrics, the best constant and the universal certificate.
- A case is run only if both sides report the same number of examples and the same loss function.
- The peer's file is text of the same rows and non-zero features, as `onward convert` writes them; making it is not \
timed. Rows without a label (9,430 of the flights) are in it, as in the CSV: both programs predict them and learn \
nothing from them, and leave them out of the loss.
- The files differ in size: a CSV does not repeat the column names in every row, Vowpal Wabbit's text does. The \
cases from Vowpal Wabbit's text give both programs the same bytes; the others are what a user with a CSV has.
"""


def write(text: str):
    part = PAGE.with_suffix(".part")
    part.write_text(text)
    os.replace(part, PAGE)


def text(results: list[Result], runs: int, versions: dict[str, str], others: float | None) -> str:
    done = [result for result in results if result.not_run is None]
    floor = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * MAXRSS_UNIT / 1e6
    parts = [
        INTRODUCTION,
        caveats(runs, others),
        "## Results\n",
        speed(done) if done else "No case was run.\n",
        paid(done) if done else "",
        not_run(results),
        losing(done),
        METHOD.format(runs=runs, floor=floor),
        machine_and_versions(versions, runs, others),
        commands(results),
    ]
    return "\n".join(part for part in parts if part)


def caveats(runs: int, others: float | None) -> str:
    said = []
    if runs < FEWEST_RUNS:
        said.append(f"**A quick run of {runs}: it shows that the benchmark works; do not quote it.**\n")
    cores = os.cpu_count() or 1
    if others is not None and others > BUSY * cores:
        said.append(
            f"**The machine was not idle: other work took {others:.1f} of its {cores} cores. Times are noise.**\n"
        )
    return "\n".join(said)


def speed(done: list[Result]) -> str:
    header = ["case", "Onward, wall", "peer, wall", "ratio", "Onward, processor", "peer, processor", "ratio"]
    rows = [[result.case.name, *spreads(result, wall), *spreads(result, cpu)] for result in done]
    return table(header, rows)


def paid(done: list[Result]) -> str:
    header = ["case", *(f"{who}, {what}" for what in ("loss", "memory", "start-up") for who in ("Onward", "peer"))]
    rows = []
    for result in done:
        both = result.onward, result.peer
        losses = [f"{side.outcome.progressive_loss:.4f}" for side in both]
        memory = [f"{side.memory() / 1e6:.0f} MB" for side in both]
        rows.append([result.case.name, *losses, *memory, *(f"{side.start_up(wall):.3f} s" for side in both)])
    return table(header, rows)


def table(header: list[str], rows: Iterable[list[str]]) -> str:
    alignment = ["---"] + ["---:"] * (len(header) - 1)
    return "".join(f"| {' | '.join(row)} |\n" for row in [header, alignment, *rows])


def wall(run: Run) -> float:
    return run.wall


def cpu(run: Run) -> float:
    return run.cpu


def spreads(result: Result, what: Callable[[Run], float]) -> list[str]:
    value = ratio(result, what)
    return [spread(result.onward, what), spread(result.peer, what), "–" if value is None else f"**{value:.2f}**"]


def spread(side: Measured, what: Callable[[Run], float]) -> str:
    net = side.net(what)
    return f"{statistics.median(net):.2f} s ({min(net):.2f}–{max(net):.2f})"


def ratio(result: Result, what: Callable[[Run], float]) -> float | None:
    """The peer's median over Onward's; None if start-up is all there is."""
    ours, theirs = (statistics.median(side.net(what)) for side in (result.onward, result.peer))
    return theirs / ours if ours > 0 and theirs > 0 else None


def not_run(results: list[Result]) -> str:
    reasons = [f"- {result.case.name}: {result.not_run}\n" for result in results if result.not_run is not None]
    return "Not run:\n\n" + "".join(reasons) if reasons else ""


def losing(done: list[Result]) -> str:
    lines = [f"- {result.case.name}: {'; '.join(lost)}.\n" for result in done if (lost := losses(result))]
    if not done:
        return ""
    return "## Where Onward loses\n\n" + ("".join(lines) or "In none of what was measured here, by medians.\n")


def losses(result: Result) -> list[str]:
    """In what the peer did better."""
    peer = result.case.peer.program.name
    lost = []
    for what, name in ((wall, "wall"), (cpu, "processor")):
        value = ratio(result, what)
        if value is not None and value < 1:
            within = " (the spreads overlap)" if overlap(result, what) else ""
            lost.append(f"{peer} needs {1 - value:.0%} less {name} time{within}")
    ours, theirs = (side.outcome.progressive_loss for side in (result.onward, result.peer))
    if ours > theirs + EQUAL_LOSS:
        lost.append(f"{peer} pays {theirs:.4f}, Onward {ours:.4f}")
    ours, theirs = (side.memory() for side in (result.onward, result.peer))
    if ours > theirs:
        lost.append(f"{peer} needs {theirs / 1e6:.0f} MB, Onward {ours / 1e6:.0f} MB")
    return lost


def overlap(result: Result, what: Callable[[Run], float]) -> bool:
    return min(result.onward.net(what)) <= max(result.peer.net(what))


def machine_and_versions(versions: dict[str, str], runs: int, others: float | None) -> str:
    rows = {
        "machine": machine.describe(),
        "other work meanwhile": "unknown" if others is None else f"{others:.2f} cores",
        "runs of each side": str(runs),
        "date": date.today().isoformat(),
        **versions,
    }
    return "## Machine and versions\n\n| | |\n|---|---|\n" + "".join(f"| {k} | {v} |\n" for k, v in rows.items())


def commands(results: list[Result]) -> str:
    files = {side.input: None for result in results for side in (result.case.onward, result.case.peer)}
    lines = "".join(f"- `{it.file}`, {megabytes(it):.1f} MB: {it.about}\n" for it in files if (ROOT / it.file).exists())
    pairs = "".join(
        f"# {result.case.name.replace('`', '')}\n"
        + "".join(f"{side.command.format(input=side.input.file)}\n" for side in (result.case.onward, result.case.peer))
        for result in results
    )
    about = f"`python` is that of `bench/.venv`, `onward` is the release build. First {ONWARD.name}, then the peer."
    return f"## Commands\n\nTo measure again: `bench/run`. {about}\n\n```sh\n{pairs}```\n\n{lines}"
