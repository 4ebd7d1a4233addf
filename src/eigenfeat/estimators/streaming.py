"""Row sources at the edge: blocks are checked as they pass, as arrays are before a fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from scipy import sparse

from eigenfeat._runtime.config import current
from eigenfeat.estimators.magnitudes import check_magnitudes
from eigenfeat.estimators.validation import class_weights
from eigenfeat.rows.accumulators import ClassCounts, Collect
from eigenfeat.rows.block import Block, Matrix, dense
from eigenfeat.rows.dask import dask_rows, is_dask
from eigenfeat.rows.functions import EncodeLabels
from eigenfeat.rows.rows import Rows


@dataclass(frozen=True, eq=False)
class BlockCheck:
    """A block function: rows must be finite, with the labels that are needed and weights that are not negative.

    Attributes
    ----------
    kind : {"classes", "numbers", "values"} or None
        What labels must be: classes, numbers, or anything; None leaves them out.
    estimator : str
        Who needs them.
    names : tuple of str or None
        Of the columns.
    row_wise : bool
        Whether rows may be asked for in any order: those that a fitted model is applied to.
    """

    kind: str | None
    estimator: str
    names: tuple[str, ...] | None
    row_wise: bool = False

    def __call__(self, block: Block) -> Block:
        check_finite(block.X, block.start, self.names)
        check_magnitudes(block.X, self.names, new=True)
        self._check_weights(block)
        return replace(block, y=None if self.kind is None else self._checked_labels(block))

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


def streamed(estimator: Any, source: Any, y: Any, sample_weight: Any, kind: str | None) -> Rows:
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
        As in `BlockCheck`.
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
    return source.map(BlockCheck(kind, type(estimator).__name__, source.names))


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


def encoded(source: Rows, counts: ClassCounts, estimator: str) -> Rows:
    """Return the rows with indices into their classes, of which there must be enough, for labels."""
    if len(counts.classes) < 2:
        raise ValueError(
            f"{estimator} needs rows of at least two classes; y has only one class, {counts.classes.tolist()[0]!r}. "
            "Check the label column, or how the rows were split."
        )
    if not counts.counts.all():
        absent = counts.classes.tolist()[int(np.argmin(counts.counts))]
        raise ValueError(f"Class {absent!r} has no row of positive weight: leave its rows out, or weight one of them.")
    return source.map(EncodeLabels(counts.classes), n_rows=counts.n_rows, class_counts=counts.coded())


def with_class_weights(rows: Rows, class_weight: Any, classes: np.ndarray) -> Rows:
    """Multiply the weights of encoded rows by one number a class: it counts in a last stage, not in moments."""
    counts = rows.class_counts
    if class_weight is None or counts is None:
        return rows
    of_classes = class_weights(class_weight, classes, counts.classes, counts.weights)
    return rows.map(EncodeLabels(counts.classes, of_classes), class_counts=counts.coded(of_classes))


def fits_memory(rows: Rows, counts: ClassCounts, n_numbers: int) -> bool:
    """Tell whether a fit in memory, with so many numbers a row beside scores and labels, keeps to the budget."""
    bytes_per_row = n_numbers * rows.dtype.itemsize + 64 * len(counts.classes)
    return may_load(rows) and counts.n_rows * bytes_per_row <= current().memory_budget


def may_load(rows: Rows) -> bool:
    """Tell whether rows are read here, and dense: sparse ones would be far larger in memory."""
    return rows.is_local and not rows.is_sparse


def logit_rows(estimator: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Rows, np.ndarray]:
    """What a `MultinomialLogit` is fitted to, and its classes: a stream, or rows memory holds."""
    source = streamed(estimator, X, y, sample_weight, "classes")
    counts = source.reduce(ClassCounts(), "labels")
    stream, classes = encoded(source, counts, type(estimator).__name__), counts.classes
    if fits_memory(stream, counts, stream.n_columns):
        rows = stream.load()
        return replace(rows, y=classes[rows.y]), classes
    weighted = with_class_weights(stream, estimator.class_weight, classes)
    return weighted, classes


def stream_targets(source: Rows) -> tuple[np.ndarray, np.ndarray | None, Any]:
    """Targets, weights and keys, where they are there, of a stream, which quantiles and splits need whole: one pass."""
    block = source.map(_without_columns, n_columns=0).reduce(Collect(), "targets").block()
    assert block is not None
    return np.asarray(block.y), block.weight, block.keys


def _without_columns(block: Block) -> Block:
    return replace(block, X=np.empty((block.n_rows, 0)))


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
    return source.map(BlockCheck(None, name, source.names, row_wise=True))


def package_version() -> str:
    try:
        return version("eigenfeat")
    except PackageNotFoundError:  # run from its source
        return "unknown"


def refuse_source(estimator: Any, source: Any) -> None:
    """For what needs rows in memory, with the way out."""
    raise ValueError(
        f"{type(estimator).__name__} needs its rows in memory here, and {type(source).__name__} is read a block at a "
        "time: load the rows first (source.load(), or compute() of Dask) if they fit, pass arrays block "
        "by block where there is a partial_fit, or use an estimator that streams: GEMClassifier, GEMRegressor, "
        "GEMFeatures, MultinomialLogit, KernelFisherClassifier, DenoisingAutoencoder, or one that fits from moments "
        "(RayleighFeatures, FisherLDA, OrientedPCA, VanishingComponents, SlicedInverseRegression, LeastSquaresLDA, "
        "-CCA, -OPLS, -Features)."
    )
