"""One layer of GEM: the directions of many contrasts (Algorithm 1, lines 1-5), and what is asked of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigenfeat.features.maps import FEATURE_MAPS, FeatureMap
from eigenfeat.features.orientation import orient_by_skewness
from eigenfeat.features.pairs import Contrasts, auto_directions, choose_contrasts, compares_classes, most_contrasts
from eigenfeat.features.subclasses import Subclasses, between_subclasses
from eigenfeat.moments import Moments, SymmetricForm
from eigenfeat.quotients import NO_REGULARISATION, Quotient, Regularisation, contrast
from eigenfeat.rows.rows import Rows
from eigenfeat.solvers import Directions, solve
from eigenfeat.stages import Affine, FeatureLayer

NO_SIGNAL = 1e-6
"""A direction with a smaller ratio responds to nothing: beyond the rank of a class there are only such."""

MANY_NUMBERS = 1e7
"""In matrices of all classes, below which they are quick to make: 80 MB."""

LOW_RANK = 4
"""Times fewer rows than columns that a class has, on average, before its moments are kept as rows: of 1000 classes with
45 rows of 576 columns a fit takes 9 s so, and 100 s with matrices (trials)."""

LEAST_RIDGE = 0.01
"""Below which inner products of float32 rows lose what matrices in float64 hold."""

AUTO_PER_PAIR = 30
"""Directions a pair that ``n_components=None`` takes at most."""


@dataclass(frozen=True)
class LayerSettings:
    """What a layer is asked for, already checked; see `GEMFeatures` for the meaning of each."""

    class_pairs: str | Sequence = "auto"
    n_pairs: int | None = None
    n_components: int | None = None
    min_eigenvalue: float | None = None
    max_components: int | None = None
    noise: str = "second_moment"
    regularisation: Regularisation = NO_REGULARISATION
    feature_map: FeatureMap = FEATURE_MAPS["soft-cubic"]
    keep_inputs: bool = True
    constant: bool = False
    max_columns: int | None = None
    """Columns its map may make of the directions when ``n_components`` does not say how many."""
    solver: str = "auto"
    tol: float | None = None
    n_jobs: int | None = None

    def most_directions(self, n_classes: int, n_rows: int, n_columns: int, n_subclasses: int = 1) -> int:
        """Directions at most that the layer will find in rows of which only the numbers are known."""
        n_contrasts = most_contrasts(self.class_pairs, n_classes, self.n_pairs) * n_subclasses**2
        found = n_contrasts * min(_per_pair(self, n_contrasts, n_classes, n_rows), n_columns)
        limit = most_kept(self)
        return found if limit is None else min(found, limit)

    def uses_dual_moments(self, n_classes: int, n_rows: int | None, n_columns: int, largest: int | None) -> bool:
        """The dual (row) form of moments pays: class covariances are large and of low rank, and only pairs of classes
        are contrasted. False if the size of the ``largest`` class is unknown."""
        if n_rows is None or largest is None or largest > n_columns:
            return False
        if n_classes * n_columns**2 < MANY_NUMBERS or LOW_RANK * n_rows > n_classes * n_columns:
            return False
        ridge = self.regularisation
        ridged = ridge.shape == "identity" and ridge.shrinkage is None and ridge.ridge >= LEAST_RIDGE
        plain = self.noise == "second_moment" and self.solver == "auto" and ridged
        return plain and compares_classes(self.class_pairs)

    def narrowed(self, n_columns: int, n_given: int) -> LayerSettings:
        """See `eigenfeat.features.stack.StackSettings.narrowed`."""
        if not self.feature_map.is_pointwise:
            return self
        if self.n_components is None:
            return replace(self, max_columns=min(n_columns, self.max_columns or n_columns))
        most = max(1, n_given // self.feature_map.n_columns(1))
        return replace(self, max_components=min(most, self.max_components or most))

    def with_ridge(self, ridge: float) -> LayerSettings:
        """The same with another ridge."""
        return replace(self, regularisation=replace(self.regularisation, ridge=ridge))


@dataclass(frozen=True, eq=False)
class LayerDirections:
    """The directions of a layer, contrast by contrast, strongest first, and what is known of each.

    Attributes
    ----------
    projection : Affine
        On all of them.
    eigenvalues, residuals : (m,) arrays
    contrast : (m,) array of int
        Which contrast a direction comes from.
    names : (n_contrasts, 2) array
        Labels of numerator and denominator.
    solver : str
    criterion : str
        What the contrasts are in `eigenfeat.quotients.CRITERIA`.
    """

    projection: Affine
    eigenvalues: np.ndarray
    residuals: np.ndarray
    contrast: np.ndarray
    names: np.ndarray
    solver: str
    criterion: str

    @property
    def n_directions(self) -> int:
        return len(self.eigenvalues)

    @property
    def pairs(self) -> np.ndarray:
        """(m, 2): labels of numerator and denominator of each direction."""
        return self.names[self.contrast]

    @property
    def rank_in_contrast(self) -> np.ndarray:
        """(m,): 0 for the strongest direction of each contrast, 1 for the next, and so on."""
        return np.arange(self.n_directions) - np.searchsorted(self.contrast, self.contrast)

    def subset(self, keep: np.ndarray) -> LayerDirections:
        """Some of the directions, by ascending index."""
        return replace(
            self,
            projection=self.projection.columns(keep),
            eigenvalues=self.eigenvalues[keep],
            residuals=self.residuals[keep],
            contrast=self.contrast[keep],
        )

    def at_most(self, count: int | None) -> LayerDirections:
        """The ``count`` directions of largest eigenvalue, in the order they stood in; all where there are no more."""
        if count is None or self.n_directions <= count:
            return self
        return self.subset(np.sort(np.argsort(-self.eigenvalues, kind="stable")[:count]))

    def thinned(self, min_eigenvalue: float, n_components: int) -> LayerDirections:
        """What a lower number a contrast and a higher threshold leave; the best of each contrast where nothing is."""
        rank = self.rank_in_contrast
        keep = (self.eigenvalues >= min_eigenvalue) & (rank < n_components)
        return self.subset(np.flatnonzero(keep if keep.any() else rank == 0))


@dataclass(frozen=True, eq=False)
class LayerEvidence:
    """What the directions of a layer are found from.

    Attributes
    ----------
    moments : Moments
        Of the classes.
    rows : Rows, optional
        Those behind the moments, labelled with indices into the classes, or into the sub-classes where there are any;
        they settle the signs that means leave open.
    subclasses : Subclasses, optional
        Into which classes are cut.
    parts : Moments, optional
        Of the sub-classes.
    tangents : SymmetricForm, optional
        Added to every noise matrix.
    """

    moments: Moments
    rows: Rows | None = None
    subclasses: Subclasses | None = None
    parts: Moments | None = None
    tangents: SymmetricForm | None = None

    @property
    def has_codes(self) -> bool:
        """Whether rows are labelled as they should be: those of a stream may have labels of their own."""
        return self.rows is not None and has_codes(self.rows)


def has_codes(rows: Rows) -> bool:
    """Tell whether labels are indices into classes: those in memory are, those of a stream once they were counted."""
    return rows.y is not None if rows.random_access else rows.class_counts is not None


def find_layer(
    evidence: LayerEvidence, settings: LayerSettings, rng: np.random.RandomState, dtype: np.dtype
) -> LayerDirections:
    """Solve all contrasts of a layer and keep the directions the settings ask for (Algorithm 1, lines 1-5)."""
    moments = evidence.moments
    chosen = choose_contrasts(moments, settings.class_pairs, rng, settings.n_pairs)
    if evidence.subclasses is not None:
        assert evidence.parts is not None
        moments = evidence.parts
        chosen = between_subclasses(chosen, evidence.subclasses, moments)
    problems = _Problems(moments, chosen, settings, evidence.tangents)
    per_pair = _per_pair(settings, len(chosen), evidence.moments.n_classes, evidence.moments.counts.sum())
    found = problems.solve(
        per_pair,
        min_eigenvalue=max(settings.min_eigenvalue or 0.0, NO_SIGNAL),
        dtype=dtype,
        random_state=int(rng.randint(2**31 - 1)),
        run=None if evidence.rows is None or evidence.rows.is_local else evidence.rows.starmap,
    )
    if not any(directions.n_directions for directions in found):
        found = problems.solve(1, dtype=dtype)  # no eigenvalue reaches the threshold: keep the best of each contrast
    if evidence.rows is not None and evidence.has_codes:
        found = orient_by_skewness(found, problems.references, chosen.mixtures, moments, evidence.rows)
    return _joined(found, problems, chosen.names).at_most(most_kept(settings))


class _Problems:
    """The quotients of a layer's contrasts, built and solved in rounds of as many as memory holds.

    Attributes
    ----------
    references, origins : lists
        Those of each quotient, once it has been solved.
    kind : str
        Criterion of the quotients.
    """

    def __init__(
        self, moments: Moments, contrasts: Contrasts, settings: LayerSettings, tangents: SymmetricForm | None
    ) -> None:
        self.moments, self.contrasts, self.settings, self.tangents = moments, contrasts, settings, tangents
        self.references: list[np.ndarray | None] = [None] * len(contrasts)
        self.origins: list[np.ndarray | None] = [None] * len(contrasts)
        self.kind = ""

    def solve(self, n_components: int, **options: Any) -> list[Directions]:
        """Directions of every contrast, in their order."""
        order: list[int] = []
        settings = self.settings
        found = solve(
            self._rounds(order),
            n_components,
            solver=settings.solver,
            tol=settings.tol,
            n_jobs=settings.n_jobs,
            **options,
        )
        return [found[i] for i in np.argsort(order)]

    def _rounds(self, order: list[int]) -> Iterator[list[Quotient]]:
        """Build the quotients of each round; ``order`` is extended by their positions."""
        mixtures, names = self.contrasts.mixtures, self.contrasts.names
        for positions in self.moments.rounds(mixtures, centred=self.settings.noise == "covariance"):
            quotients = contrast(
                self.moments,
                [mixtures[i] for i in positions],
                [f"{names[i][0]} vs {names[i][1]}" for i in positions],
                self.settings.noise,  # type: ignore[arg-type]
                self.settings.regularisation,
                self.tangents,
            )
            for i, quotient in zip(positions, quotients):
                self.references[i], self.origins[i] = quotient.references, quotient.origin
            self.kind = quotients[0].kind
            order += positions
            yield quotients
            del quotients  # with its matrices, before the next round collects its own


def unit_scale(moments: Moments) -> np.ndarray:
    """What brings the inputs to a mean square of one over all columns together.

    One number for all: a scale of its own would blow up a column that is nearly always zero, such as a pixel at the
    edge.
    """
    mean_square = moments.second_moment().mean_diagonal()
    return np.full(moments.n_features, 1.0 / np.sqrt(mean_square) if mean_square > 0 else 1.0)


def direction_parts(rows: Rows, layer: FeatureLayer, coefficients: np.ndarray) -> np.ndarray:
    """(m,): variance over rows of what each direction adds to the scores ``rows @ coefficientsᵀ``, summed over scores.

    The rows are those a layer makes. Columns of a direction are those a map of single projections makes of it; a map
    of several together has no such.
    """
    n_directions = layer.projection.vectors.shape[1]
    n_mapped = layer.feature_map.n_columns(n_directions)
    if n_mapped % n_directions or n_mapped != n_directions * layer.feature_map.n_columns(1):
        raise ValueError(f"The map {layer.feature_map.name!r} mixes directions: none has a part of its own.")
    first = rows.n_columns - n_mapped
    W = coefficients[:, first:].reshape(len(coefficients), -1, n_directions)
    total, squares = np.zeros((len(W), n_directions)), np.zeros((len(W), n_directions))
    for block in rows.blocks(256):
        functions = block.X[:, first:].reshape(len(block.X), -1, n_directions)
        for c, weights in enumerate(W):
            part = np.einsum("nfm,fm->nm", functions, weights)
            total[c] += part.sum(axis=0)
            squares[c] += np.einsum("nm,nm->m", part, part)
    variance = squares / rows.n_rows - (total / rows.n_rows) ** 2
    return np.maximum(variance, 0).sum(axis=0)


def _per_pair(settings: LayerSettings, n_pairs: int, n_classes: int, n_rows: float) -> int:
    if settings.n_components is not None:
        return settings.n_components
    total = auto_directions(n_classes, n_rows)
    if settings.max_columns is not None:
        total = min(total, settings.max_columns // settings.feature_map.n_columns(1))
    return int(np.clip(total // n_pairs, 1, AUTO_PER_PAIR))


def most_kept(settings: LayerSettings) -> int | None:
    """Directions in all at most."""
    if settings.max_components is not None or settings.n_components is not None or settings.max_columns is None:
        return settings.max_components
    return max(1, settings.max_columns // settings.feature_map.n_columns(1))


def _joined(found: list[Directions], problems: _Problems, names: np.ndarray) -> LayerDirections:
    """Concatenate the directions of all contrasts."""
    single = [Affine.about(f.vectors.economical, origin) for f, origin in zip(found, problems.origins)]
    biases = [part.bias for part in single if part.bias is not None]
    vectors = type(single[0].vectors).joined([part.vectors for part in single])
    return LayerDirections(
        Affine(vectors, np.concatenate(biases) if biases else None),
        np.concatenate([f.values for f in found]),
        np.concatenate([f.residuals for f in found]),
        np.repeat(np.arange(len(found)), [f.n_directions for f in found]),
        names,
        found[0].solver,
        problems.kind,
    )
