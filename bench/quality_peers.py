"""The peers of the quality table: Vowpal Wabbit on all rows, scikit-learn and River on the first of each set."""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path

import numpy
from programs import ROOT, NotRunError
from quality_data import FOLDER, Matrix, Prepared, matrix, write
from quality_score import DIVERGED, FEW, Outcome, log_odds, outcome

VOWPAL_WABBIT, SCIKIT_LEARN, RIVER = "vowpalwabbit", "scikit-learn", "river"
RATES = ("0.05", "0.15", "0.5", "1", "2", "5", "10")
COIN, VOWPAL_WABBIT_FTRL = OTHER_RULES = ("--coin", "--ftrl")
DEFAULT = "default"

# Settings of scikit-learn's learners by what they are called on the page.
CLASSIFIERS = {
    DEFAULT: {},
    "alpha=1e-5": {"alpha": 1e-5},
    "alpha=1e-3": {"alpha": 1e-3},
    "constant, eta0=0.01": {"learning_rate": "constant", "eta0": 0.01},
    "constant, eta0=0.1": {"learning_rate": "constant", "eta0": 0.1},
    "invscaling, eta0=0.1": {"learning_rate": "invscaling", "eta0": 0.1},
    "invscaling, eta0=1": {"learning_rate": "invscaling", "eta0": 1.0},
}
REGRESSORS = {
    DEFAULT: {},
    "eta0=0.001": {"eta0": 0.001},
    "eta0=0.03": {"eta0": 0.03},
    "eta0=0.1": {"eta0": 0.1},
    "constant, eta0=0.001": {"learning_rate": "constant", "eta0": 0.001},
    "constant, eta0=0.01": {"learning_rate": "constant", "eta0": 0.01},
    "constant, eta0=0.1": {"learning_rate": "constant", "eta0": 0.1},
}
ADAGRAD, FTRL = "AdaGrad", "FTRLProximal"


@dataclass(frozen=True)
class Said:
    """Predicted log-odds of classes, or numbers. ``paid`` is the loss that the peer reports, if that one counts."""

    predictions: numpy.ndarray
    paid: float | None = None


@dataclass(frozen=True)
class Peer:
    """A program with its settings, each by a name."""

    name: str
    settings: Callable[[Prepared], list[str]]
    run: Callable[["Rows", str], Said]


class Rows:
    """A set as the peers need it, made on demand."""

    def __init__(self, prepared: Prepared):
        self.prepared = prepared

    @cached_property
    def matrix(self) -> Matrix:
        return matrix(self.prepared, FEW)

    @cached_property
    def scaled(self) -> list:
        return list(scaled_rows(self.matrix, self.prepared.data.sparse))


class Cache:
    """Earlier results of peers in a file, by peer, version, settings and content of the input."""

    def __init__(self, path: Path, forget: bool):
        self.path = path
        self.forget = forget
        self.kept = json.loads(path.read_text()) if path.exists() else {}

    def outcome(self, key: str, make: Callable[[], Outcome]) -> Outcome:
        if self.forget or key not in self.kept:
            self.kept[key] = make().to_json()
            write(self.path, json.dumps(self.kept, indent=1))
        return Outcome.from_json(self.kept[key])


def outcomes(peer: Peer, prepared: Prepared, forget: bool) -> dict[str, Outcome]:
    """The results by setting. Cached ones are not run again, unless ``forget``."""
    rows = Rows(prepared)
    kept = Cache(FOLDER / f"{peer.name}-outcomes.json", forget)
    return {
        setting: kept.outcome(
            " | ".join([prepared.data.name, peer.name, version(peer.name), setting, str(FEW), prepared.digest]),
            lambda setting=setting: judged(peer, rows, setting),
        )
        for setting in peer.settings(prepared)
    }


