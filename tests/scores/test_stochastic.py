"""Components from mini-batches."""

import numpy as np
from score_models_for_tests import incoherent, planted, worst_cosine

from eigenfeat.scores.decomposition import Search
from eigenfeat.scores.stochastic import Batches, decompose_stochastically


def test_stochastic_updates_recover_planted_components():
    W = incoherent(np.random.default_rng(3), 10, 6)
    tensor = planted(W, 50_000, 3)
    batches = Batches(size=4000, n_batches=10)
    found = decompose_stochastically(tensor, 6, np.random.default_rng(0), batches, Search(max_iter=30)).components
    assert worst_cosine(W, found) > 0.95
