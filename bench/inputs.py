"""The inputs: each a file, its first two examples (for start-up), and how both are made."""

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from programs import ROOT, Tools, finish

SHIPPED = "data/flights.csv.zst"


@dataclass(frozen=True)
class Input:
    """A file and its first two examples; paths are relative to the repository.

    Both are made again when they are older than one of ``sources`` or, if Onward writes them, than Onward.
    """

    file: str
    two: str
    about: str
    make: Callable[["Input", Tools], None]
    sources: tuple[str, ...] = (SHIPPED,)
    by_onward: bool = False

    def ready(self, tools: Tools):
        (ROOT / self.two).parent.mkdir(parents=True, exist_ok=True)
        sources = [ROOT / name for name in self.sources] + [tools.onward] * self.by_onward
        newest = max(map(modified, sources), default=1.0)
        made = [ROOT / name for name in (self.file, self.two) if name not in self.sources]
        if any(modified(path) < newest for path in made):
            self.make(self, tools)


def modified(path: Path) -> float:
    """The time of its last change; 0 if it does not exist."""
    return path.stat().st_mtime if path.exists() else 0.0


def shipped(it: Input, tools: Tools):
    FLIGHTS_CSV.ready(tools)
    compress(tools, FLIGHTS_CSV.two, it.two)


def decompressed(it: Input, tools: Tools):
    decompress(tools, SHIPPED, it.file)
    first_lines(it.file, it.two, 3)


def converted(it: Input, tools: Tools):
    command = f"onward convert {SHIPPED} {{input}} --target 'arr_delay>15' --quiet"
    finish(tools.arguments(command, it.file))
    first_lines(it.file, it.two, 2)


def table(it: Input, tools: Tools):
    """The flights in another table format, with the same columns and cells."""
    FLIGHTS_CSV.ready(tools)
    for source, to in ((SHIPPED, it.file), (FLIGHTS_CSV.two, it.two)):
        finish(tools.arguments(f"onward convert {source} {{input}} --quiet", to))


def first_lines(file: str, to: str, count: int):
    with open(ROOT / file, "rb") as lines, open(ROOT / to, "wb") as out:
        out.writelines(islice(lines, count))


def decompress(tools: Tools, file: str, to: str):
    stream = "zstandard.ZstdDecompressor().stream_reader(stdin, read_across_frames=True)"
    zstandard(tools, f"shutil.copyfileobj({stream}, stdout)", file, to)


def compress(tools: Tools, file: str, to: str):
    zstandard(tools, "zstandard.ZstdCompressor().copy_stream(stdin, stdout)", file, to)


def zstandard(tools: Tools, program: str, file: str, to: str):
    """Runs a line of the peers' Python: the standard library has no Zstandard before 3.14."""
    program = f"import shutil, sys, zstandard; stdin, stdout = sys.stdin.buffer, sys.stdout.buffer; {program}"
    part = ROOT / f"{to}.part"
    with open(ROOT / file, "rb") as source, open(part, "wb") as out:
        subprocess.run([tools.python, "-c", program], stdin=source, stdout=out, check=True)
    os.replace(part, ROOT / to)


def megabytes(it: Input) -> float:
    return (ROOT / it.file).stat().st_size / 1e6


FLIGHTS_ZST = Input(
    SHIPPED,
    "bench/data/flights-2.csv.zst",
    "336,776 flights as shipped",
    shipped,
)
FLIGHTS_CSV = Input(
    "bench/data/flights.csv",
    "bench/data/flights-2.csv",
    "the same, decompressed",
    decompressed,
)
FLIGHTS_VW = Input(
    "bench/data/flights.vw",
    "bench/data/flights-2.vw",
    "the same rows and features in Vowpal Wabbit's text, as `onward convert` writes them",
    converted,
    by_onward=True,
)
FLIGHTS_JSON = Input(
    "bench/data/flights.jsonl",
    "bench/data/flights-2.jsonl",
    "the same table as JSON lines",
    table,
    by_onward=True,
)
FLIGHTS_PARQUET = Input(
    "bench/data/flights.parquet",
    "bench/data/flights-2.parquet",
    "the same table as Parquet",
    table,
    by_onward=True,
)
