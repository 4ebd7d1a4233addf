"""The choice of alpha: by leave-one-out, on folds, and how it is reported."""

import numpy as np
import pytest
from ls_problems import inputs, labels
from scipy import sparse
from scipy.linalg import orth
from sklearn.datasets import load_iris
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.model_selection import KFold, LeaveOneOut, cross_val_score

import eigenfeat
from eigenfeat import (
    HypergraphFeaturesCV,
    LeastSquaresCCACV,
    LeastSquaresFeaturesCV,
    LeastSquaresLDACV,
    LeastSquaresOPLS,
    LeastSquaresOPLSCV,
)
from eigenfeat._runtime.config import runtime
from eigenfeat.least_squares.targets import hypergraph_factor


def test_folds_are_those_of_a_grid_search_over_ridge_regression():
    rng = np.random.default_rng(15)
    X, Y = inputs(rng, 60, 20), rng.normal(size=(60, 2))
    Y[:, 0] += X[:, 0]
    Y -= Y.mean(axis=0)
    alphas, folds = [0.1, 1.0, 10.0, 100.0], KFold(4)
    model = LeastSquaresOPLSCV(alphas=alphas, cv=folds).fit(X, Y)
    errors = [-cross_val_score(Ridge(a), X, Y, cv=folds, scoring="neg_mean_squared_error").mean() for a in alphas]
    np.testing.assert_allclose(model.cv_errors_, 2 * np.array(errors), rtol=1e-8)
    assert model.alpha_ == alphas[int(np.argmin(errors))]
    chosen = LeastSquaresOPLS(penalty="ridge", alpha=model.alpha_).fit(X, Y)
    np.testing.assert_allclose(model.components_, chosen.components_, atol=1e-9)


def left_out_error(X, T, alpha):
    """Of regressing the targets of all rows on X, each row left out in turn, summed over targets."""
    return -T.shape[1] * cross_val_score(Ridge(alpha), X, T, cv=LeaveOneOut(), scoring="neg_mean_squared_error").mean()


def targets_of(cls, y):
    """Rows of H as the model regresses on them: orthonormal where S is a projection."""
    H = {LeastSquaresLDACV: lambda: np.eye(3)[y], HypergraphFeaturesCV: lambda: hypergraph_factor(y, "star").toarray()}
    B = H.get(cls, lambda: y)()
    B = B - B.mean(axis=0)
    return orth(B) if cls in (LeastSquaresLDACV, LeastSquaresCCACV) else B


SEARCHES = [LeastSquaresLDACV, LeastSquaresCCACV, LeastSquaresOPLSCV, HypergraphFeaturesCV, LeastSquaresFeaturesCV]


@pytest.mark.parametrize("cls", SEARCHES)
@pytest.mark.parametrize("d", [5, 40], ids=["tall", "wide"])
def test_errors_are_those_of_refits_without_each_row(cls, d):
    rng = np.random.default_rng(16)
    X, alphas = inputs(rng, 24, d), np.array([1e-4, 1.0, 30.0])
    y = np.arange(24) % 3 if cls is LeastSquaresLDACV else labels(rng, 24)
    expected = [left_out_error(X, targets_of(cls, y), alpha) for alpha in alphas]
    for given in (X, sparse.csr_array(X)):
        np.testing.assert_allclose(cls(alphas=alphas).fit(given, y).cv_errors_, expected, rtol=1e-8)
    kernel = cls(alphas=alphas, kernel="linear").fit(X, y)
    np.testing.assert_allclose(kernel.cv_errors_, expected, rtol=1e-6)


@pytest.mark.parametrize("cls", SEARCHES)
def test_the_plain_class_chooses_what_the_search_does(cls):
    X, y = load_iris(return_X_y=True)
    X = np.hstack([X, np.random.default_rng(17).normal(size=(150, 30))])
    plain = getattr(eigenfeat, cls.__name__[:-2])()
    for given in (X, sparse.csr_array(X), X.astype(np.float32)):
        searched = cls().fit(given, y)
        assert plain.fit(given, y).alpha_ == searched.alpha_
        np.testing.assert_allclose(plain.components_, searched.components_, rtol=1e-9)
        assert searched.alphas_[0] < searched.alpha_ < searched.alphas_[-1]


