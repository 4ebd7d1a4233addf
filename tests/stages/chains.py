"""Chains of all kinds of stages, for the laws every stage obeys."""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from eigenfeat.features.maps import as_feature_map
from eigenfeat.moments import GramCache
from eigenfeat.solvers import DualVectors
from eigenfeat.stages import (
    Affine,
    BaseMap,
    Beside,
    Chain,
    EstimatorScores,
    FeatureLayer,
    GaussianPosteriors,
    GeometricMean,
    KernelExpansion,
    Softmax,
    WithConstant,
)
from eigenfeat.stages.kernels import Kernel

D = 5
rng = np.random.default_rng(0)
X = rng.normal(size=(60, D))
V, W, b = rng.normal(size=(D, 3)), rng.normal(size=(D, 3)), rng.normal(size=3)


def dual_vectors() -> DualVectors:
    return DualVectors(GramCache(X[:10].copy()), np.array([1, 4, 7]), rng.normal(size=(3, 3)))


SOFTMAX = Chain((Affine.of(V, b), Softmax(0.7)))
CHAINS = {
    "nothing": Chain(),
    "affine": Chain((Affine.of(V, b),)),
    "affine over rows": Chain((Affine(dual_vectors(), b),)),
    "constant": Chain((WithConstant(), Affine.of(np.vstack([V, b])))),
    "base": Chain((BaseMap.of(StandardScaler().fit(X), X), Affine.of(V))),
    "layer": Chain((FeatureLayer(Affine.of(V, b), as_feature_map("soft-cubic")),)),
    "layer beside inputs": Chain((FeatureLayer(Affine.of(V), as_feature_map("square"), np.linspace(0, 1, D)),)),
    "kernel": Chain((KernelExpansion(Kernel("rbf", 0.3), X[:7], rng.normal(size=(7, 2)), np.ones(2)),)),
    "softmax": SOFTMAX,
    "posteriors": Chain((Affine.of(V), GaussianPosteriors(rng.uniform(0.2, 1, size=(3, 2, 3)), np.ones(3)))),
    "mean": Chain((GeometricMean((SOFTMAX, Chain((Affine.of(W), Softmax())))),)),
    "any estimator": Chain((EstimatorScores(LogisticRegression().fit(X, np.arange(60) % 3), "predict_log_proba", 3),)),
    "beside": Chain((Beside((Affine.of(V), Chain((WithConstant(),)), SOFTMAX)),)),
}
