"""Everything is measured once, or a sentence says why not."""

from sklearn.datasets import load_iris

from eigenfeat import FisherLDA, GEMFeatures
from eigenfeat.report.values.measured import measure
from eigenfeat.report.values.subject import Subject


def test_a_classifier_with_all_rows_has_everything(measured_wine):
    assert measured_wine.classification.n_rows == measured_wine.subject.test.n_rows
    assert measured_wine.regressions == []
    for value in (measured_wine.importance, measured_wine.components, measured_wine.noise, measured_wine.learning):
        assert not isinstance(value, str)
    assert measured_wine.calibration is not None
    # One λ everywhere: the one of the model.
    assert measured_wine.noise.found.values.tolist() == measured_wine.components.eigenvalues.tolist()


def test_a_regressor(measured_diabetes):
    assert measured_diabetes.classification is None and len(measured_diabetes.regressions) == 1


def test_a_model_alone():
    X, y = load_iris(return_X_y=True)
    found = measure(Subject.of(FisherLDA().fit(X, y)))
    assert found.predictions is None
    assert "known answers" in found.importance and "known answers" in found.learning
    assert "predicts nothing" in measure(Subject.of(GEMFeatures(1).fit(X, y))).importance
