"""The same file gives the same columns, labels and values through rows.open, read_table and the command."""

import bz2
import csv
import gzip
import io
import lzma

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from typer.testing import CliRunner

import eigenfeat.rows
from eigenfeat import load
from eigenfeat.cli.app import app
from eigenfeat.cli.data import Reading, read_rows
from eigenfeat.rows import read_table
from eigenfeat.tables.cells import numbers

N = 36
NAMES = ("width", "größe")
X = np.round(np.random.default_rng(0).normal(size=(N, 2)), 3)
KINDS = np.array(["rose", "tulip", "iris"])[np.arange(N) % 3]


def lines(labels=KINDS, delimiter=",", end="\n", quoting=csv.QUOTE_MINIMAL, cells=X, names=NAMES):
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator=end, quoting=quoting)
    writer.writerows([[*names, "kind"], *([*row, label] for row, label in zip(np.asarray(cells).tolist(), labels))])
    return stream.getvalue()


def cycled(*labels):
    return [labels[i % len(labels)] for i in range(N)]


def with_gaps(word):
    cells = X.astype(object).copy()
    cells[5, 0] = cells[9, 1] = word
    return cells


HOLES = X.copy()
HOLES[5, 0] = HOLES[9, 1] = np.nan
utf8 = str.encode


def zstd(content):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


# File: its content, the labels and the values that every reader finds in it.
TEXT = {
    # delimiters and lines
    "commas.csv": (utf8(lines()), KINDS, X),
    "semicolons.csv": (utf8(lines(delimiter=";")), KINDS, X),
    "tabs.tsv": (utf8(lines(delimiter="\t")), KINDS, X),
    "tabs.csv": (utf8(lines(delimiter="\t")), KINDS, X),
    "pipes.txt": (utf8(lines(delimiter="|")), KINDS, X),
    "blanks.dat": (utf8(lines(delimiter=" ")), KINDS, X),
    "UPPER.CSV": (utf8(lines()), KINDS, X),
    "windows lines.csv": (utf8(lines(end="\r\n")), KINDS, X),
    "no last line.csv": (utf8(lines().rstrip()), KINDS, X),
    "blank lines.csv": (utf8("\n" + lines().replace("\n", "\n\n")), KINDS, X),
    "blanks after commas.csv": (utf8(lines(cells=[[f" {a}", f" {b}"] for a, b in X])), KINDS, X),
    "all quoted.csv": (utf8(lines(quoting=csv.QUOTE_ALL)), KINDS, X),
    "delimiters in cells.csv": (utf8(lines(cycled("a, b", 'say "x"'))), cycled("a, b", 'say "x"'), X),
    "lines in cells.csv": (utf8(lines(cycled("two\nlines", "one"))), cycled("two\nlines", "one"), X),
    # encodings
    "mark.csv": (lines().encode("utf-8-sig"), KINDS, X),
    "utf16.csv": (lines().encode("utf-16"), KINDS, X),
    "cp1252.csv": (lines(cycled("weiß", "é")).encode("cp1252"), cycled("weiß", "é"), X),
    "utf8.csv": (utf8(lines(cycled("weiß", "日本"))), cycled("weiß", "日本"), X),
    # compressions
    "packed.csv.gz": (gzip.compress(utf8(lines())), KINDS, X),
    "packed.tsv.bz2": (bz2.compress(utf8(lines(delimiter="\t"))), KINDS, X),
    "packed.csv.xz": (lzma.compress(utf8(lines())), KINDS, X),
    "packed.csv.zst": (zstd(utf8(lines())), KINDS, X),
    "PACKED.CSV.GZ": (gzip.compress(utf8(lines())), KINDS, X),
    # labels
    "whole.csv": (utf8(lines(cycled("1", "2", "10"))), cycled(1, 2, 10), X),
    "codes.csv": (utf8(lines(cycled("007", "7"))), cycled("007", "7"), X),
    "late code.csv": (utf8(lines([*cycled("7", "8")[:-1], "007"])), [*cycled("7", "8")[:-1], "007"], X),
    "late word.csv": (utf8(lines([*cycled("7", "8")[:-2], "x", "x"])), [*cycled("7", "8")[:-2], "x", "x"], X),
    "broken.csv": (utf8(lines(cycled("0.5", "1", "1e3"))), cycled(0.5, 1.0, 1000.0), X),
    "thousands.csv": (utf8(lines(cycled("1,200", "950"), ";")), cycled(1200.0, 950.0), X),
    "decimal commas.csv": (utf8(lines(cycled("1,5", "2"), ";")), cycled(1.5, 2.0), X),
    "signs.csv": (utf8(lines(cycled("+", "-"))), cycled("+", "-"), X),
    "truth.csv": (utf8(lines(cycled("true", "false"))), cycled("true", "false"), X),
    # missing words
    **{
        f"missing {number}.csv": (utf8(lines(cells=with_gaps(word))), KINDS, HOLES)
        for number, word in enumerate(["", "NA", "n/a", "nan", "NULL", "?", "-", "None", " na "])
    },
}


