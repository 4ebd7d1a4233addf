"""Columns bent by splines, as a transformer."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from eigenfeat import ColumnScaler, ColumnSplines, GEMClassifier, load, save


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(400, 3))


def test_an_additive_function_is_linear_in_the_splines_and_an_interaction_in_the_products(rows):
    additive = np.sin(2 * rows[:, 0]) + np.abs(rows[:, 1])
    interaction = np.sin(rows[:, 0] * rows[:, 1])

    def explained(products, y):
        basis = ColumnSplines(9, products=products).fit_transform(rows)
        return LinearRegression().fit(basis, y).score(basis, y)

    assert explained(False, additive) > 0.99
    assert explained(False, interaction) < 0.3
    assert explained(True, interaction) > 0.95


def test_names_say_which_column_and_which_function(rows):
    rows[:, 1] = rows[:, 1] > 0
    basis = ColumnSplines(products=True).fit(rows)
    names = basis.get_feature_names_out(["age", "sex", "height"])
    made = basis.transform(rows)
    assert len(names) == len(set(names)) == made.shape[1]
    assert list(names[:3]) == ["age", "sex", "height"]
    assert not any("sex" in name for name in names[3:])
    for name, column in zip(names[3:], made[:, 3:].T):
        if "_x_" in name:
            continue
        other = rows.copy()
        other[:, 2 if name.startswith("age") else 0] = 0  # a function of its own column alone
        np.testing.assert_array_equal(basis.transform(other)[:, list(names).index(name)], column)


def test_weights_are_repetitions_and_none_is_absence(rows):
    weights = np.random.default_rng(1).integers(0, 3, len(rows))
    weighted = ColumnSplines(products=True).fit(rows, sample_weight=weights)
    repeated = ColumnSplines(products=True).fit(np.repeat(rows, weights, axis=0))
    np.testing.assert_allclose(weighted.transform(rows), repeated.transform(rows), atol=1e-12)


def test_gem_on_splines_is_gem_after_this_map(rows):
    y = (rows[:, 0] * rows[:, 1] > 0).astype(int) + (rows[:, 2] > 1)
    plain = {"feature_map": "soft-cubic", "ridge": 0.3, "label_smoothing": 0.0, "alpha": 1e-2}
    for name, products in (("splines", False), ("products", True)):
        model = GEMClassifier(2, base_map=name, **plain).fit(rows, y)
        alone = GEMClassifier(2, base_map=None, columns=None, **plain)
        piped = make_pipeline(ColumnScaler(), ColumnSplines(products=products), alone).fit(rows, y)
        np.testing.assert_allclose(model.predict_proba(rows), piped.predict_proba(rows), atol=1e-8)


def test_a_saved_basis_makes_the_same_columns(rows, tmp_path):
    basis = ColumnSplines(products=True).fit(rows)
    again = load(save(basis, tmp_path / "basis.skops"))
    np.testing.assert_array_equal(again.transform(rows), basis.transform(rows))
