"""The cases: pairs of commands that do the same work. To add one, add it to `CASES`."""

from dataclasses import dataclass

from inputs import FLIGHTS_CSV, FLIGHTS_VW, FLIGHTS_ZST, Input
from programs import ONWARD, VOWPAL_WABBIT, Program


@dataclass(frozen=True)
class Side:
    """A program at work: ``command`` begins with a word of ``Tools``; ``{input}`` stands for the file."""

    program: Program
    command: str
    input: Input


@dataclass(frozen=True)
class Case:
    """Onward and a peer on the same rows: the losses must be of one kind, the examples as many."""

    name: str
    onward: Side
    peer: Side


LATE = "--target 'arr_delay>15'"
VOWPAL_WABBIT_LOGISTIC = Side(
    VOWPAL_WABBIT,
    "python -m vowpalwabbit -d {input} --loss_function logistic -b 22 --quiet",
    FLIGHTS_VW,
)


def flights(name: str, given: Input, *options: str) -> Case:
    """One pass over the flights, log loss, beside Vowpal Wabbit's default."""
    command = " ".join(["onward learn {input}", *options, "--quiet"])
    return Case(name, Side(ONWARD, command, given), VOWPAL_WABBIT_LOGISTIC)


CASES = [
    flights("flights, default learner, from CSV in Zstandard as shipped", FLIGHTS_ZST, LATE),
    flights("flights, default learner, from CSV", FLIGHTS_CSV, LATE),
    flights("flights, `nag`, from CSV", FLIGHTS_CSV, LATE, "--learner nag"),
    flights("flights, default learner, from Vowpal Wabbit's text", FLIGHTS_VW),
    flights("flights, `nag`, from Vowpal Wabbit's text", FLIGHTS_VW, "--learner nag"),
]
