"""The kernel estimators: scikit-learn's contract, references, weights, storage, bad input."""

import numpy as np
import pytest
from joblib import parallel_config
from scipy import sparse
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_moons
from sklearn.decomposition import KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import scale
from sklearn.svm import SVR
from sklearn.utils.estimator_checks import parametrize_with_checks

from eigenfeat import (
    KernelFisherClassifier,
    KernelFisherClassifierCV,
    KernelFisherFeatures,
    KernelFisherRegressor,
    OrientedKernelPCA,
)

ESTIMATORS = [
    KernelFisherClassifier,
    KernelFisherClassifierCV,
    KernelFisherRegressor,
    KernelFisherFeatures,
    OrientedKernelPCA,
]
X, Y = make_moons(200, noise=0.2, random_state=0)
DIGITS, LABELS = load_digits(return_X_y=True)
DIGITS = DIGITS[:600] / 16
LABELS = LABELS[:600]


@parametrize_with_checks([estimator() for estimator in ESTIMATORS])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# ------------------------------------------------------------------ references


@pytest.mark.parametrize("penalty", ["function", "coefficients"])
def test_linear_kernel_is_fisher_lda(penalty):
    data, labels = load_breast_cancer(return_X_y=True)
    data = scale(data)
    ours = KernelFisherClassifier("linear", alpha=0.0, penalty=penalty, solver="subset", centers=np.arange(569))
    ours.fit(data, labels)
    theirs = LinearDiscriminantAnalysis().fit(data, labels)
    cosine = np.corrcoef(ours.decision_function(data), theirs.decision_function(data))[0, 1]
    assert cosine == pytest.approx(1, abs=1e-9)


def test_linear_kernel_features_span_fisher_lda():
    ours = KernelFisherFeatures(kernel="linear", alpha=1e-6).fit(DIGITS, LABELS).transform(DIGITS)
    theirs = LinearDiscriminantAnalysis(solver="svd", tol=1e-9).fit(DIGITS, LABELS).transform(DIGITS)
    theirs -= theirs.mean(axis=0)
    angles = np.linalg.svd(np.linalg.qr(ours)[0].T @ np.linalg.qr(theirs)[0], compute_uv=False)
    assert angles.min() > 0.999


def test_robust_classifier_is_support_vector_regression():
    model = KernelFisherClassifier(gamma=1.0, alpha=0.5, loss="absolute", tol=1e-6).fit(X, Y)
    targets = np.where(Y == 1, 1.0, -1.0)
    svr = SVR(gamma=1.0, C=2.0, epsilon=0.0, tol=1e-8).fit(X, targets)
    K = rbf_kernel(X, gamma=1.0)
    beta = np.zeros(200)
    beta[svr.support_] = svr.dual_coef_[0]
    theirs = np.abs(targets - svr.predict(X)).sum() + 0.5 * beta @ K @ beta / 2
    assert model.objective_[0] == pytest.approx(theirs, rel=1e-5)


def test_oriented_kernel_pca_without_noise_is_kernel_pca():
    ours = OrientedKernelPCA(3, gamma=1.0, alpha=0.04).fit(X)
    theirs = KernelPCA(3, kernel="rbf", gamma=1.0).fit(X)
    features = theirs.transform(X)
    np.testing.assert_allclose(np.abs(np.sqrt(0.04) * ours.transform(X)), np.abs(features), atol=1e-6)
    np.testing.assert_allclose(0.04 * ours.eigenvalues_, theirs.eigenvalues_ / 200, rtol=1e-8)


def test_noise_rows_turn_the_features_away_from_them():
    noise = np.random.RandomState(0).randn(100, 1) * [[0.0, 1.0]]
    oriented = OrientedKernelPCA(1, gamma=0.3, noise=noise).fit(X)
    plain = OrientedKernelPCA(1, gamma=0.3).fit(X)
    spread = [np.var(model.transform(noise)) / np.var(model.transform(X)) for model in (oriented, plain)]
    assert spread[0] < 0.3 * spread[1]


def test_joint_classifier_with_a_linear_kernel_is_lda():
    data, labels = load_iris(return_X_y=True)
    ours = KernelFisherClassifier("linear", alpha=1e-9, multi_class="joint").fit(data, labels)
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(data, labels)
    # Priors are equal; the pooled covariance is divided by n - 3 here, by n there.
    scores = [model.decision_function(data) for model in (ours, theirs)]
    ours_centred, theirs_centred = (score - score.mean(axis=1, keepdims=True) for score in scores)
    np.testing.assert_allclose(ours_centred * 150 / 147, theirs_centred, rtol=1e-6, atol=1e-6)


