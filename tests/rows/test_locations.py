"""Where files are: lists, globs, folders with partitions, other file systems; spreadsheets without a reader."""

import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from row_tables import CODES, NAMES, TEXT, N, X, assert_same, table

import eigenfeat.rows
from eigenfeat.cli.data import Reading, read_rows
from eigenfeat.rows import read_table

PARTS = np.array_split(np.arange(N), 3)


def part(rows, columns=(*NAMES, "kind")):
    return pa.table({name: values[rows] for name, values in table().items() if name in columns})


def csv_text(rows):
    return part(rows).to_pandas().to_csv(index=False)


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".csv":
        path.write_text(csv_text(rows))
    else:
        pq.write_table(part(rows), path)


@pytest.fixture(params=["csv", "parquet"])
def files(request, tmp_path):
    paths = [tmp_path / f"day {i}" / f"part{i}.{request.param}" for i in range(3)]
    for path, rows in zip(paths, PARTS):
        write(path, rows)
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "notes.md").touch()
    (tmp_path / ".hidden.csv").write_text("no table")
    return paths


def test_lists_folders_and_globs(files, tmp_path, monkeypatch):
    suffix = files[0].suffix
    ways = [files, list(map(str, files)), tmp_path, f"{tmp_path}/*/part*{suffix}", f"{tmp_path}/**/*{suffix}"]
    monkeypatch.chdir(tmp_path)
    for given in [*ways, f"day */*{suffix}", f"{tmp_path}/day [0-2]/part?{suffix}", "."]:
        assert_same(eigenfeat.rows.open(given, label="kind"), labels=TEXT)
        read = read_table(given, label="kind")
        np.testing.assert_array_equal(read.X, X)
        assert read.names == tuple(NAMES) and read.y.tolist() == TEXT.tolist()
    assert read_rows(str(tmp_path), Reading(("kind",))).y.tolist() == TEXT.tolist()
    few = eigenfeat.rows.open([files[2], files[0]], label="kind")
    assert_same(few, X[[*PARTS[2], *PARTS[0]]], labels=TEXT[[*PARTS[2], *PARTS[0]]])


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_names_of_folders_are_columns(kind, tmp_path):
    order = np.argsort(CODES, kind="stable")
    for code in range(3):
        write(
            tmp_path / f"group=00{code}" / f"code={code}" / f"a%20b={code / 2}" / f"t.{kind}",
            np.flatnonzero(code == CODES),
        )
    for given in (tmp_path, f"{tmp_path}/group=*/*/*/t.{kind}", sorted(tmp_path.rglob(f"t.{kind}"))):
        source = eigenfeat.rows.open(given, label="kind", drop=["group"])
        assert source.names == (*NAMES, "code", "a%20b")
        assert_same(source, np.column_stack([X, CODES, CODES / 2])[order], labels=TEXT[order])
        groups = read_table(given, label="group", columns=NAMES)
        assert groups.y.tolist() == [f"00{code}" for code in CODES[order]]
        few = eigenfeat.rows.open(given, label="code", columns=NAMES, filter=[("code", ">", 0), ("b", ">", 100)])
        chosen = order[(CODES[order] > 0) & (X[order, 1] > 100)]
        assert_same(few, X[chosen], labels=CODES[chosen])


def test_folders_that_no_row_passes_are_not_read(tmp_path):
    for code in range(3):
        write(tmp_path / f"code={code}" / "t.csv", np.flatnonzero(code == CODES))
    (tmp_path / "code=2" / "t.csv").write_text("no,table\nx\n")
    source = eigenfeat.rows.open(tmp_path, columns=NAMES, filter=[("code", "==", 1)])
    assert_same(source, X[CODES == 1])


def test_folders_that_say_different_columns_are_refused(tmp_path):
    write(tmp_path / "a=1" / "t.csv", [0])
    write(tmp_path / "b=1" / "t.csv", [1])
    with pytest.raises(ValueError, match="partition all files alike"):
        eigenfeat.rows.open(tmp_path)


