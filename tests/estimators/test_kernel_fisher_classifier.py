"""The kernel Fisher classifier: references at rows held out, weights, storage, probabilities, refusals."""

import numpy as np
import pytest
from kernel_data import CLOUD, CLOUD_LABELS, DIGITS, LABELS, TEST, X, Y, kfd, kfd_search, shift
from scipy import sparse
from scipy.optimize import linprog
from scipy.special import log_softmax
from scipy.stats import norm
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import rbf_kernel, sigmoid_kernel
from sklearn.preprocessing import scale
from sklearn.svm import SVR

from eigenfeat import KernelFisherClassifier, load, save
from eigenfeat.kernel import LOSSES, Absolute, EpsilonInsensitive, Huber, Polynomial, Squared
from eigenfeat.kernel.invariances import Translation
from eigenfeat.kernel.probabilities import PROBABILITIES
from eigenfeat.kernel.search import ALPHAS
from eigenfeat.stages import GaussianPosteriors, KernelExpansion, Softmax
from eigenfeat.stages.kernels import Kernel

SIGNS = np.where(Y == 1, 1.0, -1.0)


# ------------------------------------------------------------------ references


@pytest.mark.parametrize("solver", ["linear", "eigen", "subset", "nystrom", "smo", "qp", "greedy"])
@pytest.mark.parametrize("penalty", ["function", "coefficients"])
def test_exact_solvers_agree_with_the_written_out_system_at_new_rows(solver, penalty):
    """[KWK + alpha·P, KW1; 1ᵀWK, 1ᵀW1] (α, b) = (KWy, 1ᵀWy), solved in a basis of eigenvectors of K."""
    if penalty == "coefficients" and solver == "smo":
        return
    weights = np.random.RandomState(0).uniform(0.5, 2, size=200)
    K = rbf_kernel(X, gamma=1.0)
    root = np.linalg.eigh(K)
    kept = root.eigenvalues > 1e-13 * root.eigenvalues[-1]
    basis = root.eigenvectors[:, kept]
    basis = basis / np.sqrt(root.eigenvalues[kept]) if penalty == "function" else np.eye(200)
    design = np.column_stack([K @ basis, np.ones(200)])
    system = design.T @ (weights[:, None] * design) + 0.3 * np.diag([1.0] * basis.shape[1] + [0.0])
    theta = np.linalg.solve(system, design.T @ (weights * SIGNS))
    expected = rbf_kernel(TEST, X, gamma=1.0) @ basis @ theta[:-1] + theta[-1]
    options = {
        "tol": 0.0 if solver == "greedy" else 1e-12,
        "n_centers": 200 if solver in ("subset", "nystrom") else None,
    }
    model = kfd(gamma=1.0, alpha=0.3, penalty=penalty, solver=solver, threshold=0.0, max_iter=1000, **options)
    model.fit(X, Y, sample_weight=weights)
    np.testing.assert_allclose(model.decision_function(TEST), expected, atol=1e-6)
    np.testing.assert_array_equal(model.predict(TEST), expected > 0)


@pytest.mark.parametrize("penalty", ["function", "coefficients"])
def test_linear_kernel_is_fisher_lda(penalty):
    data, labels = load_breast_cancer(return_X_y=True)
    data = scale(data)
    ours = kfd("linear", alpha=0.0, penalty=penalty, solver="subset", centers=np.arange(569))
    ours.fit(data, labels)
    theirs = LinearDiscriminantAnalysis().fit(data, labels)
    cosine = np.corrcoef(ours.decision_function(data), theirs.decision_function(data))[0, 1]
    assert cosine == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("alpha", [0.05, 0.5, 5.0])
def test_robust_classifier_is_support_vector_regression(alpha):
    """LIBSVM's minimum, and its function up to the offset, which the loss may leave open.

    LIBSVM holds kernel values in single precision: its model is a few 1e-6 above its own dual objective, and ours lies
    between the two. How exact ours is, the written-out programs of tests/kernel say.
    """
    model = kfd(gamma=1.0, alpha=alpha, loss="absolute", threshold=0.0, tol=1e-10).fit(X, Y)
    svr = SVR(gamma=1.0, C=1 / alpha, epsilon=0.0, tol=1e-10).fit(X, SIGNS)
    beta = np.zeros(200)
    beta[svr.support_] = svr.dual_coef_[0]
    outputs = rbf_kernel(X, gamma=1.0) @ beta
    residuals, penalty = SIGNS - outputs, alpha * beta @ outputs / 2
    above = np.abs(residuals - np.median(residuals)).sum() + penalty
    below = alpha * SIGNS @ beta - penalty
    assert below * (1 - 1e-9) <= model.objective_[0] <= above * (1 + 1e-9)
    assert above == pytest.approx(below, rel=5e-6)
    difference = model.decision_function(TEST) - svr.predict(TEST)
    np.testing.assert_allclose(difference, difference.mean(), atol=5e-5)


