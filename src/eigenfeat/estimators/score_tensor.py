"""FEAST: discriminative features from the cross-moments of labels with score tensors."""

from __future__ import annotations

import warnings
from math import comb

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from eigenfeat._runtime.threads import one_blas_thread
from eigenfeat._sklearn import COUNT, NON_NEGATIVE, POSITIVE, HasMethods, Integral, Interval, StrOptions, checked_fit
from eigenfeat.estimators.column_scaler import COLUMNS_CONSTRAINT
from eigenfeat.estimators.edge import FeaturesMixin
from eigenfeat.estimators.score_tensor_base import ScoreCoordinates, in_spreads
from eigenfeat.estimators.unlabelled import beside
from eigenfeat.estimators.validation import check_weights
from eigenfeat.features.maps import FeatureMap, as_feature_map
from eigenfeat.rows.keys import distinct_keys
from eigenfeat.scores.components import unit_columns
from eigenfeat.scores.cross_tensor import StreamedTensor, centred_labels, merged_rows
from eigenfeat.scores.decomposition import Search
from eigenfeat.scores.pooling import OrderFit, Pool, noise_level, pooled, strengths
from eigenfeat.scores.quality import fit_quality
from eigenfeat.scores.stochastic import Batches
from eigenfeat.scores.tensor_solvers import TENSOR_SOLVERS, TensorProblem, TensorRequest
from eigenfeat.scores.tensors import ScoreFunction
from eigenfeat.solvers.canonical import largest_entry_signs
from eigenfeat.stages import Affine, Chain, FeatureLayer, Fitted, Stage

#: Components of third and higher order that are looked for, where nobody says how many: per axis, and in all.
COMPONENTS_AN_AXIS, MOST_COMPONENTS = 4, 200


