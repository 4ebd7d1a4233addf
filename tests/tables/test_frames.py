"""Every kind of table gives the same columns."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from eigenfeat.tables.frames import array_columns, as_arrow, is_frame

COLUMNS = {"a": [1.5, 2.5], "b": ["x", "y"]}


@pytest.mark.parametrize(
    "table",
    [
        COLUMNS,
        pd.DataFrame(COLUMNS),
        pl.DataFrame(COLUMNS),
        pa.table(COLUMNS),
        np.array([(1.5, "x"), (2.5, "y")], dtype=[("a", float), ("b", "U1")]),
    ],
    ids=["dict", "pandas", "polars", "arrow", "structured"],
)
def test_tables(table):
    assert is_frame(table)
    assert as_arrow(table).to_pydict() == COLUMNS


def test_mixed_cells_become_text_and_names_must_differ():
    assert as_arrow(pd.DataFrame({"m": [1, "a", None]})).to_pydict() == {"m": ["1", "a", None]}
    with pytest.raises(ValueError, match="several columns called 'a'"):
        as_arrow(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    assert not is_frame(np.ones((2, 2)))
    assert [column.to_pylist() for column in array_columns(np.array([[1, 2], [3, 4]]))] == [[1, 3], [2, 4]]
