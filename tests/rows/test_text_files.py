"""CSV and TSV: the rows that were written, plain or compressed; damage and text by column and row."""

import bz2
import gzip

import numpy as np
import pytest
from row_tables import CODES, NAMES, TEXT, WEIGHTS, X, assert_same, chunkings, table

import eigenfeat.rows
from eigenfeat.rows.readers import text as text_files

pytest.importorskip("pyarrow")


def text(delimiter=",", columns=None):
    columns = table() if columns is None else columns
    lines = [columns, *zip(*(np.asarray(column).tolist() for column in columns.values()))]
    return "".join(delimiter.join(map(str, line)) + "\n" for line in lines)


def written(path, content):
    opener = {".gz": gzip.open, ".bz2": bz2.open}.get(path.suffix, open)
    with opener(path, "wt") as stream:
        stream.write(content)
    return path


@pytest.fixture(params=["t.csv", "t.tsv", "t.csv.gz", "t.tsv.bz2"])
def path(request, tmp_path):
    return written(tmp_path / request.param, text("\t" if "tsv" in request.param else ","))


@pytest.fixture(params=[1 << 22, 1 << 10], ids=["one piece", "small pieces"])
def pieces(request, monkeypatch):
    monkeypatch.setattr(text_files, "PART_BYTES", request.param)


@chunkings
def test_the_rows_that_were_written(path, batch_size, pieces):
    source = eigenfeat.rows.open(path, label="kind", weight="w", drop=["code"])
    assert source.n_rows is None and source.names == tuple(NAMES) and source.dtype == np.float64
    assert_same(source, labels=TEXT, weights=WEIGHTS, batch_size=batch_size)


def test_integer_labels_columns_and_float32(path):
    source = eigenfeat.rows.open(path, label="code", columns=["d", "a"], dtype=np.float32)
    assert_same(source, X[:, [3, 0]], labels=CODES)


def test_a_label_named_later_and_another_delimiter(tmp_path):
    path = written(tmp_path / "t.txt", text(";"))
    source = eigenfeat.rows.open(path, columns=NAMES, delimiter=";").with_label("kind")
    assert_same(source, labels=TEXT)
    assert_same(eigenfeat.rows.open(path, delimiter=";", drop=["code", "w"]).with_label("kind"), labels=TEXT)


def test_filters(path, pieces):
    source = eigenfeat.rows.open(path, label="kind", columns=NAMES, filter=[("code", "!=", 1)])
    assert_same(source, X[CODES != 1], labels=TEXT[CODES != 1])


def test_numbers_that_start_whole_and_become_broken(tmp_path, monkeypatch):
    monkeypatch.setattr(text_files, "PART_BYTES", 64)
    path = written(tmp_path / "t.csv", "a,b\n" + "1,2\n" * 50 + "1.5,2\n")
    assert held_sum(eigenfeat.rows.open(path)) == 50 * 3 + 3.5


def held_sum(source):
    return sum(block.X.sum() for block in source.blocks())


@pytest.mark.parametrize("cell", ["", "NA", "nan"])
def test_missing_cells(tmp_path, cell):
    path = written(tmp_path / "t.csv", f"a,b\n1,2\n3,{cell}\n5,7\n")
    with pytest.raises(ValueError, match=r"column 'b' of .*t\.csv has a missing value in line 3"):
        held_sum(eigenfeat.rows.open(path))
    assert held_sum(eigenfeat.rows.open(path, missing="mean")) == 18 + 4.5
    assert held_sum(eigenfeat.rows.open(path, missing="drop")) == 15


def test_a_label_that_says_it_is_missing_is_refused(tmp_path):
    path = written(tmp_path / "t.csv", "a,country\n3,DE\n1,NA\n")
    with pytest.raises(
        ValueError, match=r"'country' of .*t\.csv holds 'NA', .*missing, in line 3: .* spell it another"
    ):
        list(eigenfeat.rows.open(path, label="country").blocks())


def test_text_in_the_first_rows(tmp_path):
    path = written(tmp_path / "t.csv", "a,b\n1,2\n3,oops\n")
    with pytest.raises(
        ValueError, match=r"t\.csv: column 'b' holds 'oops' in line 3: features must be numbers.*drop=\['b'\]"
    ):
        held_sum(eigenfeat.rows.open(path))


def test_text_far_down(tmp_path, monkeypatch):
    monkeypatch.setattr(text_files, "PART_BYTES", 64)
    path = written(tmp_path / "t.csv", "a,b,k\n" + "1,2,3\n" * 50 + "1,oops,3\n")
    with pytest.raises(ValueError, match=r"t\.csv: column 'b' holds 'oops' in line 52: features must be numbers"):
        held_sum(eigenfeat.rows.open(path, label="k"))
    path = written(tmp_path / "t.csv", "a,b,k\n" + "1,2,3\n" * 50 + "1,2,other\n")
    assert {"3", "other"} == {cell for block in eigenfeat.rows.open(path, label="k").blocks() for cell in block.y}


def test_lines_of_another_length(tmp_path):
    path = written(tmp_path / "t.csv", "a,b\n1,2\n3\n")
    with pytest.raises(ValueError, match=r"t\.csv: line 3: 1 cells where the header has 2 \('3'\)"):
        held_sum(eigenfeat.rows.open(path))


@pytest.mark.parametrize(
    ("content", "words"),
    [("", "it is empty"), ("1,2\n3,4\n", "the first line holds numbers; it must name the columns")],
)
def test_files_without_a_header(tmp_path, content, words):
    with pytest.raises(ValueError, match=words):
        eigenfeat.rows.open(written(tmp_path / "t.csv", content))


def test_a_header_and_nothing_else(tmp_path):
    with pytest.raises(ValueError, match=r"t\.csv has no rows to read"):
        held_sum(eigenfeat.rows.open(written(tmp_path / "t.csv", "a,b\n")))


def test_a_truncated_archive(tmp_path):
    path = written(tmp_path / "t.csv.gz", text())
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match=r"t\.csv\.gz cannot be read \(Truncated"):
        held_sum(eigenfeat.rows.open(path, columns=NAMES))
