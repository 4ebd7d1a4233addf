"""From scores to probabilities, and from several models to one."""

import numpy as np
import pytest
from chains import X, rng
from scipy.special import expit, softmax
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression, Ridge

from eigenfeat.stages import Affine, Chain, EstimatorScores, GaussianPosteriors, GeometricMean, Softmax
from eigenfeat.stages.outputs import both_classes

SCORES = rng.normal(size=(30, 4)) * 3


def test_softmax_of_several_columns():
    np.testing.assert_allclose(np.exp(Softmax(2.5).apply(SCORES)), softmax(2.5 * SCORES, axis=1))


def test_one_column_is_the_log_odds_of_the_second_class():
    made = np.exp(Softmax(2.0).apply(SCORES[:, :1]))
    assert made.shape == (30, Softmax().n_columns(1)) == (30, 2)
    np.testing.assert_allclose(made[:, 1], expit(2 * SCORES[:, 0]))
    np.testing.assert_allclose(made.sum(axis=1), 1)


def test_logarithms_are_exact_where_probabilities_round_to_zero():
    made = Softmax().apply(np.array([[1000.0, 0.0], [-1e4, 0.0]]))
    np.testing.assert_allclose(made, [[0, -1000], [-1e4, 0]])
    assert Softmax().apply(SCORES.astype(np.float32)).dtype == np.float32


def test_the_geometric_mean_is_the_normalised_geometric_mean():
    V, W = rng.normal(size=(2, 5, 3))
    members = tuple(Chain((Affine.of(A), Softmax(t))) for A, t in ((V, 1.0), (W, 0.5), (V - W, 2.0)))
    product = np.prod([np.exp(member.apply(X)) for member in members], axis=0) ** (1 / 3)
    np.testing.assert_allclose(
        np.exp(GeometricMean(members).apply(X)), product / product.sum(axis=1, keepdims=True), rtol=1e-10
    )
    np.testing.assert_allclose(GeometricMean(members[:1]).apply(X), members[0].apply(X))
    assert GeometricMean(members).n_columns(5) == 3


def test_posteriors_are_bayes_theorem_with_a_gaussian_a_side():
    moments = np.array([[[-1.0, 0.5, 0.3], [1.5, 2.0, 0.7]]])
    shift = np.array([0.4])
    q = SCORES[:, :1] + shift
    negative = 0.3 * norm.pdf(q, -1.0, np.sqrt(0.5))
    positive = 0.7 * norm.pdf(q, 1.5, np.sqrt(2.0))
    made = np.exp(GaussianPosteriors(moments, shift).apply(SCORES[:, :1]))
    np.testing.assert_allclose(made[:, 1:], positive / (positive + negative))
    np.testing.assert_allclose(made.sum(axis=1), 1)


def test_posteriors_of_several_outputs_sum_to_one():
    made = GaussianPosteriors(rng.uniform(0.2, 1, size=(4, 2, 3)), np.zeros(4)).apply(SCORES)
    np.testing.assert_allclose(np.exp(made).sum(axis=1), 1)


@pytest.mark.parametrize("method", ["predict_log_proba", "decision_function"])
def test_any_estimator_as_a_stage(method):
    model = LogisticRegression().fit(X, np.arange(len(X)) % 3)
    np.testing.assert_array_equal(EstimatorScores(model, method, 3).apply(X), getattr(model, method)(X))


def test_a_vector_of_predictions_becomes_a_column():
    model = Ridge().fit(X, X[:, 0])
    assert EstimatorScores(model, "predict", 1).apply(X).shape == (len(X), 1)


def test_both_classes_adds_a_column_of_zeros_to_one_alone():
    np.testing.assert_array_equal(both_classes(SCORES[:, :1]), np.column_stack([np.zeros(30), SCORES[:, 0]]))
    assert both_classes(SCORES) is SCORES
