"""A criterion of one's own: the shift between the first and the last class over the covariance of all the others."""

import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from eigenfeat import RayleighFeatures
from eigenfeat.moments import DenseForm
from eigenfeat.quotients import CRITERIA, Criterion, Quotient


def mean_shift(moments):
    """``(m - m')(m - m')ᵀ`` over the pooled covariance of the classes in between."""
    shift = moments.means[-1] - moments.means[0]
    between = np.arange(1, moments.n_classes - 1)
    return Quotient(
        signal=DenseForm(np.outer(shift, shift)),
        noise=moments.covariance(moments.pool(between)),
        signal_factor=shift[:, None],  # S = HHᵀ: the problem is 1 × 1
        references=shift[None],  # the last class on the positive side, whatever the basis of the input
        origin=moments.mean(),  # rows are seen from here
        label="last from first",
        kind="mean_shift",
    )


CRITERIA["mean_shift"] = Criterion("mean_shift", "shift of two means", "covariance of the others", True, mean_shift)

X, y = load_wine(return_X_y=True)
model = RayleighFeatures(criterion="mean_shift", ridge=0.1).fit(scale(X), y)
print(model.criterion_, model.solver_, model.eigenvalues_.round(1))
