"""Directions in the user's terms: projections, patterns, boxes."""

import numpy as np
from sklearn.datasets import load_diabetes, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigenfeat import (
    CommonSpatialPatterns,
    FisherLDA,
    GEMClassifier,
    GEMRegressor,
    KernelFisherClassifier,
    KernelFisherFeatures,
)
from eigenfeat.report.values.components import components, grouping, projections
from eigenfeat.report.values.subject import Rows, Subject

X, y = load_wine(return_X_y=True)


def test_patterns_are_correlations_with_the_original_columns():
    model = make_pipeline(StandardScaler(), FisherLDA()).fit(X, y)
    found = components(Subject.of(model, None, Rows.of(X, y)))
    z = model.transform(X)
    np.testing.assert_allclose(found.projections, z)
    one = found.direction(1)
    np.testing.assert_allclose(one.pattern, [np.corrcoef(x, z[:, 1])[0, 1] for x in X.T])
    assert one.eigenvalue == model[-1].eigenvalues_[1]
    assert [box.n_rows for box in one.boxes] == np.bincount(y).tolist()
    np.testing.assert_allclose([box.marks[2] for box in one.boxes], [np.median(z[y == c, 1]) for c in range(3)])
    among = np.flatnonzero(y != 0)
    few = found.direction(1, among, [1, 2])
    np.testing.assert_allclose(few.pattern, [np.corrcoef(x, z[among, 1])[0, 1] for x in X[among].T])
    assert [box.name for box in few.boxes] == ["1", "2"]


def test_without_rows_the_moments_of_the_model_tell_the_same():
    model = FisherLDA().fit(X, y)
    alone, seen = components(Subject.of(model)), components(Subject.of(model, None, Rows.of(X, y)))
    np.testing.assert_allclose(alone.direction(0).pattern, seen.direction(0).pattern, atol=1e-9)
    assert alone.direction(0).boxes == ()


def test_a_base_map_is_seen_through():
    model = GEMClassifier(2, base_map="splines", feature_map="cubic", ridge=1.0, alpha=0.1, label_smoothing=0.0)
    found = components(Subject.of(model.fit(X, y), None, Rows.of(X, y)))
    assert len(found.direction(0).pattern) == 13
    assert found.names[0] == "0 over 1, no. 1"
    assert [found.names[i].split(",")[1] for i in found.strongest(3)] == [" no. 1"] * 3


def test_kernel_features_have_patterns_too():
    model = make_pipeline(StandardScaler(), KernelFisherFeatures()).fit(X, y)
    found = components(Subject.of(model, Rows.of(X, y)))
    np.testing.assert_allclose(found.projections, model.transform(X), atol=1e-8)
    assert found.direction(0).pattern.shape == (13,)


def test_channels_have_the_patterns_of_the_model():
    rng = np.random.default_rng(0)
    trials = rng.normal(size=(40, 3, 50)) * np.array([1.0, 2.0, 3.0])[:, None]
    model = CommonSpatialPatterns(2).fit(trials, np.repeat([0, 1], 20))
    found = components(Subject.of(model, Rows.of(trials, np.repeat([0, 1], 20))))
    pattern = model.patterns_[1]
    np.testing.assert_allclose(found.direction(1).pattern, pattern / np.abs(pattern).max())
    np.testing.assert_allclose(projections(Subject.of(model), trials), model.transform(trials))


def test_fifths_of_a_continuous_target():
    X, y = load_diabetes(return_X_y=True)
    found = grouping(Subject.of(GEMRegressor()), Rows.of(X, y + 0.5))
    assert found.kind == "target" and len(found.names) == 5
    assert np.ptp(np.bincount(found.codes)) < 10
    assert grouping(Subject.of(GEMRegressor()), Rows.of(X)) is None


def test_a_sentence_where_there_are_no_directions():
    model = KernelFisherClassifier().fit(X / X.std(axis=0), y)
    assert "compares each new row with stored ones" in components(Subject.of(model))
