"""Learners that bear the names of textbook algorithms take the textbook's step: weights equal those of plain twins."""

import json
from collections import defaultdict

import numpy
import pytest
import safetensors.numpy
from numpy import abs, clip, exp, sign, sqrt
from test_models import named

RADIUS = 2.0

#: ∂ℓ/∂p by score and label, at kinks the one that Onward documents.
SLOPES = {
    "squared": lambda p, y: 2 * (p - y),
    "absolute": lambda p, y: sign(p - y),
    "huber:delta=0.5": lambda p, y: clip(2 * (p - y), -1, 1),
    "quantile:tau=0.7": lambda p, y: -0.7 if p < y else 0.3,
    "expectile:tau=0.7": lambda p, y: (1.4 if p < y else 0.6) * (p - y),
    "epsilon-insensitive:epsilon=0.3": lambda p, y: sign(p - y) * (abs(p - y) > 0.3),
    "squared-epsilon-insensitive:epsilon=0.3": lambda p, y: 2 * sign(p - y) * max(abs(p - y) - 0.3, 0),
    "poisson": lambda p, y: exp(p) - y,
    "logistic": lambda p, y: -y / (1 + exp(y * p)),
    "hinge": lambda p, y: -y * (y * p < 1),
    "squared-hinge": lambda p, y: -2 * y * max(1 - y * p, 0),
    "modified-huber": lambda p, y: -y * clip(2 * (1 - y * p), 0, 4),
    "perceptron": lambda p, y: -y * (y * p <= 0),
}
BINARY = {"logistic", "hinge", "squared-hinge", "modified-huber", "perceptron"}


def ball(w):
    return w * min(1, RADIUS / max(numpy.linalg.norm(w), 1e-300))


def l1(w):
    """The Euclidean projection on the L1 ball, by sorting."""
    sizes = numpy.sort(abs(w))[::-1]
    over = (numpy.cumsum(sizes) - RADIUS) / numpy.arange(1, len(w) + 1)
    return w if abs(w).sum() <= RADIUS else sign(w) * numpy.maximum(abs(w) - over[sizes > over][-1], 0)


def self_tuned(t, w, z, h, s):
    s["squares"] += z @ z
    return ball(w - 2 * RADIUS / sqrt(2 * s["squares"]) * z) if s["squares"] > 0 else w


def strong(t, w, z, h, s):
    s["weight"] += h
    return w - (z + h * 2 * w) / (2 * s["weight"])


