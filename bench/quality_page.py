"""Writes docs/notes/quality.md."""

import math
import os
import statistics
import sys
from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path

import machine
import quality_peers
from programs import ROOT, commit, say
from quality_peers import RATES
from quality_run import BEST_RATE, COLUMNS, Cell, Column, Result
from quality_score import CLIP, FEW, Score
from quality_sets import CLASSES, CONFIRMATION, DEVELOPMENT, REGRESSION, WHERE

PAGE = ROOT / "docs" / "notes" / "quality.md"
# Losses above this are shown as infinite.
DIVERGED = 1e6
# Ratios are kept within these in geometric means.
LEAST, MOST = 0.01, 100.0
NONE = "–"

INTRODUCTION = """\
# Quality

The losses of Onward and its peers on the same streams. Each row is predicted before its label is used. \
`bench/quality` measures and writes this page. Rerun it, and add your own sets to `bench/quality_sets.py`.
"""

METHOD = """\
## What is measured

**Loss** is prequential: the mean loss over all rows, where each prediction is made before the label is seen.

- For classes it is the log loss, with probabilities clipped to [{clip:g}, 1 − {clip:g}].
- For regression it is the mean squared error divided by the variance of the labels. So 1 is the loss of the mean \
label, had it been known in advance.
- The **ratio** is Onward's loss divided by the peer's. Below 1, Onward's loss is lower.
- Onward's loss is bold where it is the least of its row. ∞ stands for a loss above {diverged}, or NaN.

**AUC** is computed from the same predictions: Onward's from its streaming histogram, the peers' exactly.

**Sets** come in stream order. Only wine and iris, which are sorted by class, are shuffled, with a fixed seed. Where a \
set has more than two classes, the task is its most frequent class (the first one if tied) against the rest. Where it \
has several targets, the task is the first one. The division into development and confirmation sets was written down \
before `auto` was ([auto-experiments.md](auto-experiments.md)).

**Regression** is shown twice: with raw labels, and with labels standardised in hindsight (minus their mean, divided \
by their standard deviation, over the whole stream) for all programs alike. With raw labels most of the peers' loss \
comes from the first rows, in which they find the offset and the scale of the labels.

**Features** are the same for all programs. Onward's reader makes them from the table, and `onward convert` writes \
them as Vowpal Wabbit's text:

- numbers as they are;
- strings as categories, one feature of value 1 each;
- words for text;
- dates as days, hour, weekday and month;
- an indicator for missing values.

Each program adds a bias itself. Rows without a label (9,430 of the flights) are in Onward's input, which learns \
nothing from them, but not in the peers'. Onward reads the table, in which zero is a value. In Vowpal Wabbit's text \
zeros are absent, which is the same to Vowpal Wabbit.

**†** marks scikit-learn and River, which are slow, where they saw only the first {few:,} rows of the set. Ratios with \
them are on these rows for both.

### Onward

Onward runs as `onward learn … --learner {learner}`. Nothing else is set except what the columns are: `--numeric` \
names them where all are numbers. Otherwise those that are constant in the first rows would be left out.

### Vowpal Wabbit

- It runs with `-b 22` and `--loss_function` logistic or squared: by default, with `--coin`, with `--ftrl`, and at \
the learning rates {rates} (0.5 is its default). The best rate is chosen in hindsight for each set.
- In regression it clips each prediction to the range of the labels so far, including the label to be predicted. This \
mostly helps it on rows that set a new extreme.
- Losses are computed from its predictions (`-p`), and agree with its "average loss". For `--coin` and `--ftrl` the \
"average loss" is shown instead, because the predictions that they write are not the ones that they learn from. Their \
AUC is that of the written predictions.

### scikit-learn

- SGDClassifier (`log_loss`) and SGDRegressor run row by row with `partial_fit`. A first row is predicted as 0, even \
odds.
- The number columns pass through a StandardScaler. It has seen the row itself and all rows before it, except for \
missing numbers, which become 0.
- Categories are not scaled. When they were scaled, the best setting had a much higher loss on water_flow, a slightly \
lower one on airline_passengers, and a lower one on solar_flare (0.869 with standardised labels, at the defaults).
- The words of spam and the weights of rcv1_small, whose rows have length about 1, are not scaled either. Divided by \
their deviations (`with_mean=False`), rare words become large. Both the defaults and the best setting then had a \
higher loss on both sets.
- The rows of flights, spam and rcv1_small are given as sparse matrices. For these scikit-learn learns the intercept \
at a hundredth of the rate.
- It runs at the defaults, and with the best of seven settings, chosen in hindsight for each set. The seven are the \
default and the six below. `constant` and `invscaling` are a `learning_rate`, which is by default `optimal` for \
classes and `invscaling` for regression.

Settings for classes: {classifiers}.

Settings for regression: {regressors}.

### River

LogisticRegression and LinearRegression run with AdaGrad and FTRLProximal at their defaults. The number columns pass \
through a StandardScaler, with zeros as values. Categories, words and the weights of rcv1_small are not scaled: \
River's scaler counts only the rows in which a feature occurs, and would turn every category into 0.
"""

