"""GEM as a transformer."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from eigenfeat._sklearn import checked_fit
from eigenfeat.estimators.gem_base import GEMFeaturesMixin, check_events
from eigenfeat.estimators.streaming import is_stream, streamed
from eigenfeat.estimators.validation import check_class_labels, check_moments, check_weights
from eigenfeat.features.stack import StackSettings, fit_stack, layer_moments
from eigenfeat.moments import Moments
from eigenfeat.rows.rows import ArrayRows, Rows
from eigenfeat.stages import Chain, Fitted


class GEMFeatures(GEMFeaturesMixin):
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
          to 240,000 / classes problems in all, but at least one a class;
        - "all": all k (k - 1);
        - "hypercube": labels placed at random on a hypercube, neighbours in both orders, k log₂ k;
        - "random", "stratified": as many pairs at random; with every class equally often on either side;
        - "one-vs-rest": each class over the pool of the others;
        - "one-vs-all": each class over the pool of all rows (common spatial patterns);
        - "per-class": each class over the identity, a principal component analysis of its own;
        - "contractions": classes clustered by their moments; groups over groups, and each class over and under
          the rest of its group (section 5 of the paper).
    n_pairs : int, optional
        How many pairs for "hypercube", "random", "stratified" and "auto"; how many groups for "contractions". Any
        number from k / 2 leaves no class out; fewer get a warning. With sub-classes, pairs of classes are counted.
    noise : {"second_moment", "covariance"}
        "covariance" takes both sides about the mean of the noise class (footnote 1 of the paper).
    feature_map : str, FeatureMap or callable
        "cubic" (:math:`\max(0, \pm p)^{\alpha/2}`, α = 1, 2, 3), "soft-cubic" (the same powers of
        :math:`\sqrt{1 + |p|} - 1`, gentler at zero), "rectified" (:math:`\max(0, \pm p)`),
        "rectified-positive" (one side of it), "sqrt", "square", "absolute", "spline", "smooth-spline" (with a
        roughness penalty), "identity" (the projections themselves, for trees), a map of `eigenfeat.features.maps` such
        as ``SmoothSplineMap(penalty=3.0)``, or a function of the (n, m) projections.
    ridge : float
        ρ: added to the noise's diagonal, relative to its mean.
    ridge_shape : {"identity", "diagonal"}
        "diagonal" adds the pooled second moment's diagonal instead, so that features do not depend on the units
        of the columns.
    shrinkage : None, "auto", "oas" or float
        Of the noise towards a multiple of the identity.
    min_eigenvalue : float, optional
        θ: directions with a smaller λ are dropped. When none is left, the best of each pair is kept.
    max_components : int, optional
        Directions in all, kept by eigenvalue.
    keep_inputs : bool
        Whether the inputs stand before the features, in units of their root mean square over all columns.
    constant : bool
        Whether rows get a coordinate that is always one, so that directions have a bias.
    columns : "auto", str, dict, sequence of str or None
        What is done to the columns first, as in `ColumnScaler`; None leaves them as they are. Moments and directions
        are those of the treated columns.
    subclasses : int, optional
        Clusters (k-means of its rows) that each class is cut into, fewer where it has few rows: every sub-class has
        moments of its own, and a pair of classes becomes all pairs of their sub-classes (section 5 of the paper,
        moments "conditioned on other events"). ``pairs_`` then has "3/0", "5/1". `fit` takes events of one's own.
    invariances : list of transformations or of (weight, transformation), optional
        Functions from rows to rows (`eigenfeat.kernel.invariances` has some for images) that should not matter: the
        mean of ``(x - Lx)(x - Lx)ᵀ``, times the weight, is added to every noise matrix of the first layer, beside
        the ridge, so that directions avoid what the transformation changes.
    solver, tol, random_state
        As in `FisherLDA`; the seed also draws pairs.
    n_jobs : int, optional
        Threads over noise classes; the result does not depend on it.

    Attributes
    ----------
    components_ : (m, d) array
        Directions as rows, pair by pair, strongest first, in the space of the treated columns; `offsets_` is added
        to their projections.
    patterns_ : (m, d) array
        What each component looks like in the input.
    eigenvalues_, residuals_ : (m,) arrays
    pairs_ : (m, 2) array
        Labels of numerator and denominator of each component.
    stacks_ : tuple of `eigenfeat.features.stack.Stack`
        The layer as a value, with what is known of each direction.
    columns_ : `eigenfeat.features.columns.ColumnTable` or None
        What was done to every column, and why.
    stage_seconds_ : dict
        What the fit took for "moments" and "directions".
    classes_, moments_, solver_, criterion_, n_features_in_
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
    ((270, 64), (1797, 1684))
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
        feature_map="soft-cubic",
        ridge=1.0,
        ridge_shape="identity",
        shrinkage=None,
        min_eigenvalue=None,
        max_components=None,
        keep_inputs=True,
        constant=False,
        columns="auto",
        subclasses=None,
        invariances=None,
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
        self.max_components = max_components
        self.keep_inputs = keep_inputs
        self.constant = constant
        self.columns = columns
        self.subclasses = subclasses
        self.invariances = invariances
        self.solver = solver
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    @checked_fit
    def fit(self, X, y=None, sample_weight=None, *, subclass_labels=None):
        """Find the directions that tell the classes of y apart.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or dataframe, or row source
            A source (`eigenfeat.rows.open`) is read a block at a time, once more where columns are treated, and brings
            its labels and weights; a map that learns does so from its first rows.
        y : (n,) array
            Class labels; for a source the name of their column, where it does not say.
        sample_weight : (n,) array, optional
            An integer weight equals that many copies of the row, but for ``shrinkage="auto"``, for which evidence
            is (Σw)² / Σw² rows, and for splines, whose knots are quantiles of as many projections as there are rows.
        subclass_labels : (n,) array, optional
            Event of every row (speaker, season, machine): cuts classes into sub-classes in place of ``subclasses``.

        Returns
        -------
        self
        """
        rows, classes = self._labelled_rows(X, y, sample_weight)
        rows = self._treated(rows)
        settings = self._settings()
        self.stage_seconds_: dict[str, float] = {}
        moments = layer_moments(rows, settings.layers[0], classes, self.stage_seconds_)
        check_moments(moments, True, False, estimator=type(self).__name__)
        if classes is None and rows.random_access:
            rows = rows.with_labels(np.searchsorted(moments.classes, rows.y), rows.weight)
        return self._fit(moments, rows, settings, check_events(subclass_labels, rows))

    @checked_fit
    def fit_moments(self, moments):
        """Fit from class moments alone, of rows that need not be here: parts seen by several machines, for one.

        Parameters
        ----------
        moments : Moments
            Of labelled rows, as `eigenfeat.moments.collect_moments` makes and ``moments_`` keeps them, merged or not.
            With ``constant``, of rows whose last column is one. Moments cannot be treated by column any more: collect
            them of rows a `ColumnScaler` has treated, if their columns have different units. Where a class's mean
            does not tell a direction's sign, only rows can: from moments alone the entry of largest magnitude is made
            positive.

        Returns
        -------
        self
        """
        settings = self._settings()
        (layer,) = settings.layers
        check_moments(moments, True, layer.regularisation.needs_fourth_moment, estimator=type(self).__name__)
        if settings.subclasses not in (None, 1) or settings.invariances:
            raise ValueError("subclasses and invariances are found from rows, and moments have none: call fit.")
        if settings.needs_rows:
            raise ValueError(
                f"The feature map {layer.feature_map.name!r} learns from the projections of rows, and moments have "
                "none: call fit with rows, or choose a map that has nothing to learn, such as 'soft-cubic'."
            )
        if layer.constant and not _ends_with_one(moments):
            raise ValueError(
                "constant=True needs moments of rows with a last column of ones, which these are not: append it to "
                "the rows before collecting, or use constant=False."
            )
        self.n_features_in_ = moments.n_features - layer.constant
        self._inputs, self.columns_ = Chain(), None
        self.stage_seconds_ = {}
        return self._fit(moments, None, settings)

    def _labelled_rows(self, X, y, sample_weight) -> tuple[Rows, np.ndarray | None]:
        """Checked rows labelled by indices into the classes, or a stream with labels of its own."""
        if is_stream(X):
            return streamed(self, X, y, sample_weight, "classes"), None
        X, y = self._check(X, y)
        weights = check_weights(sample_weight, X)
        classes, codes = check_class_labels(y, weights, estimator=type(self).__name__)
        return ArrayRows(X, codes, weights), classes

    def _fit(self, moments: Moments, rows: Rows | None, settings: StackSettings, events=None):
        stack = fit_stack(moments, rows, settings, check_random_state(self.random_state), self.stage_seconds_, events)
        self.classes_, self.moments_, self.stacks_ = moments.classes, moments, (stack,)
        self.fitted_ = Fitted(features=self._inputs.then(*stack.chain.stages))
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _ends_with_one(moments: Moments) -> bool:
    """Whether the last column of the rows behind moments is one, always."""
    last = np.zeros((moments.n_features, 1))
    last[-1] = 1
    mean_square = (last.T @ (moments.second_moment() @ last)).item()
    return bool(np.allclose([moments.mean()[-1], mean_square], 1.0, rtol=1e-6))
