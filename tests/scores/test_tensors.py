"""Products with score tensors, of every model, against the dense tensors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from score_models_for_tests import autoencoder, dense, mixture

MODELS = {
    "gaussian": lambda: mixture("full", 1, d=5),
    "mixture": lambda: mixture("factor", 3, d=5),
    "linear": lambda: autoencoder(False),
    "sigmoid": lambda: autoencoder(True),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("order", [1, 2, 3, 4])
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**16), equal=st.booleans())
def test_weighted_sums_agree_with_the_dense_tensor(name, order, seed, equal):
    rng = np.random.default_rng(seed)
    n, d, r = 6, 5, 4
    X, weights = rng.normal(size=(n, d)), rng.normal(size=(n, r))
    tensors = MODELS[name]().tensors_at(X)
    one = rng.normal(size=(d, r))
    vectors = [one if equal else rng.normal(size=(d, r)) for _ in range(order)]
    full = dense(tensors, d, order)
    modes = "ijkl"[:order]
    inner = ",".join(f"{mode}r" for mode in modes)
    expected_form = np.einsum(f"n{modes},{inner}->nr", full, *vectors)
    expected_sum = np.einsum(f"n{modes},nr{inner[2:]}->ir", full, weights, *vectors[1:])
    np.testing.assert_allclose(tensors.form(*vectors), expected_form, rtol=1e-10, atol=1e-10 * np.abs(full).max())
    np.testing.assert_allclose(
        tensors.weighted_sum(weights, *vectors[1:]), expected_sum, atol=1e-10 * np.abs(expected_sum).max()
    )


@pytest.mark.parametrize("name", MODELS)
def test_float32_rows_give_float32_products(name):
    X = np.random.default_rng(0).normal(size=(4, 5))
    model, V = MODELS[name](), np.random.default_rng(1).normal(size=(5, 2))
    single = model.tensors_at(X.astype(np.float32))
    products = [
        single.form(*[V.astype(np.float32)] * 3),
        single.weighted_sum(np.ones((4, 2), np.float32), V.astype(np.float32), V.astype(np.float32)),
    ]
    double = model.tensors_at(X)
    exact = [double.form(V, V, V), double.weighted_sum(np.ones((4, 2)), V, V)]
    for product, reference in zip(products, exact):
        assert product.dtype == np.float32
        np.testing.assert_allclose(product, reference, rtol=1e-3, atol=1e-4 * np.abs(reference).max())
