"""Criteria of signal power: rows are samples of trials about their means, and a second moment is a covariance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from eigenfeat.moments import DenseForm, Mixture, Moments
from eigenfeat.quotients.quotient import Quotient
from eigenfeat.quotients.regularisation import Regularisation


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
