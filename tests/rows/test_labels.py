"""Labels in text files: what is spelt differently stays different, what is missing is refused."""

import csv
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eigenfeat.rows
from eigenfeat.rows import read_table
from eigenfeat.rows.readers import text

CELLS = [
    (("1", "2", "10"), [1, 2, 10]),
    (("-1", "0", "1"), [-1, 0, 1]),
    (("007", "7"), ["007", "7"]),
    (("007", "012"), ["007", "012"]),
    (("1_0", "10"), ["1_0", "10"]),
    (("0.5", "1", "1e3"), [0.5, 1.0, 1000.0]),
    (("1.0", "2.0"), [1.0, 2.0]),
    (("1.", ".5", "+2"), [1.0, 0.5, 2.0]),
    (("1,200", "950", "-2,100.5"), [1200, 950, -2100.5]),
    (("1,5", "2", "1.200,5"), [1.5, 2, 1200.5]),
    (("1,20", "1.5"), ["1,20", "1.5"]),
    ((str(2**63), str(2**63 + 1)), [2**63, 2**63 + 1]),
    ((str(10**30), str(10**30 + 1)), [str(10**30), str(10**30 + 1)]),
    (("inf", "1"), ["inf", "1"]),
    (("a", "1"), ["a", "1"]),
    ((".", "1"), [".", "1"]),
    (("+", "-"), ["+", "-"]),
    (("none", "mild"), ["none", "mild"]),
    ((" 1", "1"), [" 1", "1"]),
    (("١", "1"), ["١", "1"]),  # an Arabic digit one
    (("true", "false"), ["true", "false"]),
]


def write(path, cells):
    with open(path, "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([["x", "y"], *([str(i), cell] for i, cell in enumerate(cells))])
    return path


@pytest.mark.parametrize(("cells", "expected"), CELLS, ids=[" ".join(cells) for cells, _ in CELLS])
def test_text_becomes_numbers_where_that_keeps_labels_apart(cells, expected, tmp_path):
    path = write(tmp_path / "t.csv", cells)
    assert read_table(path).y.tolist() == expected
    (block,) = eigenfeat.rows.open(path, label="y").blocks()
    assert block.y.tolist() == expected


def test_the_last_label_decides_for_all(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "PART_BYTES", 100)
    for last, expected in (("7", 7), ("007", "7"), ("7.5", 7.0), ("rose", "7")):
        source = eigenfeat.rows.open(write(tmp_path / "t.csv", ["7"] * 200 + [last]), label="y")
        first = next(source.blocks(10))
        assert first.y.tolist() == [expected] * 10 and type(first.y.tolist()[0]) is type(expected)


@given(st.lists(st.text(alphabet="01.-_e", min_size=1, max_size=4), min_size=1, max_size=8))
def test_distinct_spellings_stay_distinct_or_are_refused(cells):
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = read_table(write(Path(folder) / "t.csv", cells)).y.tolist()
        except ValueError:
            return
    assert len(set(found)) == len(set(cells))


def test_one_number_spelt_twice_is_refused_as_a_class_but_not_as_a_quantity(tmp_path):
    path = write(tmp_path / "t.csv", ["1", "1.0", "2"])
    for read in (read_table, lambda path: list(eigenfeat.rows.open(path, label="y").blocks())):
        with pytest.raises(ValueError, match=r"'y' of .*t\.csv holds '1' and '1.0': one number, two labels"):
            read(path)
    write(path, ["1", "1.0", *(str(i / 7) for i in range(2000))])
    assert read_table(path).y[:2].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("word", ["", "NA", "nan", "NaN", "null", "N/A", " na "])
@pytest.mark.parametrize("others", [["a"] * 5, ["1"] * 5], ids=["text", "numbers"])
def test_words_for_nothing_are_no_classes(word, others, tmp_path):
    path = write(tmp_path / "t.csv", [*others, word])
    for read in (read_table, lambda path: list(eigenfeat.rows.open(path, label="y").blocks())):
        with pytest.raises(ValueError, match=r"label column 'y' of .*t\.csv .* in line 7: every row needs a label"):
            read(path)


TYPED = [
    (pa.chunked_array([["x", "long"], ["x"]]), np.array(["x", "long", "x"])),
    (pa.chunked_array([["1", "2", "3"]]), np.array(["1", "2", "3"])),
    (pa.chunked_array([[3, 1, 2]], pa.int8()), np.array([3, 1, 2], dtype=np.int8)),
    (pa.chunked_array([[True, False, True]]), np.array([True, False, True])),
    (pa.chunked_array([pa.array(["b", "a", "b"]).dictionary_encode()]), np.array(["b", "a", "b"])),
    (pa.chunked_array([[0.5, 1.5, 2]], pa.float32()), np.array([0.5, 1.5, 2], dtype=np.float32)),
]


@pytest.mark.parametrize(("column", "expected"), TYPED, ids=[str(column.type) for column, _ in TYPED])
def test_labels_with_a_type_keep_it(column, expected, tmp_path):
    pq.write_table(pa.table({"x": [1.0, 2.0, 3.0], "y": column}), tmp_path / "t.parquet")
    (block,) = eigenfeat.rows.open(tmp_path / "t.parquet", label="y").blocks()
    for labels in (block.y, read_table(tmp_path / "t.parquet").y):
        np.testing.assert_array_equal(labels, expected)
        assert labels.dtype == expected.dtype


@pytest.mark.parametrize("column", [["a", None], [1.0, float("nan")], [1, None]], ids=["text", "nan", "null"])
def test_typed_labels_that_are_missing_are_refused(column, tmp_path):
    pq.write_table(pa.table({"x": [1.0, 2.0], "y": column}), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"label column 'y' of .*t\.parquet, row group 0 .*in row 2: every row needs"):
        read_table(tmp_path / "t.parquet")