def test_joint_classifier_with_a_linear_kernel_is_lda():
    data, labels = load_iris(return_X_y=True)
    ours = kfd("linear", alpha=1e-9, multi_class="joint").fit(data, labels)
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(data, labels)
    # Priors are equal; the pooled covariance is divided by n - 3 here, by n there.
    scores = [model.decision_function(data) for model in (ours, theirs)]
    ours_centred, theirs_centred = (score - score.mean(axis=1, keepdims=True) for score in scores)
    np.testing.assert_allclose(ours_centred * 150 / 147, theirs_centred, rtol=1e-6, atol=1e-6)


def test_joint_classifier_is_lda_over_kernel_columns():
    """Written out without an eigenproblem: (n - C) m̃ᵀ(N + alpha I)⁻¹(k̃ - m̃/2) + log prior, m̃ and k̃ centred."""
    rows, labels = DIGITS[:200], LABELS[:200]
    model = kfd(gamma=0.05, alpha=0.05, penalty="coefficients", multi_class="joint")
    K = rbf_kernel(rows, gamma=0.05)
    means = np.array([K[labels == c].mean(axis=0) for c in range(10)])
    within = (K - means[labels]).T @ (K - means[labels])
    centred, columns = means - K.mean(axis=0), rbf_kernel(DIGITS[200:], rows, gamma=0.05) - K.mean(axis=0)
    half = 190 * np.linalg.solve(within + 0.05 * np.eye(200), centred.T)
    expected = columns @ half - np.einsum("ij,ji->i", centred, half) / 2 + np.log(np.bincount(labels) / 200)
    np.testing.assert_allclose(model.fit(rows, labels).decision_function(DIGITS[200:]), expected, atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(DIGITS).sum(axis=1), 1)


@pytest.mark.parametrize("value", [Squared(), Absolute(), Huber(0.5), EpsilonInsensitive(0.1)])
def test_a_loss_and_its_name_are_one_model(value):
    (name,) = [name for name, kind in LOSSES.items() if type(value) is kind]
    by_name, by_value = (kfd(gamma=1.0, loss=loss).fit(X, Y) for loss in (name, value))
    np.testing.assert_array_equal(by_name.decision_function(TEST), by_value.decision_function(TEST))
    assert clone(by_value).loss == value


def test_a_loss_keeps_its_numbers(tmp_path):
    narrow, wide = (kfd(gamma=1.0, loss=Huber(sigma)).fit(X, Y) for sigma in (0.1, 1.0))
    assert np.abs(narrow.decision_function(TEST) - wide.decision_function(TEST)).max() > 0.01
    again = load(save(wide, tmp_path / "model.skops"))
    assert again.loss == Huber(1.0)
    np.testing.assert_array_equal(again.predict_proba(TEST), wide.predict_proba(TEST))


# --------------------------------------------------------------- probabilities


def test_probabilities_are_calibrated_on_rows_left_out():
    rng = np.random.RandomState(0)
    data = rng.randn(3000, 2)
    truth = 1 / (1 + np.exp(-2 * data[:, 0] * data[:, 1]))
    labels = (rng.rand(3000) < truth).astype(int)
    model = kfd(gamma=0.5, alpha=0.1, threshold="least-squares").fit(data[:500], labels[:500])
    ours = log_loss(labels[500:], model.predict_proba(data[500:]))
    assert ours < log_loss(labels[500:], truth[500:]) + 0.06
    np.testing.assert_array_equal(model.predict_proba(data)[:, 1] > 0.5, model.predict(data) == 1)


@pytest.mark.parametrize("threshold", [0.0, 0.3])
def test_gaussian_probabilities_are_bayes_theorem_on_the_outputs(threshold):
    """Of the outputs themselves, wherever they are cut."""
    model = kfd(gamma=1.0, threshold=threshold, probability="gaussian").fit(X, Y)
    q, left_out = model.decision_function(TEST) + threshold, model.loo_decision_ + threshold
    joint = [np.mean(c == Y) * norm.pdf(q, left_out[c == Y].mean(), left_out[c == Y].std()) for c in (0, 1)]
    np.testing.assert_allclose(model.predict_proba(TEST)[:, 1], joint[1] / (joint[0] + joint[1]), rtol=1e-9)


