"""The best predictor in hindsight against SciPy's solvers, to the gap that is certified."""

import csv

import numpy
import pytest
from conftest import ROOT
from scipy import optimize, sparse

SITES = ROOT / "data" / "phishing.csv"


def sites(rows=None):
    """Features with the bias first, and labels -1 and 1."""
    with SITES.open() as file:
        records = list(csv.DictReader(file))[:rows]
    names = [name for name in records[0] if name != "is_phishing"]
    x = numpy.array([[1.0, *(float(record[name]) for name in names)] for record in records])
    y = numpy.array([2.0 * float(record["is_phishing"]) - 1.0 for record in records])
    # As the program keeps them.
    return x.astype(numpy.float32).astype(float), y


def head(path, rows):
    path.write_text("".join(SITES.read_text().splitlines(keepends=True)[: rows + 1]))


def within(report, least):
    """The least loss is where the report says it is."""
    best = report["hindsight"]
    slack = 1e-6 * least + 1e-9
    assert best["gap"] <= 1e-4 * max(best["loss"], 1e-3) + 1e-12
    assert best["loss"] - best["gap"] - slack <= least <= best["loss"] + slack


@pytest.mark.parametrize("radius", [0.5, 3.0, 30.0])
def test_the_best_logistic_predictor_on_a_ball_is_that_of_scipy(report, radius):
    x, y = sites()

    def loss(u):
        return numpy.logaddexp(0, -y * (x @ u)).mean()

    def gradient(u):
        return -(y / (1 + numpy.exp(y * (x @ u)))) @ x / len(y)

    inside = {"type": "ineq", "fun": lambda u: radius**2 - u @ u, "jac": lambda u: -2 * u}
    options = {"maxiter": 1000, "ftol": 1e-13}
    start = numpy.zeros(x.shape[1])
    found = optimize.minimize(loss, start, jac=gradient, constraints=[inside], method="SLSQP", options=options)
    assert found.success
    assert found.x @ found.x <= radius**2 * (1 + 1e-9)
    options = ["--task", "binary", "--radius", radius, "--hindsight", "--hindsight-gap", "1e-4"]
    within(report(SITES, "--target", "is_phishing", *options), found.fun)


def test_the_best_logistic_predictor_of_any_size_is_that_of_scipy(report):
    x, y = sites()

    def loss(u):
        return numpy.logaddexp(0, -y * (x @ u)).mean()

    def gradient(u):
        return -(y / (1 + numpy.exp(y * (x @ u)))) @ x / len(y)

    options = {"maxiter": 10000, "ftol": 1e-15, "gtol": 1e-10}
    found = optimize.minimize(loss, numpy.zeros(x.shape[1]), jac=gradient, method="L-BFGS-B", options=options)
    options = ["--task", "binary", "--hindsight=unconstrained", "--hindsight-gap", "1e-4"]
    within(report(SITES, "--target", "is_phishing", *options), found.fun)


@pytest.mark.parametrize("radius", [1.0, 10.0])
def test_the_best_hinge_predictor_on_a_ball_is_that_of_scipy(report, tmp_path, radius):
    rows = 200
    head(tmp_path / "sites.csv", rows)
    x, y = sites(rows)
    features = x.shape[1]

    # The least mean of slacks with y(x @ u) + slack >= 1, slack >= 0, in the ball.
    def loss(variables):
        return variables[features:].mean()

    slope = numpy.concatenate([numpy.zeros(features), numpy.full(rows, 1 / rows)])
    margins = numpy.hstack([y[:, None] * x, numpy.eye(rows)])
    constraints = [
        {"type": "ineq", "fun": lambda v: margins @ v - 1, "jac": lambda v: margins},
        {
            "type": "ineq",
            "fun": lambda v: radius**2 - v[:features] @ v[:features],
            "jac": lambda v: numpy.concatenate([-2 * v[:features], numpy.zeros(rows)]),
        },
    ]
    bounds = [(None, None)] * features + [(0, None)] * rows
    start = numpy.concatenate([numpy.zeros(features), numpy.ones(rows)])
    found = optimize.minimize(
        loss,
        start,
        jac=lambda v: slope,
        bounds=bounds,
        constraints=constraints,
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert found.success
    options = ["--task", "binary", "--loss", "hinge", "--radius", radius, "--hindsight", "--hindsight-gap", "1e-4"]
    within(report("sites.csv", "--target", "is_phishing", *options), found.fun)


@pytest.mark.parametrize("loss", ["hinge", "absolute"])
def test_the_best_predictor_of_many_rare_features_is_that_of_a_linear_program(report, tmp_path, loss):
    """More features than second derivatives are computed among: dual ascent finds it."""
    random = numpy.random.default_rng(4)
    rows, kinds, each = 4000, 5, 130
    # Of each kind a row has one feature, the first ones often.
    chosen = [kind * each + (each * random.random(rows) ** 4).astype(int) for kind in range(kinds)]
    columns = numpy.column_stack(chosen)
    score = random.normal(size=kinds * each)[columns].sum(axis=1) + random.normal(size=rows)
    y = numpy.sign(score) if loss == "hinge" else score.round(3)
    lines = (f"{label:g} " + " ".join(f"{at + 1}:1" for at in row) for label, row in zip(y, columns, strict=True))
    (tmp_path / "rare.svm").write_text("\n".join(lines) + "\n")
    # With the bias, which every row has.
    places = (numpy.repeat(numpy.arange(rows), kinds + 1), numpy.hstack([columns, numpy.full((rows, 1), -1)]).ravel())
    x = sparse.csr_array((numpy.ones(rows * (kinds + 1)), (places[0], places[1] % (kinds * each + 1))))
    slack = sparse.eye_array(rows)
    if loss == "hinge":
        matrix, least = sparse.hstack([-x * y[:, None], -slack]), -numpy.ones(rows)
    else:
        matrix = sparse.vstack([sparse.hstack([x, -slack]), sparse.hstack([-x, -slack])])
        least = numpy.concatenate([y, -y])
    costs = numpy.concatenate([numpy.zeros(x.shape[1]), numpy.full(rows, 1 / rows)])
    bounds = [(None, None)] * x.shape[1] + [(0, None)] * rows
    found = optimize.linprog(costs, A_ub=matrix, b_ub=least, bounds=bounds)
    assert found.success
    task = "binary" if loss == "hinge" else "regression"
    options = ["--task", task, "--loss", loss, "--hindsight=unconstrained", "--learner", "nag"]
    best = report("rare.svm", *options)["hindsight"]
    # A quarter as many features as rows is hard: the search may end before the gap is 0.1%.
    assert best["gap"] <= 0.02 * best["loss"]
    assert best["loss"] - best["gap"] <= found.fun + 1e-9
    assert found.fun <= best["loss"] + 1e-9
