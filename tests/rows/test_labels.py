"""Labels of tables: what is spelt differently stays different, what is missing is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigenfeat.rows import read_table
from eigenfeat.rows.labels import as_numbers_if_all_are, label_cells


def labels_of(*cells):
    return as_numbers_if_all_are(label_cells(cells, 0, "y", "it"), "y", "it").tolist()


@pytest.mark.parametrize(
    "cells, expected",
    [
        (("1", "2", "10"), [1, 2, 10]),
        (("-1", "0", "1"), [-1, 0, 1]),
        (("007", "7"), ["007", "7"]),
        (("007", "012"), ["007", "012"]),
        (("1_0", "10"), ["1_0", "10"]),
        (("0.5", "1", "1e3"), [0.5, 1.0, 1000.0]),
        (("1.0", "2.0"), [1.0, 2.0]),
        ((str(2**63), str(2**63 + 1)), [2**63, 2**63 + 1]),
        ((str(10**30), str(10**30 + 1)), [str(10**30), str(10**30 + 1)]),
        (("inf", "1"), ["inf", "1"]),
        (("a", "1"), ["a", "1"]),
        ((".", "1"), [".", "1"]),
        ((" 1", "1"), [" 1", "1"]),
        (("١", "1"), ["١", "1"]),  # an Arabic digit one
    ],
)
def test_text_becomes_numbers_where_that_keeps_labels_apart(cells, expected):
    assert labels_of(*cells) == expected


@given(st.lists(st.text(alphabet="01.-_e", min_size=1, max_size=4), min_size=1, max_size=8))
def test_distinct_spellings_stay_distinct_or_are_refused(cells):
    try:
        found = labels_of(*cells)
    except ValueError:
        return
    assert len(set(found)) == len(set(cells))


def test_one_number_spelt_twice_is_refused():
    with pytest.raises(ValueError, match=r"column 'y' of it holds '1' and '1.0': one number, two labels"):
        labels_of("1", "1.0", "2")


@pytest.mark.parametrize("word", ["", "NA", "nan", "NaN", "null", "N/A", " na "])
def test_words_for_nothing_are_no_classes(word):
    with pytest.raises(ValueError, match=r"label column 'y' of it .* in row 12: every row needs a label"):
        label_cells(("a", word), 10, "y", "it")


def test_numbers_that_are_none_are_no_classes():
    with pytest.raises(ValueError, match=r"holds 'nan'.*row 2"):
        label_cells(np.array([1.0, np.nan]), 0, "y", "it")
    np.testing.assert_array_equal(label_cells(np.array([3, 1]), 0, "y", "it"), [3, 1])


def test_tables_ask(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n1,007\n2,7\n")
    assert read_table(path).y.tolist() == ["007", "7"]
    path.write_text("x,y\n1,NA\n2,7\n")
    with pytest.raises(ValueError, match="which says that it is missing"):
        read_table(path)
