"""What the kernel Fisher classifiers share: labels, and the cut and the probabilities made of a solution's outputs."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from eigenfeat._sklearn import Interval, Real, StrOptions
from eigenfeat.estimators.edge import ScoresMixin, flat, winners
from eigenfeat.estimators.kernel_base import KernelEstimator
from eigenfeat.estimators.validation import check_class_labels, check_weights, class_weights
from eigenfeat.kernel.probabilities import (
    PROBABILITIES,
    multinomial_logit,
    output_densities,
    output_moments,
    posterior_slope,
)
from eigenfeat.kernel.problem import KernelProblem, KernelSolution
from eigenfeat.kernel.thresholds import THRESHOLDS, one_vs_rest, thresholds
from eigenfeat.rows.block import Matrix
from eigenfeat.stages import Affine, Chain, Fitted, GaussianPosteriors, HuberPosteriors, Softmax, Stage

#: Labels are -1 and 1: outputs that differ by less tell no classes apart.
SAME_OUTPUTS = 1e-8


class KernelDiscriminant(ScoresMixin, KernelEstimator):
    """Base of the classifiers that cut the outputs of kernel discriminants."""

    threshold: str | float
    class_weight: dict | str | None
    probability: str

    _classifier_constraints: dict = {
        "threshold": [StrOptions(set(THRESHOLDS)), Interval(Real, None, None, closed="neither")],
        "class_weight": [None, dict, StrOptions({"balanced"})],
        "probability": [StrOptions(set(PROBABILITIES))],
    }

    def _labelled(self, X, y, sample_weight):
        """Rows, codes of their classes, weights, and the copies a row stands for."""
        X, y = self._check(X, y)
        copies = check_weights(sample_weight, X)
        self.classes_, codes = check_class_labels(y, copies, estimator=type(self).__name__)
        return self._weighted(X, codes, copies)

    def _weighted(self, X: Matrix, codes: np.ndarray, copies: np.ndarray | None):
        """Rows after the treatment of columns, codes, weights with those of classes, copies."""
        X = self._treated(X, copies)
        weights = np.ones(len(codes)) if copies is None else copies
        if self.class_weight is not None:
            weights = weights * class_weights(self.class_weight, self.classes_, codes, copies)
        return X, codes, weights, copies

    def _keep_rule(
        self,
        solution: KernelSolution,
        problem: KernelProblem,
        codes: np.ndarray,
        cut: float | None = None,
        slope: float | None = None,
    ) -> None:
        """Threshold, probabilities and leave-one-out results from the outputs at the training rows.

        Functions that are told apart jointly are log posteriors already: they have a ``cut``, and where it is known the
        ``slope`` of the log odds, which is found at rows left out otherwise.
        """
        expansion, outputs = self._keep_fit(solution, problem)
        if np.ptp(outputs, axis=0).max() < SAME_OUTPUTS:
            warnings.warn(
                f"The outputs of {type(self).__name__} are the same at all rows: the penalty alpha={problem.alpha:g} "
                f"outweighs the loss, a sum of total weight {problem.weights.sum():g}. Lower alpha, raise the weights, "
                "or scale the columns.",
                UserWarning,
                stacklevel=3,
            )
        weights, one_by_one = problem.weights, cut is None
        cuts = thresholds(outputs, codes, weights, self.threshold if cut is None else cut)
        self.threshold_ = cuts.astype(self.dual_coef_.dtype, copy=False)
        decision = flat(outputs - self.threshold_)
        left_out = solution.loo_outputs is not None
        self.slope_ = posterior_slope(decision, codes, weights) if slope is None else slope
        scores = Chain((*self._inputs.stages, replace(expansion, bias=self.intercept_ - self.threshold_)))
        self.logit_coef_ = self.logit_intercept_ = None
        if self.probability == "multinomial" and left_out and one_by_one and decision.ndim == 2:
            self.logit_coef_, self.logit_intercept_ = multinomial_logit(decision, codes, weights, self.slope_)
            logit = Affine.of(self.logit_coef_, self.logit_intercept_)
            scores, decision, self.slope_ = scores.then(logit), logit.apply(decision), 1.0
        self.output_moments_ = self.output_densities_ = None
        if self.probability == "gaussian" and one_by_one:
            self.output_moments_ = output_moments(outputs, one_vs_rest(codes) > 0, weights)
        elif self.probability in ("laplace", "huber") and one_by_one:
            self.output_densities_ = output_densities(outputs, one_vs_rest(codes) > 0, weights, self.probability)
        self.loo_decision_ = decision if left_out else None
        self.loo_error_ = weighted_error(decision, codes, weights) if left_out else None
        self.fitted_ = Fitted(scores=scores, probabilities=self._probabilities())

    def _probabilities(self) -> Stage:
        if self.output_densities_ is not None:
            return HuberPosteriors(self.output_densities_, shift=self.threshold_)
        if self.output_moments_ is not None:
            return GaussianPosteriors(self.output_moments_, shift=self.threshold_)
        return Softmax(self.slope_)


def weighted_error(decision: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> float:
    """Share of the weight of rows on the wrong side."""
    return float(np.average(winners(decision) != codes, weights=weights))
