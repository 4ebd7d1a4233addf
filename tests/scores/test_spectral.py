"""First and second order: the components make up the tensor."""

import numpy as np
from score_models_for_tests import mixture, standard_gaussian

from eigenfeat.moments.forms import DenseForm
from eigenfeat.scores.cross_tensor import StreamedTensor, centred_labels
from eigenfeat.scores.spectral import extreme_components, singular_components


def test_first_order_is_the_svd_of_the_tensor():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(200, 5)), rng.normal(size=(200, 3))
    tensor = StreamedTensor(standard_gaussian(5), X, centred_labels(Y), 1)
    found = singular_components(tensor, 3)
    np.testing.assert_allclose(found.label_factors @ found.vectors.T, (Y - Y.mean(0)).T @ X / 200, atol=1e-12)


def test_second_order_components_sum_to_each_labels_matrix():
    """Σ λ w wᵀ over all components of a label is its matrix, whatever the noise it was a quotient with."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), rng.normal(size=(300, 1))
    tensor = StreamedTensor(mixture("full", 2), X, centred_labels(y), 2)
    A = rng.normal(size=(4, 4))
    N = A @ A.T + np.eye(4)
    K = np.linalg.inv(np.linalg.cholesky(N)).T
    found = extreme_components(tensor, DenseForm(N), K, 4)
    W = N @ K @ found.vectors
    M = tensor.matrix(np.ones(1))
    assert np.linalg.eigvalsh(M)[0] < 0 < np.linalg.eigvalsh(M)[-1]
    np.testing.assert_allclose((W * found.label_factors[0]) @ W.T, M, atol=1e-10)
    assert (np.diff(np.abs(found.label_factors[0])) <= 1e-12).all()