def batch_of_2(t, w, z, h, s):
    s["sum"], mean = (z, 0) if t % 2 else (0, (s["sum"] + z) / 2)
    return w - 0.3 / sqrt(t // 2) * mean if t % 2 == 0 else w


def elastic(t, w, z, h, s):
    """The weights pay L2 and then L1; here all of them, where Onward pays for absent features when they occur again."""
    rate = 0.3 / sqrt(t)
    shrunk = 1 - rate * h * 0.01 * 0.75
    s["owed"], s["paid"] = s["owed"] * shrunk + rate * h * 0.01 * 0.25, s["paid"] * shrunk
    free = w * shrunk - rate * z
    w = numpy.where(
        free > 0, numpy.maximum(free - s["owed"] - s["paid"], 0), numpy.minimum(free + s["owed"] - s["paid"], 0)
    )
    s["paid"] = s["paid"] + (w - free)
    return w


def leader(project, eta):
    def step(t, w, z, h, s):
        s["theta"] = s["theta"] - z
        return project(eta(t) * s["theta"])

    return step


def adagrad(limit):
    def step(t, w, z, h, s):
        s["squares"] = s["squares"] + z * z
        return clip(w - 0.2 * z / sqrt(numpy.maximum(s["squares"], 1e-300)), -limit, limit)

    return step


def adagrad_dual(t, w, z, h, s):
    s["theta"], s["squares"] = s["theta"] - z, s["squares"] + z * z
    return 0.2 * s["theta"] / (1.5 + sqrt(s["squares"]))


def adagrad_full(t, w, z, h, s):
    s["matrix"] = s["matrix"] + numpy.outer(z, z)
    values, vectors = numpy.linalg.eigh(s["matrix"])
    roots = numpy.where(values > 1e-13 * values.max(), 1 / sqrt(numpy.maximum(values, 1e-300)), 0)
    return w - 0.2 * vectors @ (roots * (vectors.T @ z))


def p_norm(t, w, z, h, s):
    """p = 1.5, q = 3."""
    theta = s["theta"] - 0.05 * z
    size = (abs(theta) ** 3).sum() ** (1 / 3)
    s["theta"] = theta * min(1, RADIUS / max(size, 1e-300))
    return s["theta"] * abs(s["theta"]) / max((abs(s["theta"]) ** 3).sum() ** (1 / 3), 1e-300)


def entropic(t, w, z, h, s):
    s["sum"] = s["sum"] + z
    plus, minus = exp(-0.05 * RADIUS * s["sum"]), exp(0.05 * RADIUS * s["sum"])
    return RADIUS * (plus - minus) / (plus + minus).sum()


#: From round, weights, gradient and importance the weights of the next round.
TWINS = {
    "ogd": self_tuned,
    "ogd:eta=0.3": lambda t, w, z, h, s: ball(w - 0.3 / sqrt(t) * z),
    "ogd:eta=0.3,domain=all": lambda t, w, z, h, s: w - 0.3 / sqrt(t) * z,
    "ogd:eta=0.3,domain=l1": lambda t, w, z, h, s: l1(w - 0.3 / sqrt(t) * z),
    "osd:eta=0.05,domain=all": lambda t, w, z, h, s: w - 0.05 * z,
    "osd:eta=0.05": lambda t, w, z, h, s: ball(w - 0.05 * z),
    "osd:eta=0.5,domain=box": lambda t, w, z, h, s: clip(w - 0.5 * z, -RADIUS, RADIUS),
    "osd:eta=0.05,domain=orthant": lambda t, w, z, h, s: numpy.maximum(w - 0.05 * z, 0),
    "ogd-strong:sigma=2,radius=none": strong,
    "ogd-strong:sigma=2": lambda t, w, z, h, s: ball(strong(t, w, z, h, s)),
    "sgd:eta0=0.3": lambda t, w, z, h, s: w - 0.3 / sqrt(t) * z,
    "sgd:eta0=0.05,schedule=constant": lambda t, w, z, h, s: w - 0.05 * z,
    "sgd:eta0=0.3,schedule=invscaling,power=0.75": lambda t, w, z, h, s: w - 0.3 / t**0.75 * z,
    "sgd:alpha=4,schedule=optimal": lambda t, w, z, h, s: w - z / (sqrt(2) + 4 * (t - 1)),
    "sgd:eta0=0.3,batch=2": batch_of_2,
    "sgd:eta0=0.3,penalty=elastic-net,alpha=0.01,l1-ratio=0.25": elastic,
    "ftrl:eta=0.05": leader(lambda theta: theta, lambda t: 0.05),
    "ftrl:eta=0.05,domain=ball": leader(ball, lambda t: 0.05),
    "dual-averaging:eta=0.3": leader(ball, lambda t: 0.3 / sqrt(t + 1)),
    "dual-averaging:eta=0.3,domain=l1": leader(l1, lambda t: 0.3 / sqrt(t + 1)),
    "adagrad:eta=0.2": adagrad(numpy.inf),
    "adagrad:eta=0.2,domain=box": adagrad(RADIUS),
    "adagrad:eta=0.2,form=dual-averaging,delta=1.5": adagrad_dual,
    "adagrad:eta=0.2,full=true": adagrad_full,
    "kernel:kernel=linear": self_tuned,
    "kernel:kernel=linear,eta=0.05": lambda t, w, z, h, s: w - 0.05 * z,
    "mirror-descent:map=euclidean": self_tuned,
    "mirror-descent:map=euclidean,eta=0.05": lambda t, w, z, h, s: ball(w - 0.05 * z),
    "mirror-descent:map=pnorm,eta=0.05": p_norm,
    "mirror-descent:dimension=6,eta=0.05": entropic,
}

#: For the squared loss alone; the row is in the memory.
SQUARED_TWINS = {
    "lms:eta=0.1": lambda t, w, z, h, s: w - 0.05 * z,
    "nlms:eta=0.5,epsilon=0.1": lambda t, w, z, h, s: w - 0.25 * z / (0.1 + s["x"] @ s["x"]),
}


def stream(loss):
    """Rows with a bias, some features absent, importance weights and offsets."""
    random = numpy.random.default_rng(7)
    x = random.normal(size=(120, 6)) * (random.random((120, 6)) < 0.7) / 2
    x[:, 0] = 1
    x = x.astype(numpy.float32).astype(float)
    score = x @ [0.3, -1, 0.5, 0, 2, 1] + random.normal(size=120) / 3
    y = sign(score) if loss in BINARY else exp(score / 2).round(2) if loss == "poisson" else score.round(2)
    h = random.choice([0.25, 0.5, 1, 1.5, 3], size=120)
    b = random.choice([0, 0.25, -0.5], size=120)
    return x, y, h, b


def write(path, x, y, h, b):
    with path.open("w") as file:
        for row, label, weight, offset in zip(x, y, h, b, strict=True):
            features = " ".join(f"x{at}:{value!r}" for at, value in enumerate(row.tolist()) if at > 0 and value != 0)
            file.write(f"{label} {weight} {offset} | {features}\n")


def weights(learner, heaviest, model):
    """Of the bias and x1 to x5."""
    if not learner.startswith("kernel"):
        by_name = {it["name"]: it["weight"] for it in heaviest}
        return numpy.array([by_name.get(name, 0) for name in ["bias", "x1", "x2", "x3", "x4", "x5"]])
    return kernel_weights(model)


def kernel_weights(model):
    """Σ c·x over the rows that a linear kernel keeps, of which the features are numbered by name."""
    tensors = safetensors.numpy.load_file(model)
    with safetensors.safe_open(model, framework="numpy") as file:
        numbers = json.loads(file.metadata()["onward"])["header"]["numbers"]
    names = named(tensors)
    places = [["bias", "x1", "x2", "x3", "x4", "x5"].index(names[at]) for at in tensors["learner.row.index"].tolist()]
    lengths = tensors["learner.row.length"].astype(int)
    coefficients = numbers["learner.scale"] * numpy.repeat(tensors["learner.coefficient"], lengths)
    return numpy.bincount(places, coefficients * tensors["learner.row.value"], minlength=6)


@pytest.mark.parametrize("loss", SLOPES)
def test_weights_are_those_of_the_textbook(onward, tmp_path, loss):
    x, y, h, b = stream(loss)
    write(tmp_path / "rows.vw", x, y, h, b)
    task = "binary" if loss in BINARY else "regression"
    for learner, step in (TWINS | (SQUARED_TWINS if loss == "squared" else {})).items():
        options = ("--task", task, "--loss", loss, "--radius", RADIUS, "--model", "m.safetensors")
        onward("learn", "-q", "rows.vw", "--learner", learner, *options)
        found = json.loads(onward("inspect", "m.safetensors", "--json", "--top", 10))["heaviest"]
        w, memory = numpy.zeros(6), defaultdict(float)
        for t in range(len(y)):
            z = h[t] * SLOPES[loss](b[t] + w @ x[t], y[t]) * x[t]
            memory["x"] = x[t]
            w = step(t + 1, w, z, h[t], memory)
        difference = weights(learner, found, tmp_path / "m.safetensors") - w
        assert 0.01 < abs(w).max() < 100, (learner, w)
        assert abs(difference).max() < 1e-9 * max(1, abs(w).max()), (learner, loss, difference, w)