def judged(peer: Peer, rows: Rows, setting: str) -> Outcome:
    print(f"  {peer.name}, {setting}", file=sys.stderr, flush=True)
    prepared = rows.prepared
    try:
        with numpy.errstate(all="ignore"):
            said = peer.run(rows, setting)
    except (OverflowError, ZeroDivisionError, FloatingPointError):
        return Outcome(DIVERGED if len(prepared.labels) <= FEW else None, DIVERGED)
    return outcome(prepared.two_classes, prepared.labels, said.predictions, said.paid)


def vowpal_wabbit(rows: Rows, setting: str) -> Said:
    """Its two learners with other rules write predictions that differ from those of its loss. Their report counts."""
    prepared = rows.prepared
    loss = "logistic" if prepared.two_classes else "squared"
    options = [] if setting == DEFAULT else setting.split()
    with tempfile.TemporaryDirectory() as folder:
        predictions = Path(folder) / "predictions"
        command = [sys.executable, "-m", "vowpalwabbit", "-d", prepared.text, "-b", "22", "--loss_function", loss]
        command += [*options, "-p", predictions]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise NotRunError(f"{prepared.data.name}, Vowpal Wabbit {setting}: {done.stderr.strip()[-300:]}")
        said = numpy.array([float(line) for line in predictions.read_text().split()])
    if len(said) != len(prepared.labels):
        raise NotRunError(f"{prepared.data.name}: {len(prepared.labels)} rows, {len(said)} predictions")
    found = re.search(r"^average loss = (\S+)", done.stderr, re.MULTILINE)
    average = float(found[1]) if found else float("nan")
    if setting in OTHER_RULES:
        return Said(said, average if prepared.two_classes else average / float(prepared.labels.var()))
    check_average(prepared, setting, said, average)
    return Said(said)


def check_average(prepared: Prepared, setting: str, said: numpy.ndarray, average: float):
    """Checks that the loss of the predictions is the one that Vowpal Wabbit reports, to the digits printed."""
    if prepared.two_classes:
        ours = float(numpy.logaddexp(0.0, -prepared.labels * said).mean())
    else:
        ours = float(((said - prepared.labels) ** 2).mean())
    if not abs(ours - average) <= 1e-3 * abs(ours) + 2e-6:
        print(f"  note: Vowpal Wabbit, {setting}: reported loss {average}, of its predictions {ours}", file=sys.stderr)


def scaled_rows(given: Matrix, is_sparse: bool) -> Iterator:
    """Each row, as an array or sparse: numbers by the scale of themselves and those before, other features as they are.

    The columns of numbers come first.
    """
    from scipy import sparse

    values = given.values[:, ~given.scaled]
    if given.scaled.any():
        values = sparse.hstack([sparse.csr_matrix(scaled_numbers(given)), values], "csr")
    for number in range(values.shape[0]):
        yield values[number] if is_sparse else values[number].toarray()


def scaled_numbers(given: Matrix) -> numpy.ndarray:
    """The columns of numbers, each row by a StandardScaler of itself and the rows before it; 0 where one is missing.

    A StandardScaler that is given a row with a missing number has no deviation of it ever after, so that numbers that
    are missing in the same rows have one of their own, which sees the other rows.
    """
    from sklearn import config_context
    from sklearn.preprocessing import StandardScaler

    values = given.values[:, given.scaled].toarray()
    patterns, pattern = numpy.unique(missing(given), axis=1, return_inverse=True)
    scaled = numpy.zeros_like(values)
    with config_context(assume_finite=True, skip_parameter_validation=True):
        for which in range(patterns.shape[1]):
            columns = numpy.flatnonzero(pattern.reshape(-1) == which)
            scaler = StandardScaler()
            for number in numpy.flatnonzero(~patterns[:, which]):
                row = values[number : number + 1, columns]
                scaled[number, columns] = scaler.partial_fit(row).transform(row)[0]
    return scaled