def test_probabilities_of_several_classes_sum_to_one_and_have_the_type_of_the_rows():
    for probability, stage in (("logistic", Softmax), ("gaussian", GaussianPosteriors)):
        model = kfd(gamma=0.05, probability=probability).fit(DIGITS[:300], LABELS[:300])
        assert isinstance(model.fitted_.probabilities, stage)
        probabilities = model.predict_proba(DIGITS[300:])
        assert probabilities.dtype == np.float64
        np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-14)
        np.testing.assert_allclose(np.exp(model.predict_log_proba(DIGITS[300:])), probabilities)


def test_a_fit_leaves_an_expansion_that_is_cut_at_zero():
    model = kfd(gamma=1.0, threshold=0.2).fit(X, Y)
    (expansion,) = model.fitted_.scores.stages
    assert isinstance(expansion, KernelExpansion)
    np.testing.assert_allclose(expansion.bias, model.intercept_ - 0.2)
    np.testing.assert_array_equal(expansion.apply(TEST)[:, 0], model.decision_function(TEST))


# ------------------------------------------------------- weights, storage, types


@pytest.mark.parametrize(
    "model",
    [
        kfd(gamma=1.0),
        kfd_search([0.1, 1.0], [0.5, 1.0]),
        kfd(gamma=1.0, loss="absolute", tol=1e-10, threshold="least-squares"),
        kfd(gamma=1.0, loss="huber", solver="qp", tol=1e-10, threshold="least-squares"),
    ],
    ids=["squared", "search", "absolute", "huber"],
)
def test_weights_are_copies(model):
    copies = np.random.RandomState(0).randint(0, 3, size=200)
    weighted = clone(model).fit(X, Y, sample_weight=copies)
    repeated = clone(model).fit(np.repeat(X, copies, axis=0), np.repeat(Y, copies))
    np.testing.assert_allclose(weighted.decision_function(TEST), repeated.decision_function(TEST), atol=1e-6)


def test_class_weights_move_the_cut():
    heavy = kfd(class_weight={0: 1, 1: 20}, threshold="least-squares").fit(X, Y)
    plain = kfd(threshold="least-squares").fit(X, Y)
    assert heavy.predict(X).sum() > plain.predict(X).sum()


@pytest.mark.parametrize("solver", ["linear", "subset", "nystrom", "greedy", "smo"])
def test_single_precision_and_sparse_rows(solver):
    """Sparse rows are the same numbers. Single precision rounds kernel values at 6e-8, and the condition of the system
    (about 10⁴) amplifies that, in "nystrom" more, whose preconditioner is factored in single precision too."""
    model = kfd(gamma=0.05, alpha=0.1, solver=solver, tol=1e-3, threshold="least-squares")
    if solver in ("nystrom", "smo"):
        model.set_params(tol=1e-10, max_iter=1000)
    train, test, labels = DIGITS[:400], DIGITS[400:], LABELS[:400]
    expected = clone(model).fit(train, labels).decision_function(test)
    thin = clone(model).fit(sparse.csr_matrix(train), labels)
    np.testing.assert_allclose(thin.decision_function(sparse.csr_matrix(test)), expected, atol=1e-6)
    np.testing.assert_allclose(thin.decision_function(test), expected, atol=1e-6)
    single = clone(model).fit(train.astype(np.float32), labels)
    found = single.decision_function(test.astype(np.float32))
    assert single.dual_coef_.dtype == found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=5e-3 if solver == "nystrom" else 2e-4)


@pytest.mark.parametrize("solver", ["linear", "eigen", "subset", "greedy", "nystrom", "smo"])
def test_precomputed_kernel(solver):
    K = rbf_kernel(X, gamma=1.0)
    options = {"solver": solver, "random_state": 0, "tol": 1e-9}
    if solver in ("subset", "nystrom"):  # what is drawn is drawn by the numbers of the rows, which are others here
        options["centers"] = np.arange(0, 150, 4)
    given = kfd("precomputed", **options).fit(K[:150, :150], Y[:150])
    named = kfd("rbf", gamma=1.0, **options).fit(X[:150], Y[:150])
    np.testing.assert_allclose(given.decision_function(K[150:, :150]), named.decision_function(X[150:]), atol=1e-6)