LOSING = """\
Loss of Onward, then of each program with a lower one.
"""

MIXTURES = """\
## The mixture and its bound

Log loss per example: the loss of Onward's mixture minus that of its best expert (negative where mixing gained), and \
the theorem's bound on it. `bench/quality` stops if the bound does not hold.
"""

SUMMARY = """\
## Summary

Computed from the tables. For regression, the rows with standardised labels are counted here; those with raw labels \
are counted separately below. In geometric means, ratios are clipped to [{least}, {most:g}].
"""


def write(text: str):
    part = PAGE.with_suffix(".part")
    part.write_text(text)
    os.replace(part, PAGE)


def text(results: list[Result], onward: Path, built: bool, learner: str) -> str:
    done = [result for result in results if result.missing is None]
    parts = [
        INTRODUCTION,
        tables(done),
        skipped(results),
        summary(done),
        losing(done),
        mixtures(done),
        method(learner),
        machine_and_versions(onward, built, learner),
        "## Command\n\nTo measure again: `bench/quality` (see [bench/README.md](../../bench/README.md)).\n",
    ]
    return "\n".join(part for part in parts if part)


def table(header: list[str], rows: Iterable[list[str]], left: int = 1) -> str:
    """A table whose first ``left`` columns are aligned to the left, in Markdown."""
    aligned = ["---"] * left + ["---:"] * (len(header) - left)
    return "".join(f"| {' | '.join(row)} |\n" for row in [header, aligned, *rows])


def tables(done: list[Result]) -> str:
    classes = [result for result in done if result.data.task == CLASSES]
    numbers = [result for result in done if result.data.task == REGRESSION]
    cut = [result for result in done if result.cut and result.first_rows(COLUMNS[-1])]
    parts = []
    if classes:
        parts += ["## Classes: log loss\n", losses(classes), "## Classes: AUC\n", areas(classes)]
    if numbers:
        parts += ["## Regression: mean squared error over the variance of the labels\n", losses(numbers)]
    if cut:
        parts += [f"## The first {FEW:,} rows of the longer sets (†): loss\n", first_losses(cut)]
    return "\n".join(parts)


def losses(results: list[Result]) -> str:
    names = [column.name for column in COLUMNS]
    header = ["set", "role", "rows", "features", "Onward", *names, "Onward / VW best"]
    rows = []
    for result in results:
        cells = [loss_cell(result, column) for column in COLUMNS]
        ours = bold_if_least(result)
        rows.append([*about(result), ours, *cells, ratio_cell(result, BEST_RATE)])
    return table(header, rows, left=2)


def about(result: Result) -> list[str]:
    return [title(result), result.data.role, f"{result.rows:,}", f"{result.features:,}"]


def title(result: Result) -> str:
    if result.data.task == CLASSES:
        return result.data.name
    name = result.data.name.removesuffix("-standardised")
    return f"{name}, {'standardised' if result.data.standardised else 'raw'} labels"


