"""Whether probabilities mean what they say: of rows given 80 %, are eight of ten right?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigenfeat.report.values.intervals import Estimate, share
from eigenfeat.report.values.predictions import Predictions

N_BINS = 10


@dataclass(frozen=True, eq=False)
class Calibration:
    """Rows in bins of equal number by the probability of the class they were given.

    Attributes
    ----------
    said : (b,) array
        Mean probability of the bin's rows.
    right : tuple of Estimate
        Share of them that were right.
    n_rows : (b,) array of int
    gap : float
        Mean distance of the two over rows: the expected calibration error.
    """

    said: np.ndarray
    right: tuple[Estimate, ...]
    n_rows: np.ndarray
    gap: float

    @property
    def too_sure(self) -> float:
        """What is said less what is right, on average: above zero where the model promises too much."""
        shares = np.array([bin.value for bin in self.right])
        return float(np.sum(self.n_rows * (self.said - shares)) / self.n_rows.sum())


def calibration(found: Predictions) -> Calibration | None:
    """Of the probability of the predicted class; None without probabilities."""
    if found.probabilities is None:
        return None
    confidence = found.probabilities.max(axis=1)
    right = np.asarray(found.classes)[found.probabilities.argmax(axis=1)] == found.truth
    order = np.argsort(confidence, kind="stable")
    bins = [part for part in np.array_split(order, min(N_BINS, max(1, len(order) // 10))) if len(part)]
    said = np.array([confidence[part].mean() for part in bins])
    shares = tuple(share(int(right[part].sum()), len(part)) for part in bins)
    sizes = np.array([len(part) for part in bins])
    gaps = np.abs(said - [estimate.value for estimate in shares])
    return Calibration(said, shares, sizes, float(np.sum(sizes * gaps) / sizes.sum()))
