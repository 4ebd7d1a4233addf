"""What the models share: kernels, unlabelled rows, the fitted chain, moments, penalties and their paths."""

import numpy as np
import pytest
from ls_problems import inputs, labels, largest_angle
from scipy import sparse
from sklearn.datasets import load_iris, load_linnerud, make_moons
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline

from eigenfeat import (
    LeastSquaresCCA,
    LeastSquaresFeatures,
    LeastSquaresLDA,
    LeastSquaresOPLS,
)
from eigenfeat.moments import CrossMoments, collect_cross_moments, collect_moments

# ---------------------------------------------------------------------- unlabelled rows


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("solver", ["eigen", "primal", "block_cg", "lsqr"])
def test_unlabelled_rows_add_their_laplacian_to_the_noise(solver, is_sparse):
    rng = np.random.default_rng(12)
    X, more, Y = inputs(rng, 30, 6), inputs(rng, 50, 6), rng.normal(size=(30, 3))
    W = kneighbors_graph(np.vstack([X, more]), 4).toarray()
    W = np.maximum(W, W.T)
    laplacian = np.diag(W.sum(axis=0)) - W
    everything, A, B = np.vstack([X, more]), X - X.mean(axis=0), Y - Y.mean(axis=0)
    noise = A.T @ A + 2.0 * 30 / (W.sum() / 2) * everything.T @ laplacian @ everything
    values, vectors = np.linalg.eig(np.linalg.solve(noise, A.T @ B @ B.T @ A))
    order = np.argsort(values.real)[::-1][:3]
    given = sparse.csr_array(X) if is_sparse else X
    model = LeastSquaresOPLS(alpha=0, smoothness=2.0, n_neighbors=4, solver=solver, tol=1e-12).fit(
        given, Y, X_unlabelled=more
    )
    np.testing.assert_allclose(model.eigenvalues_, values.real[order], rtol=1e-8)
    assert largest_angle(model.components_.T, vectors.real[:, order]) < 1e-7


def test_unlabelled_rows_help_where_labels_are_few():
    """Two long parallel clusters: ten labels fix the direction badly, the clusters' shape fixes it well."""
    rng = np.random.default_rng(13)
    gains = []
    for _ in range(10):
        y = np.arange(400) % 2
        X = np.column_stack([2.0 * y + 0.2 * rng.normal(size=400), 4.0 * rng.normal(size=400)])
        X = np.hstack([X, 0.3 * rng.normal(size=(400, 6))])
        few = np.arange(10)
        truth = np.eye(8)[:, :1]
        plain = LeastSquaresLDA(alpha=0, ridge=0.01).fit(X[few], y[few])
        helped = LeastSquaresLDA(alpha=0, ridge=0.01, smoothness=1.0).fit(X[few], y[few], X_unlabelled=X[10:])
        gains.append(largest_angle(plain.components_.T, truth) - largest_angle(helped.components_.T, truth))
    assert np.mean(gains) > 0.1


@pytest.mark.parametrize("options", [{}, {"alpha": 0.3}, {"alpha": 0.3, "solver": "dual"}])
def test_a_linear_kernel_takes_unlabelled_rows_as_the_linear_model_does(options):
    rng = np.random.default_rng(23)
    X, more, Y, weight = inputs(rng, 25, 6), inputs(rng, 30, 6), rng.normal(size=(25, 2)), rng.uniform(0.5, 2, size=25)
    Y[:, 0] += X[:, 0]
    models = [
        LeastSquaresOPLS(smoothness=0.5, kernel=kernel, **options).fit(X, Y, weight, X_unlabelled=more)
        for kernel in (None, "linear")
    ]
    linear, kernel = models
    assert kernel.alpha_ == pytest.approx(linear.alpha_, rel=1e-6) and kernel.X_fit_.shape == (55, 6)
    if options:
        np.testing.assert_allclose(kernel.transform(more), linear.transform(more), atol=1e-8)
        np.testing.assert_allclose(kernel.predict(more), linear.predict(more), atol=1e-8)
        np.testing.assert_allclose(kernel.eigenvalues_, linear.eigenvalues_, rtol=1e-8)


