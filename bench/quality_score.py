"""The scores of a program: its loss on predictions made before each label was seen, and AUC."""

import math
from dataclasses import asdict, dataclass

import numpy
from sklearn.metrics import roc_auc_score

# Probabilities are clipped to this distance from 0 and 1.
CLIP = 1e-15
# The slow peers in Python see at most this many rows of a set.
FEW = 20_000


@dataclass(frozen=True)
class Score:
    """For classes the mean log loss and AUC; for numbers the mean squared error over the variance of the labels."""

    loss: float
    auc: float | None = None


DIVERGED = Score(math.inf)


@dataclass(frozen=True)
class Outcome:
    """A program on a set: its score on ``all`` rows (None if it did not see all) and on the ``first`` ``FEW``."""

    all: Score | None
    first: Score
    # Onward only: the mean loss of its mixture minus that of its best expert, and the bound on it, if any.
    mixture: tuple[float, float] | None = None

    def to_json(self) -> dict:
        return asdict(self)

    @staticmethod
    def from_json(kept: dict) -> "Outcome":
        return Outcome(kept["all"] and Score(**kept["all"]), Score(**kept["first"]))


def classes(labels: numpy.ndarray, scores: numpy.ndarray) -> Score:
    """The log loss and AUC of log-odds."""
    if not numpy.isfinite(scores).all():
        return DIVERGED
    # A probability p of CLIP has these log-odds.
    most = math.log((1 - CLIP) / CLIP)
    margins = numpy.where(labels > 0, 1.0, -1.0) * scores.clip(-most, most)
    return Score(float(numpy.logaddexp(0.0, -margins).mean()), auc(labels, scores))


def auc(labels: numpy.ndarray, scores: numpy.ndarray) -> float | None:
    positive = labels > 0
    return float(roc_auc_score(positive, scores)) if 0 < positive.sum() < len(labels) else None


def regression(labels: numpy.ndarray, predictions: numpy.ndarray) -> Score:
    with numpy.errstate(over="ignore", invalid="ignore"):
        loss = float(((predictions - labels) ** 2).mean() / labels.var())
    return Score(loss) if math.isfinite(loss) else DIVERGED


def outcome(two_classes: bool, labels: numpy.ndarray, said: numpy.ndarray, paid: float | None = None) -> Outcome:
    """Of what was said of the first ``len(said)`` rows: log-odds of classes, numbers; ``paid`` is the loss if given."""
    judge = classes if two_classes else regression
    few = min(FEW, len(said))
    first = judge(labels[:few], said[:few])
    if len(said) < len(labels):
        return Outcome(None, first)
    whole = first if few == len(labels) else judge(labels, said)
    if paid is not None:
        whole = Score(paid if math.isfinite(paid) else math.inf, whole.auc)
    return Outcome(whole, whole if few == len(labels) else first)


def log_odds(probabilities: numpy.ndarray) -> numpy.ndarray:
    kept = probabilities.clip(CLIP, 1 - CLIP)
    return numpy.log(kept) - numpy.log1p(-kept)
