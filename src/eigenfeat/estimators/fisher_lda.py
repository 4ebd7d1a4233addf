"""Fisher's linear discriminant: a transformer and a classifier from one quotient."""

from __future__ import annotations

import numpy as np
from scipy.special import log_softmax
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from eigenfeat.estimators.base import QuotientTransformer, StreamingQuotientTransformer
from eigenfeat.moments import Moments
from eigenfeat.quotients import Quotient, fisher


class FisherLDA(ClassifierMixin, StreamingQuotientTransformer):
    r"""Fisher's linear discriminant analysis.

    Maximises the spread of the class means over the spread within the classes,

    .. math:: \frac{v^\top \sum_c u_c (m_c - m)(m_c - m)^\top v}{v^\top \left(\sum_c u_c \mathrm{Cov}[x|c]\right) v}

    with :math:`u_c` the share of class c. At most k - 1 directions exist. A row is classified by its distance to
    the class means in the space of all of them, which is Bayes' rule for Gaussian classes of one covariance.

    Parameters
    ----------
    n_components : int, optional
        Directions `transform` projects on; k - 1 by default. Classification always uses all of them.
    noise : {"within", "total"}
        The denominator: within-class covariance, or the total covariance, whose eigenvalues are λ / (1 + λ).
    class_weighting : {"share", "equal"}
        :math:`u_c`: the share of each class (as scikit-learn), or 1 / k (as the GEM paper's table).
    priors : (k,) array, optional
        Class probabilities for prediction; shares of the training rows by default.
    ridge : float
        Added to the noise's diagonal, relative to its mean.
    shrinkage : None, "auto", "oas" or float
        Of the noise towards a multiple of the identity; "auto" is Ledoit-Wolf on rows about their class means,
        one factor for the pooled matrix.
    solver : str
        "auto" or a solver of `eigenfeat.solvers`.
    tol : float, optional
        Relative residual asked of iterative solvers.
    random_state : int
        Seed of the randomised solver.

    Attributes
    ----------
    components_ : (n_components, d) array
        Directions as rows, scaled to unit within-class variance (ridge included).
    eigenvalues_ : (n_components,) array
        Ratio of between- to within-class variance of each.
    residuals_, solver_, moments_
        How well each direction solves the problem, what solved it, and the moments it came from.
    classes_ : (k,) array
    coef_, intercept_ : (k, d) and (k,) arrays
        Of the linear decision function; a single row for two classes.
    means_, priors_ : (k, d) and (k,) arrays
    patterns_ : (n_components, d) array
        What a component looks like in the input.
    n_features_in_ : int

    See Also
    --------
    sklearn.discriminant_analysis.LinearDiscriminantAnalysis : The same directions; its "auto" shrinkage uses a
        different factor for every class and subtracts matrices shrunk by different amounts.

    References
    ----------
    Fisher (1936), *The use of multiple measurements in taxonomic problems*. Karampatziakis & Mineiro (2014),
    *Discriminative features via generalized eigenvectors*, Table 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenfeat import FisherLDA
    >>> X, y = load_iris(return_X_y=True)
    >>> lda = FisherLDA().fit(X, y)
    >>> lda.eigenvalues_.round(3)
    array([32.192,  0.285])
    >>> lda.score(X, y)
    0.98
    """

    _parameter_constraints: dict = {
        **QuotientTransformer._parameter_constraints,
        "noise": [StrOptions({"within", "total"})],
        "class_weighting": [StrOptions({"share", "equal"})],
        "priors": [None, "array-like"],
    }

    def __init__(
        self,
        n_components=None,
        *,
        noise="within",
        class_weighting="share",
        priors=None,
        ridge=0.0,
        shrinkage=None,
        solver="auto",
        tol=None,
        random_state=0,
    ):
        self.n_components = n_components
        self.noise = noise
        self.class_weighting = class_weighting
        self.priors = priors
        self.ridge = ridge
        self.shrinkage = shrinkage
        self.solver = solver
        self.tol = tol
        self.random_state = random_state

    def _quotient(self, moments: Moments) -> Quotient:
        return fisher(moments, self.noise, self.class_weighting, self._regularisation())

    def _n_wanted(self, quotient: Quotient) -> int | None:
        # The rule needs all k - 1; `transform` keeps the first n_components.
        return min(self.moments_.n_classes - 1, quotient.n_features)

    def _solve_moments(self):
        super()._solve_moments()
        self._set_decision_rule()
        if self.n_components is not None:
            self._keep(self.n_components)
        return self

    def _keep(self, n_components: int) -> None:
        if n_components > len(self.eigenvalues_):
            raise ValueError(
                f"n_components={n_components} is more than the {len(self.eigenvalues_)} discriminant directions that "
                f"{len(self.classes_)} classes in {self.n_features_in_} features can have."
            )
        self._directions = self._directions.first(n_components)
        self.eigenvalues_, self.residuals_ = self._directions.values, self._directions.residuals

    def _set_decision_rule(self) -> None:
        """Nearest mean in the metric of the within-class covariance, restricted to the discriminant space."""
        self.means_ = self.moments_.means
        self.priors_ = self._checked_priors()
        V = self._directions.toarray()
        metric = V.T @ (self._regularisation().noise(self.moments_, None, "within") @ V)
        apart = self.means_ - self.offset_
        projected = apart @ V
        weights = np.linalg.lstsq(metric, projected.T, rcond=None)[0]  # the metric is the identity for "within"
        coef = (V @ weights).T
        with np.errstate(divide="ignore"):
            intercept = np.log(self.priors_) - 0.5 * np.einsum("ck,kc->c", projected, weights) - coef @ self.offset_
        if len(self.classes_) == 2:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        self.coef_, self.intercept_ = coef, intercept

    def _checked_priors(self) -> np.ndarray:
        if self.priors is None:
            return self.moments_.shares
        priors = np.asarray(self.priors, dtype=np.float64)
        if priors.shape != (len(self.classes_),) or (priors < 0).any() or not priors.any():
            raise ValueError(
                f"priors must be {len(self.classes_)} non-negative numbers, one a class, that are not all zero; got "
                f"{self.priors!r}."
            )
        return priors / priors.sum()

    def decision_function(self, X):
        """Log of the class posteriors up to a constant; for two classes the log odds of the second.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or dataframe

        Returns
        -------
        (n, k) array, or (n,) for two classes
        """
        check_is_fitted(self, "coef_")
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        scores = np.asarray(X @ self.coef_.T.astype(X.dtype, copy=False)) + self.intercept_.astype(X.dtype, copy=False)
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict_log_proba(self, X):
        """Logarithms of the class probabilities, (n, k)."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.column_stack([np.zeros_like(scores), scores])
        return log_softmax(scores, axis=1)

    def predict_proba(self, X):
        """Class probabilities under Gaussian classes of one covariance, (n, k)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X):
        """The most probable class of every row."""
        scores = self.decision_function(X)
        chosen = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[chosen]