def test_joint_classifier_is_lda_over_kernel_columns():
    """Written out without an eigenproblem: (n - C) m̃ᵀ(N + alpha I)⁻¹(k̃ - m̃/2) + log prior, m̃ and k̃ centred."""
    rows, labels = DIGITS[:200], LABELS[:200]
    model = KernelFisherClassifier(gamma=0.05, alpha=0.05, penalty="coefficients", multi_class="joint")
    K = rbf_kernel(rows, gamma=0.05)
    means = np.array([K[labels == c].mean(axis=0) for c in range(10)])
    within = (K - means[labels]).T @ (K - means[labels])
    centred, columns = means - K.mean(axis=0), rbf_kernel(DIGITS[200:], rows, gamma=0.05) - K.mean(axis=0)
    half = 190 * np.linalg.solve(within + 0.05 * np.eye(200), centred.T)
    expected = columns @ half - np.einsum("ij,ji->i", centred, half) / 2 + np.log(np.bincount(labels) / 200)
    np.testing.assert_allclose(model.fit(rows, labels).decision_function(DIGITS[200:]), expected, atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(DIGITS).sum(axis=1), 1)


# --------------------------------------------------------------- leave-one-out


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


def test_probabilities_are_calibrated_on_rows_left_out():
    rng = np.random.RandomState(0)
    data = rng.randn(3000, 2)
    truth = 1 / (1 + np.exp(-2 * data[:, 0] * data[:, 1]))
    labels = (rng.rand(3000) < truth).astype(int)
    model = KernelFisherClassifier(gamma=0.5, alpha=0.1, threshold="least-squares").fit(data[:500], labels[:500])
    ours = log_loss(labels[500:], model.predict_proba(data[500:]))
    assert ours < log_loss(labels[500:], truth[500:]) + 0.06
    np.testing.assert_array_equal(model.predict_proba(data)[:, 1] > 0.5, model.predict(data) == 1)


def test_gaussian_probabilities_are_bayes_theorem_on_the_outputs():
    model = KernelFisherClassifier(gamma=1.0, threshold=0.0, probability="gaussian").fit(X, Y)
    q, left_out = model.decision_function(X), model.loo_decision_
    joint = [np.mean(c == Y) * norm.pdf(q, left_out[c == Y].mean(), left_out[c == Y].std()) for c in (0, 1)]
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], joint[1] / (joint[0] + joint[1]), rtol=1e-9)
    several = KernelFisherClassifierCV([0.1], [0.05], probability="gaussian").fit(DIGITS, LABELS)
    np.testing.assert_allclose(several.predict_proba(DIGITS).sum(axis=1), 1)


# ------------------------------------------------------- weights, storage, types


def test_weights_are_copies():
    rng = np.random.RandomState(0)
    copies = rng.randint(0, 3, size=200)
    for make in (
        lambda: KernelFisherClassifier(gamma=1.0),
        lambda: KernelFisherClassifierCV([0.1, 1.0], [0.5, 1.0]),
        lambda: KernelFisherClassifier(gamma=1.0, loss="absolute", tol=1e-6, threshold="least-squares"),
    ):
        weighted = make().fit(X, Y, sample_weight=copies)
        repeated = make().fit(np.repeat(X, copies, axis=0), np.repeat(Y, copies))
        np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-3)


def test_class_weights_move_the_cut():
    heavy = KernelFisherClassifier(class_weight={0: 1, 1: 20}, threshold="least-squares").fit(X, Y)
    plain = KernelFisherClassifier(threshold="least-squares").fit(X, Y)
    assert heavy.predict(X).sum() > plain.predict(X).sum()


