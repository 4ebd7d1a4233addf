"""What cells say, in the notations people use."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

from eigenfeat.tables import cells


@pytest.mark.parametrize(
    ("written", "notation", "values"),
    [
        (["1", " 2.5 ", "", "x", "1e3"], "plain", [1, 2.5, np.nan, np.nan, 1000]),
        (["1,234", "5", "1,000,000.5"], "thousands", [1234, 5, 1000000.5]),
        (["1.234,5", "2,5"], "decimal comma", [1234.5, 2.5]),
        (["12 %", "5%", "$3"], "plain", [0.12, 0.05, 3]),
        (["12 000", "7"], "plain", [12000, 7]),
        (["inf", "1"], "plain", [np.nan, 1]),
    ],
)
def test_numbers(written, notation, values):
    np.testing.assert_allclose(cells.numbers(pa.array(written), notation), values)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (["1,234", "5"], "thousands"),
        (["1,5", "2,25"], "decimal comma"),
        (["1.234,50 €", "7,00 €"], "decimal comma"),
        (["1.5", "2"], "plain"),
    ],
)
def test_the_notation_is_found(written, expected):
    assert cells.notation_of(cells.text(pa.array(written))) == (expected, 1.0)


@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("2024-01-05", "2024-01-05"),
        ("2024-01-05T10:00:00Z", "2024-01-05"),
        ("05.01.2024", "2024-01-05"),
        ("31/01/2024", "2024-01-31"),
        ("Jan 5, 2024", "2024-01-05"),
    ],
)
def test_dates(written, day):
    column = pa.array([written, None])
    pattern, share, _ = cells.date_pattern(cells.text(column))
    found = cells.days(column, pattern)
    assert share == 1
    assert np.datetime64("1970-01-01") + int(found[0]) == np.datetime64(day)
    assert np.isnan(found[1])


def test_types_say_the_same_as_text():
    when = datetime.datetime(2024, 1, 5, 12)
    assert cells.days(pa.array([when]))[0] == cells.days(pa.array(["2024-01-05 12:00:00"]))[0]
    assert cells.text(pa.array([1.0, 2.5, None])).to_pylist() == ["1", "2.5", None]
    assert cells.truth(pa.array(["Yes", "no", ""]), "yes").tolist()[:2] == [1, 0]
    assert cells.truth(pa.array([True, False]), "true").tolist() == [1, 0]
    assert cells.is_code(cells.text(pa.array(["01234", "99999"])))
