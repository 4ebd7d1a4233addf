"""Everything that is wrong with a file in one message."""

import pyarrow as pa
import pytest

from eigenfeat.rows.bad_tables import SHOWN, BadTable, explained


def test_one_problem_is_a_line_and_many_are_a_list():
    assert str(BadTable("t.csv", ["it is empty"])) == "t.csv: it is empty"
    words = str(BadTable("t.csv", [f"problem {i}" for i in range(SHOWN + 3)]))
    assert words.startswith("t.csv has problems:\n  - problem 0") and words.endswith("- and 3 more")


@pytest.mark.parametrize("problem", [pa.ArrowInvalid("bad"), EOFError(), KeyError("x"), OSError("gone")])
def test_what_readers_raise_names_the_file(problem):
    with pytest.raises(ValueError, match=r"t\.csv cannot be read"), explained("t.csv"):
        raise problem


def test_files_that_are_not_there():
    with pytest.raises(FileNotFoundError, match=r"no file t\.csv"), explained("t.csv"):
        raise FileNotFoundError
