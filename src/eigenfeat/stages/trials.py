"""Stages of (trials, channels, time) arrays: a row is a trial, and its last axis is time."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.signal import butter, sosfiltfilt

from eigenfeat.rows.block import Matrix
from eigenfeat.rows.functions import centred_trials
from eigenfeat.solvers import Vectors
from eigenfeat.stages.stage import Beside, Stage

BAND_ORDER = 4
"""Of the Butterworth filter; running it forward and backward doubles its slopes and takes away its delay."""


@dataclass(frozen=True, eq=False)
class BandPass(Stage):
    """Trials filtered forward and backward in time, so that nothing is delayed.

    Parameters
    ----------
    sections : (s, 6) array
        The filter as second-order sections.
    """

    sections: np.ndarray

    @classmethod
    def of(cls, low: float, high: float, sampling_rate: float) -> BandPass:
        """A Butterworth filter for the frequencies from ``low`` to ``high``, in the unit of ``sampling_rate``."""
        return cls(butter(BAND_ORDER, (low, high), "bandpass", fs=sampling_rate, output="sos"))

    def apply(self, rows: Matrix) -> np.ndarray:
        padding = min(3 * (2 * len(self.sections) + 1), rows.shape[-1] - 1)  # scipy's own, where trials are long enough
        return sosfiltfilt(self.sections, rows, axis=-1, padlen=padding).astype(rows.dtype, copy=False)

    def n_columns(self, n_inputs: int) -> int:
        return n_inputs


@dataclass(frozen=True, eq=False)
class UnitPower(Stage):
    """Trials about their means, divided by the root of their power in all channels: covariances of trace one."""

    def apply(self, rows: Matrix) -> np.ndarray:
        centred = centred_trials(rows)
        power = np.einsum("nct,nct->n", centred, centred) / rows.shape[-1]
        return centred / np.sqrt(np.where(power > 0, power, 1))[:, None, None].astype(rows.dtype, copy=False)

    def n_columns(self, n_inputs: int) -> int:
        return n_inputs


@dataclass(frozen=True, eq=False)
class SignalPower(Stage):
    """The variance over time of trials seen through spatial filters, or its logarithm.

    Parameters
    ----------
    vectors : Vectors
        A filter a column.
    log : bool
        A trial that is flat behind a filter gets the logarithm of the smallest number of its type.
    """

    vectors: Vectors
    log: bool = True

    def apply(self, rows: Matrix) -> np.ndarray:
        filtered = self.vectors.toarray().T.astype(rows.dtype, copy=False) @ centred_trials(rows)
        power = np.einsum("nrt,nrt->nr", filtered, filtered) / rows.dtype.type(rows.shape[-1])
        return np.log(np.maximum(power, np.finfo(power.dtype).tiny)) if self.log else power

    def n_columns(self, n_inputs: int) -> int:
        return self.vectors.shape[1]

    @property
    def projecting(self) -> SignalPower:
        """Itself: what a trial has on a component is its power there."""
        return self

    def astype(self, dtype: np.dtype) -> SignalPower:
        return replace(self, vectors=self.vectors.astype(dtype))


@dataclass(frozen=True, eq=False)
class FilterBank(Beside):
    """Powers in several bands side by side, each with components of its own."""

    @property
    def projecting(self) -> FilterBank:
        return self
