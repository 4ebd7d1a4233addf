"""What is lost when a column is shuffled."""

import numpy as np
import pyarrow as pa

from eigenfeat import FisherLDA, make_tabular
from eigenfeat.cli.data import Rows
from eigenfeat.cli.importance import dominant, importance


def test_the_column_that_says_it_all():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    y = (X[:, 2] > 0).astype(int)
    table = pa.table({name: X[:, j] for j, name in enumerate("abcd")})
    model = make_tabular(FisherLDA()).fit(table, y)
    found = importance(model, Rows(table, y, ("y",), "made"), "classification")
    assert next(iter(found)) == "c" == dominant(found)
    assert dominant({"a": (1.0, 0.1), "b": (1.0, 0.1), "c": (0.9, 0.1)}) is None
