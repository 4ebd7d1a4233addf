"""Criteria: from moments to quotients. `CRITERIA` is the table of signals and noises, `MATRICES` that of matrices.

====================  ====================================  ========================================
criterion             signal S                              noise N
====================  ====================================  ========================================
"principal"           covariance of all rows                identity
"vanishing"           second moment (smallest directions)   identity
"oriented"            covariance of all rows                a noise given by the user
"fisher"              between-class scatter                 within-class covariance
"fisher_total"        between-class scatter                 total covariance
"contrast"            second moment of a mixture u          that of a mixture v, or the identity
"centred_contrast"    that of u about the mean of v         covariance of v
"power_share"         power of a mixture of trials          pooled with that of another
"comodulation"        covariance of power with a target     mean power
"ratio"               any                                   any
====================  ====================================  ========================================

Mixtures are classes, pools of classes or any proportions of them, so "contrast" is a family: pairs of classes are GEM,
a class over the pool of the others is one-vs-rest, over the pool of all rows it is common spatial patterns, and over
the identity it is a PCA of its own. `eigenfeat.features.pairs` names these. Sliced inverse regression is
"fisher_total" where the classes are slices of y.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from eigenfeat.moments import Contrast, DenseForm, Mixture, Moments, SymmetricForm, as_form, identity_like
from eigenfeat.quotients.quotient import Quotient
from eigenfeat.quotients.regularisation import NoiseKind, Regularisation

NO_REGULARISATION = Regularisation()

IDENTITY = "identity"
"""The denominator of a contrast with no class below."""

_PAIRS = "pairs of classes (GEMFeatures)"


def principal(moments: Moments, centred: bool = True) -> Quotient:
    """PCA: the variance (or, not ``centred``, the second moment) of all rows over the identity."""
    return _whole(moments, identity_like(moments.covariance()), centred, "principal")


def vanishing(moments: Moments, centred: bool = False) -> Quotient:
    """VCA of degree one (Livni et al. 2013): the *smallest* directions of this quotient nearly vanish on the data.

    The table of the GEM paper has signal and noise swapped; with the identity below, a direction that vanishes
    exactly has eigenvalue 0 instead of an infinite one, and a singular second moment needs no care.
    """
    return _whole(moments, identity_like(moments.covariance()), centred, "vanishing")


def oriented(
    moments: Moments,
    noise: SymmetricForm | np.ndarray,
    centred: bool = True,
    regularisation: Regularisation = NO_REGULARISATION,
) -> Quotient:
    """Oriented PCA (Diamantaras & Kung 1996): variance of the data over that of a noise given by the user."""
    return _whole(moments, regularisation.of_matrix(as_form(noise)), centred, "oriented")


def _whole(moments: Moments, noise: SymmetricForm, centred: bool, kind: str) -> Quotient:
    """The covariance or second moment of all rows over a noise."""
    signal = moments.covariance() if centred else moments.second_moment()
    mean = moments.mean()
    return Quotient(signal, noise, references=mean[None], origin=mean if centred else None, kind=kind)


def ratio(
    moments: Moments,
    signal: SymmetricForm,
    noise: SymmetricForm,
    centred: bool = True,
    regularisation: Regularisation = NO_REGULARISATION,
    signal_factor: np.ndarray | None = None,
) -> Quotient:
    """Any signal over any noise; the class means and the mean of the rows orient the directions."""
    mean = moments.mean()
    return Quotient(
        signal,
        regularisation.of_matrix(noise),
        signal_factor=signal_factor,
        references=np.vstack([moments.means - mean, mean]),
        origin=mean if centred else None,
        kind="ratio",
    )


def fisher(
    moments: Moments,
    noise: str = "within",
    class_weighting: str = "share",
    regularisation: Regularisation = NO_REGULARISATION,
) -> Quotient:
    """Fisher's discriminant: spread of the class means over the spread within classes, or over the total.

    ``class_weighting="share"`` weights classes by their fraction of the rows, as scikit-learn does; "equal" is the
    form of the GEM paper's Table 1. Both noises have the same directions without a ridge, with eigenvalues
    λ (within) and λ / (1 + λ) (total). Equal weights have no table of their own: such a quotient is a "ratio".
    """
    present = moments.weights > 0  # a class that has not been seen yet has no mean to weigh
    u = moments.class_fractions if class_weighting == "share" else present / present.sum()
    below: NoiseKind = "covariance" if noise == "total" else "within"
    kind = "fisher_total" if noise == "total" else "fisher"
    mean = moments.mean(u)
    return Quotient(
        moments.between(u),
        regularisation.noise(moments, u, below),
        signal_factor=moments.between_factor(u),
        references=(moments.means - mean)[::-1],  # the last class, or the highest slice, on the positive side
        origin=mean,
        label="between classes",
        kind=kind if class_weighting == "share" else "ratio",
    )


def contrast(
    moments: Moments,
    contrasts: Iterable[Contrast],
    labels: Sequence[str] | None = None,
    noise: NoiseKind = "second_moment",
    regularisation: Regularisation = NO_REGULARISATION,
    extra_noise: SymmetricForm | None = None,
) -> list[Quotient]:
    """Second moment of one mixture of classes over that of another: slices or contractions of E[x⊗x⊗y].

    A pair (i, j) of class indices is GEM's ``C_i v = λ C_j v`` (Karampatziakis & Mineiro 2014, eq. 1). With
    ``noise="covariance"`` (GEM, footnote 1) the denominator is the covariance of v, the numerator is taken about the
    mean of v, and that mean is carried into the projection. A denominator "identity" compares with nothing.
    ``extra_noise`` is added to every denominator, as its ridge is.
    """
    contrasts = list(contrasts)
    means = moments.means
    seconds: dict[object, SymmetricForm] = {}  # a matrix that is signal and noise is formed once
    noises: dict[object, SymmetricForm] = {}

    def second_moment(mixture: Mixture) -> SymmetricForm:
        if _key(mixture) not in seconds:
            seconds[_key(mixture)] = moments.second_moment(mixture)
        return seconds[_key(mixture)]

    quotients = []
    for (u, v), label in zip(contrasts, labels or [_label(moments, u, v) for u, v in contrasts]):
        if _key(v) not in noises:
            if isinstance(v, str):
                below = regularisation.noise(moments, None, "identity")
            elif noise == "second_moment":
                below = regularisation.of_moments(second_moment(v), moments, v)
            else:
                below = regularisation.noise(moments, v, noise)
            noises[_key(v)] = below if extra_noise is None else extra_noise + below
        centred = noise == "covariance" and not isinstance(v, str)
        # About the mean of v, a signal serves one pair only: it is not cached.
        signal = moments.second_moment(u, center=v) if centred else second_moment(u)
        reference = means[u : u + 1] if isinstance(u, int) else (moments.proportions(u) @ means)[None]
        origin = moments.proportions(v) @ means if centred else None  # type: ignore[arg-type]
        kind = "centred_contrast" if centred else "contrast"
        if origin is not None:
            reference = reference - origin
        quotients.append(Quotient(signal, noises[_key(v)], None, reference, origin, label, kind))
    return quotients


def power_share(
    moments: Moments,
    contrasts: Iterable[tuple[Mixture, Mixture]],
    labels: Sequence[str],
    regularisation: Regularisation,
) -> list[Quotient]:
    """Common spatial patterns: the share of one mixture of classes in the power of two, ``C_u v = λ (C_u + C_v) v``.

    The noise is the pool ``P = (C_u + C_v) / 2``, both sides counting alike whatever their weights. What a ridge or
    shrinkage makes of it, P′, belongs to both sides equally: the signal is ``P′/2 + (C_u - C_v)/4``, which is
    ``C_u/2`` where P is left alone. So exchanging u and v makes 1 - λ of λ, and a λ of a half still says that both are
    alike. Shrinkage lowers P where it is strong, and may take λ past 0 and 1 there.
    """
    quotients = []
    for (u, v), label in zip(contrasts, labels):
        pool = regularisation.noise(moments, (moments.proportions(u) + moments.proportions(v)) / 2)
        difference = moments.second_moment(u).toarray() - moments.second_moment(v).toarray()
        signal = DenseForm(pool.toarray() / 2 + difference / 4)
        quotients.append(Quotient(signal, pool, label=label, kind="power_share"))
    return quotients


def comodulation(moments: Moments, sides: Moments, regularisation: Regularisation) -> Quotient:
    """Source power comodulation: ``Σ w z C / Σ w`` over ``Σ w C / Σ w``, C the covariance of a trial, z its target.

    Parameters
    ----------
    moments : Moments
        Of all trials, weighted by w.
    sides : Moments
        Of the same trials in two classes, z below and above zero, weighted by ``w |z|``; z has mean zero and variance
        one, so that the sides weigh the same and λ is the covariance of power, its mean being one, with z.
    regularisation : Regularisation
    """
    half = sides.weights.sum() / moments.weights.sum() / 2
    signal = half * (sides.second_moment(1).toarray() - sides.second_moment(0).toarray())
    return Quotient(DenseForm(signal), regularisation.noise(moments), label="comodulation", kind="comodulation")


def _key(mixture: Mixture | str) -> object:
    return mixture.tobytes() if isinstance(mixture, np.ndarray) else mixture


def _label(moments: Moments, u: Mixture, v: Mixture | str) -> str:
    def name(end: Mixture | str) -> str:
        return str(moments.classes[end]) if isinstance(end, int | np.integer) else "mixture"

    return " vs ".join(end if isinstance(end, str) else name(end) for end in (u, v))


@dataclass(frozen=True)
class Criterion:
    """A row of the table.

    Parameters
    ----------
    name : str
    signal, noise : str
        What it puts above and below, in words.
    needs_labels : bool
        True if rows come in classes.
    build : callable
        From moments, and what else it ``needs``, to a `Quotient`, or to a list of them.
    needs : str
        What else, in words; empty where moments are enough.
    """

    name: str
    signal: str
    noise: str
    needs_labels: bool
    build: Callable[..., Any]
    needs: str = ""


CRITERIA: dict[str, Criterion] = {
    row.name: row
    for row in (
        Criterion("principal", "covariance of all rows", "identity", False, principal),
        Criterion("vanishing", "second moment, smallest directions", "identity", False, vanishing),
        Criterion("oriented", "covariance of all rows", "given", False, oriented, "a noise matrix (OrientedPCA)"),
        Criterion("fisher", "between-class scatter", "within-class covariance", True, fisher),
        Criterion("fisher_total", "between-class scatter", "total covariance", True, partial(fisher, noise="total")),
        Criterion("contrast", "second moment of a mixture", "that of another", True, contrast, _PAIRS),
        Criterion(
            "centred_contrast",
            "second moment of a mixture about the mean of another",
            "covariance of the other",
            True,
            partial(contrast, noise="covariance"),
            _PAIRS,
        ),
        Criterion(
            "power_share",
            "power of a mixture of trials",
            "pooled with that of another",
            True,
            power_share,
            "samples of trials, and pairs of their classes (CommonSpatialPatterns)",
        ),
        Criterion(
            "comodulation",
            "covariance of power with a target",
            "mean power",
            False,
            comodulation,
            "samples of trials, weighted by a target too (SPoC)",
        ),
        Criterion("ratio", "any", "any", False, ratio, "two matrices (signal and noise of RayleighFeatures)"),
    )
}
"""Every criterion by name; fitted estimators keep the name of theirs as ``criterion_``. (Least squares builds its own
kind, "least-squares", from rows instead of moments.)"""


@dataclass(frozen=True)
class NamedMatrix:
    """A matrix as a function of moments, and whether it needs the labels of the rows."""

    of: Callable[[Moments], SymmetricForm]
    needs_labels: bool = False


MATRICES: dict[str, NamedMatrix] = {
    "between": NamedMatrix(lambda moments: moments.between(), needs_labels=True),
    "within": NamedMatrix(lambda moments: moments.within(), needs_labels=True),
    "total": NamedMatrix(lambda moments: moments.covariance()),
    "second_moment": NamedMatrix(lambda moments: moments.second_moment()),
    "identity": NamedMatrix(lambda moments: identity_like(moments.second_moment())),
}
"""Symmetric matrices by name: what a signal or a noise may be made of."""
