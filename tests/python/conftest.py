"""Runs the program that cargo built; ``ONWARD`` names another one."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("ONWARD", str(ROOT / "target" / "debug" / "onward"))


@pytest.fixture
def onward(tmp_path):
    """Runs ``onward`` in a fresh folder and returns what it printed on standard output."""

    def run(*arguments):
        command = [PROGRAM, *map(str, arguments)]
        outcome = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert outcome.returncode == 0, outcome.stderr
        return outcome.stdout

    return run


@pytest.fixture
def report(onward):
    """Learns and returns the report."""

    def run(*arguments):
        return json.loads(onward("learn", "--quiet", "--report", "-", *arguments))

    return run
