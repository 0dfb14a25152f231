"""Onward on a set of the quality table."""

import csv
import json
import math
import subprocess
import tempfile
from itertools import islice
from pathlib import Path

import numpy
from programs import ROOT, NotRunError, failure
from quality_data import Prepared
from quality_score import DIVERGED, FEW, Outcome, Score, classes, log_odds, regression


def learn(onward: Path, learner: str, prepared: Prepared) -> Outcome:
    """Its report, and for the first rows of a long set its predictions, which do not depend on later rows."""
    with tempfile.TemporaryDirectory() as folder:
        predictions = Path(folder) / "predictions.csv"
        command = [onward, "learn", prepared.source, *prepared.options, "--learner", learner]
        command += ["--report", "-", "--predictions", predictions, "--quiet"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise NotRunError(f"{prepared.data.name}: {failure(done.returncode, done.stderr)}")
        report = json.loads(done.stdout)
        check(prepared, report)
        whole = reported(prepared, report)
        start = whole if len(prepared.labels) <= FEW else first(prepared, predictions)
        return Outcome(whole, start, mixture(prepared, report))


def check(prepared: Prepared, report: dict):
    labelled = report["examples"] - report["unlabelled"]
    if labelled != len(prepared.labels):
        raise NotRunError(f"{prepared.data.name}: {labelled} rows with a label, the peers have {len(prepared.labels)}")


def mixture(prepared: Prepared, report: dict) -> tuple[float, float] | None:
    """The gap to the best lane and its bound. A bound that does not hold is an error, not a table entry."""
    bounds = [
        guarantee["bound_per_round"]
        for guarantee in report["guarantees"]
        if guarantee["kind"] == "mixture" and guarantee["bound_per_round"] is not None
    ]
    if not bounds:
        return None
    gap = report["gap_to_best_lane"]
    if gap > bounds[0]:
        raise SystemExit(
            f"{prepared.data.name}: the mixture's loss is {gap} above that of its best lane; the bound is {bounds[0]}"
        )
    return gap, bounds[0]


def reported(prepared: Prepared, report: dict) -> Score:
    paid = report["sequential_risk"]
    if paid is None or not math.isfinite(paid):
        return DIVERGED
    return Score(paid, report["metrics"]["auc"]) if prepared.two_classes else Score(paid / prepared.labels.var())


def first(prepared: Prepared, predictions: Path) -> Score:
    """The score on the first rows with a label."""
    with open(predictions) as lines:
        labelled = (float(row["prediction"]) for row in csv.DictReader(lines) if row["label"])
        said = numpy.array(list(islice(labelled, FEW)))
    labels = prepared.labels[:FEW]
    return classes(labels, log_odds(said)) if prepared.two_classes else regression(labels, said)
