"""Results of a model for Dask collections: as collections, made when somebody asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Verb:
    """A method of a fitted model, as a function of a block of rows."""

    model: Any
    name: str
    empty: np.ndarray
    """What it makes of no rows."""

    def __call__(self, block: Any) -> np.ndarray:
        return getattr(self.model, self.name)(block) if block.shape[0] else self.empty


def lazy_results(model: Any, name: str, X: Any, names: Sequence[str] | None, n_columns: int) -> Any:
    """What a method of a model makes of a Dask collection: an array of Dask, or a list of delayed blocks for a list.

    Parameters
    ----------
    model : estimator
        Fitted.
    name : str
        Of the method.
    X : Dask array, dataframe or list of delayed blocks
    names : sequence of str or None
        Columns of a dataframe that the model was fitted to.
    n_columns : int
        That it was fitted to.
    """
    array, delayed = import_module("dask.array"), import_module("dask").delayed
    if isinstance(X, list | tuple):
        return [delayed(getattr(model, name))(block) for block in X]
    is_frame = hasattr(X, "to_dask_array")
    if is_frame and names is not None and set(names) <= set(X.columns):
        X = X[list(names)]
    width = len(X.columns) if is_frame else X.shape[1]
    if width != n_columns:
        raise ValueError(f"X has {width} columns, but {type(model).__name__} was fitted with {n_columns}.")
    kind = np.float32 if not is_frame and X.dtype == np.float32 else np.float64
    example = getattr(model, name)(X._meta_nonempty if is_frame else np.zeros((2, n_columns), dtype=kind))
    verb = Verb(model, name, example[:0])
    if is_frame:
        blocks = [
            array.from_delayed(delayed(verb)(part), (np.nan, *example.shape[1:]), dtype=example.dtype)
            for part in X.to_delayed()
        ]
        return array.concatenate(blocks, allow_unknown_chunksizes=True)
    X = X if X.numblocks[1] == 1 else X.rechunk({1: -1})
    if example.ndim == 1:
        return X.map_blocks(verb, dtype=example.dtype, drop_axis=1, meta=verb.empty)
    return X.map_blocks(verb, dtype=example.dtype, chunks=(X.chunks[0], (example.shape[1],)), meta=verb.empty)
