"""Row sources at the edge: blocks are checked as they pass, as arrays are before a fit."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from scipy import sparse

from eigenfeat.estimators.magnitudes import check_magnitudes
from eigenfeat.estimators.row_keys import row_keys
from eigenfeat.estimators.validation import class_weights
from eigenfeat.rows.UNKNOWN import CodedStream, RowView, StreamView, first_rows
from eigenfeat.rows.accumulators import Accumulator, ClassCounts
from eigenfeat.rows.block import Block, Matrix, Selection, dense
from eigenfeat.rows.rows import ArrayRows, RandomAccessRows, Rows
from eigenfeat.rows.streaming import current
from eigenfeat.rows.dask import dask_rows, is_dask
from eigenfeat.rows.UNKNOWN import HeldRows


@dataclass(frozen=True, eq=False)
class CheckedStream(StreamView):
    """A source whose blocks are finite, with the labels that are needed and weights that are not negative.

    Attributes
    ----------
    kind : {"classes", "numbers", "values"} or None
        What labels must be: classes, numbers, or anything; None leaves them out.
    estimator : str
        Who needs them.
    """

    kind: str | None
    estimator: str

    @property
    def lens(self) -> BlockCheck:
        return BlockCheck(self.kind, self.estimator, self.names)


@dataclass(frozen=True, eq=False)
class BlockCheck:
    """The checks of a `CheckedStream`, made where the rows are."""

    kind: str | None
    estimator: str
    names: tuple[str, ...] | None

    def __call__(self, block: Block) -> tuple[Block]:
        check_finite(block.X, block.start, self.names)
        check_magnitudes(block.X, self.names, new=True)
        self._check_weights(block)
        return (replace(block, y=None if self.kind is None else self._checked_labels(block)),)

    def _check_weights(self, block: Block) -> None:
        weights = block.weight
        if weights is not None and not (np.isfinite(weights) & (weights >= 0)).all():
            wrong = weights[~(np.isfinite(weights) & (weights >= 0))][0]
            raise ValueError(
                f"Weights of rows must be zero or positive; from row {block.start + 1} on there is {wrong}."
            )

    def _checked_labels(self, block: Block) -> np.ndarray:
        labels = block.y
        if labels is None:
            raise ValueError(
                f"{self.estimator} requires labels, and this source has none: name their column, fit(source, "
                'y="column") or eigenfeat.rows.open(..., label="column").'
            )
        if labels.dtype.kind == "f" and not np.isfinite(labels).all():
            raise ValueError(f"Labels contain NaN or infinity after row {block.start}: leave such rows out.")
        if self.kind == "numbers":
            return labels.astype(np.float64)
        if labels.ndim > 1:
            raise ValueError(f"{self.estimator} takes one label a row; this source has {labels.shape[1]}.")
        if self.kind == "classes" and labels.dtype.kind == "f" and (labels != np.floor(labels)).any():
            value = labels[labels != np.floor(labels)][0]
            raise ValueError(f"{self.estimator} needs classes as labels, and {value} is a continuous value.")
        return labels


@dataclass(frozen=True, eq=False)
class CheckedRows(RowView):
    """Rows that are finite, in any order."""

    def rows(self, selection: Selection) -> Matrix:
        rows = self.source.rows(selection)
        check_finite(rows, selection.start or 0 if isinstance(selection, slice) else 0, self.names)
        check_magnitudes(rows, self.names, new=True)
        return rows


def check_finite(rows: Matrix, start: int, names: tuple[str, ...] | None) -> None:
    """Refuses NaN and infinity by row, counted from ``start``, and column."""
    values = rows.data if sparse.issparse(rows) else rows
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        rows = dense(rows)
        row, column = np.argwhere(~np.isfinite(rows))[0]
        raise ValueError(
            f"Input X contains NaN or infinity: the first is {rows[row, column]} in row {start + row + 1}, column "
            f"{repr(names[column]) if names else column}. Fill it in (missing= of eigenfeat.rows.open) or leave such "
            "rows out."
        )


def streamed(estimator: Any, source: Any, y: Any, sample_weight: Any, kind: str | None) -> CheckedStream:
    """A source to fit on: how wide its rows are and what its columns are called is kept in the estimator.

    Parameters
    ----------
    estimator : Estimator
    source : Rows or Dask collection
    y : None or str
        The column that holds the labels, where the source does not say; of Dask, partitions of labels.
    sample_weight : None
        Weights come with the rows; of Dask, as y.
    kind : {"classes", "numbers", "values"} or None
        As in `CheckedStream`.
    """
    if is_dask(source):
        source, y, sample_weight = dask_rows(source, y, sample_weight), None, None
    if sample_weight is not None or not (y is None or isinstance(y, str)):
        raise ValueError(
            "A row source brings labels and weights with its rows: y is the name of a column or None, sample_weight is "
            "None. Name columns in eigenfeat.rows.open(..., label=, weight=), or give arrays of known length as "
            "eigenfeat.rows.as_rows(source, labels, weights)."
        )
    source = source if y is None else source.with_label(y)
    estimator.n_features_in_ = source.n_columns
    if source.names is not None:
        estimator.feature_names_in_ = np.array(source.names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    _begin_checkpoint(estimator, source)
    return CheckedStream(source, kind, type(estimator).__name__)


def _begin_checkpoint(estimator: Any, source: Rows) -> None:
    """Refuses a checkpoint of another fit."""
    checkpoint = current().checkpoint
    if checkpoint is None:
        return
    if getattr(estimator, "random_state", 0) is None:
        raise ValueError("A fit that is to be resumed must be repeatable: give random_state a number, not None.")
    settings = {name: repr(value) for name, value in sorted(estimator.get_params(deep=True).items())}
    checkpoint.begin(
        {
            "version": f"eigenfeat {package_version()}, numpy {np.__version__}",
            "estimator": type(estimator).__name__,
            "settings": repr(settings),
            "data": source.identity,
        }
    )


def is_stream(X: Any) -> bool:
    """Whether rows are not an array but a source of them, or a Dask collection."""
    return isinstance(X, Rows) or is_dask(X)


def refuse_beside_stream(**given: Any) -> None:
    """Arrays that go with the rows, where the rows are read a block at a time."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(
                f"{name} goes with rows in memory, and a row source is read a block at a time: leave it out."
            )


