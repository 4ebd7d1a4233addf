"""GEM as a transformer."""

from __future__ import annotations

import numpy as np
from sklearn.base import TransformerMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from eigenfeat.estimators.gem_base import GEMBase
from eigenfeat.estimators.validation import check_class_labels, check_weights
from eigenfeat.features.expansion import as_row_source
from eigenfeat.features.layer import held


class GEMFeatures(TransformerMixin, GEMBase):
    r"""Features from generalized eigenvectors of class-conditional second moments.

    For ordered pairs of classes (i, j) the top solutions of

    .. math:: \mathbb{E}[xx^\top | i]\, v = \lambda \left(\mathbb{E}[xx^\top | j]
              + \tfrac{\rho}{d} \mathrm{Tr}(\cdot) I\right) v

    are directions whose squared projection is on average λ on class i and at most 1 on class j. The features are a
    nonlinear map of all projections (Algorithm 1, lines 1-7).

    Parameters
    ----------
    n_components : int, optional
        Directions a pair. By default as many as make about 2400 directions in all (240,000 / classes beyond a
        hundred classes), 20 at most.
    class_pairs : str, list of pairs of labels, or array
        Which pairs, by a list, by an (n, 2, k) array of non-negative vectors over the classes to contract the moments
        with (`eigenfeat.features.pairs.confusion_contractions` makes one of a first classifier's confusions), or by
        the name of a strategy:

        - "auto": all pairs up to 12 classes, then a hypercube thinned to four problems a class, beyond 245 classes
          to 240,000 / classes problems in all;
        - "all": all k (k - 1);
        - "hypercube": labels placed at random on a hypercube, neighbours in both orders, k log₂ k;
        - "random", "stratified": as many pairs at random; with every class equally often on either side;
        - "one-vs-rest": each class over the pool of the others;
        - "contractions": classes clustered by their moments; groups over groups, and each class over and under
          the rest of its group (section 5 of the paper).
    n_pairs : int, optional
        How many pairs for "hypercube", "random", "stratified" and "auto"; how many groups for "contractions".
    noise : {"second_moment", "covariance"}
        "covariance" takes both sides about the mean of the noise class (footnote 1 of the paper).
    feature_map : str, FeatureMap or callable
        "cubic" (:math:`\max(0, \pm p)^{\alpha/2}`, α = 1, 2, 3), "soft-cubic" (the same powers of
        :math:`\sqrt{1 + |p|} - 1`, gentler at zero), "rectified" (:math:`\max(0, \pm p)`),
        "rectified-positive" (one side of it), "sqrt", "square", "absolute", "spline", "identity" (the projections
        themselves, for trees), a map of `eigenfeat.features.maps`, or a function of the (n, m) projections.
    ridge : float
        ρ: added to the noise's diagonal, relative to its mean.
    ridge_shape : {"identity", "diagonal"}
        "diagonal" adds the pooled second moment's diagonal instead, so that features do not depend on the units
        of the columns.
    shrinkage : None, "auto", "oas" or float
        Of the noise towards a multiple of the identity.
    min_eigenvalue : float, optional
        θ: directions with a smaller λ are dropped. When none is left, the best of each pair is kept.
    max_features : int, optional
        Directions in all, kept by eigenvalue.
    keep_inputs : bool
        Whether the inputs stand before the features, in units of their root mean square over all columns.
    constant : bool
        Whether rows get a coordinate that is always one, so that directions have a bias.
    solver, tol, random_state
        As in `FisherLDA`; the seed also draws pairs.
    n_jobs : int, optional
        Threads over noise classes; the result does not depend on it.

    Attributes
    ----------
    components_ : (m, d) array
        Directions as rows, pair by pair, strongest first; `offsets_` is added to their projections.
    eigenvalues_, residuals_ : (m,) arrays
    pairs_ : (m, 2) array
        Labels of numerator and denominator of each component.
    stage_seconds_ : dict
        What the fit took for "moments" and "directions".
    classes_, moments_, solver_, n_features_in_
        As in `FisherLDA`.

    References
    ----------
    Karampatziakis & Mineiro (2014), *Discriminative features via generalized eigenvectors*.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from eigenfeat import GEMFeatures
    >>> X, y = load_digits(return_X_y=True)
    >>> gem = GEMFeatures(n_components=3, ridge=0.1).fit(X, y)
    >>> gem.components_.shape, gem.transform(X).shape
    ((270, 64), (1797, 1620))
    >>> gem.pairs_[0], float(gem.eigenvalues_[0].round(1))
    (array([0, 1]), 71.9)
    """

    def __init__(
        self,
        n_components=None,
        *,
        class_pairs="auto",
        n_pairs=None,
        noise="second_moment",
        feature_map="cubic",
        ridge=1.0,
        ridge_shape="identity",
        shrinkage=None,
        min_eigenvalue=None,
        max_features=None,
        keep_inputs=False,
        constant=False,
        solver="auto",
        tol=None,
        n_jobs=None,
        random_state=0,
    ):
        self.n_components = n_components
        self.class_pairs = class_pairs
        self.n_pairs = n_pairs
        self.noise = noise
        self.feature_map = feature_map
        self.ridge = ridge
        self.ridge_shape = ridge_shape
        self.shrinkage = shrinkage
        self.min_eigenvalue = min_eigenvalue
        self.max_features = max_features
        self.keep_inputs = keep_inputs
        self.constant = constant
        self.solver = solver
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Find the directions that tell the classes of y apart.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or dataframe
        y : (n,) array
            Class labels.
        sample_weight : (n,) array, optional

        Returns
        -------
        self
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32])
        weights = check_weights(sample_weight, X)
        self.classes_, codes = check_class_labels(y, weights, estimator=type(self).__name__)
        source = self._input_rows(X)
        self.stage_seconds_ = {}
        self.moments_ = self._moments(0, source, codes, weights)
        rng = check_random_state(self.random_state)
        self._stacks = [self._fit_stack(self.moments_, source, codes, weights, rng)]
        return self

    def transform(self, X):
        """The features of every row.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or dataframe

        Returns
        -------
        (n, n_features_out) array
            float32 for float32 input.
        """
        check_is_fitted(self, "_stacks")
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        return held(self._stacks[0].rows(as_row_source(X)))

    def get_feature_names_out(self, input_features=None):
        """Names of the output columns: pair, rank within the pair, and function of the projection."""
        check_is_fitted(self, "_stacks")
        inputs = _check_feature_names_in(self, input_features)
        last = self._stacks[0].layers[-1]
        starts = np.searchsorted(last.layer.contrast, last.layer.contrast)
        names = [f"{a}_vs_{b}_{rank}" for (a, b), rank in zip(self.pairs_, np.arange(last.layer.n_directions) - starts)]
        kept = [*inputs, *(["constant"] if self.constant else [])] if last.input_scale is not None else []
        return np.asarray([*kept, *last.feature_map.feature_names(names)], dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.target_tags.required = True
        return tags
