"""Runs Onward and the peers on the sets of the quality table."""

import argparse
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import quality_onward
from quality_data import MissingError, prepare
from quality_peers import (
    ADAGRAD,
    COIN,
    DEFAULT,
    FTRL,
    PEERS,
    RATES,
    RIVER,
    SCIKIT_LEARN,
    VOWPAL_WABBIT,
    VOWPAL_WABBIT_FTRL,
    Peer,
    outcomes,
)
from quality_score import FEW, Outcome, Score
from quality_sets import DataSet


@dataclass(frozen=True)
class Column:
    """A column of the tables: a peer with one setting, or with the best of several in hindsight."""

    name: str
    peer: str
    settings: tuple[str, ...]
    phrase: str


@dataclass(frozen=True)
class Cell:
    """A score and its setting."""

    score: Score
    setting: str


@dataclass
class Result:
    """A set with the losses of Onward and the peers, or with the name of the missing file."""

    data: DataSet
    missing: str | None = None
    rows: int = 0
    features: int = 0
    onward: Outcome | None = None
    peers: dict[str, dict[str, Outcome]] = field(default_factory=dict)

    @property
    def cut(self) -> bool:
        """Whether the peers in Python saw only the first rows."""
        return self.rows > FEW

    def all_rows(self, column: Column) -> Cell | None:
        """The least loss on all rows among the column's settings; None if it was not run on all."""
        return least({setting: outcome.all for setting, outcome in self.ran(column)})

    def first_rows(self, column: Column) -> Cell | None:
        return least({setting: outcome.first for setting, outcome in self.ran(column)})

    def compared(self, column: Column) -> tuple[float, float] | None:
        """Onward's loss and the column's, on the rows that both saw."""
        cell = self.all_rows(column)
        if cell is not None:
            return self.onward.all.loss, cell.score.loss
        cell = self.first_rows(column)
        return None if cell is None else (self.onward.first.loss, cell.score.loss)

    def ran(self, column: Column) -> Iterable[tuple[str, Outcome]]:
        said = self.peers.get(column.peer, {})
        return [(setting, said[setting]) for setting in column.settings or said if setting in said]


BEST_RATE = Column(
    "VW, best of seven rates",
    VOWPAL_WABBIT,
    tuple(f"-l {rate}" for rate in RATES),
    "Vowpal Wabbit with the best of seven rates",
)
COLUMNS = [
    Column("VW", VOWPAL_WABBIT, (DEFAULT,), "Vowpal Wabbit's default"),
    Column("VW `--coin`", VOWPAL_WABBIT, (COIN,), "Vowpal Wabbit's `--coin`"),
    Column("VW `--ftrl`", VOWPAL_WABBIT, (VOWPAL_WABBIT_FTRL,), "Vowpal Wabbit's `--ftrl`"),
    BEST_RATE,
    Column("scikit-learn SGD", SCIKIT_LEARN, (DEFAULT,), "scikit-learn's default"),
    Column("scikit-learn SGD, best of seven", SCIKIT_LEARN, (), "scikit-learn with the best of seven settings"),
    Column("River AdaGrad", RIVER, (ADAGRAD,), "River's AdaGrad"),
    Column("River FTRL", RIVER, (FTRL,), "River's FTRL"),
]


def least(scores: dict[str, Score | None]) -> Cell | None:
    cells = [Cell(score, setting) for setting, score in scores.items() if score is not None]
    return min(cells, key=lambda cell: cell.score.loss, default=None)


def run(chosen: list[DataSet], onward: Path, arguments: argparse.Namespace) -> list[Result]:
    peers = {"all": PEERS, "vw": PEERS[:1], "none": []}[arguments.peers]
    print(f"{'set':32} {'Onward':>9} {'VW best':>9} {'ratio':>6}", file=sys.stderr)
    results = []
    for data in chosen:
        results.append(measure(data, onward, arguments, peers))
        print(progress(results[-1]), file=sys.stderr, flush=True)
    return results


def measure(data: DataSet, onward: Path, arguments: argparse.Namespace, peers: list[Peer]) -> Result:
    try:
        prepared = prepare(data, onward, arguments.data.resolve())
    except MissingError as missing:
        return Result(data, missing=str(missing))
    said = {peer.name: outcomes(peer, prepared, arguments.fresh) for peer in peers}
    ours = quality_onward.learn(onward, arguments.learner, prepared)
    return Result(data, None, len(prepared.labels), prepared.features(), ours, said)


def progress(result: Result) -> str:
    if result.missing:
        return f"{result.data.name:32} skipped: {result.missing} is missing"
    ours = result.onward.all.loss
    best = result.all_rows(BEST_RATE)
    if best is None:
        return f"{result.data.name:32} {ours:9.4f}"
    return f"{result.data.name:32} {ours:9.4f} {best.score.loss:9.4f} {ours / best.score.loss:6.3f}"
