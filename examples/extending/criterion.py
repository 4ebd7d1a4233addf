"""A criterion of one's own: the mean shift between two classes over the covariance of all the others."""

import numpy as np
from sklearn.datasets import load_iris

from eigenfeat.moments import DenseForm, collect_moments
from eigenfeat.quotients import CRITERIA, Criterion, Quotient, Regularisation
from eigenfeat.solvers import solve


def mean_shift(moments, i, j, regularisation):
    """``(mᵢ - mⱼ)(mᵢ - mⱼ)ᵀ`` over the pooled covariance of the classes that are neither."""
    shift = moments.means[i] - moments.means[j]
    others = np.setdiff1d(np.arange(moments.n_classes), [i, j])
    return Quotient(
        signal=DenseForm(np.outer(shift, shift)),
        noise=regularisation.noise(moments, moments.pool(others), "covariance"),
        signal_factor=shift[:, None],  # S = HHᵀ: the problem is 1 × 1
        references=shift[None],  # class i on the positive side, whatever the basis of the input
        label=f"{moments.classes[i]} from {moments.classes[j]}",
        kind="mean_shift",
    )


CRITERIA["mean_shift"] = Criterion("mean_shift", "shift of two means", "covariance of the others", True, mean_shift)

X, y = load_iris(return_X_y=True)
moments = collect_moments(X, y)
quotient = CRITERIA["mean_shift"].pose(moments, 2, 0, Regularisation(ridge=0.1))
directions = solve([quotient], n_components=1)[0]
print(directions.label, directions.solver, directions.values.round(1))
