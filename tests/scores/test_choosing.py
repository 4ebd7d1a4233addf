"""The loss of score matching, and what is chosen by it."""

import numpy as np
import pytest
from score_models_for_tests import autoencoder, gradient

from eigenfeat.scores.choosing import Trial, plainest


@pytest.mark.parametrize("sigmoid_output", [False, True])
def test_the_loss_has_the_divergence_of_the_score(sigmoid_output):
    model = autoencoder(sigmoid_output)
    for x in np.random.default_rng(0).normal(size=(3, 5)):
        s = model.score1(x[None])[0]
        divergence = np.trace(gradient(lambda z: model.score1(z[None])[0], x))
        np.testing.assert_allclose(model.score_matching(x[None])[0], s @ s / 2 - divergence, rtol=1e-6)


def test_differences_of_the_loss_are_those_of_the_distance_to_the_true_score():
    """Hyvärinen's identity: rows of a standard Gaussian, whose score is the row itself."""
    X = np.random.default_rng(1).normal(size=(200_000, 5))
    models = [autoencoder(False, seed=seed, corruption_variance=2.0, gain=0.2) for seed in (1, 2)]
    losses = [model.score_matching(X) for model in models]
    distances = [np.square(model.score1(X) - X).sum(axis=1) / 2 for model in models]
    difference = (losses[0] - losses[1]) - (distances[0] - distances[1])
    assert abs(difference.mean()) < 4 * difference.std() / np.sqrt(len(X))
    assert abs(np.mean(distances[0] - distances[1])) > 0.1


def test_the_plainest_that_cannot_be_told_from_the_best():
    rng = np.random.default_rng(2)
    best = rng.normal(size=400)
    worse, equal = best + 0.5 + 0.1 * rng.normal(size=400), best + 0.01 * (rng.normal(size=400) + 0.01)
    trials = [Trial((10, 1.0), worse), Trial((10, 0.5), equal), Trial((10, 0.2), best), Trial((10, 0.1), best * np.nan)]
    assert plainest(trials).setting == (10, 0.5)
