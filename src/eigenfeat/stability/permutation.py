"""What eigenvalues look like when the labels mean nothing: refit on shuffled labels."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state

from eigenfeat.stability.null import Distinguishable

SpectrumOf = Callable[[Any, np.ndarray], np.ndarray]


def permutation_test(
    estimator: BaseEstimator | SpectrumOf,
    X: Any,
    y: Any,
    *,
    n_permutations: int = 99,
    level: float = 0.05,
    observed: np.ndarray | None = None,
    random_state: int | np.random.RandomState | None = 0,
    n_jobs: int | None = None,
) -> Distinguishable:
    """Components whose eigenvalue shuffled labels do not reach; right under any ridge and any distribution
    of the rows.

    The estimator is fitted once on (X, y) and once on (X, shuffled y) for each permutation. An eigenvalue
    is compared with the *largest* eigenvalue of every shuffled fit, so that the chance of calling anything
    distinguishable when the labels mean nothing is at most ``level``, however many components and class
    pairs there are: ``p = (1 + #{shuffled fits whose largest eigenvalue is as large}) / (1 +
    n_permutations)``.

    Parameters
    ----------
    estimator : unfitted estimator with ``eigenvalues_``, or callable ``(X, y) -> eigenvalues``
        Supervised; it is cloned.
    X, y
        Rows, and labels or targets.
    n_permutations : int
        The smallest p-value possible is ``1 / (1 + n_permutations)``.
    level : float
        Chance of a false discovery that one accepts.
    observed : (r,) array, optional
        Eigenvalues to judge: those of a model that is there already. By default those of a fit to (X, y).
    random_state : int, RandomState or None
        The result does not depend on ``n_jobs``.
    n_jobs : int, optional
        Fits at a time.

    Returns
    -------
    Distinguishable

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from eigenfeat.stability import permutation_test
    >>> def between_over_total(X, y):
    ...     X = X - X.mean(axis=0)
    ...     means = np.vstack([X[y == c].mean(axis=0) * np.sqrt((y == c).mean()) for c in np.unique(y)])
    ...     return np.linalg.eigvals(np.linalg.solve(X.T @ X / len(X), means.T @ means)).real[:2]
    >>> X, y = load_iris(return_X_y=True)
    >>> permutation_test(between_over_total, X, y, random_state=0).n_distinguishable
    2
    """
    if y is None:
        raise ValueError("permutation_test shuffles labels, so y must be given; got y=None")
    if n_permutations < 1 / level - 1:
        raise ValueError(
            f"n_permutations={n_permutations} cannot give a p-value of level={level}: "
            f"use at least {int(np.ceil(1 / level - 1))}"
        )
    y = np.asarray(y)
    observed = np.asarray(_spectrum(estimator, X, y) if observed is None else observed, dtype=np.float64)
    seeds = check_random_state(random_state).randint(np.iinfo(np.int32).max, size=n_permutations)
    largest = np.array(Parallel(n_jobs=n_jobs)(delayed(_largest_of_shuffled)(estimator, X, y, seed) for seed in seeds))
    reached = (largest[None, :] >= observed[:, None]).sum(axis=1)
    interval = (0.0, float(np.quantile(largest, 1 - level)))
    p_values = (1 + reached) / (1 + n_permutations)
    return Distinguishable(observed, p_values, level, interval, "label permutation")


def _largest_of_shuffled(estimator: BaseEstimator | SpectrumOf, X: Any, y: np.ndarray, seed: int) -> float:
    shuffled = y[np.random.default_rng(seed).permutation(len(y))]
    with warnings.catch_warnings():
        # Shuffled labels often leave fewer components than asked for; that is the point, not news.
        warnings.simplefilter("ignore")
        return float(np.max(_spectrum(estimator, X, shuffled), initial=-np.inf))


def _spectrum(estimator: BaseEstimator | SpectrumOf, X: Any, y: np.ndarray) -> np.ndarray:
    if isinstance(estimator, BaseEstimator):
        return clone(estimator).fit(X, y).eigenvalues_
    return estimator(X, y)