class ScoreTensorFeatures(FeaturesMixin, ScoreCoordinates):
    """Directions along which a label's derivatives are large: FEAST.

    The cross-moment ``T = E[y ⊗ S_m(x)]`` of labels and score tensors, ``S_m = (-1)ᵐ ∇ᵐp / p``, is the expected
    m-th derivative of the label function, ``E[∇ᵐ E[y|x]]`` (Stein's identity). A label that depends on x through
    ``w_r·x`` makes ``T = Σ_r u_r ⊗ w_r ⊗ ... ⊗ w_r``; decomposing T gives the ``w_r``, with order 3 more of them
    than there are columns. The score needs no labels: rows without them help to learn it.

    By itself it treats the columns (`ColumnScaler`), takes the leading principal axes, whitened, as coordinates, fits a
    Gaussian there, decomposes the moments of the first three orders, compares every component with what shuffled
    labels give, and keeps those above that noise, strongest first, with the axes after them. Neither the unit nor the
    origin of a column matters.

    Parameters
    ----------
    score_model : score model or None, default=None
        A :class:`GaussianMixtureScore`, a :class:`DenoisingAutoencoder`, any estimator with a fitted
        ``score_function_``, or a ``ScoreFunction`` of your own. None is one Gaussian. An estimator is cloned and
        fitted on the whitened axes of all rows, unless ``prefit``.
    prefit : bool, default=False
        Whether ``score_model`` is already fitted and to be used as it is. It knows the columns as they are, as a
        ``ScoreFunction`` does: these are then neither treated nor replaced by axes.
    order : int or tuple of int, default=(1, 2, 3)
        m. Several orders are decomposed one by one and their components ranked together by `strengths_`. One order is
        the paper's: its components alone, no axes. First order gives at most as many components as there are labels,
        second order at most as many a label as there are axes; third order and above any number.
    n_components : int or None, default=None
        Directions in all. None: the components above the noise and the axes; for a single order as many as axes (first
        order: as many as there are). More than those adds components that could be noise.
    columns : str, dict or sequence of str, default="auto"
        As in :class:`ColumnScaler`.
    n_axes : int, "all" or None, default=None
        Leading principal axes that serve as coordinates. None: those with 99 per cent of the variance, 50 at most, one
        for every four rows at most; the axes after them, within the same bounds, are directions only. "all": the
        columns themselves, neither centred nor whitened.
    noise : {"score", "identity"}, default="score"
        The matrix N that makes directions comparable: ``E[S1 S1ᵀ]``, which is how much the score itself varies, or the
        identity. Components are found where N is the identity; second order solves the quotient ``E[y S2]`` over N.
    ridge : float, default=1e-3
        Added to N, relative to its mean diagonal.
    feature_map : str, FeatureMap or callable, default="rectified"
        What is made of the projections, as in :class:`GEMFeatures`: "rectified" is both sides of each, "identity" the
        projections themselves.
    solver : {"auto", "svd", "eigen", "power", "als"}, default="auto"
        "svd" is for order 1 and "eigen" for order 2. For order 3 and above there are a power method with many starts at
        once on all rows ("power", which "auto" takes) and alternating least squares on mini-batches ("als"); both
        deflate implicitly and end with a joint fit.
    n_restarts : int or None, default=None
        Starts of the power method run at once; None is twice the number missing, from 20 to 512.
    n_init : int or None, default=None
        Whole decompositions to choose the best from, every second one from random directions instead of maxima; None is
        8 where the tensor is small enough to be an array, else 1.
    max_iter : int, default=50
        Steps of the joint fit, and of the power method where that is fewer than its own 40 (10 on rows). Zero, with
        "als", leaves the components as the mini-batches found them.
    tol : float, default=1e-4
        Relative gain of the joint fit at which to stop.
    batch_size : int, default=64
        Rows a mini-batch of "als"; the paper takes 1.
    n_batches, n_updates, n_starts : int, default=20, 4, 8
        Mini-batches a component, updates a mini-batch and starts on the first one of "als"; the paper has 20, 4 and 1.
    random_state : int, RandomState or None, default=0

    Attributes
    ----------
    components_ : (n_components, d) array
        Unit rows ``w_r`` in treated columns, strongest first; the sign makes the largest label factor positive for odd
        m, the largest entry of ``w_r`` for even m. Found on whitened axes and applied to axes in their own scale, which
        shrinks what hardly varies.
    offsets_ : (n_components,) array
        Added to the projections of treated columns: they are seen from the mean of the rows.
    scale_ : float
        What projections are multiplied by before they are mapped: their mean square norm is then the number of axes.
    orders_ : (n_components,) array of int
        Which order each is of; 0 is a leading axis.
    strengths_ : (n_components,) array
        ``T(u_r, w_r, ..., w_r)`` over the noise level of its order: above one, shuffled labels would hardly give it.
    noise_levels_ : dict
        Order to the largest ``‖T(:, v, ..., v)‖`` of shuffled labels.
    weights_ : (n_components,) array
        Norm of each component where N is the identity.
    eigenvalues_ : (n_components,) array
        The same numbers.
    label_factors_ : (n_components, k) array
        Unit rows ``u_r``: which classes, or targets, the component speaks of. Labels are in units of their spread.
    residuals_ : (n_components,) array
        ``‖(T - T̂)(u_r, I, w_r, ...)‖ / ‖T(u_r, I, w_r, ...)‖``, T̂ the sum of all components of the order.
    fit_ : (n_components,) array
        Share of ``‖T‖²`` in each component, ``weights_² / ‖T‖²``.
    relative_error_ : float
        ``‖T - T̂‖ / ‖T‖`` of the highest order; estimated with random probes where T is large.
    columns_ : ColumnTable or None
        What was done to the columns; None for a score that knows them as they are.
    axes_ : LeadingAxes
        Mean, vectors and scales of the axes.
    n_axes_ : int
        How many of them are coordinates of the score.
    score_function_ : ScoreFunction
        What the score tensors came from, in the first ``n_axes_`` coordinates of ``axes_``.
    noise_ : SymmetricForm
        N, ridge included.
    classes_ : array or None
        None for targets that are not classes.
    solver_ : str
        The solvers that ran, one an order.
    n_iter_ : int
        Steps of the joint fit.
    n_features_in_ : int
    feature_names_in_ : array of str

    References
    ----------
    M. Janzamin, H. Sedghi, U. N. Niranjan, A. Anandkumar (2015). FEAST at play: feature extraction using score function
    tensors.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenfeat import ScoreTensorFeatures
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(20000, 4))
    >>> y = (X @ [0.6, 0.8, 0.0, 0.0]) ** 3
    >>> found = ScoreTensorFeatures(n_components=1, random_state=0).fit(X, y)
    >>> np.abs(found.components_ @ [0.6, 0.8, 0.0, 0.0]).round(1)
    array([1.])
    """

    _parameter_constraints: dict = {
        "score_model": [None, HasMethods("fit"), ScoreFunction],
        "prefit": ["boolean"],
        "order": [Interval(Integral, 1, 16, closed="both"), tuple, list],
        "n_components": [None, COUNT],
        "columns": COLUMNS_CONSTRAINT,
        "n_axes": [None, COUNT, StrOptions({"all"})],
        "noise": [StrOptions({"score", "identity"})],
        "ridge": [NON_NEGATIVE],
        "feature_map": [str, FeatureMap, callable],
        "solver": [StrOptions(TENSOR_SOLVERS.options)],
        "n_restarts": [None, COUNT],
        "n_init": [None, COUNT],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "tol": [POSITIVE],
        "batch_size": [COUNT],
        "n_batches": [COUNT],
        "n_updates": [COUNT],
        "n_starts": [COUNT],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        score_model=None,
        *,
        prefit=False,
        order=(1, 2, 3),
        n_components=None,
        columns="auto",
        n_axes=None,
        noise="score",
        ridge=1e-3,
        feature_map="rectified",
        solver="auto",
        n_restarts=None,
        n_init=None,
        max_iter=50,
        tol=1e-4,
        batch_size=64,
        n_batches=20,
        n_updates=4,
        n_starts=8,
        random_state=0,
    ):
        self.score_model = score_model
        self.prefit = prefit
        self.order = order
        self.n_components = n_components
        self.columns = columns
        self.n_axes = n_axes
        self.noise = noise
        self.ridge = ridge
        self.feature_map = feature_map
        self.solver = solver
        self.n_restarts = n_restarts
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.batch_size = batch_size
        self.n_batches = n_batches
        self.n_updates = n_updates
        self.n_starts = n_starts
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags

    @checked_fit
    def fit(self, X, y, sample_weight=None, *, unlabelled=None):
        """Form the cross-moments and decompose them.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or dataframe
        y : (n,) or (n, k) array
            Integers, booleans or strings in one column are classes; floats, and anything in several columns (such as
            multi-label indicators), are targets as they stand.
        sample_weight : (n,) array, optional
            An integer weight equals that many copies of the row.
        unlabelled : (m, d) array, sparse matrix or dataframe, optional
            More rows of the same kind without labels: they help to learn columns, axes and score. (-1 in y is a class
            like any other.)

        Returns
        -------
        self
        """
        feature_map, orders = as_feature_map(self.feature_map), self._orders()
        X, y = self._check(X, y, multi_output=True, ensure_min_samples=2)
        weight = check_weights(sample_weight, X)
        weight = np.ones(X.shape[0]) if weight is None else np.asarray(weight, dtype=np.float64)
        Y = self._label_matrix(y, weight)
        chosen, share = merged_rows(distinct_keys(X), Y, weight)
        rows, share_of_rows = beside(X[chosen], share, self._unlabelled(unlabelled))
        inputs, Z = self._coordinates(rows, share_of_rows)
        leading = Z[:, : self.n_axes_]
        self._learn_score(leading, share_of_rows)
        self.noise_ = self._noise_matrix(leading, share_of_rows)
        Z, labels = Z[: len(chosen)], centred_labels(in_spreads(Y[chosen], share), share)
        place = np.lexsort(np.round(Z[:, :3], 6).T)  # not by keys: the unit of a column must not decide it
        leading = leading[place]
        tensors = [StreamedTensor(self.score_function_, leading, labels[place], order) for order in orders]
        pool = self._directions(tensors)
        self._publish(pool, X.dtype)
        self._finish(feature_map, inputs, Z, pool, share)
        return self

    def get_feature_names_out(self, input_features=None):
        """One name a column of ``transform``: the component's and what the feature map made of it."""
        check_is_fitted(self)
        names = [f"{type(self).__name__.lower()}{r}" for r in range(len(self.components_))]
        return np.asarray(self.feature_map_.feature_names(names), dtype=object)

    # ------------------------------------------------------------------ directions

    def _directions(self, tensors: list[StreamedTensor]) -> Pool:
        """Components of all orders where the noise is the identity, as directions, ranked."""
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        self.noise_levels_: dict[int, float] = {}
        self.n_iter_, self.solver_ = 1, ""
        with one_blas_thread():  # thousands of small products: waking threads for them takes thirty times as long
            fits = [self._decompose(tensor, seed) for tensor in tensors]
        self.relative_error_ = fits[-1].quality.relative_error
        pool = pooled(fits, self.axes_.count, self.n_components) if self._several else Pool.of(fits[0])
        if self._several and self.n_components is not None and pool.count < self.n_components:
            warnings.warn(
                f"{pool.count} distinct directions instead of the {self.n_components} asked for: the cross-moments of "
                f"order {', '.join(map(str, self._orders()))} and {self.axes_.count} axes have no more.",
                stacklevel=5,
            )
        return pool

    def _decompose(self, tensor: StreamedTensor, seed: int) -> OrderFit:
        limit = tensor.score.tensors_at(tensor.X[:1]).max_order
        if limit is not None and tensor.order > limit:
            raise ValueError(
                f"order={tensor.order}, but {type(tensor.score).__name__} has score tensors up to order {limit} only."
            )
        problem = TensorProblem(tensor, self.noise_)
        # Numbers of its own: how long a search took must not decide what noise is.
        level = noise_level(problem.whitened, np.random.default_rng([seed, tensor.order]))
        self.noise_levels_[tensor.order] = level
        request = self._request(tensor, level, np.random.default_rng(seed))
        solver = TENSOR_SOLVERS.choose(self.solver, problem, request)
        result = solver.solve(problem, request)
        found = result.components
        self.solver_ += f"+{solver.name}" if self.solver_ else solver.name
        self.n_iter_ = max(self.n_iter_, result.fit.n_iter)
        wanted = self.n_components or request.n_components
        if not self._several and found.count < wanted:
            warnings.warn(
                f"{found.count} distinct components instead of the {wanted} asked for: the cross-moment "
                f"of order {tensor.order} with {tensor.n_labels} label columns and {tensor.n_features} axes has no "
                "more.",
                stacklevel=6,
            )
        directions = unit_columns(self.noise_ @ (problem.basis @ found.vectors))
        directions = np.pad(directions, ((0, self.axes_.count - self.n_axes_), (0, 0)))  # nothing of the other axes
        measured = strengths(result.tensor, found, level)
        return OrderFit(found, measured, directions, fit_quality(result.tensor, found, request.rng))

    def _request(self, tensor: StreamedTensor, level: float, rng: np.random.Generator) -> TensorRequest:
        q, m = tensor.n_features, tensor.order
        floor = 0.0
        if not self._several:
            wanted = self.n_components or (min(q, tensor.n_labels) if m == 1 else q)
        elif m <= 2:  # all there are: they cost next to nothing
            wanted = min(q, tensor.n_labels) if m == 1 else q * tensor.n_labels
        elif self.n_components is None:
            wanted, floor = min(COMPONENTS_AN_AXIS * q, MOST_COMPONENTS), level
        else:
            wanted = self.n_components
        # A symmetric tensor of order m over q axes has rank comb(q + m - 1, m) at most, and there is one a label.
        wanted = min(wanted, comb(q + m - 1, m) * tensor.n_labels)
        return TensorRequest(
            n_components=wanted,
            rng=rng,
            search=Search(self.n_restarts, self.n_init, self.max_iter, self.tol, floor),
            batches=Batches(self.batch_size, self.n_batches, self.n_updates, self.n_starts),
        )

    # ------------------------------------------------------------------ the fitted value

    def _publish(self, pool: Pool, dtype: np.dtype) -> None:
        odd = pool.orders % 2 == 1
        directions = self.axes_.vectors @ pool.directions
        first_of_equals = 1 - 1e-6 * np.arange(len(pool.label_factors))[:, None]  # of two classes both are as large
        by_label = largest_entry_signs(first_of_equals * pool.label_factors)
        signs = np.where(odd, by_label, largest_entry_signs(directions))
        pool.directions[...] = pool.directions * signs
        self.components_ = np.ascontiguousarray((directions * signs).T, dtype=dtype)
        self.offsets_ = -(self.axes_.mean @ (directions * signs))
        self.orders_, self.strengths_, self.weights_ = pool.orders, pool.strengths, pool.weights
        self.label_factors_ = (unit_columns(pool.label_factors) * np.where(odd, signs, 1.0)).T
        self.residuals_, self.fit_ = pool.residuals, pool.shares

    def _finish(
        self, feature_map: FeatureMap, inputs: tuple[Stage, ...], Z: np.ndarray, pool: Pool, share: np.ndarray
    ) -> None:
        """The chain from rows to features."""
        projections = (Z * self.axes_.scales) @ pool.directions
        if self._knows_columns:
            self.scale_ = 1.0
        else:
            mean_square = float(share @ np.square(projections).sum(axis=1)) / share.sum()
            self.scale_ = float(np.sqrt(self.n_axes_ / mean_square)) if mean_square > 0 else 1.0
        dtype = self.components_.dtype
        self.feature_map_ = feature_map.fit((self.scale_ * projections).astype(dtype))
        affine = Affine.of(self.components_.T * dtype.type(self.scale_), self.scale_ * self.offsets_)
        self.fitted_ = Fitted(features=Chain((*inputs, FeatureLayer(affine, self.feature_map_))))

    @property
    def eigenvalues_(self) -> np.ndarray:
        return self.weights_
