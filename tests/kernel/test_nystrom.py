"""Conjugate gradients over kernel blocks: the minimum of the direct solvers, and nothing kept."""

from dataclasses import replace

import numpy as np
import pytest
from written_out import check_minimum, small_problem, two_classes

from eigenfeat.kernel import nystrom, subset
from eigenfeat.kernel.problem import KernelRequest
from eigenfeat.stages.kernels import Kernel, KernelRows

PENALTIES = ["function", "coefficients"]


@pytest.mark.parametrize("penalty", ["function", "coefficients"])
@pytest.mark.parametrize("alpha", [0.03, 3.0])
def test_reaches_the_written_out_minimum(penalty, alpha):
    problem = small_problem("squared", penalty, alpha)
    assert check_minimum(problem, nystrom.solve(problem, KernelRequest(tol=1e-9, max_iter=200))).converged


@pytest.mark.parametrize("penalty", PENALTIES)
def test_nystrom_and_subset_agree_over_centres(penalty):
    problem = replace(two_classes(penalty, 0.1, n=300), centers=np.arange(0, 300, 5))
    iterated, direct = nystrom.solve(problem, KernelRequest(tol=1e-8)), subset.solve(problem)
    np.testing.assert_allclose(iterated.objective, direct.objective, rtol=1e-6)
    np.testing.assert_allclose(iterated.outputs, direct.outputs, atol=1e-6)


def test_nystrom_never_holds_the_kernel_block(monkeypatch):
    """Only blocks of at most `block_entries` values exist, whatever the number of rows."""
    problem = replace(two_classes("function", 1.0, n=2000), centers=np.arange(100))
    monkeypatch.setattr(KernelRows, "block_entries", 5000)
    seen = []
    original = Kernel.of_products

    def spy(self, products):
        seen.append(products.size)
        return original(self, products)

    monkeypatch.setattr(Kernel, "of_products", spy)
    nystrom.solve(problem, KernelRequest(tol=1e-2))
    assert max(seen) <= 100 * 100
