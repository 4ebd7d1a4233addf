"""The diagnostics of this package, read off class moments or a fitted estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from eigenfeat.moments import Moments
from eigenfeat.quotients import Regularisation, contrast
from eigenfeat.stability.bounds import moment_deviation
from eigenfeat.stability.crawford import Perturbation, perturbation
from eigenfeat.stability.null import Distinguishable, distinguishable
from eigenfeat.stability.permutation import permutation_test
from eigenfeat.stability.rank import effective_rank, participation_ratio
from eigenfeat.stability.samples import SampleBounds, sample_bounds
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
    """How far to trust a fitted estimator.

    Attributes
    ----------
    name : str
        The estimator's class.
    n_samples : float or None
        Effective number of rows behind the moments, or of the rows given.
    n_features : int or None
    effective_rank, participation_ratio : float or None
        Of the covariance of all rows.
    worst_residual : float or None
        Largest relative residual of a direction; None of models without directions.
    components : tuple of Distinguishable
        One a quotient; empty when it cannot be said without the rows, or not at all.
    bounds : SampleBounds or None
        The finite-sample bounds of the thesis, where rows were given.
    left_out : str
        What leave-one-out says, of models that have it.
    advice : str
        What would tell more; for a model without a spectrum why there is no more to tell.
    """

    name: str
    n_samples: float | None = None
    n_features: int | None = None
    effective_rank: float | None = None
    participation_ratio: float | None = None
    worst_residual: float | None = None
    components: tuple[Distinguishable, ...] = ()
    bounds: SampleBounds | None = None
    left_out: str = ""
    advice: str = ""

    def __str__(self) -> str:
        facts = [
            f"{self.n_samples:.0f} rows" if self.n_samples is not None else "",
            f"{self.n_features} features" if self.n_features is not None else "",
            f"effective rank {self.effective_rank:.1f}" if self.effective_rank is not None else "",
            f"participation ratio {self.participation_ratio:.1f}" if self.participation_ratio is not None else "",
        ]
        lines = [f"{self.name}: {', '.join(fact for fact in facts if fact)}".rstrip(": ")]
        if self.worst_residual is not None:
            lines.append(f"largest relative residual of a direction: {self.worst_residual:.1e}")
        if self.left_out:
            lines.append(self.left_out)
        if len(self.components) <= 3:
            lines += map(str, self.components)
        else:
            rows = [
                (c.label, f"{c.n_distinguishable} of {len(c.values)}", f"{c.values.max():.4g}", f"{c.interval[1]:.4g}")
                for c in sorted(self.components, key=lambda c: c.p_values.min())
            ]
            lines.append(table(("pair", "stand out", "largest eigenvalue", "noise reaches"), rows, limit=15))
        if self.bounds is not None:
            lines.append(str(self.bounds))
        return "\n".join([*lines, self.advice] if self.advice else lines)


_WITH_LABELS = "eigenfeat.stability.summarize(model, X, y) tests the components by label permutation."
_WITH_ROWS = "eigenfeat.stability.summarize(model, X) prints the finite-sample bounds of its covariance."
_NO_LABELS = "Its spectrum does not look at labels, so there is nothing to permute."


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
    """Effective rank, residuals, finite-sample bounds, components that stand out from noise, of a fitted estimator.

    Without rows, components are judged by random-matrix theory where that applies: class pairs and Fisher's quotient
    (also of slices), without ridge or shrinkage. With X and y they are judged by `permutation_test`, which always
    applies to a spectrum that looks at labels. With X there are the bounds of `sample_bounds`. Models that have
    leave-one-out outputs say what these tell; one without a spectrum says that it has none.

    Parameters
    ----------
    estimator : fitted estimator
    X, y : optional
        Rows for the bounds; the labels to shuffle.
    level : float
        Chance of a false discovery that one accepts, over all components and pairs together; the bounds hold with
        probability 1 - level.
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
    check_is_fitted(estimator)
    values = getattr(estimator, "eigenvalues_", None)
    moments: Moments | None = getattr(estimator, "moments_", None)
    components: tuple[Distinguishable, ...] = ()
    if values is None:
        advice = _without_spectrum(estimator)
    elif not _looks_at_labels(estimator):
        advice = _NO_LABELS if X is not None else f"{_NO_LABELS} {_WITH_ROWS}"
    elif y is not None:
        options: dict = {"n_permutations": n_permutations, "random_state": random_state, "n_jobs": n_jobs}
        components, advice = (permutation_test(clone(estimator), X, y, level=level, **options),), ""
    else:
        components, advice = _by_theory(estimator, moments, level)
    left_out = left_out_summary(estimator)
    facts: dict[str, Any] = _of_moments(moments) if moments is not None else _of_rows(estimator, X)
    return StabilitySummary(
        name=type(estimator).__name__,
        worst_residual=float(np.max(estimator.residuals_, initial=0.0)) if hasattr(estimator, "residuals_") else None,
        components=components,
        bounds=None if X is None or not (left_out or values is not None) else sample_bounds(estimator, X, 1 - level),
        left_out=left_out,
        advice=advice,
        **facts,
    )


