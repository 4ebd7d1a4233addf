"""Kernel Fisher discriminants as a classifier."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from eigenfeat._sklearn import COUNT, StrOptions, checked_fit
from eigenfeat.estimators.kernel_base import KernelRegression
from eigenfeat.estimators.kernel_discriminant import KernelDiscriminant
from eigenfeat.estimators.kernel_settings import posed
from eigenfeat.estimators.kernel_streaming import fit_stream
from eigenfeat.estimators.streaming import is_stream
from eigenfeat.features.tangents import weighted_transformations
from eigenfeat.kernel import LOSSES, Loss, Squared, margin_losses
from eigenfeat.kernel.margin_losses import MARGIN_LOSSES, held_out_alpha
from eigenfeat.kernel.problem import KernelProblem
from eigenfeat.kernel.search import alpha_unit, classification_error
from eigenfeat.kernel.table import SOLVERS
from eigenfeat.kernel.thresholds import one_vs_rest, thresholds
from eigenfeat.kernel.virtual_rows import least_margins, with_copies
from eigenfeat.rows.block import Matrix


class KernelFisherClassifier(KernelDiscriminant, KernelRegression):
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
        "chi2", "additive_chi2", "distance" -√gamma ‖x - z‖, "multiquadric" -√(coef0 + gamma ‖x - z‖²), "precomputed",
        or a function of two rows. With the penalty "function" a kernel may be conditionally positive definite, as
        "additive_chi2", "distance" and "multiquadric" are: weights over all rows sum to zero there.
    gamma : float, optional
        1 / (number of features · variance of the entries of X), after the treatment of columns, by default.
    alpha : "loo" or float
        Weight of the penalty, against a sum over rows. "loo" takes the half decade with the least exact leave-one-out
        error, of equal ones that with the smallest squared residual; many rows are screened by a quarter of them, and
        a few fits of all end the search. One where the loss or the penalty has no exact leave-one-out outputs.
    loss : {"squared", "absolute", "huber", "epsilon", "polynomial", "piecewise", "logistic", "squared_hinge"} or Loss
        A name, or a value of `eigenfeat.kernel` with its own numbers: ``Huber(0.3)``, ``EpsilonInsensitive(0.05)``. The
        names stand for ``Squared()``, ``Absolute()``, ``Huber(0.5)``, ``EpsilonInsensitive(0.1)``, ``Polynomial(1.5)``
        and ``PiecewisePolynomial(3, 0.5)``; the last two need a quadratic penalty. "logistic" and
        "squared_hinge" ask for the right side of a row only, which is the better where a small expansion stands for
        many rows: a multinomial logit, or ½max(0, 1 - yf)² a class, by Newton's method over the kernel blocks. They
        have no threshold, and "loo" chooses their alpha on held-out rows: of a sample, and from there on with all rows
        whose kernel fits in memory.
    penalty : {"function", "coefficients", "sparse"}
    threshold : {"margin", "least-squares", "gaussian", "least-error", "auto"} or float
        Where to cut the outputs: at the threshold of a one-dimensional soft-margin SVM on them, at zero, where two
        Gaussians are equally likely, where the error is least (in the middle of the widest gap, thesis 5.3.1), or at a
        number; "auto" is that of the first three with the least error. All but zero and a number look at leave-one-out
        outputs where these are exact, else at the training outputs; `KernelFisherClassifierCV` has outputs of folds
        for every loss.
    solver : str
        "auto", or a solver of the table in the guide: "linear", "eigen", "subset", "greedy", "nystrom", "smo",
        "greedy_smo", "qp", "lp", "column_generation", "newton".
    columns : "auto", str, dict, sequence or None
        What is done to columns, as in `ColumnScaler`, so that none weighs more for its unit. "auto" leaves rows as they
        are with kernels that mean them so ("cosine", "chi2", "additive_chi2", "precomputed", a function) and with
        invariances, which transform the rows as given; None always does.
    multi_class : {"one-vs-rest", "joint"}
        "joint": the multi-class eigenproblem, and Gaussians of one covariance in the space of its discriminants
        (squared loss, quadratic penalties; no threshold).
    degree, coef0 : float
        Of the kernels "poly", "sigmoid" and "inverse_multiquadric".
    centers : {"random", "kmeans"} or array, optional
        A restricted expansion: over random rows, drawn in proportion to their weights, k-means centres, given row
        numbers (integers) or points.
    n_centers : int, optional
        √n log n by default, where a restricted expansion is used; √(classes / 2) times as many for more than two
        classes, 4,000 at most.
    class_weight : dict or "balanced", optional
    probability : {"multinomial", "logistic", "gaussian", "laplace", "huber"}
        Of `predict_proba`. "logistic": log odds linear in the decision values, with the slope of maximum likelihood on
        the outputs that the threshold looks at. "multinomial": of more than two classes the decision values themselves
        are a multinomial logit on the outputs at rows left out, where these are exact, and "logistic" elsewhere.
        "gaussian": Bayes' theorem with a Gaussian a class of its own mean and variance; "laplace" and "huber": with the
        densities that belong to absolute and to Huber's loss (thesis, table 2.1), which have tails. The most probable
        class of the first two is always the predicted one. "joint" has Gaussians already, of which the slope is found.
    invariances : list, optional
        Functions that map rows to slightly transformed rows, or (weight, function) pairs: outputs that change under
        them are penalised, ½ weight Σ(f(x) - f(Lx))². See `eigenfeat.kernel.invariances` for images.
    expand_over : {"rows", "transformed"}
        With invariances: over the rows (or centres) only, or over their transformed copies too.
    virtual_rows : int, optional
        With invariances: instead of a penalty on changes, the transformed copies of so many rows, those of least margin
        when left out, are further rows of the same class, weighted as the invariances are. Fitted twice; thresholds,
        probabilities, `loo_decision_` and `loo_error_` are of the first fit, without copies.
    max_terms : int, optional
        Of the solvers "greedy" and "greedy_smo".
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
        Their points, after the treatment of columns.
    columns_ : `eigenfeat.features.columns.ColumnTable` or None
        What was done to every column, and why.
    alpha_ : float
        The weight of the penalty used.
    threshold_ : (n_outputs,) array
    slope_ : float
        Of the log odds in the decision values, with ``probability="logistic"``.
    logit_coef_, logit_intercept_ : (k, k) and (k,) arrays or None
        Of the multinomial logit that makes decision values of outputs less their thresholds.
    output_moments_ : (n_outputs, 2, 3) array or None
        Mean, variance and prior of each output on its negative and positive side, with ``probability="gaussian"``.
    output_densities_ : (n_outputs, 2, 4) array or None
        Middle, scale, bend σ and prior of each, with ``probability="laplace"`` or "huber".
    virtual_ : (virtual_rows,) array
        Rows that were copied; the copies follow the rows in `dual_coef_`, a transformation after the other.
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
    >>> from eigenfeat import KernelFisherClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = KernelFisherClassifier().fit(X, y)
    >>> model.alpha_, round(model.loo_error_, 3)
    (0.1, 0.019)
    """

    _parameter_constraints: dict = {
        **KernelRegression._parameter_constraints,
        **KernelDiscriminant._classifier_constraints,
        "loss": [StrOptions({*LOSSES, *MARGIN_LOSSES}), Loss],
        "multi_class": [StrOptions({"one-vs-rest", "joint"})],
        "virtual_rows": [None, COUNT],
    }

    def __init__(
        self,
        kernel="rbf",
        gamma=None,
        alpha="loo",
        loss="squared",
        penalty="function",
        threshold="margin",
        solver="auto",
        *,
        columns="auto",
        multi_class="one-vs-rest",
        degree=3,
        coef0=1.0,
        centers=None,
        n_centers=None,
        class_weight=None,
        probability="multinomial",
        invariances=None,
        expand_over="rows",
        virtual_rows=None,
        max_terms=None,
        tol=None,
        max_iter=None,
        random_state=0,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.alpha = alpha
        self.loss = loss
        self.penalty = penalty
        self.threshold = threshold
        self.solver = solver
        self.columns = columns
        self.multi_class = multi_class
        self.degree = degree
        self.coef0 = coef0
        self.centers = centers
        self.n_centers = n_centers
        self.class_weight = class_weight
        self.probability = probability
        self.invariances = invariances
        self.expand_over = expand_over
        self.virtual_rows = virtual_rows
        self.max_terms = max_terms
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    @checked_fit
    def fit(self, X, y=None, sample_weight=None):
        """Fit to rows X with class labels y.

        Parameters
        ----------
        X : (n, d) array or sparse matrix; the (n, n) kernel matrix when ``kernel="precomputed"``
            Or a row source (`eigenfeat.rows.open`) or a Dask collection: where memory does not hold its rows, squared
            loss over centres by the solver "nystrom", a pass an iteration; see `docs/scaling.md`.
        y : (n,) array
        sample_weight : (n,) array, optional
            An integer weight equals that many copies of the row, but for centres and terms that are drawn.

        Returns
        -------
        self
        """
        if is_stream(X):
            return fit_stream(self, X, y, sample_weight)
        return self._fit_labelled(*self._labelled(X, y, sample_weight))

    def _fit_labelled(self, X: Matrix, codes: np.ndarray, weights: np.ndarray, copies: np.ndarray | None):
        of_margins = isinstance(self.loss, str) and self.loss in MARGIN_LOSSES
        settings = self._settings(loss=Squared()) if of_margins else self._asked()
        problem = posed(settings, X, one_vs_rest(codes), weights, copies, self.random_state)
        if of_margins:
            return self._fit_margins(str(self.loss), problem, codes)
        if self.virtual_rows is not None:
            return self._fit_virtual(X, codes, weights)
        joint = self.multi_class == "joint" and len(self.classes_) > 2
        problem = replace(problem, classes=codes) if joint else problem
        problem, solution = self._solved(problem, classification_error(self.threshold))
        self._keep_rule(solution, problem, codes, cut=0.0 if joint else None)
        return self

    def _fit_virtual(self, X: Matrix, codes: np.ndarray, weights: np.ndarray):
        """Fitted twice: to find the rows of least margin, and with copies of them. Rules are those of the first."""
        if not self.invariances or sparse.issparse(X) or self.multi_class == "joint":
            raise ValueError(
                f"virtual_rows={self.virtual_rows} are rows transformed by the invariances: give invariances=[...] and "
                "dense rows, and leave multi_class at 'one-vs-rest'."
            )
        settings = replace(self._asked(), invariances=None)
        problem = posed(settings, X, one_vs_rest(codes), weights, None, self.random_state)
        problem, first = self._solved(problem, classification_error(self.threshold))
        if first.loo_outputs is None:
            raise ValueError(
                f"virtual_rows needs outputs left out, which solver={first.solver!r} does not have here: use "
                "loss='squared' with a quadratic penalty and solver 'auto', 'linear' or 'subset'."
            )
        cuts = thresholds(first.loo_outputs, codes, weights, self.threshold)
        self.virtual_ = least_margins(first.loo_outputs - cuts, codes, weights, self.virtual_rows)
        moves = weighted_transformations(self.invariances)
        rows, labels, shares = with_copies(X, codes, weights, self.virtual_, moves)
        fixed = replace(settings, alpha=problem.alpha)
        problem = posed(fixed, rows, one_vs_rest(labels), shares, None, self.random_state)
        request = self._request()
        solution = SOLVERS.choose(self.solver, problem, request).solve(problem, request)
        left_out = replace(solution, outputs=None, loo_outputs=first.loo_outputs)
        self._keep_rule(left_out, replace(problem, weights=weights), codes)
        return self

    def _fit_margins(self, loss: str, problem: KernelProblem, codes: np.ndarray):
        """With a loss of decision values, which are cut at zero; those of "logistic" are log odds."""
        wrong = {
            "penalty": self.penalty == "sparse",
            "multi_class": self.multi_class == "joint",
            "invariances": bool(self.invariances),
            "virtual_rows": self.virtual_rows is not None,
            "solver": self.solver not in ("auto", "subset", "nystrom"),
        }
        for name in (name for name, is_wrong in wrong.items() if is_wrong):
            raise ValueError(
                f"{name}={getattr(self, name)!r} cannot be with loss={loss!r}, which has a solver of its own: a "
                "quadratic penalty, one function a class, no invariances or virtual rows, solver='auto'."
            )
        start = None
        if isinstance(self.alpha, str):
            choice = held_out_alpha(problem, loss, alpha_unit(problem))
            problem, start = replace(problem, alpha=choice.alpha), choice.start
        solution = margin_losses.solve(problem, loss, self._request(), start)
        self._keep_rule(solution, problem, codes, cut=0.0, slope=1.0 if loss == "logistic" else None)
        return self
