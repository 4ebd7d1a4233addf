"""Rows that the tests of the kernel estimators share."""

import numpy as np
from sklearn.datasets import load_digits, make_moons

from eigenfeat import KernelFisherClassifier, KernelFisherClassifierCV, KernelFisherFeatures, KernelFisherRegressor

X, Y = make_moons(200, noise=0.2, random_state=0)
TEST, TEST_LABELS = make_moons(100, noise=0.2, random_state=1)
DIGITS, LABELS = load_digits(return_X_y=True)
DIGITS, LABELS = DIGITS[:600] / 16, LABELS[:600]

_RNG = np.random.RandomState(0)
CLOUD = _RNG.randn(80, 2)
CLOUD_LABELS = (CLOUD[:, 0] + 0.5 * _RNG.randn(80) > 0).astype(int)


def shift(rows):
    return rows + np.array([0.0, 0.2])


def rotate(rows):
    c, s = np.cos(0.1), np.sin(0.1)
    return rows @ np.array([[c, s], [-s, c]])


def kfd(*kernel, **settings):
    """The classifier of the problem as it is written down: rows as given, alpha one, one slope of the log odds."""
    return KernelFisherClassifier(*kernel, **{"columns": None, "alpha": 1.0, "probability": "logistic", **settings})


def kfd_search(*grid, **settings):
    return KernelFisherClassifierCV(*grid, **{"columns": None, "probability": "logistic", **settings})


def kfd_features(*n_components, **settings):
    return KernelFisherFeatures(*n_components, **{"columns": None, "alpha": 1.0, **settings})


def kfd_regressor(*kernel, **settings):
    return KernelFisherRegressor(*kernel, **{"columns": None, "alpha": 1.0, **settings})