def bold_if_least(result: Result) -> str:
    """Onward's loss, in bold where no other program has a lower one."""
    pairs = [pair for column in COLUMNS if (pair := result.compared(column))]
    ours = number(result.onward.all.loss)
    return f"**{ours}**" if pairs and all(onward < theirs for onward, theirs in pairs) else ours


def loss_cell(result: Result, column: Column) -> str:
    cell = result.all_rows(column)
    if cell is not None:
        return said(cell, column)
    cell = result.first_rows(column)
    return NONE if cell is None else f"{said(cell, column)}†"


def said(cell: Cell, column: Column) -> str:
    """The loss, and which of several settings had it."""
    return f"{number(cell.score.loss)}{setting(cell, column)}"


def setting(cell: Cell, column: Column) -> str:
    return "" if len(column.settings) == 1 else f" ({cell.setting.removeprefix('-l ')})"


def number(loss: float) -> str:
    if not loss <= DIVERGED:
        return "∞"
    if loss < 0.01:
        return f"{loss:.5f}"
    return f"{loss:.4f}" if loss < 100 else f"{loss:,.0f}"


def ratio_cell(result: Result, column: Column) -> str:
    pair = result.compared(column)
    return NONE if pair is None else ratio_text(ratio(*pair))


def ratio(ours: float, theirs: float) -> float:
    """Onward's loss over a peer's, of which each may be infinite."""
    if not theirs <= DIVERGED:
        return 1.0 if not ours <= DIVERGED else 0.0
    return ours / theirs if ours <= DIVERGED else math.inf


def ratio_text(value: float) -> str:
    return "∞" if math.isinf(value) else f"{value:.3f}"


def areas(results: list[Result]) -> str:
    rows = [
        [title(result), area(result.onward.all), *(area_cell(result, column) for column in COLUMNS)]
        for result in results
    ]
    return table(["set", "Onward", *(column.name for column in COLUMNS)], rows)


def area(score: Score) -> str:
    return NONE if score.auc is None else f"{score.auc:.4f}"


def area_cell(result: Result, column: Column) -> str:
    """The AUC of the setting with the least loss."""
    if (cell := result.all_rows(column)) is not None:
        return area(cell.score)
    cell = result.first_rows(column)
    return NONE if cell is None else f"{area(cell.score)}†"


def first_losses(results: list[Result]) -> str:
    columns = [BEST_RATE, *(column for column in COLUMNS if column.peer != BEST_RATE.peer)]
    rows = []
    for result in results:
        cells = [result.first_rows(column) for column in columns]
        paid = [NONE if cell is None else said(cell, column) for cell, column in zip(cells, columns, strict=True)]
        rows.append([title(result), number(result.onward.first.loss), *paid])
    return table(["set", "Onward", *(column.name for column in columns)], rows)


def skipped(results: list[Result]) -> str:
    lines = [
        f"- {title(result)}: `{result.missing}` is missing. It is {WHERE[result.missing]}. Put it into the folder "
        "given by `--data`, compressed with Zstandard.\n"
        for result in results
        if result.missing
    ]
    return f"## Skipped\n\n{''.join(lines)}" if lines else ""


def summary(done: list[Result]) -> str:
    if not any(result.peers for result in done):
        return ""
    parts = [SUMMARY.format(least=LEAST, most=MOST)]
    for what, counts in (("", is_counted), (", regression with raw labels", is_raw)):
        for name, roles in (
            ("Development sets", (DEVELOPMENT,)),
            ("Confirmation sets", (CONFIRMATION,)),
            ("All sets", (DEVELOPMENT, CONFIRMATION)),
        ):
            chosen = [result for result in done if counts(result) and result.data.role in roles]
            if chosen:
                parts.append(f"### {name}{what}: {len(chosen)}\n\n{summary_table(chosen)}")
    return "\n".join(parts)


def is_counted(result: Result) -> bool:
    return result.data.task == CLASSES or result.data.standardised


def is_raw(result: Result) -> bool:
    return not is_counted(result)


