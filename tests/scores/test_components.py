"""The joint fit of components."""

import numpy as np
from score_models_for_tests import incoherent, planted

from eigenfeat.scores.components import fit_label_factors, refine, unit_columns
from eigenfeat.scores.quality import fit_quality


def test_the_joint_fit_never_raises_the_error_and_its_gradient_vanishes():
    rng = np.random.default_rng(0)
    tensor = planted(incoherent(rng, 6, 5), 5000, 0).condensed()
    start = fit_label_factors(tensor, unit_columns(rng.normal(size=(6, 5))))
    errors = [refine(tensor, start.components, n, 0.0).error for n in (1, 5, 25, 125)]
    assert all(later <= earlier + 1e-12 for earlier, later in zip([start.error, *errors], errors))
    at_end = refine(tensor, start.components, 500, 0.0).components
    assert fit_quality(tensor, at_end, rng).residuals.max() < 2e-3  # the label ridge leaves a thousandth
