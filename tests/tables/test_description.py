"""What was done to columns, to read."""

import pytest

from eigenfeat.tables import EncodedColumn, EncodedColumns

TABLE = EncodedColumns.of(
    [EncodedColumn("a", "number", 3, 1, False, "numbers"), EncodedColumn("<id>", "id", 0, 0, True, "an identifier")]
)


def test_it_prints_as_a_table():
    assert str(TABLE).splitlines()[1] == "a       number  3        1         numbers"
    assert "&lt;id&gt;" in TABLE._repr_html_()
    assert TABLE.left_out() == {"<id>": "an identifier"}
    assert TABLE["a"] == TABLE[0]
    assert TABLE.as_dict()["kind"] == ["number", "id"]
    with pytest.raises(KeyError, match="no column 'b'"):
        TABLE["b"]
