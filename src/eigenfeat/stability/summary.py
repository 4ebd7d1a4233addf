"""The diagnostics of this package, read off class moments or a fitted estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from eigenfeat.moments import Moments
from eigenfeat.quotients import Regularisation, contrast
from eigenfeat.stability.bounds import moment_deviation
from eigenfeat.stability.crawford import Perturbation, perturbation
from eigenfeat.stability.null import Distinguishable, distinguishable
from eigenfeat.stability.permutation import permutation_test
from eigenfeat.stability.rank import effective_rank, participation_ratio
from eigenfeat.stability.tables import table


def pair_perturbation(
    moments: Moments,
    signal: int,
    noise: int,
    radius: float,
    *,
    ridge: float = 0.0,
    confidence: float = 0.95,
) -> Perturbation:
    """What the finite number of rows can do to the pair "class ``signal`` over class ``noise``".

    The moments of the two classes are within their `moment_deviation` of the truth, each at half the risk; the ridge,
    a multiple of the mean diagonal, moves with the noise by at most ``ridge / sqrt(d)`` of its deviation.
    `perturbation` turns that into intervals for eigenvalues and angles for directions.

    Parameters
    ----------
    moments : Moments
    signal, noise : int
        Indices of the classes in ``moments.classes``.
    radius : float
        R with ‖x‖ <= R; `eigenfeat.stability.radius` of the rows where none is known.
    ridge : float
        As in the estimator.
    confidence : float
    """
    quotient = contrast(moments, [(signal, noise)], regularisation=Regularisation(ridge))[0]
    each = 1 - (1 - confidence) / 2
    above, below = (moment_deviation(moments.effective_count(c), radius, each) for c in (signal, noise))
    below *= 1 + ridge / np.sqrt(moments.n_features)
    return perturbation(quotient.signal, quotient.noise, float(np.hypot(above, below)))


def pair_components(
    moments: Moments, signal: int, noise: int, values: np.ndarray, *, centred: bool = False, level: float = 0.05
) -> Distinguishable:
    """Which eigenvalues of "class ``signal`` over class ``noise``", without ridge, noise alone would not give.

    ``centred`` says that the noise is a covariance, whose mean took one degree of freedom.
    """
    label = f"{moments.classes[signal]} vs {moments.classes[noise]}"
    above, below = moments.effective_count(signal), moments.effective_count(noise) - centred
    return distinguishable(values, moments.n_features, above, below, level=level, label=label)


def fisher_components(
    moments: Moments, values: np.ndarray, *, noise: str = "within", level: float = 0.05
) -> Distinguishable:
    """Which discriminant directions differ from none at all: Roy's largest-root test on Fisher's quotient.

    When all class means coincide, between- and within-class scatter are independent with k - 1 and n - k degrees of
    freedom, which is a null pair. ``noise="total"`` takes eigenvalues λ / (1 + λ) for what "within" calls λ. The
    summary shows eigenvalues per degree of freedom: about 1 is noise.
    """
    values = np.asarray(values, dtype=np.float64)
    if noise == "total":
        values = values / np.maximum(1 - values, np.finfo(np.float64).tiny)
    n, k = moments.effective_count(), moments.n_classes
    per_freedom = values * (n - k) / (k - 1)
    return distinguishable(per_freedom, moments.n_features, k - 1, n - k, level=level, label="between classes")


@dataclass(frozen=True, eq=False)
class StabilitySummary:
    """How far to trust a fitted estimator's spectrum.

    Attributes
    ----------
    name : str
        The estimator's class.
    n_samples : float
        Effective number of rows behind the moments.
    n_features : int
    effective_rank, participation_ratio : float
        Of the covariance of all rows.
    worst_residual : float
        Largest relative residual of a direction.
    components : tuple of Distinguishable
        One a quotient; empty when it cannot be said without the rows.
    advice : str
        What would tell more.
    """

    name: str
    n_samples: float
    n_features: int
    effective_rank: float
    participation_ratio: float
    worst_residual: float
    components: tuple[Distinguishable, ...]
    advice: str

    def __str__(self) -> str:
        lines = [
            f"{self.name}: {self.n_samples:.0f} rows, {self.n_features} features, effective rank "
            f"{self.effective_rank:.1f}, participation ratio {self.participation_ratio:.1f}",
            f"largest relative residual of a direction: {self.worst_residual:.1e}",
        ]
        if len(self.components) <= 3:
            lines += map(str, self.components)
        else:
            rows = [
                (c.label, f"{c.n_distinguishable} of {len(c.values)}", f"{c.values.max():.4g}", f"{c.interval[1]:.4g}")
                for c in sorted(self.components, key=lambda c: c.p_values.min())
            ]
            lines.append(table(("pair", "stand out", "largest eigenvalue", "noise reaches"), rows, limit=15))
        return "\n".join([*lines, self.advice] if self.advice else lines)


_WITH_ROWS = "eigenfeat.stability.summarize(model, X, y) tests the components by label permutation."


def summarize(
    estimator: Any,
    X: Any = None,
    y: Any = None,
    *,
    level: float = 0.05,
    n_permutations: int = 99,
    random_state: int | np.random.RandomState | None = 0,
    n_jobs: int | None = None,
) -> StabilitySummary:
    """Effective rank, residuals, and which components stand out from noise, for a fitted estimator.

    Without rows, components are judged by random-matrix theory where that applies: class pairs and Fisher's quotient
    (also of slices), without ridge or shrinkage. With X and y they are judged by `permutation_test`, which always
    applies.

    Parameters
    ----------
    estimator : fitted estimator with ``moments_``, ``eigenvalues_`` and ``criterion_``
    X, y : optional
        Rows to shuffle the labels of.
    level : float
        Chance of a false discovery that one accepts, over all components and pairs together.
    n_permutations, random_state, n_jobs
        As in `permutation_test`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenfeat import FisherLDA
    >>> from eigenfeat.stability import summarize
    >>> print(summarize(FisherLDA().fit(*load_iris(return_X_y=True))))
    FisherLDA: 150 rows, 4 features, effective rank 1.1, participation ratio 1.2
    largest relative residual of a direction: ...
    between classes: 2 of 2 components stand out (random-matrix edges, level 0.05; noise reaches from 0 to 7.183)
       eigenvalue  p-value  stands out
    1  2366        ...      yes
    2  20.98       ...      yes
    """
    check_is_fitted(estimator, "eigenvalues_")
    moments: Moments = estimator.moments_
    components: tuple[Distinguishable, ...] = ()
    advice = ""
    if X is not None:
        options: dict = {"n_permutations": n_permutations, "random_state": random_state, "n_jobs": n_jobs}
        components = (permutation_test(clone(estimator), X, y, level=level, **options),)
    elif _regularised(estimator):
        advice = "The noise matrix is regularised, so random-matrix theory does not apply. " + _WITH_ROWS
    else:
        try:
            components = _components_without_rows(estimator, moments, level)
        except ValueError as problem:
            advice = str(problem)
        if not components and not advice:
            advice = _WITH_ROWS
    total = moments.covariance()
    return StabilitySummary(
        name=type(estimator).__name__,
        n_samples=moments.effective_count(),
        n_features=moments.n_features,
        effective_rank=effective_rank(total),
        participation_ratio=participation_ratio(total),
        worst_residual=float(np.max(estimator.residuals_, initial=0.0)),
        components=components,
        advice=advice,
    )


def _components_without_rows(estimator: Any, moments: Moments, level: float) -> tuple[Distinguishable, ...]:
    """By the criterion the model came from; nothing where no theory covers it."""
    values = np.asarray(estimator.eigenvalues_)
    if estimator.criterion_ in ("fisher", "fisher_total"):
        noise = "total" if estimator.criterion_ == "fisher_total" else "within"
        return (fisher_components(moments, values, noise=noise, level=level),)
    if estimator.criterion_ not in ("contrast", "centred_contrast"):
        return ()
    index = {str(label): i for i, label in enumerate(moments.classes)}
    named = [(str(a), str(b)) for a, b in estimator.pairs_]
    if any(end not in index for pair in named for end in pair):
        return ()  # a contrast of mixtures
    ends = [(index[a], index[b]) for a, b in named]
    centred = estimator.criterion_ == "centred_contrast"
    pairs = dict.fromkeys(ends)
    return tuple(
        pair_components(
            moments, i, j, values[[pair == (i, j) for pair in ends]], centred=centred, level=level / len(pairs)
        )
        for i, j in pairs
    )


def _regularised(estimator: Any) -> bool:
    """Whether any layer has a ridge or shrinkage."""
    chosen = {**estimator.get_params(deep=False), **getattr(estimator, "best_params_", {})}
    ridge, shrinkage = chosen.get("ridge", 0), chosen.get("shrinkage")
    return bool(np.any(ridge)) or any(
        s is not None for s in (shrinkage if isinstance(shrinkage, list) else [shrinkage])
    )
