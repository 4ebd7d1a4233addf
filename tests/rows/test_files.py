"""Files in, arrays out, and messages that say where a file is wrong."""

import numpy as np
import pandas as pd
import pytest

import eigenfeat
from eigenfeat.rows import files, read_table, write_table


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
    assert read_table(path, features=["right"]).X[:, 0].tolist() == X[:, 1].tolist()


def test_long_files_are_read_in_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "CHUNK", 7)
    X, y = np.random.default_rng(0).standard_normal((50, 3)), np.arange(50) % 4
    for suffix in (".csv", ".parquet"):
        write_table(tmp_path / f"rows{suffix}", dict(zip("abc", X.T)) | {"y": y})
        table = read_table(tmp_path / f"rows{suffix}")
        np.testing.assert_array_equal(table.X, X)
        np.testing.assert_array_equal(table.y, y)
    (tmp_path / "bad.csv").write_text("a\n" + "1\n" * 20 + "x\n")
    with pytest.raises(ValueError, match="'x' in row 21"):
        read_table(tmp_path / "bad.csv")


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
        ("", {}, "no feature columns"),
        ("1,2\n3,4\n", {}, "must name the columns"),
        ("a,b\n1,2\n3,red\n", {}, "column 'b' .* holds 'red' in row 2"),
        ("a,b\n1,2\n", {"label": "c"}, "no column 'c' for the label; it has 'a', 'b'"),
        ("a,b\n1,2\n", {"drop": ["c"]}, "no column 'c' to drop"),
        ("a,b\n1,2\n", {"features": ["a", "z"]}, "lacks 1 of the 2 features asked for: 'z'"),
        ("a,y\n1,2\n3,\n", {}, "label column 'y' .* is empty in row 2"),
        ("y\n1\n", {}, "no feature columns"),
    ],
)
def test_faults_are_located(text, options, message, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_table(path, **options)


def test_unknown_formats_and_absent_files(tmp_path):
    with pytest.raises(ValueError, match=r"read from .csv, .tsv, .parquet, .npz"):
        read_table(tmp_path / "rows.xlsx")
    with pytest.raises(FileNotFoundError, match="no file"):
        read_table(tmp_path / "rows.csv")


def test_the_place_where_tables_were_says_where_they_are():
    with pytest.raises(AttributeError, match=r"eigenfeat.data is gone: use eigenfeat.rows \(read_table"):
        eigenfeat.data  # noqa: B018
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        eigenfeat.nothing  # noqa: B018
