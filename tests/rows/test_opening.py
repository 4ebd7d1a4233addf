"""One function for every kind of file, and what it says of those it does not know."""

import os

import numpy as np
import pytest
from row_tables import X

import eigenfeat.rows


@pytest.mark.parametrize(
    ("given", "options", "error", "words"),
    [
        ("absent.parquet", {}, FileNotFoundError, "there is no file .*absent"),
        ("t.docx", {}, ValueError, r"has the suffix '\.docx'; tables are read from \.csv.*delimiter="),
        ("t.gz", {}, ValueError, r"has the suffix '\.gz'"),
        ("t.csv", {"dtype": "i4"}, ValueError, "dtype must be float32 or float64, got int32"),
        ("t.csv", {"missing": "median"}, ValueError, "missing must be .* got 'median'"),
    ],
)
def test_what_is_refused(tmp_path, given, options, error, words):
    (tmp_path / "t.docx").touch()
    (tmp_path / "t.gz").touch()
    (tmp_path / "t.csv").write_text("a\n1\n")
    with pytest.raises(error, match=words):
        eigenfeat.rows.open(tmp_path / given, **options)


def test_batches_that_can_only_be_read_once_are_refused():
    with pytest.raises(ValueError, match=r"got generator. Wrap what makes the batches: open\(lambda: ...\)"):
        eigenfeat.rows.open(X for _ in range(3))


def test_the_means_of_missing_values_are_found_in_a_pass_of_its_own():
    calls = []

    def batches():
        calls.append(1)
        yield np.array([[1.0, np.nan], [3.0, 4.0]])

    source = eigenfeat.rows.open(batches, missing="mean")
    (block,) = source.blocks()
    np.testing.assert_array_equal(block.X, [[1, 4], [3, 4]])
    assert len(calls) == 4  # a look at the first batch twice, the means, the pass


def test_a_pipe_is_no_source(tmp_path):
    os.mkfifo(tmp_path / "rows.csv")
    with pytest.raises(ValueError, match="cannot be read again at every pass"):
        eigenfeat.rows.open(tmp_path / "rows.csv")