@pytest.mark.parametrize("solver", ["linear", "subset", "nystrom", "greedy", "smo"])
def test_single_precision_and_sparse_rows(solver):
    model = KernelFisherClassifier(gamma=0.05, alpha=0.1, solver=solver, random_state=0, threshold="least-squares")
    full = model.fit(DIGITS, LABELS)
    expected = full.decision_function(DIGITS[:50])
    single = model.fit(DIGITS.astype(np.float32), LABELS)
    assert single.dual_coef_.dtype == np.float32
    found = single.decision_function(DIGITS[:50].astype(np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=0.05)
    thin = model.fit(sparse.csr_matrix(DIGITS), LABELS)
    np.testing.assert_allclose(thin.decision_function(sparse.csr_matrix(DIGITS[:50])), expected, atol=0.02)
    np.testing.assert_allclose(thin.decision_function(DIGITS[:50]), expected, atol=0.02)


@pytest.mark.parametrize("solver", ["linear", "eigen", "subset", "greedy", "nystrom", "smo"])
def test_precomputed_kernel(solver):
    K = rbf_kernel(X, gamma=1.0)
    options = {"solver": solver, "random_state": 0, "tol": 1e-9}
    given = KernelFisherClassifier("precomputed", **options).fit(K[:150, :150], Y[:150])
    named = KernelFisherClassifier("rbf", gamma=1.0, **options).fit(X[:150], Y[:150])
    np.testing.assert_allclose(given.decision_function(K[150:, :150]), named.decision_function(X[150:]), atol=1e-6)


def test_sparse_penalty_has_exact_zeros():
    model = KernelFisherClassifier(gamma=1.0, loss="absolute", penalty="sparse").fit(X, Y)
    assert model.dual_coef_.shape == (200, 1)
    assert len(model.support_) < 40
    assert (model.dual_coef_[np.setdiff1d(np.arange(200), model.support_)] == 0).all()
    assert model.score(X, Y) > 0.9


def test_a_penalty_that_leaves_no_term_leaves_a_constant():
    model = KernelFisherClassifier(loss="absolute", penalty="sparse", alpha=1e6).fit(X, Y)
    assert len(model.support_) == 0
    assert np.ptp(model.decision_function(X)) == 0


def test_sinc_regression_needs_fewer_terms_than_svr():
    rng = np.random.RandomState(0)
    x = np.linspace(-10, 10, 100)[:, None]
    y = np.sinc(x[:, 0] / np.pi) + 0.2 * rng.randn(100)
    ours = KernelFisherRegressor(gamma=1 / 3, alpha=0.1, loss="squared", penalty="sparse").fit(x, y)
    svr = SVR(gamma=1 / 3, C=1.0, epsilon=0.1).fit(x, y)
    truth = np.sinc(x[:, 0] / np.pi)
    assert len(ours.support_) < 0.5 * len(svr.support_)
    assert np.mean((ours.predict(x) - truth) ** 2) < 1.5 * np.mean((svr.predict(x) - truth) ** 2)


def test_several_targets_are_separate_problems():
    targets = np.column_stack([X[:, 0], np.sin(X[:, 1])])
    both = KernelFisherRegressor(gamma=1.0).fit(X, targets)
    for j in range(2):
        alone = KernelFisherRegressor(gamma=1.0).fit(X, targets[:, j])
        np.testing.assert_allclose(both.predict(X)[:, j], alone.predict(X), atol=1e-9)
        np.testing.assert_allclose(both.loo_prediction_[:, j], alone.loo_prediction_, atol=1e-9)


# -------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "sigmoid", "coef0": -1.0, "gamma": 1.0}, "not positive semi-definite"),
        ({"kernel": "precomputed"}, "square kernel matrix"),
        ({"centers": [300]}, "row numbers must lie in"),
        ({"centers": np.zeros((3, 5))}, "points with 2 columns"),
        ({"n_centers": 10, "loss": "absolute"}, "quadratic penalty"),
        ({"solver": "lp"}, "'lp' does not solve loss='squared'"),
        ({"alpha": -1.0}, "alpha"),
        ({"threshold": "best"}, "threshold"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        KernelFisherClassifier(**parameters).fit(X, Y)


def test_sigmoid_works_with_the_other_penalties():
    model = KernelFisherClassifier("sigmoid", coef0=-1.0, gamma=1.0, penalty="coefficients", alpha=0.1).fit(X, Y)
    assert model.score(X, Y) > 0.8


def test_bad_grids_and_joint_problems_are_named():
    with pytest.raises(ValueError, match="alphas must be"):
        KernelFisherClassifierCV(alphas=[]).fit(X, Y)
    with pytest.raises(ValueError, match="gammas must be"):
        KernelFisherClassifierCV(gammas=[-1.0]).fit(X, Y)
    with pytest.raises(ValueError, match="eigenproblem"):
        KernelFisherClassifier(multi_class="joint", loss="absolute").fit(DIGITS, LABELS)
    with pytest.raises(ValueError, match="real targets"):
        KernelFisherRegressor(solver="eigen").fit(X, X[:, 0])
    with pytest.warns(UserWarning, match="components instead of n_components"):
        OrientedKernelPCA(50, kernel="linear").fit(X)
