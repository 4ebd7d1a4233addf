"""The search for alpha and gamma by exact leave-one-out."""

import numpy as np
import pytest
from joblib import parallel_config
from kernel_data import DIGITS, LABELS, TEST, X, Y
from sklearn.utils.validation import check_is_fitted

from eigenfeat import KernelFisherClassifier, KernelFisherClassifierCV
from eigenfeat.estimators.search import search_results


@pytest.mark.parametrize("penalty", ["function", "coefficients"])
def test_grid_search_reports_the_error_of_refitting(penalty):
    few, labels = X[:60], Y[:60]
    search = KernelFisherClassifierCV([0.1, 1.0], [0.5, 2.0], penalty=penalty, threshold="least-squares")
    search.fit(few, labels)
    for i, gamma in enumerate(search.gammas_):
        for j, alpha in enumerate(search.alphas):
            model = KernelFisherClassifier(gamma=gamma, alpha=alpha, penalty=penalty, threshold="least-squares")
            wrong = 0
            for k in range(60):
                kept = np.arange(60) != k
                wrong += model.fit(few[kept], labels[kept]).predict(few[[k]])[0] != labels[k]
            assert search.loo_errors_[i, j] == pytest.approx(wrong / 60)
    assert search.loo_error_ == pytest.approx(search.loo_errors_.min())


@pytest.mark.parametrize("options", [{}, {"n_centers": 50}, {"centers": "kmeans", "n_centers": 50}])
def test_grid_search_equals_the_chosen_classifier(options):
    search = KernelFisherClassifierCV([0.01, 0.1, 1.0], random_state=3, **options).fit(X, Y)
    model = KernelFisherClassifier(gamma=search.gamma_, alpha=search.alpha_, random_state=3).fit(X, Y)
    if not options:
        np.testing.assert_allclose(search.decision_function(X), model.decision_function(X), atol=1e-8)
        np.testing.assert_allclose(search.loo_decision_, model.loo_decision_, atol=1e-8)
    assert search.score(X, Y) > 0.9


def test_search_does_not_depend_on_the_number_of_jobs():
    with parallel_config("threading"):
        one, two = (
            KernelFisherClassifierCV([0.1, 1.0], n_centers=50, random_state=0, n_jobs=n).fit(X, Y) for n in (1, 2)
        )
    np.testing.assert_allclose(one.loo_errors_, two.loo_errors_)
    np.testing.assert_allclose(one.dual_coef_, two.dual_coef_)