def summary_table(results: list[Result]) -> str:
    header = ["Onward against", "lower on", "geometric mean of ratios", "largest ratio", "on"]
    rows = []
    for column in [BEST_RATE, *(column for column in COLUMNS if column is not BEST_RATE)]:
        ratios = {title(result): ratio(*pair) for result in results if (pair := result.compared(column))}
        if ratios:
            rows.append([column.name, *summary_row(ratios)])
    return table(header, rows)


def summary_row(ratios: dict[str, float]) -> list[str]:
    lower = sum(value < 1 for value in ratios.values())
    mean = statistics.geometric_mean(min(max(value, LEAST), MOST) for value in ratios.values())
    worst = max(ratios, key=ratios.__getitem__)
    return [f"{lower} of {len(ratios)}", f"{mean:.3f}", ratio_text(ratios[worst]), worst]


def losing(done: list[Result]) -> str:
    if not any(result.peers for result in done):
        return ""
    lines = [f"- {line}\n" for result in done if (line := lost(result))]
    return f"## Where Onward loses\n\n{LOSING}\n" + ("".join(lines) or "On no set measured here.\n")


def lost(result: Result) -> str:
    """The programs with a lower loss on a set, the lowest first."""
    on_all = less(result, lambda column: result.all_rows(column), result.onward.all.loss)
    on_first = less(result, first_only(result), result.onward.first.loss)
    parts = []
    if on_all:
        parts.append(f"Onward {number(result.onward.all.loss)}, {on_all}")
    if on_first:
        parts.append(f"on the first {FEW:,} rows Onward {number(result.onward.first.loss)}, {on_first}")
    return f"{title(result)}: {'; '.join(parts)}." if parts else ""


def first_only(result: Result) -> Callable[[Column], Cell | None]:
    """The scores on the first rows of those who did not see all."""
    return lambda column: None if result.all_rows(column) else result.first_rows(column)


def less(result: Result, find: Callable[[Column], Cell | None], ours: float) -> str:
    cells = [(column, cell) for column in COLUMNS if (cell := find(column)) and ratio(ours, cell.score.loss) > 1]
    cells.sort(key=lambda pair: pair[1].score.loss)
    return ", ".join(f"{column.phrase}{setting(cell, column)} {number(cell.score.loss)}" for column, cell in cells)


def mixtures(done: list[Result]) -> str:
    """What mixing cost, and its bound where there is one."""
    known = [(title(result), *result.onward.mixture) for result in done if result.onward.mixture]
    if not known:
        return ""
    rows = [[name, f"{gap:+.5f}", f"{bound:.5f}"] for name, gap, bound in known]
    return MIXTURES + "\n" + table(["set", "mixture minus its best expert", "bound"], rows)


def method(learner: str) -> str:
    return METHOD.format(
        learner=learner,
        clip=CLIP,
        diverged=f"{DIVERGED:,.0f}",
        few=FEW,
        rates=", ".join(RATES),
        classifiers=settings(quality_peers.CLASSIFIERS),
        regressors=settings(quality_peers.REGRESSORS),
    )


def settings(names: Iterable[str]) -> str:
    """In words, without the default."""
    return "; ".join(f"`{name}`" for name in names if name != quality_peers.DEFAULT)


def machine_and_versions(onward: Path, built: bool, learner: str) -> str:
    source = commit() if built else "a given binary"
    rows = {
        "machine": machine.describe(),
        "date": date.today().isoformat(),
        "Onward": f"{say(onward, '--version').removeprefix('onward ')} ({source}), learner `{learner}`",
        "Vowpal Wabbit": quality_peers.version(quality_peers.VOWPAL_WABBIT),
        "scikit-learn": quality_peers.version(quality_peers.SCIKIT_LEARN),
        "River": quality_peers.version(quality_peers.RIVER),
        "Python": sys.version.split()[0],
    }
    return "## Machine and versions\n\n| | |\n|---|---|\n" + "".join(f"| {k} | {v} |\n" for k, v in rows.items())
