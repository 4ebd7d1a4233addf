"""Every fitted model as a graph: what ONNX Runtime makes of rows is what the model makes of them."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, is_regressor
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem, RBFSampler, SkewedChi2Sampler
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import eigenfeat
from eigenfeat import (
    CommonSpatialPatterns,
    FisherLDA,
    GEMClassifier,
    GEMFeatures,
    KernelFisherClassifier,
    LeastSquaresCCA,
    LeastSquaresLDA,
)
from eigenfeat.export import to_onnx

onnxruntime = pytest.importorskip("onnxruntime")

SMALL = {"DenoisingAutoencoder": {"n_hidden": 4, "max_iter": 20}, "GEMClassifierCV": {"ridges": [0.1], "cv": 2}}
SMALL["ScoreTensorFeatures"] = {"n_components": 3, "n_init": 1, "n_restarts": 20}
NO_CHAIN = {"GaussianMixtureScore", "TableEncoder"}
ESTIMATORS = [
    cls
    for name, cls in inspect.getmembers(eigenfeat, inspect.isclass)
    if issubclass(cls, BaseEstimator) and not inspect.isabstract(cls) and name not in NO_CHAIN
]
VERBS = {"features": "transform", "predictions": "predict", "probabilities": "predict_proba", "label": "predict"}


def rows_for(model):
    if model.__sklearn_tags__().input_tags.three_d_array:
        rng = np.random.default_rng(0)
        y = np.arange(45) % 3
        X = rng.normal(size=(45, 4, 50))
        X[np.arange(45), y] *= 2
        return X, y
    X, y = load_iris(return_X_y=True)
    X, y = X[::2], y[::2]
    return X, X[:, 0] + 0.1 * y if is_regressor(model) else y


def run(model, X, **options):
    session = onnxruntime.InferenceSession(to_onnx(model, **options).SerializeToString())
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": X})))


def assert_equal(model, X, tolerance=1e-5, **options):
    found = run(model, X, **options)
    assert found
    for name, value in found.items():
        if name == "decision":
            continue
        expected = getattr(model, VERBS[name])(X)
        if name == "label":
            np.testing.assert_array_equal(value, expected)
        else:
            expected = np.asarray(expected).reshape(len(X), -1)
            np.testing.assert_allclose(value, expected, atol=tolerance * max(1, np.abs(expected).max()), rtol=0)


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_every_estimator(cls):
    model = cls(**SMALL.get(cls.__name__, {}))
    X, y = rows_for(model)
    shape = {"shape": X.shape[1:]} if X.ndim == 3 else {}
    assert_equal(fitted(model, X, y), X, tolerance=1e-9, **shape)


CONFIGURATIONS = {
    "kernel": LeastSquaresLDA(kernel="laplacian", alpha=1.0),
    "nystroem": GEMClassifier(2, base_map=Nystroem(n_components=20, random_state=0)),
    "two layers": GEMClassifier(2, n_layers=2),
    "ensemble": GEMClassifier(2, n_estimators=2),
    "random features": GEMClassifier(2, base_map=RBFSampler(n_components=20, random_state=0)),
    "own classifier": GEMClassifier(2, classifier=LogisticRegression()),
    "normal columns": GEMClassifier(2, columns="quantile-normal"),
    "gaussian posteriors": KernelFisherClassifier(probability="gaussian"),
    "distance kernel": KernelFisherClassifier("distance"),
    "multiquadric kernel": KernelFisherClassifier("multiquadric"),
    "laplace posteriors": KernelFisherClassifier(probability="laplace"),
    "huber posteriors": KernelFisherClassifier(probability="huber"),
    "two sides": LeastSquaresCCA(alpha=1.0),
    "pipeline": make_pipeline(SimpleImputer(), StandardScaler(), PCA(3), FisherLDA()),
    "our scaler": make_pipeline(eigenfeat.ColumnScaler(), LeastSquaresLDA()),
}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_other_ways(name):
    X, y = load_iris(return_X_y=True)
    X, y = X[::2], y[::2]
    y = np.column_stack([y, X[:, 0]]) if name == "two sides" else y
    assert_equal(fitted(CONFIGURATIONS[name], X, y), X)


def test_two_classes_words_and_single_precision():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:].astype(np.float32), np.array(["setosa", "versicolor", "virginica"])[y[50:]]
    for model in (FisherLDA(), KernelFisherClassifier()):
        assert_equal(fitted(model, X, y), X, tolerance=1e-4, dtype=np.float32)


def test_a_bank_of_filters():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 3, 120)), np.arange(40) % 2
    X[y == 1, 0] *= 2
    model = CommonSpatialPatterns(2, bands=[(4.0, 8.0), (8.0, 16.0)], sampling_rate=64.0).fit(X, y)
    assert_equal(model, X, shape=(3, 120))


def test_a_file_is_written(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = FisherLDA().fit(X, y)
    to_onnx(model, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    np.testing.assert_array_equal(session.run(["label"], {"X": X})[0], model.predict(X))


def test_what_cannot_be_written_is_refused_with_the_reason():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="leaves no chain of stages"):
        to_onnx(PCA().fit(X))
    with pytest.raises(ValueError, match=r"feature map .* cannot be written as ONNX"):
        to_onnx(GEMFeatures(2, feature_map=np.tanh).fit(X, y))
    with pytest.raises(ValueError, match="function of your own"):
        to_onnx(LeastSquaresLDA(kernel=lambda a, b: a @ b, alpha=1.0).fit(X[::5], y[::5]))
    with pytest.raises(ValueError, match="skl2onnx cannot write SkewedChi2Sampler"):
        to_onnx(make_pipeline(SkewedChi2Sampler(), FisherLDA()).fit(X, y))
    with pytest.raises(ValueError, match="dtype must be float32 or float64"):
        to_onnx(FisherLDA().fit(X, y), dtype=np.int32)
    trials = CommonSpatialPatterns(2).fit(np.random.default_rng(0).normal(size=(20, 3, 40)), np.arange(20) % 2)
    with pytest.raises(ValueError, match=r"give shape=\(channels, time\)"):
        to_onnx(trials)


def test_outputs_that_are_wanted_and_no_others():
    X, y = load_iris(return_X_y=True)
    model = FisherLDA().fit(X, y)
    found = run(model, X, outputs=["label", "probabilities"])
    assert list(found) == ["label", "probabilities"]
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-12)
    assert len(to_onnx(model, outputs=["features"]).graph.node) < len(to_onnx(model).graph.node)
    for wrong in (["classes"], []):
        with pytest.raises(ValueError, match="outputs must be some of features, decision, probabilities, label"):
            to_onnx(model, outputs=wrong)


def test_what_features_and_scores_share_is_written_once():
    X, y = load_iris(return_X_y=True)
    graph = to_onnx(GEMFeatures(2).fit(X, y)).graph
    both = to_onnx(GEMClassifier(2, base_map=None, feature_map="soft-cubic", ridge=1.0, alpha=1e-3).fit(X, y)).graph
    assert [n.op_type for n in both.node].count("Sqrt") == [n.op_type for n in graph.node].count("Sqrt") > 0