def test_unlabelled_rows_help_a_kernel_where_labels_are_few():
    """Belkin's two moons: three labels a moon, and the shape of the moons."""
    gains = []
    for seed in range(5):
        X, y = make_moons(200, noise=0.08, random_state=seed)
        few = np.concatenate([np.flatnonzero(y == c)[:3] for c in (0, 1)])
        rest = np.setdiff1d(np.arange(200), few)
        options = {"kernel": "rbf", "gamma": 3.0, "alpha": 1e-3}
        plain = LeastSquaresOPLS(**options).fit(X[few], y[few])
        helped = LeastSquaresOPLS(smoothness=10.0, **options).fit(X[few], y[few], X_unlabelled=X[rest])
        right = [np.mean((model.predict(X[rest]) > 0.5) == y[rest]) for model in (plain, helped)]
        gains.append(right[1] - right[0])
    assert np.mean(gains) > 0.03


def test_unlabelled_rows_pass_through_a_pipeline():
    from sklearn import config_context
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng(14)
    X, more, y = inputs(rng, 30, 5), inputs(rng, 40, 5), np.arange(30) % 2
    with config_context(enable_metadata_routing=True):
        model = make_pipeline(
            StandardScaler(), LeastSquaresLDA().set_fit_request(X_unlabelled=True), transform_input=["X_unlabelled"]
        ).fit(X, y, X_unlabelled=more)
    scaler = StandardScaler().fit(X)
    direct = LeastSquaresLDA().fit(scaler.transform(X), y, X_unlabelled=scaler.transform(more))
    np.testing.assert_allclose(model[-1].components_, direct.components_)


# ---------------------------------------------------------------------- the fitted chain


@pytest.mark.parametrize("options", [{}, {"kernel": "rbf"}, {"kernel": "poly", "degree": 2}])
def test_projections_and_predictions_are_one_chain(options):
    X, Y = load_linnerud(return_X_y=True)
    model = LeastSquaresCCA(ridge=0.1, **options).fit(X, Y)
    Z = model.transform(X)
    np.testing.assert_allclose(Z, model.fitted_.features.at(X))
    np.testing.assert_allclose(model.predict(X), Z @ model.y_loadings_ + model.y_mean_)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-9)  # rows are seen from their mean
    if not options:
        np.testing.assert_allclose(Z, X @ model.components_.T + model.offsets_, atol=1e-10)
    assert model.criterion_ == "least-squares"
    assert model.transform(X.astype(np.float32)).dtype == model.predict(X.astype(np.float32)).dtype == np.float32


def test_flat_targets_are_predicted_flat():
    X, Y = load_linnerud(return_X_y=True)
    assert LeastSquaresOPLS().fit(X, Y[:, 0]).predict(X).shape == (20,)
    assert LeastSquaresOPLS().fit(X, Y[:, :1]).predict(X).shape == (20, 1)


def test_targets_are_projected_beside_named_columns():
    X, Y = load_linnerud(return_X_y=True)
    plain = LeastSquaresCCA().fit(X, Y)
    named = LeastSquaresCCA().set_output(transform="pandas").fit(X, Y)
    for one, other in zip(named.transform(X, Y), plain.transform(X, Y)):
        np.testing.assert_allclose(one, other)


def test_the_default_gamma_is_that_of_the_kernel_family():
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(20).uniform(0.5, 2, size=150)
    model = LeastSquaresLDA(kernel="rbf", ridge=0.1).fit(X, y)
    assert model.gamma_ == pytest.approx(1 / (4 * X.var()))
    given = LeastSquaresLDA(kernel="rbf", ridge=0.1, gamma=model.gamma_).fit(X, y)
    np.testing.assert_allclose(model.transform(X), given.transform(X))
    mean = np.average(X.mean(axis=1), weights=weight)
    variance = np.average(((X - mean) ** 2).mean(axis=1), weights=weight)
    assert LeastSquaresLDA(kernel="rbf", ridge=0.1).fit(X, y, weight).gamma_ == pytest.approx(1 / (4 * variance))


def test_a_kernel_of_ones_own_is_a_function_of_two_rows():
    X, y = load_iris(return_X_y=True)
    X, y = X[::3], y[::3]
    own = LeastSquaresLDA(kernel=lambda a, b: (0.5 * a @ b + 1) ** 2, ridge=0.1).fit(X, y)
    named = LeastSquaresLDA(kernel="poly", gamma=0.5, degree=2, ridge=0.1).fit(X, y)
    np.testing.assert_allclose(own.transform(X[:5]), named.transform(X[:5]), atol=1e-8)


