"""Every estimator fits the models that it fitted when ``outputs`` was stored."""

from functools import cache

import numpy as np
import pytest
import sklearn
from cases import CASES
from recording import body
from store import stored

import eigenfeat


@cache
def stored_by_case() -> dict[str, dict[str, np.ndarray]]:
    by_case: dict[str, dict[str, np.ndarray]] = {}
    for key, array in stored().items():
        case, output = key.split("/")
        by_case.setdefault(case, {})[output] = array
    return by_case


#: What scikit-learn draws, centres of k-means and folds of groups, older versions draw otherwise.
DRAWN = ("kmeans", "GEMClassifierCV-groups")
DRAWS_AS_STORED = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 9)


@pytest.mark.parametrize("name", CASES)
def test_same_model(name):
    if name.endswith(DRAWN) and not DRAWS_AS_STORED:
        pytest.skip("scikit-learn of this version draws otherwise")
    case, expected = CASES[name], stored_by_case()[name]
    found = case.record()
    assert found.keys() == expected.keys()
    for output, array in expected.items():
        scale = np.abs(body(array)).max(initial=0)
        np.testing.assert_allclose(
            found[output], array, rtol=case.tolerance, atol=case.tolerance * scale, err_msg=f"{name}/{output}"
        )
        assert found[output].dtype == array.dtype, f"{name}/{output}"


def test_nothing_stored_is_left_out():
    assert stored_by_case().keys() == CASES.keys()


NOT_THERE_THEN = {"CommonSpatialPatterns", "SPoC", "ScoreTensorClassifier", "TableEncoder"}
"""Estimators that came after the outputs were stored."""


def test_every_public_estimator_has_a_case():
    estimators = {name for name in eigenfeat.__all__ if isinstance(getattr(eigenfeat, name), type)}
    assert {type(case.make()).__name__ for case in CASES.values()} == estimators - NOT_THERE_THEN
