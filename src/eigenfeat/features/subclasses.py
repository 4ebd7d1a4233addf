"""Classes cut into sub-classes: second moments "conditioned on other events" (GEM, section 5)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from eigenfeat.features.pairs import Contrast, Contrasts
from eigenfeat.moments import Mixture, Moments
from eigenfeat.rows import RandomRows, dense

SAMPLE_ROWS = 4000
"""Rows of a class that its centres are found from."""

ROWS_EACH = 10
"""Rows a sub-class has at least on average: a class of fewer is cut into fewer."""


@dataclass(frozen=True, eq=False)
class Subclasses:
    """Which sub-class every row is of.

    Attributes
    ----------
    codes : (n,) array of int
        Sub-class of every row.
    owners : (s,) array of int
        Class of every sub-class.
    names : (s,) array of str
        "3/0" for the first sub-class of class 3; the class's own label where it is not cut.
    """

    codes: np.ndarray
    owners: np.ndarray
    names: np.ndarray

    @classmethod
    def of(
        cls, labels: np.ndarray, events: np.ndarray, classes: np.ndarray, weights: np.ndarray | None = None
    ) -> Subclasses:
        """Rows of equal class (an index) and equal event are a sub-class; rows of weight zero make none.

        Examples
        --------
        >>> Subclasses.of(np.array([0, 0, 1]), np.array(["am", "pm", "am"]), np.array(["x", "y"])).names.tolist()
        ['x/am', 'x/pm', 'y']
        """
        seen, event_codes = np.unique(events, return_inverse=True)
        place = np.asarray(labels) * len(seen) + event_codes.ravel()
        pairs = np.unique(place if weights is None else place[weights > 0])
        codes = np.minimum(np.searchsorted(pairs, place), len(pairs) - 1)
        owners, which = np.divmod(pairs, len(seen))
        alone = np.bincount(owners, minlength=len(classes))[owners] == 1
        names = [str(classes[c]) if one else f"{classes[c]}/{seen[e]}" for c, e, one in zip(owners, which, alone)]
        return cls(codes, owners, np.array(names))


def clustered(rows: RandomRows, classes: np.ndarray, count: int, rng: np.random.RandomState) -> Subclasses:
    """Every class cut into ``count`` clusters by k-means, or fewer where it has few rows.

    Centres are found on at most `SAMPLE_ROWS` rows of a class, drawn by ``rng``; then every row goes to the nearest.
    Rows are labelled with indices into ``classes``.
    """
    from sklearn.cluster import KMeans

    assert rows.labels is not None
    labels, weights = np.asarray(rows.labels), rows.weights
    events = np.zeros(len(labels), dtype=np.intp)
    for c in range(len(classes)):
        members = np.flatnonzero(labels == c if weights is None else (labels == c) & (weights > 0))
        n_clusters = min(count, max(1, len(members) // ROWS_EACH))
        sample = rows.rows(np.sort(rng.permutation(members)[:SAMPLE_ROWS]))
        seed = int(rng.randint(2**31 - 1))
        if n_clusters > 1:
            centres = KMeans(n_clusters, n_init=1, random_state=seed).fit(dense(sample)).cluster_centers_
            events[members] = nearest(rows, members, centres)
    return Subclasses.of(labels, events, classes, weights)


def nearest(rows: RandomRows, members: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Index of the nearest centre of each of some rows, a block at a time."""
    half_squares = np.einsum("ij,ij->i", centres, centres) / 2
    step = rows.default_batch
    blocks = [rows.rows(members[start : start + step]) for start in range(0, len(members), step)]
    return np.concatenate([np.asarray(block @ centres.T - half_squares).argmax(axis=1) for block in blocks])


def between_subclasses(contrasts: Contrasts, subclasses: Subclasses, moments: Moments) -> Contrasts:
    """Contrasts of classes as contrasts of their sub-classes, whose moments are given.

    A class stands for each of its sub-classes, so that a pair of classes is all pairs of theirs; a mixture of
    classes stays that mixture.
    """
    mixtures: list[Contrast] = []
    names: list[tuple[str, str]] = []
    for (above, below), ends in zip(contrasts.mixtures, contrasts.names):
        upper, lower = (_stand_ins(end, str(name), subclasses, moments) for end, name in zip((above, below), ends))
        for (u, u_name), (v, v_name) in product(upper, lower):
            mixtures.append((u, v))  # type: ignore[arg-type]
            names.append((u_name, v_name))
    return Contrasts(mixtures, np.array(names))


def _stand_ins(
    end: Mixture | str, name: str, subclasses: Subclasses, moments: Moments
) -> list[tuple[Mixture | str, str]]:
    if end is None or isinstance(end, str):
        return [(end, name)]
    if isinstance(end, int | np.integer):
        return [(int(s), str(subclasses.names[s])) for s in np.flatnonzero(subclasses.owners == end)]
    of_class = np.bincount(subclasses.owners, moments.weights, minlength=len(end))
    return [(moments.weights * (end / of_class)[subclasses.owners], name)]
