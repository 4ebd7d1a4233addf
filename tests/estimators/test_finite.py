"""A fitted value that is not made of numbers is found, by place; a fit that ends in one is refused."""

import numpy as np
import pytest
from scipy import sparse

from eigenfeat._sklearn import checked_fit
from eigenfeat.estimators.edge import ComponentsMixin, Estimator
from eigenfeat.estimators.finite import first_not_finite
from eigenfeat.stages import Affine, Chain, Fitted, Softmax


@pytest.mark.parametrize(
    "value, place",
    [
        (np.ones(3), None),
        (np.array([1.0, -np.inf]), None),
        (np.array(["a"]), None),
        ((np.ones(2), np.array([np.nan])), "[1]"),
        (sparse.csr_array([[0.0, np.inf]]), "here"),
        (Fitted(scores=Chain((Affine.of(np.ones((2, 1)), np.array([np.inf])),))), "scores.stages[0].bias"),
        (Fitted(probabilities=Softmax(np.float64("nan"))), "probabilities.scale"),
        (np.array([1e308, 1e308]), None),
    ],
    ids=str,
)
def test_the_place_of_what_is_no_number(value, place):
    found = first_not_finite(value, "here" if sparse.issparse(value) else "")
    if place == "probabilities.scale":
        assert found is not None and found.startswith("probabilities.")
    else:
        assert found == place


class Breaks(ComponentsMixin, Estimator):
    """Leaves what it is told to, or raises it."""

    def __init__(self, outcome=1.0):
        self.outcome = outcome

    _parameter_constraints: dict = {"outcome": "no_validation"}

    @checked_fit
    def fit(self, X, y=None):
        X = self._check(X)
        if isinstance(self.outcome, Exception):
            raise self.outcome
        self.fitted_ = Fitted(features=Chain((Affine.of(np.full((X.shape[1], 1), self.outcome)),)))
        return self


X = np.ones((3, 2))


def test_a_fit_that_ends_in_no_number_is_refused_and_leaves_the_model_as_it_was():
    model = Breaks().fit(X)
    with pytest.raises(ValueError, match="Breaks found no finite solution"):
        model.set_params(outcome=np.nan).fit(X)
    np.testing.assert_array_equal(model.transform(X), 2)


@pytest.mark.parametrize(
    "problem",
    [
        np.linalg.LinAlgError("Singular matrix"),
        ZeroDivisionError("division by zero"),
        OverflowError("too large"),
        ValueError("array must not contain infs or NaNs"),
    ],
    ids=repr,
)
def test_breakdowns_are_explained(problem):
    with pytest.raises(ValueError, match=r"Breaks broke down on these rows \(.*Scale the columns") as refusal:
        Breaks(problem).fit(X)
    assert refusal.value.__cause__ is problem


def test_other_errors_are_as_they_were():
    with pytest.raises(KeyError):
        Breaks(KeyError("a")).fit(X)
    with pytest.raises(ValueError, match=r"^it is so$"):
        Breaks(ValueError("it is so")).fit(X)


@pytest.mark.filterwarnings("ignore:overflow")
def test_answers_that_are_no_numbers_are_refused():
    model = Breaks(1e30).fit(X)
    assert np.isfinite(model.transform(X * 1e60)).all()
    with pytest.raises(ValueError, match=r"features of Breaks are not finite in row 1.*float32"):
        model.transform(np.array([[0, 0], [1e16, 1e16]], dtype=np.float32))
