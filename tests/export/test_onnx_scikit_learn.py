"""scikit-learn's parts: those written here and one written by skl2onnx."""

import numpy as np
import pytest
from onnx_values import value
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from eigenfeat.export.onnx_graph import Graph
from eigenfeat.export.onnx_scikit_learn import of_scikit_learn

TRANSFORMERS = [
    SimpleImputer(strategy="median"),
    RBFSampler(n_components=7, random_state=0),
    Nystroem(n_components=5, random_state=0),
    Nystroem("poly", n_components=5, degree=2, coef0=0.5, random_state=0),
    StandardScaler(),
    PolynomialFeatures(2),
]


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=lambda t: type(t).__name__)
def test_rows_are_those_of_the_transformer(transformer):
    X = np.random.default_rng(0).normal(size=(30, 3))
    if isinstance(transformer, SimpleImputer):
        X[3, 1] = np.nan
    transformer.fit(X)
    found = value(lambda g, x: of_scikit_learn(g, transformer, x, 3)[0], X)
    np.testing.assert_allclose(found, transformer.transform(X), atol=1e-6)


def test_an_imputer_that_adds_columns_is_refused():
    imputer = SimpleImputer(add_indicator=True).fit(np.array([[1.0], [np.nan]]))
    with pytest.raises(ValueError, match="SimpleImputer can be written where"):
        of_scikit_learn(Graph(np.float64), imputer, "X", 1)
