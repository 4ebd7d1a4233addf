"""The problems of kernel Fisher discriminants with real targets."""

from __future__ import annotations

import numpy as np

from eigenfeat._sklearn import checked_fit
from eigenfeat.estimators.edge import PredictionsMixin
from eigenfeat.estimators.kernel_base import KernelRegression
from eigenfeat.estimators.kernel_settings import posed
from eigenfeat.estimators.validation import check_weights
from eigenfeat.kernel.search import squared_residual
from eigenfeat.stages import Chain, Fitted


class KernelFisherRegressor(PredictionsMixin, KernelRegression):
    r"""The problems of `KernelFisherClassifier` with real targets.

    Minimises L(ξ) + alpha·P over :math:`f(x) = \sum_j \alpha_j k(x_j, x) + b`, :math:`\xi = y - f(x)`: kernel ridge
    regression with an intercept ("squared", "function"), robust and support vector regression ("absolute", "huber",
    "epsilon" with "function"), and regression with few terms (penalty "sparse").

    Parameters
    ----------
    alpha : "loo" or float
        Weight of the penalty; "loo" takes the half decade with the least mean squared residual at rows left out, as in
        `KernelFisherClassifier`.
    kernel, gamma, loss, penalty, solver, columns, degree, coef0, centers, n_centers
        As in `KernelFisherClassifier`.
    invariances, expand_over, max_terms, tol, max_iter, random_state
        As in `KernelFisherClassifier`.

    Attributes
    ----------
    dual_coef_, intercept_, support_, support_vectors_, solver_, n_iter_, objective_, gamma_, alpha_, columns_
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
    >>> model = KernelFisherRegressor(gamma=10).fit(x, np.sinc(x[:, 0] / np.pi))  # of a standardised column
    >>> bool(abs(model.predict([[0.0]]) - 1) < 0.01)
    True
    """

    def __init__(
        self,
        kernel="rbf",
        gamma=None,
        alpha="loo",
        loss="squared",
        penalty="function",
        solver="auto",
        *,
        columns="auto",
        degree=3,
        coef0=1.0,
        centers=None,
        n_centers=None,
        invariances=None,
        expand_over="rows",
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
        self.solver = solver
        self.columns = columns
        self.degree = degree
        self.coef0 = coef0
        self.centers = centers
        self.n_centers = n_centers
        self.invariances = invariances
        self.expand_over = expand_over
        self.max_terms = max_terms
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    @checked_fit
    def fit(self, X, y, sample_weight=None):
        """Fit to rows X with one or several real targets y.

        Parameters
        ----------
        X : (n, d) array or sparse matrix; the (n, n) kernel matrix when ``kernel="precomputed"``
        y : (n,) or (n, n_targets) array
        sample_weight : (n,) array, optional
            An integer weight equals that many copies of the row, but for centres and terms that are drawn, which
            go by the place of a row.

        Returns
        -------
        self
        """
        X, y = self._check(X, y, multi_output=True, y_numeric=True)
        copies = check_weights(sample_weight, X)
        weights = np.ones(len(y)) if copies is None else copies
        self._y_is_flat = y.ndim == 1
        targets = y[:, None] if self._y_is_flat else y
        X = self._treated(X, copies)
        problem = posed(self._asked(), X, targets, weights, copies, self.random_state)
        problem, solution = self._solved(problem, squared_residual)
        expansion, outputs = self._keep_fit(solution, problem)
        left_out = outputs[:, 0] if self._y_is_flat else outputs
        self.loo_prediction_ = None if solution.loo_outputs is None else left_out
        self.fitted_ = Fitted(predictions=Chain((*self._inputs.stages, expansion)))
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
