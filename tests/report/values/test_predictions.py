"""A training score is never a result: rows of the fit are known again, or left out by cross-validation."""

import numpy as np
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigenfeat import FisherLDA, GEMClassifier, OrientedPCA
from eigenfeat.report.values.predictions import predictions
from eigenfeat.report.values.subject import Rows, Subject

X, y = load_wine(return_X_y=True)


def test_unseen_rows_are_asked_as_they_are(wine):
    found = predictions(wine)
    assert not found.seen
    np.testing.assert_array_equal(found.predicted, wine.model.predict(wine.test.X))
    np.testing.assert_allclose(found.probabilities, wine.model.predict_proba(wine.test.X))


def test_rows_of_the_fit_are_known_again():
    assert predictions(Subject.of(FisherLDA().fit(X, y), Rows.of(X, y))).seen
    assert not predictions(Subject.of(FisherLDA().fit(X[::2], y[::2]), Rows.of(X[1::2], y[1::2]))).seen
    gem = GEMClassifier(2, base_map=None, feature_map="cubic", ridge=1.0, alpha=0.1, label_smoothing=0.0).fit(X, y)
    assert predictions(Subject.of(gem, Rows.of(X, y))).seen
    rows = Rows.of(X, y)
    assert predictions(Subject.of(make_pipeline(StandardScaler(), FisherLDA()).fit(X, y), rows, rows)).seen


def test_training_rows_alone_are_cross_validated():
    rng = np.random.default_rng(0)
    noise, labels = rng.normal(size=(60, 40)), np.repeat(["a", "b"], 30)
    model = FisherLDA().fit(noise, labels)
    found = predictions(Subject.of(model, None, Rows.of(noise, labels)))
    assert not found.seen
    assert "parts" in found.how
    assert np.mean(model.predict(noise) == labels) >= 0.9 > 0.75 > np.mean(found.predicted == labels)
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1)


def test_nothing_is_predicted_without_targets_or_by_features():
    assert predictions(Subject.of(FisherLDA().fit(X, y), Rows.of(X))) is None
    assert predictions(Subject.of(OrientedPCA(2).fit(X), Rows.of(X, y))) is None
