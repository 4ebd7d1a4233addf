"""The kernel Fisher regressor: support vector regression, sparse expansions, several targets."""

import numpy as np
import pytest
from kernel_data import TEST, X, kfd_regressor
from sklearn.svm import SVR

from eigenfeat.kernel import EpsilonInsensitive
from eigenfeat.stages import KernelExpansion


def test_sinc_regression_needs_fewer_terms_than_svr():
    rng = np.random.RandomState(0)
    x = np.linspace(-10, 10, 100)[:, None]
    y = np.sinc(x[:, 0] / np.pi) + 0.2 * rng.randn(100)
    ours = kfd_regressor(gamma=1 / 3, alpha=0.1, loss="squared", penalty="sparse").fit(x, y)
    svr = SVR(gamma=1 / 3, C=1.0, epsilon=0.1).fit(x, y)
    truth = np.sinc(x[:, 0] / np.pi)
    assert len(ours.support_) < 0.5 * len(svr.support_)
    assert np.mean((ours.predict(x) - truth) ** 2) < 1.5 * np.mean((svr.predict(x) - truth) ** 2)


def test_several_targets_are_separate_problems():
    targets = np.column_stack([X[:, 0], np.sin(X[:, 1])])
    both = kfd_regressor(gamma=1.0).fit(X, targets)
    for j in range(2):
        alone = kfd_regressor(gamma=1.0).fit(X, targets[:, j])
        np.testing.assert_allclose(both.predict(X)[:, j], alone.predict(X), atol=1e-9)
        np.testing.assert_allclose(both.loo_prediction_[:, j], alone.loo_prediction_, atol=1e-9)


@pytest.mark.parametrize("solver", ["smo", "qp"])
@pytest.mark.parametrize("alpha", [0.02, 0.3, 5.0])
def test_epsilon_loss_is_support_vector_regression_at_new_rows(alpha, solver):
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2
    loss = EpsilonInsensitive(0.05)
    model = kfd_regressor(gamma=1.0, alpha=alpha, loss=loss, solver=solver, tol=1e-10).fit(X, y)
    svr = SVR(gamma=1.0, C=1 / alpha, epsilon=0.05, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.predict(TEST), svr.predict(TEST), atol=1e-6)


def test_a_fit_leaves_a_chain_of_one_expansion():
    model = kfd_regressor(gamma=1.0).fit(X, X[:, 0])
    (expansion,) = model.fitted_.predictions.stages
    assert isinstance(expansion, KernelExpansion)
    np.testing.assert_array_equal(expansion.apply(TEST)[:, 0], model.predict(TEST))


def test_an_eigenproblem_is_for_two_values():
    with pytest.raises(ValueError, match="real targets: 'linear'"):
        kfd_regressor(solver="eigen").fit(X, X[:, 0])
