"""The public classes against independent implementations, and what they refuse."""

import warnings

import cca_zoo.linear
import numpy as np
import pandas as pd
import pytest
from ls_problems import brute_force, inputs, labels, largest_angle
from scipy import sparse
from sklearn.cross_decomposition import CCA
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_linnerud, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from eigenfeat import (
    HypergraphFeatures,
    LeastSquaresCCA,
    LeastSquaresCCACV,
    LeastSquaresFeatures,
    LeastSquaresFeaturesCV,
    LeastSquaresLDA,
    LeastSquaresLDACV,
    LeastSquaresOPLS,
    LeastSquaresOPLSCV,
)
from eigenfeat.estimators import least_squares
from eigenfeat.least_squares.targets import hypergraph_factor

MULTI_OUTPUT = [LeastSquaresCCA, LeastSquaresOPLS, HypergraphFeatures, LeastSquaresFeatures]


@parametrize_with_checks(
    [
        LeastSquaresLDA(penalty="lasso", alpha=0.01),
        LeastSquaresCCA(kernel="rbf"),
        LeastSquaresOPLS(solver="block_cg"),
        HypergraphFeatures(penalty="group", alpha=0.01, graph="zhou"),
        LeastSquaresLDA(alpha=0),
        LeastSquaresLDACV(cv=3),
        LeastSquaresFeaturesCV(penalty="elasticnet", alphas=[0.1, 1.0]),
    ]
)
def test_scikit_learn_checks_beyond_the_defaults(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


def digits():
    X, y = load_digits(return_X_y=True)
    kept = X.std(axis=0) > 0
    return X[:, kept], y


# ---------------------------------------------------------------------- oracles


def test_lda_spans_scikit_learns_discriminants():
    X, y = digits()
    X = X + 1e-3 * np.random.default_rng(0).normal(size=X.shape)  # their "eigen" solver cannot take a singular scatter
    reference = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    ours = LeastSquaresLDA(alpha=0).fit(X, y)
    for k in (1, 4, 9):
        assert largest_angle(ours.components_[:k].T, reference.scalings_[:, :k]) < 1e-6
    ratios = ours.eigenvalues_ / (1 - ours.eigenvalues_)
    np.testing.assert_allclose(ratios / ratios.sum(), reference.explained_variance_ratio_, rtol=1e-6)


def test_cca_finds_scikit_learns_first_components():
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(300, 2)) * [1.0, 0.7]
    X = np.column_stack([Z, rng.normal(size=(300, 3))]) @ rng.normal(size=(5, 5))
    Y = np.column_stack([Z + 0.5 * rng.normal(size=(300, 2)), rng.normal(size=(300, 2))]) @ rng.normal(size=(4, 4))
    theirs, ours = CCA(2, scale=False, max_iter=5000, tol=1e-10).fit(X, Y), LeastSquaresCCA(2, alpha=0).fit(X, Y)
    assert largest_angle(ours.components_.T, theirs.x_rotations_) < 1e-7
    assert largest_angle(ours.y_components_.T, theirs.y_rotations_) < 1e-7


@pytest.mark.skipif(not hasattr(cca_zoo.linear, "RidgeCCA"), reason="older ones call it and its parameters otherwise")
def test_cca_with_a_ridge_is_cca_zoos():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(120, 6)) @ rng.normal(size=(6, 6))
    Y = X[:, :3] @ rng.normal(size=(3, 4)) + 3 * rng.normal(size=(120, 4))
    c = 0.3  # theirs: (1 - c) of the covariance and c of the identity
    theirs = cca_zoo.linear.RidgeCCA(n_components=3, shrinkage=[c, 0.0]).fit([X, Y])
    ours = LeastSquaresCCA(3, penalty="ridge", alpha=(len(X) - 1) * c / (1 - c)).fit(X, Y)
    for k in (1, 2, 3):
        assert largest_angle(ours.components_[:k].T, theirs.weights_[0][:, :k]) < 1e-6
        assert largest_angle(ours.y_components_[:k].T, theirs.weights_[1][:, :k]) < 1e-6


@pytest.mark.parametrize("k", [1, 2, 3])
def test_opls_is_reduced_rank_regression(k):
    """The best prediction of rank k is the ordinary one projected on its own first k principal directions."""
    rng = np.random.default_rng(3)
    X, Y = inputs(rng, 80, 7), rng.normal(size=(80, 4))
    Y += X[:, :4]
    full = LinearRegression().fit(X, Y).predict(X)
    _, _, Vt = np.linalg.svd(full - Y.mean(axis=0), full_matrices=False)
    closed_form = Y.mean(axis=0) + (full - Y.mean(axis=0)) @ Vt[:k].T @ Vt[:k]
    np.testing.assert_allclose(LeastSquaresOPLS(k, alpha=0).fit(X, Y).predict(X), closed_form, atol=1e-8)


