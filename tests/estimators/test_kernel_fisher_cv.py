"""The search for alpha and gamma by exact leave-one-out."""

import numpy as np
import pytest
from joblib import parallel_config
from kernel_data import DIGITS, LABELS, TEST, TEST_LABELS, X, Y, kfd, kfd_search
from sklearn.model_selection import StratifiedKFold


@pytest.mark.parametrize("penalty", ["function", "coefficients"])
def test_grid_search_reports_the_error_of_refitting(penalty):
    few, labels = X[:60], Y[:60]
    search = kfd_search([0.1, 1.0], [0.5, 2.0], penalty=penalty, threshold="least-squares")
    search.fit(few, labels)
    for i, gamma in enumerate(search.gammas_):
        for j, alpha in enumerate(search.alphas):
            model = kfd(gamma=gamma, alpha=alpha, penalty=penalty, threshold="least-squares")
            wrong = 0
            for k in range(60):
                kept = np.arange(60) != k
                wrong += model.fit(few[kept], labels[kept]).predict(few[[k]])[0] != labels[k]
            assert search.loo_errors_[i, j] == pytest.approx(wrong / 60)
    assert search.loo_error_ == pytest.approx(search.loo_errors_.min())


@pytest.mark.parametrize("options", [{}, {"n_centers": 50}, {"centers": "kmeans", "n_centers": 50}])
def test_grid_search_equals_the_chosen_classifier(options):
    search = kfd_search([0.01, 0.1, 1.0], random_state=3, **options).fit(X, Y)
    # The search draws its centres once for all candidates: the classifier is given those.
    centers = None
    if options:
        centers = search.support_vectors_ if "centers" in options else search.support_
    model = kfd(gamma=search.gamma_, alpha=search.alpha_, centers=centers).fit(X, Y)
    np.testing.assert_allclose(search.decision_function(TEST), model.decision_function(TEST), atol=1e-8)
    np.testing.assert_allclose(search.loo_decision_, model.loo_decision_, atol=1e-8)
    np.testing.assert_allclose(search.predict_proba(TEST), model.predict_proba(TEST), atol=1e-8)


def test_results_are_those_of_a_search_in_scikit_learn():
    search = kfd_search([0.01, 0.1, 1.0], [0.5, 2.0]).fit(X, Y)
    results = search.cv_results_
    assert (
        results["params"][search.best_index_]
        == search.best_params_
        == {
            "alpha": search.alpha_,
            "gamma": search.gamma_,
        }
    )
    np.testing.assert_array_equal(results["mean_test_score"], -search.loo_errors_.ravel())
    np.testing.assert_array_equal(results["split0_test_score"], results["mean_test_score"])
    np.testing.assert_array_equal(results["std_test_score"], 0)
    np.testing.assert_array_equal(results["param_gamma"], np.repeat([0.5, 2.0], 3))
    np.testing.assert_array_equal(results["param_alpha"], [0.01, 0.1, 1.0] * 2)
    assert search.best_score_ == results["mean_test_score"].max() == -search.loo_error_
    assert results["rank_test_score"][search.best_index_] == 1


def test_of_equal_errors_the_smaller_squared_residual_wins():
    """Classes far apart: every pair makes no error, and least squares of rows left out decide."""
    far = X + 20 * Y[:, None]
    search = kfd_search([0.01, 0.1, 1.0], [0.001, 0.01, 0.1]).fit(far, Y)
    assert not search.loo_errors_.any() and search.best_score_ == 0
    squares = {}
    for candidate in search.cv_results_["params"]:
        model = kfd(threshold=0.0, **candidate).fit(far, Y)
        squares[tuple(candidate.values())] = np.mean((np.where(Y == 1, 1, -1) - model.loo_decision_) ** 2)
    assert tuple(search.best_params_.values()) == min(squares, key=squares.get)


def test_nothing_of_the_search_is_a_parameter_of_the_plain_classifier():
    search = kfd_search([0.01], [0.5]).fit(X, Y)
    for name in ("alpha", "gamma", "solver"):
        assert not hasattr(search, name)