def test_leave_one_out_chooses_what_that_of_ridge_regression_does():
    X, y = load_iris(return_X_y=True)
    X = np.hstack([X, np.random.default_rng(17).normal(size=(150, 30))])
    alphas = np.logspace(-3, 4, 15)
    weight = np.random.default_rng(18).uniform(0.1, 1, size=150)
    targets = orth(np.eye(3)[y] - np.eye(3)[y].mean(axis=0))  # of equal classes
    assert LeastSquaresLDACV(alphas=alphas).fit(X, y).alpha_ == RidgeCV(alphas).fit(X, targets).alpha_
    weighted = LeastSquaresOPLSCV(alphas=alphas).fit(X, targets, weight)
    assert weighted.alpha_ == RidgeCV(alphas).fit(X, targets, weight).alpha_


@pytest.mark.parametrize("cls", [LeastSquaresLDACV, LeastSquaresCCACV, LeastSquaresOPLSCV, LeastSquaresFeaturesCV])
@pytest.mark.parametrize("penalty", ["lasso", "elasticnet", "group"])
def test_sparse_penalties_are_chosen_on_folds(cls, penalty):
    rng = np.random.default_rng(18)
    X = rng.normal(size=(90, 25))
    y = (X[:, 0] + 0.3 * rng.normal(size=90) > 0).astype(int) + (X[:, 1] > 0.5)
    model = cls(penalty=penalty, alphas=[1e-3, 1.0, 1e3], tol=1e-6).fit(X, y)
    assert model.alpha_ == 1.0
    assert 0 < np.count_nonzero(model.components_) < model.components_.size


def test_a_kernels_folds_are_those_of_its_feature_space():
    rng = np.random.default_rng(19)
    X, Y = inputs(rng, 30, 50), labels(rng, 30)
    linear = HypergraphFeaturesCV(cv=3).fit(X, Y)
    kernel = HypergraphFeaturesCV(cv=3, kernel="linear").fit(X, Y)
    np.testing.assert_allclose(kernel.cv_errors_, linear.cv_errors_, rtol=1e-6)


def test_of_equal_errors_the_largest_alpha_wins():
    """Above the largest alpha that leaves a weight, every error is that of predicting nothing."""
    X, y = load_iris(return_X_y=True)
    model = LeastSquaresLDACV(penalty="lasso", alphas=[1e7, 1e9, 1e8]).fit(X - X.mean(axis=0), y)
    assert len(set(model.cv_errors_)) == 1
    assert (model.alpha_, model.best_index_) == (1e9, 1)


@pytest.mark.parametrize("cls", [LeastSquaresLDACV, LeastSquaresOPLSCV])
@pytest.mark.parametrize("cv", [None, 4])
def test_the_search_is_reported_as_scikit_learns_are(cls, cv):
    X, y = load_iris(return_X_y=True)
    model = cls(alphas=[0.1, 10.0, 1000.0], cv=cv).fit(X, y)
    results = model.cv_results_
    np.testing.assert_allclose(results["mean_test_score"], -model.cv_errors_)
    assert model.best_params_ == {"alpha": model.alpha_}
    assert results["params"][model.best_index_] == model.best_params_
    assert model.best_score_ == results["mean_test_score"].max()
    assert results["rank_test_score"][model.best_index_] == 1
    np.testing.assert_array_equal(results["param_alpha"], model.alphas_)
    splits = [name for name in results if name.startswith("split")]
    assert len(splits) == (cv or 1)
    np.testing.assert_allclose(np.mean([results[name] for name in splits], axis=0), results["mean_test_score"])
    np.testing.assert_allclose(np.std([results[name] for name in splits], axis=0), results["std_test_score"])


@pytest.mark.parametrize(("options", "words"), [({}, "leave-one-out"), ({"cv": 3}, "fold 3 of 3")])
def test_candidates_are_told_to_whoever_listens(options, words):
    X, y = load_iris(return_X_y=True)
    heard = []
    with runtime(progress=lambda event: heard.append(str(event))):
        LeastSquaresLDACV(alphas=[1.0, 10.0], **options).fit(X, y)
    assert any("candidate alpha" in said and words in said for said in heard)
