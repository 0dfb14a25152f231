"""A saved model opens with the stock safetensors library, and its weights are the model."""

import csv
import json

import numpy
import pytest
import safetensors
import safetensors.numpy
from conftest import ROOT

PHISHING = ROOT / "data" / "phishing.csv"


def phishing():
    """Features with the bias in front, and labels in -1, 1."""
    with PHISHING.open() as file:
        rows = list(csv.DictReader(file))
    names = [name for name in rows[0] if name != "is_phishing"]
    features = numpy.array([[1.0, *(float(row[name]) for name in names)] for row in rows], dtype=numpy.float32)
    return names, features.astype(float), numpy.array([1 if row["is_phishing"] == "1" else -1 for row in rows])


def predictions(path):
    with path.open() as file:
        return numpy.array([float(row["prediction"]) for row in csv.DictReader(file)])


def named(tensors):
    """Feature names by index."""
    text, ends = bytes(tensors["names.text"]), tensors["names.end"]
    starts = [0, *ends[:-1]]
    pieces = [text[start:end].decode() for start, end in zip(starts, ends, strict=True)]
    return dict(zip(tensors["names.index"].tolist(), pieces, strict=True))


def test_weights_read_in_python_give_the_predictions_of_the_program(onward, tmp_path):
    onward("learn", "-q", PHISHING, "--target", "is_phishing", "--learner", "nag", "--model", "m.safetensors")
    onward("predict", "-q", "m.safetensors", PHISHING, "--predictions", "p.csv")
    tensors = safetensors.numpy.load_file(tmp_path / "m.safetensors")
    names, features, _ = phishing()
    column = {"bias": 0, **{name: at + 1 for at, name in enumerate(names)}}
    scores = numpy.zeros(len(features))
    feature_names = named(tensors)
    for index, weight in zip(tensors["learner.index"], tensors["learner.weight"], strict=True):
        scores += float(weight) * features[:, column[feature_names[int(index)]]]
    expected = 1 / (1 + numpy.exp(-scores))
    assert numpy.abs(expected - predictions(tmp_path / "p.csv")).max() < 1e-9


def raw_weights(learner, tensors, numbers):
    """Weights by index, as docs/data-formats.md says."""
    if learner.startswith("ogd"):
        weights = tensors["learner.point.weight"].astype(float) * numbers["learner.point.scale"]
        return dict(zip(tensors["learner.point.index"].tolist(), weights, strict=True))
    weights = tensors["learner.weight"].astype(float)
    return dict(zip(tensors["learner.index"].tolist(), weights, strict=True))


def standardised(values, index, tensors, total):
    """A feature as a standardised learner sees it."""
    at = tensors["learner.scale.index"].tolist().index(index)
    n, mean, squares = (tensors[f"learner.scale.{name}"][at] for name in ("weight", "mean", "squares"))
    n, before = n + 1, mean
    assert n >= 0.95 * (total + 1)
    mean = before + (values - before) / n
    squares = squares + (values - before) * (values - mean)
    return (values - mean) / numpy.sqrt(squares / n)


@pytest.mark.parametrize(
    "learner",
    [
        "nag",
        "nag:standardise=true",
        "ogd",
        "ogd:radius=0.5",
        "ogd-strong:radius=1",
        "adagrad",
        "perceptron",
        "ogd:standardise=true",
        "adagrad:standardise=true",
    ],
)
def test_scores_follow_from_the_tensors_as_documented(onward, tmp_path, learner):
    onward("learn", "-q", PHISHING, "--target", "is_phishing", "--learner", learner, "--model", "m.safetensors")
    onward("predict", "-q", "m.safetensors", PHISHING, "--predictions", "p.csv")
    tensors = safetensors.numpy.load_file(tmp_path / "m.safetensors")
    with safetensors.safe_open(tmp_path / "m.safetensors", framework="numpy") as file:
        header = json.loads(file.metadata()["onward"])["header"]
    names, features, _ = phishing()
    column = {"bias": 0, **{name: at + 1 for at, name in enumerate(names)}}
    feature_names = named(tensors)
    scores = numpy.zeros(len(features))
    for index, weight in raw_weights(header["learner"], tensors, header["numbers"]).items():
        values = features[:, column[feature_names[index]]]
        if index != 0 and "standardise=true" in header["learner"]:
            values = standardised(values, index, tensors, header["numbers"]["learner.scale.total"])
        scores += weight * values
    expected = scores if header["loss"] == "zero-one" else 1 / (1 + numpy.exp(-scores))
    assert numpy.abs(expected - predictions(tmp_path / "p.csv")).max() < 1e-5


CENTRED = {7: [True, True, False, True, False, False, True], 4: [True, False, True, False]}


