"""Classifiers have a confusion matrix, transformers of class pairs a matrix of eigenvalues, others nothing."""

from dataclasses import replace

from sklearn.datasets import load_iris

from eigenfeat import FisherLDA, GEMFeatures
from eigenfeat.report.drawing.patterns import PatternStyle
from eigenfeat.report.sections.confusions import confusions, pattern_words
from eigenfeat.report.values.measured import measure
from eigenfeat.report.values.subject import Subject


def test_a_classifier(measured_wine):
    section = confusions(measured_wine, PatternStyle())
    assert section.key == "confusions"
    assert "arrow keys" in section.body and 'id="pairs"' in section.body


def test_features_of_pairs_and_models_without_classes(measured_diabetes):
    X, y = load_iris(return_X_y=True)
    section = confusions(measure(Subject.of(GEMFeatures(2).fit(X, y))), PatternStyle())
    assert section.key == "pairs-of-classes" and "largest eigenvalue" in section.body
    assert confusions(measured_diabetes, PatternStyle()) is None


def test_without_rows_a_sentence():
    X, y = load_iris(return_X_y=True)
    section = confusions(measure(Subject.of(FisherLDA().fit(X, y))), PatternStyle())
    assert "needs rows with known classes" in section.body


def test_words_about_patterns(measured_wine):
    known = measured_wine.components
    assert "standardised units" in pattern_words(known, PatternStyle())
    assert "Orange" in pattern_words(known, PatternStyle(image_shape=(2, 2)))
    assert "sensors" in pattern_words(replace(known, fixed=known.projections), PatternStyle())
