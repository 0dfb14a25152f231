"""The inputs of the quality table: one for Onward, and the same rows and features as text for the peers."""

import csv
import hashlib
import io
import json
import os
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote

import numpy
import zstandard
from programs import ROOT
from quality_sets import CLASSES, DataSet, Table
from scipy import sparse

FOLDER = ROOT / "bench" / "data" / "quality"
SHIPPED = ROOT / "data"


class MissingError(Exception):
    """The file of a set is missing; the message names it."""


@dataclass(frozen=True)
class Prepared:
    """A set that is ready: ``source`` is read by Onward with ``options``, ``text`` (Vowpal Wabbit's) by the peers.

    Rows without a label are in ``source`` and not in ``text``.
    """

    data: DataSet
    source: Path
    options: tuple[str, ...]
    text: Path

    @property
    def two_classes(self) -> bool:
        return self.data.task == CLASSES

    @cached_property
    def digest(self) -> str:
        with open(self.text, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    @cached_property
    def labels(self) -> numpy.ndarray:
        with open(self.text) as lines:
            return numpy.array([float(line.split(None, 1)[0]) for line in lines])

    def features(self) -> int:
        """The number of distinct features of the text, without the bias, which all programs add."""
        counted = json.loads(self.about.read_text()) if self.about.exists() else {}
        if counted.get("digest") != self.digest:
            names = {name for _, row in read(self.text) for name in row}
            counted = {"digest": self.digest, "features": len(names)}
            self.about.write_text(json.dumps(counted))
        return counted["features"]

    @property
    def about(self) -> Path:
        return self.text.with_suffix(".json")


def prepare(data: DataSet, onward: Path, shared: Path) -> Prepared:
    """Makes the inputs of a set, unless they exist and are newer than their sources."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    source = table_file(data) if data.file is None else shipped_file(data.file, shared)
    if data.standardised:
        source = standardised_file(data, source)
    options = onward_options(data, source)
    text = FOLDER / f"{data.name}.vw"
    if not fresh(text, source, onward):
        make_text(data, onward, source, options, text)
    return Prepared(data, source, options, text)


def fresh(made: Path, *sources: Path) -> bool:
    return made.exists() and all(made.stat().st_mtime >= source.stat().st_mtime for source in sources)


def shipped_file(name: str, shared: Path) -> Path:
    for folder in (SHIPPED, shared):
        if (folder / name).exists():
            return folder / name
    raise MissingError(name)


def table_file(data: DataSet) -> Path:
    """A set from a package, as CSV. The two sets that differ only in their labels share it."""
    path = FOLDER / f"{data.name.removesuffix('-standardised')}.csv"
    text = csv_text(data.table())
    if not path.exists() or path.read_text() != text:
        write(path, text)
    return path


def csv_text(table: Table) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([table.columns, *table.rows])
    return out.getvalue()


def standardised_file(data: DataSet, source: Path) -> Path:
    """The CSV with labels standardised over the whole stream."""
    path = FOLDER / f"{data.name}.csv"
    if fresh(path, source):
        return path
    header, *rows = csv.reader(io.StringIO(content(source)))
    target = header.index(data.target)
    labels = numpy.array([float(row[target]) for row in rows if row[target]])
    mean, deviation = float(labels.mean()), float(labels.std())
    for row in rows:
        if row[target]:
            row[target] = repr((float(row[target]) - mean) / deviation)
    write(path, csv_text(Table(header, rows)))
    return path


def content(path: Path) -> str:
    data = path.read_bytes()
    if path.suffix == ".zst":
        data = zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True).read()
    return data.decode()


def write(path: Path, text: str):
    part = path.with_name(f"{path.name}.part")
    part.write_text(text)
    os.replace(part, path)


def onward_options(data: DataSet, source: Path) -> tuple[str, ...]:
    """The options that tell Onward about the columns."""
    if not data.target:
        return ()
    options = ["--target", data.target, "--task", "binary" if data.task == CLASSES else "regression"]
    if "==" in data.target or ">" in data.target:
        options = options[:2]
    if data.numeric:
        target = data.target.split("==")[0]
        options += ["--numeric", ",".join(column for column in header(source) if column != target)]
    return tuple(options)


def header(path: Path) -> list[str]:
    with open(path, "rb") as file:
        stream = zstandard.ZstdDecompressor().stream_reader(file) if path.suffix == ".zst" else file
        return next(csv.reader(io.TextIOWrapper(stream)))


def make_text(data: DataSet, onward: Path, source: Path, options: Iterable[str], text: Path):
    """The features that Onward sees in the rows with a label, as Vowpal Wabbit's text. Such text is copied as it is."""
    if ".vw" in source.suffixes:
        write(text, content(source))
        return
    part = text.with_name(f"part-{text.name}")
    subprocess.run([onward, "convert", source, part, *options, "--quiet"], cwd=ROOT, check=True)
    kept = text.with_name(f"kept-{text.name}")
    with open(part) as lines, open(kept, "w") as out:
        out.writelines(line for line in lines if not line.lstrip().startswith("|"))
    os.replace(kept, text)
    part.unlink()


def read(text: Path) -> Iterator[tuple[float, dict[str, float]]]:
    """Labels and features of Vowpal Wabbit's text as used here, without weights and tags."""
    with open(text) as lines:
        for line in lines:
            label, *spaces = line.rstrip("\n").split("|")
            row: dict[str, float] = {}
            for space in spaces:
                namespace, _, features = space.partition(" ")
                for feature in features.split():
                    name, _, value = feature.partition(":")
                    name = unquote(f"{namespace}^{name}" if namespace else name)
                    row[name] = row.get(name, 0.0) + float(value or 1)
            yield float(label), row


@dataclass(frozen=True)
class Matrix:
    """The first rows of a set for the peers in Python; ``scaled`` says which columns are numbers."""

    names: list[str]
    values: sparse.csr_matrix
    labels: numpy.ndarray
    scaled: numpy.ndarray


def matrix(prepared: Prepared, most: int) -> Matrix:
    columns: dict[str, int] = {}
    labels, indices, values, ends = [], [], [], [0]
    for (label, row), _ in zip(read(prepared.text), range(most), strict=False):
        labels.append(label)
        for name, value in row.items():
            indices.append(columns.setdefault(name, len(columns)))
            values.append(value)
        ends.append(len(indices))
    whole = sparse.csr_matrix((values, indices, ends), shape=(len(labels), len(columns)), dtype=float)
    scaled = [prepared.data.columns_of_numbers and is_number(name) for name in columns]
    return Matrix(list(columns), whole, numpy.array(labels), numpy.array(scaled))


def is_number(name: str) -> bool:
    """Whether a feature named by Onward is a number, and not a category or the indicator of a missing value."""
    return "=" not in name and not name.endswith(" missing")
