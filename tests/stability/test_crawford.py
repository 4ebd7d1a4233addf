"""Crawford number and the perturbation bounds that rest on it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh

from eigenfeat.moments import GramCache
from eigenfeat.moments.forms import FactoredForm, RowTerm
from eigenfeat.stability import crawford_number, perturbation


def positive(rng, d, condition=10.0):
    Q, _ = np.linalg.qr(rng.standard_normal((d, d)))
    return (Q * np.exp(rng.uniform(-np.log(condition), 0, d))) @ Q.T


def sphere(d, n):
    """A dense sweep of unit vectors of the plane or of space, one a column."""
    if d == 2:
        t = np.linspace(0, np.pi, n)
        return np.vstack([np.cos(t), np.sin(t)])
    k = np.arange(n) + 0.5
    z, t = k / n, np.pi * (1 + 5**0.5) * k
    return np.vstack([np.sqrt(1 - z**2) * np.cos(t), np.sqrt(1 - z**2) * np.sin(t), z])


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_equals_the_minimum_over_a_sweep_of_unit_vectors(d, seed):
    rng = np.random.default_rng(seed)
    S, N = positive(rng, d, 100), positive(rng, d, 100)
    if seed == 5:
        S -= 0.5 * np.eye(d)  # an indefinite signal is allowed
    V = sphere(d, 200_000)
    swept = np.hypot(np.einsum("ij,ij->j", V, S @ V), np.einsum("ij,ij->j", V, N @ V)).min()
    found = crawford_number(S, N).value
    assert found <= swept * (1 + 1e-12)
    assert found == pytest.approx(swept, rel=1e-3)


def test_flat_face_of_the_numerical_range():
    # w(v) runs along the segment from (2, 0) to (0, 1): the nearest point lies inside it.
    result = crawford_number(np.diag([2.0, 0.0]), np.diag([0.0, 1.0]))
    assert result.value == pytest.approx(2 / np.sqrt(5), rel=1e-12)


def test_a_common_null_direction_gives_zero_and_is_explained():
    S, N = np.diag([1.0, 1.0, 0.0]), np.diag([1.0, 2.0, 0.0])
    assert crawford_number(S, N).value == 0
    with pytest.raises(ValueError, match="add a ridge to the noise"):
        perturbation(S, N, 0.1)


def test_factored_form_agrees_with_the_matrices_written_out():
    rng = np.random.default_rng(0)
    rows = GramCache(rng.standard_normal((7, 12)))
    S = FactoredForm(rows, (RowTerm(np.arange(4), np.ones(4)),), shift=0.2)
    N = FactoredForm(rows, (RowTerm(np.arange(4, 7), np.ones(3)),), shift=0.5)
    assert crawford_number(S, N).value == pytest.approx(crawford_number(S.toarray(), N.toarray()).value, rel=1e-9)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**31), d=st.integers(2, 6), share=st.floats(0.01, 0.95), scale=st.floats(1e-3, 1e6))
def test_bounds_hold_for_every_pair_within_epsilon(seed, d, share, scale):
    rng = np.random.default_rng(seed)
    S, N = scale * positive(rng, d), scale * positive(rng, d)
    c = crawford_number(S, N).value
    E, F = (A + A.T for A in rng.standard_normal((2, d, d)))
    size = share * c / np.hypot(np.linalg.norm(E, 2), np.linalg.norm(F, 2))
    E, F = size * E, size * F
    bound = perturbation(S, N, epsilon=share * c)

    values, vectors = eigh(S, N)
    moved = np.linalg.eigvals(np.linalg.solve(N, S))
    np.testing.assert_allclose(bound.values, values[::-1], rtol=1e-7)
    np.testing.assert_allclose(np.sort(moved.real), values, rtol=1e-6)

    if np.linalg.eigvalsh(N + F).min() > 0:
        values2, vectors2 = eigh(S + E, N + F)
        assert np.all(np.abs(np.arctan(values2[::-1]) - np.arctan(bound.values)) <= bound.angle + 1e-9)
        inside = (values2[::-1] >= bound.lower * (1 - 1e-9) - 1e-9) & (values2[::-1] <= bound.upper * (1 + 1e-9))
        assert inside.all()
        a, b = (V / np.linalg.norm(V, axis=0) for V in (vectors[:, ::-1], vectors2[:, ::-1]))
        sines = np.sqrt(np.clip(1 - np.einsum("ij,ij->j", a, b) ** 2, 0, 1))
        assert np.all(sines <= bound.sines + 1e-7)


def test_direction_bound_is_of_the_right_size():
    # For N = I and a small error the bound tends to ε / (c · gap): within a factor of a few of what happens.
    S, N = np.diag([9.0, 1.0]), np.eye(2)
    E = np.array([[0.0, 1e-3], [1e-3, 0.0]])
    bound = perturbation(S, N, 1e-3)
    v = eigh(S + E)[1][:, -1]
    assert abs(v[1]) <= bound.sines[0] <= 10 * abs(v[1])


def test_singular_noise_gives_infinite_eigenvalues_and_finite_angles():
    bound = perturbation(np.diag([1.0, 2.0]), np.diag([0.0, 1.0]), 0.05)
    assert np.isinf(bound.values[0])
    assert bound.values[1] == pytest.approx(2)
    assert 0 < bound.lower[0] < np.inf


def test_scaling_both_matrices_leaves_angles_alone():
    rng = np.random.default_rng(1)
    S, N = positive(rng, 5), positive(rng, 5)
    one, big = perturbation(S, N, 0.01), perturbation(1e6 * S, 1e6 * N, 1e4)
    assert big.angle == pytest.approx(one.angle, rel=1e-6)
    np.testing.assert_allclose(big.sines, one.sines, rtol=1e-6)


def test_error_larger_than_the_crawford_number_says_nothing_and_says_so():
    bound = perturbation(np.diag([2.0, 1.0]), np.eye(2), 5.0)
    assert bound.angle == pytest.approx(np.pi / 2)
    assert np.all(bound.sines == 1)
    assert "no eigenvalue is certain" in str(bound)
