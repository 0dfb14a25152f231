"""The figures of the report against scikit-learn's on the same predictions."""

import csv
import json

import numpy
import pytest
from conftest import ROOT
from sklearn import metrics


def columns(path):
    with path.open() as file:
        rows = [row for row in csv.DictReader(file) if row["label"]]
    return numpy.array([float(row["prediction"]) for row in rows]), numpy.array([float(row["label"]) for row in rows])


def test_binary_metrics_are_those_of_scikit_learn(onward, tmp_path):
    data = ROOT / "data" / "flights.csv.zst"
    onward("learn", "-q", data, "--target", "arr_delay>15", "--predictions", "p.csv", "--report", "r.json")
    report = json.loads((tmp_path / "r.json").read_text())
    p, y = columns(tmp_path / "p.csv")
    assert len(y) == 336_776 - 9_430
    found = report["metrics"]
    assert report["sequential_risk"] == pytest.approx(metrics.log_loss(y, p), rel=1e-9)
    assert found["log_loss"] == pytest.approx(metrics.log_loss(y, p), rel=1e-9)
    assert found["brier"] == pytest.approx(metrics.brier_score_loss(y, p), rel=1e-9)
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(y > 0, p >= 0.5), abs=1e-12)
    assert abs(found["auc"] - metrics.roc_auc_score(y, p)) <= found["auc_error"]
    assert found["auc_error"] < 1e-3
    best_constant = metrics.log_loss(y, numpy.full(len(y), (y > 0).mean()))
    assert report["baseline_risk"] == pytest.approx(best_constant, rel=1e-9)


def test_regression_metrics_are_those_of_scikit_learn(onward, tmp_path):
    data = ROOT / "data" / "flights.csv.zst"
    onward("learn", "-q", data, "--target", "arr_delay", "--predictions", "p.csv", "--report", "r.json")
    report = json.loads((tmp_path / "r.json").read_text())
    p, y = columns(tmp_path / "p.csv")
    found = report["metrics"]
    assert report["sequential_risk"] == pytest.approx(metrics.mean_squared_error(y, p), rel=1e-9)
    assert found["rmse"] == pytest.approx(metrics.root_mean_squared_error(y, p), rel=1e-9)
    assert found["mae"] == pytest.approx(metrics.mean_absolute_error(y, p), rel=1e-9)
    assert found["r2"] == pytest.approx(metrics.r2_score(y, p), rel=1e-9)
    assert report["baseline_risk"] == pytest.approx(numpy.var(y), rel=1e-9)
    # Predictions stay in the range of past labels.
    assert p.min() >= min(y.min(), 0)
    assert p.max() <= max(y.max(), 0)


def test_the_best_constant_of_the_absolute_loss_is_the_median(report):
    found = report(ROOT / "data" / "trump_approval.csv", "--target", "five_thirty_eight", "--loss", "absolute")
    with (ROOT / "data" / "trump_approval.csv").open() as file:
        y = numpy.array([float(row["five_thirty_eight"]) for row in csv.DictReader(file)])
    exact = numpy.abs(y - numpy.median(y)).mean()
    # Labels are bucketed to a relative width of 1/512.
    assert found["baseline_risk"] == pytest.approx(exact, abs=numpy.abs(y).max() / 512)
