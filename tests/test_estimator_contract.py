"""What every public estimator promises, tested on all of them as they are discovered."""

import inspect
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.datasets import load_iris
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import eigenfeat

ESTIMATORS = [
    cls
    for _, cls in inspect.getmembers(eigenfeat, inspect.isclass)
    if issubclass(cls, BaseEstimator) and not inspect.isabstract(cls)
]

every_estimator = pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)


@parametrize_with_checks([cls() for cls in ESTIMATORS])
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


def small_data(cls):
    X, y = load_iris(return_X_y=True)
    X, y = X[::2], y[::2]
    if is_regressor(cls()):
        y = X[:, 0] + 0.1 * y
    return X.copy(), y


def fitted(cls, X, y, **fit_params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cls().fit(X, y, **fit_params)


def output(estimator, X):
    if is_classifier(estimator) or is_regressor(estimator):
        return estimator.predict(X)
    return estimator.transform(X) if hasattr(estimator, "transform") else estimator.score_samples(X)


def takes_weights(cls):
    return "sample_weight" in inspect.signature(cls.fit).parameters


@every_estimator
def test_public_names_are_documented(cls):
    doc = inspect.getdoc(cls)
    for section in ("Parameters\n---", "Attributes\n---", "References\n---", "Examples\n---"):
        assert section in doc, f"{cls.__name__} has no section {section.splitlines()[0]!r}"
    for parameter in inspect.signature(cls).parameters:
        assert parameter in doc, f"{cls.__name__} does not document {parameter!r}"


@every_estimator
def test_a_fitted_estimator_survives_pickling_and_cloning(cls):
    X, y = small_data(cls)
    model = fitted(cls, X, y)
    np.testing.assert_array_equal(output(pickle.loads(pickle.dumps(model)), X), output(model, X))
    again = fitted(lambda: clone(model), X, y)
    np.testing.assert_array_equal(output(again, X), output(model, X))


@every_estimator
def test_nothing_the_user_gave_is_modified(cls):
    X, y = small_data(cls)
    weights = np.linspace(1, 2, len(y))
    given = [X.copy(), y.copy(), weights.copy()]
    model = fitted(cls, X, y, **({"sample_weight": weights} if takes_weights(cls) else {}))
    output(model, X)
    for before, after in zip(given, (X, y, weights)):
        np.testing.assert_array_equal(before, after)


@every_estimator
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_dataframes_keep_their_names(cls, frame):
    X, y = small_data(cls)
    table = frame(dict(zip("abcd", X.T)))
    model = fitted(cls, table, y)
    assert list(model.feature_names_in_) == list("abcd")
    np.testing.assert_allclose(output(model, table), output(fitted(cls, X, y), X))
    if hasattr(model, "transform") and hasattr(model, "set_output"):
        Z = model.set_output(transform="pandas").transform(table)
        assert list(Z.columns) == list(model.get_feature_names_out())


BAD_INPUT = {
    "NaN": (lambda X, y: (np.where(X[3, 1] == X, np.nan, X), y), "NaN"),
    "infinity": (lambda X, y: (np.where(X[3, 1] == X, np.inf, X), y), "infinity"),
    "no rows": (lambda X, y: (X[:0], y[:0]), "0 sample|minimum"),
    "lengths": (lambda X, y: (X, y[:-1]), "inconsistent|length"),
    "one dimension": (lambda X, y: (X[:, 0], y), "2D array"),
}


@every_estimator
@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_refused_with_a_reason(cls, case):
    spoil, message = BAD_INPUT[case]
    X, y = small_data(cls)
    if case == "lengths" and not get_tags(cls()).target_tags.required:
        pytest.skip("y is not used")
    with pytest.raises(ValueError, match=message):
        fitted(cls, *spoil(X, y))


@every_estimator
def test_one_class_is_refused_where_classes_are_told_apart(cls):
    if not is_classifier(cls()):
        pytest.skip("not a classifier")
    X, y = small_data(cls)
    with pytest.raises(ValueError, match="class"):
        fitted(cls, X, np.zeros_like(y))


@every_estimator
def test_bad_weights_are_refused(cls):
    if not takes_weights(cls):
        pytest.skip("takes no weights")
    X, y = small_data(cls)
    for weights, message in [(-np.ones(len(y)), "[Nn]egative"), (np.zeros(len(y)), "zero"), (np.ones(3), "shape")]:
        with pytest.raises(ValueError, match=message):
            fitted(cls, X, y, sample_weight=weights)
    if is_classifier(cls()):
        with pytest.raises(ValueError, match="weight"):
            fitted(cls, X, y, sample_weight=(y != 1).astype(float))


@every_estimator
def test_the_wrong_width_is_refused_after_fitting(cls):
    X, y = small_data(cls)
    with pytest.raises(ValueError, match="features"):
        output(fitted(cls, X, y), X[:, :3])


@every_estimator
def test_an_unknown_option_is_refused_with_the_known_ones(cls):
    X, y = small_data(cls)
    options = [name for name, value in cls().get_params(deep=False).items() if isinstance(value, str)]
    for name in options:
        with pytest.raises(ValueError, match=name):
            fitted(lambda name=name: cls(**{name: "no such option"}), X, y)


@every_estimator
def test_float32_stays_float32(cls):
    X, y = small_data(cls)
    model = fitted(cls, X.astype(np.float32), y)
    out = output(model, X.astype(np.float32))
    if hasattr(model, "transform") and not is_classifier(model) and not is_regressor(model):
        assert out.dtype == np.float32
    reference = output(fitted(cls, X, y), X)
    if out.dtype.kind == "f":
        scale = np.abs(reference).max()
        assert np.median(np.abs(out - reference)) < 1e-2 * scale


@every_estimator
def test_sparse_input_gives_what_dense_input_gives(cls):
    if not get_tags(cls()).input_tags.sparse:
        pytest.skip("dense input only")
    X, y = small_data(cls)
    X[X < 1] = 0
    dense, thin = fitted(cls, X, y), fitted(cls, sparse.csr_array(X), y)
    np.testing.assert_allclose(output(thin, sparse.csr_array(X)), output(dense, X), rtol=1e-5, atol=1e-7)


@every_estimator
def test_the_same_seed_gives_the_same_model(cls):
    X, y = small_data(cls)
    if "random_state" in cls().get_params():
        first, second = (fitted(lambda: cls(random_state=3), X, y) for _ in range(2))
        np.testing.assert_array_equal(output(first, X), output(second, X))
    if "n_jobs" in cls().get_params():
        one, two = (fitted(lambda jobs=jobs: cls(n_jobs=jobs), X, y) for jobs in (1, 2))
        np.testing.assert_array_equal(output(one, X), output(two, X))
