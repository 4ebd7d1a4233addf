"""A transformer from tables as people have them to columns of comparable numbers."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from eigenfeat._sklearn import COUNT, Interval, Real, StrOptions, checked_fit
from eigenfeat.estimators.column_scaler import COLUMNS_CONSTRAINT, ColumnScaler
from eigenfeat.estimators.edge import Estimator
from eigenfeat.tables.description import EncodedColumn, EncodedColumns
from eigenfeat.tables.frames import array_columns, as_arrow, is_frame
from eigenfeat.tables.plans import ColumnPlan
from eigenfeat.tables.rules import KINDS, Finding, Limits, find

ROWS_AT_A_TIME, TILE_ROWS = 65_536, 1024


class TableEncoder(TransformerMixin, Estimator):
    r"""Columns of a table as numbers of comparable size: numbers, categories, dates, truth values, with gaps.

    What a column is, is found from its cells (`eigenfeat.tables.rules`) and said in ``columns_``:

    - *numbers*, also with thousands separators, decimal commas, per cent and currency signs; gaps get the median;
    - *truth values*, also as words such as yes and no;
    - *categories*: a column of 0 and 1 a value. Rare values share one, which values unseen in `fit` get too;
    - *dates*, in ISO or the usual national orders: a trend in days, and month, weekday and hour on a circle where the
      table spans more than one turn;
    - a column that says where cells were missing, where that has to do with y (at the level 0.01);
    - columns with one value, columns equal to another, identifiers and free text are left out, by name.

    Then every column is brought to a comparable size as by `ColumnScaler`.

    Parameters
    ----------
    kinds : dict, optional
        Kinds of columns by their names, instead of what would be found: "number", "boolean", "category", "date" or
        "drop".
    max_categories : int
        Columns of one category at most, not counting that of rare values.
    min_frequency : "auto", int or float
        Rows that a value needs for a column of its own, never fewer than 2; below 1, a share of the rows. "auto" is
        0.5 % of the rows and at least 5, or 2 where there are fewer than 100.
    columns : as in `ColumnScaler`
        Sizes; "none" leaves numbers as they are, as for estimators that see to it themselves.
    dtype : {"float64", "float32"}
        Of the output.

    Attributes
    ----------
    columns_ : `eigenfeat.tables.EncodedColumns`
        Name, kind, missing cells, outputs and reason of every column; prints as a table.
    plans_ : tuple
        What is made of each column that is used (`eigenfeat.tables.plans`).
    inputs_ : (n_outputs,) array of int
        Which column of the table each output was made of.
    scaler_ : `ColumnScaler`
    n_features_in_, feature_names_in_

    Notes
    -----
    Built on pyarrow's compute functions and `ColumnScaler`, not on scikit-learn's ``OneHotEncoder`` and
    ``SimpleImputer``, nor on skrub's ``TableVectorizer``: ``benchmarks/tables.py`` compares the three.

    Examples
    --------
    >>> import pandas as pd
    >>> from eigenfeat import TableEncoder
    >>> table = pd.DataFrame({
    ...     "price": ["1,200", "950", None, "2,100"],
    ...     "kind": ["old", "new", "new", "old"],
    ...     "country": ["IT"] * 4,
    ... })
    >>> encoder = TableEncoder().fit(table)
    >>> print(encoder.columns_)
    column   kind      missing  outputs   why
    price    number    1        1         numbers with thousands separators; missing cells get the median
    kind     category           1         2 values
    country  constant           left out  every row has 'IT'
    >>> encoder.get_feature_names_out().tolist()
    ['price', 'kind=new']
    """

    _takes_sparse = False
    _parameter_constraints: dict = {
        "kinds": [None, Mapping],
        "max_categories": [COUNT],
        "min_frequency": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "columns": COLUMNS_CONSTRAINT,
        "dtype": [StrOptions({"float64", "float32"})],
    }

    def __init__(self, kinds=None, *, max_categories=30, min_frequency="auto", columns="auto", dtype="float64"):
        self.kinds = kinds
        self.max_categories = max_categories
        self.min_frequency = min_frequency
        self.columns = columns
        self.dtype = dtype

    @checked_fit
    def fit(self, X, y=None):
        """Find what every column is.

        Parameters
        ----------
        X : pandas, polars or Arrow table, structured array, dict of columns, or (n, d) array
        y : (n,) array, optional
            Decides where missing cells inform; everything else is found without it.

        Returns
        -------
        self
        """
        names, columns = self._columns_of(X, reset=True)
        n_rows = len(columns[0])
        known_y = None if y is None else np.asarray(y)
        if known_y is not None and len(known_y) != n_rows:
            raise ValueError(f"X has {n_rows} rows and y has {len(known_y)}: give one label a row.")
        asked = self._asked(names)
        limits = Limits(self.max_categories, self._fewest_rows(n_rows))
        found = [find(name, column, known_y, limits, asked.get(name)) for name, column in zip(names, columns)]
        encoded = self._without_twins(names, columns, found)
        self._keep(names, found)
        if not encoded:
            raise ValueError(
                f"TableEncoder finds nothing to learn from in {n_rows} row(s) and {len(names)} column(s) (n_samples = "
                f"{n_rows}): {_some(self.columns_.left_out())}. Say what a column is with kinds=."
            )
        self.scaler_ = ColumnScaler(columns=self.columns).fit(np.hstack(encoded))
        return self

    def _fewest_rows(self, n_rows: int) -> int:
        if self.min_frequency == "auto":
            return max(2 if n_rows < 100 else 5, int(np.ceil(0.005 * n_rows)))
        return max(2, int(np.ceil(self.min_frequency * (n_rows if self.min_frequency < 1 else 1))))

    def _asked(self, names: list[str]) -> dict[str, str]:
        asked = dict(self.kinds or {})
        absent, unknown = sorted(set(asked) - set(names)), sorted(set(map(str, asked.values())) - set(KINDS))
        if absent:
            raise ValueError(f"kinds= names columns that are not there: {', '.join(absent)}; there are {names[:8]}.")
        if unknown:
            raise ValueError(f"kinds= knows {', '.join(KINDS)}, not {', '.join(unknown)}.")
        return asked

    def _without_twins(self, names: list[str], columns: list[Any], found: list[Finding]) -> list[np.ndarray]:
        """Encoded columns; of those that are equal the first, the others are marked as such in ``found``."""
        seen: dict[bytes, tuple[str, int]] = {}
        encoded: list[np.ndarray] = []
        for j, finding in enumerate(found):
            if finding.plan is None:
                continue
            values, _ = finding.plan.apply(columns[j])
            key = hashlib.blake2b(np.ascontiguousarray(values[:, 0]).tobytes(), digest_size=16).digest()
            twin, place = seen.get(key, ("", 0))
            if twin and np.array_equal(encoded[place], values):
                found[j] = Finding("duplicate", None, f"the same as {twin}", finding.n_missing)
                continue
            seen.setdefault(key, (names[j], len(encoded)))
            encoded.append(values.astype(self.dtype, copy=False))
        return encoded

    def _keep(self, names: list[str], found: list[Finding]) -> None:
        self.plans_: tuple[ColumnPlan, ...] = tuple(f.plan for f in found if f.plan is not None)
        widths = [0 if f.plan is None else len(f.plan.outputs) for f in found]
        self.inputs_ = np.repeat(np.arange(len(found)), widths)
        self.columns_ = EncodedColumns.of(
            [
                EncodedColumn(name, f.kind, f.n_missing, width, f.flagged, f.reason)
                for name, f, width in zip(names, found, widths)
            ]
        )

    def transform(self, X):
        """Numbers of every row.

        Parameters
        ----------
        X : as in `fit`
            With the columns of `fit`. Cells that cannot be read count as missing, with a warning that names them.

        Returns
        -------
        (n, n_outputs) array
        """
        check_is_fitted(self, "plans_")
        _, columns = self._columns_of(X, reset=False)
        n_rows = len(columns[0])
        out = np.empty((n_rows, len(self.inputs_)), dtype=self.dtype)
        wrong: dict[str, tuple[int, int, Any]] = {}
        used = np.unique(self.inputs_)
        for start in range(0, n_rows, ROWS_AT_A_TIME):
            stop = min(start + ROWS_AT_A_TIME, n_rows)
            blocks = []
            for plan, j in zip(self.plans_, used):
                cells = columns[j].slice(start, stop - start)
                values, unread = plan.apply(cells)
                blocks.append(values)
                if unread.any():
                    first = int(np.argmax(unread))
                    count, row, cell = wrong.get(plan.name, (0, start + first, cells[first].as_py()))
                    wrong[plan.name] = (count + int(unread.sum()), row, cell)
            if self._leaves_numbers:
                _side_by_side(blocks, out[start:stop])
            else:
                out[start:stop] = self.scaler_.transform(np.hstack(blocks))
        if wrong:
            words = (f"{name!r}: {n} (row {row + 1}: {cell!r})" for name, (n, row, cell) in wrong.items())
            warnings.warn(f"Cells that cannot be read count as missing: {'; '.join(words)}.", stacklevel=2)
        return out

    @property
    def _leaves_numbers(self) -> bool:
        """Whether numbers stay as they are: then the scaler has nothing to do."""
        return isinstance(self.columns, str) and self.columns == "none"

    def get_feature_names_out(self, input_features=None):
        """Names of the outputs: of the column, and of the value or part."""
        check_is_fitted(self, "plans_")
        return np.array([name for plan in self.plans_ for name in plan.outputs], dtype=object)

    def _columns_of(self, X: Any, reset: bool) -> tuple[list[str], list[Any]]:
        """Names and cells of a table, held against those of `fit`."""
        if sparse.issparse(X):
            raise TypeError("Sparse data was passed, but TableEncoder takes tables: give sparse rows to the estimator.")
        if not is_frame(X):
            X = validate_data(
                self,
                X,
                dtype=None,
                ensure_all_finite="allow-nan",
                accept_sparse=False,
                reset=reset,
                ensure_min_samples=1,
            )
            names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(X.shape[1])])
            return list(map(str, names)), array_columns(X)
        table = as_arrow(X)
        if table.num_rows == 0 or table.num_columns == 0:
            raise ValueError(
                f"Found array with {table.num_rows} sample(s) and {table.num_columns} feature(s) "
                f"(shape=({table.num_rows}, {table.num_columns})) while a minimum of 1 is required by TableEncoder."
            )
        validate_data(self, X if hasattr(X, "columns") else table, skip_check_array=True, reset=reset)
        return table.column_names, table.columns

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _side_by_side(blocks: list[np.ndarray], out: np.ndarray) -> None:
    """Columns after columns, some rows at a time: these stay in cache until all of their columns are there."""
    edges = np.cumsum([0, *(block.shape[1] for block in blocks)])
    for start in range(0, len(out), TILE_ROWS):
        tile = slice(start, start + TILE_ROWS)
        for block, first, last in zip(blocks, edges, edges[1:]):
            out[tile, first:last] = block[tile]


def _some(left_out: Mapping[str, str], limit: int = 8) -> str:
    words = [f"{name} ({reason})" for name, reason in left_out.items()]
    return "; ".join(words[:limit]) + (f" and {len(words) - limit} more" if len(words) > limit else "")
