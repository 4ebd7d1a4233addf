"""Plots show the numbers of the model."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics import confusion_matrix

from eigenfeat import FisherLDA, GEMClassifier, GEMClassifierCV, GEMFeatures, GEMRegressor
from eigenfeat.report import (
    plot_components,
    plot_confusion,
    plot_pairs,
    plot_projection,
    plot_reliance,
    plot_spectrum,
)
from eigenfeat.report.plots import component_groups, guess_image_shape, project


class Pairs:
    """What a model of several class pairs offers to the plots."""

    classes_ = np.array(["a", "b", "c"])
    pairs_ = [("a", "b"), ("a", "b"), ("b", "a"), ("c", "a"), ("c", "a")]
    eigenvalues_ = np.array([9.0, 4.0, 3.0, 100.0, 5.0])
    components_ = np.eye(5, 16)
    n_features_in_ = 16


def test_spectrum_bars_are_the_eigenvalues(iris):
    model = iris[0]
    ax = plot_spectrum(model)
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches], model.eigenvalues_)


def test_several_pairs_are_drawn_apart():
    assert {k: v.tolist() for k, v in component_groups(Pairs()).items()} == {
        "a vs b": [0, 1],
        "b vs a": [2],
        "c vs a": [3, 4],
    }
    ax = plot_spectrum(Pairs())
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["c vs a", "a vs b", "b vs a"]
    grid = plot_pairs(Pairs()).images[0].get_array().filled(np.nan)
    np.testing.assert_allclose(grid, [[np.nan, 9, np.nan], [3, np.nan, np.nan], [100, np.nan, np.nan]])


def test_directions_become_images_where_features_are_pixels(digits, iris):
    model = digits[0]
    axes = plot_components(model, [2, 0])
    np.testing.assert_allclose(axes[0].images[0].get_array(), model.components_[2].reshape(8, 8))
    assert guess_image_shape(iris[0]) is None
    bars = plot_components(iris[0], [0])[0]
    order = np.argsort(np.abs(iris[0].components_[0]))
    assert [t.get_text() for t in bars.get_yticklabels()] == list(iris[0].feature_names_in_[order])
    patterns = plot_components(model, [1], kind="patterns", image_shape=(4, 16))
    np.testing.assert_allclose(patterns[0].images[0].get_array(), model.patterns_[1].reshape(4, 16))


@pytest.mark.parametrize(
    "model",
    [
        GEMFeatures(1),
        GEMFeatures(1, subclasses=2),
        GEMClassifier(1, alpha=1.0),
        GEMClassifierCV(ridges=(1.0,), min_eigenvalues=(0.0,), n_components_grid=(1,), alphas=(1.0,)),
        GEMRegressor(2, n_slices=4),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_gem_has_patterns_to_draw(model):
    X, y = load_digits(n_class=3, return_X_y=True)
    model.fit(X[:200] / 16, y[:200])
    axes = plot_components(model, [0, 3], kind="patterns")
    np.testing.assert_allclose(axes[1].images[0].get_array(), model.patterns_[3].reshape(8, 8))
    if hasattr(model, "classes_"):
        grid = plot_pairs(model).images[0].get_array().filled(np.nan)
        assert np.array_equal(np.isnan(grid), np.eye(3, dtype=bool))


def test_image_shape_is_read_from_names():
    X, y = load_digits(return_X_y=True, as_frame=True)
    model = FisherLDA(ridge=0.1).fit(X.iloc[:, :40], y)
    assert guess_image_shape(model) == (5, 8)


def test_boxes_are_drawn_about_the_medians_of_the_projection(iris):
    model, X, y = iris
    ax = plot_projection(model, X, y, component=1)
    medians = sorted({float(line.get_ydata()[0]) for line in ax.lines if line.get_color() == "white"})
    projected = model.transform(X)[:, 1]
    np.testing.assert_allclose(medians, sorted(np.median(projected[y == c]) for c in range(3)), atol=1e-12)
    np.testing.assert_allclose(project(model, X, [0, 1]), model.transform(X))


def test_confusion_matrix_shows_the_counts(digits):
    model, X, y = digits
    predicted = model.predict(X)
    ax = plot_confusion(y, predicted)
    shown = np.zeros((10, 10), dtype=int)
    for text in ax.texts:
        j, i = map(int, text.get_position())
        shown[i, j] = int(text.get_text())
    np.testing.assert_array_equal(shown, confusion_matrix(y, predicted))


def test_reliance_is_drawn_by_direction_and_by_pair():
    class Relied(Pairs):
        def reliance(self, X):
            pairs = np.array([["a", "b"], ["a", "b"], ["b", "a"], ["c", "a"], ["c", "a"]])
            return np.array([0.1, 0.2, 0.3, 0.25, 0.15]), pairs

    bars = plot_reliance(Relied(), None)
    assert [bar.get_width() for bar in bars.patches] == pytest.approx([10, 15, 20, 25, 30])
    assert bars.get_yticklabels()[2].get_text() == "a vs b, no. 2"
    grid = plot_reliance(Relied(), None, by="pair").images[0].get_array().filled(np.nan)
    np.testing.assert_allclose(grid, [[np.nan, 30, np.nan], [30, np.nan, np.nan], [40, np.nan, np.nan]])


def test_projections_are_of_the_components_whatever_stands_before_them():
    X, y = load_iris(return_X_y=True)
    for base_map in (None, "splines", "products"):
        options = {"feature_map": "soft-cubic", "ridge": 0.3, "alpha": 1e-2, "label_smoothing": 0.0}
        model = GEMClassifier(2, base_map=base_map, **options).fit(X[::2], y[::2])
        expected = model._inputs.at(X) @ model.components_.T + model.offsets_
        np.testing.assert_allclose(project(model, X, [0, 5]), expected[:, [0, 5]], atol=1e-10)
