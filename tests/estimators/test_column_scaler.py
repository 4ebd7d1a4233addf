"""ColumnScaler as a transformer, and columns="auto" of the GEM estimators."""

import numpy as np
import pandas as pd
import pytest
from gem_data import plain
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.kernel_approximation import RBFSampler
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import eigenfeat.rows
from eigenfeat import ColumnScaler, GEMClassifier, GEMClassifierCV, GEMFeatures, GEMRegressor, load, save

rng = np.random.default_rng(0)
CANCER = load_breast_cancer().data
MIXED = np.column_stack([CANCER, CANCER[:, 0] > 14, np.ones(len(CANCER))])
TREATMENTS = ["auto", "standardise", "common", "quantile-normal", "none"]
SMALL_GRID = {"ridges": (1.0,), "min_eigenvalues": (0.0,), "n_components_grid": (2,), "alphas": (1e-3,)}
ESTIMATORS = [GEMFeatures(2), plain(2, alpha=1e-3), GEMClassifierCV(**SMALL_GRID), GEMRegressor(2)]
every_gem = pytest.mark.parametrize("gem", ESTIMATORS, ids=lambda gem: type(gem).__name__)


def output(model, X):
    return model.predict(X) if isinstance(model, GEMRegressor) else model.transform(X)


# ------------------------------------------------------------------ the transformer


