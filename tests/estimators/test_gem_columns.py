"""What GEM learns of the columns before it searches."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

import eigenfeat
from eigenfeat import GEMClassifier, load, rows, save
from eigenfeat.estimators.gem_columns import SCREENING_ROWS

N = 2600


def switches(n=N, d=14, seed=0):
    """Numbers that count where a switch is on: interactions of columns with indicators, and no more."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, 10:] = X[:, 10:] > 0
    score = 3 * (2 * X[:, 10] - 1) * X[:, 0] + 3 * (2 * X[:, 11] - 1) * X[:, 1]
    return X, (score + rng.logistic(size=n) > 0).astype(int)


def training_of(X, y, groups=None, weights=None, **parameters):
    return GEMClassifier(**parameters)._training_rows(X, y, weights, groups)


def test_pairs_are_found_and_rows_that_trials_leave_out_say_nothing_of_them():
    X, y = switches()
    groups = np.arange(N) // 2
    training = training_of(X, y, groups)
    pairs = training.telling_pairs
    assert set(pairs[:2]) == {(0, 10), (1, 11)} and len(pairs) < 6
    ((_, out),) = training.trials.splits
    garbled = y.copy()
    garbled[out] = 1 - garbled[out]
    assert training_of(X, garbled, groups).telling_pairs == pairs
    other = y.copy()
    other[np.setdiff1d(np.arange(N), out)[:800]] = 1
    assert training_of(X, other, groups).telling_pairs != pairs


def test_of_more_rows_than_are_screened_a_sample_in_any_order_tells_the_same():
    X, y = switches(SCREENING_ROWS + 2000)
    pairs = training_of(X, y).telling_pairs
    assert set(pairs[:2]) == {(0, 10), (1, 11)}
    order = np.random.default_rng(1).permutation(len(y))
    assert training_of(X[order], y[order]).telling_pairs == pairs


def test_weights_are_repetitions():
    X, y = switches()
    weights = np.random.default_rng(2).integers(1, 3, N).astype(float)
    repeats = weights.astype(int)
    weighted = training_of(X, y, weights=weights).telling_pairs
    assert training_of(np.repeat(X, repeats, axis=0), np.repeat(y, repeats)).telling_pairs == weighted
    assert training_of(X, y, weights=weights / 100).telling_pairs == weighted


def test_a_stream_finds_the_same_pairs(tmp_path):
    X, y = switches(4000)
    in_memory = GEMClassifier(3).fit(X, y)
    with eigenfeat.runtime(memory=2_000_000):
        streamed = GEMClassifier(3).fit(rows.as_rows(X, y))
    assert in_memory.choices_["base_map"] == streamed.choices_["base_map"] == "products"
    assert streamed.get_feature_names_out().tolist() == in_memory.get_feature_names_out().tolist()
    basis = next(stage for stage in in_memory.fitted_.scores.stages if hasattr(stage, "feature_map"))
    again = next(stage for stage in streamed.fitted_.scores.stages if hasattr(stage, "feature_map"))
    np.testing.assert_array_equal(basis.feature_map.pairs, again.feature_map.pairs)


def test_interactions_with_indicators_are_chosen_help_and_are_saved(tmp_path):
    X, y = switches()
    X_new, y_new = switches(4000, seed=1)
    model = GEMClassifier().fit(X, y)
    assert model.choices_["base_map"] == "products"
    truth = 3 * (2 * X_new[:, 10] - 1) * X_new[:, 0] + 3 * (2 * X_new[:, 11] - 1) * X_new[:, 1]
    least = np.mean(np.log1p(np.exp(np.where(y_new == 1, -truth, truth))))
    splines = GEMClassifier(base_map="splines").fit(X, y)
    ours, theirs = (log_loss(y_new, m.predict_proba(X_new)) for m in (model, splines))
    assert ours - least < 0.7 * (theirs - least)
    again = load(save(model, tmp_path / "model.skops"))
    np.testing.assert_array_equal(again.predict_proba(X_new), model.predict_proba(X_new))
    assert set(again.column_pairs_[:2]) == {("x0", "x10"), ("x1", "x11")}
    assert any("x0_x_x10_hat" in name for name in model._input_names([f"x{j}" for j in range(14)]))
    assert splines.column_pairs_ == [] and not hasattr(GEMClassifier(), "column_pairs_")


def test_names_of_the_columns_of_a_frame_are_those_of_the_pairs():
    X, y = switches()
    names = [f"column {j}" for j in range(14)]
    model = GEMClassifier(1, base_map="products", alpha=1e-3).fit(pd.DataFrame(X, columns=names), y)
    assert set(model.column_pairs_[:2]) == {("column 0", "column 10"), ("column 1", "column 11")}
    few = GEMClassifier(1, base_map="products", alpha=1e-3).fit(X[:500, :3], y[:500])
    assert few.column_pairs_ == [("x0", "x1"), ("x0", "x2"), ("x1", "x2")]


def test_tables_of_indicators_alone_get_products_too():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(3000, 12)).astype(float)
    y = (X[:, 0] + X[:, 1] + X[:, 2]).astype(int) % 2 ^ (rng.random(3000) < 0.05)
    assert len(training_of(X, y).telling_pairs) <= 2  # of three together no two tell anything, but by chance
    y = (X[:, 0] != X[:, 1]).astype(int) ^ ((X[:, 2] == 1) & (X[:, 3] == 1)) ^ (rng.random(3000) < 0.05)
    training = training_of(X, y)
    assert (0, 1) in training.telling_pairs
    assert training.bases_of_columns(pixels=False) == ("products",)


@pytest.mark.parametrize(("n", "d", "expected"), [(1900, 5, ("splines", "products")), (1900, 14, ("splines",))])
def test_of_few_rows_products_are_of_all_pairs_of_few_columns(n, d, expected):
    X, y = switches(n, max(d, 12))
    training = training_of(X[:, :d], y)
    assert training.telling_pairs is None
    if d == 14:
        training = training_of(np.hstack([X[:, :10], X[:, :4] ** 2]), y)
    assert training.bases_of_columns(pixels=False) == expected


def test_codes_that_share_a_unit_are_no_pixels():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(1200, 30)).astype(float)
    y = ((X[:, 0] == 1) | (X[:, 1] == 2)).astype(int)
    model = GEMClassifier().fit(X[:600], y[:600])
    assert model.columns_.are_pixels and model.choices_["base_map"] == "splines"
    assert model.score(X[600:], y[600:]) > 0.98
    blurred = X + 0.1 * rng.normal(size=X.shape) * (X > 0)
    assert GEMClassifier().fit(blurred[:600], y[:600]).choices_["base_map"] is None


def test_too_many_columns_for_surfaces_are_refused_where_they_are_asked_for():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2400, 90)), rng.integers(0, 2, 2400)
    with pytest.raises(ValueError, match="Products of all pairs of 90 columns"):
        GEMClassifier(base_map="products").fit(X, y)
    assert training_of(X, y).bases_of_columns(pixels=False) == ("splines",)
