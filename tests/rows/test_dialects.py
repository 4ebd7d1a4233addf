"""How a text file is written."""

import pytest

from eigenfeat.rows.dialects import find_dialect


@pytest.mark.parametrize(
    ("text", "delimiter", "names"),
    [
        ("a,b\n1,2\n", ",", ["a", "b"]),
        ('a;b\n"x, y";2,5\n', ";", ["a", "b"]),
        ("a\tb\n1\t2 3\n", "\t", ["a", "b"]),
        ("a|b\n1|2\n", "|", ["a", "b"]),
        ('"first\nname", b\n1,2\n', ",", ["first\nname", "b"]),
        (",b\n1,2\n", ",", ["column 1", "b"]),
        ("only\n1\n", ",", ["only"]),
    ],
)
def test_delimiters_and_names(text, delimiter, names):
    dialect = find_dialect(text.encode(), whole=True)
    assert (dialect.delimiter, dialect.names) == (delimiter, names)
    assert not dialect.problems()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings(encoding):
    dialect = find_dialect("größe,b\n1,2\n".encode(encoding), whole=True)
    assert dialect.names == ["größe", "b"]
    assert bool(dialect.notes) == (encoding == "cp1252")


def test_all_problems_of_a_header():
    problems = find_dialect(b"1,2,1\n3,4,5\n", whole=True).problems()
    assert len(problems) == 2
    with pytest.raises(ValueError, match="no encoding 'klingon'"):
        find_dialect(b"a\n", encoding="klingon")
    with pytest.raises(ValueError, match="zero bytes"):
        find_dialect(b"a\x00b\n1\n", whole=True)
