"""Files in, arrays out, and messages that say where a file is wrong."""

import os
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eigenfeat.rows import read_table, write_table
from eigenfeat.rows.readers import text
from eigenfeat.rows.writers import check_output


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
@pytest.mark.parametrize("labels", [[0, 1, 1], ["a", "b c", 'd"e,']], ids=["numbers", "text"])
def test_what_is_written_comes_back(suffix, labels, tmp_path):
    path = tmp_path / f"rows{suffix}"
    X = np.array([[1.0, 0.1], [1e-300, -2.5], [np.nan, 3.0]])
    write_table(path, {"left": X[:, 0], "right": X[:, 1], "label": np.array(labels)})
    table = read_table(path)
    np.testing.assert_array_equal(table.X, X)
    assert table.y.tolist() == labels
    assert table.names == ("left", "right")
    assert read_table(path, columns=["right"]).X[:, 0].tolist() == X[:, 1].tolist()


def test_cells_that_are_no_numbers_are_counted(tmp_path):
    (tmp_path / "bad.csv").write_text("a,b\n" + "1,2\n" * 20 + "x,y\nx,1\n")
    with pytest.raises(ValueError, match=r"column 'a' holds 'x' in line 22, and 1 more"):
        read_table(tmp_path / "bad.csv")


def test_dates_are_no_numbers(tmp_path):
    pd.DataFrame({"when": pd.to_datetime(["2024-01-01"]), "y": [1]}).to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match="TableEncoder"):
        read_table(tmp_path / "rows.parquet")


def test_npz(tmp_path):
    X, y = np.arange(6, dtype=np.float32).reshape(3, 2), np.array(["u", "v", "u"])
    write_table(tmp_path / "rows.npz", {"X": X, "y": y})
    table = read_table(tmp_path / "rows.npz")
    assert table.X.dtype == np.float32
    assert table.y.tolist() == ["u", "v", "u"]
    np.savez(tmp_path / "other.npz", data=X)
    with pytest.raises(ValueError, match="no array 'X'"):
        read_table(tmp_path / "other.npz")


def test_parquet_categories(tmp_path):
    frame = pd.DataFrame({"x": [1, 2], "kind": pd.Categorical(["p", "q"])})
    frame.to_parquet(tmp_path / "rows.parquet")
    assert read_table(tmp_path / "rows.parquet", label="kind").y.tolist() == ["p", "q"]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a,b\n1,2\n3\n", {}, "line 3: 1 cells where the header has 2"),
        ("a,b\n", {}, "has no rows"),
        ("", {}, "it is empty"),
        ("1,2\n3,4\n", {}, "must name the columns"),
        ("a,b\n1,2\n3,red\n", {}, "column 'b' holds 'red' in line 3"),
        ("a,b\n1,2\n", {"label": "c"}, "no column 'c' for the label; it has 'a', 'b'"),
        ("a,b\n1,2\n", {"drop": ["c"]}, "no column 'c' to drop"),
        ("a,b\n1,2\n", {"columns": ["a", "z"]}, "no column 'z' for the features; it has 'a', 'b'"),
        ("a,y\n1,2\n3,\n", {}, "label column 'y' .* is empty in line 3"),
        ("y\n1\n", {}, "no feature columns"),
    ],
)
def test_faults_are_located(text, options, message, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_table(path, **options)


def test_unknown_formats_and_absent_files(tmp_path):
    with pytest.raises(ValueError, match=r"tables are read from .csv, .tsv"):
        (tmp_path / "rows.docx").touch()
        read_table(tmp_path / "rows.docx")
    with pytest.raises(FileNotFoundError, match="no file"):
        read_table(tmp_path / "rows.csv")


def test_a_pipe_is_read_once_from_its_start(tmp_path):
    path = tmp_path / "rows.csv"
    os.mkfifo(path)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(path.write_text, "a,b,y\n1,2,u\n3,4,v\n")
        table = read_table(path)
    assert table.X.tolist() == [[1, 2], [3, 4]] and table.y.tolist() == ["u", "v"]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_name_twice_is_refused(suffix, tmp_path):
    path = tmp_path / f"rows{suffix}"
    if suffix == ".csv":
        path.write_text("a,b,a\n1,2,3\n")
    else:
        pq.write_table(pa.table([pa.array([1.0])] * 3, names=["a", "b", "a"]), path)
    with pytest.raises(ValueError, match="several columns are called 'a'"):
        read_table(path)


DAMAGED = {
    "no zip": (".npz", b"PK nothing"),
    "a zip cut short": (".npz", None),
    "no Parquet": (".parquet", b"PAR1 nothing"),
    "an empty Parquet file": (".parquet", b""),
    "no text": (".csv", b"a,b\n1,\xff\xfe\n"),
    "a quote that never ends": (".csv", b'a,b\n1,"' + b"x" * (3 * text.MAX_RECORD_BYTES)),
    "no Arrow": (".arrow", b"ARROW1 no"),
    "no gzip": (".csv.gz", b"\x1f\x8b no"),
    "no workbook": (".xlsx", b"PK no"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_files_are_refused_by_name(case, tmp_path):
    suffix, content = DAMAGED[case]
    path = tmp_path / f"rows{suffix}"
    if content is None:
        np.savez(path, X=np.ones((5, 2)), y=np.arange(5))
        content = path.read_bytes()[:-30]
    path.write_bytes(content)
    with pytest.raises(ValueError, match=re.escape(str(path))):
        read_table(path)


def test_npz_of_something_else_is_refused(tmp_path):
    np.savez(tmp_path / "text.npz", X=np.array([["a"]]))
    with pytest.raises(ValueError, match="must be rows and columns of numbers"):
        read_table(tmp_path / "text.npz")
    np.savez(tmp_path / "objects.npz", X=np.array([[None]]), y=np.array([1]))
    with pytest.raises(ValueError, match="cannot be read"):
        read_table(tmp_path / "objects.npz")


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".npz"])
def test_what_cannot_be_written_leaves_the_old_file(suffix, tmp_path):
    path = tmp_path / f"rows{suffix}"
    write_table(path, {"X": np.ones(3)})
    before = path.read_bytes()

    class Breaks:
        def __array__(self, *_, **__):
            raise RuntimeError("no")

        def __len__(self):
            return 3

    with pytest.raises(Exception, match="no"):
        write_table(path, {"X": Breaks()})
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_outputs_are_checked_before_there_is_anything_to_write(tmp_path):
    with pytest.raises(ValueError, match="tables are written to"):
        check_output(tmp_path / "rows.docx")
    with pytest.raises(FileNotFoundError, match="no folder"):
        check_output(tmp_path / "absent" / "rows.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ValueError, match="a folder"):
        check_output(tmp_path / "folder.csv")
