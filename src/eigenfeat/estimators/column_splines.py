"""Columns bent by splines, and by surfaces over pairs of them: a base map for tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.utils.validation import check_is_fitted

from eigenfeat._sklearn import Integral, Interval, check_feature_names_in, checked_fit
from eigenfeat.estimators.edge import Estimator, FeaturesMixin
from eigenfeat.estimators.validation import check_weights
from eigenfeat.features.column_basis import column_basis, n_values, required_pairs
from eigenfeat.features.columns import sample_size
from eigenfeat.rows.rows import ArrayRows, Rows
from eigenfeat.rows.sampling import RowSample, sampled
from eigenfeat.stages import Chain, FeatureLayer, Fitted

N_KNOTS = 6
"""Knots a column by default: curves with four bends."""


def basis_sample(rows: Rows) -> RowSample:
    """What a basis of the columns of these rows is learnt from."""
    return sampled(rows, sample_size(rows.n_columns))


class ColumnSplines(FeaturesMixin, Estimator):
    r"""The columns, a cubic spline basis of each, and surfaces over pairs of them.

    .. math:: x \mapsto [\,s x,\; B_1(x_j), \ldots, B_m(x_j),\; 2\, h_a(x_i)\, h_b(x_j)\,]

    with B-splines :math:`B` on knots at quantiles of a column, of which a value that many rows are at takes one, and
    hat functions :math:`h`, piecewise linear and one at their knot, on fewer. A linear method on them is an additive
    model, with products one with all interactions of two columns. The second moments of such a basis hold fourth-order
    moments of the columns, so GEM on it tells classes apart that its own quadratic forms do not:
    ``GEMClassifier(base_map="splines")`` is GEM on this map.

    Parameters
    ----------
    n_knots : int
        Knots of the splines a column, the outer two included.
    products : bool
        Whether to make surfaces over pairs of columns; their knots a column are as many, from nine to three, as keep
        splines and surfaces within 600 columns, which takes eleven columns at most.

    Attributes
    ----------
    fitted_ : `eigenfeat.stages.Fitted`
    n_features_in_ : int

    Notes
    -----
    A column of two values is not bent; of three or four, as codes of categories have, splines tell all apart. Scale the
    columns first (`ColumnScaler`): ``s`` is one factor, which brings the mean square over all columns to one. Knots are
    learnt from 20,000 rows at most, chosen by a hash of their numbers.

    References
    ----------
    de Boor (1978), *A practical guide to splines*.
    Hastie & Tibshirani (1990), *Generalized additive models*.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenfeat import ColumnSplines, MultinomialLogit
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> basis = ColumnSplines(products=True).fit(X)
    >>> bool(MultinomialLogit().fit(basis.transform(X), y).score(basis.transform(X), y) > 0.95)
    True
    """

    _takes_sparse = False
    _parameter_constraints: dict = {
        "n_knots": [Interval(Integral, 2, None, closed="left")],
        "products": ["boolean"],
    }

    def __init__(self, n_knots=N_KNOTS, *, products=False):
        self.n_knots = n_knots
        self.products = products

    @checked_fit
    def fit(self, X, y=None, sample_weight=None):
        """Place the knots.

        Parameters
        ----------
        X : (n, d) array or dataframe
        y : None
            Not used.
        sample_weight : (n,) array, optional
            An integer weight equals that many copies of the row.

        Returns
        -------
        self
        """
        self._check_unused(X, y)
        X = self._check(X)
        rows = ArrayRows(X, None, check_weights(sample_weight, X))
        sample = basis_sample(rows)
        pairs = required_pairs(n_values(sample), self.n_knots) if self.products else ()
        self.fitted_ = Fitted(features=Chain((column_basis(sample, self.n_knots, pairs),)))
        return self

    def get_feature_names_out(self, input_features=None):
        """Names of the columns of `transform`: the inputs, then column and function.

        Parameters
        ----------
        input_features : sequence of str, optional
            Names of the input columns, where `fit` saw none.

        Returns
        -------
        (n_features_out,) array of str
        """
        check_is_fitted(self, "fitted_")
        (basis,) = self.fitted_.features.stages  # type: ignore[union-attr]
        return np.asarray(basis_names(basis, check_feature_names_in(self, input_features)), dtype=object)  # type: ignore[arg-type]


def basis_names(basis: FeatureLayer, names: Sequence[str]) -> list[str]:
    """What the columns of a basis are called."""
    curved = [names[int(j)] for j in basis.projection.vectors.toarray().argmax(axis=0)]
    return [*names, *basis.feature_map.feature_names(curved)]