def test_labels_of_all_files_decide(tmp_path):
    (tmp_path / "1.csv").write_text("a,y\n1,7\n")
    (tmp_path / "2.csv").write_text("a,y\n2,007\n")
    assert read_table(tmp_path).y.tolist() == ["7", "007"]
    assert [y for block in eigenfeat.rows.open(tmp_path, label="y").blocks() for y in block.y] == ["7", "007"]


def test_errors_name_the_file_of_several(tmp_path):
    (tmp_path / "1.csv").write_text("a;y\n1;7\n")
    (tmp_path / "2.csv").write_text("a,y\n2,7\nx,8\n")
    for read in (read_table, lambda path: list(eigenfeat.rows.open(path, label="y").blocks())):
        with pytest.raises(ValueError, match=r"2\.csv: column 'a' holds 'x' in line 3"):
            read(tmp_path)


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet", "svm", "npy", "npz", "xlsx"])
def test_other_file_systems(kind, tmp_path):
    fsspec = pytest.importorskip("fsspec")
    frame = part(np.arange(N)).to_pandas()
    path = tmp_path / f"t.{kind}"
    if kind.startswith("csv"):
        frame.to_csv(path, index=False)
    elif kind == "parquet":
        frame.to_parquet(path)
    elif kind == "xlsx":
        pytest.importorskip("openpyxl")
        frame.to_excel(path, index=False)
    elif kind == "svm":
        path.write_text("".join(f"{code} 1:{row[0]!r} 2:{row[1]!r}\n" for code, row in zip(CODES, X.tolist())))
    else:
        np.save(path, X) if kind == "npy" else np.savez(path, X=X)
    memory = fsspec.filesystem("memory")
    memory.pipe(f"/rows/t.{kind}", path.read_bytes())
    try:
        label = "kind" if kind in ("csv", "csv.gz", "parquet", "xlsx") else None
        expected = eigenfeat.rows.open(path, label=label).to_array()
        for given in (f"memory://rows/t.{kind}", path.as_uri(), f"memory://rows/*.{kind}"):
            source = eigenfeat.rows.open(given, label=label)
            np.testing.assert_array_equal(source.to_array(), expected)
            read = read_table(given, label=label)
            np.testing.assert_array_equal(read.X.toarray() if kind == "svm" else read.X, expected)
        assert f"memory://rows/t.{kind}" in eigenfeat.rows.open(f"memory://rows/t.{kind}", label=label).identity or kind
    finally:
        memory.rm("/rows", recursive=True)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ("memory://absent/t.csv", FileNotFoundError, "there is no file memory://absent"),
        ("klingon://t.csv", ValueError, "klingon://t.csv cannot be read"),
        ("*.csv", FileNotFoundError, r"there is no file \*\.csv"),
        ([], ValueError, "the list is empty"),
        (["a.csv"], FileNotFoundError, "there is no file a.csv"),
    ],
)
def test_what_is_not_there(given, error, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for read in (eigenfeat.rows.open, read_table):
        with pytest.raises(error, match=words):
            read(given)


def test_spreadsheets(tmp_path):
    pytest.importorskip("openpyxl")
    frame = part(np.arange(N)).to_pandas().assign(code=CODES, when=np.datetime64("2024-05-01"))
    frame.loc[3, "a"] = np.nan
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    read = read_table(tmp_path / "t.xlsx", label="code", drop=["kind", "when"])
    np.testing.assert_allclose(read.X, frame[NAMES].to_numpy())
    assert read.y.dtype == np.int64 and read.y.tolist() == CODES.tolist()
    rows = read_rows(str(tmp_path / "t.xlsx"), Reading(("kind",)))
    assert pa.types.is_timestamp(rows.X.schema.field("when").type)


def test_without_a_reader_of_spreadsheets_the_way_to_one_is_said(tmp_path, monkeypatch):
    (tmp_path / "t.xlsx").touch()
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ImportError, match=r'pip install "eigenfeat\[excel\]"'):
        eigenfeat.rows.open(tmp_path / "t.xlsx")
