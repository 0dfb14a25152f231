"""Writes docs/benchmarks.md."""

import os
import resource
import statistics
from collections.abc import Callable, Iterable
from datetime import date

import machine
from cases import Demand, Step
from inputs import Input, megabytes
from measure import MAXRSS_UNIT, GrowthResult, Measured, PhasesResult, Result, Run, cpu, wall
from programs import ONWARD, ROOT
from synthetic import FULL, Size

PAGE = ROOT / "docs" / "benchmarks.md"
FEWEST_RUNS = 5
# Above this share of the machine at other work, the figures are marked.
BUSY = 0.05
# Losses nearer than this are called equal: a unit of the last digit shown.
EQUAL_LOSS = 0.0001

INTRODUCTION = """\
# Benchmarks

Onward compared with its peers on the same rows. `bench/run` measures and writes this page. Nothing here is a test. \
Absolute times are those of one machine: rerun it on yours and read the ratios.
"""

METHOD = """\
## What is measured

**Runs.** The two programs of a case run alternately, {runs} times each, and take turns in going first. An untimed \
run before them brings the input into the page cache and reports the loss.

**Time**

- **wall** is elapsed time. **processor** is user and system time of all threads; Onward and Vowpal Wabbit's package \
both use more than one.
- Start-up is subtracted from both. It is the median time of the same command on the first two rows.
- The median of the rest is shown, with the minimum and maximum in brackets.
- The **ratio** is the peer's median divided by Onward's. Above 1, Onward is faster.

**Memory** is the median of the peak resident set of the whole process. Start-up is not subtracted: for a peer run \
from Python it includes the interpreter. Nothing below {floor:.0f} MB can be seen, which the launcher itself takes.

**Loss** is the progressive loss: each example is predicted before its label is seen, and the mean is over the \
labelled examples. For scikit-learn each batch of 1,000 is predicted before it is learnt from, in an untimed run. \
Within the time shown, Onward also computes its metrics, the best constant and the universal certificate. Where \
models only predict, the loss is the mean loss of those predictions, on the rows that the model was trained on.

**Equal work.** A case is run only if both sides report the same number of examples and the same loss function. \
pandas and polars only read the table, while Onward reads it, learns from it and evaluates; they have no loss.

**Inputs**

- **synth**, **ctr** and **awkward** are generated from seeds by `bench/generate.py`. synth resembles news as bags of \
words, with six digits per value. ctr resembles clicks on advertisements. awkward has rows of synth with content that \
is harder to parse.
- Vowpal Wabbit does not read svmlight. Where Onward reads svmlight, Vowpal Wabbit reads the same rows in its own text \
format. It has its default of 2¹⁸ slots; synth has 50,000 features. Onward's default is 2²².
- For the flights the peer reads text with the same rows and non-zero features, written by `onward convert`; this is \
not timed. The 9,430 rows without a label are in it, as in the CSV. Both programs predict them, learn nothing from \
them, and leave them out of the loss.
- The files differ in size: Vowpal Wabbit's text repeats the column names in every row, a CSV does not. In the cases \
from Vowpal Wabbit's text both programs read the same bytes. The other cases are what a user with a CSV has.
- Both caches are made before, in an untimed run.

**Peers.** The peer of `nag` is Vowpal Wabbit's default, which is the same rule. The peers of `adagrad`, `sgd` and \
`ftrl-proximal` are its flags for these rules, at the default rates of Onward. The peer of `auto` is its default.
"""

NOT_RUN = "not run"


def write(text: str):
    part = PAGE.with_suffix(".part")
    part.write_text(text)
    os.replace(part, PAGE)


def text(
    results: list[Result],
    phases: list[PhasesResult],
    growths: list[GrowthResult],
    runs: int,
    size: Size,
    versions: dict[str, str],
    others: float | None,
) -> str:
    done = [result for result in results if result.not_run is None]
    floor = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * MAXRSS_UNIT / 1e6
    parts = [
        INTRODUCTION,
        caveats(runs, size, others),
        must_reach(results, growths),
        "## Results\n",
        speed(done) if done else "No case was run.\n",
        paid(done) if done else "",
        not_run([(result.case.name, result.not_run) for result in results]),
        phases_told_apart(phases),
        losing(done),
        METHOD.format(runs=runs, floor=floor),
        machine_and_versions(versions, runs, others),
        commands(results, phases, growths),
    ]
    return "\n".join(part for part in parts if part)


