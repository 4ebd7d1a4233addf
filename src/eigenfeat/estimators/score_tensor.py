"""FEAST: discriminative features from the cross-moments of labels with score tensors."""

from __future__ import annotations

import warnings

import numpy as np
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from eigenfeat._sklearn import COUNT, NON_NEGATIVE, POSITIVE, HasMethods, Integral, Interval, StrOptions, checked_fit
from eigenfeat.estimators.edge import Estimator, FeaturesMixin
from eigenfeat.estimators.gaussian_mixture_score import GaussianMixtureScore
from eigenfeat.estimators.validation import check_class_labels, check_weights
from eigenfeat.features.maps import FeatureMap, as_feature_map
from eigenfeat.moments.forms import DenseForm, SymmetricForm
from eigenfeat.quotients import Regularisation
from eigenfeat.scores.components import Components, unit_columns
from eigenfeat.scores.cross_tensor import StreamedTensor, centred_labels, merged_rows, score_second_moment
from eigenfeat.scores.decomposition import Search
from eigenfeat.scores.quality import Quality, fit_quality
from eigenfeat.scores.stochastic import Batches
from eigenfeat.scores.tensor_solvers import TENSOR_SOLVERS, TensorProblem, TensorRequest
from eigenfeat.scores.tensors import ScoreFunction
from eigenfeat.solvers.signs import largest_entry_signs
from eigenfeat.stages import Affine, Chain, FeatureLayer, Fitted