def seen_by_auto(values, at, tensors, numbers):
    """A feature raw and centred, over the largest, as the lanes of auto see it; the row is taken in first."""
    count, mean = (float(tensors[f"learner.{name}"][at]) for name in ("count", "mean"))
    raw, centred = (float(tensors[f"learner.largest.{kind}"][at]) for kind in ("raw", "centred"))
    h = numbers["learner.lanes.total"] / numbers["learner.lanes.rounds"]
    count, total = count + h, numbers["learner.lanes.total"] + h
    mean = mean + numpy.clip(values - mean, -4 * centred, 4 * centred) * h / count
    is_dense = tensors["learner.index"][at] != 0 and count >= 0.95 * total
    moved = values - mean if is_dense else values
    return numpy.clip(values / raw, -1, 1), numpy.clip(moved / centred, -1, 1)


def newton_scores(part, sizes, tensors):
    """Scores of a Newton expert, from the centred features by index."""
    indices, squares, counts = (tensors[f"learner.{part}.{name}"] for name in ("indices", "squares", "counts"))
    numbers = zip(indices.tolist(), squares, counts, strict=True)
    scaled = [(index, numpy.clip(sizes[index] / numpy.sqrt(s / n), -4, 4)) for index, s, n in numbers]
    z = []
    for at, (index, value) in enumerate(scaled):
        z.append(value)
        if part == "pairs" and index != 0:
            z.extend(value * other for before, other in scaled[: at + 1] if before != 0)
    return tensors[f"learner.{part}.weights"] @ numpy.array(z)


@pytest.mark.parametrize("lanes", [7, 4])
def test_predictions_of_auto_follow_from_the_tensors_as_documented(onward, tmp_path, lanes):
    learner = ("--learner", f"auto:lanes={lanes}")
    onward("learn", "-q", PHISHING, "--target", "is_phishing", *learner, "--model", "m.safetensors")
    onward("predict", "-q", "m.safetensors", PHISHING, "--predictions", "p.csv")
    tensors = safetensors.numpy.load_file(tmp_path / "m.safetensors")
    with safetensors.safe_open(tmp_path / "m.safetensors", framework="numpy") as file:
        numbers = json.loads(file.metadata()["onward"])["header"]["numbers"]
    names, features, _ = phishing()
    column = {"bias": 0, **{name: at + 1 for at, name in enumerate(names)}}
    feature_names = named(tensors)
    indices = tensors["learner.index"].tolist()
    seen = [
        seen_by_auto(features[:, column[feature_names[index]]], at, tensors, numbers)
        for at, index in enumerate(indices)
    ]
    assert numbers["learner.lanes"] == lanes
    scores = []
    for lane, is_centred in enumerate(CENTRED[lanes]):
        weights = tensors[f"learner.lane{lane}.weight"].astype(float) * numbers["learner.lanes.label_unit"]
        scores.append(sum(weight * sizes[is_centred] for weight, sizes in zip(weights, seen, strict=True)))
    centred = {index: sizes[1] for index, sizes in zip(indices, seen, strict=True)}
    scores.extend(newton_scores(part, centred, tensors) for part in ("newton", "pairs"))
    weight, mean = numbers["learner.labels.weight"], numbers["learner.labels.mean"]
    scores.append(numpy.full(len(features), numpy.log((weight * mean + 0.5) / (weight * (1 - mean) + 0.5))))
    scores = numpy.clip(scores, -50, 50)
    stacks = [tensors[f"learner.{part}.weights"] @ scores for part in ("stack", "forgetting")]
    scores = numpy.vstack([scores, numpy.clip(stacks, -50, 50)])
    expected = tensors["learner.mixture.weights"] @ (1 / (1 + numpy.exp(-scores)))
    assert numpy.abs(expected - predictions(tmp_path / "p.csv")).max() < 1e-5


def test_the_certificate_in_a_model_is_that_of_the_definition(onward, tmp_path):
    arguments = ("--learner", "nag", "--model", "m.safetensors", "--predictions", "p.csv", "--report", "r.json")
    onward("learn", "-q", PHISHING, "--target", "is_phishing", "--radius", "3", *arguments)
    report = json.loads((tmp_path / "r.json").read_text())
    _, features, labels = phishing()
    probabilities = predictions(tmp_path / "p.csv")
    scores = numpy.log(probabilities / (1 - probabilities))
    derivatives = probabilities - (labels > 0)
    theta = features.T @ derivatives
    bound = derivatives @ scores + 3 * numpy.linalg.norm(theta)
    universal = next(it for it in report["guarantees"] if it["kind"] == "universal")
    assert abs(universal["bound_per_round"] - bound / len(labels)) < 1e-6
    stored = safetensors.numpy.load_file(tmp_path / "m.safetensors")["ledger.certificate.theta"]
    assert numpy.abs(numpy.sort(stored) - numpy.sort(theta)).max() < 1e-6


def test_the_header_says_what_the_model_is(onward, tmp_path):
    onward("learn", "-q", PHISHING, "--target", "is_phishing", "--model", "m.safetensors")
    with safetensors.safe_open(tmp_path / "m.safetensors", framework="numpy") as file:
        header = json.loads(file.metadata()["onward"])["header"]
    assert header["learner"] == "auto"
    assert header["loss"] == "logistic"
    assert header["facts"]["examples"] == 1250
