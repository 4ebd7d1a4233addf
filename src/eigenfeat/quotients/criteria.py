"""Criteria: from moments to quotients. Each function is one row of a table of signals and noises.

====================  ====================================  ===============================
criterion             signal S                              noise N
====================  ====================================  ===============================
`principal`           covariance of all rows                identity
`vanishing`           second moment (smallest directions)   identity
`fisher`              between-class scatter                 within-class or total covariance
`oriented`            covariance of all rows                second moment of given noise
`per_class`           second moment of class i              identity
`contrast`            second moment of a mixture u          that of a mixture v
`pair_contrast`       ... of class i                        ... of class j (GEM)
`one_vs_rest`         ... of class i                        ... of all others
`one_vs_all`          ... of class i                        ... of all rows (two classes: CSP)
====================  ====================================  ===============================

Sliced inverse regression is `fisher` with ``noise="total"`` where the classes are slices of y.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from eigenfeat.moments import Mixture, Moments, SymmetricForm, as_form, identity_like
from eigenfeat.quotients.quotient import Quotient
from eigenfeat.quotients.regularisation import NoiseKind, Regularisation

NO_REGULARISATION = Regularisation()


def principal(moments: Moments, centred: bool = True) -> Quotient:
    """PCA: the variance (or, not ``centred``, the second moment) of all rows over the identity."""
    signal = moments.covariance() if centred else moments.second_moment()
    mean = moments.mean()
    return Quotient(signal, identity_like(signal), references=mean[None], offset=mean if centred else None)


def vanishing(moments: Moments, centred: bool = False) -> Quotient:
    """VCA of degree one (Livni et al. 2013): the *smallest* directions of this quotient nearly vanish on the data.

    The table of the GEM paper has signal and noise swapped; with the identity below, a direction that vanishes
    exactly has eigenvalue 0 instead of an infinite one, and a singular second moment needs no care.
    """
    return principal(moments, centred=centred)


def fisher(
    moments: Moments,
    noise: str = "within",
    class_weighting: str = "share",
    regularisation: Regularisation = NO_REGULARISATION,
) -> Quotient:
    """Fisher's discriminant: spread of the class means over the spread within classes, or over the total.

    ``class_weighting="share"`` weights classes by their share of the rows, as scikit-learn does; "equal" is the
    form of the GEM paper's Table 1. Both noises have the same directions without a ridge, with eigenvalues
    λ (within) and λ / (1 + λ) (total).
    """
    k = moments.n_classes
    u = moments.shares if class_weighting == "share" else np.full(k, 1.0 / k)
    kind: NoiseKind = "covariance" if noise == "total" else "within"
    mean = moments.mean(u)
    return Quotient(
        moments.between(u),
        regularisation.noise(moments, u, kind),
        signal_factor=moments.between_factor(u),
        references=(moments.means - mean)[::-1],  # the last class, or the highest slice, on the positive side
        offset=mean,
        label="between classes",
    )


def oriented(
    moments: Moments,
    noise: SymmetricForm | np.ndarray,
    centred: bool = True,
    regularisation: Regularisation = NO_REGULARISATION,
) -> Quotient:
    """Oriented PCA (Diamantaras & Kung 1996): variance of the data over that of a noise given by the user."""
    signal = moments.covariance() if centred else moments.second_moment()
    mean = moments.mean()
    below = regularisation.with_ridge(as_form(noise))
    return Quotient(signal, below, references=mean[None], offset=mean if centred else None)


def per_class(moments: Moments, centred: bool = False) -> list[Quotient]:
    """One PCA a class (Wold & Sjöström 1977): large directions of each class, discriminative or not."""
    signals = [moments.covariance(c) if centred else moments.second_moment(c) for c in range(moments.n_classes)]
    identity, means = identity_like(signals[0]), moments.means
    return [
        Quotient(S, identity, references=means[c : c + 1], offset=means[c] if centred else None, label=f"{label}")
        for c, (S, label) in enumerate(zip(signals, moments.classes))
    ]


def contrast(
    moments: Moments,
    contrasts: Iterable[tuple[Mixture, Mixture]],
    labels: Sequence[str],
    noise: NoiseKind = "second_moment",
    regularisation: Regularisation = NO_REGULARISATION,
) -> list[Quotient]:
    """Second moment of one mixture of classes over that of another: slices or contractions of E[x⊗x⊗y].

    With ``noise="covariance"`` (GEM, footnote 1) the denominator is the covariance of v, the numerator is taken
    about the mean of v, and that mean is carried into the projection.
    """
    means = moments.means
    signals: dict[object, SymmetricForm] = {}
    noises: dict[object, SymmetricForm] = {}
    quotients = []
    for (u, v), label in zip(contrasts, labels):
        if _key(v) not in noises:
            noises[_key(v)] = regularisation.noise(moments, v, noise)
        centred = noise == "covariance"
        pair = (_key(u), _key(v)) if centred else _key(u)
        if pair not in signals:
            signals[pair] = moments.second_moment(u, about=v if centred else "origin")
        reference = means[u : u + 1] if isinstance(u, int) else (moments.proportions(u) @ means)[None]
        offset = moments.proportions(v) @ means if centred else None
        if offset is not None:
            reference = reference - offset
        quotients.append(Quotient(signals[pair], noises[_key(v)], references=reference, offset=offset, label=label))
        if centred:  # such a signal serves one pair only: do not hold k² of them
            del signals[pair]
    return quotients


def pair_contrast(
    moments: Moments,
    pairs: Sequence[tuple[int, int]],
    noise: NoiseKind = "second_moment",
    regularisation: Regularisation = NO_REGULARISATION,
) -> list[Quotient]:
    """GEM: ``C_i v = λ C_j v`` for ordered pairs (i, j) of class indices (Karampatziakis & Mineiro 2014, eq. 1)."""
    pairs = [(int(i), int(j)) for i, j in pairs]
    labels = [f"{moments.classes[i]} vs {moments.classes[j]}" for i, j in pairs]
    return contrast(moments, pairs, labels, noise, regularisation)


def one_vs_rest(
    moments: Moments, noise: NoiseKind = "second_moment", regularisation: Regularisation = NO_REGULARISATION
) -> list[Quotient]:
    """Class i over the pool of the others."""
    everyone = np.arange(moments.n_classes)
    contrasts = [(c, moments.pool(everyone != c)) for c in range(moments.n_classes)]
    return contrast(moments, contrasts, [f"{c} vs rest" for c in moments.classes], noise, regularisation)


def one_vs_all(
    moments: Moments, noise: NoiseKind = "second_moment", regularisation: Regularisation = NO_REGULARISATION
) -> list[Quotient]:
    """Class i over the pool of all rows; for two classes these are the common spatial patterns."""
    pool = moments.shares
    contrasts = [(c, pool) for c in range(moments.n_classes)]
    return contrast(moments, contrasts, [f"{c} vs all" for c in moments.classes], noise, regularisation)


def _key(mixture: Mixture) -> object:
    return mixture.tobytes() if isinstance(mixture, np.ndarray) else mixture
