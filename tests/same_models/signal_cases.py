"""Spatial filters of trials."""

from __future__ import annotations

from collections.abc import Iterator

from recording import Case, cases_of
from same_data import followed_trials, trials

OUTPUTS = ("transform", "eigenvalues_", "components_", "patterns_")
SINGLE = {
    "given": "float32",
    "tolerance": 1e-4,
    "reason": "float32 signals, whose sums round at 6e-8",
}
BANDS = {"bands": [(8, 12), (16, 24)], "sampling_rate": 100.0}


def signal_cases() -> Iterator[Case]:
    patterns = cases_of("CommonSpatialPatterns", trials, OUTPUTS)
    yield patterns("joint", n_components=3)
    yield patterns("all pairs", class_pairs="all", weighted=True)
    yield patterns("one-vs-rest", class_pairs="one-vs-rest", shrinkage="auto", log=False)
    yield patterns("bands", outputs=("transform", "eigenvalues_"), ridge=0.1, **BANDS)
    yield patterns("normalised", normalise=True)
    yield patterns("float32", **SINGLE)
    power = cases_of("SPoC", followed_trials, OUTPUTS, n_components=3)
    yield power("plain")
    yield power("weights", weighted=True, shrinkage=0.2)
    yield power("bands", outputs=("transform", "eigenvalues_"), ridge=0.1, **BANDS)
    yield power("float32", **SINGLE)
