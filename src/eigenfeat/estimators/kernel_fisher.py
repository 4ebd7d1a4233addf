"""Kernel Fisher discriminants as classifiers and as a regressor."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import ClassifierMixin, RegressorMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import validate_data

from eigenfeat.estimators.kernel_base import KernelFit
from eigenfeat.estimators.validation import check_class_labels, check_weights
from eigenfeat.kernel import eigen, linear, subset
from eigenfeat.kernel.probabilities import (
    PROBABILITIES,
    gaussian_posteriors,
    output_moments,
    posterior_slope,
    posteriors,
)
from eigenfeat.kernel.problem import KernelProblem, KernelSolution
from eigenfeat.kernel.thresholds import THRESHOLDS, threshold_of
from eigenfeat.stages.kernels import default_gamma


class KernelFisherClassifier(ClassifierMixin, KernelFit):
    r"""Kernel Fisher discriminant: regression to the labels in a kernel feature space.

    Finds :math:`f(x) = \sum_j \alpha_j k(x_j, x) + b` that minimises, with :math:`\xi = y - f(x)` and labels ±1,

    .. math:: L(\xi) + \text{alpha} \cdot P

    where L is one of ½Σξ² ("squared"), Σ|ξ| ("absolute"), ΣHuber(ξ) ("huber"), Σmax(0, |ξ| - ε) ("epsilon"), and P
    one of ½‖w‖² = ½αᵀKα ("function"), ½‖α‖² ("coefficients"), ‖α‖₁ ("sparse"). Squared loss with a quadratic penalty
    is Fisher's discriminant in kernel space: the same direction maximises the between-class over the regularised
    within-class scatter. "absolute" with "sparse" is the linear program called linear sparse KFD. More than two
    classes are one problem each against the rest, over the same kernel values.

    Parameters
    ----------
    kernel : str or callable
        "rbf" exp(-gamma ‖x - z‖²), "inverse_multiquadric", "poly", "sigmoid", "linear", "laplacian", "cosine",
        "chi2", "additive_chi2", "precomputed", or a function of two rows.
    gamma : float, optional
        1 / (number of features · variance of the entries of X) by default.
    alpha : float
        Weight of the penalty, against a sum over rows.
    loss : {"squared", "absolute", "huber", "epsilon"}
    penalty : {"function", "coefficients", "sparse"}
    threshold : {"margin", "least-squares", "gaussian"} or float
        Where to cut the outputs: at the threshold of a one-dimensional soft-margin SVM on them, at zero, where two
        Gaussians are equally likely, or at a number. "margin" and "gaussian" look at leave-one-out outputs where
        these are exact, else at the training outputs.
    solver : str
        "auto", or a solver of the table in the guide: "linear", "eigen", "subset", "greedy", "nystrom", "smo",
        "greedy_smo", "qp", "lp", "column_generation".
    multi_class : {"one-vs-rest", "joint"}
        "joint": the multi-class eigenproblem, and Gaussians of one covariance in the space of its discriminants
        (squared loss, quadratic penalties; no threshold).
    degree, coef0 : float
        Of the kernels "poly", "sigmoid" and "inverse_multiquadric".
    huber_sigma, epsilon : float
        Of the losses with these names.
    centers : {"random", "kmeans"} or array, optional
        A restricted expansion: over random rows, k-means centres, given row numbers (integers) or points.
    n_centers : int, optional
        √n log n by default, where a restricted expansion is used.
    class_weight : dict or "balanced", optional
    probability : {"logistic", "gaussian"}
        Of `predict_proba`, from the same outputs as the threshold: log odds linear in the decision values, with the
        slope of maximum likelihood; or Bayes' theorem with a Gaussian a class of its own mean and variance. The
        first is the better on held-out rows of the benchmarks, and its most probable class is always the predicted
        one. "joint" has Gaussians already.
    invariances : list, optional
        Functions that map rows to slightly transformed rows, or (weight, function) pairs: outputs that change under
        them are penalised, ½ weight Σ(f(x) - f(Lx))². See `eigenfeat.kernel.invariances` for images.
    expansion : {"short", "long"}
        With invariances: over the rows (or centres) only, or over their transformed copies too.
    max_terms : int, optional
        Of the solver "greedy".
    tol, max_iter : float; int, optional
        Of the iterative solvers, which have their own defaults.
    random_state : int, RandomState or None
        Of random centres and candidates.

    Attributes
    ----------
    dual_coef_ : (n_samples, n_outputs) array
        α, with exact zeros where a row is not used; (n_centers, n_outputs) where the centres are points.
    intercept_ : (n_outputs,) array
    support_ : (s,) array
        Rows of `dual_coef_` that are not zero.
    support_vectors_ : (s, d) array
    threshold_ : (n_outputs,) array
    slope_ : float
        Of the log odds in the decision values, with ``probability="logistic"``.
    output_moments_ : (n_outputs, 2, 3) array or None
        Mean, variance and prior of each output on its negative and positive side, with ``probability="gaussian"``.
    classes_ : (n_classes,) array
    loo_decision_ : (n_samples,) or (n_samples, n_classes) array or None
        Decision values of every row fitted without it, exact; None where the solver has no exact ones. A row with
        sample weight s stands for s copies, one of which is left out; class weights stay as they are.
    loo_error_ : float or None
        Their (weighted) error.
    solver_, n_iter_, objective_, gamma_
        What was run, its iterations, the minimum reached for every output, the kernel width used.

    References
    ----------
    Mika (2002), *Kernel Fisher Discriminants*, chapters 3 to 5.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from eigenfeat import KernelFisherClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = KernelFisherClassifier().fit(scale(X), y)
    >>> round(model.loo_error_, 3)
    0.025
    """

    _parameter_constraints: dict = {
        **KernelFit._parameter_constraints,
        "threshold": [StrOptions(set(THRESHOLDS)), Interval(Real, None, None, closed="neither")],
        "multi_class": [StrOptions({"one-vs-rest", "joint"})],
        "class_weight": [None, dict, StrOptions({"balanced"})],
        "probability": [StrOptions(set(PROBABILITIES))],
    }

    def __init__(
        self,
        kernel="rbf",
        gamma=None,
        alpha=1.0,
        loss="squared",
        penalty="function",
        threshold="margin",
        solver="auto",
        *,
        multi_class="one-vs-rest",
        degree=3,
        coef0=1.0,
        huber_sigma=0.5,
        epsilon=0.1,
        centers=None,
        n_centers=None,
        class_weight=None,
        probability="logistic",
        invariances=None,
        expansion="short",
        max_terms=None,
        tol=None,
        max_iter=None,
        random_state=None,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.alpha = alpha
        self.loss = loss
        self.penalty = penalty
        self.threshold = threshold
        self.solver = solver
        self.multi_class = multi_class
        self.degree = degree
        self.coef0 = coef0
        self.huber_sigma = huber_sigma
        self.epsilon = epsilon
        self.centers = centers
        self.n_centers = n_centers
        self.class_weight = class_weight
        self.probability = probability
        self.invariances = invariances
        self.expansion = expansion
        self.max_terms = max_terms
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Fit to rows X with class labels y.

        Parameters
        ----------
        X : (n, d) array or sparse matrix; the (n, n) kernel matrix when ``kernel="precomputed"``
        y : (n,) array
        sample_weight : (n,) array, optional

        Returns
        -------
        self
        """
        X, codes, weights, copies = self._labelled(X, y, sample_weight)
        problem, solver = self._posed(X, one_vs_rest(codes), weights, copies, self.gamma, self.random_state)
        solution = eigen.solve_jointly(problem, codes) if self._is_joint() else self._solved(problem, solver)
        return self._calibrated(solution, problem, codes)

    def decision_function(self, X):
        """Outputs minus threshold, positive for `classes_[1]`; one column a class when there are more than two."""
        return flat(self._expanded(X) - self.threshold_)

    def predict(self, X):
        """The class on whose side of the threshold the output lies; of several, the largest decision value."""
        decision = self.decision_function(X)
        return self.classes_[winners(decision)]

    def predict_proba(self, X):
        """Class probabilities, (n, n_classes), as `probability` says."""
        outputs = self._expanded(X)
        if self.output_moments_ is not None:
            return gaussian_posteriors(outputs, self.output_moments_)
        return posteriors(flat(outputs - self.threshold_), self.slope_)

    def _is_joint(self) -> bool:
        return self.multi_class == "joint" and len(self.classes_) > 2

    def _labelled(self, X, y, sample_weight):
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32])
        copies = check_weights(sample_weight, X)
        self.classes_, codes = check_class_labels(y, copies, estimator=type(self).__name__)
        weights = np.ones(len(y)) if copies is None else copies
        if self.class_weight is not None:
            weights = weights * compute_sample_weight(self.class_weight, y)
        quadratic = self.loss == "squared" and self.penalty != "sparse"
        if self._is_joint() and not (quadratic and self.solver in ("auto", "eigen")):
            raise ValueError(
                "multi_class='joint' is an eigenproblem: it needs loss='squared', penalty 'function' or "
                f"'coefficients' and solver 'auto' or 'eigen'; got {self.loss!r}, {self.penalty!r}, {self.solver!r}."
            )
        return X, codes, weights, copies

    def _calibrated(self, solution: KernelSolution, problem: KernelProblem, codes: np.ndarray):
        """Threshold, slope and leave-one-out results from the outputs at the training rows."""
        outputs, weights = self._keep_fit(solution, problem), problem.weights
        joint = self._is_joint()
        cuts = thresholds(outputs, codes, weights, 0.0 if joint else self.threshold)
        self.threshold_ = cuts.astype(self.dual_coef_.dtype, copy=False)
        decision = flat(outputs - self.threshold_)
        self.slope_ = 1.0 if joint else posterior_slope(decision, codes, weights)
        by_densities = self.probability == "gaussian" and not joint
        self.output_moments_ = output_moments(outputs, one_vs_rest(codes) > 0, weights) if by_densities else None
        left_out = solution.loo_outputs is not None
        self.loo_decision_ = decision if left_out else None
        self.loo_error_ = weighted_error(decision, codes, weights) if left_out else None
        return self


