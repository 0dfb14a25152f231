"""The cases: pairs of commands that do the same work. To add one, add it to `cases`.

In a command ``{input}`` stands for the file to read: the whole input, or for start-up its first two examples.
``{whole}`` and ``{two}`` always stand for these two.
"""

from dataclasses import dataclass

from inputs import FLIGHTS_CSV, FLIGHTS_JSON, FLIGHTS_PARQUET, FLIGHTS_VW, FLIGHTS_ZST, Input
from programs import ONWARD, PANDAS, POLARS, SCIKIT_LEARN, VOWPAL_WABBIT, Program, onward_outcome
from synthetic import TENTH, Size, awkward, ctr, synth


@dataclass(frozen=True)
class Side:
    """A program and its ``command``, which begins with a word of ``Tools``. Commands ``before`` it are not timed."""

    program: Program
    command: str
    input: Input
    before: tuple[str, ...] = ()


@dataclass(frozen=True)
class Demand:
    """The target (``aim``) and minimum (``floor``) of a case: ratios of wall time, the peer's over Onward's.

    ``lower_loss``: the loss must not exceed the peer's either.
    """

    floor: float | None = None
    aim: float | None = None
    lower_loss: bool = False


@dataclass(frozen=True)
class Case:
    """Onward and a peer on the same rows, with the same loss function and number of examples."""

    name: str
    onward: Side
    peer: Side
    demand: Demand | None = None


@dataclass(frozen=True)
class Step:
    """A part of the work, including what must precede it: ``program`` does only what ``what`` says."""

    program: str
    what: str
    command: str
    input: Input


@dataclass(frozen=True)
class Phases:
    """An input, the command that counts its features, and the steps of its processing."""

    name: str
    whole: Side
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Growth:
    """Onward on a stream, and on one a tenth as long with as many distinct features, so with the same table.

    Memory may differ by ``most`` bytes.
    """

    name: str
    command: str
    few: Input
    many: Input
    most: float


VOWPAL_WABBIT_LOGISTIC = "python -m vowpalwabbit -d {input} --loss_function logistic"
LATE = "--target 'arr_delay>15'"
NAG = "--learner nag"
# Vowpal Wabbit's flags for the rules of Onward's learners, with the same parameters. nag is its default.
ADAGRAD_RULE = "--adaptive --invariant -l 0.5"
SGD_RULE = "--sgd -l 0.5"
FTRL_RULE = "--ftrl --ftrl_alpha 0.5 --ftrl_beta 1 --l1 1"
SYNTH = Demand(floor=8, aim=15)
CTR = Demand(floor=6, aim=12)
SLOTS = Program("Onward, 2¹⁸ slots", onward_outcome)
MOST_BEYOND_TABLE = 64e6
# Onward's reader, which parses without learning.
ONWARD_PARSING = "parse {input}"


def onward(given: Input, *options: str, before: tuple[str, ...] = ()) -> Side:
    return Side(ONWARD, learn(*options), given, before)


def learn(*options: str) -> str:
    return joined("onward learn {input}", *options, "--quiet")


def vowpal_wabbit(given: Input, *options: str, before: tuple[str, ...] = ()) -> Side:
    return Side(VOWPAL_WABBIT, joined(VOWPAL_WABBIT_LOGISTIC, *options, "--quiet"), given, before)


def joined(*words: str) -> str:
    return " ".join(filter(None, words))


def reader(program: Program, module: str, call: str, given: Input) -> Side:
    """A program that only reads a table, with ``call``, in which `file` is the file."""
    script = f"import sys, {module}; file = sys.argv[1]; print(len({module}.{call}))"
    return Side(program, f"python -c '{script}' {{input}}", given)


def cases(size: Size) -> list[Case]:
    return [*synth_cases(size), *ctr_cases(size), *awkward_cases(size), *flights_cases(), *other_cases()]