# ---------------------------------------------------------------------- moments


def moments_of_halves(collect, X, y, weight):
    halves = (np.arange(len(weight)) % 2 == half for half in (0, 1))
    one, other = (collect(X[rows], y[rows], weight[rows]) for rows in halves)
    return one.merge(other)


OPTIONS = [
    {"alpha": 0},
    {"penalty": None, "ridge": 0.2},
    {"alpha": 3.0},
    {"n_components": 1, "alpha": 0, "solver": "primal"},
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("cls", [LeastSquaresLDA, LeastSquaresCCA, LeastSquaresOPLS, LeastSquaresFeatures])
def test_moments_of_two_halves_fit_as_their_rows(cls, options):
    rng = np.random.default_rng(21)
    X, Y, weight = inputs(rng, 90, 7) + 4.0, labels(rng, 90), rng.uniform(0.2, 2, size=90)
    X[:, :5] += Y
    y = np.array(["a", "b", "c"])[rng.integers(3, size=90)] if cls is LeastSquaresLDA else Y
    rows = cls(**options).fit(X, y, weight)
    collect = collect_moments if cls is LeastSquaresLDA else collect_cross_moments
    moments = cls(**options).fit_moments(moments_of_halves(collect, X, y, weight))
    assert (moments.solver_, moments.criterion_) == ("primal", "least-squares")
    for name in ("components_", "eigenvalues_", "offsets_", "mean_", "converged_"):
        np.testing.assert_allclose(getattr(moments, name), getattr(rows, name), atol=1e-8)
    np.testing.assert_allclose(moments.transform(X), rows.transform(X), atol=1e-8)
    for name in ("y_loadings_", "y_mean_", "y_components_", "x_loadings_", "canonical_correlations_"):
        if hasattr(rows, name):
            np.testing.assert_allclose(getattr(moments, name), getattr(rows, name), atol=1e-8)
    if cls is LeastSquaresLDA:
        assert moments.classes_.tolist() == rows.classes_.tolist() == ["a", "b", "c"]
    if hasattr(rows, "predict"):
        np.testing.assert_allclose(moments.predict(X), rows.predict(X), atol=1e-8)
    if cls is LeastSquaresCCA:
        scores = rows.transform(X)
        np.testing.assert_allclose(moments.inverse_transform(scores), rows.inverse_transform(scores), atol=1e-7)


@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_moments_choose_their_ridge_by_generalized_cross_validation(ridge):
    """Near what leave-one-out chooses where rows are many and alike."""
    rng = np.random.default_rng(25)
    X = rng.normal(size=(400, 30))
    Y = X[:, :2] + 5 * rng.normal(size=(400, 2))
    rows = LeastSquaresOPLS(ridge=ridge).fit(X, Y)
    moments = LeastSquaresOPLS(ridge=ridge).fit_moments(collect_cross_moments(X, Y))
    assert abs(np.log10(moments.alpha_ / rows.alpha_)) < 0.35
    np.testing.assert_allclose(moments.predict(X), rows.predict(X), atol=0.2)


def test_moments_of_few_rows_cannot_choose_a_ridge():
    X, y = inputs(np.random.default_rng(22), 30, 80), np.arange(30) % 3
    with pytest.raises(ValueError, match="alpha='loo' cannot be chosen from the moments of about as many rows"):
        LeastSquaresLDA().fit_moments(collect_moments(X, y))


def test_moments_of_a_vector_predict_a_vector():
    X, Y = load_linnerud(return_X_y=True)
    rows = LeastSquaresOPLS(alpha=0).fit(X, Y[:, 0])
    moments = LeastSquaresOPLS(alpha=0).fit_moments(collect_cross_moments(X, Y[:, 0]))
    assert moments.predict(X).shape == (20,)
    np.testing.assert_allclose(moments.predict(X), rows.predict(X), atol=1e-8)


def test_wide_class_moments_fit_as_their_rows():
    rng = np.random.default_rng(22)
    X, y = inputs(rng, 30, 80), np.arange(30) % 3
    moments = LeastSquaresLDA(alpha=0, ridge=0.1).fit_moments(collect_moments(X, y))
    assert moments.solver_ == "dual"  # moments of few rows hold these, and no d × d matrix
    with pytest.raises(ValueError, match=r"solver='primal' works on rows.*set solver='auto' or 'dual'"):
        LeastSquaresLDA(alpha=0, ridge=0.1, solver="primal").fit_moments(collect_moments(X, y))
    np.testing.assert_allclose(
        moments.components_, LeastSquaresLDA(alpha=0, ridge=0.1).fit(X, y).components_, atol=1e-8
    )


MOMENTS_REFUSED = {
    "lasso": (LeastSquaresOPLS(penalty="lasso"), "penalty='lasso' works on rows.*set penalty=None or 'ridge'"),
    "kernel": (LeastSquaresOPLS(kernel="rbf"), "kernel='rbf' works on rows.*set kernel=None"),
    "solver": (LeastSquaresOPLS(solver="lsqr"), "solver='lsqr' works on rows.*set solver='auto' or 'primal'"),
    "classes": (LeastSquaresLDA(), "takes the moments of rows, got CrossMoments"),
}


@pytest.mark.parametrize("case", MOMENTS_REFUSED)
def test_what_moments_cannot_do_is_refused_with_the_way_out(case):
    estimator, message = MOMENTS_REFUSED[case]
    with pytest.raises(ValueError, match=message):
        estimator.fit_moments(collect_cross_moments(*load_linnerud(return_X_y=True)))


def test_moments_that_are_none_are_refused():
    X, Y = load_linnerud(return_X_y=True)
    with pytest.raises(ValueError, match="takes the CrossMoments of rows and targets, got DenseMoments"):
        LeastSquaresCCA().fit_moments(collect_moments(X))
    with pytest.raises(ValueError, match="got moments of no rows"):
        LeastSquaresCCA().fit_moments(CrossMoments())
    with pytest.raises(ValueError, match="nothing to relate X to"):
        LeastSquaresCCA().fit_moments(collect_cross_moments(X, np.full((20, 2), 0.1)))
    with pytest.warns(UserWarning, match="n_components=5 asked for, 3 found"):
        LeastSquaresCCA(5).fit_moments(collect_cross_moments(X, Y))


# ---------------------------------------------------------------------- penalties


def test_a_vanishing_lasso_is_no_penalty():
    rng = np.random.default_rng(3)
    X, Y = inputs(rng, 60, 10), rng.normal(size=(60, 3))
    plain = LeastSquaresCCA(alpha=0).fit(X, Y)
    sparse_fit = LeastSquaresCCA(penalty="lasso", alpha=1e-9, tol=1e-10, max_iter=20_000).fit(X, Y)
    for one, other in zip(plain.components_, sparse_fit.components_):
        assert largest_angle(one[:, None], other[:, None]) < 1e-7
    np.testing.assert_allclose(sparse_fit.eigenvalues_, plain.eigenvalues_, rtol=1e-6)


def test_group_drops_whole_inputs_and_lasso_single_weights():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 12))
    Y = X[:, :3] @ rng.normal(size=(3, 4)) + 0.1 * rng.normal(size=(200, 4))
    group = LeastSquaresOPLS(2, penalty="group", alpha=2.0).fit(X, Y)
    assert np.array_equal(np.flatnonzero(group.components_.any(axis=0)), [0, 1, 2])
    lasso = LeastSquaresOPLS(2, penalty="lasso", alpha=2.0).fit(X, Y)
    assert np.count_nonzero(lasso.components_) < np.count_nonzero(group.components_)


