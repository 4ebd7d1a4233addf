"""What a search over candidates leaves behind, in scikit-learn's words."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata


def search_results(params: list[dict], scores: np.ndarray) -> dict[str, Any]:
    """``cv_results_`` of a search.

    Parameters
    ----------
    params : list of dict
        The candidates.
    scores : (n_candidates, n_splits) array
        Larger is better.

    Returns
    -------
    dict
        "params", "param_<name>" (masked where a candidate does not have it), "split<k>_test_score",
        "mean_test_score", "std_test_score" and "rank_test_score" (1 is best, equals share the smaller rank).
    """
    results: dict[str, Any] = {"params": params}
    for name in dict.fromkeys(name for candidate in params for name in candidate):
        values = np.array([candidate.get(name) for candidate in params])
        results[f"param_{name}"] = np.ma.MaskedArray(values, mask=[name not in candidate for candidate in params])
    results |= {f"split{k}_test_score": column for k, column in enumerate(scores.T)}
    results["mean_test_score"] = scores.mean(axis=1)
    results["std_test_score"] = scores.std(axis=1)
    results["rank_test_score"] = rankdata(-results["mean_test_score"], method="min").astype(np.int32)
    return results
