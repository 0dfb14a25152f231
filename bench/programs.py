"""The programs that are measured: how each is built, called, and asked what it paid."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / "bench" / ".venv"


class NotRunError(Exception):
    """A case or a set cannot be measured; the message says why."""


@dataclass(frozen=True)
class Tools:
    """The first words of commands, where they are on this machine."""

    onward: Path
    python: Path

    def arguments(self, command: str, file: str) -> list[str]:
        """A command as written in a case, with its program and its ``{input}`` filled in."""
        program, *rest = shlex.split(command)
        return [str(getattr(self, program)), *(word.format(input=file) for word in rest)]


@dataclass(frozen=True)
class Outcome:
    """What a program says of its own run."""

    examples: int
    loss: str
    progressive_loss: float


@dataclass(frozen=True)
class Program:
    """A program, and how to learn from it (untimed) what it paid when called with given arguments."""

    name: str
    outcome: Callable[[list[str]], Outcome]


def finish(arguments: list[str]) -> subprocess.CompletedProcess:
    """Runs to the end; the case is not run if that fails."""
    done = subprocess.run(arguments, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NotRunError(failure(done.returncode, done.stderr))
    return done


def failure(code: int, errors: str) -> str:
    last = errors.strip().splitlines()[-1:] or ["it said nothing"]
    return f"exit code {code}: {last[0]}"


def onward_outcome(arguments: list[str]) -> Outcome:
    report = json.loads(finish([*arguments, "--report", "-"]).stdout)
    examples, paid = report["examples"], report["sequential_risk"]
    if paid is None:
        raise NotRunError(f"Onward read {examples:,} examples and no label from {', '.join(report['inputs'])}")
    return Outcome(examples, report["loss"], paid)


def vowpal_wabbit_outcome(arguments: list[str]) -> Outcome:
    done = finish([word for word in arguments if word != "--quiet"])
    said = dict(re.findall(r"^(.+?) = (.+)$", done.stdout + done.stderr, re.MULTILINE))
    loss = arguments[arguments.index("--loss_function") + 1] if "--loss_function" in arguments else "squared"
    try:
        return Outcome(int(said["number of examples"]), loss, float(said["average loss"]))
    except (KeyError, ValueError) as missing:
        raise NotRunError(f"Vowpal Wabbit did not say what it paid: {missing}") from missing


ONWARD = Program("Onward", onward_outcome)
VOWPAL_WABBIT = Program("Vowpal Wabbit", vowpal_wabbit_outcome)


def prepare() -> Tools:
    """Builds Onward and installs the peers."""
    onward = build()
    return Tools(onward, install(ROOT / "bench" / "requirements.txt"))


def build() -> Path:
    subprocess.run(["cargo", "build", "--release"], cwd=ROOT, check=True)
    return target_folder() / "release" / "onward"


def install(requirements: Path) -> Path:
    """Installs packages for the peers' Python, and says where that is."""
    python = VENV / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "-r", requirements], check=True)
    return python


def target_folder() -> Path:
    return Path(json.loads(say("cargo", "metadata", "--format-version=1", "--no-deps"))["target_directory"])


def versions(tools: Tools) -> dict[str, str]:
    """The version of each part, for the page."""
    module = "from importlib.metadata import version; print(version('vowpalwabbit'))"
    return {
        ONWARD.name: f"{say(tools.onward, '--version').removeprefix('onward ')} ({commit()})",
        VOWPAL_WABBIT.name: f"{say(tools.python, '-c', module)} (PyPI `vowpalwabbit`)",
        "Rust": say("rustc", "--version").removeprefix("rustc "),
        "Python": say(tools.python, "--version").removeprefix("Python "),
    }


def commit() -> str:
    """The commit that is built; the pages, which runs before may have written, do not count as a change."""
    pages = [":!docs/benchmarks.md", ":!docs/quality.md"]
    changes = say("git", "status", "--porcelain", "--untracked-files=no", "--", ".", *pages)
    return f"commit {say('git', 'rev-parse', '--short', 'HEAD')}{' with changes' if changes else ''}"


def say(*arguments: str | os.PathLike) -> str:
    return subprocess.run(arguments, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