@pytest.mark.parametrize("penalty", ["ridge", "lasso", "elasticnet", "group"])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_path_is_the_fits_it_stands_for(penalty, is_sparse):
    rng = np.random.default_rng(5)
    X, y = inputs(rng, 60, 12), np.arange(60) % 3
    X[:, :2] += y[:, None]
    X = sparse.csr_array(X) if is_sparse else X
    model = LeastSquaresLDA(penalty=penalty, tol=1e-10, max_iter=20_000)
    path = model.path(X, y)
    assert np.all(np.diff(path.alphas) < 0)
    for i in (1, len(path.alphas) // 2, len(path.alphas) - 1):
        alone = LeastSquaresLDA(penalty=penalty, alpha=path.alphas[i], tol=1e-10, max_iter=20_000).fit(X, y)
        scale = np.abs(path.components[i]).max()
        np.testing.assert_allclose(path.components[i], alone.components_, atol=1e-8 * scale)
        np.testing.assert_allclose(path.eigenvalues[i], alone.eigenvalues_, rtol=1e-8)
        np.testing.assert_allclose(path.offsets[i], alone.offsets_, atol=1e-8 * scale)
    if penalty != "ridge":
        assert not path.components[0].any()
        assert np.count_nonzero(path.components[-1]) > np.count_nonzero(path.components[10])


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_the_path_of_a_kernel_is_the_fits_it_stands_for(kernel):
    rng = np.random.default_rng(24)
    X, y, weight = inputs(rng, 40, 5), np.arange(40) % 3, rng.uniform(0.5, 2, size=40)
    K = rbf_kernel(X, gamma=0.2)
    given = K if kernel == "precomputed" else X
    options = {"kernel": kernel, "gamma": 0.2}
    path = LeastSquaresLDA(**options).path(given, y, [0.1, 10.0, 1.0], sample_weight=weight)
    assert path.components is None and path.alphas.tolist() == [10.0, 1.0, 0.1]
    for i, alpha in enumerate(path.alphas):
        alone = LeastSquaresLDA(alpha=alpha, **options).fit(given, y, weight)
        np.testing.assert_allclose(K @ path.dual_coef[i].T + path.offsets[i], alone.transform(given), atol=1e-8)
        np.testing.assert_allclose(path.eigenvalues[i], alone.eigenvalues_, rtol=1e-8)


def test_path_by_warm_started_iterations_is_the_path_by_decomposition():
    rng = np.random.default_rng(6)
    X, Y, alphas = inputs(rng, 40, 60), rng.normal(size=(40, 3)), [10.0, 1.0, 0.1]
    by_spectrum = LeastSquaresCCA(penalty="ridge").path(X, Y, alphas)
    by_iteration = LeastSquaresCCA(penalty="ridge", solver="block_cg", tol=1e-12).path(X, Y, alphas)
    np.testing.assert_allclose(by_iteration.components, by_spectrum.components, atol=1e-6)


def test_a_path_leaves_what_was_fitted_as_it_is():
    X, y = load_iris(return_X_y=True)
    model = LeastSquaresLDA(penalty="ridge").fit(X, y)
    before = dict(vars(model))
    model.path(X[:100, :2], y[:100], [1.0, 0.1])
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())