@pytest.mark.parametrize("cls", [LeastSquaresCCA, LeastSquaresOPLS])
def test_all_components_predict_as_ridge_regression_does(cls):
    rng = np.random.default_rng(4)
    X, Y = inputs(rng, 40, 60), rng.normal(size=(40, 3))
    ridge = Ridge(alpha=2.0).fit(X, Y)
    np.testing.assert_allclose(cls(penalty="ridge", alpha=2.0).fit(X, Y).predict(X), ridge.predict(X), atol=1e-8)


@pytest.mark.parametrize("graph", ["star", "clique", "zhou"])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_hypergraphs_solve_their_eigenproblem(graph, is_sparse):
    rng = np.random.default_rng(5)
    X, Y = inputs(rng, 50, 10), labels(rng, 50)
    given = (sparse.csr_array(X), sparse.csr_array(Y)) if is_sparse else (X, Y)
    model = HypergraphFeatures(graph=graph, penalty="ridge", alpha=0.5).fit(*given)
    values, vectors = brute_force(X, hypergraph_factor(Y, graph).toarray(), False, 0.5)
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-8)
    assert largest_angle(model.components_.T, vectors) < 1e-8


def test_one_class_a_row_is_a_hypergraph_too():
    X, y = load_iris(return_X_y=True)
    by_class = HypergraphFeatures().fit(X, y)
    np.testing.assert_allclose(by_class.components_, HypergraphFeatures().fit(X, np.eye(3)[y]).components_)


@pytest.mark.parametrize("cls", MULTI_OUTPUT)
@pytest.mark.parametrize("solver", ["auto", "primal", "dual", "block_cg"])
def test_many_columns_of_targets_solve_their_eigenproblem(cls, solver):
    """More than the reduction of H is made for, more than inputs, some of them alike; and only the first asked for."""
    rng = np.random.default_rng(30)
    X, Y = inputs(rng, 150, 12), (rng.random((150, 110)) < 0.2).astype(float)
    Y[:, 1] = Y[:, 0]
    Y[:, :12] *= X > 0
    H = hypergraph_factor(Y, "star").toarray() if cls is HypergraphFeatures else Y
    values, vectors = brute_force(X, H, cls is LeastSquaresCCA, 0.5)
    for given in (Y, sparse.csr_array(Y)):
        for k in (4, None):
            model = cls(k, alpha=0.5, solver=solver, tol=1e-12).fit(X, given)
            np.testing.assert_allclose(model.eigenvalues_, values[:k], rtol=1e-8)
            assert largest_angle(model.components_.T, vectors[:, :k]) < 1e-6


# ---------------------------------------------------------------------- defaults


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_defaults_are_as_good_as_plain_lda_on_columns_of_any_unit(load):
    X, y = load(return_X_y=True)  # variances of 1e-6 beside 1e5
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    plain, ours = LinearDiscriminantAnalysis(), make_pipeline(LeastSquaresLDA(), LinearDiscriminantAnalysis())
    right = [cross_val_score(model, X, y, cv=folds).mean() for model in (plain, ours)]
    assert right[1] > right[0] - 0.012  # two rows of wine's
    double, single = LeastSquaresLDA().fit(X, y), LeastSquaresLDA().fit(X.astype(np.float32), y)
    thin = LeastSquaresLDA().fit(sparse.csr_array(X), y)
    assert single.alpha_ == pytest.approx(double.alpha_, rel=1e-5)
    Z = double.transform(X)
    np.testing.assert_allclose(single.transform(X.astype(np.float32)), Z, atol=1e-5 * np.abs(Z).max())
    np.testing.assert_allclose(thin.transform(X), Z, atol=1e-9 * np.abs(Z).max())


def test_the_plain_eigenproblem_is_one_argument_away():
    X, y = load_iris(return_X_y=True)
    plain, none = LeastSquaresLDA(alpha=0).fit(X, y), LeastSquaresLDA(penalty=None).fit(X, y)
    np.testing.assert_allclose(plain.components_, none.components_, atol=1e-10)
    assert plain.alpha_ == none.alpha_ == 0 < LeastSquaresLDA().fit(X, y).alpha_


def test_a_ridge_is_chosen_where_plain_least_squares_fits_noise():
    rng = np.random.default_rng(31)
    X = rng.normal(size=(300, 100))
    Y = X[:, :3] + 2 * rng.normal(size=(300, 3))
    default, plain = (LeastSquaresOPLS(**o).fit(X[:120], Y[:120]).score(X[120:], Y[120:]) for o in ({}, {"alpha": 0}))
    assert default > 0.02 > plain


