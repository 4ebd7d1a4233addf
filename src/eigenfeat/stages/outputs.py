"""From scores to probabilities, and from several models to one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import erf, log_softmax

from eigenfeat.rows.block import Matrix
from eigenfeat.stages.stage import Stage


@dataclass(frozen=True, eq=False)
class Softmax(Stage):
    """``log softmax(temperature · s)``; a single column of scores is the log odds of the second of two classes."""

    temperature: float = 1.0

    def apply(self, rows: Matrix) -> np.ndarray:
        return log_softmax(rows.dtype.type(self.temperature) * both_classes(rows), axis=1)

    def n_columns(self, n_inputs: int) -> int:
        return max(2, n_inputs)


@dataclass(frozen=True, eq=False)
class GaussianPosteriors(Stage):
    r"""Log posteriors by Bayes' theorem with a Gaussian density an output and side.

    .. math:: P(+ | q) = \frac{\pi_+ N(q; \mu_+, \sigma_+^2)}{\pi_+ N(q; \mu_+, \sigma_+^2) +
              \pi_- N(q; \mu_-, \sigma_-^2)}

    Of several outputs, one against the rest each, the odds are scaled to probabilities that sum to one.

    Parameters
    ----------
    moments : (n_outputs, 2, 3) array
        Mean, variance and prior of every output on its negative and on its positive side.
    shift : (n_outputs,) array
        Added to the rows to get the outputs the moments are of: decision values are outputs less a threshold.
    """

    moments: np.ndarray
    shift: np.ndarray

    def apply(self, rows: Matrix) -> np.ndarray:
        mean, variance, prior = (self.moments[..., k] for k in range(3))
        q = (rows + self.shift).astype(np.float64)[:, :, None]
        log_joint = np.log(prior) - np.log(variance) / 2 - (q - mean) ** 2 / (2 * variance)
        return log_softmax(both_classes(log_joint[..., 1] - log_joint[..., 0]), axis=1)

    def n_columns(self, n_inputs: int) -> int:
        return max(2, n_inputs)


@dataclass(frozen=True, eq=False)
class HuberPosteriors(Stage):
    r"""Log posteriors by Bayes' theorem with a density of Huber's loss an output and side (KFD thesis, table 2.1).

    .. math:: p(q) = \frac{1}{s Z(\sigma)} \exp(-\ell_\sigma((q - m) / s)), \quad
              Z(\sigma) = \sqrt{2 \pi \sigma}\, \mathrm{erf}\sqrt{\sigma / 2} + 2 e^{-\sigma / 2}

    with ``ℓ = ξ²/2σ`` up to σ and ``|ξ| - σ/2`` beyond: Laplace's density for σ = 0, towards a Gaussian for a large σ.

    Parameters
    ----------
    densities : (n_outputs, 2, 4) array
        m, s, σ and prior of every output on its negative and on its positive side.
    shift : (n_outputs,) array
        As in `GaussianPosteriors`.
    """

    densities: np.ndarray
    shift: np.ndarray

    def apply(self, rows: Matrix) -> np.ndarray:
        middle, scale, bend, _ = np.moveaxis(self.densities, -1, 0)
        size = np.abs((rows + self.shift).astype(np.float64)[:, :, None] - middle) / scale
        inside = np.minimum(size, bend)
        log_joint = self.levels - (size - inside + inside**2 * self.halves)
        return log_softmax(both_classes(log_joint[..., 1] - log_joint[..., 0]), axis=1)

    @property
    def levels(self) -> np.ndarray:
        """``log π - log s - log Z`` of every output and side."""
        _, scale, bend, prior = np.moveaxis(self.densities, -1, 0)
        return np.log(prior) - np.log(scale) - np.log(huber_normaliser(bend))

    @property
    def halves(self) -> np.ndarray:
        """``1/2σ``; of σ = 0, where it multiplies zero, nothing."""
        bend = self.densities[..., 2]
        return np.divide(0.5, bend, out=np.zeros_like(bend), where=bend > 0)

    def n_columns(self, n_inputs: int) -> int:
        return max(2, n_inputs)


def huber_normaliser(bend: np.ndarray) -> np.ndarray:
    """Z(σ), the integral of exp(-ℓ)."""
    return np.sqrt(2 * np.pi * bend) * erf(np.sqrt(bend / 2)) + 2 * np.exp(-bend / 2)


@dataclass(frozen=True, eq=False)
class GeometricMean(Stage):
    """The geometric mean of the members' probabilities, normalised, as logarithms.

    Parameters
    ----------
    members : tuple of Stage
        Each from rows to logarithms of probabilities.
    """

    members: tuple[Stage, ...]

    def apply(self, rows: Matrix) -> np.ndarray:
        total = self.members[0].apply(rows)
        for member in self.members[1:]:
            total = total + member.apply(rows)
        return log_softmax(total / total.dtype.type(len(self.members)), axis=1)

    def n_columns(self, n_inputs: int) -> int:
        return self.members[0].n_columns(n_inputs)

    def widest(self, n_inputs: int) -> int:
        return max(member.widest(n_inputs) for member in self.members)

    def astype(self, dtype: np.dtype) -> GeometricMean:
        return replace(self, members=tuple(member.astype(dtype) for member in self.members))


@dataclass(frozen=True, eq=False)
class EstimatorScores(Stage):
    """What a method of any fitted scikit-learn estimator returns, as columns.

    Parameters
    ----------
    estimator : fitted estimator
    method : str
        "predict_log_proba", "decision_function", ...
    width : int
        Columns it makes.
    """

    estimator: Any
    method: str
    width: int

    def apply(self, rows: Matrix) -> np.ndarray:
        values = np.asarray(getattr(self.estimator, self.method)(rows))
        return values.reshape(len(values), -1)

    def n_columns(self, n_inputs: int) -> int:
        return self.width


def both_classes(scores: np.ndarray) -> np.ndarray:
    """Scores with a column a class: a single one is that of the second class, beside zeros for the first."""
    return np.column_stack([np.zeros_like(scores), scores]) if scores.shape[1] == 1 else scores
