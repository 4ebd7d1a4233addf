"""How a text file is written: delimiter, encoding, header; one message for all that is wrong with a header."""

import numpy as np
import pytest

import eigenfeat.rows
from eigenfeat.rows import read_table
from eigenfeat.rows.readers import text


@pytest.mark.parametrize(
    ("content", "names", "row"),
    [
        ("a,b\n1,2\n", ("a", "b"), [1, 2]),
        ('a;b\n"1";2.5\n', ("a", "b"), [1, 2.5]),
        ("a\tb\n1\t2\n", ("a", "b"), [1, 2]),
        ("a|b\n1|2\n", ("a", "b"), [1, 2]),
        ("a b\n1 2\n", ("a", "b"), [1, 2]),
        ("a, b\n1, 2\n", ("a", "b"), [1, 2]),
        ("a,b\r\n1,2\r\n", ("a", "b"), [1, 2]),
        ("\n\na,b\n\n1,2\n", ("a", "b"), [1, 2]),
        ('"first\nname", b\n1,2\n', ("first\nname", "b"), [1, 2]),
        (",b\n1,2\n", ("column 1", "b"), [1, 2]),
        ("only\n1\n", ("only",), [1]),
        ("a,b\n1,2", ("a", "b"), [1, 2]),
        ("a,b\n+1,2e3\n", ("a", "b"), [1, 2000]),
    ],
)
def test_delimiters_and_names(content, names, row, tmp_path):
    path = tmp_path / "t.txt"
    path.write_bytes(content.encode())
    table, source = read_table(path), eigenfeat.rows.open(path)
    assert table.names == source.names == names
    assert table.X.tolist() == source.to_array().tolist() == [row]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings(encoding, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("größe,kind\n1,weiß\n2,é\n".encode(encoding))
    assert read_table(path, label="kind").names == ("größe",)
    (block,) = eigenfeat.rows.open(path, label="kind").blocks()
    assert block.y.tolist() == read_table(path, label="kind").y.tolist() == ["weiß", "é"]


def test_an_encoding_that_is_given_is_kept_to(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("a,kind\n1,да\n".encode("cp1251"))
    assert read_table(path, label="kind", encoding="cp1251").y.tolist() == ["да"]
    with pytest.raises(ValueError, match=r"t\.csv cannot be read \('utf-8' codec"):
        eigenfeat.rows.open(path, encoding="utf-8")
    with pytest.raises(ValueError, match="unknown encoding: klingon"):
        eigenfeat.rows.open(path, encoding="klingon")


def test_a_byte_far_down_that_is_no_utf8(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,kind\n" + b"1,x\n" * 100_000 + b"2,gr\xf6\xdfe\n")
    last = [block.y[-1] for block in eigenfeat.rows.open(path, label="kind").blocks()][-1]
    assert last == read_table(path, label="kind").y[-1] == "größe"


def test_what_is_no_table_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n3\n" * 11)
    with pytest.raises(ValueError, match=r"t\.csv: line 3: 1 cells.*, and 10 more such lines"):
        read_table(path)
    path.write_bytes(b"a\x00b\n1\n")
    with pytest.raises(ValueError, match="zero bytes"):
        read_table(path)


@pytest.mark.parametrize("quoted", ["none", "cells", "lines"])
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
@pytest.mark.parametrize("n_bytes", [512, 1 << 20])
def test_parts_are_the_table(quoted, encoding, n_bytes, tmp_path, monkeypatch):
    """However small the parts a file is cut into, and wherever quotes stand."""
    monkeypatch.setattr(text, "PART_BYTES", n_bytes)
    cells = [f"wört {i}" for i in range(300)]
    if quoted == "lines":
        cells[200] = 'two\nlines, "one" cell'
    shown = ['"' + cell.replace('"', '""') + '"' if quoted != "none" else cell for cell in cells]
    path = tmp_path / "t.csv"
    lines = [f"{i},{cell},{i / 3}" for i, cell in enumerate(shown)]
    path.write_bytes(("a,kind,c\n" + "\n".join(lines)).encode(encoding))
    expected = [[i, i / 3] for i in range(300)]
    table = read_table(path, label="kind", encoding=encoding)
    assert table.X.tolist() == expected and table.y.tolist() == cells
    blocks = list(eigenfeat.rows.open(path, label="kind", encoding=encoding).blocks(70))
    assert np.concatenate([block.X for block in blocks]).tolist() == expected
    assert np.concatenate([block.y for block in blocks]).tolist() == cells


def test_quotes_that_are_characters(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "PART_BYTES", 512)
    cells = [f'{i}" pipe' if i % 7 == 0 else "hose" for i in range(300)]
    path = tmp_path / "t.csv"
    path.write_text("a,kind\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells)))
    assert read_table(path, label="kind").y.tolist() == cells


def test_quotes_that_are_characters_beside_cells_of_several_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "PART_BYTES", 64)
    cells = [f'{i}" pipe' if i % 3 == 0 else 'two\nlines, "one" cell\n' if i % 3 == 1 else "hose" for i in range(300)]
    shown = ['"' + cell.replace('"', '""') + '"' if i % 3 == 1 else cell for i, cell in enumerate(cells)]
    path = tmp_path / "t.csv"
    path.write_bytes(("\ufeff" + '"a",kind\n' + "".join(f"{i},{cell}\n" for i, cell in enumerate(shown))).encode())
    table = read_table(path, label="kind")
    assert table.y.tolist() == cells and table.names == ("a",) and table.X.ravel().tolist() == [*range(300)]


def test_lines_have_their_numbers_in_every_part(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "PART_BYTES", 32)
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 50 + "1,2,3\n")
    for read in (read_table, lambda path: list(eigenfeat.rows.open(path).blocks())):
        with pytest.raises(ValueError, match="line 52: 3 cells"):
            read(path)
    path.write_text('a,b\n"1",2\n\n' + "1,2\n" * 50 + "1,x\n")
    for read in (read_table, lambda path: list(eigenfeat.rows.open(path).blocks())):
        with pytest.raises(ValueError, match="column 'b' holds 'x' in line 54"):
            read(path)
