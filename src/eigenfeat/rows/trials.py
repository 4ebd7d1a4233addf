"""Multichannel signals as rows: trials of (channels, time), and their samples one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from eigenfeat.rows.blocks import BLOCK_BYTES
from eigenfeat.rows.source import Block, Rows


def centred_trials(trials: np.ndarray) -> np.ndarray:
    """(n, channels, time) trials with the mean over time of every channel taken off."""
    return trials - trials.mean(axis=-1, keepdims=True, dtype=None if trials.dtype.kind == "f" else np.float64)


@dataclass(frozen=True, eq=False)
class TimeSamples(Rows):
    """The samples of (n, channels, time) trials as rows of channels, each trial seen from its own mean.

    A trial's label is that of its samples, and they share its weight equally: the second moment of these rows is the
    weighted mean of the covariances of the trials. How many rows there are is left unsaid, for moments of channels are
    matrices of channels, however short the trials.

    Parameters
    ----------
    trials : Rows
        With blocks of three dimensions.
    n_channels : int

    Examples
    --------
    >>> import numpy as np
    >>> from eigenfeat.moments import collect_moments
    >>> from eigenfeat.rows import TimeSamples, as_row_source
    >>> trials = np.random.default_rng(0).normal(size=(7, 3, 50))
    >>> samples = TimeSamples(as_row_source(trials), n_channels=3)
    >>> mean_covariance = np.mean([np.cov(trial, bias=True) for trial in trials], axis=0)
    >>> bool(np.allclose(collect_moments(samples).second_moment().toarray(), mean_covariance))
    True
    """

    trials: Rows
    n_channels: int

    @property
    def n_columns(self) -> int:
        return self.n_channels

    @property
    def dtype(self) -> np.dtype:
        return self.trials.dtype

    def blocks(self, batch_size: int | None = None) -> Iterator[Block]:
        """Samples of a few trials at a time; ``batch_size`` counts trials."""
        a_few = max(1, BLOCK_BYTES // max(1, self.trials.n_columns * self.dtype.itemsize))
        for block in self.trials.blocks(batch_size or a_few):
            n, d, T = block.X.shape
            samples = centred_trials(block.X).transpose(0, 2, 1).reshape(n * T, d)
            labels = None if block.y is None else np.repeat(block.y, T)
            weights = None if block.weight is None else np.repeat(block.weight / T, T)
            yield Block(samples, labels, weights, block.start * T)
