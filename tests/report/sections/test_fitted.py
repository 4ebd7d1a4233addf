"""Rows, columns, file and settings are said."""

from eigenfeat.report import Provenance
from eigenfeat.report.sections.fitted import fitted


def test_all_that_is_known_is_there(measured_wine):
    origin = Provenance(file="wine.csv", sha256="a1b2", n_rows=178, label="kind")
    body = fitted(measured_wine, origin).body
    for words in ("wine.csv", "a1b2", "178", "kind", "106", "red &lt;&amp;&gt;", "13 standardise", "alpha = 0.01"):
        assert words in body
    assert "Its SHA-256" not in fitted(measured_wine, Provenance()).body


def test_untreated_columns_are_said_to_be(measured_diabetes):
    assert "Nothing was done to the columns" in fitted(measured_diabetes, Provenance()).body