def caveats(runs: int, size: Size, others: float | None) -> str:
    said = []
    if runs < FEWEST_RUNS:
        said.append(f"**A quick run of {runs}, to check that the benchmark works. Do not quote it.**\n")
    if size != FULL:
        said.append(f"**Inputs of only {size.rows:,} rows: start-up dominates. Do not quote it.**\n")
    cores = os.cpu_count() or 1
    if others is not None and others > BUSY * cores:
        said.append(
            f"**The machine was not idle: other work took {others:.1f} of its {cores} cores. Times are unreliable.**\n"
        )
    return "\n".join(said)


def must_reach(results: list[Result], growths: list[GrowthResult]) -> str:
    """The targets of the cases, and whether they are met."""
    demanded = [result for result in results if result.case.demand is not None]
    said = ""
    if demanded:
        header = ["case", "ratio, wall", "ratio, processor", "target", "minimum", "met"]
        said += table(header, map(demand_row, demanded))
        said += (
            "\nThe ratios are from the results below: the peer's time divided by Onward's. The ratio of wall time "
            "counts.\n"
        )
    if growths:
        header = ["case", "a tenth of the rows", "all rows", "growth", "at most", "met"]
        said += "\n" * bool(said) + table(header, map(growth_row, growths))
        said += (
            "\nPeak memory of the whole process. Both streams have the same features, so their tables have the same "
            "size. Any growth is in addition to the table.\n"
        )
    return f"## Targets\n\n{said}" if said else ""


def demand_row(result: Result) -> list[str]:
    demand = result.case.demand
    wanted = [times(demand.aim) + " and no higher loss" * demand.lower_loss, times(demand.floor)]
    if result.not_run is not None:
        return [result.case.name, "–", "–", *wanted, NOT_RUN]
    return [result.case.name, *(times(ratio(result, what)) for what in (wall, cpu)), *wanted, reached(result, demand)]


def times(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}×"


def reached(result: Result, demand: Demand) -> str:
    value = ratio(result, wall)
    if value is None:
        return "no ratio: all time is start-up"
    if demand.lower_loss and worse_loss(result):
        return "**no**: the loss is higher"
    if demand.aim is not None and value >= demand.aim:
        return "target"
    if demand.floor is None:
        return "no"
    if value < demand.floor:
        return "**no**"
    return "yes" if demand.aim is None else "minimum"


def growth_row(result: GrowthResult) -> list[str]:
    most = f"{result.growth.most / 1e6:.0f} MB"
    if result.not_run is not None:
        return [result.growth.name, "–", "–", "–", most, NOT_RUN]
    peaks = [f"{size / 1e6:.0f} MB" for size in (result.few, result.many, result.grown)]
    return [result.growth.name, *peaks, most, "yes" if result.grown <= result.growth.most else "**no**"]


def speed(done: list[Result]) -> str:
    header = ["case", "Onward, wall", "peer, wall", "ratio", "Onward, processor", "peer, processor", "ratio"]
    rows = [[result.case.name, *spreads(result, wall), *spreads(result, cpu)] for result in done]
    return table(header, rows)


def paid(done: list[Result]) -> str:
    header = ["case", *(f"{who}, {what}" for what in ("loss", "memory", "start-up") for who in ("Onward", "peer"))]
    rows = []
    for result in done:
        both = result.onward, result.peer
        losses = [decimals(side.outcome.mean_loss) for side in both]
        memory = [f"{side.memory() / 1e6:.0f} MB" for side in both]
        rows.append([result.case.name, *losses, *memory, *(f"{side.start_up(wall):.3f} s" for side in both)])
    return table(header, rows)


def decimals(loss: float | None) -> str:
    return "–" if loss is None else f"{loss:.4f}"


def table(header: list[str], rows: Iterable[list[str]]) -> str:
    alignment = ["---"] + ["---:"] * (len(header) - 1)
    return "".join(f"| {' | '.join(row)} |\n" for row in [header, alignment, *rows])


def spreads(result: Result, what: Callable[[Run], float]) -> list[str]:
    value = ratio(result, what)
    return [spread(result.onward, what), spread(result.peer, what), "–" if value is None else f"**{value:.2f}**"]


def spread(side: Measured, what: Callable[[Run], float]) -> str:
    net = side.net(what)
    return f"{statistics.median(net):.2f} s ({min(net):.2f}–{max(net):.2f})"


def ratio(result: Result, what: Callable[[Run], float]) -> float | None:
    """The peer's median over Onward's; None if all time is start-up."""
    ours, theirs = (side.median(what) for side in (result.onward, result.peer))
    return theirs / ours if ours > 0 and theirs > 0 else None


def not_run(reasons: list[tuple[str, str | None]]) -> str:
    lines = [f"- {name}: {reason}\n" for name, reason in reasons if reason is not None]
    return "Not run:\n\n" + "".join(lines) if lines else ""