class ScoreTensorFeatures(FeaturesMixin, Estimator):
    """Directions along which a label's derivatives are large: FEAST.

    The cross-moment ``T = E[y ⊗ S_m(x)]`` of labels and score tensors, ``S_m = (-1)ᵐ ∇ᵐp / p``, is the expected
    m-th derivative of the label function, ``E[∇ᵐ E[y|x]]`` (Stein's identity). A label that depends on x through
    ``w_r·x`` makes ``T = Σ_r u_r ⊗ w_r ⊗ ... ⊗ w_r``; decomposing T gives the ``w_r``, with order 3 more of them
    than there are columns. The score needs no labels and can be learnt beforehand from as many rows as there are.

    Parameters
    ----------
    score_model : score model or None, default=None
        A :class:`GaussianMixtureScore`, a :class:`DenoisingAutoencoder`, any estimator with a fitted
        ``score_function_``, or a ``ScoreFunction`` of your own. None is one Gaussian. An estimator is cloned and
        fitted on the X of ``fit``, unless ``prefit``.
    prefit : bool, default=False
        Whether ``score_model`` is already fitted, on unlabelled rows say, and to be used as it is.
    order : int, default=3
        m. First order gives at most as many components as there are labels, second order at most as many a label as
        there are columns; an auto-encoder has scores up to the third order, a mixture of every order up to 16.
    n_components : int or None, default=None
        Components in all. None: as many as columns (first order: as many as there are).
    noise : {"score", "identity"}, default="score"
        The matrix N that makes directions comparable: ``E[S1 S1ᵀ]``, which is how much the score itself varies, or the
        identity. Components are found where N is the identity; second order solves the quotient ``E[y S2]`` over N.
    ridge : float, default=1e-3
        Added to N, relative to its mean diagonal.
    feature_map : str, FeatureMap or callable, default="rectified"
        What is made of the projections ``w_r·x``, as in :class:`GEMFeatures`: "rectified" is both sides of each,
        "identity" the projections themselves.
    solver : {"auto", "svd", "eigen", "power", "als"}, default="auto"
        "svd" is for order 1 and "eigen" for order 2. For order 3 and above there are a power method with many starts at
        once on all rows ("power", which "auto" takes) and alternating least squares on mini-batches ("als"); both
        deflate implicitly and end with a joint fit.
    n_restarts : int or None, default=None
        Starts of the power method run at once; None is twice the number missing, from 20 to 512.
    n_init : int or None, default=None
        Whole decompositions to choose the best from, every second one from random directions instead of maxima; None is
        8 where the tensor is small enough to be an array, else 1.
    max_iter : int, default=100
        Steps of the joint fit, and of the power method where that is fewer than its own 40.
    tol : float, default=1e-6
        Relative gain of the joint fit at which to stop.
    batch_size : int, default=64
        Rows a mini-batch of "als".
    random_state : int, RandomState or None, default=0

    Attributes
    ----------
    components_ : (n_components, d) array
        Unit rows ``w_r``, strongest first; the sign makes the largest label factor positive for odd m, the largest
        entry of ``w_r`` for even m.
    offsets_ : (n_components,) array
        Added to the projections: zero.
    weights_ : (n_components,) array
        Norm of each component where N is the identity.
    eigenvalues_ : (n_components,) array
        The same numbers.
    label_factors_ : (n_components, k) array
        Unit rows ``u_r``: which classes, or targets, the component speaks of.
    residuals_ : (n_components,) array
        ``‖(T - T̂)(u_r, I, w_r, ...)‖ / ‖T(u_r, I, w_r, ...)‖``, T̂ the sum of all components.
    fit_ : (n_components,) array
        Share of ``‖T‖²`` in each component, ``weights_² / ‖T‖²``.
    relative_error_ : float
        ``‖T - T̂‖ / ‖T‖``; estimated with random probes where T is large.
    score_function_ : ScoreFunction
        What the score tensors came from.
    noise_ : SymmetricForm
        N, ridge included.
    classes_ : array or None
        None for targets that are not classes.
    solver_ : str
        The solver that ran.
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
        "order": [Interval(Integral, 1, 16, closed="both")],
        "n_components": [None, COUNT],
        "noise": [StrOptions({"score", "identity"})],
        "ridge": [NON_NEGATIVE],
        "feature_map": [str, FeatureMap, callable],
        "solver": [StrOptions(TENSOR_SOLVERS.options)],
        "n_restarts": [None, COUNT],
        "n_init": [None, COUNT],
        "max_iter": [COUNT],
        "tol": [POSITIVE],
        "batch_size": [COUNT],
        "random_state": ["random_state"],
    }
    _takes_sparse = False

    def __init__(
        self,
        score_model=None,
        *,
        prefit=False,
        order=3,
        n_components=None,
        noise="score",
        ridge=1e-3,
        feature_map="rectified",
        solver="auto",
        n_restarts=None,
        n_init=None,
        max_iter=100,
        tol=1e-6,
        batch_size=64,
        random_state=0,
    ):
        self.score_model = score_model
        self.prefit = prefit
        self.order = order
        self.n_components = n_components
        self.noise = noise
        self.ridge = ridge
        self.feature_map = feature_map
        self.solver = solver
        self.n_restarts = n_restarts
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.batch_size = batch_size
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags

    @checked_fit
    def fit(self, X, y, sample_weight=None):
        """Form the cross-moment and decompose it.

        Parameters
        ----------
        X : (n, d) array or dataframe
            Dense: scores of sparse rows are not sparse.
        y : (n,) or (n, k) array
            Integers, booleans or strings in one column are classes; floats, and anything in several columns (such as
            multi-label indicators), are targets as they stand.
        sample_weight : (n,) array, optional

        Returns
        -------
        self
        """
        feature_map = as_feature_map(self.feature_map)
        X, y = self._check(X, y, multi_output=True, ensure_min_samples=2)
        weight = check_weights(sample_weight, X)
        rows, Y, share = merged_rows(X, self._label_matrix(y, weight), weight)
        if self.score_model is None:
            if self.prefit:
                raise ValueError(
                    "prefit=True needs a fitted score model: pass one as score_model, or set prefit=False."
                )
            self.score_function_ = GaussianMixtureScore().fit(rows, sample_weight=share).score_function_
        else:
            self.score_function_ = self._given_score(X, weight)
        self.noise_ = self._noise_matrix(rows, share)
        tensor = StreamedTensor(self.score_function_, rows, centred_labels(Y, share), self.order)
        self._publish(*self._decompose(tensor), X.dtype)
        self.feature_map_ = feature_map.fit(X @ self.components_.T)
        self.fitted_ = Fitted(features=Chain((FeatureLayer(Affine.of(self.components_.T), self.feature_map_),)))
        return self

    def get_feature_names_out(self, input_features=None):
        """One name a column of ``transform``: the component's and what the feature map made of it."""
        check_is_fitted(self)
        names = [f"{type(self).__name__.lower()}{r}" for r in range(len(self.components_))]
        return np.asarray(self.feature_map_.feature_names(names), dtype=object)

    # ------------------------------------------------------------------ fit, step by step

    def _label_matrix(self, y, weight: np.ndarray | None) -> np.ndarray:
        y = y.toarray() if sparse.issparse(y) else np.asarray(y)
        if y.ndim == 1 and y.dtype.kind != "f":
            classes, codes = check_class_labels(y, weight, estimator=type(self).__name__)
            self.classes_: np.ndarray | None = classes
            return np.eye(len(classes))[codes]
        self.classes_ = None
        Y = y.reshape(len(y), -1).astype(np.float64)
        if not np.ptp(Y, axis=0).any():
            raise ValueError(f"{type(self).__name__} needs a target that varies; y is the same in all {len(y)} rows.")
        return Y

    def _given_score(self, X: np.ndarray, weight: np.ndarray | None) -> ScoreFunction:
        if isinstance(self.score_model, ScoreFunction):
            return self.score_model
        if self.prefit:
            check_is_fitted(self.score_model)
            known = getattr(self.score_model, "n_features_in_", X.shape[1])
            if known != X.shape[1]:
                raise ValueError(
                    f"score_model was fitted on {known} features, X has {X.shape[1]}: give both the same columns."
                )
            return self.score_model.score_function_
        model = clone(self.score_model)
        weighted = weight is not None and has_fit_parameter(model, "sample_weight")
        with config_context(skip_parameter_validation=False):  # its parameters are not ours: nobody has checked them
            return model.fit(X, **({"sample_weight": weight} if weighted else {})).score_function_

    def _noise_matrix(self, X: np.ndarray, weight: np.ndarray | None) -> SymmetricForm:
        if self.noise == "identity":
            return DenseForm(np.eye(X.shape[1]))
        return Regularisation(self.ridge).with_ridge(score_second_moment(self.score_function_, X, weight))

    def _decompose(self, tensor: StreamedTensor) -> tuple[Components, np.ndarray, Quality]:
        """Components where the noise is the identity, what they are as directions (unit columns), and their fit."""
        d, m = tensor.n_features, tensor.order
        limit = tensor.score.tensors_at(tensor.X[:1]).max_order
        if limit is not None and m > limit:
            raise ValueError(
                f"order={m}, but {type(tensor.score).__name__} has score tensors up to order {limit} only."
            )
        problem = TensorProblem(tensor, self.noise_)
        request = TensorRequest(
            n_components=self.n_components or (min(d, tensor.n_labels) if m == 1 else d),
            rng=np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1)),
            search=Search(self.n_restarts, self.n_init, self.max_iter, self.tol),
            batches=Batches(self.batch_size),
        )
        solver = TENSOR_SOLVERS.choose(self.solver, problem, request)
        result = solver.solve(problem, request)
        found = result.components
        self.solver_, self.n_iter_ = solver.name, max(1, result.fit.n_iter)
        if found.count < request.n_components:
            warnings.warn(
                f"{found.count} distinct components instead of the {request.n_components} asked for: the cross-moment "
                f"of order {m} with {tensor.n_labels} label columns and {d} features has no more.",
                stacklevel=4,
            )
        directions = unit_columns(self.noise_ @ (problem.basis @ found.vectors))
        return found, directions, fit_quality(result.tensor, found, request.rng)

    def _publish(self, found: Components, directions: np.ndarray, quality: Quality, dtype: np.dtype) -> None:
        factors = found.label_factors.astype(np.float64)
        odd = self.order % 2 == 1
        signs = largest_entry_signs(factors if odd else directions)
        self.components_ = np.ascontiguousarray((directions * signs).T, dtype=dtype)
        self.offsets_ = np.zeros(found.count, dtype=dtype)
        self.weights_ = np.linalg.norm(factors, axis=0)
        self.label_factors_ = (unit_columns(factors) * (signs if odd else 1.0)).T
        self.residuals_ = quality.residuals
        self.fit_ = self.weights_**2 / quality.squared_norm
        self.relative_error_ = quality.relative_error

    @property
    def eigenvalues_(self) -> np.ndarray:
        return self.weights_
