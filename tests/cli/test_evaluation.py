"""Results against scikit-learn's, beside what can be had for nothing."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import log_loss, r2_score

from eigenfeat.cli.evaluation import classification, multilabel, regression, wilson


@pytest.mark.parametrize(("wrong", "n"), [(0, 10), (3, 40), (40, 40)])
def test_the_interval_is_wilsons(wrong, n):
    expected = binomtest(wrong, n).proportion_ci(method="wilson")
    np.testing.assert_allclose(wilson(wrong, n), expected, atol=1e-9)


def test_classes():
    y, said = np.array(["a", "a", "b", "c"]), np.array(["a", "a", "b", "a"])
    p = np.array([[0.8, 0.1, 0.1], [0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.5, 0.2, 0.3]])
    result = classification(y, said, p, np.array(["a", "b", "c"]), y)
    assert (result.error, result.baseline) == (0.25, 0.5)
    assert result.extra["log loss"] == pytest.approx(log_loss(y, p))
    assert result.extra["balanced accuracy"] == pytest.approx(2 / 3)
    assert any("never predicted: c" in words for words in result.warnings)


def test_a_model_that_learnt_nothing_is_told():
    y = np.array(["a"] * 60 + ["b"] * 40)
    result = classification(y, np.full(100, "a"), None, np.unique(y), y)
    assert any("no better than always saying a" in words for words in result.warnings)


def test_numbers_and_labels():
    rng = np.random.default_rng(0)
    y = rng.standard_normal(200)
    said = y + 0.3 * rng.standard_normal(200)
    result = regression(y, said, y)
    assert 1 - result.error == pytest.approx(r2_score(y, said))
    assert result.interval[0] < result.error < result.interval[1]
    assert regression(y, np.zeros(200), y).warnings
    labels = np.array([[1, 0], [0, 1], [1, 0]])
    assert multilabel(labels, np.array([[0.9, 0.1], [0.2, 0.8], [0.4, 0.1]]), labels).error == pytest.approx(1 / 6)