def synth_cases(size: Size) -> list[Case]:
    svmlight, text = synth(size).svmlight, synth(size).vowpal_wabbit

    def case(name: str, ours: Side, *theirs: str, demand: Demand | None = None) -> Case:
        return Case(f"synth, {name}", ours, vowpal_wabbit(text, *theirs), demand)

    return [
        case("`nag`, from svmlight", onward(svmlight, NAG), demand=SYNTH),
        case("`adagrad`, from svmlight", onward(svmlight, "--learner adagrad"), ADAGRAD_RULE, demand=SYNTH),
        case("`nag`, from Vowpal Wabbit's text", onward(text, NAG), demand=SYNTH),
        case("`adagrad`, from Vowpal Wabbit's text", onward(text, "--learner adagrad"), ADAGRAD_RULE, demand=SYNTH),
        case("`sgd`, from Vowpal Wabbit's text", onward(text, "--learner sgd"), SGD_RULE),
        case("`ftrl-proximal`, from Vowpal Wabbit's text", onward(text, "--learner ftrl-proximal"), FTRL_RULE),
        case(
            "`auto`, from Vowpal Wabbit's text",
            onward(text),
            demand=Demand(floor=4, aim=8, lower_loss=True),
        ),
        synth_cached(text),
        synth_predicting(text),
    ]


def synth_cached(text: Input) -> Case:
    """The same commands make the caches beforehand; with -k Vowpal Wabbit rebuilds its own."""
    ours, theirs = "--cache {input}.onward-cache", "--cache_file {input}.vw-cache"
    make, make_theirs = learn(NAG, ours), f"{VOWPAL_WABBIT_LOGISTIC} -k {theirs} --quiet"
    return Case(
        "synth, `nag`, both from their caches",
        onward(text, NAG, ours, before=of_both(make)),
        vowpal_wabbit(text, theirs, before=of_both(make_theirs)),
        Demand(floor=5, aim=10),
    )


def of_both(command: str) -> tuple[str, ...]:
    """The command on the whole input and on its first two examples."""
    return tuple(command.replace("{input}", file) for file in ("{whole}", "{two}"))


def synth_predicting(text: Input) -> Case:
    """With models that both learnt by the same rule from the whole input."""
    ours, theirs = "{whole}.safetensors", "{whole}.vw-model"
    return Case(
        "synth, predicting, from Vowpal Wabbit's text",
        Side(
            ONWARD,
            f"onward predict {ours} {{input}} --quiet",
            text,
            before=(learn(NAG, f"--model {ours}").replace("{input}", "{whole}"),),
        ),
        vowpal_wabbit(
            text,
            f"-t -i {theirs} -p /dev/null",
            before=(f"{VOWPAL_WABBIT_LOGISTIC} -f {theirs} --quiet".replace("{input}", "{whole}"),),
        ),
        SYNTH,
    )


def ctr_cases(size: Size) -> list[Case]:
    text = ctr(size)
    few, many = "--bits 18", "--bits 24"
    return [
        Case("ctr, `nag`, 2²⁴ slots", onward(text, NAG, many), vowpal_wabbit(text, "-b 24"), CTR),
        Case(
            "ctr, `nag`, 2²⁴ slots, with one pairwise interaction",
            onward(text, NAG, many, "--interactions 'b*c'"),
            vowpal_wabbit(text, "-b 24", "-q bc"),
            CTR,
        ),
        Case(
            "ctr, `nag`, 2²⁴ slots against 2¹⁸ (0.625: 1.6 times the time)",
            onward(text, NAG, many),
            Side(SLOTS, learn(NAG, few), text),
            Demand(floor=1 / 1.6),
        ),
    ]


def awkward_cases(size: Size) -> list[Case]:
    """Numbers with exponents, 17 digits and signs, and long names."""
    svmlight, text = awkward(size).svmlight, awkward(size).vowpal_wabbit
    peer = vowpal_wabbit(text)
    return [
        Case("awkward, `nag`, from svmlight", onward(svmlight, NAG), peer),
        Case("awkward, `nag`, from Vowpal Wabbit's text", onward(text, NAG), peer),
    ]


