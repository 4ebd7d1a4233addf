"""Conditionally positive definite kernels, which are valid for weights that sum to zero.

With the penalty ½αᵀKα and an intercept that is not penalised the weights over all rows do sum to zero: the multipliers
of the rows are balanced, and α is a multiple of them. About any point such a kernel is positive definite
(`eigenfeat.stages.kernels.Kernel`), and for these weights both have the same minimum. Over centres the kernel about the
mean of the rows is the one that is meant.

References
----------
B. Schölkopf, "The kernel trick for distances", NIPS 2000; A. Smola, B. Schölkopf and K.-R. Müller, "The connection
between regularization operators and support vector kernels", Neural Networks 11, 1998.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eigenfeat.stages.kernels import KernelRows


def about_mean(kernel: KernelRows, weights: np.ndarray) -> KernelRows | None:
    """The kernel about the weighted mean of the rows, if it is positive semi-definite there; else None."""
    if kernel.precomputed:
        return None
    mean = np.asarray((weights / weights.sum()) @ kernel.rows, dtype=np.float64)
    anchored = KernelRows(replace(kernel.kernel, anchor=tuple(mean.ravel().tolist())), kernel.rows)
    return None if anchored.is_indefinite() else anchored
