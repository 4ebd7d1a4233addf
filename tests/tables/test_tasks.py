"""What there is to predict."""

import numpy as np
import pytest

from eigenfeat.tables import find_task


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (["a", "b"], "classification"),
        (np.arange(300) % 3, "classification"),
        ([0.5, 1.5, 2.5], "regression"),
        (np.arange(500), "regression"),
        (np.eye(3), "multilabel"),
        (np.random.default_rng(0).normal(size=(5, 2)), "regression"),
        ([True, False], "classification"),
        ([1.0, 2.0, 1.0, 2.0], "classification"),
    ],
)
def test_tasks(y, task):
    assert find_task(y).name == task


def test_a_doubtful_choice_says_so():
    assert "regression" in find_task(np.arange(500)).reason
    assert find_task(["a", "b"]).reason == ""