def coded(source: Rows, totals: ClassCounts, estimator: str) -> CodedStream:
    """A stream whose labels become indices into its classes, of which there are enough."""
    if len(totals.classes) < 2:
        raise ValueError(
            f"{estimator} needs rows of at least two classes; y has only one class, {totals.classes.tolist()[0]!r}. "
            "Check the label column, or how the rows were split."
        )
    if not totals.counts.all():
        absent = totals.classes.tolist()[int(np.argmin(totals.counts))]
        raise ValueError(f"Class {absent!r} has no row of positive weight: leave its rows out, or weight one of them.")
    return CodedStream(source, totals)


def holds(stream: CodedStream, width: int) -> bool:
    """Whether a fit in memory, with so many numbers a row beside scores and labels, keeps to the limit."""
    a_row = width * stream.dtype.itemsize + 64 * len(stream.totals.classes)
    return may_be_held(stream) and stream.n_rows * a_row <= current().budget


def may_be_held(stream: CodedStream) -> bool:
    """Whether rows are read here, and dense: sparse ones would be far larger in memory."""
    return stream.is_local and not has_sparse_blocks(stream)


def held_rows(stream: CodedStream) -> ArrayRows:
    """All rows of a stream in memory, with codes and weights."""
    kept = HeldRows(stream, stream.n_rows)
    kept.fill()
    assert kept.X is not None
    return ArrayRows(kept.X, kept.y, kept.weight)


def logit_rows(estimator: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Rows, Any, np.ndarray]:
    """What a `MultinomialLogit` is fitted to, keys of its rows, and its classes: a stream, or rows memory holds."""
    source = streamed(estimator, X, y, sample_weight, "classes")
    stream = coded(source, source.reduce(ClassCounts(), "labels"), type(estimator).__name__)
    classes, totals = stream.totals.classes, stream.totals
    if holds(stream, stream.n_columns):
        rows = held_rows(stream)
        keys = row_keys(rows.X) if estimator.label_smoothing else None
        return replace(rows, y=classes[rows.y]), keys, classes
    by_class = None
    if estimator.class_weight is not None:
        by_class = class_weights(estimator.class_weight, classes, np.arange(len(classes)), totals.weights)
    return replace(stream, by_class=by_class), row_keys if estimator.label_smoothing else None, classes


@dataclass(eq=False)
class Targets(Accumulator):
    """Labels and weights of all rows, in their order: the one thing of a stream that quantiles need whole."""

    labels: list[np.ndarray] = field(default_factory=list)
    weights: list[np.ndarray] = field(default_factory=list)

    def update(self, block: Block) -> None:
        assert block.y is not None
        self.labels.append(block.y)
        if block.weight is not None:
            self.weights.append(block.weight)

    def merge(self, other: Targets) -> None:
        self.labels, self.weights = [*self.labels, *other.labels], [*self.weights, *other.weights]


def stream_targets(source: Rows) -> tuple[np.ndarray, np.ndarray | None]:
    """Targets and weights of a stream: one pass."""
    found = source.reduce(Targets(), "targets")
    return np.concatenate(found.labels), np.concatenate(found.weights) if found.weights else None


def has_sparse_blocks(source: Rows) -> bool:
    """Which its first row tells."""
    return sparse.issparse(first_rows(source, 1))


def streamed_new(estimator: Any, source: Rows) -> Rows:
    """A source for a model that has been fitted: as wide as its training rows, with the same columns."""
    name = type(estimator).__name__
    if source.n_columns != estimator.n_features_in_:
        raise ValueError(f"X has {source.n_columns} columns, but {name} was fitted with {estimator.n_features_in_}.")
    fitted = getattr(estimator, "feature_names_in_", None)
    if source.names is not None and fitted is not None and list(fitted) != list(source.names):
        other = next((a, b) for a, b in zip(fitted, source.names) if a != b)
        raise ValueError(
            f"{name} was fitted with a column {other[0]!r} where this source has {other[1]!r}: open it with "
            "columns=list(model.feature_names_in_)."
        )
    return CheckedRows(source) if isinstance(source, RandomAccessRows) else CheckedStream(source, None, name)


def package_version() -> str:
    try:
        return version("eigenfeat")
    except PackageNotFoundError:  # run from its source
        return "unknown"


def refuse_source(estimator: Any, source: Any) -> None:
    """For what needs rows in memory, with the way out."""
    raise ValueError(
        f"{type(estimator).__name__} needs its rows in memory here, and {type(source).__name__} is read a block at a "
        "time: hold the rows first (eigenfeat.rows.held(source), or compute() of Dask) if they fit, pass arrays block "
        "by block where there is a partial_fit, or use an estimator that streams: GEMClassifier, GEMRegressor, "
        "GEMFeatures, MultinomialLogit, KernelFisherClassifier, DenoisingAutoencoder, or one that fits from moments "
        "(RayleighFeatures, FisherLDA, OrientedPCA, VanishingComponents, SlicedInverseRegression, LeastSquaresLDA, "
        "-CCA, -OPLS, -Features)."
    )