def test_sparse_penalty_is_the_written_out_linear_program():
    """min Σs + alpha·Σ(p + q), |y - K(p - q) - b| ≤ s: the same zeros, and the same function at new rows."""
    model = kfd(gamma=1.0, loss="absolute", penalty="sparse", threshold=0.0).fit(X, Y)
    K, one, eye = rbf_kernel(X, gamma=1.0), np.ones((200, 1)), np.eye(200)
    sides = np.vstack([np.hstack([-K, K, -one, -eye]), np.hstack([K, -K, one, -eye])])
    cost = np.concatenate([np.ones(400), [0.0], np.ones(200)])
    limits = [(0, None)] * 400 + [(None, None)] + [(0, None)] * 200
    found = linprog(cost, sides, np.concatenate([-SIGNS, SIGNS]), bounds=limits, method="highs-ds")
    coefficients = found.x[:200] - found.x[200:400]
    assert model.objective_[0] == pytest.approx(found.fun, rel=1e-9)
    np.testing.assert_array_equal(model.support_, np.flatnonzero(coefficients))
    assert len(model.support_) < 40
    expected = rbf_kernel(TEST, X, gamma=1.0) @ coefficients + found.x[400]
    np.testing.assert_allclose(model.decision_function(TEST), expected, atol=1e-7)


def test_a_penalty_that_leaves_no_term_leaves_a_constant():
    model = kfd(loss="absolute", penalty="sparse", alpha=1e6).fit(X, Y)
    assert len(model.support_) == 0
    assert np.ptp(model.decision_function(X)) == 0


def test_an_indefinite_kernel_works_with_the_other_penalties():
    options = {"coef0": -1.0, "gamma": 1.0}
    model = kfd("sigmoid", penalty="coefficients", alpha=0.1, threshold=0.0, **options).fit(X, Y)
    design = np.column_stack([sigmoid_kernel(X, **options), np.ones(200)])
    theta = np.linalg.solve(design.T @ design + 0.1 * np.diag([1.0] * 200 + [0.0]), design.T @ SIGNS)
    expected = sigmoid_kernel(TEST, X, **options) @ theta[:-1] + theta[-1]
    np.testing.assert_allclose(model.decision_function(TEST), expected, atol=1e-7)


# ------------------------------------------------------------------ invariances


@pytest.mark.parametrize("penalty", ["function", "coefficients"])
def test_invariance_is_extra_rows_with_target_zero(penalty):
    """½ weight Σ(f(x) - f(Lx))² written out as least squares without intercept on differences of kernel rows."""
    kernel = Kernel("rbf", 0.5)
    K, D = kernel(CLOUD, CLOUD), kernel(CLOUD, CLOUD) - kernel(shift(CLOUD), CLOUD)
    y = np.where(CLOUD_LABELS == 1, 1.0, -1.0)
    values, vectors = np.linalg.eigh(K)
    root = vectors * np.sqrt(np.maximum(values, 0)) if penalty == "function" else np.eye(80)
    zeros = np.zeros((80, 1))
    design = np.block([[K, np.ones((80, 1))], [np.sqrt(3) * D, zeros], [np.sqrt(0.1) * root.T, zeros]])
    solution = np.linalg.lstsq(design, np.concatenate([y, np.zeros(160)]), rcond=1e-13)[0]
    model = kfd(gamma=0.5, alpha=0.1, penalty=penalty, invariances=[(3.0, shift)], threshold=0.0)
    np.testing.assert_allclose(
        model.fit(CLOUD, CLOUD_LABELS).decision_function(CLOUD), K @ solution[:-1] + solution[-1], atol=1e-5
    )  # the root of a K that is singular to rounding is known to 1e-8, of which the solution makes some 1e-6


