"""Tables of every format, whole and some rows at a time, and everything that is wrong with one in one message."""

import gzip
import io
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eigenfeat.rows import table_files
from eigenfeat.rows.table_files import BadTable, open_table

ROWS = {"a": ["1", "2"], "b": ["x, y", 'say "hi"\nthere']}
TEXT = 'a,b\n1,"x, y"\n2,"say ""hi""\nthere"\n'


def files(folder):
    (folder / "plain.csv").write_text(TEXT)
    (folder / "UPPER.CSV").write_text(TEXT)
    (folder / "semicolons.txt").write_text('a;b\n1;"x, y"\n2;"say ""hi""\nthere"\n')
    (folder / "packed.csv.gz").write_bytes(gzip.compress(TEXT.encode()))
    (folder / "wide.csv").write_bytes(TEXT.encode("utf-16"))
    pq.write_table(pa.table(ROWS), folder / "typed.parquet")
    with pa.OSFile(str(folder / "typed.arrow"), "wb") as stream, pa.ipc.new_file(stream, pa.table(ROWS).schema) as out:
        out.write_table(pa.table(ROWS))
    return sorted(folder.iterdir())


def test_every_format_says_the_same(tmp_path):
    for path in files(tmp_path):
        file = open_table(path)
        assert file.names == ["a", "b"]
        assert file.read().to_pydict() == ROWS, path
        assert pa.concat_tables(open_table(path).batches(["b"])).to_pydict() == {"b": ROWS["b"]}


@pytest.mark.parametrize("content", [TEXT.encode(), gzip.compress(TEXT.encode())], ids=["plain", "gzip"])
def test_the_standard_input(content, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert open_table("-").read().to_pydict() == ROWS


def test_npz(tmp_path):
    np.savez(tmp_path / "m.npz", X=np.arange(4.0).reshape(2, 2), y=np.array(["u", "v"]))
    assert open_table(tmp_path / "m.npz").read().to_pydict() == {"x0": [0, 2], "x1": [1, 3], "y": ["u", "v"]}


def test_a_byte_far_down_that_is_no_utf8(tmp_path):
    path = tmp_path / "late.csv"
    path.write_bytes(b"a,b\n" + b"1,x\n" * 100_000 + b"2,gr\xf6\xdfe\n")
    file = open_table(path)
    assert file.read().column("b")[-1].as_py() == "größe"
    assert "cp1252" in file.notes[0]


def test_all_ragged_lines_in_one_message(tmp_path):
    path = tmp_path / "ragged.csv"
    path.write_text("a,b\n1,2\n3\n4,5\n6,7,8\n")
    with pytest.raises(BadTable, match=r"(?s)line 3: 1 cells.*line 5: 3 cells"):
        open_table(path).read()
    with pytest.raises(BadTable, match="line 3"):
        list(open_table(path).batches())


def in_parts(path, *args, **kwargs):
    file = open_table(path, **kwargs)
    return pa.concat_tables([part() for part in file.parts(file.names, *args)])


@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
@pytest.mark.parametrize("block", [512, 1 << 20])
def test_parts_are_the_table(quoted, encoding, block, tmp_path, monkeypatch):
    monkeypatch.setattr(table_files, "BLOCK", block)
    lines = [f"{i},wört {i},{i / 3}" for i in range(300)]
    if quoted:
        lines[200] = '200,"two\nlines, one cell",1'
    path = tmp_path / "t.csv"
    path.write_bytes(("a;b".replace(";", ",") + ",c\n" + "\n".join(lines)).encode(encoding))
    whole = open_table(path, encoding=encoding).read()
    assert in_parts(path, encoding=encoding).equals(whole)
    file = open_table(path, encoding=encoding)
    typed = [row for part in file.parts(file.names, ["a", "c"]) for row in part().to_pylist()]
    numbers = [{**row, "a": float(row["a"]), "c": float(row["c"])} for row in whole.to_pylist()]
    assert [{**row, "a": float(row["a"]), "c": float(row["c"])} for row in typed] == numbers


def test_a_part_with_a_cell_that_is_no_number_is_text(tmp_path, monkeypatch):
    monkeypatch.setattr(table_files, "BLOCK", 32)
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,NA\n" * 20 + "many,2\n" + "3,\n" * 20)
    file = open_table(path)
    kinds = [str(table.column("a").type) for part in file.parts(["a", "b"], ["a", "b"]) if len(table := part())]
    assert {"double", "string"} == set(kinds)
    assert kinds.count("string") == 1


@pytest.mark.parametrize(("head", "kind"), [('"a","b"\n', "double"), ('"a\nb",c\n', "string")])
def test_quoted_names_leave_parts_cut_at_lines(head, kind, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(head + "1,2\n" * 3)
    file = open_table(path)
    (table,) = [part() for part in file.parts(file.names, file.names)]
    assert [str(table.column(0).type), len(table)] == [kind, 3]


def test_ragged_lines_of_parts_have_their_numbers(tmp_path, monkeypatch):
    monkeypatch.setattr(table_files, "BLOCK", 32)
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 50 + "1,2,3\n")
    for numbers in ([], ["a", "b"]):
        with pytest.raises(BadTable, match="line 52: 3 cells"):
            in_parts(path, numbers)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "it is empty"),
        ("a.csv", b"a,a\n1,2\n", "several columns are called 'a'"),
        ("a.csv", b"a,b\n", "it has no rows"),
        ("a.parquet", b"PAR1 no", "cannot be read"),
        ("a.arrow", b"ARROW1 no", "cannot be read"),
        ("a.npz", b"PK no", "cannot be read"),
        ("a.csv.gz", b"\x1f\x8b no", "cannot be read"),
        ("a.xlsx", b"", "tables are read from"),
        ("a.csv", b'a,b\n1,"' + b"x" * (table_files.BLOCK * 2), "cannot be read"),
    ],
)
def test_damage_is_refused_by_name(name, content, message, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message) as error:
        open_table(tmp_path / name).read()
    assert name in str(error.value)
