"""Time of the convex stage on MNIST GEM features to a relative objective gap of 1e-3, against scikit-learn.

    python benchmarks/speed/logit.py [--quick] [--cap SECONDS] [--alpha ALPHA]

Both minimise the same function, ``mean loss + ½ alpha ‖W‖²`` (C = 1 / (alpha n) there), in float32: ours on lazily
expanded projections, ``LogisticRegression(solver="lbfgs")`` on the formed matrix. The minimum f* is the lowest value
seen, ours carried on in float64. scikit-learn's objective is read off every evaluation it makes; it is stopped at the
gap or when its time is up ("more than"), so that everything ends within 15 minutes on two cores.
Processor seconds, which other load on the machine disturbs less, stand beside the seconds on the clock.
"""

from __future__ import annotations

import argparse
import resource
import sys
import warnings
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.linear_model._linear_loss import LinearModelLoss

sys.path.insert(0, str(Path(__file__).parents[1]))
from datasets import load_mnist
from eigenfeat import GEMFeatures
from eigenfeat.features.maps import as_feature_map
from eigenfeat.linear.logit import LogitFit, LogitSolver
from eigenfeat.rows import ArrayRows
from eigenfeat.stages import Affine, Chain, FeatureLayer, LayerRows

ALPHA = 1e-3
"""Fixed, between the 1e-2 to 1e-4 that serve these features."""
GAP = 1e-3


def expansion(X: np.ndarray, components: np.ndarray, y: np.ndarray | None = None, dtype=np.float32) -> LayerRows:
    layer = FeatureLayer(Affine.of(components.T), as_feature_map("soft-cubic"), np.ones(X.shape[1]))
    return LayerRows.of(ArrayRows(X.astype(dtype), y), layer)


class Trace:
    """The lowest objective so far with the seconds it took, on the clock and of the processors."""

    def __init__(self) -> None:
        self.start = perf_counter(), process_time()
        self.points: list[tuple[float, float, float]] = []

    def add(self, value: float) -> None:
        lowest = min(value, self.value) if self.points else value
        self.points.append((perf_counter() - self.start[0], process_time() - self.start[1], lowest))

    @property
    def value(self) -> float:
        return self.points[-1][2]

    @property
    def seconds(self) -> tuple[float, float]:
        return self.points[-1][:2]

    def to(self, target: float) -> tuple[float, float] | None:
        """Seconds (clock, processors) until the objective was at most the target."""
        return next((point[:2] for point in self.points if point[2] <= target), None)


def ours(rows: LayerRows, alpha: float) -> tuple[Trace, LogitFit]:
    trace = Trace()
    solver = LogitSolver(rows, len(np.unique(rows.labels)))
    fit = solver.fit(alpha, tol=GAP / 5, callback=lambda _, step: trace.add(step.point.value))
    return trace, fit


class EnoughSeen(Exception):
    """Raised from inside scikit-learn's objective to end a run that has nothing more to show."""


def theirs(rows: np.ndarray, y: np.ndarray, alpha: float, target: float, cap: float) -> Trace:
    """Every evaluation scikit-learn makes, up to the target or the cap."""
    evaluate = LinearModelLoss.loss_gradient

    def recorded(self, *args, **kwargs):
        loss, gradient = evaluate(self, *args, **kwargs)
        trace.add(float(loss))
        if trace.value <= target or trace.seconds[0] > cap:
            raise EnoughSeen
        return loss, gradient

    model = LogisticRegression(C=1 / (alpha * len(y)), tol=1e-10, max_iter=100_000)
    LinearModelLoss.loss_gradient = recorded
    trace = Trace()
    try:
        model.fit(rows, y)
    except EnoughSeen:
        pass
    finally:
        LinearModelLoss.loss_gradient = evaluate
    return trace


def peak_gigabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="2000 rows, few directions")
    parser.add_argument("--cap", type=float, default=600.0, help="seconds after which scikit-learn is stopped")
    parser.add_argument("--alpha", type=float, default=ALPHA)
    arguments = parser.parse_args()
    n_rows, n_components = (2000, 2) if arguments.quick else (60_000, 20)
    warnings.simplefilter("ignore")

    mnist = load_mnist()
    X = mnist["X_train"][:n_rows].reshape(n_rows, -1).astype(np.float32) / np.float32(255)
    y = mnist["y_train"][:n_rows].astype(np.intp)
    X_test = mnist["X_test"].reshape(len(mnist["X_test"]), -1).astype(np.float32) / np.float32(255)
    components = GEMFeatures(n_components).fit(X, y).components_.astype(np.float32)
    rows = expansion(X, components, y)
    print(f"MNIST GEM features: {rows.n_rows} x {rows.n_columns}, from {len(components)} directions")

    alpha = arguments.alpha
    before = peak_gigabytes()
    trace, fit = ours(rows, alpha)
    print(
        f"ours: alpha {alpha:g}, {fit.n_iter} steps, {fit.n_passes:.0f} passes, {trace.seconds[0]:.1f} s to its own "
        f"stop; peak memory {peak_gigabytes():.2f} GB (before the fit: {before:.2f} GB)"
    )
    scores = Chain((Affine.of(fit.coef.T, fit.intercept),))
    errors = scores.at(expansion(X_test, components)).argmax(axis=1)
    print(f"test errors of ours: {np.sum(errors != mnist['y_test'])} of {len(X_test)}")

    exact = LogitSolver(expansion(X, components, y, np.float64), 10, solver="gram")
    polished = exact.fit(alpha, initial=(fit.coef, fit.intercept), tol=GAP / 100, max_iter=4)
    print(f"float64: f* {polished.objective:.8f}, estimated relative gap {polished.gap / polished.objective:.1e}")
    del exact
    minimum = min(polished.objective, fit.objective)
    rival = theirs(rows.to_array(), y, alpha, minimum * (1 + GAP), arguments.cap)

    print(f"\n{'':>8}{'seconds':>28}{'processor seconds':>28}")
    print(f"{'gap':>8}" + 2 * f"{'ours':>8}{'theirs':>11}{'ratio':>9}")
    for gap in (1.0, 0.1, 0.01, GAP):
        found, their = trace.to(minimum * (1 + gap)), rival.to(minimum * (1 + gap))
        assert found is not None
        more = "> " if their is None else ""
        pairs = list(zip(found, rival.seconds if their is None else their))
        print(f"{gap:>8g}" + "".join(f"{a:>8.1f}{more + f'{b:.1f}':>11}{more + f'{b / a:.1f}':>9}" for a, b in pairs))
    print(
        f"scikit-learn stopped at a gap of {rival.value / minimum - 1:.1e} after {len(rival.points)} evaluations "
        f"in {rival.seconds[0]:.0f} s"
    )
    clock, processor = (f"{more}{b / a:.1f}" for a, b in pairs)
    print(f"time to a relative gap of {GAP:g}, scikit-learn / ours = {clock} (processor time: {processor})")


if __name__ == "__main__":
    main()