# -------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "sigmoid", "coef0": -1.0, "gamma": 1.0}, "not positive semi-definite"),
        ({"kernel": "precomputed"}, "square kernel matrix"),
        ({"centers": [300]}, "row numbers must lie in"),
        ({"centers": np.zeros((3, 5))}, "points with 2 columns"),
        (
            {"invariances": [shift], "loss": "absolute", "penalty": "sparse"},
            "No solver can run on loss='absolute' .* and invariances: subset needs",
        ),
        ({"solver": "lp"}, "'lp' cannot run on loss='squared' with penalty='function'"),
        ({"loss": Huber(-1.0)}, r"loss=Huber\(sigma=-1.0\) has curvature -1"),
        ({"loss": Polynomial(0.5)}, "the power above one"),
        ({"loss": "hinge"}, "loss"),
        ({"alpha": -1.0}, "alpha"),
        ({"threshold": "best"}, "threshold"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        kfd(**parameters).fit(X, Y)


def test_bad_transformations_are_named():
    with pytest.raises(ValueError, match="rows of the same shape"):
        kfd(invariances=[lambda rows: rows[:, :1]]).fit(X, Y)
    with pytest.raises(ValueError, match="precomputed"):
        kfd(kernel="precomputed", invariances=[shift]).fit(X @ X.T, Y)
    with pytest.raises(ValueError, match=r"No solver can run .* and invariances: subset needs loss 'squared'"):
        kfd(invariances=[shift], loss="absolute", penalty="sparse").fit(X, Y)
    for solver in ("nystrom", "linear"):
        with pytest.raises(ValueError, match=r"invariances.*solvers that can: subset, qp, newton, eigen"):
            kfd(invariances=[shift], solver=solver).fit(X, Y)


def test_a_joint_problem_is_an_eigenproblem():
    for options in ({"loss": "absolute"}, {"penalty": "sparse"}, {"solver": "linear"}):
        with pytest.raises(ValueError, match="eigenproblem"):
            kfd(multi_class="joint", **options).fit(DIGITS, LABELS)


def test_joint_probabilities_come_from_rows_left_out():
    """A close fit is sure of every training row; on others it must not be."""
    images = DIGITS + np.random.RandomState(0).normal(scale=0.3, size=DIGITS.shape)
    model = kfd(gamma=0.02, alpha=0.01, multi_class="joint").fit(images[:300], LABELS[:300])
    assert model.slope_ < 0.5
    unscaled = log_softmax(model.decision_function(images[300:]), axis=1)
    assert log_loss(LABELS[300:], model.predict_proba(images[300:])) < log_loss(LABELS[300:], np.exp(unscaled)) / 2
    kept = np.arange(300) != 7
    without = clone(model).fit(images[:300][kept], LABELS[:300][kept])
    np.testing.assert_allclose(model.loo_decision_[7], without.decision_function(images[7:8])[0], rtol=1e-6)


# ------------------------------------------------------------------ defaults


def test_units_of_columns_do_not_matter():
    """A table in other units has the same model, and is fitted as well as a standardised one."""
    rows, labels = load_breast_cancer(return_X_y=True)
    units = 10.0 ** np.random.RandomState(0).randint(-3, 4, size=30)
    model, other = (KernelFisherClassifier().fit(data, labels) for data in (rows, rows * units))
    np.testing.assert_allclose(model.loo_decision_, other.loo_decision_, atol=1e-6)
    np.testing.assert_allclose(model.decision_function(rows), other.decision_function(rows * units), atol=1e-6)
    assert model.loo_error_ < 0.025
    assert set(model.columns_.treatment) <= {"standardise", "quantile-normal"}


def test_alpha_of_leave_one_out_is_that_of_the_grid():
    model = KernelFisherClassifier().fit(X, Y)
    errors = {}
    for alpha in ALPHAS:
        fixed = KernelFisherClassifier(alpha=alpha).fit(X, Y)
        errors[fixed.alpha_] = fixed.loo_error_
    assert model.loo_error_ == pytest.approx(min(errors.values()))
    assert errors[model.alpha_] == model.loo_error_


def test_alpha_is_one_where_nothing_is_exact():
    assert KernelFisherClassifier(loss="absolute").fit(X, Y).alpha_ == 1.0
    assert KernelFisherClassifier(penalty="sparse").fit(X, Y).alpha_ == 1.0


def test_rows_are_as_given_where_a_kernel_or_an_invariance_means_them_so():
    for settings in ({"kernel": "chi2"}, {"kernel": "cosine"}, {"invariances": [shift]}, {"columns": None}):
        assert KernelFisherClassifier(**settings).fit(np.abs(X), Y).columns_ is None
    with pytest.raises(ValueError, match="invariances transform the rows as they are given"):
        KernelFisherClassifier(columns="standardise", invariances=[shift]).fit(X, Y)
    with pytest.raises(ValueError, match="'precomputed' has no columns"):
        KernelFisherClassifier("precomputed", columns="standardise").fit(X @ X.T, Y)


def test_centres_that_are_points_are_treated_as_rows_are():
    units = np.array([100.0, 1.0])
    points = KernelFisherClassifier(centers=X[:20] * units).fit(X * units, Y)
    index = KernelFisherClassifier(centers=np.arange(20)).fit(X * units, Y)
    np.testing.assert_allclose(points.decision_function(TEST * units), index.decision_function(TEST * units), atol=1e-7)


def test_probabilities_of_several_classes_are_a_logit_on_left_out_outputs():
    """Better than one slope on rows held out, and a saved model has them too."""
    model, slope = (KernelFisherClassifier(probability=p).fit(DIGITS[:300], LABELS[:300]) for p in PROBABILITIES[:2])
    losses = [log_loss(LABELS[300:], m.predict_proba(DIGITS[300:])) for m in (model, slope)]
    assert losses[0] < losses[1]
    outputs = slope.decision_function(DIGITS[300:])
    np.testing.assert_allclose(
        model.decision_function(DIGITS[300:]), outputs @ model.logit_coef_ + model.logit_intercept_, atol=1e-8
    )
    np.testing.assert_array_equal(model.predict(DIGITS), np.argmax(model.predict_proba(DIGITS), axis=1))


# ------------------------------------------------------------------ losses of decision values


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
@pytest.mark.parametrize("labels", [LABELS, LABELS > 4])
def test_losses_of_decision_values(loss, labels):
    scores, losses = [], []
    for seed in range(4):  # of rows held out
        train, test = np.split(np.random.default_rng(seed).permutation(len(DIGITS)), [400])
        fits = (KernelFisherClassifier(loss=name, n_centers=100) for name in ("squared", loss))
        squared, model = (fit.fit(DIGITS[train], labels[train]) for fit in fits)
        probabilities = model.predict_proba(DIGITS[test])
        np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(DIGITS[test]))
        scores.append(model.score(DIGITS[test], labels[test]) - squared.score(DIGITS[test], labels[test]))
        expected = log_loss(labels[test], squared.predict_proba(DIGITS[test]))
        losses.append(log_loss(labels[test], probabilities) / expected)
    assert np.mean(scores) >= -0.02  # two standard errors of 800 rows held out
    assert np.mean(losses) < 1.5
    assert model.solver_ == loss and model.loo_error_ is None


