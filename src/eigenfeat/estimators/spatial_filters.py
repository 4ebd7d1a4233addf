"""What the estimators of signals share: trials -> moments of samples -> quotients -> filters -> power of each."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from eigenfeat._sklearn import COUNT, POSITIVE
from eigenfeat.estimators.base import REGULARISATION_CONSTRAINTS
from eigenfeat.estimators.edge import ComponentsMixin, Estimator
from eigenfeat.moments import Moments, collect_moments
from eigenfeat.quotients import Quotient, Regularisation
from eigenfeat.rows.functions import time_samples
from eigenfeat.rows.rows import Rows, as_rows
from eigenfeat.solvers import Directions, solve
from eigenfeat.stages import BandPass, Chain, FilterBank, Fitted, SignalPower, Stage, UnitPower

Named = tuple[Any, Quotient]
"""A problem, and what a reader calls its components."""


class SpatialFilters(ComponentsMixin, Estimator):
    """Base of the estimators that look at (trials, channels, time) arrays through filters of the channels.

    A subclass says which quotients its trials pose (`_problems`) and which of their directions to keep (`_strongest`).
    """

    # What every subclass takes.
    n_components: int | None
    ridge: float
    shrinkage: float | str | None
    log: bool
    normalise: bool
    bands: Sequence | None
    sampling_rate: float | None

    _takes_sparse = False
    _parameter_constraints: dict = {
        "n_components": [None, COUNT],
        **REGULARISATION_CONSTRAINTS,
        "log": ["boolean"],
        "normalise": ["boolean"],
        "bands": [None, "array-like"],
        "sampling_rate": [None, POSITIVE],
    }

    @abstractmethod
    def _problems(self, trials: Rows, target: np.ndarray, weights: np.ndarray | None) -> list[Named]:
        """The quotients that trials, in one band, pose."""

    @abstractmethod
    def _strongest(self, values: np.ndarray) -> np.ndarray:
        """Positions of the components to keep, most telling first, from all eigenvalues in descending order."""

    # ------------------------------------------------------------------ input

    def _check(self, X: Any, y: Any = "no_validation", *, reset: bool = True, **options: Any) -> Any:
        """Trials as they are stored: integers become floats a block at a time."""
        if not sparse.issparse(X) and np.ndim(X) != 3:
            raise ValueError(
                f"Expected 3D array of trials, (trials, channels, time), got {np.ndim(X)}D array instead, of shape "
                f"{np.shape(X)}. One trial alone is X[None]; a continuous recording is cut into trials first."
            )
        if getattr(X, "dtype", np.dtype(np.float64)).kind in "biu":
            options = {"dtype": "numeric", **options}
        checked = super()._check(X, y, reset=reset, **{"allow_nd": True, **options})
        trials = checked[0] if isinstance(checked, tuple) else checked
        if trials.shape[1] < 1 or trials.shape[2] < 2:
            raise ValueError(
                f"Trials of shape (channels, time) = {trials.shape[1:]} have no covariance: at least one channel and "
                "two samples are needed."
            )
        return checked

    def _check_settings(self, n_channels: int) -> None:
        if self.n_components is not None and self.n_components > n_channels:
            raise ValueError(
                f"n_components={self.n_components} is more than the {n_channels} channels: give at most {n_channels}, "
                "or None for all."
            )
        if self.bands is not None:
            self._check_bands()

    def _check_bands(self) -> None:
        if self.sampling_rate is None:
            raise ValueError("bands are in Hz and need sampling_rate, the samples a second of each channel.")
        bands = np.asarray(self.bands, dtype=np.float64)
        if bands.ndim != 2 or bands.shape[1] != 2 or not len(bands):
            raise ValueError(f"bands is a list of (low, high) in Hz, got {self.bands!r}.")
        nyquist = self.sampling_rate / 2
        for low, high in bands.tolist():
            if not 0 < low < high < nyquist:
                raise ValueError(
                    f"bands has ({low:g}, {high:g}); a band is 0 < low < high < {nyquist:g} Hz, half of "
                    f"sampling_rate={self.sampling_rate:g}."
                )

    # ------------------------------------------------------------------ fit

    def _fit_trials(self, X: np.ndarray, target: np.ndarray, weights: np.ndarray | None) -> list[Any]:
        """Publish the filters of every problem in every band; the names of the components come back."""
        trials = as_rows(X)
        self.n_channels_in_ = X.shape[1]
        chains, kept, patterns, names = [], [], [], []
        for prepared in self._preparations():
            everything, subjects = self._solved(prepared.over(trials), target, weights)
            chosen = [self._strongest(found.values) for found in everything]
            here = [found.take(chosen[i]) for i, found in enumerate(everything)]
            # All filters of a problem undo the mixing together: only then is a pattern free of which ones are kept.
            patterns += [np.linalg.pinv(found.toarray())[chosen[i]] for i, found in enumerate(everything)]
            names += [own[i] for own, places in zip(subjects, chosen) for i in places]
            vectors = type(here[0].vectors).joined([found.vectors for found in here])
            chains.append(prepared.then(SignalPower(vectors, self.log)))
            kept.append(here)
        self.fitted_ = Fitted(features=chains[0] if len(chains) == 1 else Chain((FilterBank(tuple(chains)),)))
        self._publish(kept, np.vstack(patterns))
        return names

    def _solved(
        self, trials: Rows, target: np.ndarray, weights: np.ndarray | None
    ) -> tuple[list[Directions], list[Sequence[Any]]]:
        """All filters of every problem that trials, in one band, pose, and what a reader calls each."""
        problems = self._problems(trials, target, weights)
        self.criterion_ = problems[0][1].kind
        everything = solve([quotient for _, quotient in problems])
        return everything, [[name] * found.n_directions for (name, _), found in zip(problems, everything)]

    def _publish(self, kept: list[list[Directions]], patterns: np.ndarray) -> None:
        """What is known of each component, in the order of the features."""
        every = [found for band in kept for found in band]
        self.components_ = np.vstack([found.toarray().T for found in every])
        self.patterns_ = patterns
        self.eigenvalues_ = np.concatenate([found.values for found in every])
        self.residuals_ = np.concatenate([found.residuals for found in every])
        self.solver_ = every[0].solver
        counts = [sum(found.n_directions for found in band) for band in kept]
        bands = None if self.bands is None else np.asarray(self.bands, dtype=np.float64)
        self.bands_ = None if bands is None else np.repeat(bands, counts, axis=0)

    def _preparations(self) -> list[Chain]:
        """What is done to trials before they are filtered in space, a chain a band."""
        power: tuple[Stage, ...] = (UnitPower(),) if self.normalise else ()
        if self.bands is None:
            return [Chain(power)]
        assert self.sampling_rate is not None
        return [Chain((BandPass.of(low, high, self.sampling_rate), *power)) for low, high in self.bands]

    def _moments(self, trials: Rows, labels: np.ndarray | None, weights: np.ndarray | None) -> Moments:
        """Moments of the samples of trials: those about the origin are mean covariances of trials."""
        trials = as_rows(trials, labels, weights)
        samples = trials.map(time_samples, n_columns=self.n_channels_in_, n_rows=None)
        return collect_moments(samples, track_fourth=self._regularisation().needs_fourth_moment)

    def _regularisation(self) -> Regularisation:
        return Regularisation(self.ridge, self.shrinkage)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.target_tags.required = True
        return tags
