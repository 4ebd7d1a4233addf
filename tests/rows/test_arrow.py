"""Columns of Arrow as rows, labels and weights; errors with their place; pyarrow that is not there."""

import numpy as np
import pytest

import eigenfeat.rows.arrow as arrow

pa = pytest.importorskip("pyarrow")


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.chunked_array([["x", "long"], ["x"]]), np.array(["x", "long", "x"])),
        (pa.chunked_array([[3, 1, 2]], pa.int8()), np.array([3, 1, 2], dtype=np.int8)),
        (pa.chunked_array([[True, False]]), np.array([True, False])),
        (pa.chunked_array([pa.array(["b", "a", "b"]).dictionary_encode()]), np.array(["b", "a", "b"])),
        (pa.chunked_array([[0.5, 1.5]], pa.float32()), np.array([0.5, 1.5], dtype=np.float32)),
    ],
)
def test_labels_keep_their_kind(column, expected):
    labels = arrow.label_values(column, "y", "the file", 0)
    np.testing.assert_array_equal(labels, expected)
    assert labels.dtype == expected.dtype


def test_an_empty_label_is_refused_by_row():
    with pytest.raises(ValueError, match="column 'y' of the file is empty in row 13: every row needs its label"):
        arrow.label_values(pa.chunked_array([["a"], ["b", None]]), "y", "the file", 10)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (pa.float32(), np.float32),
        (pa.int16(), np.int16),
        (pa.bool_(), np.float64),
        (pa.decimal128(5, 2), np.float64),
        (pa.null(), np.float64),
        (pa.string(), None),
        (pa.timestamp("s"), None),
        (pa.list_(pa.float64()), None),
    ],
)
def test_which_columns_hold_numbers(kind, expected):
    assert arrow.numpy_type(kind) == expected


def test_cells_that_say_a_number():
    assert all(map(arrow.is_number, ["1", " 2e3", 4, None, "", "nan"]))
    assert not any(map(arrow.is_number, ["x", "1,5", [1]]))


def test_filters_as_lists_are_expressions():
    assert arrow.as_expression(None) is None
    expression = arrow.as_expression([("a", ">", 1), ("b", "==", "x")])
    assert pa.table({"a": [1, 2, 3], "b": ["x", "x", "y"]}).filter(expression).num_rows == 1
    assert arrow.as_expression(expression) is expression


def test_errors_say_where():
    with (
        pytest.raises(ValueError, match=r"the file cannot be read: bad magic\. It may be truncated"),
        arrow.named_errors("the file"),
    ):
        raise pa.ArrowInvalid("bad magic")


def test_without_pyarrow_the_way_to_install_it_is_said(monkeypatch, tmp_path):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(arrow, "import_module", missing)
    (tmp_path / "t.csv").write_text("a\n1\n")
    with pytest.raises(ImportError, match="pip install pyarrow"):
        import eigenfeat.rows

        eigenfeat.rows.open(tmp_path / "t.csv")
