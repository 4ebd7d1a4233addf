"""Two classes: their own directions, or those of all that part them best."""

import numpy as np
from sklearn.datasets import load_wine

from eigenfeat import FisherLDA, GEMFeatures
from eigenfeat.report.values.columns import Columns
from eigenfeat.report.values.components import Grouping, components
from eigenfeat.report.values.pairs import mean_differences, pair, strongest_value
from eigenfeat.report.values.subject import Rows, Subject

X, y = load_wine(return_X_y=True)


def test_a_pair_of_its_own(wine):
    found = components(wine)
    known = pair(found, "rosé", "white")
    assert list(known.spectra) == ["rosé over white", "white over rosé"]
    index = found.groups["rosé vs white"]
    np.testing.assert_allclose(known.spectra["rosé over white"], wine.model.eigenvalues_[index])
    assert [one.name for one in known.directions] == [
        f"{ends}, no. {r}" for ends in ("rosé over white", "white over rosé") for r in (1, 2)
    ]
    assert strongest_value(found, "rosé", "white") == wine.model.eigenvalues_[index].max()
    assert [box.name for box in known.directions[0].boxes] == ["rosé", "white", "red <&>"]
    assert np.isnan(strongest_value(found, "rosé", "rosé"))


def test_sub_classes_belong_to_their_class():
    found = components(Subject.of(GEMFeatures(1, subclasses=2).fit(X, y), None, Rows.of(X, y)))
    known = pair(found, "0", "1")
    assert len(known.spectra["0 over 1"]) > 1
    assert np.all(np.diff(known.spectra["0 over 1"]) <= 0)


def test_one_problem_for_all_is_ranked_by_separation():
    model = FisherLDA().fit(X, y)
    known = pair(components(Subject.of(model, None, Rows.of(X, y))), "1", "2")
    z = model.transform(X)
    a, b = z[y == 1], z[y == 2]
    expected = np.abs(a.mean(0) - b.mean(0)) / np.sqrt((a.var(0) + b.var(0)) / 2)
    assert not known.spectra
    np.testing.assert_allclose([value for _, value in known.separation], np.sort(expected)[::-1])
    assert known.directions[0].index == np.argmax(expected)


def test_without_rows_of_both_there_is_nothing():
    assert pair(components(Subject.of(FisherLDA().fit(X, y))), "1", "2").directions == ()


def test_mean_differences_are_in_standard_deviations():
    columns, into = (
        Columns(("a",), np.array([[0.0], [2.0], [10.0], [12.0]])),
        Grouping(("p", "q"), np.array([0, 0, 1, 1]), "class"),
    )
    np.testing.assert_allclose(mean_differences(columns, into, "p", "q"), [-10 / np.std([0, 2, 10, 12])])
    assert mean_differences(columns, into, "p", "r") is None