def phases_told_apart(results: list[PhasesResult]) -> str:
    done = [result for result in results if result.not_run is None]
    said = not_run([(result.phases.name, result.not_run) for result in results])
    if done:
        header = ["input", "program", "work", "wall", "processor", "wall per feature", "processor per feature"]
        rows = [step_row(result, *step) for result in done for step in result.steps]
        said = f"{table(header, rows)}\n{PHASES}{said and chr(10)}{said}"
    return f"## Reading, parsing, learning\n\n{said}" if said else ""


PHASES = """\
Start-up is subtracted, as above. Each row does only what it names, so the cost of learning is a difference of two \
rows. Wall times do not add up where a program does several things at once; processor times do. Features are \
non-zeros, including the bias.
"""


def step_row(result: PhasesResult, step: Step, measured: Measured) -> list[str]:
    medians = [measured.median(what) for what in (wall, cpu)]
    each = [f"{median / result.features * 1e9:.1f} ns" for median in medians]
    return [
        result.phases.name.removeprefix("phases of "),
        step.program,
        step.what,
        *(spread(measured, what) for what in (wall, cpu)),
        *each,
    ]


def losing(done: list[Result]) -> str:
    beside_others = [result for result in done if result.case.peer.program.outcome != ONWARD.outcome]
    lines = [f"- {result.case.name}: {'; '.join(lost)}.\n" for result in beside_others if (lost := losses(result))]
    if not done:
        return ""
    return "## Where Onward loses\n\n" + ("".join(lines) or "In no case measured here, by medians.\n")


def losses(result: Result) -> list[str]:
    """What the peer did better."""
    peer = result.case.peer.program.name
    lost = []
    for what, name in ((wall, "wall"), (cpu, "processor")):
        value = ratio(result, what)
        if value is not None and value < 1:
            within = " (the spreads overlap)" if overlap(result, what) else ""
            lost.append(f"{peer} takes {1 - value:.0%} less {name} time{within}")
    if worse_loss(result):
        ours, theirs = (side.outcome.mean_loss for side in (result.onward, result.peer))
        lost.append(f"the loss of {peer} is {theirs:.4f}, of Onward {ours:.4f}")
    ours, theirs = (side.memory() for side in (result.onward, result.peer))
    if ours > theirs:
        lost.append(f"{peer} takes {theirs / 1e6:.0f} MB, Onward {ours / 1e6:.0f} MB")
    return lost


def worse_loss(result: Result) -> bool:
    ours, theirs = (side.outcome.mean_loss for side in (result.onward, result.peer))
    return theirs is not None and ours > theirs + EQUAL_LOSS


def overlap(result: Result, what: Callable[[Run], float]) -> bool:
    return min(result.onward.net(what)) <= max(result.peer.net(what))


def machine_and_versions(versions: dict[str, str], runs: int, others: float | None) -> str:
    rows = {
        "machine": machine.describe(),
        "other work during the runs": "unknown" if others is None else f"{others:.2f} cores",
        "runs per program": str(runs),
        "date": date.today().isoformat(),
        **versions,
    }
    return "## Machine and versions\n\n| | |\n|---|---|\n" + "".join(f"| {k} | {v} |\n" for k, v in rows.items())


def commands(results: list[Result], phases: list[PhasesResult], growths: list[GrowthResult]) -> str:
    """For each case the preparing and the timed commands, and the files they read."""
    shown, files = "", {}
    for result in results:
        shown += f"# {plain(result.case.name)}\n"
        for side in (result.case.onward, result.case.peer):
            shown += "".join(f"{filled(command, side.input)}  # before\n" for command in side.before)
            shown += f"{filled(side.command, side.input)}\n"
            files[side.input] = None
    for result in phases:
        shown += f"# {plain(result.phases.name)}\n"
        for step in result.phases.steps:
            shown += f"{filled(step.command, step.input)}\n"
            files[step.input] = None
    for result in growths:
        shown += f"# {plain(result.growth.name)}\n"
        for given in (result.growth.few, result.growth.many):
            shown += f"{filled(result.growth.command, given)}\n"
            files[given] = None
    lines = "".join(f"- `{it.file}`, {megabytes(it):.1f} MB: {it.about}\n" for it in files if (ROOT / it.file).exists())
    about = (
        f"`python` is that of `bench/.venv`, `onward` is the release build. {ONWARD.name} comes first, then the peer. "
        "Their output goes to `/dev/null`."
    )
    return f"## Commands\n\nTo measure again: `bench/run`. {about}\n\n```sh\n{shown}```\n\n{lines}"


def plain(name: str) -> str:
    return name.replace("`", "")


def filled(command: str, given: Input) -> str:
    return command.format(input=given.file, whole=given.file, two=given.two)
