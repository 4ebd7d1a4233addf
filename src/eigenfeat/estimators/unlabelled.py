"""Rows without labels beside those with: they help to learn columns, axes and densities."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


def beside(X: Any, share: np.ndarray, unlabelled: Any) -> tuple[Any, np.ndarray]:
    """Labelled rows and, after them, those without labels, each of which weighs as much as the mean labelled one."""
    if unlabelled is None:
        return X, share
    if sparse.issparse(X) != sparse.issparse(unlabelled):
        raise ValueError("unlabelled and X must both be sparse or both be dense: convert one of them.")
    rows = sparse.vstack([X, unlabelled], format="csr") if sparse.issparse(X) else np.vstack([X, unlabelled])
    return rows.astype(X.dtype, copy=False), np.append(share, np.full(unlabelled.shape[0], share.mean()))
