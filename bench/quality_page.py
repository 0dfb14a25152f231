"""Writes docs/quality.md."""

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

PAGE = ROOT / "docs" / "quality.md"
# Losses above this are shown as infinite.
DIVERGED = 1e6
# Ratios are kept within these in geometric means.
LEAST, MOST = 0.01, 100.0
NONE = "–"

INTRODUCTION = """\
# Quality

What Onward and its peers pay on the same streams, each row predicted before its label is used. `bench/quality` \
measures and writes this page: rerun it, and add your own sets to `bench/quality_sets.py`.
"""

METHOD = """\
## What is measured

- **Loss** is progressive (prequential): the mean over all rows of what the prediction made before the label was seen \
costs. Of classes it is the log loss, with probabilities kept within [{clip:g}, 1 − {clip:g}]; of numbers the mean \
squared error over the variance of the labels, so that 1 is what their mean, known beforehand, pays. The **ratio** is \
Onward's loss over the peer's: below 1 Onward pays less. Onward's loss is bold where it is the least of the line. \
∞ stands for a loss above {diverged}, or one that is no number.
- **AUC** is of the same predictions (Onward's from its streaming histogram, the peers' exact).
- **Sets** come in stream order, but for wine and iris, which are sorted by class and are shuffled with a fixed seed. \
One with more than two classes asks for its most frequent class (the first of equals) against the rest, one with \
several targets for the first of them. The division into development and confirmation was written down before \
`auto` was ([auto.md](auto.md)).
- **Regression** is given twice: with the labels as they are, and with labels standardised in hindsight (less their \
mean, over their deviation, of the whole stream) for all programs alike. Without that the peers pay mostly for the \
first rows, in which they find the labels' offset and scale.
- **Features** are the same for all programs: what Onward's reader makes of the table, which `onward convert` writes \
as Vowpal Wabbit's text: numbers as they are, strings as categories (one feature of value 1 each), words for text, \
dates as days, hour, weekday and month, and a sign for missing values. A bias is added by each program itself. Rows \
without a label (9,430 of the flights) are in Onward's input, which learns nothing from them, and not in the peers'. \
Onward reads the table, in which zero is a value; in Vowpal Wabbit's text zeros are \
absent, which to Vowpal Wabbit is the same.
- **Onward** runs as `onward learn … --learner {learner}`, with nothing else set but what the columns are: \
`--numeric` names them where all are numbers, or those that are constant in the first rows would be left out.
- **Vowpal Wabbit** runs with `-b 22` and `--loss_function` logistic or squared: as it is, with `--coin`, with \
`--ftrl`, and at the learning rates {rates} (0.5 is its default), of which the best is chosen in hindsight, set by \
set. In regression it clips each prediction to the range of the labels so far, the label to be predicted included, \
which mostly helps it on rows that set a new extreme. Losses are computed from its predictions (`-p`), and agree \
with its "average loss"; but for `--coin` and `--ftrl`, of which "average loss" is given: the predictions that they \
write are not those that they learn from (AUC is of the written ones).
- **scikit-learn** runs SGDClassifier (`log_loss`) and SGDRegressor row by row with `partial_fit`, behind a \
StandardScaler of the number columns that has seen the numbers of the row itself and all before it, but for those \
that are missing, which become 0. Categories are left as they are: scaled as well, the best setting paid much more \
on water_flow, a little less on airline_passengers, and less on solar_flare (0.869 of standardised labels, at the \
defaults). Left as they are, too, are the words of spam and the weights of rcv1_small, whose rows have about length \
1: divided by their deviations (`with_mean=False`) rare words become large, and the defaults and the best setting \
paid more on both sets. It runs at the defaults, and with the best in hindsight of seven settings, set by set, which \
are the default and what follows (`constant` and `invscaling` are a `learning_rate`, which by default is `optimal` \
for classes and `invscaling` for numbers). Of classes: {classifiers}. Of numbers: {regressors}. A first row is \
predicted as 0, even odds. It is given the rows of flights, spam and rcv1_small as sparse matrices, of which it learns \
the intercept at a hundredth of the rate.
- **River** runs LogisticRegression and LinearRegression with AdaGrad and FTRLProximal at their defaults, behind a \
StandardScaler of the number columns, zeros being values; categories and words, and the weights of rcv1_small, are \
left as they are (its scaler counts only the rows in which a feature occurs, and would turn every category into 0).
- **†**: scikit-learn and River, which are slow, saw the first {few:,} rows of the set. Ratios with them are on \
these rows for both.
"""

MIXTURES = """\
## The mixture and its bound

Log loss an example: what Onward's mixture paid above the best of its experts (below 0 where mixing gained), and \
what the theorem allows. `bench/quality` stops if it does not hold.
"""

SUMMARY = """\
## Summary

Computed from the tables. Of regression, the lines with standardised labels are counted, and those with labels as \
they are apart. In geometric means ratios are kept within [{least}, {most:g}].
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
        "## Command\n\nTo measure again: `bench/quality` (see [bench/README.md](../bench/README.md)).\n",
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
    return f"{name}, labels {'standardised' if result.data.standardised else 'as they are'}"


def bold_if_least(result: Result) -> str:
    """Onward's loss, in bold where no other program paid less."""
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
        f"- {title(result)}: `{result.missing}` is missing. It is {WHERE[result.missing]}. Put it, compressed with "
        "Zstandard, where `--data` says.\n"
        for result in results
        if result.missing
    ]
    return f"## Skipped\n\n{''.join(lines)}" if lines else ""


def summary(done: list[Result]) -> str:
    if not any(result.peers for result in done):
        return ""
    parts = [SUMMARY.format(least=LEAST, most=MOST)]
    for what, counts in (("", is_counted), (", regression with labels as they are", is_raw)):
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
    return "## Where Onward loses\n\n" + ("".join(lines) or "Nowhere here.\n")


def lost(result: Result) -> str:
    """Who pays less on a set, the least first."""
    on_all = less(result, lambda column: result.all_rows(column), result.onward.all.loss)
    on_first = less(result, first_only(result), result.onward.first.loss)
    parts = []
    if on_all:
        parts.append(f"Onward pays {number(result.onward.all.loss)}, {on_all}")
    if on_first:
        parts.append(f"on the first {FEW:,} rows Onward pays {number(result.onward.first.loss)}, {on_first}")
    return f"{title(result)}: {'; '.join(parts)}." if parts else ""


def first_only(result: Result) -> Callable[[Column], Cell | None]:
    """The scores on the first rows of those who did not see all."""
    return lambda column: None if result.all_rows(column) else result.first_rows(column)


def less(result: Result, find: Callable[[Column], Cell | None], ours: float) -> str:
    cells = [(column, cell) for column in COLUMNS if (cell := find(column)) and ratio(ours, cell.score.loss) > 1]
    cells.sort(key=lambda pair: pair[1].score.loss)
    return ", ".join(f"{column.phrase}{setting(cell, column)} {number(cell.score.loss)}" for column, cell in cells)


def mixtures(done: list[Result]) -> str:
    """What mixing cost beside its bound, where there is one."""
    known = [(title(result), *result.onward.mixture) for result in done if result.onward.mixture]
    if not known:
        return ""
    rows = [[name, f"{gap:+.5f}", f"{bound:.5f}"] for name, gap, bound in known]
    return MIXTURES + "\n" + table(["set", "the mixture less its best expert", "its bound"], rows)


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
    source = commit() if built else "a binary that was there"
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
