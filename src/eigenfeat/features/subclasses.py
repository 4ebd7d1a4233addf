"""Classes cut into sub-classes: second moments "conditioned on other events" (GEM, section 5)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from eigenfeat.features.pairs import Contrasts
from eigenfeat.moments import Contrast, Mixture, Moments
from eigenfeat.rows.accumulators import ClassCounts
from eigenfeat.rows.block import Block, Matrix, dense
from eigenfeat.rows.rows import Rows
from eigenfeat.rows.sampling import class_samples

SAMPLE_ROWS = 4000
"""Rows of a class that its centres are found from."""

ROWS_EACH = 10
"""Rows a sub-class has at least on average: a class of fewer is cut into fewer."""


@dataclass(frozen=True, eq=False)
class Subclasses:
    """Which sub-class every row is of.

    Attributes
    ----------
    codes : (n,) array of int, or `NearestCentre`
        Sub-class of every row; of a stream, how a block's are found.
    owners : (s,) array of int
        Class of every sub-class.
    names : (s,) array of str
        "3/0" for the first sub-class of class 3; the class's own label where it is not cut.
    counts : ClassCounts, optional
        Of the sub-classes of a stream.
    """

    codes: np.ndarray | NearestCentre
    owners: np.ndarray
    names: np.ndarray
    counts: ClassCounts | None = None

    def relabelled(self, rows: Rows) -> Rows:
        """The rows they were found from, labelled with their sub-classes."""
        if isinstance(self.codes, NearestCentre):
            return rows.map(self.codes, class_counts=self.counts)
        return rows.with_labels(self.codes, rows.weight)

    @classmethod
    def streamed(cls, rows: Rows, cut: NearestCentre, classes: np.ndarray) -> Subclasses:
        """Those of a stream that have rows of positive weight: one pass."""
        counts = rows.map(cut, class_counts=None).reduce(ClassCounts(), "sub-classes")
        present = counts.counts > 0
        codes = counts.classes[present].astype(np.intp)
        owners, which = np.divmod(codes, cut.most)
        present_counts = ClassCounts(np.arange(len(codes)), counts.counts[present], counts.weights[present])
        present_counts.n_rows = counts.n_rows
        return cls(replace(cut, codes=codes), owners, _names(owners, which, classes), present_counts)

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
        return cls(codes, owners, _names(owners, seen[which], classes))


def _names(owners: np.ndarray, events: np.ndarray, classes: np.ndarray) -> np.ndarray:
    alone = np.bincount(owners, minlength=len(classes))[owners] == 1
    return np.array([str(classes[c]) if one else f"{classes[c]}/{e}" for c, e, one in zip(owners, events, alone)])


def clustered(
    rows: Rows, classes: np.ndarray, counts: np.ndarray, count: int, rng: np.random.RandomState
) -> Subclasses:
    """Every class cut into ``count`` clusters by k-means, or fewer where it has few rows.

    Centres are found on at most `SAMPLE_ROWS` different rows of a class, drawn by ``rng``; then every row goes to the
    nearest. Rows are labelled with indices into ``classes``, of which there are ``counts`` of positive weight.
    """
    centres = _centres(rows, counts, count, rng)
    if not rows.random_access:
        return Subclasses.streamed(rows, NearestCentre(centres), classes)
    labels = np.asarray(rows.y)
    events = [nearest(block.X, labels[block.positions], centres) for block in rows.blocks()]
    return Subclasses.of(labels, np.concatenate(events), classes, rows.weight)


def _centres(rows: Rows, counts: np.ndarray, count: int, rng: np.random.RandomState) -> dict[int, np.ndarray]:
    """Of the clusters of every class that has more than one."""
    n_clusters = np.minimum(count, np.maximum(1, counts // ROWS_EACH)).astype(int)
    samples = class_samples(rows, np.where(n_clusters > 1, SAMPLE_ROWS, 0), int(rng.randint(2**31 - 1)))
    seeds = {c: int(rng.randint(2**31 - 1)) for c in np.flatnonzero(n_clusters > 1).tolist()}
    return {c: _clusters(sample, n_clusters[c], seeds[c]) for c, sample in samples}


def _clusters(sample: Block, count: int, seed: int) -> np.ndarray:
    """Centres of the clusters of a class, fewer where it has no more different rows."""
    from sklearn.cluster import KMeans

    model = KMeans(min(count, sample.n_rows), n_init=1, random_state=seed)
    return model.fit(dense(sample.X), sample_weight=sample.weight).cluster_centers_


def nearest(rows: Matrix, labels: np.ndarray, centres: dict[int, np.ndarray]) -> np.ndarray:
    """Index of the nearest centre of its class for each of some rows, zero for a class that has none."""
    events = np.zeros(len(labels), dtype=np.intp)
    for c, points in centres.items():
        members = np.flatnonzero(labels == c)
        if len(members):
            half_squares = np.einsum("ij,ij->i", points, points) / 2
            events[members] = np.asarray(rows[members] @ points.T - half_squares).argmax(axis=1)
    return events


@dataclass(frozen=True, eq=False)
class NearestCentre:
    """A block function: labels become ``most · class + cluster``, indices into those that there are (``codes``)."""

    centres: dict[int, np.ndarray]
    codes: np.ndarray | None = None

    @property
    def most(self) -> int:
        return max((len(points) for points in self.centres.values()), default=1)

    def __call__(self, block: Block) -> Block:
        labels = np.asarray(block.y)
        place = labels * self.most + nearest(block.X, labels, self.centres)
        if self.codes is not None:
            place = np.minimum(np.searchsorted(self.codes, place), len(self.codes) - 1)
        return replace(block, y=place)


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
