"""What the estimators of one quotient share: streams, patterns."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine

from eigenfeat import FisherLDA, OrientedPCA, RayleighFeatures, SlicedInverseRegression, VanishingComponents
from eigenfeat.moments import collect_moments
from eigenfeat.quotients import CRITERIA


@pytest.mark.parametrize("make", [FisherLDA, OrientedPCA, RayleighFeatures, VanishingComponents])
def test_batches_add_up_to_the_whole(make):
    X, y = load_wine(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    streamed = make()
    for part in np.array_split(order, 5):
        streamed.partial_fit(X[part], y[part], classes=[0, 1, 2])
    whole = make().fit(X, y)
    # Raw wine: variances from 1e-2 to 1e5, of which small eigenvalues keep eight digits.
    np.testing.assert_allclose(streamed.eigenvalues_, whole.eigenvalues_, rtol=1e-7)
    expected = whole.transform(X)
    np.testing.assert_allclose(streamed.transform(X), expected, atol=1e-8 * np.abs(expected).max())


def test_a_pattern_is_what_the_component_looks_like():
    """x = a s + noise: the pattern of the component that recovers s is a, though the direction is not."""
    rng = np.random.default_rng(5)
    y = rng.integers(2, size=5000)
    a, distractor = np.array([1.0, 0.0]), np.array([1.0, 1.0])
    X = np.outer(3.0 * y, a) + np.outer(rng.normal(size=5000), distractor) + 0.1 * rng.normal(size=(5000, 2))
    model = FisherLDA().fit(X, y)
    direction, pattern = model.components_[0], model.patterns_[0]
    assert abs(pattern @ a) / np.linalg.norm(pattern) > 0.99
    assert abs(direction @ a) / np.linalg.norm(direction) < 0.9
    np.testing.assert_allclose(model.components_ @ model.patterns_.T, np.eye(1), atol=1e-8)


OF_MOMENTS = {
    "FisherLDA": FisherLDA(shrinkage="auto"),
    "OrientedPCA": OrientedPCA(3),
    "VanishingComponents": VanishingComponents(),
    "RayleighFeatures": RayleighFeatures("between", [(0.5, "within"), "identity"]),
    "SlicedInverseRegression": SlicedInverseRegression(),
}


@pytest.mark.parametrize("name", OF_MOMENTS)
def test_moments_of_partitions_merge_to_the_model_of_all_rows(name):
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(0)) / X.std(0) + 0.3
    model = clone(OF_MOMENTS[name])
    parts = [collect_moments(X[part::3], y[part::3], track_fourth=True) for part in range(3)]
    merged = parts[0].empty_copy()
    for part in parts:
        merged.merge(part)
    if name in ("OrientedPCA", "VanishingComponents"):  # they ignore labels: one class of all rows
        merged = collect_moments(X)
    from_moments, from_rows = clone(model).fit_moments(merged), model.fit(X, y)
    np.testing.assert_allclose(from_moments.transform(X), from_rows.transform(X), atol=1e-9)
    if name == "FisherLDA":
        np.testing.assert_allclose(from_moments.predict_proba(X), from_rows.predict_proba(X), atol=1e-10)


def test_what_is_no_moments_is_refused_with_the_way_out():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"got ndarray: make them with eigenfeat.moments.collect_moments"):
        FisherLDA().fit_moments(X)
    with pytest.raises(ValueError, match="at least two classes; these have seen 1 class"):
        FisherLDA().fit_moments(collect_moments(X))
    with pytest.raises(ValueError, match="track_fourth=True"):
        FisherLDA(shrinkage="auto").fit_moments(collect_moments(X, y))


def test_components_and_offsets_are_the_projection():
    X, y = load_iris(return_X_y=True)
    model = FisherLDA().fit(X, y)
    np.testing.assert_allclose(X @ model.components_.T + model.offsets_, model.transform(X), atol=1e-10)


def test_reconstruction_needs_as_many_columns_as_components():
    X, y = load_wine(return_X_y=True)
    model = FisherLDA().fit(X, y)
    with pytest.raises(ValueError, match="projections on 2 components"):
        model.inverse_transform(np.zeros((3, 4)))
    np.testing.assert_allclose(model.transform(model.inverse_transform(model.transform(X))), model.transform(X))


def test_moments_that_were_given_are_not_changed_by_later_batches():
    X, y = load_iris(return_X_y=True)
    moments = collect_moments(X, y)
    one, other = FisherLDA().fit_moments(moments), FisherLDA().fit_moments(moments)
    one.partial_fit(X[::2], y[::2])
    assert moments.counts.sum() == other.moments_.counts.sum() == 150
    assert one.moments_.counts.sum() == 225


def test_classes_that_no_row_has_are_refused_or_wait():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="no row of class 3: collect them without naming it"):
        FisherLDA().fit_moments(collect_moments(X, y, classes=np.arange(4)))
    with pytest.raises(ValueError, match="cut a continuous target into slices"):
        SlicedInverseRegression().fit_moments(collect_moments(X, np.arange(150.0)))
    early = FisherLDA(class_weighting="equal").partial_fit(X[:100], y[:100], classes=[0, 1, 2])
    pair = FisherLDA(class_weighting="equal").fit(X[:100], y[:100])
    np.testing.assert_allclose(np.abs(early.components_), np.abs(pair.components_), rtol=1e-8)


def test_a_criterion_by_name_or_function_is_the_estimator_of_that_name():
    X, y = load_iris(return_X_y=True)
    expected = FisherLDA(ridge=0.1).fit(X, y).transform(X)
    for criterion in ("fisher", lambda moments: CRITERIA["fisher"].build(moments)):
        model = RayleighFeatures(criterion=criterion, ridge=0.1, labels=callable(criterion)).fit(X, y)
        np.testing.assert_allclose(model.transform(X), expected, atol=1e-9)
        assert model.criterion_ == "fisher"
    with pytest.raises(ValueError, match=r"got 'contrast', which needs pairs of classes \(GEMFeatures\)"):
        RayleighFeatures(criterion="contrast").fit(X, y)
    with pytest.raises(ValueError, match="one of principal, vanishing, fisher, fisher_total"):
        RayleighFeatures(criterion="nothing").fit(X, y)
