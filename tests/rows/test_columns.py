"""Which columns are read, and what is said when they cannot be; missing values refused by name, filled in, left out."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import eigenfeat.rows

TEXT = "a,b,kind,w\n1,2,3,4\n5,6,7,8\n"
HOLES = "a,b,kind\n1,2,x\n,4,y\n5,?,z\n"


@pytest.fixture(params=["csv", "npy"])
def opened(request, tmp_path):
    """A function that opens the same table as text with names, and as an array by index."""
    if request.param == "csv":
        (tmp_path / "t.csv").write_text(TEXT)
        return lambda **options: eigenfeat.rows.open(tmp_path / "t.csv", **options)
    np.save(tmp_path / "t.npy", np.array([[1, 2, 3, 4], [5, 6, 7, 8]]))
    index = {"a": 0, "b": 1, "kind": 2, "w": 3}

    def code(value):
        return [code(one) for one in value] if isinstance(value, list) else index.get(value, value)

    return lambda **options: eigenfeat.rows.open(tmp_path / "t.npy", **{k: code(v) for k, v in options.items()})


def read(source):
    (block,) = source.blocks()
    return block


def test_features_are_what_is_nothing_else(opened):
    block = read(opened(label="kind", weight="w", drop=["b"]))
    assert block.X.tolist() == [[1], [5]] and block.y.tolist() == [3, 7] and block.weight.tolist() == [4, 8]


def test_features_in_the_order_they_are_asked_for_and_several_labels(opened):
    block = read(opened(columns=["w", "a"], label=["b", "kind"]))
    assert block.X.tolist() == [[4, 1], [8, 5]] and block.y.tolist() == [[2, 3], [6, 7]]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"label": "x"}, "no column 'x' for the label; it has "),
        ({"weight": "x"}, "no column 'x' for the weights"),
        ({"columns": ["a", "x"]}, "no column 'x' for the features; it has "),
        ({"drop": ["x"]}, "no column 'x' to drop"),
        ({"columns": ["a"], "label": "a"}, "cannot be a feature and a label"),
        ({"drop": ["a", "b", "kind", "w"]}, "no feature columns"),
    ],
)
def test_what_cannot_be_read_is_said_by_name(opened, options, words):
    with pytest.raises(ValueError, match=words):
        opened(**options)


def test_columns_are_a_list(tmp_path):
    (tmp_path / "t.csv").write_text(TEXT)
    with pytest.raises(ValueError, match="columns must be a list"):
        eigenfeat.rows.open(tmp_path / "t.csv", columns=3)


def test_columns_of_arrays_may_be_called_x0(tmp_path):
    np.save(tmp_path / "t.npy", np.array([[1, 2, 3], [5, 6, 7]]))
    np.savez(tmp_path / "t.npz", X=np.array([[1, 2], [5, 6]]), y=[3, 7], other=[0, 0, 0])
    for source in (
        eigenfeat.rows.open(tmp_path / "t.npy", label="x2"),
        eigenfeat.rows.open(tmp_path / "t.npz", label="y"),
        eigenfeat.rows.open(tmp_path / "t.npz", columns=[0, 1], label="y"),
    ):
        assert source.names is None
        assert read(source).X.tolist() == [[1, 2], [5, 6]] and read(source).y.tolist() == [3, 7]


def test_long_lists_of_names_are_cut(tmp_path):
    (tmp_path / "t.csv").write_text(",".join(f"c{j}" for j in range(12)) + "\n" + ",".join("1" * 12) + "\n")
    with pytest.raises(ValueError, match=r"it has 'c0', .*'c7' and 4 more"):
        eigenfeat.rows.open(tmp_path / "t.csv", label="kind")


# ---------------------------------------------------------------------- types


TYPED = [
    (pa.array([1.5, 2], pa.float32()), np.float32),
    (pa.array([1, 2], pa.int16()), np.float64),
    (pa.array([True, False]), np.float64),
    (pa.array([Decimal("1.25"), None], pa.decimal128(5, 2)), np.float64),
    (pa.array([None, None], pa.null()), np.float64),
    (pa.array(["1", " 2.5 "]), np.float64),
    (pa.array([3, 4]).dictionary_encode(), np.float64),
]


@pytest.mark.parametrize(("column", "dtype"), TYPED, ids=[str(column.type) for column, _ in TYPED])
def test_columns_that_hold_numbers(column, dtype, tmp_path):
    pq.write_table(pa.table({"a": column}), tmp_path / "t.parquet")
    source = eigenfeat.rows.open(tmp_path / "t.parquet", missing=-1)
    assert source.dtype == dtype
    assert read(source).X.ravel().tolist() == [-1 if cell is None else float(cell) for cell in column.to_pylist()]


@pytest.mark.parametrize("kind", [pa.timestamp("s"), pa.list_(pa.int64())], ids=str)
def test_columns_that_hold_none(kind, tmp_path):
    pq.write_table(pa.table({"a": pa.array([None, None], kind)}), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"column 'a' holds cells of the type .*TableEncoder"):
        read(eigenfeat.rows.open(tmp_path / "t.parquet"))


# ---------------------------------------------------------------------- missing values


@pytest.fixture
def holes(tmp_path):
    (tmp_path / "t.csv").write_text(HOLES)
    return lambda **options: eigenfeat.rows.open(tmp_path / "t.csv", label="kind", **options)


def test_refused_by_column_place_and_line(holes):
    with pytest.raises(ValueError, match=r"column 'a' of .*t\.csv has a missing value in line 3: fill it in .*drop"):
        read(holes())


def test_rows_left_out_take_labels_along(holes):
    block = read(holes(missing="drop"))
    assert block.X.tolist() == [[1, 2]] and block.y.tolist() == ["x"]


@pytest.mark.parametrize(("missing", "expected"), [(0.5, [0.5, 0.5]), ({"a": -1, "b": 7.0}, [-1, 7]), ("mean", [3, 3])])
def test_filled_in(missing, expected, holes):
    rows = read(holes(missing=missing, dtype=np.float32)).X
    assert rows.dtype == np.float32 and [rows[1, 0], rows[2, 1]] == expected


def test_columns_a_mapping_does_not_name_are_refused(holes):
    with pytest.raises(ValueError, match=r"column 'b' of .*t\.csv has a missing value in line 4"):
        read(holes(missing={"a": 0.0}))


def test_a_column_without_any_value_has_no_mean(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,\n2,NA\n")
    with pytest.raises(ValueError, match="column 'b' is missing in every row"):
        eigenfeat.rows.open(tmp_path / "t.csv", missing="mean")


def test_weights_are_there(tmp_path):
    (tmp_path / "t.csv").write_text("a,w\n1,2\n2,\n")
    with pytest.raises(ValueError, match=r"weight column 'w' of .*t\.csv is empty in line 3"):
        read(eigenfeat.rows.open(tmp_path / "t.csv", weight="w"))
