"""The error that is reported against that of the dense tensor."""

from dataclasses import replace

import numpy as np
import pytest

from eigenfeat.scores.components import fit_label_factors, refine, unit_columns
from eigenfeat.scores.cross_tensor import DenseTensor
from eigenfeat.scores.quality import fit_quality


@pytest.mark.parametrize("n_features", [5, 14])
def test_reported_error_is_the_dense_one(n_features):
    """Exactly where every coordinate can be probed, to a few per cent where probes are random."""
    rng = np.random.default_rng(0)
    n_labels = 2 if n_features == 5 else 12
    T = rng.normal(size=(n_labels,) + (n_features,) * 3)
    T = sum(
        T.transpose(0, *(1 + np.array(p))) for p in [(0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (1, 0, 2), (2, 1, 0)]
    )
    tensor = DenseTensor(T)
    found = refine(
        tensor, fit_label_factors(tensor, unit_columns(rng.normal(size=(n_features, 4)))).components, 50, 1e-9
    )
    quality = fit_quality(tensor, found.components, np.random.default_rng(1))
    full = np.einsum("kr,ir,jr,lr->kijl", found.components.label_factors, *[found.components.vectors] * 3)
    rtol = 1e-10 if n_features == 5 else 0.1
    np.testing.assert_allclose(quality.relative_error, np.linalg.norm(T - full) / np.linalg.norm(T), rtol=rtol)
    np.testing.assert_allclose(quality.squared_norm, np.sum(T**2), rtol=2 * rtol)
    assert quality.residuals.max() < 1e-2


def test_components_that_are_far_too_long_leave_the_error_finite():
    """Random probes of what is left then say that the tensor has a negative norm."""
    rng = np.random.default_rng(0)
    T = rng.normal(size=(12, 14))[:, :, None, None] * np.ones((14, 14))
    tensor = DenseTensor(T + T.transpose(0, 2, 1, 3) + T.transpose(0, 3, 2, 1))
    fitted = fit_label_factors(tensor, unit_columns(rng.normal(size=(14, 1)))).components
    found = replace(fitted, label_factors=1e6 * fitted.label_factors)
    norms = [fit_quality(tensor, found, np.random.default_rng(seed)).squared_norm for seed in range(8)]
    longest = np.linalg.norm(tensor.vector_products(unit_columns(fitted.label_factors), *[fitted.vectors] * 2))
    assert min(norms) == pytest.approx(longest**2)
    errors = [fit_quality(tensor, found, np.random.default_rng(seed)).relative_error for seed in range(8)]
    assert np.isfinite(errors).all()
