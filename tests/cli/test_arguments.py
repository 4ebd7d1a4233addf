"""Words on the command line."""

import pytest

from eigenfeat import FisherLDA
from eigenfeat.cli.arguments import estimator_named, parse_parameter, parse_shape


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ridge=0.1", ("ridge", 0.1)),
        ("shrinkage=auto", ("shrinkage", "auto")),
        ("priors=[0.5, 0.5]", ("priors", [0.5, 0.5])),
        ("label=a=b", ("label", "a=b")),
        ("tol=None", ("tol", None)),
    ],
)
def test_parameters_are_numbers_lists_or_plain_words(text, expected):
    assert parse_parameter(text) == expected


def test_shapes_and_estimators():
    assert parse_shape(None) is None
    assert parse_shape("28x14") == (28, 14)
    model = estimator_named("FisherLDA", {"ridge": 0.1})
    assert isinstance(model, FisherLDA)
    assert model.ridge == 0.1