# ---------------------------------------------------------------------- kernels


def test_linear_kernel_is_the_linear_model():
    rng = np.random.default_rng(10)
    X, y = inputs(rng, 40, 60), np.arange(40) % 3
    weight = rng.uniform(0.5, 2, size=40)
    new = inputs(rng, 10, 60)
    linear = LeastSquaresLDA(penalty="ridge").fit(X, y, weight)
    kernel = LeastSquaresLDA(penalty="ridge", kernel="linear").fit(X, y, weight)
    given = LeastSquaresLDA(penalty="ridge", kernel="precomputed").fit(X @ X.T, y, weight)
    np.testing.assert_allclose(kernel.transform(new), linear.transform(new), atol=1e-8)
    np.testing.assert_allclose(given.transform(new @ X.T), linear.transform(new), atol=1e-8)
    np.testing.assert_allclose(kernel.dual_coef_ @ X, linear.components_, atol=1e-8)


def test_a_kernel_tells_rings_apart():
    rng = np.random.default_rng(11)
    angle, y = rng.uniform(0, 2 * np.pi, 200), np.arange(200) % 2
    X = (1 + y)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]) + 0.1 * rng.normal(size=(200, 2))
    Z = LeastSquaresLDA(kernel="rbf", penalty="ridge", alpha=0.1).fit(X[:100], y[:100]).transform(X[100:])
    assert LinearDiscriminantAnalysis().fit(Z, y[100:]).score(Z, y[100:]) > 0.97
    plain = LeastSquaresLDA().fit(X[:100], y[:100]).transform(X[100:])
    assert LinearDiscriminantAnalysis().fit(plain, y[100:]).score(plain, y[100:]) < 0.7
