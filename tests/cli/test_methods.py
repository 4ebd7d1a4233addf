"""What can be fitted by name."""

import pytest

from eigenfeat import FisherLDA, GEMRegressor
from eigenfeat.cli.methods import AUTO, DESCRIPTIONS, METHODS, class_names, named, on_table


def test_names():
    assert isinstance(named("gem", "regression", {}), GEMRegressor)
    model = named("FisherLDA", "classification", {"ridge": 0.1})
    assert isinstance(model, FisherLDA) and model.ridge == 0.1
    assert "TableEncoder" not in class_names()
    for task, names in AUTO.items():
        assert set(names) <= set(METHODS[task]) <= set(DESCRIPTIONS)
    with pytest.raises(ValueError, match="no method 'lad' for classification; there are auto, gem"):
        named("lad", "classification", {})
    with pytest.raises(ValueError, match="no parameter rigde; it has"):
        named("gem", "classification", {"rigde": 1})


def test_large_tables_are_float32():
    assert on_table(FisherLDA(), 10**9, {})[0].dtype == "float32"
    assert len(on_table(FisherLDA(), 10, {}, is_sparse=True)) == 1
