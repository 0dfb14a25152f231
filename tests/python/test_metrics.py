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
    # The labels alone: smoothed frequencies so far, of all and of those that followed the class before.
    positive = y > 0
    assert report["online_constant_risk"] == pytest.approx(smoothed_risk(positive).mean(), rel=1e-9)
    before = numpy.concatenate([[-1], positive[:-1].astype(int)])
    paid = numpy.concatenate([smoothed_risk(positive[before == state]) for state in (-1, 0, 1)])
    assert report["no_change_risk"] == pytest.approx(paid.mean(), rel=1e-9)
    last = (numpy.concatenate([[True], positive[:-1]]) == positive).mean()
    accuracy = ((p >= 0.5) == positive).mean()
    assert report["kappa_temporal"] == pytest.approx((accuracy - last) / (1 - last), rel=1e-9)
    runs = 1 + numpy.count_nonzero(positive[1:] != positive[:-1])
    assert report["label_order"]["runs"] == runs
    better = min(report["online_constant_risk"], report["no_change_risk"])
    assert report["skill"]["value"] == pytest.approx(1 - report["sequential_risk"] / better, rel=1e-12)


def smoothed_risk(positive):
    """What each label pays that is predicted by the smoothed frequency of those before it."""
    known = numpy.cumsum(positive) - positive
    p = (known + 0.5) / (numpy.arange(len(positive)) + 1)
    return -numpy.log(numpy.where(positive, p, 1 - p))


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
    means = numpy.concatenate([[0], numpy.cumsum(y)[:-1] / numpy.arange(1, len(y))])
    online = numpy.square(means - y).mean()
    assert report["online_constant_risk"] == pytest.approx(online, rel=1e-9)
    assert report["r2_online"] == pytest.approx(1 - report["sequential_risk"] / online, rel=1e-9)
    last = numpy.concatenate([[0], y[:-1]])
    assert report["no_change_risk"] == pytest.approx(numpy.square(last - y).mean(), rel=1e-9)
    tenth = numpy.square(p - y)[-(len(y) // 10) :].mean()
    assert report["recent_risk"] == pytest.approx(tenth, rel=0.05)
    # Predictions stay in the range of past labels.
    assert p.min() >= min(y.min(), 0)
    assert p.max() <= max(y.max(), 0)


def test_the_best_constant_of_the_absolute_loss_is_the_median(report):
    found = report(ROOT / "data" / "trump_approval.csv", "--target", "five_thirty_eight", "--loss", "absolute")
    with (ROOT / "data" / "trump_approval.csv").open() as file:
        y = numpy.array([float(row["five_thirty_eight"]) for row in csv.DictReader(file)])
    exact = numpy.abs(y - numpy.median(y)).mean()
    assert found["baseline_risk"] == pytest.approx(exact, rel=1e-12)
    assert "baseline_error" not in found


def test_the_best_constant_of_many_labels_is_known_with_an_error(report, tmp_path):
    generator = numpy.random.default_rng(3)
    for y in (generator.normal(size=20_000), generator.exponential(size=20_000) ** 3):
        (tmp_path / "rows.csv").write_text(
            "y,x\n" + "".join(f"{label!r},{t % 7}\n" for t, label in enumerate(y.tolist()))
        )
        found = report("rows.csv", "--target", "y", "--loss", "absolute", "--learner", "nag")
        exact = numpy.abs(y - numpy.median(y)).mean()
        assert abs(found["baseline_risk"] - exact) <= found["baseline_error"] + 1e-12 * exact
        assert found["baseline_error"] < 1e-4 * exact
