"""Signal and noise over centred rows against the matrices they stand for."""

import numpy as np
import pytest
from ls_problems import factor, inputs
from scipy import sparse

from eigenfeat.least_squares.quotient import pose
from eigenfeat.least_squares.rows import centre, centre_kernel
from eigenfeat.least_squares.targets import reduce


def quotient_and_matrices(kind, project):
    """A quotient over rows, with its signal and noise written out."""
    rng = np.random.default_rng(0)
    X, (H, _), weight = inputs(rng, 18, 11), factor("opls", rng, 18), rng.uniform(0.3, 2, size=18)
    root = np.sqrt(weight)[:, None]
    A = root * (X - np.average(X, axis=0, weights=weight))
    B = root * (H - np.average(H, axis=0, weights=weight))
    S = B @ np.linalg.pinv(B.T @ B, rcond=1e-10) @ B.T if project else B @ B.T
    given = {"dense": X, "sparse": sparse.csr_array(X)}.get(kind)
    rows = centre_kernel(X @ X.T, weight) if given is None else centre(given, weight)
    one = pose(rows, reduce(H, rows.root, project=project)).shifted(0.4)
    if kind == "kernel":  # the quotient in coefficients c of w = Aᵀc
        K = A @ A.T
        return one, K @ S @ K, K @ K + 0.4 * K, B.T @ K
    return one, A.T @ S @ A, A.T @ A + 0.4 * np.eye(11), B.T @ A


@pytest.mark.parametrize("kind", ["dense", "sparse", "kernel"])
@pytest.mark.parametrize("project", [False, True])
def test_forms_answer_as_matrices(kind, project):
    one, S, N, references = quotient_and_matrices(kind, project)
    V = np.random.default_rng(1).normal(size=(len(S), 3))
    plain = one.noise.shifted(-0.4)
    for form, matrix in ((one.signal, S), (one.noise, N)):
        assert form.shape == matrix.shape
        np.testing.assert_allclose(form @ V, matrix @ V, atol=1e-10)
        np.testing.assert_allclose(form.toarray(), matrix, atol=1e-10)
        np.testing.assert_allclose(form.diagonal(), matrix.diagonal(), atol=1e-10)
        np.testing.assert_allclose(form.scaled(2.0).toarray(), 2 * matrix, atol=1e-10)
        np.testing.assert_allclose((form + form).toarray(), 2 * matrix, atol=1e-10)
    assert one.signal.squared_norm() == pytest.approx(np.sum(S**2))
    assert plain.squared_norm() == pytest.approx(np.sum(plain.toarray() ** 2))
    G = np.asarray(one.signal_factor)
    assert one.signal_factor.shape == G.shape
    np.testing.assert_allclose(G @ G.T, S, atol=1e-10)
    np.testing.assert_allclose(np.asarray(one.references), references, atol=1e-10)
    assert len(one.references) == len(references)
    np.testing.assert_allclose(one.references.of_scores(one.rows.times(V)), references @ V, atol=1e-10)


def test_a_signal_can_be_shifted_too():
    one, S, _, _ = quotient_and_matrices("dense", False)
    shifted = one.signal.shifted(0.5)
    V = np.random.default_rng(2).normal(size=(11, 2))
    np.testing.assert_allclose(shifted @ V, S @ V + 0.5 * V, atol=1e-10)
    np.testing.assert_allclose(shifted.toarray(), S + 0.5 * np.eye(11), atol=1e-10)
    np.testing.assert_allclose(shifted.diagonal(), S.diagonal() + 0.5, atol=1e-10)