def test_too_many_rows_and_columns_choose_their_ridge_on_some_rows(monkeypatch):
    rng = np.random.default_rng(32)
    X = rng.normal(size=(120, 60))
    Y = X[:, :2] + rng.normal(size=(120, 2))
    exact = LeastSquaresOPLS().fit(X, Y)
    monkeypatch.setattr(least_squares, "DECOMPOSED", 50)
    some = LeastSquaresOPLS().fit(X, Y)
    assert some.solver_ == "primal" and 0.05 < some.alpha_ / exact.alpha_ < 20
    kernel = LeastSquaresOPLS(kernel="precomputed").fit(X @ X.T, Y)  # draws by other numbers, so other rows
    assert 0.05 < kernel.alpha_ / exact.alpha_ < 20
    same = LeastSquaresOPLS(alpha=kernel.alpha_).fit(X, Y)
    np.testing.assert_allclose(kernel.transform(X @ X.T), same.transform(X), atol=1e-6)


def test_a_sparse_penalty_is_chosen_on_folds_by_default():
    X, Y = load_linnerud(return_X_y=True)
    assert LeastSquaresOPLS(penalty="lasso").fit(X, Y).alpha_ == LeastSquaresOPLSCV(penalty="lasso").fit(X, Y).alpha_


# ---------------------------------------------------------------------- deficient targets


@pytest.mark.parametrize("cls", MULTI_OUTPUT)
def test_deficient_targets_are_those_without_the_surplus(cls):
    """A duplicated column, an empty one and rows without labels change nothing that the pseudo-inverse would not."""
    rng = np.random.default_rng(6)
    X, Y = inputs(rng, 40, 15), labels(rng, 40)
    model = cls(alpha=0).fit(X, Y)
    assert len(model.eigenvalues_) == np.linalg.matrix_rank(Y - Y.mean(axis=0)) == 3
    if cls is LeastSquaresCCA:
        distinct = cls(alpha=0).fit(X, Y[:, [0, 3, 4]])
        np.testing.assert_allclose(model.components_, distinct.components_, atol=1e-8)


@pytest.mark.parametrize("cls", [*MULTI_OUTPUT, LeastSquaresCCACV])
@pytest.mark.parametrize("Y", [np.zeros((20, 3)), np.ones((20, 2))], ids=["empty", "constant"])
def test_targets_that_say_nothing_are_refused(cls, Y):
    with pytest.raises(ValueError, match="nothing to relate X to"):
        cls().fit(inputs(np.random.default_rng(7), 20, 4), Y)


# ---------------------------------------------------------------------- input


@pytest.mark.parametrize("solver", ["auto", "eigen", "primal", "dual", "block_cg", "lsqr"])
def test_integer_sparse_input_is_cast_before_any_product(solver):
    rng = np.random.default_rng(8)
    X = rng.poisson(0.4, size=(60, 25)) * 50
    y = np.arange(60) % 4
    counts = sparse.csr_array(X.astype(np.uint8))
    exact = LeastSquaresLDA(penalty="ridge", alpha=10.0).fit(X.astype(float), y)
    model = LeastSquaresLDA(penalty="ridge", alpha=10.0, solver=solver, tol=1e-12).fit(counts, y)
    np.testing.assert_allclose(model.components_, exact.components_, atol=1e-8)
    np.testing.assert_allclose(model.transform(counts), exact.transform(X), atol=1e-8)


@pytest.mark.parametrize(
    "options", [{}, {"penalty": "ridge"}, {"penalty": "lasso", "alpha": 0.1}, {"kernel": "rbf", "gamma": 0.25}]
)
def test_float32_in_float32_out(options):
    X, y = load_iris(return_X_y=True)
    single = LeastSquaresLDA(**options, tol=1e-5).fit(X.astype(np.float32), y)
    double = LeastSquaresLDA(**options, tol=1e-5).fit(X, y)
    Z = single.transform(X.astype(np.float32))
    assert Z.dtype == np.float32
    # A kernel without a ridge: its matrix has no full rank in float32, whose cut leaves out what float64 still sees.
    tolerance = 2e-2 if "kernel" in options else 1e-5
    assert largest_angle(Z[:, :1].astype(float), double.transform(X)[:, :1]) < tolerance