def test_search_does_not_depend_on_the_number_of_jobs():
    with parallel_config("threading"):
        one, two = (kfd_search([0.1, 1.0], n_centers=50, random_state=0, n_jobs=n).fit(X, Y) for n in (1, 2))
    np.testing.assert_allclose(one.loo_errors_, two.loo_errors_)
    np.testing.assert_allclose(one.dual_coef_, two.dual_coef_)


def test_gaussian_probabilities_of_several_classes_sum_to_one():
    several = kfd_search([0.1], [0.05], probability="gaussian").fit(DIGITS, LABELS)
    np.testing.assert_allclose(several.predict_proba(DIGITS).sum(axis=1), 1)


def test_bad_grids_are_named():
    with pytest.raises(ValueError, match="alphas must be"):
        kfd_search(alphas=[]).fit(X, Y)
    with pytest.raises(ValueError, match="gammas must be"):
        kfd_search(gammas=[-1.0]).fit(X, Y)


FOLDS = StratifiedKFold(4, shuffle=True, random_state=3)


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_sparse_models_are_chosen_by_folds_and_cut_at_rows_held_out(loss):
    few, labels = X[:120], Y[:120]
    settings = {"loss": loss, "penalty": "sparse", "threshold": "least-error"}
    search = kfd_search([0.3, 3.0], [0.5, 2.0], cv=FOLDS, **settings).fit(few, labels)
    for i, gamma in enumerate(search.gammas_):
        for j, alpha in enumerate(search.alphas_):
            held_out = np.zeros(120)
            for fitted, rest in FOLDS.split(few, labels):
                model = kfd(gamma=gamma, alpha=alpha, loss=loss, penalty="sparse", threshold=0.0)
                held_out[rest] = model.fit(few[fitted], labels[fitted]).decision_function(few[rest])
            cuts = np.concatenate([[-9.0], np.sort(held_out)])
            least = min(np.mean((held_out > cut) != labels) for cut in cuts)
            assert search.loo_errors_[i, j] == pytest.approx(least)
    assert search.cv_error_ == search.loo_errors_.min() == -search.best_score_
    assert search.loo_decision_ is None and search.loo_error_ is None
    alone = kfd(gamma=search.gamma_, alpha=search.alpha_, loss=loss, penalty="sparse", threshold=search.threshold_[0])
    alone.fit(few, labels)
    np.testing.assert_allclose(search.decision_function(TEST), alone.decision_function(TEST), atol=1e-5)
    assert (search.dual_coef_ == 0).mean() > 0.5


@pytest.mark.parametrize(("loss", "penalty"), [("squared", "sparse"), ("huber", "function")])
def test_grids_by_folds_are_scaled_to_the_data(loss, penalty):
    search = kfd_search(loss=loss, penalty=penalty, cv=3).fit(X, Y)
    assert search.cv_error_ < 0.1 and search.score(TEST, np.asarray(TEST_LABELS)) > 0.85
    assert (search.gammas_ > 0).all() and len(search.cv_results_["params"]) >= len(search.alphas_)


def test_folds_can_be_asked_for_where_leave_one_out_is_exact():
    search = kfd_search([0.1, 1.0], [1.0], cv=5).fit(X, Y)
    exact = kfd_search([0.1, 1.0], [1.0]).fit(X, Y)
    assert search.cv_error_ == pytest.approx(exact.loo_error_, abs=0.03)
    assert exact.cv_decision_ is None and search.loo_decision_ is None


def test_folds_of_several_classes_and_a_kernel_matrix():
    K, folds = np.exp(-0.05 * np.square(DIGITS[:150, None] - DIGITS[None, :150]).sum(axis=2)), StratifiedKFold(3)
    search = kfd_search([1.0], kernel="precomputed", penalty="sparse", cv=folds).fit(K, LABELS[:150])
    assert search.cv_decision_.shape == (150, 10)
    named = kfd_search([1.0], [0.05], penalty="sparse", cv=folds).fit(DIGITS[:150], LABELS[:150])
    np.testing.assert_allclose(search.cv_decision_, named.cv_decision_, atol=1e-4)
