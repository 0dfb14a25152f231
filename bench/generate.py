#!/usr/bin/env python3
"""Makes the sets synth, ctr and awkward from seeds: the same bytes each time, with the pinned NumPy.

synth: 73.5 non-zeros a row of 50,000 features as frequent as words, two classes, one label in ten flipped.
ctr: advertisements shown: 13 whole numbers and 26 categories a row, some missing; a quarter are clicked.
awkward: rows of synth, with numbers and names that are harder to read.
"""

import argparse
from collections.abc import Iterator
from itertools import islice

import numpy as np

# Rows that are drawn together: another number would give other rows.
CHUNK = 20_000
BUFFER = 1 << 22

SYNTH_SEED = 20240601
FEATURES = 50_000
WORDS = 77
FLIPPED = 0.10
# A row's number and a feature's, together in one integer.
FEATURE_BITS = 17

CTR_SEED = 20240602
CLICKED = 0.256
NUMBERS_MISSING = [0.45, 0, 0.21, 0.22, 0.03, 0.22, 0.04, 0.0, 0.04, 0.45, 0.04, 0.76, 0.22]
# How many values each category has, and how often it is missing.
VALUES = [1460, 583, 1000000, 800000, 305, 24, 12517, 633, 3, 93145, 5683, 900000, 3194]
VALUES += [27, 14992, 700000, 10, 5652, 2173, 4, 850000, 18, 15, 286181, 105, 142572]
MISSING = [0, 0, 0.03, 0.03, 0, 0.12, 0, 0, 0, 0, 0, 0.03, 0, 0, 0, 0.03, 0, 0, 0.44, 0.44, 0.03, 0.76, 0]
MISSING += [0.03, 0.44, 0.44]
# Where the namespaces of categories, b, c and d, begin and end.
NAMESPACES = {"b": slice(0, 8), "c": slice(8, 17), "d": slice(17, 26)}
# Categories of b and c that matter together.
PAIRS = [(0, 8), (1, 13), (5, 16), (7, 13)]

Strings = list[str | None]


