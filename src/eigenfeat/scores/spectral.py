"""First- and second-order cross-moments: their components are singular vectors and eigenvectors."""

from __future__ import annotations

import numpy as np

from eigenfeat.moments.forms import DenseForm, SymmetricForm
from eigenfeat.quotients.quotient import Quotient
from eigenfeat.scores.components import Components
from eigenfeat.scores.cross_tensor import CrossTensor, StreamedTensor
from eigenfeat.scores.decomposition import distinct
from eigenfeat.solvers import solve


def singular_components(tensor: CrossTensor, n_components: int) -> Components:
    """``E[y ⊗ S1] = Σ_r u_r ⊗ w_r``, strongest first: at most as many as there are labels."""
    U, values, W = np.linalg.svd(tensor.toarray(), full_matrices=False)
    keep = np.flatnonzero(values > values[:1] * max(U.shape[0], W.shape[1]) * np.finfo(values.dtype).eps)[:n_components]
    return Components(W[keep].T, U[:, keep] * values[keep], 1)


def label_quotients(tensor: StreamedTensor, noise: SymmetricForm) -> list[Quotient]:
    """``E[y_c S2(x)]`` over the noise, a quotient a label: symmetric, but of either sign."""
    eye = np.eye(tensor.n_labels, dtype=tensor.dtype)
    signals = [DenseForm(tensor.matrix(column).astype(np.float64)) for column in eye]
    return [Quotient(signal, noise, label=f"label {c}") for c, signal in enumerate(signals)]


def extreme_components(
    tensor: StreamedTensor, noise: SymmetricForm, basis: np.ndarray, n_components: int
) -> Components:
    """The distinct eigenvectors of all label quotients with the largest ``|λ|``, in a basis K with ``KᵀNK = I``.

    With ``M v = λ N v`` and ``vᵀNv = 1`` the tensor of a label is ``M = Σ λ (Nv)(Nv)ᵀ``: its components are the ``w
    = Nv``, unit vectors ``Kᵀw`` in the basis.
    """
    quotients = label_quotients(tensor, noise)
    count = min(n_components, basis.shape[1])
    vectors, factors = [], []
    for which in ("largest", "smallest"):
        for c, directions in enumerate(solve(quotients, count, which=which, solver="dense")):
            wanted = directions.values > 0 if which == "largest" else directions.values < 0
            vectors.append(basis.T @ (noise @ directions.toarray()[:, wanted]))
            factors.append(np.outer(np.eye(len(quotients))[:, c], directions.values[wanted]))
    found = Components(np.hstack(vectors), np.hstack(factors), 2).strongest_first()
    return found.take(distinct(found.vectors)[:n_components])