class KernelFisherClassifierCV(KernelFisherClassifier):
    r"""Kernel Fisher discriminant with alpha and gamma chosen by their exact leave-one-out error.

    The problem is that of `KernelFisherClassifier` with squared loss: ½Σξ² + alpha·P. All leave-one-out outputs for
    one pair cost about as much as one fit (thesis 4.4), so a grid is searched without folds and without chance.

    Parameters
    ----------
    alphas, gammas : sequence of float
        The grid; by default alphas 10⁻³ to 10, and ¼ to 4 times the default gamma of `KernelFisherClassifier`.
    n_jobs : int, optional
        Processes over gammas.
    kernel, penalty, threshold, degree, coef0, centers, n_centers, class_weight, probability
        As in `KernelFisherClassifier`; penalty "function" or "coefficients".
    invariances, expansion, random_state
        As in `KernelFisherClassifier`.

    Attributes
    ----------
    alpha_, gamma_ : float
        The pair with the smallest leave-one-out error; of equal ones that with the smallest leave-one-out squared
        residual.
    loo_errors_ : (n_gammas, n_alphas) array
    gammas_ : (n_gammas,) array
    dual_coef_, intercept_, support_, support_vectors_, threshold_, slope_, output_moments_, classes_,
    loo_decision_, loo_error_
        As in `KernelFisherClassifier`, of the fit with the chosen pair.

    References
    ----------
    Mika (2002), *Kernel Fisher Discriminants*, section 4.4.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from eigenfeat import KernelFisherClassifierCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = KernelFisherClassifierCV(alphas=[0.1, 1.0], gammas=[0.01, 0.03]).fit(scale(X), y)
    >>> model.loo_errors_.shape
    (2, 2)
    """

    # What leave-one-out fixes about the problem.
    alpha = 1.0
    gamma = None
    loss = "squared"
    solver = "auto"
    multi_class = "one-vs-rest"
    huber_sigma = 0.5
    epsilon = 0.1

    _parameter_constraints: dict = {
        **{
            name: KernelFisherClassifier._parameter_constraints[name]
            for name in ("kernel", "threshold", "degree", "coef0", "centers", "n_centers", "class_weight")
        },
        **{
            name: KernelFisherClassifier._parameter_constraints[name]
            for name in ("probability", "invariances", "expansion", "random_state")
        },
        "alphas": ["array-like"],
        "gammas": [None, "array-like"],
        "penalty": [StrOptions({"function", "coefficients"})],
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        alphas=(1e-3, 1e-2, 1e-1, 1.0, 10.0),
        gammas=None,
        kernel="rbf",
        penalty="function",
        threshold="margin",
        *,
        degree=3,
        coef0=1.0,
        centers=None,
        n_centers=None,
        class_weight=None,
        probability="logistic",
        invariances=None,
        expansion="short",
        n_jobs=None,
        random_state=None,
    ):
        self.alphas = alphas
        self.gammas = gammas
        self.kernel = kernel
        self.penalty = penalty
        self.threshold = threshold
        self.degree = degree
        self.coef0 = coef0
        self.centers = centers
        self.n_centers = n_centers
        self.class_weight = class_weight
        self.probability = probability
        self.invariances = invariances
        self.expansion = expansion
        self.n_jobs = n_jobs
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Search the grid and fit with the chosen pair.

        Parameters
        ----------
        X, y, sample_weight
            As for `KernelFisherClassifier.fit`.

        Returns
        -------
        self
        """
        X, codes, weights, copies = self._labelled(X, y, sample_weight)
        alphas, gammas = self._grid(X, weights)
        # A generator given by the user must put the same centres under every gamma.
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        self.gammas_ = gammas
        scores = Parallel(n_jobs=self.n_jobs)(
            delayed(self._scores)(X, codes, weights, copies, gamma, alphas, seed) for gamma in gammas
        )
        self.loo_errors_ = np.array([[error for error, _ in row] for row in scores])
        _, best_gamma, best_alpha = min((score, i, j) for i, row in enumerate(scores) for j, score in enumerate(row))
        self.alpha_ = float(alphas[best_alpha])
        problem, path = self._path_of(X, codes, weights, copies, gammas[best_gamma], seed)
        return self._calibrated(next(path(problem, [self.alpha_])), replace(problem, alpha=self.alpha_), codes)

    def _grid(self, X, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if self.gammas is None:
            has_width = self.kernel != "precomputed"
            gammas = default_gamma(X, weights) * 2.0 ** np.arange(-2, 3) if has_width else np.ones(1)
        else:
            gammas = np.asarray(self.gammas, dtype=float)
        alphas = np.asarray(self.alphas, dtype=float)
        for name, grid in (("alphas", alphas), ("gammas", gammas)):
            if grid.ndim != 1 or grid.size == 0 or not (grid > 0).all():
                raise ValueError(f"{name} must be a non-empty list of positive numbers, got {grid.tolist()}.")
        return alphas, gammas

    def _path_of(self, X, codes, weights, copies, gamma, seed):
        problem, _ = self._posed(X, one_vs_rest(codes), weights, copies, float(gamma), seed)
        return problem, linear.path if problem.centers is None else subset.path

    def _scores(self, X, codes, weights, copies, gamma, alphas, seed) -> list[tuple[float, float]]:
        """Leave-one-out error and mean squared residual for every alpha."""
        problem, path = self._path_of(X, codes, weights, copies, gamma, seed)
        scores = []
        for solution in path(problem, alphas):
            outputs = solution.loo_outputs
            decision = flat(outputs - thresholds(outputs, codes, weights, self.threshold))
            squares = np.square(problem.targets - outputs).mean(axis=1)
            scores.append((weighted_error(decision, codes, weights), float(np.average(squares, weights=weights))))
        return scores


class KernelFisherRegressor(RegressorMixin, KernelFit):
    r"""The problems of `KernelFisherClassifier` with real targets.

    Minimises L(ξ) + alpha·P over :math:`f(x) = \sum_j \alpha_j k(x_j, x) + b`, :math:`\xi = y - f(x)`: kernel ridge
    regression with an intercept ("squared", "function"), robust and support vector regression ("absolute", "huber",
    "epsilon" with "function"), and regression with few terms (penalty "sparse").

    Parameters
    ----------
    kernel, gamma, alpha, loss, penalty, solver, degree, coef0, huber_sigma, epsilon
        As in `KernelFisherClassifier`.
    centers, n_centers, invariances, expansion, max_terms, tol, max_iter, random_state
        As in `KernelFisherClassifier`.

    Attributes
    ----------
    dual_coef_, intercept_, support_, support_vectors_, solver_, n_iter_, objective_, gamma_
        As in `KernelFisherClassifier`, one output a target.
    loo_prediction_ : array like y, or None
        Predictions at every row fitted without it, where the solver has exact ones.

    References
    ----------
    Mika (2002), *Kernel Fisher Discriminants*, section 3.2.1 and figure 5.5.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenfeat import KernelFisherRegressor
    >>> x = np.linspace(-10, 10, 100)[:, None]
    >>> model = KernelFisherRegressor(gamma=0.25, alpha=0.01).fit(x, np.sinc(x[:, 0] / np.pi))
    >>> bool(abs(model.predict([[0.0]]) - 1) < 0.01)
    True
    """

    def __init__(
        self,
        kernel="rbf",
        gamma=None,
        alpha=1.0,
        loss="squared",
        penalty="function",
        solver="auto",
        *,
        degree=3,
        coef0=1.0,
        huber_sigma=0.5,
        epsilon=0.1,
        centers=None,
        n_centers=None,
        invariances=None,
        expansion="short",
        max_terms=None,
        tol=None,
        max_iter=None,
        random_state=None,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.alpha = alpha
        self.loss = loss
        self.penalty = penalty
        self.solver = solver
        self.degree = degree
        self.coef0 = coef0
        self.huber_sigma = huber_sigma
        self.epsilon = epsilon
        self.centers = centers
        self.n_centers = n_centers
        self.invariances = invariances
        self.expansion = expansion
        self.max_terms = max_terms
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Fit to rows X with one or several real targets y.

        Parameters
        ----------
        X : (n, d) array or sparse matrix; the (n, n) kernel matrix when ``kernel="precomputed"``
        y : (n,) or (n, n_targets) array
        sample_weight : (n,) array, optional

        Returns
        -------
        self
        """
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], multi_output=True, y_numeric=True
        )
        if self.solver == "eigen":
            raise ValueError("solver='eigen' separates two classes; for real targets use 'linear' or 'auto'.")
        copies = check_weights(sample_weight, X)
        weights = np.ones(len(y)) if copies is None else copies
        self._is_vector = y.ndim == 1
        targets = y[:, None] if self._is_vector else y
        problem, solver = self._posed(X, targets, weights, copies, self.gamma, self.random_state)
        solution = self._solved(problem, solver)
        self._keep_fit(solution, problem)
        self.loo_prediction_ = None if solution.loo_outputs is None else self._like_y(solution.loo_outputs)
        return self

    def predict(self, X):
        """f at the rows of X."""
        outputs = self._expanded(X)
        return self._like_y(outputs)

    def _like_y(self, outputs: np.ndarray) -> np.ndarray:
        return outputs[:, 0] if self._is_vector else outputs

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def one_vs_rest(codes: np.ndarray) -> np.ndarray:
    """±1 targets: one column for two classes, one a class for more."""
    n_classes = codes.max() + 1
    of_interest = np.array([1]) if n_classes == 2 else np.arange(n_classes)
    return np.where(codes[:, None] == of_interest, 1.0, -1.0)


def winners(decision: np.ndarray) -> np.ndarray:
    """Codes of the predicted classes."""
    return (decision > 0).astype(int) if decision.ndim == 1 else np.argmax(decision, axis=1)


def flat(decision: np.ndarray) -> np.ndarray:
    """A single column as a vector, as scikit-learn wants two-class decision values."""
    return decision[:, 0] if decision.shape[1] == 1 else decision


def weighted_error(decision: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> float:
    """Share of the weight of rows on the wrong side."""
    return float(np.average(winners(decision) != codes, weights=weights))


def thresholds(outputs: np.ndarray, codes: np.ndarray, weights: np.ndarray, threshold: str | float) -> np.ndarray:
    """The cut of every column of outputs."""
    sides = (one_vs_rest(codes) > 0).T
    cuts = [threshold_of(threshold, q, side, weights) for q, side in zip(outputs.T, sides)]
    return np.array(cuts, dtype=outputs.dtype)
