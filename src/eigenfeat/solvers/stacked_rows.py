"""Factored signals of one shape as a stack: the inner products of many small problems without a loop over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from eigenfeat.moments.forms import FactoredForm

#: FᵀF of small signals that are still alive: a signal meets every noise, its Gram matrix is the same each time.
_GRAMS: WeakKeyDictionary[FactoredForm, np.ndarray] = WeakKeyDictionary()


@dataclass(frozen=True)
class StackedRows:
    """m signals, each one weighted set of f rows: ``F = X[index]ᵀ diag(scale)``, about the mean if ``centred``."""

    index: np.ndarray
    scale: np.ndarray
    centred: bool

    @classmethod
    def of(cls, signals: Sequence[FactoredForm]) -> StackedRows | None:
        """The stack, or None when the signals are not of this shape or not of one size."""
        first = signals[0].terms[0]
        for signal in signals:
            term = signal.terms[0]
            alike = term.centred == first.centred and len(term.index) == len(first.index)
            if len(signal.terms) != 1 or term.scale is None or not alike:
                return None
        terms = [signal.terms[0] for signal in signals]
        scale = np.stack([t.scale for t in terms])  # type: ignore[misc]
        return cls(np.stack([t.index for t in terms]), scale, first.centred)

    def inner(self, noise: FactoredForm) -> np.ndarray:
        """``FᵀG`` of every signal, (m, f, g)."""
        m, f = self.index.shape
        rows = self.index.ravel()
        parts = []
        for term in noise.terms:
            block = self._from_values(noise.store.gram(rows, term.index).reshape(m, f, len(term.index)))
            parts.append(term.gather(block.reshape(m * f, len(term.index)).T).T.reshape(m, f, term.rank))
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=2)

    def row_coefficients(self, block: np.ndarray) -> np.ndarray:
        """c with ``F block = X[index]ᵀ c``, (m, f, r)."""
        return self.scale[:, :, None] * self._about_mean(block)

    def _from_values(self, block: np.ndarray) -> np.ndarray:
        return self._about_mean(self.scale[:, :, None] * block)

    def _about_mean(self, block: np.ndarray) -> np.ndarray:
        if not self.centred:
            return block
        unit = self.scale / np.linalg.norm(self.scale, axis=1, keepdims=True)
        return block - unit[:, :, None] * (unit[:, None, :] @ block)


def small_gram(signal: FactoredForm) -> np.ndarray:
    """``FᵀF``, remembered as long as the signal lives."""
    known = _GRAMS.get(signal)
    if known is None:
        known = _GRAMS[signal] = signal.inner(signal)
    return known