def flights_cases() -> list[Case]:
    """One pass over the flights, against Vowpal Wabbit's default and against programs that only read the table."""
    peer = vowpal_wabbit(FLIGHTS_VW, "-b 22")
    late = LATE, NAG
    return [
        Case("flights, `auto`, from CSV in Zstandard as shipped", onward(FLIGHTS_ZST, LATE), peer),
        Case("flights, `auto`, from CSV", onward(FLIGHTS_CSV, LATE), peer),
        Case("flights, `nag`, from CSV", onward(FLIGHTS_CSV, *late), peer),
        Case("flights, `auto`, from Vowpal Wabbit's text", onward(FLIGHTS_VW), peer),
        Case("flights, `nag`, from Vowpal Wabbit's text", onward(FLIGHTS_VW, NAG), peer),
        Case(
            "flights, `nag`, from CSV, against pandas reading it",
            onward(FLIGHTS_CSV, *late),
            reader(PANDAS, "pandas", "read_csv(file)", FLIGHTS_CSV),
            Demand(floor=1),
        ),
        Case(
            "flights, `nag`, from CSV, against polars reading it",
            onward(FLIGHTS_CSV, *late),
            reader(POLARS, "polars", "read_csv(file)", FLIGHTS_CSV),
            Demand(aim=1),
        ),
        Case(
            "flights, `nag`, from JSON lines, against pandas reading them",
            onward(FLIGHTS_JSON, *late),
            reader(PANDAS, "pandas", "read_json(file, lines=True)", FLIGHTS_JSON),
        ),
        Case(
            "flights, `nag`, from Parquet, against pandas reading it",
            onward(FLIGHTS_PARQUET, *late),
            reader(PANDAS, "pandas", "read_parquet(file)", FLIGHTS_PARQUET),
        ),
    ]


def other_cases() -> list[Case]:
    """scikit-learn always gets the tenth, because it keeps all rows in memory."""
    svmlight = synth(TENTH).svmlight
    peer = Side(SCIKIT_LEARN, "python bench/scikit_learn.py {input}", svmlight)
    return [Case("synth, 50,000 rows, `sgd`, from svmlight", onward(svmlight, "--learner sgd"), peer)]


def phases(size: Size) -> list[Phases]:
    """Reading, parsing and learning, timed separately."""
    both, clicks = synth(size), ctr(size)
    return [
        steps("phases of synth, svmlight", both.svmlight, both.vowpal_wabbit, "", ""),
        steps("phases of synth, Vowpal Wabbit's text", both.vowpal_wabbit, both.vowpal_wabbit, "", ""),
        steps("phases of ctr, Vowpal Wabbit's text", clicks, clicks, "--bits 24", "-b 24"),
    ]


def steps(name: str, ours: Input, theirs: Input, option: str, their_option: str) -> Phases:
    """The steps of both programs; Vowpal Wabbit's `--noop` parses without learning."""
    whole = onward(ours, NAG, option)
    found = [
        Step("dd", "reading", "dd if={input} of=/dev/null bs=262144", ours),
        Step(ONWARD.name, "reading, parsing", ONWARD_PARSING, ours),
        Step(ONWARD.name, "reading, parsing, learning", whole.command, ours),
    ]
    for what, more in (("reading, parsing", "--noop"), ("reading, parsing, learning", "")):
        command = vowpal_wabbit(theirs, their_option, more).command
        found.append(Step(VOWPAL_WABBIT.name, what, command, theirs))
    return Phases(name, whole, tuple(found))


def growths(size: Size) -> list[Growth]:
    """A tenth of synth has as many distinct features."""
    many, few = synth(size), synth(size.less)
    return [
        Growth(f"memory of synth, {name}", learn(option), few_input, many_input, MOST_BEYOND_TABLE)
        for name, option, few_input, many_input in (
            ("`nag`, from svmlight", NAG, few.svmlight, many.svmlight),
            ("`nag`, from Vowpal Wabbit's text", NAG, few.vowpal_wabbit, many.vowpal_wabbit),
            ("`auto`, from Vowpal Wabbit's text", "", few.vowpal_wabbit, many.vowpal_wabbit),
        )
    ]
