"""Symmetric matrices by name: what a signal or a noise may be made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from eigenfeat.moments import Moments, SymmetricForm, identity_like


@dataclass(frozen=True)
class NamedMatrix:
    """A matrix as a function of moments, and whether it needs the labels of the rows."""

    of: Callable[[Moments], SymmetricForm]
    needs_labels: bool = False


MATRICES: dict[str, NamedMatrix] = {
    "between": NamedMatrix(lambda moments: moments.between(), needs_labels=True),
    "within": NamedMatrix(lambda moments: moments.within(), needs_labels=True),
    "total": NamedMatrix(lambda moments: moments.covariance()),
    "second_moment": NamedMatrix(lambda moments: moments.second_moment()),
    "identity": NamedMatrix(lambda moments: identity_like(moments.second_moment())),
}
