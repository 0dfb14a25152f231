"""The inputs generated from seeds by `generate.py`, in two sizes."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

from inputs import Input, first_lines
from programs import ROOT, Tools, finish

GENERATE = "bench/generate.py"


@dataclass(frozen=True)
class Size:
    """The number of rows of the inputs; ``less`` is a tenth of it."""

    name: str
    rows: int
    less: "Size | None" = None


HUNDREDTH = Size("hundredth", 5_000)
TENTH = Size("tenth", 50_000, HUNDREDTH)
FULL = Size("full", 500_000, TENTH)
SIZES = {size.name: size for size in (FULL, TENTH)}


@dataclass(frozen=True)
class Texts:
    """A set as svmlight and as Vowpal Wabbit's text."""

    svmlight: Input
    vowpal_wabbit: Input


@cache
def synth(size: Size) -> Texts:
    about = f"synth: {size.rows:,} rows with 73.5 non-zeros from 50,000 features, with the frequencies of words"
    return texts("synth", size, about, partial(make_synth, size))


@cache
def awkward(size: Size) -> Texts:
    rows = size.rows // 5
    about = f"awkward: the first {rows:,} rows of synth with numbers of 17 digits, exponents, signs and long names"
    return texts("awkward", size, about, partial(make_awkward, size, rows))


def texts(name: str, size: Size, about: str, make: Callable[[Input, Tools], None]) -> Texts:
    return Texts(made(name, "svm", size, f"{about}, svmlight", make), made(name, "vw", size, f"{about}, text", make))


@cache
def ctr(size: Size) -> Input:
    about = f"ctr: {size.rows:,} rows with 13 numbers and 26 categories in four namespaces, some missing"
    return made("ctr", "vw", size, f"{about}, Vowpal Wabbit's text", partial(make_ctr, size))


def made(name: str, ending: str, size: Size, about: str, make: Callable[[Input, Tools], None]) -> Input:
    stem = f"bench/data/{name}-{size.name}"
    return Input(f"{stem}.{ending}", f"{stem}-2.{ending}", about, make, sources=(GENERATE,))


def make_synth(size: Size, _: Input, tools: Tools):
    both = synth(size)
    generate(tools, ["synth", str(size.rows)], [both.svmlight, both.vowpal_wabbit])


def make_awkward(size: Size, rows: int, _: Input, tools: Tools):
    source, both = synth(size).svmlight, awkward(size)
    source.ready(tools)
    generate(tools, ["awkward", str(rows), source.file], [both.svmlight, both.vowpal_wabbit])


def make_ctr(size: Size, it: Input, tools: Tools):
    generate(tools, ["ctr", str(size.rows)], [it])


def generate(tools: Tools, what: list[str], inputs: list[Input]):
    """Makes files. They get their names only when complete."""
    parts = [f"{it.file}.part" for it in inputs]
    finish([str(tools.python), GENERATE, *what, *parts])
    for it, part in zip(inputs, parts, strict=True):
        os.replace(ROOT / part, ROOT / it.file)
        first_lines(it.file, it.two, 2)
