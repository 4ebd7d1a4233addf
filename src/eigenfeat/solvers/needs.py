"""What the solvers of quotients may ask of a problem."""

from __future__ import annotations

import numpy as np

from eigenfeat.moments.forms import DenseForm, FactoredForm
from eigenfeat.quotients.quotient import Quotient
from eigenfeat.solvers.contract import Need
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


SIGNAL_FACTOR = Need(has_signal_factor, "a signal_factor H with S = HHᵀ")
FACTORED = Need(is_factored, "signal and noise factored over one row store, the signal without a shift")
MODERATE = Need(is_moderate, f"matrices that are dense or have at most {MODERATE_SIZE} columns")
NOISE_SOLVE = Need(
    has_noise_solve,
    f"a noise that is dense, has at most {MODERATE_SIZE} columns, or is made of rows and one number as ridge",
)
LARGEST = Need(wants_largest, 'which="largest"')
N_COMPONENTS = Need(wants_few, "a given n_components")
