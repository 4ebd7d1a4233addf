"""The stability bound of kernel Fisher discriminants: no change of outputs exceeds it, no error on new rows does."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_moons

from eigenfeat import KernelFisherClassifier, KernelFisherClassifierCV
from eigenfeat.stability import kernel_fisher_bound, output_stability
from eigenfeat.stages.kernels import Kernel


def outputs(X, y, Z, gamma, alpha):
    """f at Z, from the linear system written out."""
    n = len(X)
    kernel = Kernel("rbf", gamma)
    system = np.block([[kernel(X, X) + alpha * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    solution = np.linalg.solve(system, np.append(y, 0.0))
    return kernel(Z, X) @ solution[:-1] + solution[-1]


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 25),
    spread=st.sampled_from([0.0, 0.01, 0.3, 1.0, 10.0]),
    log_share=st.floats(-3, 2),
    outlier=st.booleans(),
    share=st.sampled_from([0.05, 0.5]),
)
def test_no_row_left_out_changes_an_output_by_more(seed, n, spread, log_share, outlier, share):
    """Adversarial samples among them: rows that coincide, a single row of a class, a row far away."""
    rng = np.random.RandomState(seed)
    X, y = spread * rng.randn(n, 2), np.where(rng.rand(n) < share, 1.0, -1.0)
    if outlier:
        X[0], y[0] = 100.0, -y[-1]
    alpha = 10**log_share * n
    Z = np.vstack([X, X + 0.1, rng.randn(50, 2), np.full((1, 2), 1e3)])
    whole = outputs(X, y, Z, 1.0, alpha)
    limit = output_stability(n, alpha, np.sqrt(2))
    for i in range(n):
        kept = np.arange(n) != i
        assert np.abs(whole - outputs(X[kept], y[kept], Z, 1.0, alpha)).max() <= limit * (1 + 1e-9)


def test_the_constant_is_of_order_one_over_n_and_not_idle():
    rates = [n * output_stability(n, 0.1 * n, 1.0) for n in (10, 1000, 100_000)]
    np.testing.assert_allclose(rates, rates[0])
    # A row on its own against many that coincide comes within a small factor of the bound.
    n, alpha = 30, 3.0
    X, y = np.zeros((n, 2)), -np.ones(n)
    X[0], y[0] = 100.0, 1.0
    change = np.abs(outputs(X, y, X[:1], 1.0, alpha) - outputs(X[1:], y[1:], X[:1], 1.0, alpha)).max()
    assert change >= output_stability(n, alpha, np.sqrt(2)) / 40


@pytest.mark.parametrize("alpha_share", [0.3, 3.0])
def test_errors_on_new_rows_stay_below_the_bound(alpha_share):
    new, labels = make_moons(20_000, noise=0.25, random_state=999)
    for seed in range(20):
        X, y = make_moons(400, noise=0.25, random_state=seed)
        model = KernelFisherClassifier(gamma=1.0, alpha=400 * alpha_share, columns=None, threshold="least-squares")
        bound = kernel_fisher_bound(model.fit(X, y), X, y, margin=0.2)
        error = np.mean(model.predict(new) != labels)
        assert error <= min(bound.from_training, bound.from_left_out)
        assert bound.left_out_risk >= bound.training_risk - 1e-12


def test_it_takes_many_rows_to_say_something():
    """Theorem 12 with our β: nothing at 400 rows, 20 % at a million where no row is within the margin."""
    X, y = make_moons(400, noise=0.1, random_state=0)
    model = KernelFisherClassifier(gamma=1.0, alpha=400.0, columns=None, threshold="least-squares").fit(X, y)
    bound = kernel_fisher_bound(model, X, y, margin=0.5)
    assert "no bound below one" in str(bound)
    assert kernel_fisher_bound(model, X, y, margin=0.5, n_candidates=50).from_left_out > bound.from_left_out
    n = 10**6
    beta = output_stability(n, n, np.sqrt(2)) / 0.3
    assert 0.05 < 2 * beta + (4 * n * beta + 1) * np.sqrt(np.log(20) / (2 * n)) < 0.2
    assert "at most 10.0%" in str(replace(bound, from_left_out=0.1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalty": "coefficients"}, "penalty='function'"),
        ({"loss": "absolute"}, "loss='squared'"),
        ({"n_centers": 20}, "over all rows"),
        ({"class_weight": "balanced"}, "no class_weight"),
        ({"kernel": "poly"}, "needs a radius"),
    ],
)
def test_models_it_does_not_hold_for_are_refused(options, message):
    X, y = make_moons(100, noise=0.2, random_state=0)
    model = KernelFisherClassifier(**options).fit(X, y)
    with pytest.raises(ValueError, match=message):
        kernel_fisher_bound(model, X, y)


def test_searches_and_other_radii():
    X, y = make_moons(100, noise=0.2, random_state=0)
    search = KernelFisherClassifierCV([10.0, 100.0], [1.0], columns=None).fit(X, y)
    assert kernel_fisher_bound(search, X, y, n_candidates=2).n_samples == 100
    linear = KernelFisherClassifier("linear", alpha=100.0, columns=None).fit(X, y)
    assert kernel_fisher_bound(linear, X, y, radius=4.0).radius == 4.0
