"""A kernel Fisher classifier of rows read a block at a time: its expansion from all of them, its choices from a sample.

Rows that memory holds are fitted as arrays are. Of others the treatment of columns is learnt from all, the width of the
kernel, the centres, "loo"'s alpha, threshold and probabilities from a sample, and the coefficients of the centres by
conjugate gradients over all rows, a pass an iteration (`eigenfeat.kernel.streamed_nystrom`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from eigenfeat.estimators.gem_streaming import StreamedTraining, training_stream
from eigenfeat.estimators.kernel_base import left_out_alpha
from eigenfeat.estimators.kernel_settings import MOST_CENTERS, KernelSettings, default_centers, posed
from eigenfeat.estimators.streaming import fits_memory, with_class_weights
from eigenfeat.kernel import Squared, streamed_nystrom
from eigenfeat.kernel.problem import KernelProblem
from eigenfeat.kernel.search import classification_error
from eigenfeat.kernel.thresholds import one_vs_rest
from eigenfeat.rows.rows import ArrayRows
from eigenfeat.stages import Chain

#: Rows that centres are drawn from and that choices look at.
SAMPLE_ROWS = 20_000


def fit_stream(model: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    """`KernelFisherClassifier.fit` of a row source or a Dask collection."""
    stream, seen = training_stream(model, X, y, sample_weight)
    model.classes_ = seen.totals.classes
    n_centers = model.n_centers or min(default_centers(stream.n_rows, len(model.classes_)), MOST_CENTERS)
    if fits_memory(stream, seen.totals, stream.n_columns + n_centers):
        rows = stream.load()
        return model._fit_labelled(*model._weighted(rows.X, rows.y, rows.weight))
    _check_streams(model)
    model._treated_source(stream)  # learns the treatment, in which classes do not count
    stream = with_class_weights(stream, model.class_weight, model.classes_)
    assert stream.class_counts is not None
    treated = model._inputs.over(stream) if model._inputs.stages else stream
    sample, _ = StreamedTraining(stream, model.classes_, seen, stream, Chain()).sample(max(SAMPLE_ROWS, n_centers))
    problem = _posed(model, sample, n_centers)
    if isinstance(model.alpha, str):
        problem = replace(problem, alpha=left_out_alpha(problem, classification_error(model.threshold)).alpha)
    solution = streamed_nystrom.solve(treated, stream.class_counts, problem, model._request())
    model._keep_rule(solution, problem, np.asarray(sample.y))
    return model


def _posed(model: Any, sample: ArrayRows, n_centers: int) -> KernelProblem:
    """The problem over the sample, with points for centres."""
    codes = np.asarray(sample.y)
    weights = np.ones(len(codes)) if sample.weight is None else sample.weight
    settings: KernelSettings = replace(model._asked(), n_centers=n_centers)
    rows = model._inputs.at(sample.X) if model._inputs.stages else sample.X
    problem = posed(settings, rows, one_vs_rest(codes), weights, None, model.random_state)
    return replace(problem, centers=problem.kernel.points(problem.expanded_over))


def _check_streams(model: Any) -> None:
    """Refuses what only rows in memory can have."""
    loss_is_squared = isinstance(model.loss, str | Squared) and model.loss in ("squared", Squared())
    by_number = model.centers is not None and not isinstance(model.centers, str) and np.ndim(model.centers) == 1
    wrong = {
        "solver": model.solver not in ("auto", "nystrom"),
        "loss": not loss_is_squared,
        "penalty": model.penalty == "sparse",
        "kernel": model.kernel == "precomputed",
        "multi_class": model.multi_class == "joint",
        "invariances": bool(model.invariances),
        "centers": by_number,
    }
    for name in (name for name, is_wrong in wrong.items() if is_wrong):
        raise ValueError(
            f"{name}={getattr(model, name)!r} needs rows in memory: a stream that is larger has loss='squared', a "
            "quadratic penalty, solver='auto' or 'nystrom', and centres that are drawn or points. Hold the rows "
            "(source.load(), or more memory of eigenfeat.runtime), or leave this parameter at its default."
        )
