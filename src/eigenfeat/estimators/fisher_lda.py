"""Fisher's linear discriminant: a transformer and a classifier from one quotient."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eigenfeat._sklearn import StrOptions
from eigenfeat.estimators.base import QuotientTransformer, StreamingQuotientTransformer
from eigenfeat.estimators.edge import ScoresMixin
from eigenfeat.estimators.validation import check_priors
from eigenfeat.moments import Moments
from eigenfeat.quotients import CRITERIA, Criterion, Quotient
from eigenfeat.solvers import Directions
from eigenfeat.stages import Affine, Chain, Softmax


class FisherLDA(ScoresMixin, StreamingQuotientTransformer):
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
        one factor for the pooled matrix. With sample weights both count (Σw)² / Σw² rows, whatever the unit of the
        weights: a weight of two is less evidence than two rows.
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
    residuals_, solver_, moments_, criterion_
        How well each direction solves the problem, what solved it, the moments it came from, and the name of the
        criterion ("fisher").
    offsets_ : (n_components,) array
        What is added to the projection of each component: rows are seen from the mean of the class means.
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

    def _criterion(self) -> Criterion:
        return CRITERIA["fisher_total" if self.noise == "total" else "fisher"]

    def _options(self, moments: Moments) -> dict:
        return {"class_weighting": self.class_weighting, "regularisation": self._regularisation()}

    def _n_wanted(self, quotient: Quotient) -> int | None:
        # The rule needs all k - 1; `transform` keeps the first n_components.
        return min(self.moments_.n_classes - 1, quotient.n_features)

    def _keep(self, found: Directions, quotient: Quotient) -> None:
        if self.n_components is not None and self.n_components > found.n_directions:
            raise ValueError(
                f"n_components={self.n_components} is more than the {found.n_directions} discriminant directions that "
                f"{len(self.classes_)} classes in {self.n_features_in_} features can have."
            )
        super()._keep(found.first(self.n_components or found.n_directions), quotient)
        self._set_decision_rule(found.toarray(), np.asarray(quotient.origin))

    def _set_decision_rule(self, V: np.ndarray, mean: np.ndarray) -> None:
        """Nearest mean in the metric of the within-class covariance, restricted to the discriminant space."""
        self.means_ = self.moments_.means
        self.priors_ = (
            self.moments_.class_fractions if self.priors is None else check_priors(self.priors, len(self.classes_))
        )
        metric = V.T @ (self._regularisation().noise(self.moments_, None, "within") @ V)
        projected = (self.means_ - mean) @ V
        weights = np.linalg.lstsq(metric, projected.T, rcond=None)[0]  # the metric is the identity for "within"
        coef = (V @ weights).T
        with np.errstate(divide="ignore"):
            intercept = np.log(self.priors_) - 0.5 * np.einsum("ck,kc->c", projected, weights) - coef @ mean
        if len(self.classes_) == 2:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        self.coef_, self.intercept_ = coef, intercept
        scores = Chain((Affine.of(coef.T, intercept),))
        self.fitted_ = replace(self.fitted_, scores=scores, probabilities=Softmax())