def missing(given: Matrix) -> numpy.ndarray:
    """Which numbers are missing, by row and number column."""
    signs = {name: column for column, name in enumerate(given.names)}
    found = numpy.zeros((given.values.shape[0], int(given.scaled.sum())), dtype=bool)
    for number, column in enumerate(numpy.flatnonzero(given.scaled)):
        sign = signs.get(f"{given.names[column]} missing")
        if sign is not None:
            found[:, number] = given.values[:, [sign]].toarray()[:, 0] != 0
    return found


def scikit_learn(rows: Rows, setting: str) -> Said:
    from sklearn import config_context
    from sklearn.linear_model import SGDClassifier, SGDRegressor

    first = {}
    if rows.prepared.two_classes:
        model = SGDClassifier(loss="log_loss", random_state=0, **CLASSIFIERS[setting])
        first = {"classes": numpy.array([-1.0, 1.0])}
    else:
        model = SGDRegressor(random_state=0, **REGRESSORS[setting])
    said = []
    with config_context(assume_finite=True, skip_parameter_validation=True):
        for number, row in enumerate(rows.scaled):
            said.append(linear(model, row) if said else 0.0)
            try:
                model.partial_fit(row, rows.matrix.labels[number : number + 1], **first)
            except ValueError as error:
                if "overflow" not in str(error):
                    raise
                raise OverflowError from error
            # The classes need to be given only once.
            first = {}
    return Said(numpy.array(said))


def linear(model, row) -> float:
    """What ``decision_function`` and ``predict`` return for a row, without their checks."""
    return float((row @ model.coef_.reshape(-1)).item() + model.intercept_[0])


def river(rows: Rows, setting: str) -> Said:
    from river import linear_model, optim

    optimizer = {ADAGRAD: optim.AdaGrad, FTRL: optim.FTRLProximal}[setting]()
    labels = rows.matrix.labels
    if rows.prepared.two_classes:
        model = linear_model.LogisticRegression(optimizer=optimizer)
        labels = labels > 0
    else:
        model = linear_model.LinearRegression(optimizer=optimizer)
    said = []
    for row, label in zip(river_rows(rows.matrix), labels.tolist(), strict=True):
        said.append(model.predict_proba_one(row)[True] if rows.prepared.two_classes else model.predict_one(row))
        model.learn_one(row, label)
    predictions = numpy.array(said)
    return Said(log_odds(predictions) if rows.prepared.two_classes else predictions)


def river_rows(given: Matrix) -> Iterator[dict[str, float]]:
    """Rows by name. Numbers, zeros too, pass a StandardScaler unless they are missing; other features do not.

    River's scaler counts a feature's rows, not all rows: a category, which is 1 whenever it is there, would become 0.
    """
    from river.preprocessing import StandardScaler

    scaler = StandardScaler()
    numbers = [name for name, scaled in zip(given.names, given.scaled, strict=True) if scaled]
    others = dict.fromkeys(name for name, scaled in zip(given.names, given.scaled, strict=True) if not scaled)
    values = given.values
    for number in range(values.shape[0]):
        here = slice(values.indptr[number], values.indptr[number + 1])
        cells = zip(values.indices[here].tolist(), values.data[here].tolist(), strict=True)
        row = {given.names[column]: value for column, value in cells}
        scaled = {name: row.get(name, 0.0) for name in numbers if f"{name} missing" not in row}
        scaler.learn_one(scaled)
        yield {**scaler.transform_one(scaled), **{name: value for name, value in row.items() if name in others}}


def vowpal_wabbit_settings(_: Prepared) -> list[str]:
    return [DEFAULT, *OTHER_RULES, *(f"-l {rate}" for rate in RATES)]


def scikit_learn_settings(prepared: Prepared) -> list[str]:
    return list(CLASSIFIERS if prepared.two_classes else REGRESSORS)


PEERS = [
    Peer(VOWPAL_WABBIT, vowpal_wabbit_settings, vowpal_wabbit),
    Peer(SCIKIT_LEARN, scikit_learn_settings, scikit_learn),
    Peer(RIVER, lambda _: [ADAGRAD, FTRL], river),
]
