"""What every feature map is: a named function of projections that writes its columns where it is told."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from eigenfeat.stages.pieces import Pieces


class FeatureMap(ABC):
    """A named function of projections; frozen, so a fitted map can be shared."""

    name: str

    @abstractmethod
    def n_columns(self, n_projections: int) -> int:
        """Columns made from this many projections."""

    @abstractmethod
    def write(self, projections: np.ndarray, out: np.ndarray, start: int = 0) -> None:
        """Fill ``n_columns(m)`` columns of ``out`` from column ``start`` on.

        Both arrays are of one dtype and C-contiguous: compiled loops over whole rows are several times as
        fast as over a slice of columns, whose stride they cannot know.
        """

    @abstractmethod
    def feature_names(self, projection_names: Sequence[str]) -> list[str]:
        """One name a column, in the order of the columns."""

    def pieces(self, n_projections: int) -> Pieces | None:
        """The columns as polynomials a piece, where that is what they are: the passes of a fit are then quicker."""
        return None

    def fit(self, projections: np.ndarray) -> FeatureMap:
        """A map that has learnt from training projections what it needs; most need no more than their number."""
        return self

    @property
    def learns(self) -> bool:
        """Whether `fit` learns from the values of training projections, so that rows have to be there."""
        return type(self).fit is not FeatureMap.fit

    @property
    def is_pointwise(self) -> bool:
        """Whether every column is a function of one projection, so that a map of fewer projections has some of them."""
        return True

    def __call__(self, projections: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        projections = np.ascontiguousarray(projections)
        shape = (len(projections), self.n_columns(projections.shape[1]))
        if out is not None and out.flags.c_contiguous and out.dtype == projections.dtype:
            self.write(projections, out)
            return out
        features = np.empty(shape, projections.dtype)
        self.write(projections, features)
        if out is None:
            return features
        out[...] = features
        return out


def largest_magnitude(dtype: np.dtype, power: float) -> np.floating:
    """The magnitude whose ``power`` is the square root of the largest float: where maps saturate."""
    return dtype.type(float(np.finfo(dtype).max) ** (0.5 / max(power, 1.0)))