class Words:
    """What is fixed before the first row of synth: how frequent features are, what they are called and weigh."""

    def __init__(self, rng: np.random.Generator, rows: int):
        rank = np.arange(1, FEATURES + 1, dtype=np.float64)
        share = 1.0 / (rank + 20.0)
        share /= share.sum()
        self.cumulative = np.cumsum(share)
        self.cumulative[-1] = 1.0
        self.names = rng.permutation(FEATURES) + 1
        self.ranks = np.empty(FEATURES + 1, dtype=np.int64)
        self.ranks[self.names] = np.arange(FEATURES)
        expected = rows * -np.expm1(-WORDS * share) + 1.0
        self.rarity = np.log((rows + 1.0) / expected) + 0.3
        self.weights = np.zeros(FEATURES)
        some = rng.choice(FEATURES, FEATURES // 10, replace=False)
        self.weights[some] = rng.standard_normal(some.size)
        frequent = rng.choice(2000, 300, replace=False)
        self.weights[frequent] = rng.standard_normal(frequent.size)


def synth(rows: int, svmlight: str, vowpal_wabbit: str):
    rng = np.random.default_rng(SYNTH_SEED)
    words = Words(rng, rows)
    middle = None
    with open(svmlight, "w", buffering=BUFFER) as svm, open(vowpal_wabbit, "w", buffering=BUFFER) as vw:
        for count in chunks(rows):
            row, name, value, margin = synth_chunk(rng, words, count)
            middle = np.median(margin) if middle is None else middle
            label = np.where(margin > middle, 1, -1)
            label = np.where(rng.random(count) < FLIPPED, -label, label)
            lines = list(synth_lines(row, name, value, count))
            svm.writelines(f"{y} {line}\n" for y, line in zip(label, lines, strict=True))
            vw.writelines(f"{y} |f {line}\n" for y, line in zip(label, lines, strict=True))


def chunks(rows: int) -> Iterator[int]:
    for begin in range(0, rows, CHUNK):
        yield min(CHUNK, rows - begin)


def synth_chunk(rng: np.random.Generator, words: Words, count: int) -> tuple[np.ndarray, ...]:
    """Of each non-zero its row, name and value (log counts times rarity, rows of length 1); of each row its margin."""
    lengths = np.clip(rng.lognormal(np.log(WORDS) - 0.18, 0.6, count), 8, 900).astype(np.int64)
    total = int(lengths.sum())
    drawn = np.minimum(np.searchsorted(words.cumulative, rng.random(total)), FEATURES - 1)
    key = (np.repeat(np.arange(count, dtype=np.int64), lengths) << FEATURE_BITS) + words.names[drawn]
    key, times = np.unique(key, return_counts=True)
    row, name = key >> FEATURE_BITS, key & ((1 << FEATURE_BITS) - 1)
    rank = words.ranks[name]
    value = (1.0 + np.log(times)) * words.rarity[rank]
    value = value / np.sqrt(np.bincount(row, value * value, minlength=count))[row]
    margin = np.bincount(row, value * words.weights[rank], minlength=count)
    return row, name, value, margin


def synth_lines(row: np.ndarray, name: np.ndarray, value: np.ndarray, count: int) -> Iterator[str]:
    """The features of each row."""
    features = map("%d:%.6g".__mod__, zip(name.tolist(), value.tolist(), strict=True))
    for length in np.bincount(row, minlength=count).tolist():
        yield " ".join(islice(features, length))


def ctr(rows: int, vowpal_wabbit: str):
    rng = np.random.default_rng(CTR_SEED)
    offset = None
    with open(vowpal_wabbit, "w", buffering=BUFFER) as vw, np.errstate(over="ignore"):
        for count in chunks(rows):
            log_odds, numbers, categories = ctr_chunk(rng, count)
            offset = offset_for(log_odds) if offset is None else offset
            clicked = rng.random(count) < 1 / (1 + np.exp(-(log_odds + offset)))
            columns = {"a": numbers, **{name: categories[part] for name, part in NAMESPACES.items()}}
            vw.writelines(ctr_lines(clicked.tolist(), columns))


def ctr_chunk(rng: np.random.Generator, count: int) -> tuple[np.ndarray, list[Strings], list[Strings]]:
    """The log-odds of rows, and their columns, None where something is missing."""
    log_odds = np.zeros(count)
    numbers = [number_column(rng, column, log_odds) for column in range(len(NUMBERS_MISSING))]
    categories, values, missing = [], [], []
    for column in range(len(VALUES)):
        strings, value, lacks = category_column(rng, column, log_odds)
        categories.append(strings)
        values.append(value)
        missing.append(lacks)
    for one, other in PAIRS:
        both = ~(missing[one] | missing[other])
        log_odds += np.where(both, 0.6 * normal(200 + one, values[one] * 100003 + values[other], 5), 0.0)
    return log_odds, numbers, categories


def number_column(rng: np.random.Generator, column: int, log_odds: np.ndarray) -> Strings:
    drawn = np.exp(rng.normal(1.0 + 0.3 * (column % 5), 1.3, len(log_odds)))
    value = np.floor(drawn).astype(np.int64) - (1 if column == 1 else 0)
    missing = rng.random(len(log_odds)) < NUMBERS_MISSING[column]
    weight = 0.12 * normal(100 + column, np.array([column]), 3)[0]
    log_odds += np.where(missing, 0.0, weight * np.log1p(np.maximum(value, 0)))
    return strings(f"I{column + 1}:", map(str, value.tolist()), missing)


def category_column(rng: np.random.Generator, column: int, log_odds: np.ndarray) -> tuple[Strings, ...]:
    """Its strings, its values, of which the k-th is drawn about 1/k as often as the first, and where it is missing."""
    value = np.floor(np.exp(rng.random(len(log_odds)) * np.log(VALUES[column] + 1.0)) - 1.0).astype(np.int64)
    value = np.clip(value, 0, VALUES[column] - 1)
    missing = rng.random(len(log_odds)) < MISSING[column]
    scale = 0.25 if column % 3 else 0.45
    log_odds += np.where(missing, 0.0, scale * normal(column, value, 0))
    names = mix(value.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(column + 17))
    names = (names & np.uint64(0xFFFFFFFF)).tolist()
    return strings(f"C{column + 1}=", map("%08x".__mod__, names), missing), value, missing


def strings(prefix: str, values: Iterator[str], missing: np.ndarray) -> Strings:
    return [None if lacks else prefix + value for value, lacks in zip(values, missing.tolist(), strict=True)]


def mix(x: np.ndarray) -> np.ndarray:
    """The finaliser of SplitMix64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def normal(column: int, value: np.ndarray, salt: int) -> np.ndarray:
    """A number for each value of a column, nearly normal: the sum of four uniform ones that a hash gives."""
    start = np.uint64(column * 1000003 + salt * 7919 + 1)
    hashed = mix(value.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + start)
    total = np.zeros(len(value))
    for quarter in range(4):
        total += ((hashed >> np.uint64(16 * quarter)) & np.uint64(0xFFFF)).astype(np.float64) / 65536.0
    return (total - 2.0) * np.sqrt(3.0)


def offset_for(log_odds: np.ndarray) -> float:
    """What to add so that as many are clicked as should be, by bisection."""
    low, high = -10.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        if (1 / (1 + np.exp(-(log_odds + middle)))).mean() > CLICKED:
            high = middle
        else:
            low = middle
    return middle


def ctr_lines(clicked: list[bool], columns: dict[str, list[Strings]]) -> Iterator[str]:
    rows = {name: zip(*strings, strict=True) for name, strings in columns.items()}
    for label, *row in zip(clicked, *rows.values(), strict=True):
        parts = (f" |{name} {' '.join(filter(None, part))}" for name, part in zip(rows, row, strict=True))
        yield f"{'1' if label else '-1'}{''.join(parts)}\n"


def awkward(rows: int, synth: str, svmlight: str, vowpal_wabbit: str):
    """The first rows of synth (svmlight)."""
    with (
        open(synth) as lines,
        open(svmlight, "w", buffering=BUFFER) as svm,
        open(vowpal_wabbit, "w", buffering=BUFFER, encoding="utf-8") as vw,
    ):
        for line in islice(lines, rows):
            label, *features = line.split()
            pairs = [(int(name), awkward_number(int(name), float(value))) for name, value in map(split, features)]
            svm.write(f"{label} {' '.join(f'{name}:{value}' for name, value in pairs)}\n")
            vw.write(f"{label} |f {' '.join(f'{awkward_name(name)}:{value}' for name, value in pairs)}\n")


def split(feature: str) -> list[str]:
    return feature.split(":")


def awkward_number(feature: int, value: float) -> str:
    """In a form that is always the same for a feature: with an exponent, with 17 digits, negative, or all three.

    The magnitudes are those of synth: where they differ more, each collision of hashes is felt in the loss.
    """
    match feature % 4:
        case 0:
            return f"{value * 1e5:g}e-5"
        case 1:
            return f"{value / 3:.17g}"
        case 2:
            return f"{-value:g}"
        case _:
            return f"{-value / 3:.16E}"


def awkward_name(feature: int) -> str:
    return f"word_{feature}_of_fifty_thousand_that_have_very_long_names_é_{feature * 7919}"


def main():
    parser = argparse.ArgumentParser(description="Make a set of the benchmarks.")
    sets = parser.add_subparsers(dest="set", required=True)
    for make, files in (
        (synth, ["svmlight", "vowpal_wabbit"]),
        (ctr, ["vowpal_wabbit"]),
        (awkward, ["synth", "svmlight", "vowpal_wabbit"]),
    ):
        command = sets.add_parser(make.__name__)
        command.set_defaults(make=make)
        command.add_argument("rows", type=int)
        for file in files:
            command.add_argument(file)
    arguments = vars(parser.parse_args())
    del arguments["set"]
    arguments.pop("make")(**arguments)


if __name__ == "__main__":
    main()
