"""CommonSpatialPatterns beside pyRiemann's and MNE's CSP on motor imagery: accuracy in the same folds, time to fit.

    python benchmarks/eeg_csp.py

One subject of PhysioNet's EEGMMI: 64 channels at 160 Hz, trials of 4.1 s, fists and feet moved or imagined. All trials
are filtered to 7-30 Hz once, by the same filter; features are log-variances, and scikit-learn's linear discriminant
follows them. Folds are stratified and drawn anew in every repeat. Each method is shown with its own default of four
filters; for four classes, where that makes 24 features here, the others also with 24 filters. The filter
bank gets the trials as they were recorded, and of its features as many as the others have are kept, by an F test on the
training trials. A method that is not installed is left out with a word.

± is the standard deviation over repeats of the mean over folds. How well the accuracy of one subject is known at all is
another matter: its binomial error stands in the head line. For two classes the filters of all three are the same, but
half are taken from each end here, the strongest whatever their end there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline

sys.path.insert(0, str(Path(__file__).parent))
from datasets import load_eeg
from eigenfeat import CommonSpatialPatterns
from eigenfeat.stages import BandPass

N_FOLDS, N_REPEATS = 5, 3
BAND = (7.0, 30.0)
BANK = [(low, low + 4.0) for low in range(8, 28, 4)]
Tasks = dict[str, tuple[np.ndarray, np.ndarray]]


def tasks(data: dict[str, np.ndarray]) -> Tasks:
    """By name: which trials, and their labels."""
    y, imagined = data["y"], data["imagined"]
    everything = np.arange(len(y))
    hands = everything[(y < 2) & imagined]
    feet = everything[(y >= 2) & imagined]
    return {
        "left fist / right fist, imagined": (hands, y[hands]),
        "both fists / both feet, imagined": (feet, y[feet]),
        "four classes, moved and imagined": (everything, y),
    }


def ours(sampling_rate: float, n_classes: int) -> Iterator[tuple[str, str, object]]:
    """Name, which trials it gets ("band" or "raw"), the transformer."""
    yield "eigenfeat", "band", CommonSpatialPatterns()
    yield "eigenfeat, shrinkage 0.1", "band", CommonSpatialPatterns(shrinkage=0.1)
    if n_classes > 2:
        yield "eigenfeat, by pairs", "band", CommonSpatialPatterns(class_pairs="all")
        yield "eigenfeat, one-vs-rest", "band", CommonSpatialPatterns(6, class_pairs="one-vs-rest")
    best = SelectKBest(f_classif, k=4 if n_classes == 2 else 24)
    bank = CommonSpatialPatterns(bands=BANK, sampling_rate=sampling_rate)
    yield "eigenfeat, bank of five bands", "raw", make_pipeline(bank, best)


def peers(n_filters: int) -> Iterator[tuple[str, str, object]]:
    """The peers that are installed."""
    try:
        from pyriemann.estimation import Covariances
        from pyriemann.spatialfilters import CSP
    except ImportError:
        print("pyRiemann is not installed: left out (pip install pyriemann)")
    else:
        yield f"pyRiemann, {n_filters} filters", "band", make_pipeline(Covariances("cov"), CSP(nfilter=n_filters))
    try:
        import mne
    except ImportError:
        print("MNE is not installed: left out (pip install mne)")
    else:
        mne.set_log_level("ERROR")
        yield f"MNE, {n_filters} filters", "band", mne.decoding.CSP(n_components=n_filters, log=True)


def score(features: object, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, float]:
    """Mean accuracy over the folds of every repeat, and the median time to fit the filters."""
    accuracies, seconds = np.empty((N_REPEATS, N_FOLDS)), []
    for repeat in range(N_REPEATS):
        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=repeat).split(X, y)
        for fold, (train, test) in enumerate(folds):
            first, trials = clone(features), X[train]
            start = perf_counter()
            first.fit(trials, y[train])
            seconds.append(perf_counter() - start)
            last = LinearDiscriminantAnalysis().fit(first.transform(trials), y[train])
            accuracies[repeat, fold] = Pipeline([("filters", first), ("lda", last)]).score(X[test], y[test])
    return accuracies.mean(axis=1), float(np.median(seconds))


def main() -> None:
    data = load_eeg()
    sampling_rate = float(data["fs"])
    recorded = data["X"].astype(np.float64)
    views = {"raw": recorded, "band": BandPass.of(*BAND, sampling_rate).apply(recorded)}
    lines = []
    for name, (chosen, y) in tasks(data).items():
        n_classes = len(np.unique(y))
        error = 50 / np.sqrt(len(y))
        lines.append(f"\n{name}: {len(y)} trials, chance {100 / n_classes:.0f} %, binomial error up to {error:.1f}")
        lines.append(f"{'method':<34}{'features':>9}{'accuracy %':>16}{'fit ms':>9}")
        for method, view, features in (
            *ours(sampling_rate, n_classes),
            *peers(4),
            *(peers(24) if n_classes > 2 else ()),
        ):
            X = views[view][chosen]
            accuracy, seconds = score(features, X, y)
            width = clone(features).fit(X, y).transform(X[:1]).shape[1]
            spread = f"{100 * accuracy.mean():.1f} ± {100 * accuracy.std(ddof=1):.1f}"
            lines.append(f"{method:<34}{width:>9}{spread:>16}{1000 * seconds:>9.0f}")
            print(f"{name}, {method}: done", file=sys.stderr, flush=True)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
