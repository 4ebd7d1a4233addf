"""Every estimator fits the models that it fitted when ``outputs`` was stored."""

from functools import cache

import pytest
import sklearn
from cases import CASES
from recording import assert_same
from row_inputs import close_cluster
from store import stored
from stored_again import STORED_AGAIN

import eigenfeat

outputs_by_case = cache(stored)

#: What scikit-learn draws, centres of k-means and folds of groups, older versions draw otherwise.
DRAWN = ("kmeans", "GEMClassifierCV-groups")
DRAWS_AS_STORED = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 9)


@pytest.fixture(scope="module", autouse=True)
def _cluster():
    yield
    close_cluster()


@pytest.mark.parametrize("name", CASES)
def test_same_model(name):
    if name.endswith(DRAWN) and not DRAWS_AS_STORED:
        pytest.skip("scikit-learn of this version draws otherwise")
    case = CASES[name]
    if case.given == "dask":
        pytest.importorskip("distributed")
    assert_same(case.record(), outputs_by_case()[name], case.tolerance)


def test_nothing_stored_is_left_out():
    assert outputs_by_case().keys() == CASES.keys()


def test_cases_that_were_stored_again_are_there_once():
    names = [name for some in STORED_AGAIN.values() for name in some]
    assert len(names) == len(set(names)) and set(names) <= CASES.keys()


def test_every_public_estimator_has_a_case():
    estimators = {name for name in eigenfeat.__all__ if isinstance(getattr(eigenfeat, name), type)}
    assert {name.partition("-")[0] for name in CASES} >= estimators
