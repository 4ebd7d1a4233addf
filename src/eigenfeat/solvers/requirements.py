"""What a solver may ask of a problem, and the one check that explains why it cannot run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from eigenfeat.moments.forms import DenseForm, FactoredForm
from eigenfeat.quotients.quotient import Quotient
from eigenfeat.solvers.request import Request

#: Columns up to which d × d arrays are formed when a problem comes factored: 200 MB each in float64.
MODERATE_SIZE = 5000


def has_signal_factor(quotient: Quotient, request: Request) -> bool:
    return quotient.signal_factor is not None


def is_factored(quotient: Quotient, request: Request) -> bool:
    S, N = quotient.signal, quotient.noise
    return isinstance(S, FactoredForm) and isinstance(N, FactoredForm) and S.store is N.store and not np.any(S.shift)


def is_moderate(quotient: Quotient, request: Request) -> bool:
    return isinstance(quotient.noise, DenseForm) or quotient.n_features <= MODERATE_SIZE


def has_noise_solve(quotient: Quotient, request: Request) -> bool:
    N = quotient.noise
    by_rows = isinstance(N, FactoredForm) and not np.ndim(N.shift) and float(N.shift) > 0
    return bool(by_rows) or is_moderate(quotient, request)


def wants_largest(quotient: Quotient, request: Request) -> bool:
    return request.largest


def wants_few(quotient: Quotient, request: Request) -> bool:
    return request.n_components is not None


#: Need -> (test of a quotient and a request, what it means in words).
NEEDS: dict[str, tuple[Callable[[Quotient, Request], bool], str]] = {
    "signal_factor": (has_signal_factor, "a signal_factor H with S = HHᵀ"),
    "factored": (is_factored, "signal and noise factored over one row store, the signal without a shift"),
    "moderate_size": (is_moderate, f"matrices that are dense or have at most {MODERATE_SIZE} columns"),
    "noise_solve": (
        has_noise_solve,
        f"a noise that is dense, has at most {MODERATE_SIZE} columns, or is made of rows and one number as ridge",
    ),
    "largest": (wants_largest, 'which="largest"'),
    "n_components": (wants_few, "a given n_components"),
}


def missing(requires: tuple[str, ...], quotient: Quotient, request: Request) -> list[str]:
    """The needs a problem does not meet, in words."""
    return [NEEDS[need][1] for need in requires if not NEEDS[need][0](quotient, request)]
