"""GEM on continuous targets."""

import numpy as np
import pytest
from sklearn.datasets import load_linnerud, make_friedman1
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigenfeat import GEMFeatures, GEMRegressor


def test_the_regressor_finds_what_a_line_cannot():
    X, y = make_friedman1(700, noise=0.5, random_state=0)
    model = make_pipeline(StandardScaler(), GEMRegressor()).fit(X[:500], y[:500])
    assert model.score(X[500:], y[500:]) > Ridge().fit(X[:500], y[:500]).score(X[500:], y[500:]) + 0.1
    X, Y = load_linnerud(return_X_y=True)
    both = GEMRegressor(n_components=1, n_slices=2).fit(X, Y)
    assert both.predict(X).shape == Y.shape
    assert both.contractions_.shape == (3, 3)
    with pytest.raises(ValueError, match="target that varies"):
        GEMRegressor().fit(X, np.ones(len(X)))


def test_it_is_ridge_on_the_features_of_slices():
    X, y = make_friedman1(300, random_state=0)
    model = GEMRegressor(2, n_slices=3, alpha=1.0).fit(X, y)
    slices = np.searchsorted(np.quantile(y, [1 / 3, 2 / 3]), y, side="right")
    F = GEMFeatures(2).fit(X, slices).transform(X)
    np.testing.assert_allclose(model.fitted_.features.at(X), F, atol=1e-10)
    reference = make_pipeline(StandardScaler(), Ridge(alpha=1.0)).fit(F, y)
    np.testing.assert_allclose(model.predict(X), reference.predict(F), atol=1e-8)
    np.testing.assert_allclose(model.predict(X), F @ model.coef_ + model.intercept_, atol=1e-8)


def test_inputs_are_kept_once_for_all_contractions():
    X, Y = load_linnerud(return_X_y=True)
    model = GEMRegressor(1, n_slices=2, constant=True).fit(X, Y)
    n_directions = sum(stack.layers[0].directions.n_directions for stack in model.stacks_)
    assert len(model.stacks_) == 3
    assert model.coef_.shape == (3, X.shape[1] + 1 + 6 * n_directions)
    np.testing.assert_allclose(model.predict(X), model.fitted_.features.at(X) @ model.coef_.T + model.intercept_)