def test_cca_returns_targets_rows_and_predictions():
    X, Y = load_linnerud(return_X_y=True, as_frame=True)
    cca = LeastSquaresCCA(alpha=0).fit(X, Y)
    x_scores, y_scores = cca.transform(X, Y)
    np.testing.assert_allclose(x_scores.T @ y_scores, np.diag(cca.canonical_correlations_), atol=1e-10)
    np.testing.assert_allclose(y_scores.T @ y_scores, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(cca.inverse_transform(x_scores), X, atol=1e-8)  # as many components as inputs
    np.testing.assert_allclose(cca.predict(X), LinearRegression().fit(X, Y).predict(X), atol=1e-8)
    named = cca.set_output(transform="pandas").transform(X)
    assert isinstance(named, pd.DataFrame)
    assert list(named.columns) == ["leastsquarescca0", "leastsquarescca1", "leastsquarescca2"]


def test_relative_ridge_does_not_know_the_unit_of_measurement():
    rng = np.random.default_rng(9)
    X, Y = inputs(rng, 30, 8), rng.normal(size=(30, 2))
    metres, millimetres = (LeastSquaresCCA(alpha=0, ridge=0.1).fit(unit * X, Y) for unit in (1.0, 1000.0))
    np.testing.assert_allclose(metres.eigenvalues_, millimetres.eigenvalues_, rtol=1e-9)


# ---------------------------------------------------------------------- refusals and warnings


def test_fewer_components_than_asked_is_a_warning_with_a_number():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(UserWarning, match="n_components=5 asked for, 2 found"):
        assert LeastSquaresLDA(5).fit_transform(X, y).shape == (150, 2)


REFUSED = {
    "kernel and lasso": (LeastSquaresLDA(kernel="rbf", penalty="lasso"), {}, 'penalty=None or "ridge" with a kernel'),
    "kernel and primal": (
        LeastSquaresLDA(kernel="rbf", solver="primal"),
        {},
        r"needs rows with columns .*solvers that can: eigen, dual",
    ),
    "graph of another width": (LeastSquaresLDA(), {"X_unlabelled": np.ones((5, 3))}, "X_unlabelled has 3 features"),
    "unlabelled NaN": (LeastSquaresLDA(), {"X_unlabelled": np.full((5, 4), np.nan)}, "X_unlabelled contains NaN"),
    "negative alphas": (LeastSquaresLDACV(alphas=[-1.0, 1.0]), {}, "alphas must be a list of non-negative"),
    "no sparse alpha": (LeastSquaresLDACV(penalty="lasso", alphas=[0.0, 1.0]), {}, "list of positive numbers"),
    "no lasso": (LeastSquaresLDA(penalty="lasso", alpha=0.0), {}, "is no penalty: set penalty=None"),
    "negative alpha": (LeastSquaresLDA(alpha=-1.0), {}, "'alpha' parameter"),
    "no penalty to search": (LeastSquaresLDACV(penalty=None), {}, "'penalty' parameter"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_done_is_refused_with_the_way_out(case):
    estimator, fit_params, message = REFUSED[case]
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        estimator.fit(X, y, **fit_params)


def test_a_precomputed_kernel_is_dense_and_square():
    X, y = load_iris(return_X_y=True)
    for given, words in ((sparse.csr_array(X @ X.T), "got sparse rows"), (X, r"got dense rows of shape \(150, 4\)")):
        with pytest.raises(ValueError, match=f"takes the dense square kernel matrix .*{words}"):
            LeastSquaresLDA(kernel="precomputed").fit(given, y)


def test_a_precomputed_kernel_has_no_values_of_unlabelled_rows():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="X_unlabelled needs a kernel by name"):
        LeastSquaresLDA(kernel="precomputed").fit(X @ X.T, y, X_unlabelled=X)


def test_other_refusals():
    X, Y = load_linnerud(return_X_y=True)
    cca = LeastSquaresCCA().fit(X, Y)
    with pytest.raises(ValueError, match="y has 2 columns, the one that was fitted had 3"):
        cca.transform(X, Y[:, :2])
    with pytest.raises(ValueError, match="Expected projections on 3 components, got 2"):
        cca.inverse_transform(X[:, :2])
    with pytest.raises(ValueError, match="inverse_transform needs kernel=None"):
        LeastSquaresCCA(kernel="rbf").fit(X, Y).inverse_transform(X)
    with pytest.raises(ValueError, match="zeros and ones"):
        HypergraphFeatures().fit(X, Y)
    with pytest.raises(ValueError, match="path needs a penalty"):
        LeastSquaresCCA(penalty=None).path(X, Y)
    with pytest.raises(ValueError, match="alphas must be a list of positive numbers"):
        LeastSquaresCCA(penalty="lasso").path(X, Y, alphas=[-1.0])
    with pytest.raises(ValueError, match="no direction that varies with y"):
        LeastSquaresCCA().fit(np.ones((20, 3)), Y)


def test_sweeps_that_run_out_are_reported():
    X, y = digits()
    with pytest.warns(ConvergenceWarning, match="9 of 9 penalised targets did not reach a duality gap"):
        LeastSquaresLDA(penalty="lasso", alpha=1e-3, max_iter=2).fit(X, y)
