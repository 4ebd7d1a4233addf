"""Directions of the data as a whole: oriented PCA and vanishing components."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import qr
from sklearn.utils import check_array

from eigenfeat._sklearn import NON_NEGATIVE, HasMethods, checked_fit
from eigenfeat.estimators.base import QuotientTransformer, StreamingQuotientTransformer
from eigenfeat.estimators.edge import FLOATS
from eigenfeat.estimators.streaming import BlockCheck
from eigenfeat.estimators.validation import check_moments
from eigenfeat.moments import Moments, SymmetricForm, as_form, collect_moments
from eigenfeat.quotients import CRITERIA, Criterion, Quotient
from eigenfeat.rows.rows import Rows
from eigenfeat.solvers import DenseVectors, Directions, orient


class OrientedPCA(StreamingQuotientTransformer):
    r"""Principal components of the signal relative to a noise that the user knows.

    Maximises :math:`v^\top \mathrm{Cov}[x] v / v^\top \mathbb{E}[zz^\top] v` where z is any kind of noise meaningful
    to the task: differences of repeated measurements, rows of a control condition, tangents of an invariance.
    Without noise this is PCA.

    Parameters
    ----------
    n_components : int, optional
    noise : (d, d) array, optional
        The noise's second moment; the identity by default. Rows of noise are given to `fit` instead.
    centred : bool
        Take the signal about the mean of the data, as PCA does, instead of about the origin.
    ridge : float
        Added to the noise's diagonal, relative to its mean.
    shrinkage : None or float
        Of the noise towards a multiple of the identity.
    solver, tol, random_state
        As in `FisherLDA`.

    Attributes
    ----------
    components_, offsets_, eigenvalues_, residuals_, solver_, moments_, patterns_, criterion_, n_features_in_
        As in `FisherLDA`; the components have unit noise, ``vᵀNv = 1``.
    noise_moments_ : Moments or None
        Of the noise rows, where they were given.

    References
    ----------
    Diamantaras & Kung (1996), *Principal Component Neural Networks*. Platt, Toutanova & Yih (2010).

    Examples
    --------
    >>> import numpy as np
    >>> from eigenfeat import OrientedPCA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3)) * [5, 2, 1]
    >>> Z = rng.normal(size=(500, 3)) * [5, 0.1, 1]
    >>> pca, oriented = OrientedPCA(1).fit(X), OrientedPCA(1).fit(X, noise=Z)
    >>> int(abs(pca.components_[0]).argmax()), int(abs(oriented.components_[0]).argmax())
    (0, 1)
    """

    _parameter_constraints: dict = {
        **QuotientTransformer._parameter_constraints,
        "noise": [None, "array-like", HasMethods("toarray")],
        "centred": ["boolean"],
    }
    noise_moments_: Moments | None = None

    def __init__(
        self,
        n_components=None,
        *,
        noise=None,
        centred=True,
        ridge=0.0,
        shrinkage=None,
        solver="auto",
        tol=None,
        random_state=0,
    ):
        self.n_components = n_components
        self.noise = noise
        self.centred = centred
        self.ridge = ridge
        self.shrinkage = shrinkage
        self.solver = solver
        self.tol = tol
        self.random_state = random_state

    @checked_fit
    def fit(self, X, y=None, sample_weight=None, noise=None):
        """Find the directions of X that stand out from the noise.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or dataframe, or row source
        y : ignored
        sample_weight : (n,) array, optional
            An integer weight equals that many copies of the row.
        noise : (m, d) array, sparse matrix or dataframe, or row source, optional
            Rows of noise; their second moment about the origin is the denominator. Batches of `partial_fit` keep it,
            the next `fit` does not.

        Returns
        -------
        self
        """
        self._check_unused(X, y)
        X, _, weights = self._validated(X, None, sample_weight, reset=True)
        if noise is not None:
            if isinstance(noise, Rows):
                noise = noise.map(BlockCheck(None, "The noise of OrientedPCA", noise.names))
            else:
                noise = check_array(noise, accept_sparse="csr", dtype=list(FLOATS), input_name="noise")
            noise = collect_moments(noise)
        self._keep_noise(noise)
        return self._fit_moments(self._collect(X, None, weights))

    @checked_fit
    def fit_moments(self, moments, noise=None):
        """Fit from the moments of the data and, where given, of the rows of noise.

        Parameters
        ----------
        moments : Moments
            As in `RayleighFeatures.fit_moments`.
        noise : Moments, optional
            Of rows of noise.

        Returns
        -------
        self
        """
        if noise is not None:
            check_moments(noise, False, False, estimator="The noise of OrientedPCA")
        self._keep_noise(noise)
        return super().fit_moments(moments)

    def _keep_noise(self, noise: Moments | None) -> None:
        if noise is not None and self.noise is not None:
            raise ValueError("Noise was given twice, as a matrix at construction and as rows to fit: give one.")
        self.noise_moments_ = noise

    def _tracks_fourth(self) -> bool:
        return False

    def _criterion(self) -> Criterion:
        with_noise = self.noise is not None or self.noise_moments_ is not None
        return CRITERIA["oriented" if with_noise else "principal"]

    def _options(self, moments: Moments) -> dict:
        noise = self._noise_form()
        if noise is None:
            return {"centred": self.centred}
        if noise.shape[0] != self.n_features_in_:
            raise ValueError(f"X has {self.n_features_in_} features, but the noise has {noise.shape[0]}.")
        return {"noise": noise, "centred": self.centred, "regularisation": self._regularisation()}

    def _noise_form(self) -> SymmetricForm | None:
        if self.noise_moments_ is not None:
            return self.noise_moments_.second_moment()
        if self.noise is None:
            return None
        matrix = check_array(self.noise, accept_sparse=True, dtype=list(FLOATS), input_name="noise")
        if matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"noise must be a square matrix, got {matrix.shape}; rows of noise are given to fit.")
        return as_form(matrix)


class VanishingComponents(StreamingQuotientTransformer):
    r"""Directions on which the data nearly vanish: vanishing component analysis of degree one.

    Minimises :math:`v^\top \mathbb{E}[xx^\top] v` over unit vectors: linear relations that every row obeys. The
    eigenvalue of a component is the mean square of its projections, so zero means an exact relation.

    Parameters
    ----------
    n_components : int, optional
        All by default, smallest first.
    max_eigenvalue : float, optional
        Keep components whose mean squared projection is at most this.
    centred : bool
        Look for affine relations, ``vᵀ(x - m) ≈ 0``, instead of linear ones.
    solver, tol, random_state
        As in `FisherLDA`.

    Attributes
    ----------
    components_, offsets_, eigenvalues_, residuals_, solver_, moments_, patterns_, criterion_, n_features_in_
        As in `FisherLDA`; the components have unit length.

    References
    ----------
    Livni et al. (2013), *Vanishing component analysis*; Karampatziakis & Mineiro (2014), Table 1.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenfeat import VanishingComponents
    >>> a, b = np.random.default_rng(0).normal(size=(2, 100))
    >>> X = np.column_stack([a, b, a + b])
    >>> found = VanishingComponents(n_components=1).fit(X)
    >>> bool(abs(found.eigenvalues_[0]) < 1e-12), (found.components_ * 3**0.5).round(6)
    (True, array([[...1., ...1., ...1.]]))
    """

    _parameter_constraints: dict = {
        "n_components": QuotientTransformer._parameter_constraints["n_components"],
        "max_eigenvalue": [None, NON_NEGATIVE],
        "centred": ["boolean"],
        "solver": QuotientTransformer._parameter_constraints["solver"],
        "tol": QuotientTransformer._parameter_constraints["tol"],
        "random_state": QuotientTransformer._parameter_constraints["random_state"],
    }

    def __init__(
        self, n_components=None, *, max_eigenvalue=None, centred=False, solver="auto", tol=None, random_state=0
    ):
        self.n_components = n_components
        self.max_eigenvalue = max_eigenvalue
        self.centred = centred
        self.solver = solver
        self.tol = tol
        self.random_state = random_state

    def _tracks_fourth(self) -> bool:
        return False

    def _end_of_spectrum(self) -> str:
        return "smallest"

    def _collect(self, X, labels, weights) -> Moments:
        # The null space is what is asked for: it needs all of the space.
        return collect_moments(X, None, weights, form="dense")

    def _criterion(self) -> Criterion:
        return CRITERIA["vanishing"]

    def _options(self, moments: Moments) -> dict:
        return {"centred": self.centred}

    def _find(self, quotient: Quotient, n_components: int | None) -> Directions:
        found = super()._find(quotient, None)
        V = found.toarray()
        exact = found.values <= found.values.max(initial=0) * len(found.values) * np.finfo(np.float64).eps
        vectors = np.hstack([null_space_basis(V[:, exact]), V[:, ~exact]])
        kept = np.sum(found.values <= (np.inf if self.max_eigenvalue is None else self.max_eigenvalue))
        return replace(found, vectors=DenseVectors(vectors)).first(min(int(kept), n_components or len(found.values)))


def null_space_basis(vectors: np.ndarray) -> np.ndarray:
    """A basis of a space that does not depend on the basis it is given in.

    All directions that vanish exactly are equally good, and an eigensolver's choice among them is rounding. The
    projector on their span is well defined; its pivoted QR factorisation picks a basis from it.
    """
    if not vectors.shape[1]:
        return vectors
    basis = qr(vectors @ vectors.T, pivoting=True)[0][:, : vectors.shape[1]]
    return orient(basis, None)