def test_what_losses_of_decision_values_cannot():
    refused = (
        {"penalty": "sparse"},
        {"multi_class": "joint"},
        {"invariances": [shift]},
        {"virtual_rows": 3},
        {"solver": "smo"},
    )
    for settings in refused:
        with pytest.raises(ValueError, match="cannot be with loss='logistic'"):
            KernelFisherClassifier(loss="logistic", **settings).fit(X, Y)


def test_virtual_rows_are_copies_of_the_rows_of_least_left_out_margin():
    """The model is that of the rows and the copies; the rules are those of the rows alone."""
    settings = {"gamma": 0.02, "alpha": 0.01, "columns": None, "probability": "logistic"}
    moves = [Translation((8, 8), right=1), (0.5, Translation((8, 8), down=1))]
    rows, labels = DIGITS[:300], LABELS[:300]
    model = KernelFisherClassifier(invariances=moves, virtual_rows=40, **settings).fit(rows, labels)
    plain = KernelFisherClassifier(**settings).fit(rows, labels)
    own = plain.loo_decision_[np.arange(300), labels]
    others = np.where(np.eye(10, dtype=bool)[labels], -np.inf, plain.loo_decision_).max(axis=1)
    np.testing.assert_array_equal(model.virtual_, np.sort(np.argsort(own - others)[:40]))
    chosen = model.virtual_
    every = np.vstack([rows, moves[0](rows[chosen]), moves[1][1](rows[chosen])])
    weights = np.r_[np.ones(340), np.full(40, 0.5)]
    by_hand = KernelFisherClassifier(**settings).fit(every, np.r_[labels, labels[chosen], labels[chosen]], weights)
    np.testing.assert_allclose(model.dual_coef_, by_hand.dual_coef_, atol=1e-8)
    np.testing.assert_allclose(model.threshold_, plain.threshold_)
    assert model.loo_error_ == plain.loo_error_
    with pytest.raises(ValueError, match="give invariances"):
        KernelFisherClassifier(virtual_rows=3).fit(rows, labels)
    with pytest.raises(ValueError, match="needs outputs left out"):
        KernelFisherClassifier(virtual_rows=3, invariances=moves, loss="absolute").fit(rows, labels > 4)
