"""Any signal over any noise, named, computed or given."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eigenfeat._sklearn import HasMethods
from eigenfeat.estimators.base import QuotientTransformer, StreamingQuotientTransformer
from eigenfeat.moments import Moments, SymmetricForm, as_form, weighted_sum
from eigenfeat.quotients import CRITERIA, MATRICES, Criterion, Quotient


class RayleighFeatures(StreamingQuotientTransformer):
    r"""Directions that maximise any ratio :math:`v^\top S v / v^\top N v`.

    Parameters
    ----------
    signal, noise : str, callable, (d, d) array, or list of these
        What S and N are:

        - "between", "within" (class scatter: y is needed), "total" (covariance), "second_moment", "identity";
        - a symmetric positive semi-definite matrix, dense or sparse;
        - a function of the moments (`eigenfeat.moments.Moments`) that returns such a matrix or a form;
        - a list of them, or of pairs ``(weight, matrix)``: their weighted sum (KFD thesis, eq. 3.24).
    n_components : int, optional
        All that exist by default.
    criterion : str or callable, optional
        A ready quotient instead of ``signal`` and ``noise``: one that moments alone pose, by its name in
        `eigenfeat.quotients.CRITERIA` ("fisher", "fisher_total", "principal", "vanishing", or one you entered there),
        or a function of the moments that returns a `Quotient`. ``centred`` is then the criterion's own.
    centred : bool
        Project rows about the mean of the data, ``vᵀ(x - m)``, instead of ``vᵀx``.
    which : {"largest", "smallest"}
        End of the spectrum.
    ridge, shrinkage : float; None or float
        Of the noise: added to its diagonal relative to the diagonal's mean; drawn towards a multiple of the
        identity by a given factor. (Data-driven shrinkage needs the rows a matrix came from: `FisherLDA` and
        `GEMFeatures` offer it.)
    labels : bool
        Whether `fit` needs y although neither matrix is named: for functions that read class moments.
    solver, tol, random_state
        As in `FisherLDA`.

    Attributes
    ----------
    components_, offsets_, eigenvalues_, residuals_, solver_, moments_, patterns_, criterion_, n_features_in_
        As in `FisherLDA`.

    References
    ----------
    Karampatziakis & Mineiro (2014), section 3. Mika (2002), *Kernel Fisher Discriminants*, eq. 3.24.

    Examples
    --------
    Directions in which class 1 varies more than class 0, a mixture of within-class and isotropic noise below:

    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from eigenfeat import RayleighFeatures
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> contrast = RayleighFeatures(
    ...     signal=lambda moments: moments.covariance(0),
    ...     noise=[lambda moments: moments.covariance(1), (0.1, "identity")],
    ...     n_components=2,
    ...     labels=True,
    ... )
    >>> contrast.fit(scale(X), y).eigenvalues_.round(1)
    array([21.2,  5.1])
    """

    _parameter_constraints: dict = {
        **QuotientTransformer._parameter_constraints,
        "signal": [str, callable, list, "array-like", HasMethods("toarray")],
        "noise": [str, callable, list, "array-like", HasMethods("toarray")],
        "criterion": [None, str, callable],
        "centred": ["boolean"],
        "which": [str],
        "labels": ["boolean"],
    }

    def __init__(
        self,
        signal="between",
        noise="within",
        n_components=None,
        *,
        criterion=None,
        centred=True,
        which="largest",
        ridge=0.0,
        shrinkage=None,
        labels=False,
        solver="auto",
        tol=None,
        random_state=0,
    ):
        self.signal = signal
        self.noise = noise
        self.n_components = n_components
        self.criterion = criterion
        self.centred = centred
        self.which = which
        self.ridge = ridge
        self.shrinkage = shrinkage
        self.labels = labels
        self.solver = solver
        self.tol = tol
        self.random_state = random_state

    def _end_of_spectrum(self) -> str:
        return self.which

    def _labels_needed(self) -> bool:
        named = any(_names_labels(part) for part in (self.signal, self.noise)) and self.criterion is None
        return self.labels or named or self._criterion().needs_labels

    def _tracks_fourth(self) -> bool:
        return False

    def _criterion(self) -> Criterion:
        if self.criterion is None:
            return CRITERIA["ratio"]
        if callable(self.criterion):
            return Criterion("", "given", "given", self.labels, self.criterion)
        alone = [name for name, row in CRITERIA.items() if not row.needs]
        if self.criterion not in alone:
            needs = CRITERIA[self.criterion].needs if self.criterion in CRITERIA else ""
            more = f", which needs {needs} beside moments" if needs else ""
            raise ValueError(
                f"criterion must be one of {', '.join(alone)} or a function; got {self.criterion!r}{more}."
            )
        return CRITERIA[self.criterion]

    def _quotient(self, moments: Moments) -> Quotient:
        quotient = super()._quotient(moments)
        if self.criterion is None:
            return quotient
        return replace(quotient, noise=self._regularisation().of_matrix(quotient.noise))

    def _options(self, moments: Moments) -> dict:
        if self.criterion is not None:
            return {}
        signal, noise = (self._matrix(getattr(self, part), part, moments) for part in ("signal", "noise"))
        return {
            "signal": signal,
            "noise": noise,
            "centred": self.centred,
            "regularisation": self._regularisation(),
            "signal_factor": moments.between_factor() if _is_name(self.signal, "between") else None,
        }

    def _matrix(self, given, part: str, moments: Moments) -> SymmetricForm:
        if isinstance(given, list) and not _is_matrix(given):
            if not given:
                raise ValueError(f"{part} is an empty list: name at least one matrix.")
            terms = [term if isinstance(term, tuple) else (1.0, term) for term in given]
            weights = [weight for weight, _ in terms]
            return weighted_sum([self._matrix(term, part, moments) for _, term in terms], weights)
        if isinstance(given, str):
            if given not in MATRICES:
                raise ValueError(f"{part} must be one of {', '.join(MATRICES)}, a matrix or a function; got {given!r}.")
            return MATRICES[given].of(moments)
        form = as_form(given(moments) if callable(given) else given)
        d = self.n_features_in_
        if form.shape != (d, d):
            raise ValueError(f"{part} must be a {d} × {d} matrix, for X has {d} features; got shape {form.shape}.")
        matrix = getattr(form, "matrix", None)
        if matrix is not None:
            if not np.isfinite(matrix).all():
                raise ValueError(f"{part} has NaN or infinite entries.")
            if not np.allclose(matrix, matrix.T, atol=1e-8 * np.abs(matrix).max(initial=0)):
                raise ValueError(f"{part} must be symmetric; pass (M + M.T) / 2 if it is so up to rounding.")
        return form


def _is_name(given, name: str) -> bool:
    return isinstance(given, str) and given == name


def _is_matrix(given: list) -> bool:
    return bool(given) and isinstance(given[0], list | np.ndarray) and np.ndim(given[0]) == 1


def _names_labels(part) -> bool:
    if isinstance(part, str):
        return part in MATRICES and MATRICES[part].needs_labels
    if isinstance(part, list):
        return any(_names_labels(term[1] if isinstance(term, tuple) else term) for term in part)
    return False
