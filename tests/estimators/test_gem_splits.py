"""The splits of a search over a stream, and so its choice, are those of its rows in memory."""

import numpy as np
import pytest
from gem_data import echoes
from sklearn.base import clone

import eigenfeat
import eigenfeat.rows
from eigenfeat import GEMClassifierCV

X, Y, _ = echoes(150, 2)
W = np.random.default_rng(1).exponential(size=len(X))
GRID = {"ridges": (0.1, 1.0), "min_eigenvalues": (0.0, 1.5), "n_components_grid": (2,), "alphas": (1e-2, 1e-1)}


def batches():
    for start in range(0, len(X), 70):
        chosen = slice(start, start + 70)
        yield X[chosen], Y[chosen], W[chosen]


@pytest.mark.parametrize(
    "options",
    [
        {"cv": 2, "scoring": "neg_log_loss", "class_weight": "balanced"},
        {"cv": 0.3, "feature_maps": ("spline", "soft-cubic"), "n_layers_grid": (1, 2), "label_smoothings": (0.0, 0.2)},
    ],
    ids=["folds", "one split"],
)
def test_a_search_over_a_stream_is_that_over_its_rows(options):
    search = GEMClassifierCV(**GRID, **options)
    expected = clone(search).fit(X, Y, W)
    with eigenfeat.runtime("1kB") as run:
        found = clone(search).fit(eigenfeat.rows.open(batches))
    assert "scores of rows held out" in {done.stage for done in run.passes}
    assert found.best_params_ == expected.best_params_ and {"moments", "directions"} <= set(found.stage_seconds_)
    for name in ("mean_test_score", "std_test_score"):
        np.testing.assert_allclose(found.cv_results_[name], expected.cv_results_[name], atol=1e-9)
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=1e-9)


def test_groups_stay_with_rows_in_memory():
    with pytest.raises(ValueError, match="groups goes with rows in memory"):
        GEMClassifierCV(**GRID).fit(eigenfeat.rows.open(batches), groups=Y)