def frame():
    return pd.DataFrame(dict(zip(NAMES, X.T)) | {"kind": KINDS})


def table(labels=KINDS):
    return pa.table(dict(zip(NAMES, X.T)) | {"kind": labels})


def write_xlsx(path):
    pytest.importorskip("openpyxl")
    frame().to_excel(path, index=False)


TYPED = {
    "t.parquet": (lambda path: pq.write_table(table(), path), KINDS),
    "numbers.parquet": (lambda path: pq.write_table(table(cycled(1, 2)), path), cycled(1, 2)),
    "codes.parquet": (lambda path: pq.write_table(table(cycled("1", "007")), path), cycled("1", "007")),
    "categories.PQ": (lambda path: frame().astype({"kind": "category"}).to_parquet(path), KINDS),
    "t.feather": (lambda path: feather.write_feather(table(), path), KINDS),
    "polars.arrow": (lambda path: polars.from_arrow(table()).write_ipc(path), KINDS),
    "stream.arrow": (lambda path: path.write_bytes(_stream(table())), KINDS),
    "t.xlsx": (write_xlsx, KINDS),
}


def _stream(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def whole(source):
    """Values and labels of a pass."""
    blocks = list(source.blocks(7))
    return np.concatenate([b.X for b in blocks]), np.concatenate([b.y for b in blocks])


def check(path, labels, values, names=NAMES):
    source = eigenfeat.rows.open(path, label="kind", missing=np.nan)
    rows = read_rows(str(path), Reading(("kind",)))
    read = read_table(path, label="kind")
    assert source.names == read.names == tuple(rows.X.column_names) == names
    X_source, y_source = whole(source)
    X_command = np.column_stack([numbers(column) for column in rows.X.columns])
    for X_found, y_found in ((X_source, y_source), (read.X, read.y), (X_command, rows.y)):
        np.testing.assert_array_equal(X_found, values)
        assert y_found.tolist() == list(labels)
        assert [type(y) for y in y_found.tolist()] == [type(y) for y in list(np.asarray(labels).tolist())]
        assert y_found.dtype.kind == y_source.dtype.kind


def fitted(path, folder):
    arguments = [
        "fit",
        str(path),
        "--label",
        "kind",
        "-m",
        "lda",
        "--task",
        "classification",
        "--holdout",
        "0",
        "--quiet",
    ]
    result = CliRunner().invoke(app(), [*arguments, "-o", str(folder / "m.skops"), "--force"])
    assert result.exit_code == 0, result.output
    return load(folder / "m.skops")


@pytest.mark.parametrize("name", TEXT)
def test_text(name, tmp_path):
    content, labels, values = TEXT[name]
    path = tmp_path / name
    path.write_bytes(content)
    check(path, labels, values)


@pytest.mark.parametrize("name", TYPED)
def test_typed(name, tmp_path):
    make, labels = TYPED[name]
    make(tmp_path / name)
    check(tmp_path / name, labels, X)


@pytest.mark.parametrize(
    "name", ["commas.csv", "codes.csv", "cp1252.csv", "missing 5.csv", "whole.csv", "packed.csv.xz"]
)
def test_the_command_itself(name, tmp_path):
    content, labels, _ = TEXT[name]
    path = tmp_path / name
    path.write_bytes(content)
    model = fitted(path, tmp_path)
    assert model.classes_.tolist() == sorted(set(np.asarray(labels).tolist()))
    assert list(model.feature_names_in_) == list(NAMES)


def test_arrays(tmp_path):
    y = np.arange(N) % 3
    np.save(tmp_path / "t.npy", np.column_stack([X, y]))
    np.savez(tmp_path / "t.npz", X=X, kind=y)
    for name, label in (("t.npy", "x2"), ("t.npz", "kind")):
        read = read_table(tmp_path / name, label=label)
        rows = read_rows(str(tmp_path / name), Reading((label,)))
        X_source, y_source = whole(eigenfeat.rows.open(tmp_path / name, label=label))
        assert read.names is None and rows.X.column_names == ["x0", "x1"]
        for found in (X_source, read.X, np.column_stack([numbers(column) for column in rows.X.columns])):
            np.testing.assert_array_equal(found, X)
        assert y_source.tolist() == read.y.tolist() == rows.y.tolist() == y.tolist()


@pytest.mark.parametrize("name", ["t.svm", "t.LIBSVM", "t.svmlight.gz"])
def test_svmlight(name, tmp_path):
    content = io.BytesIO()
    dump_svmlight_file(X, np.arange(N) % 3, content)
    content = content.getvalue()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    read = read_table(tmp_path / name)
    rows = read_rows(str(tmp_path / name), Reading())
    blocks = list(eigenfeat.rows.open(tmp_path / name).blocks(7))
    for found in (sparse.vstack([block.X for block in blocks]), read.X, rows.X):
        np.testing.assert_allclose(found.toarray(), X)
    labels = [np.concatenate([block.y for block in blocks]), read.y, rows.y]
    assert all(y.tolist() == (np.arange(N) % 3).tolist() for y in labels)


def test_the_standard_input(tmp_path, monkeypatch):
    frame().to_parquet(tmp_path / "t.parquet")
    write_xlsx(tmp_path / "t.xlsx")
    contents = [content for content, *_ in (TEXT[name] for name in ("semicolons.csv", "utf16.csv", "packed.csv.gz"))]
    for content in (
        *contents,
        (tmp_path / "t.parquet").read_bytes(),
        (tmp_path / "t.xlsx").read_bytes(),
        _file(table()),
    ):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        read = read_table("-", label="kind")
        np.testing.assert_array_equal(read.X, X)
        assert read.names == NAMES and read.y.tolist() == KINDS.tolist()
    with pytest.raises(ValueError, match="standard input cannot be read again"):
        eigenfeat.rows.open("-")


def _file(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


# ---------------------------------------------------------------------- files that are wrong


WRONG = {
    "empty.csv": (b"", "it is empty"),
    "names twice.csv": (b"kind,kind,a\n1,2,3\n", "several columns are called 'kind'"),
    "numbers for names.csv": (b"1,2\n3,4\n", "it must name the columns"),
    "no rows.csv": (b"a,kind\n", "no rows"),
    "short line.csv": (b"a,kind\n1,x\n2\n", "line 3: 1 cells where the header has 2"),
    "no label.csv": (b"a,b\n1,2\n", "no column 'kind' for the label"),
    "zero bytes.csv": (b"a,kind\n1,\x00\n", "zero bytes"),
    "open quote.csv": (b'a,kind\n1,"x\n' + b"1,y\n" * 5_000_000, "quote that is opened is never closed"),
    "no gzip.csv.gz": (b"\x1f\x8b no", "cannot be read"),
    "no parquet.parquet": (b"PAR1 no", "cannot be read"),
    "no arrow.arrow": (b"ARROW1 no", "cannot be read"),
    "no archive.npz": (b"PK no", "cannot be read"),
    "no workbook.xlsx": (b"PK no", "cannot be read"),
    "no numbers.svm": (b"1 1:a\n", "line 1"),
    "unknown.docx": (b"", "has the suffix '.docx'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_file_is_refused_alike(name, tmp_path):
    content, words = WRONG[name]
    path = tmp_path / name
    path.write_bytes(content)
    label = None if name.endswith(".svm") else "kind"
    readers = [
        lambda: whole(eigenfeat.rows.open(path, label=label)),
        lambda: read_table(path, label=label),
        lambda: read_rows(str(path), Reading(() if label is None else (label,))),
    ]
    for reader in readers:
        with pytest.raises(ValueError, match=words) as problem:
            reader()
        assert name in str(problem.value)
