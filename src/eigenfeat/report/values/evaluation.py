"""How good predictions are: errors with intervals, beside what one would get without looking at the columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from eigenfeat.report.values.intervals import Estimate, mean_of_shares, resampled, share
from eigenfeat.report.values.predictions import Predictions
from eigenfeat.report.values.subject import Subject


@dataclass(frozen=True, eq=False)
class Classification:
    """Predicted classes against true ones.

    Attributes
    ----------
    classes : (k,) array
        All that were known to the model or occur.
    counts : (k, k) array of int
        Rows by true (down) and predicted class (across).
    error, balanced_accuracy : Estimate
    log_loss : Estimate or None
        Mean of minus the logarithm of the probability given to the true class.
    majority, baseline_error, baseline_log_loss
        The most frequent class, and how always saying it, or always its share, would do.
    precision, recall : (k,) arrays
        NaN where no row was predicted, or is, of the class.
    """

    classes: np.ndarray
    counts: np.ndarray
    error: Estimate
    balanced_accuracy: Estimate
    log_loss: Estimate | None
    majority: str
    baseline_error: float
    baseline_log_loss: float
    precision: np.ndarray
    recall: np.ndarray

    @property
    def n_rows(self) -> int:
        return int(self.counts.sum())

    @property
    def n_wrong(self) -> int:
        return int(self.counts.sum() - np.trace(self.counts))

    @property
    def never_predicted(self) -> list[str]:
        """Classes that occur and were said of no row."""
        lost = (self.counts.sum(axis=0) == 0) & (self.counts.sum(axis=1) > 0)
        return [str(c) for c in self.classes[lost]]

    @property
    def better_than_majority(self) -> bool:
        """Whether the error is below the baseline by more than chance lets expect."""
        return self.error.high < self.baseline_error


@dataclass(frozen=True, eq=False)
class Regression:
    """Predicted numbers against true ones, for one target.

    Attributes
    ----------
    name : str
        Of the target, where there are several.
    truth, predicted : (n,) arrays
    r2, absolute_error, root_mean_square : Estimate
    baseline_absolute_error, baseline_root_mean_square : float
        Of always saying the median, and the mean.
    """

    name: str
    truth: np.ndarray
    predicted: np.ndarray
    r2: Estimate
    absolute_error: Estimate
    root_mean_square: Estimate
    baseline_absolute_error: float
    baseline_root_mean_square: float


def classification(found: Predictions, subject: Subject, random_state: int = 0) -> Classification:
    """Figures of a classifier; the majority class is that of the training rows where they are known."""
    truth, predicted = found.truth, found.predicted
    known = [np.asarray(found.classes)] if found.classes is not None else []
    classes = np.unique(np.concatenate([*known, truth, predicted]))
    counts = confusion_matrix(truth, predicted, labels=classes)
    precision, recall, _, _ = precision_recall_fscore_support(truth, predicted, labels=classes, zero_division=np.nan)
    codes = np.searchsorted(classes, truth)
    shares = _class_shares(subject, classes, codes)
    majority = int(np.argmax(shares))
    right = (truth == predicted).astype(np.float64)
    n, present = len(truth), counts.sum(axis=1) > 0
    return Classification(
        classes,
        counts,
        share(n - right.sum(), n),
        mean_of_shares(np.diag(counts)[present], counts.sum(axis=1)[present]),
        _log_loss(found, random_state),
        str(classes[majority]),
        float(np.mean(codes != majority)),
        float(np.mean(-np.log(np.maximum(shares[codes], 1e-15)))),
        precision,
        recall,
    )


def regressions(
    found: Predictions, most: int = 4, random_state: int = 0, target_names: tuple[str, ...] = ()
) -> list[Regression]:
    """Figures of a regressor, a target each, the first few."""
    truth = np.asarray(found.truth, dtype=np.float64).reshape(len(found.truth), -1)
    predicted = np.asarray(found.predicted, dtype=np.float64).reshape(truth.shape)
    names = [f"target {j + 1}" if truth.shape[1] > 1 else "" for j in range(truth.shape[1])]
    if truth.shape[1] == len(target_names) > 1:
        names = list(target_names)
    return [_regression(name, truth[:, j], predicted[:, j], random_state) for j, name in enumerate(names[:most])]


def _regression(name: str, truth: np.ndarray, predicted: np.ndarray, random_state: int) -> Regression:
    wrong, n = truth - predicted, len(truth)

    def r2(rows: np.ndarray) -> float:
        spread = truth[rows] - truth[rows].mean()
        return float(1 - np.sum(wrong[rows] ** 2) / max(float(np.sum(spread**2)), np.finfo(np.float64).tiny))

    return Regression(
        name,
        truth,
        predicted,
        resampled(r2, n, random_state),
        resampled(lambda rows: float(np.mean(np.abs(wrong[rows]))), n, random_state),
        resampled(lambda rows: float(np.sqrt(np.mean(wrong[rows] ** 2))), n, random_state),
        float(np.mean(np.abs(truth - np.median(truth)))),
        float(np.std(truth)),
    )


def true_probabilities(found: Predictions) -> np.ndarray | None:
    """(n,): the probability that was given to the true class of each row; zero for one the model does not know."""
    if found.probabilities is None or found.classes is None:
        return None
    classes = np.asarray(found.classes)
    place = np.clip(np.searchsorted(classes, found.truth), 0, len(classes) - 1)
    given = found.probabilities[np.arange(len(place)), place]
    return np.where(classes[place] == found.truth, given, 0.0)


def _log_loss(found: Predictions, random_state: int) -> Estimate | None:
    given = true_probabilities(found)
    if given is None:
        return None
    surprise = -np.log(np.maximum(given, 1e-15))
    return resampled(lambda rows: float(surprise[rows].mean()), len(surprise), random_state)


def _class_shares(subject: Subject, classes: np.ndarray, codes: np.ndarray) -> np.ndarray:
    if subject.train is not None and subject.train.y is not None:
        codes = np.searchsorted(classes, subject.train.y[np.isin(subject.train.y, classes)])
    counts = np.bincount(codes, minlength=len(classes))
    return counts / counts.sum()
