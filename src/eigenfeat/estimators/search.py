"""Results of a search over candidates, in scikit-learn's sense: the one owner of ``cv_results_`` and of ties."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata


def search_results(params: list[dict[str, Any]], scores: np.ndarray) -> dict[str, Any]:
    """The ``cv_results_`` of candidates and their scores, larger being better.

    Parameters
    ----------
    params : list of dict
        The candidates; all have the same names.
    scores : (n_candidates, n_splits) array

    Returns
    -------
    dict
        ``params``, ``param_x`` for every name x, ``splitN_test_score`` for every split N, ``mean_test_score``,
        ``std_test_score`` and ``rank_test_score``: 1 for the best and all that equal it up to rounding.

    Examples
    --------
    >>> results = search_results([{"alpha": 1.0}, {"alpha": 0.1}], np.array([[0.5, 0.7], [0.9, 0.7]]))
    >>> results["param_alpha"], results["rank_test_score"]
    (array([1. , 0.1]), array([2, 1], dtype=int32))
    """
    scores = np.asarray(scores, dtype=np.float64)
    mean = scores.mean(axis=1)
    results: dict[str, Any] = {f"param_{name}": _column([p[name] for p in params]) for name in params[0]}
    results["params"] = params
    results |= {f"split{s}_test_score": scores[:, s] for s in range(scores.shape[1])}
    results["mean_test_score"], results["std_test_score"] = mean, scores.std(axis=1)
    # The mean of the same scores in another order may differ in its last digit: that is no difference.
    rounded = np.array([float(f"{value:.12g}") for value in mean])
    results["rank_test_score"] = rankdata(-rounded, method="min").astype(np.int32)
    return results


def keep_search(
    estimator: Any, params: list[dict[str, Any]], scores: np.ndarray, ties: np.ndarray | None = None
) -> dict[str, Any]:
    """Set ``cv_results_``, ``best_index_``, ``best_score_`` and ``best_params_``, which is returned.

    Parameters
    ----------
    estimator : object
        What the attributes are set on.
    params, scores
        As in `search_results`.
    ties : (n_candidates,) array, optional
        Of candidates of equal rank that of the smallest number here is the best: minus a weight of the penalty takes
        the most regularised. The first of those that are equal here too, or where nothing is given.
    """
    results = search_results(params, scores)
    second = np.zeros(len(params)) if ties is None else ties
    best = int(np.lexsort((second, results["rank_test_score"]))[0])
    estimator.cv_results_, estimator.best_index_ = results, best
    estimator.best_score_, estimator.best_params_ = float(results["mean_test_score"][best]), params[best]
    return params[best]


def _column(values: list[Any]) -> np.ndarray:
    """Values of one parameter as a vector; of objects where they are not of one simple kind."""
    if all(isinstance(value, int | float | str | np.generic) for value in values):
        return np.array(values)
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column
