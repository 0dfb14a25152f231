"""The peer scikit-learn: reads svmlight text and learns from it in batches. It runs in the peers' Python."""

import argparse
import json

import numpy
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import SGDClassifier

BATCH = 1_000


def learn(file: str, progressive: bool) -> dict:
    """One pass. ``progressive``: each batch is predicted before it is learnt from, which takes extra time."""
    rows, labels = load_svmlight_file(file)
    learner = SGDClassifier(loss="log_loss", random_state=0)
    paid = 0.0
    for begin in range(0, len(labels), BATCH):
        x, y = rows[begin : begin + BATCH], labels[begin : begin + BATCH]
        if progressive:
            margins = learner.decision_function(x) if begin > 0 else numpy.zeros(len(y))
            paid += float(numpy.logaddexp(0.0, -y * margins).sum())
        learner.partial_fit(x, y, classes=[-1.0, 1.0])
    return {
        "examples": len(labels),
        "loss": "logistic",
        "progressive_loss": paid / len(labels) if progressive else None,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--progressive", action="store_true")
    print(json.dumps(learn(**vars(parser.parse_args()))))