def _of_moments(moments: Moments) -> dict[str, Any]:
    total = moments.covariance()
    return {
        "n_samples": moments.effective_count(),
        "n_features": moments.n_features,
        "effective_rank": effective_rank(total),
        "participation_ratio": participation_ratio(total),
    }


def _of_rows(estimator: Any, X: Any) -> dict[str, Any]:
    """What a model without moments lets say, with the rows where they are given."""
    n_features = getattr(estimator, "n_features_in_", None)
    if X is None:
        return {"n_features": n_features}
    facts = {"n_samples": X.shape[0] if hasattr(X, "shape") else len(X), "n_features": n_features}
    if sparse.issparse(X) or np.ndim(X) != 2:
        return facts
    total = np.atleast_2d(np.cov(np.asarray(X, dtype=np.float64), rowvar=False))
    return {**facts, "effective_rank": effective_rank(total), "participation_ratio": participation_ratio(total)}


def left_out_summary(estimator: Any) -> str:
    """What outputs at rows left out say of a fitted model; nothing where it has none."""
    error, predicted = getattr(estimator, "loo_error_", None), getattr(estimator, "loo_prediction_", None)
    if error is not None:
        n = len(estimator.loo_decision_)
        spread = np.sqrt(max(error * (1 - error), 1 / n) / n)
        return f"leave-one-out error {error:.2%} ± {spread:.2%} (a standard error of {n} independent rows)"
    if predicted is not None:
        return f"leave-one-out predictions of {len(predicted)} rows in loo_prediction_: compare them with y"
    return ""


def _without_spectrum(estimator: Any) -> str:
    """Why there is nothing more to say."""
    name = type(estimator).__name__
    if left_out_summary(estimator):
        return f"{name} is the solution of one regression and has no spectrum: leave-one-out is what tells of it."
    if hasattr(estimator, "predict"):
        return (
            f"{name} has no spectrum: it is not made of eigenvectors. Rows held out say how far to trust it "
            "(sklearn.model_selection.cross_val_score)."
        )
    return f"{name} has no spectrum: it is not made of eigenvectors, and no bound of this package speaks of it."


def _looks_at_labels(estimator: Any) -> bool:
    """Whether other labels would give another spectrum."""
    return hasattr(estimator, "classes_") or bool(get_tags(estimator).target_tags.required)


def _by_theory(estimator: Any, moments: Moments | None, level: float) -> tuple[tuple[Distinguishable, ...], str]:
    """Components as random-matrix theory judges them, or what would."""
    if moments is None:
        return (), _WITH_LABELS
    if _regularised(estimator):
        return (), "The noise matrix is regularised, so random-matrix theory does not apply. " + _WITH_LABELS
    try:
        components = _components_without_rows(estimator, moments, level)
    except ValueError as problem:
        return (), str(problem)
    return components, "" if components else _WITH_LABELS


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
    pairs = list(dict.fromkeys(ends))
    judged = {}
    for positions in moments.rounds(pairs, centred):
        for i, j in (pairs[position] for position in positions):
            own = values[[pair == (i, j) for pair in ends]]
            judged[i, j] = pair_components(moments, i, j, own, centred=centred, level=level / len(pairs))
    return tuple(judged[pair] for pair in pairs)


def _regularised(estimator: Any) -> bool:
    """Whether any layer has a ridge or shrinkage."""
    chosen = {**estimator.get_params(deep=False), **getattr(estimator, "best_params_", {})}
    ridge, shrinkage = chosen.get("ridge", 0), chosen.get("shrinkage")
    return bool(np.any(ridge)) or any(
        s is not None for s in (shrinkage if isinstance(shrinkage, list) else [shrinkage])
    )
