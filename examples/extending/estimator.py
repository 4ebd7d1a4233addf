"""Estimators of one's own: one that keeps directions of a quotient, and one that leaves its value by hand."""

import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from eigenfeat.estimators.base import QuotientTransformer
from eigenfeat.estimators.edge import Estimator, ScoresMixin
from eigenfeat.estimators.validation import check_class_labels
from eigenfeat.quotients import Criterion, contrast
from eigenfeat.stages import Affine, Chain, Fitted, Softmax


def last_over_first(moments, regularisation):
    """The last class about the mean of the first, over the covariance of the first."""
    pair = (moments.n_classes - 1, 0)
    return contrast(moments, [pair], noise="covariance", regularisation=regularisation)[0]


class ContrastivePCA(QuotientTransformer):
    """Directions in which the last class varies much and the first one little.

    The base collects moments, solves, keeps ``fitted_``, ``eigenvalues_``, ``residuals_`` and ``solver_``, transforms,
    names the columns, and takes weights, sparse rows, frames and moments of other machines.
    """

    def __init__(self, n_components=None, *, ridge=0.0, shrinkage=None, solver="auto", tol=None, random_state=0):
        self.n_components = n_components
        self.ridge = ridge
        self.shrinkage = shrinkage
        self.solver = solver
        self.tol = tol
        self.random_state = random_state

    def _criterion(self):
        return Criterion("last_over_first", "last class", "covariance of the first", True, last_over_first)

    def _options(self, moments):
        return {"regularisation": self._regularisation()}


class NearestMean(ScoresMixin, Estimator):
    """A row belongs to the class with the nearest mean.

    A fit leaves a `Fitted`, chains of frozen stages; the mixin answers `decision_function`, `predict` and
    `predict_proba` from it, and the base checks what comes in.
    """

    _parameter_constraints = {}

    def fit(self, X, y):
        X, y = self._check(X, y)
        self.classes_, codes = check_class_labels(y, estimator="NearestMean")
        means = np.stack([np.asarray(X[codes == c].mean(axis=0)).ravel() for c in range(len(self.classes_))])
        scores, bias = means.T, -0.5 * (means**2).sum(axis=1)
        if len(self.classes_) == 2:  # one column: the second class against the first
            scores, bias = scores[:, 1:] - scores[:, :1], bias[1:] - bias[:1]
        self.fitted_ = Fitted(scores=Chain((Affine.of(scores, bias),)), probabilities=Softmax())
        return self


X, y = load_wine(return_X_y=True)
X = scale(X)
features = ContrastivePCA(2, ridge=0.1).fit(X, y)
print(features.eigenvalues_.round(2), [type(stage).__name__ for stage in features.fitted_.features.stages])
print(f"{NearestMean().fit(X, y).score(X, y):.2f}")
