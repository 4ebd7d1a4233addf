"""Which classes to tell apart: from moments to a list of contrasts (u, v), class mixtures over class mixtures."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from eigenfeat.moments import Contrast, Mixture, Moments
from eigenfeat.quotients import IDENTITY

ALL_PAIRS_UP_TO = 12
"""Classes up to which "auto" takes all ordered pairs: 132 problems, quick to solve and few features."""

AUTO_PAIRS_PER_CLASS = 4
"""Problems a class that "auto" allows itself beyond that."""

AUTO_DIRECTIONS = (600, 1800)
"""Directions in all that ``n_components=None`` aims at, for few rows and for many."""

ROWS_A_DIRECTION = 25
"""Rows for one more direction in between."""

AUTO_COEFFICIENTS = 240_000
"""Directions times classes it allows: what a pass of the last stage costs grows with both, so it has fewer beyond a
hundred classes."""


@dataclass(frozen=True, eq=False)
class Contrasts:
    """Numerators and denominators, and what a reader calls them."""

    mixtures: list[Contrast]
    names: np.ndarray
    """(n, 2): the label of numerator and denominator; class labels where both are classes, else text."""

    def __len__(self) -> int:
        return len(self.mixtures)


def choose_contrasts(
    moments: Moments, strategy: str | Sequence, rng: np.random.RandomState, n_pairs: int | None = None
) -> Contrasts:
    """The contrasts a strategy stands for; see `GEMFeatures` for what each means."""
    if isinstance(strategy, str):
        if strategy not in STRATEGIES:
            names = ", ".join(STRATEGIES)
            raise ValueError(f"class_pairs must be one of {names} or a list of pairs, got {strategy!r}.")
        return STRATEGIES[strategy](moments, rng, n_pairs)
    if np.ndim(strategy) == 3:
        return _of_vectors(moments, np.asarray(strategy, dtype=np.float64))
    return _of_pairs(moments, _given(strategy, moments))


def auto_directions(k: int, n_rows: float = np.inf) -> int:
    """Directions in all for k classes that so many rows pay for and that keep any fit within minutes."""
    fewest, most = AUTO_DIRECTIONS
    return int(min(np.clip(n_rows / ROWS_A_DIRECTION, fewest, most), max(2, AUTO_COEFFICIENTS // k)))


def most_contrasts(strategy: str | Sequence, k: int, n_pairs: int | None = None) -> int:
    """Contrasts of k classes at most that a strategy stands for, before there are moments to choose them from."""
    if not isinstance(strategy, str):
        return len(strategy)
    pairs = k * (k - 1)
    if strategy == "all" or (strategy == "auto" and k <= ALL_PAIRS_UP_TO):
        return pairs
    if strategy in ("auto", "hypercube", "random", "stratified"):
        return min(n_pairs or (auto_count(k) if strategy == "auto" else default_count(k)), pairs)
    if strategy == "contractions":  # each class in its group, each group with each: at most all of them
        return pairs + k
    return k


def compares_classes(strategy: str | Sequence) -> bool:
    """Whether a strategy compares single classes with single classes, and no mixtures of them."""
    if isinstance(strategy, str):
        return strategy in ("auto", "all", "hypercube", "random", "stratified")
    return np.ndim(strategy) != 3


def draws_pairs(strategy: str | Sequence, k: int, n_pairs: int | None = None) -> bool:
    """Whether a strategy leaves which of the pairs of k classes to chance."""
    if not isinstance(strategy, str) or strategy not in ("auto", "hypercube", "random", "stratified"):
        return False
    if strategy == "auto" and k <= ALL_PAIRS_UP_TO:
        return False
    return min(n_pairs or default_count(k), default_count(k) if strategy == "hypercube" else k * k) < k * (k - 1)


def default_count(k: int) -> int:
    """Ordered pairs of a full hypercube on at least k corners: k log₂ k, but never more than there are."""
    return min(k * max(1, int(np.ceil(np.log2(k)))), k * (k - 1))


def auto_count(k: int) -> int:
    """Pairs that "auto" takes of more than `ALL_PAIRS_UP_TO` classes: as many as it affords, and every class in one."""
    return max(k + k % 2, min(AUTO_PAIRS_PER_CLASS * k, auto_directions(k)))


def all_pairs(k: int) -> np.ndarray:
    """Every ordered pair, (k(k - 1), 2)."""
    i, j = np.nonzero(~np.eye(k, dtype=bool))
    return np.column_stack([i, j])


def hypercube_pairs(k: int, rng: np.random.RandomState, n_pairs: int | None = None) -> np.ndarray:
    """Labels placed at random on the corners of a hypercube; neighbours along an edge, in both orders.

    With ``n_pairs`` below their number, the edges kept are first those that give every class a neighbour, then those
    that connect all classes (k - 1 edges do), then others dimension by dimension, so that every class keeps about
    equally many. Below k pairs some edges stand in one order only.
    """
    corners = rng.permutation(k)
    n_bits = max(1, int(np.ceil(np.log2(k))))
    edges = [(a, a ^ (1 << bit)) for bit in rng.permutation(n_bits) for a in range(k) if a < a ^ (1 << bit) < k]
    if n_pairs is None or n_pairs >= 2 * len(edges):
        return _both_orders(corners[np.array(edges)])
    _warn_of_uncovered(k, n_pairs)
    tree = _corner_tree(k)
    known = {(b, a) for a, b in tree.tolist()}
    rest = np.array([edge for edge in edges if edge not in known], dtype=np.intp).reshape(-1, 2)
    ordered = corners[np.concatenate([tree, rest])]
    cover = -(-k // 2)
    if n_pairs >= 2 * cover:
        return _both_orders(ordered[: n_pairs // 2])
    one_way = ordered[: min(n_pairs, cover)]
    return np.concatenate([one_way, one_way[: n_pairs - len(one_way), ::-1]])


def random_pairs(k: int, n_pairs: int, rng: np.random.RandomState) -> np.ndarray:
    """Ordered pairs drawn uniformly, without repeats; if that leaves a class out, beside a random matching of all."""
    everything = all_pairs(k)
    drawn = rng.permutation(len(everything))
    chosen = drawn[:n_pairs]
    _warn_of_uncovered(k, n_pairs)
    if len(np.unique(everything[chosen])) < k:
        circle = rng.permutation(k)
        ends = np.column_stack([circle, np.roll(circle, -1)])[::2]
        matching = ends[:, 0] * (k - 1) + ends[:, 1] - (ends[:, 1] > ends[:, 0])  # their places in all_pairs
        chosen = np.concatenate([matching, drawn[~np.isin(drawn, matching)]])[:n_pairs]
    return everything[np.sort(chosen)]


def stratified_pairs(k: int, n_pairs: int, rng: np.random.RandomState) -> np.ndarray:
    """Random pairs in which every class is numerator and denominator equally often (up to one).

    Labels sit at random on a circle; a round pairs every class with the one a random number of places further on. A
    part of a first round pairs one arc with the next, so that half a round holds every class.
    """
    n_pairs = min(n_pairs, k * (k - 1))
    _warn_of_uncovered(k, n_pairs)
    circle = rng.permutation(k)
    steps = 1 + rng.permutation(k - 1)
    if n_pairs < k:
        steps = np.array([n_pairs])
    rounds = [np.column_stack([circle, np.roll(circle, -step)]) for step in steps[: -(-n_pairs // k)]]
    return np.concatenate(rounds)[:n_pairs]


def _both_orders(edges: np.ndarray) -> np.ndarray:
    return np.concatenate([edges, edges[:, ::-1]])


def _corner_tree(k: int) -> np.ndarray:
    """Edges of a hypercube that connect its first k corners, those first that give every corner a neighbour.

    Every corner but 0 is joined to the one without its lowest bit: (a, a - 1) for odd a are a matching, to which the
    last corner is added where k is odd; further edges come dimension by dimension.
    """
    a = np.arange(1, k)
    lowest = a & -a
    rank = np.where((a == k - 1) & (lowest > 1), 1.5, lowest)
    order = np.argsort(rank, kind="stable")
    return np.column_stack([a, a - lowest])[order]


def _warn_of_uncovered(k: int, n_pairs: int) -> None:
    if 2 * n_pairs < k:
        warnings.warn(
            f"n_pairs={n_pairs} pairs hold at most {2 * n_pairs} of {k} classes: the others are told apart from "
            f"nothing. Give at least {-(-k // 2)}.",
            UserWarning,
            stacklevel=2,
        )


def contractions(moments: Moments, rng: np.random.RandomState, n_groups: int | None = None) -> Contrasts:
    """Second moments contracted with indicator-like vectors u from a clustering of the classes (GEM, section 5).

    Classes are clustered by their whitened second moments; each group of classes is contrasted with every other
    group, and each class with the rest of its group: confusable classes share a group, so both scales are there.
    """
    k = moments.n_classes
    groups = cluster_classes(moments, n_groups or max(2, int(np.ceil(np.sqrt(k)))), rng)
    pooled = [moments.pool(group) for group in groups]
    mixtures: list[Contrast] = []
    names = []
    for a in range(len(groups)):
        for b in range(len(groups)):
            if a != b:
                mixtures.append((pooled[a], pooled[b]))
                names.append((f"group {a}", f"group {b}"))
    for a, group in enumerate(groups):
        for c in group.tolist():
            others = group[group != c]
            if len(others):
                rest = moments.pool(others)
                mixtures += [(c, rest), (rest, c)]
                one, rest_of = str(moments.classes[c]), f"rest of group {a}"
                names += [(one, rest_of), (rest_of, one)]
    return Contrasts(mixtures, np.array(names))


def confusion_contractions(confusion: np.ndarray, n_confused: int = 3) -> np.ndarray:
    """Contrasts of each class with the classes a first classifier takes for it, as (u, v) vectors for ``class_pairs``.

    Parameters
    ----------
    confusion : (k, k) array
        Counts, or probabilities: rows are true classes, columns what they were taken for. Its diagonal is ignored.
    n_confused : int
        Classes at most in a mixture, those most often confused with the class; they weigh by how often.

    Returns
    -------
    (2k, 2, k) array
        Every class over and under the mixture of its rivals; classes that are never confused are contrasted with all
        others.

    Examples
    --------
    >>> confusion_contractions(np.array([[9, 1, 0], [1, 7, 2], [0, 2, 8]]), n_confused=1)[0]
    array([[1., 0., 0.],
           [0., 1., 0.]])
    """
    both = np.asarray(confusion, dtype=np.float64)
    if both.ndim != 2 or len(both) != both.shape[1] or len(both) < 2 or not np.all(both >= 0):
        raise ValueError(f"A confusion matrix is square and non-negative, got shape {both.shape}.")
    both = both + both.T
    np.fill_diagonal(both, 0)
    rivals = np.zeros_like(both)
    for c, row in enumerate(both):
        most = np.argsort(-row, kind="stable")[:n_confused]
        rivals[c, most] = row[most]
        if not rivals[c].any():
            rivals[c] = 1
            rivals[c, c] = 0
    rivals /= rivals.sum(axis=1, keepdims=True)
    own = np.eye(len(both))
    return np.concatenate([np.stack([own, rivals], axis=1), np.stack([rivals, own], axis=1)])


def cluster_classes(moments: Moments, n_groups: int, rng: np.random.RandomState) -> list[np.ndarray]:
    """Groups of classes with alike first and second moments, each of at least one class.

    A class is described by its mean and by sketches ``gᵀC_c g`` of its second moment with random directions g,
    both in units of the pooled spread.
    """
    from sklearn.cluster import KMeans

    d, k = moments.n_features, moments.n_classes
    spread = np.sqrt(np.maximum(moments.second_moment().diagonal(), 1e-300))
    probes = rng.normal(size=(d, min(64, d))) / spread[:, None]
    sketch = np.stack([np.sqrt(np.maximum(moments.second_moment(c).quadratic(probes), 0)) for c in range(k)])
    description = np.hstack([moments.means / spread, sketch])
    seed = int(rng.randint(2**31 - 1))
    labels = KMeans(min(n_groups, k), n_init=3, random_state=seed).fit_predict(description)
    return [np.flatnonzero(labels == g) for g in np.unique(labels)]


def _of_pairs(moments: Moments, pairs: np.ndarray) -> Contrasts:
    return Contrasts([(int(i), int(j)) for i, j in pairs], moments.classes[pairs])


def _of_vectors(moments: Moments, vectors: np.ndarray) -> Contrasts:
    """Second moments contracted with given vectors u and v over the classes."""
    k = moments.n_classes
    if vectors.shape[1:] != (2, k) or not np.all(vectors >= 0) or not np.all(vectors.sum(axis=2) > 0):
        raise ValueError(
            f"class_pairs as contractions is an array (n, 2, {k}) of non-negative vectors over the {k} classes, none "
            f"of them all zero; got shape {vectors.shape}."
        )
    shares = vectors / vectors.sum(axis=2, keepdims=True)
    mixtures: list[Contrast] = [(u, v) for u, v in shares]
    return Contrasts(mixtures, np.array([[_mixture_name(w, moments.classes) for w in pair] for pair in shares]))


def _mixture_name(shares: np.ndarray, classes: np.ndarray) -> str:
    present = np.flatnonzero(shares)
    if len(present) == len(shares):
        return "all"
    name = "+".join(str(classes[c]) for c in present[:4])
    return name if len(present) <= 4 else f"{name}+{len(present) - 4} more"


def _given(pairs: Sequence, moments: Moments) -> np.ndarray:
    """Pairs of labels as pairs of indices."""
    index = {label: c for c, label in enumerate(moments.classes.tolist())}
    chosen = []
    for pair in pairs:
        i, j = (index.get(label.item() if isinstance(label, np.generic) else label) for label in pair)
        if i is None or j is None or i == j:
            raise ValueError(
                f"class_pairs has {tuple(pair)!r}; a pair is two different labels of {moments.classes.tolist()!r}."
            )
        chosen.append((i, j))
    if not chosen:
        raise ValueError("class_pairs is an empty list: give at least one pair of labels, or a strategy such as 'all'.")
    return np.array(chosen)


def _auto(moments: Moments, rng: np.random.RandomState, n_pairs: int | None) -> Contrasts:
    k = moments.n_classes
    if k <= ALL_PAIRS_UP_TO:
        return _of_pairs(moments, all_pairs(k))
    return _of_pairs(moments, hypercube_pairs(k, rng, n_pairs or auto_count(k)))


def _all(moments: Moments, rng: np.random.RandomState, n_pairs: int | None) -> Contrasts:
    return _of_pairs(moments, all_pairs(moments.n_classes))


def _hypercube(moments: Moments, rng: np.random.RandomState, n_pairs: int | None) -> Contrasts:
    return _of_pairs(moments, hypercube_pairs(moments.n_classes, rng, n_pairs))


def _random(moments: Moments, rng: np.random.RandomState, n_pairs: int | None) -> Contrasts:
    k = moments.n_classes
    return _of_pairs(moments, random_pairs(k, n_pairs or default_count(k), rng))


def _stratified(moments: Moments, rng: np.random.RandomState, n_pairs: int | None) -> Contrasts:
    k = moments.n_classes
    return _of_pairs(moments, stratified_pairs(k, n_pairs or default_count(k), rng))


def _one_vs_rest(moments: Moments, rng: np.random.RandomState, n_pairs: int | None) -> Contrasts:
    everyone = np.arange(moments.n_classes)
    return _of_classes(moments, [moments.pool(everyone != c) for c in everyone], "rest")


def _one_vs_all(moments: Moments, rng: np.random.RandomState, n_pairs: int | None) -> Contrasts:
    return _of_classes(moments, [None] * moments.n_classes, "all")


def _per_class(moments: Moments, rng: np.random.RandomState, n_pairs: int | None) -> Contrasts:
    return _of_classes(moments, [IDENTITY] * moments.n_classes, IDENTITY)


def _of_classes(moments: Moments, below: Sequence[Mixture | str], name: str) -> Contrasts:
    """Every class over what stands below it."""
    return Contrasts(list(enumerate(below)), np.array([(str(c), name) for c in moments.classes]))


STRATEGIES: dict[str, Callable[[Moments, np.random.RandomState, int | None], Contrasts]] = {
    "auto": _auto,
    "all": _all,
    "hypercube": _hypercube,
    "random": _random,
    "stratified": _stratified,
    "one-vs-rest": _one_vs_rest,
    "one-vs-all": _one_vs_all,
    "per-class": _per_class,
    "contractions": contractions,
}
"""What `GEMFeatures` takes for ``class_pairs`` by name."""
