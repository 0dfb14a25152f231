"""The programs that are measured: how each is built, called, and asked for its loss."""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / "bench" / ".venv"


class NotRunError(Exception):
    """A case or a set could not be measured; the message says why."""


@dataclass(frozen=True)
class Tools:
    """Paths for the first words of commands. Other words are programs of the system."""

    onward: Path
    parse: Path
    python: Path

    def arguments(self, command: str, file: str, whole: str = "", two: str = "") -> list[str]:
        """A command as written in a case, with its program, its ``{input}``, ``{whole}`` and ``{two}`` filled in."""
        program, *rest = shlex.split(command)
        words = (word.format(input=file, whole=whole, two=two) for word in rest)
        return [str(getattr(self, program, program)), *words]


@dataclass(frozen=True)
class Outcome:
    """What a program reports about its own run. One that only reads has no loss.

    ``features`` counts those that are not zero, the bias with them.
    """

    examples: int
    loss: str | None = None
    mean_loss: float | None = None
    features: int | None = None


@dataclass(frozen=True)
class Program:
    """A program, and how to get its loss (untimed) when called with given arguments."""

    name: str
    outcome: Callable[[list[str]], Outcome]


def finish(arguments: list[str]) -> subprocess.CompletedProcess:
    """Runs a command to its end. If it fails, the case is not run."""
    done = subprocess.run(arguments, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NotRunError(failure(done.returncode, done.stderr))
    return done


def failure(code: int, errors: str) -> str:
    """Its message: the line that begins with the word error, or the last line."""
    lines = [line for line in errors.splitlines() if line.strip()] or ["it said nothing"]
    said = next((line for line in lines if line.startswith("error")), lines[-1])
    return f"exit code {code}: {said}"


def onward_outcome(arguments: list[str]) -> Outcome:
    """Its report. For `predict` this is the mean loss; the predictions are thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        predicting = arguments[1] == "predict"
        more = ["--report", "-", *(["--predictions", f"{folder}/predictions.csv"] if predicting else [])]
        report = json.loads(finish([*arguments, *more]).stdout)
    examples, paid = report["examples"], report["mean_loss" if predicting else "sequential_risk"]
    if paid is None:
        raise NotRunError(f"Onward read {examples:,} examples without any label from {', '.join(report['inputs'])}")
    return Outcome(examples, report["loss"], paid, report["features"])


def vowpal_wabbit_outcome(arguments: list[str]) -> Outcome:
    done = finish([word for word in arguments if word != "--quiet"])
    said = dict(re.findall(r"^(.+?) = (.+)$", done.stdout + done.stderr, re.MULTILINE))
    loss = arguments[arguments.index("--loss_function") + 1] if "--loss_function" in arguments else "squared"
    try:
        features = int(said["total feature number"])
        return Outcome(int(said["number of examples"]), loss, float(said["average loss"]), features)
    except (KeyError, ValueError) as missing:
        raise NotRunError(f"Vowpal Wabbit did not report its loss: {missing}") from missing


def scikit_learn_outcome(arguments: list[str]) -> Outcome:
    """The output of `scikit_learn.py`."""
    said = json.loads(finish([*arguments, "--progressive"]).stdout)
    return Outcome(said["examples"], said["loss"], said["progressive_loss"])


def reader_outcome(arguments: list[str]) -> Outcome:
    """The number of rows, which is all that the program prints."""
    return Outcome(int(finish(arguments).stdout))


ONWARD = Program("Onward", onward_outcome)
VOWPAL_WABBIT = Program("Vowpal Wabbit", vowpal_wabbit_outcome)
SCIKIT_LEARN = Program("scikit-learn", scikit_learn_outcome)
PANDAS = Program("pandas (reading only)", reader_outcome)
POLARS = Program("polars (reading only)", reader_outcome)
# The peers' packages on PyPI.
PACKAGES = {
    "Vowpal Wabbit": "vowpalwabbit",
    "scikit-learn": "scikit-learn",
    "pandas": "pandas",
    "Arrow (for pandas to read Parquet)": "pyarrow",
    "polars": "polars",
}


def prepare(onward: Path | None) -> Tools:
    """Builds Onward, unless a binary is given, and its parser; installs the peers."""
    onward = build("onward") if onward is None else onward.resolve()
    parse = build("examples/parse", "--package", "onward-data", "--example", "parse")
    return Tools(onward, parse, install(ROOT / "bench" / "requirements.txt"))


def build(program: str, *what: str) -> Path:
    subprocess.run(["cargo", "build", "--release", *what], cwd=ROOT, check=True)
    return target_folder() / "release" / program


def install(requirements: Path) -> Path:
    """Installs packages for the peers' Python, and returns its path."""
    python = VENV / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "-r", requirements], check=True)
    return python


def target_folder() -> Path:
    return Path(json.loads(say("cargo", "metadata", "--format-version=1", "--no-deps"))["target_directory"])


def versions(tools: Tools, built: bool) -> dict[str, str]:
    """The version of each part, for the page."""
    module = "import sys; from importlib.metadata import version; print(*map(version, sys.argv[1:]), sep='\\n')"
    peers = say(tools.python, "-c", module, *PACKAGES.values()).splitlines()
    source = commit() if built else "a given binary"
    return {
        ONWARD.name: f"{say(tools.onward, '--version').removeprefix('onward ')} ({source})",
        **{
            name: f"{number} (PyPI `{package}`)"
            for (name, package), number in zip(PACKAGES.items(), peers, strict=True)
        },
        "Rust": say("rustc", "--version").removeprefix("rustc "),
        "Python": say(tools.python, "--version").removeprefix("Python "),
    }


def commit() -> str:
    """The commit that is built. The pages, which earlier runs may have written, do not count as changes."""
    pages = [":!docs/benchmarks.md", ":!docs/notes/quality.md"]
    changes = say("git", "status", "--porcelain", "--untracked-files=no", "--", ".", *pages)
    return f"commit {say('git', 'rev-parse', '--short', 'HEAD')}{' with changes' if changes else ''}"


def say(*arguments: str | os.PathLike) -> str:
    return subprocess.run(arguments, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