@pytest.mark.parametrize("columns", TREATMENTS)
@given(seed=st.integers(0, 2**31))
@settings(max_examples=10, deadline=None)
def test_weights_are_repetitions_and_order_does_not_matter(columns, seed):
    random = np.random.default_rng(seed)
    X, weights = MIXED[:120], random.integers(0, 4, size=120)
    expected = ColumnScaler(columns).fit(X, sample_weight=weights).transform(X)
    again = random.permutation(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(ColumnScaler(columns).fit(again).transform(X), expected, atol=1e-8)
    scaled = ColumnScaler(columns).fit(X, sample_weight=weights / 7).transform(X)
    np.testing.assert_allclose(scaled, expected, atol=1e-8)


def test_wine_is_standardised():
    X = load_wine().data
    np.testing.assert_allclose(ColumnScaler().fit_transform(X), StandardScaler().fit_transform(X), atol=1e-10)


def test_pixels_at_the_edge_are_not_blown_up():
    X = load_digits().data
    Z = ColumnScaler().fit_transform(X)
    np.testing.assert_allclose(Z, X * (Z.max() / 16), atol=1e-12)


@pytest.mark.parametrize("columns", TREATMENTS)
def test_float32_rows_give_float32_results_of_float64_rows(columns):
    scaler = ColumnScaler(columns).fit(MIXED)
    single = ColumnScaler(columns).fit(MIXED.astype(np.float32)).transform(MIXED.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, scaler.transform(MIXED), rtol=1e-4, atol=2e-3)


def test_a_stream_gives_what_the_array_gives(monkeypatch):
    monkeypatch.setattr("eigenfeat.features.columns.SAMPLE_ROWS", 100)
    monkeypatch.setattr("eigenfeat.features.columns.FEWEST_ROWS", 10)
    source = eigenfeat.rows.open(lambda: (MIXED[i : i + 50] for i in range(0, len(MIXED), 50)))
    assert not source.random_access
    by_array, by_stream = ColumnScaler().fit(MIXED), ColumnScaler().fit(source)
    np.testing.assert_allclose(by_stream.transform(source), by_array.transform(MIXED), atol=1e-10)
    np.testing.assert_allclose(
        by_stream.fitted_.features.over(source).to_array(), by_stream.transform(MIXED), atol=1e-12
    )


def test_a_sample_serves_as_well_as_all_rows(monkeypatch):
    X = rng.lognormal(size=(20_000, 3)) * [1, 100, 1e4]
    everything = ColumnScaler().fit_transform(X)
    monkeypatch.setattr("eigenfeat.features.columns.SAMPLE_ROWS", 5000)
    difference = ColumnScaler().fit_transform(X) - everything
    assert np.sqrt(np.mean(difference**2)) < 0.05


def test_rare_rows_outside_of_the_sample_do_not_make_a_column_constant(monkeypatch):
    monkeypatch.setattr("eigenfeat.features.columns.SAMPLE_ROWS", 10)
    monkeypatch.setattr("eigenfeat.features.columns.FEWEST_ROWS", 10)
    rare = np.zeros(5000)
    rare[17] = 1
    scaler = ColumnScaler().fit(np.column_stack([rare, rng.normal(size=5000)]))
    assert scaler.columns_[0].treatment == "indicator"


def test_dataframes_name_their_columns_and_override_by_name():
    frame = load_wine(as_frame=True).data
    scaler = ColumnScaler({"proline": "quantile-normal", 0: "none"}).fit(frame)
    assert scaler.columns_["proline"].treatment == "quantile-normal"
    assert scaler.columns_["alcohol"].treatment == "none"
    assert list(scaler.get_feature_names_out()) == list(frame.columns)
    np.testing.assert_array_equal(scaler.transform(frame)[:, 0], frame["alcohol"])
    assert pd.DataFrame(scaler.columns_.as_dict()).shape == (13, 6)


def test_sparse_rows_stay_sparse_and_a_dense_model_takes_them():
    counts = rng.poisson(0.5, size=(200, 12)).astype(float)
    thin = sparse.csr_array(counts)
    by_sparse = ColumnScaler().fit(thin)
    assert sparse.issparse(by_sparse.transform(thin))
    scaler = ColumnScaler("standardise").fit(counts)
    np.testing.assert_allclose(scaler.transform(thin), scaler.transform(counts))


@pytest.mark.parametrize("columns", TREATMENTS)
def test_files_keep_treatments(tmp_path, columns):
    scaler = ColumnScaler(columns).fit(MIXED)
    save(scaler, tmp_path / "scaler.skops")
    again = load(tmp_path / "scaler.skops")
    np.testing.assert_array_equal(again.transform(MIXED), scaler.transform(MIXED))
    assert str(again.columns_) == str(scaler.columns_)


# ------------------------------------------------------------------ in front of GEM


@every_gem
def test_treated_columns_are_those_of_the_transformer(gem):
    X, y = load_wine(return_X_y=True)
    scaler = ColumnScaler().fit(X)
    inside = gem.set_params(columns="auto").fit(X, y)
    assert inside.columns_.as_dict() == scaler.columns_.as_dict()
    expected = output(inside, X)
    outside = gem.set_params(columns=None).fit(scaler.transform(X), y)
    np.testing.assert_allclose(output(outside, scaler.transform(X)), expected, rtol=1e-6, atol=1e-8)
    assert outside.columns_ is None


@every_gem
@pytest.mark.parametrize("spreads", [10, 100])
def test_an_offset_does_not_matter(gem, spreads):
    X, y = load_wine(return_X_y=True)
    gem.set_params(columns="auto")
    for rows in (X, StandardScaler().fit_transform(X)):
        moved = rows + spreads * rows.std(axis=0)
        here, there = output(gem.fit(rows, y), rows), output(gem.fit(moved, y), moved)
        np.testing.assert_allclose(there, here, rtol=1e-4, atol=1e-5)


def test_wine_is_classified_whatever_its_units():
    X, y = load_wine(return_X_y=True)
    X = X * 10 ** rng.uniform(-4, 4, size=13) + rng.normal(size=13)
    X, X_new, y, y_new = train_test_split(X, y, random_state=0)
    assert GEMClassifier().fit(X, y).score(X_new, y_new) >= 0.97


def test_a_base_map_sees_treated_columns():
    X, y = load_wine(return_X_y=True)
    base_map = RBFSampler(gamma=0.05, n_components=30, random_state=0)
    model = GEMClassifier(1, base_map=base_map).fit(X, y)
    outside = GEMClassifier(1, base_map=base_map, columns=None).fit(ColumnScaler().fit_transform(X), y)
    np.testing.assert_allclose(model.transform(X), outside.transform(ColumnScaler().fit_transform(X)), atol=1e-8)
    assert model.get_feature_names_out()[0] == "base0" and model.score(X, y) > 0.97


@every_gem
def test_files_keep_the_treatment_of_columns(gem, tmp_path):
    X, y = CANCER, load_breast_cancer().target
    model = gem.set_params(columns={0: "quantile-normal"}).fit(X, y)
    save(model, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops")
    np.testing.assert_array_equal(output(again, X), output(model, X))
    assert again.columns_[0].treatment == "quantile-normal"


def test_a_stream_is_treated_as_the_array_is():
    X, y = load_wine(return_X_y=True)
    table = np.column_stack([X, y])
    source = eigenfeat.rows.open(lambda: (table[i : i + 40] for i in range(0, len(table), 40)), label=13)
    by_stream, by_array = GEMFeatures(2).fit(source), GEMFeatures(2).fit(X, y)
    np.testing.assert_allclose(by_stream.transform(X), by_array.transform(X), rtol=1e-6, atol=1e-8)


def test_moments_have_no_columns_to_treat():
    X, y = load_wine(return_X_y=True)
    moments = GEMFeatures(1).fit(X, y).moments_
    again = GEMFeatures(1).fit_moments(moments)
    assert again.columns_ is None
    Z = ColumnScaler().fit_transform(X)
    np.testing.assert_allclose(again.transform(Z), GEMFeatures(1).fit(X, y).transform(X), rtol=1e-5, atol=1e-7)


def test_a_second_fit_without_treatment_leaves_none():
    X, y = load_wine(return_X_y=True)
    model = GEMFeatures(1).fit(X, y)
    model.set_params(columns=None).fit(X, y)
    np.testing.assert_array_equal(model.transform(X), GEMFeatures(1, columns=None).fit(X, y).transform(X))
