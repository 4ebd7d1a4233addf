"""How good predictions of many labels are: label by label, beside what could be said without looking, and together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import roc_auc_score

from eigenfeat.report.values.intervals import Estimate, resampled, share
from eigenfeat.report.values.predictions import Predictions
from eigenfeat.report.values.subject import Subject

SAID = 0.5
"""A label is said where its score is above this: scores are regressions on 0 and 1."""

FEWEST_TOGETHER = 5
"""Rows that two labels share, or one has without the other, before a page says that they go together."""


@dataclass(frozen=True)
class LabelPair:
    """Two labels, the rows that have both, and how they correlate in truth and in what is said."""

    first: int
    second: int
    n_together: int
    correlation: float
    said_correlation: float


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels that were said against those that hold.

    Attributes
    ----------
    names : tuple of str
    n_rows : int
    n_true, n_said : (q,) arrays of int
        Rows that have a label, and rows it is said of.
    precision, recall, f1, area : (q,) arrays
        The last is the area under the ROC curve of the scores; NaN where there is nothing to divide by.
    wrong, baseline_wrong : (q,) arrays
        Share of rows that are wrong in a label, and that would be with what most training rows have.
    error : Estimate
        Share of all labels of all rows that are wrong; resampled by rows.
    baseline_error : float
    micro_f1, macro_f1 : float
        Over all labels together, and the mean over labels.
    all_right : Estimate
        Share of rows whose labels are all right.
    baseline_all_right : float
    pairs : tuple of LabelPair
        Pairs that correlate most, either way, the strongest first.
    """

    names: tuple[str, ...]
    n_rows: int
    n_true: np.ndarray
    n_said: np.ndarray
    precision: np.ndarray
    recall: np.ndarray
    f1: np.ndarray
    area: np.ndarray
    wrong: np.ndarray
    baseline_wrong: np.ndarray
    error: Estimate
    baseline_error: float
    micro_f1: float
    macro_f1: float
    all_right: Estimate
    baseline_all_right: float
    pairs: tuple[LabelPair, ...]

    @property
    def never_said(self) -> list[str]:
        """Labels that rows have and that are said of none."""
        return [name for name, true, said in zip(self.names, self.n_true, self.n_said) if true and not said]


def are_labels(targets: np.ndarray | None) -> bool:
    """Whether targets are several columns of 0 and 1."""
    if targets is None or np.ndim(targets) != 2 or targets.shape[1] < 2:
        return False
    return bool(np.isin(targets, (0, 1)).all())


def labels(found: Predictions, subject: Subject, random_state: int = 0, most_pairs: int = 12) -> Labels | None:
    """Figures of a model of many labels; None of any other."""
    if subject.kind != "regressor" or not are_labels(found.truth):
        return None
    truth = np.asarray(found.truth) > SAID
    scores = np.asarray(found.predicted, dtype=np.float64).reshape(truth.shape)
    said = scores > SAID
    known = subject.train.y if subject.train is not None and subject.train.y is not None else found.truth
    usual = np.asarray(known).mean(axis=0) > SAID
    wrong, both = truth != said, (truth & said).sum(axis=0)
    n_true, n_said, n = truth.sum(axis=0), said.sum(axis=0), len(truth)
    f1 = _ratio(2 * both, n_true + n_said)
    rows_wrong, right = wrong.mean(axis=1), ~wrong.any(axis=1)
    names = subject.target_names or tuple(f"label {j + 1}" for j in range(truth.shape[1]))
    return Labels(
        tuple(names),
        n,
        n_true,
        n_said,
        _ratio(both, n_said),
        _ratio(both, n_true),
        f1,
        np.array([_area(truth[:, j], scores[:, j]) for j in range(truth.shape[1])]),
        wrong.mean(axis=0),
        (truth != usual).mean(axis=0),
        resampled(lambda rows: float(rows_wrong[rows].mean()), n, random_state),
        float((truth != usual).mean()),
        float(2 * both.sum() / max(1, n_true.sum() + n_said.sum())),
        float(np.nanmean(f1)) if np.isfinite(f1).any() else float("nan"),
        share(int(right.sum()), n),
        float((truth == usual).all(axis=1).mean()),
        tuple(_pairs(truth, said, most_pairs)),
    )


def _pairs(truth: np.ndarray, said: np.ndarray, most: int) -> list[LabelPair]:
    """Pairs of labels by how strongly they correlate in the truth."""
    together = truth.T.astype(np.float64) @ truth
    correlation, said_correlation = _correlations(truth), _correlations(said)
    first, second = np.triu_indices(truth.shape[1], 1)
    counts = np.diag(together)
    enough = np.minimum(counts[first], counts[second]) >= FEWEST_TOGETHER
    strength = np.where(enough, np.abs(correlation[first, second]), -1.0)
    order = np.argsort(-strength, kind="stable")[:most]
    return [
        LabelPair(int(i), int(j), int(together[i, j]), float(correlation[i, j]), float(said_correlation[i, j]))
        for i, j in zip(first[order], second[order])
        if min(counts[i], counts[j]) >= FEWEST_TOGETHER
    ]


def _correlations(marks: np.ndarray) -> np.ndarray:
    """Between columns of 0 and 1; zero with a column that is constant."""
    centred = marks - marks.mean(axis=0)
    length = np.sqrt((centred**2).sum(axis=0))
    return (centred.T @ centred) / np.maximum(np.outer(length, length), np.finfo(np.float64).tiny)


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.where(whole > 0, part / np.maximum(whole, 1), np.nan)


def _area(truth: np.ndarray, scores: np.ndarray) -> float:
    return float(roc_auc_score(truth, scores)) if 0 < truth.sum() < len(truth) else float("nan")
