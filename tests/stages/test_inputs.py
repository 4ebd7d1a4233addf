"""What is done to rows before they are projected."""

import numpy as np
from chains import X
from scipy import sparse
from sklearn.preprocessing import PolynomialFeatures

from eigenfeat.stages import BaseMap, WithConstant


def test_the_constant_comes_last_and_sparse_rows_stay_sparse():
    expected = np.column_stack([X, np.ones(len(X))])
    np.testing.assert_array_equal(WithConstant().apply(X), expected)
    thin = WithConstant().apply(sparse.csr_array(X))
    assert sparse.issparse(thin) and thin.format == "csr"
    np.testing.assert_array_equal(thin.toarray(), expected)
    assert WithConstant().apply(X.astype(np.float32)).dtype == np.float32


def test_a_transformer_as_a_stage():
    transformer = PolynomialFeatures(2).fit(X)
    stage = BaseMap.of(transformer, X)
    assert stage.n_columns(5) == stage.width == 21
    np.testing.assert_array_equal(stage.apply(X), transformer.transform(X))


def test_what_a_transformer_widens_is_narrowed_again():
    stage = BaseMap.of(PolynomialFeatures(2).fit(X), X)
    assert stage.apply(X.astype(np.float32)).dtype == np.float32
