"""Columns of any unit made ready for second moments, as a transformer and for the estimators that do it themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scipy import sparse
from sklearn.base import OneToOneFeatureMixin

from eigenfeat._sklearn import StrOptions, check_feature_names_in, checked_fit
from eigenfeat.estimators.edge import Estimator, FeaturesMixin, lazy_on_dask
from eigenfeat.estimators.streaming import is_stream, streamed
from eigenfeat.estimators.validation import check_weights
from eigenfeat.features.columns import WORDS, ColumnTable, sample_size, treat_columns
from eigenfeat.rows.rows import ArrayRows, Rows
from eigenfeat.rows.sampling import sampled
from eigenfeat.stages import Chain, Fitted, TreatedColumns

COLUMNS_CONSTRAINT = [StrOptions(set(WORDS)), Mapping, "array-like"]


def learn_columns(estimator: Any, rows: Rows, columns: Any) -> tuple[TreatedColumns, ColumnTable]:
    """What is done to the columns of these rows, for an estimator that knows how many and what they are called."""
    names = check_feature_names_in(estimator, None)
    return treat_columns(sampled(rows, sample_size(rows.n_columns)), columns, names)


def treated_rows(stage: TreatedColumns, rows: Rows) -> Rows:
    """Rows after the treatment, made once where they are in memory, and as they are read elsewhere."""
    if not isinstance(rows, ArrayRows):
        return Chain((stage,)).over(rows)
    treated = stage.apply(rows.X) if rows.is_sparse else Chain((stage,)).at(rows)
    return ArrayRows(treated, rows.y, rows.weight, rows.keys)


class ColumnScaler(OneToOneFeatureMixin, FeaturesMixin, Estimator):
    r"""Every column brought to a size that second moments can compare, each in the way that suits its values.

    Methods that maximise :math:`v^T S v / v^T N v` with a ridge, kernels and penalties all compare columns by their
    numbers, so what a column weighs must not be an accident of its unit. By ``columns="auto"``

    - a column with one value in all rows is dropped: it becomes zero and keeps its place;
    - columns that share a unit get *one* factor. Pixels and counts are known by a value that many rows of most columns
      are at, from which the others are about equally far; that value becomes zero, and a pixel that hardly ever
      changes stays small. Frequencies of words, whose outer per cent is more than four times as far as their mean,
      are not among them: they have long tails. Spectra, and columns somebody has standardised, are known by spreads
      that are within a factor of three; each is taken about its mean;
    - a column of two values becomes 0 and 1;
    - a column with long tails (its outer per cent twice as far from the median as its quartiles let expect of a normal)
      is made normal: :math:`\Phi^{-1}` of its rank, by linear interpolation between up to 256 quantiles, constant
      outside of the values seen;
    - any other is standardised: ``(x - mean) / standard deviation``.

    Eight columns at least have to be alike to share a unit. What was decided, and why, is `columns_`.

    Parameters
    ----------
    columns : str, dict or sequence of str
        "auto", or one treatment for all columns: "standardise", "common" (one factor), "quantile-normal", "indicator"
        (the range becomes 0 to 1), "none", "drop". A dict gives treatments of single columns by their name or number,
        the rest being "auto"; a sequence has one a column.

    Attributes
    ----------
    columns_ : `eigenfeat.features.columns.ColumnTable`
        Name, treatment, shift, factor, number of quantiles and reason a column; it prints as a table,
        ``columns_["age"]`` is one line, and ``pandas.DataFrame(columns_.as_dict())`` a dataframe.
    n_features_in_ : int

    Notes
    -----
    The treatment is learnt from 20,000 different rows at most (fewer where they have more than a hundred columns),
    chosen by a hash of their numbers: neither the order of the rows nor how they are cut into blocks matters, and a
    weight is the same as repeating the row. Sparse rows are not shifted, so they get factors only.

    References
    ----------
    van der Waerden (1952), *Order tests for the two-sample problem and their power* (normal scores).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from eigenfeat import ColumnScaler
    >>> wine = load_wine(as_frame=True).data
    >>> wine["strong"] = wine["alcohol"] > 13
    >>> scaler = ColumnScaler(columns={"magnesium": "quantile-normal"}).fit(wine)
    >>> scaler.columns_["strong"].treatment, scaler.columns_["proline"].treatment
    ('indicator', 'standardise')
    >>> scaler.transform(wine).std(axis=0)[:3].round(6)
    array([1., 1., 1.])
    """

    _parameter_constraints: dict = {"columns": COLUMNS_CONSTRAINT}

    def __init__(self, columns="auto"):
        self.columns = columns

    @checked_fit
    def fit(self, X, y=None, sample_weight=None):
        """Decide on every column.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or dataframe, or row source
            A source (`eigenfeat.rows.open`) is read once, a block at a time.
        y : None
            Not used.
        sample_weight : (n,) array, optional
            An integer weight equals that many copies of the row.

        Returns
        -------
        self
        """
        if is_stream(X):
            rows: Rows = streamed(self, X, y, sample_weight, None)
        else:
            self._check_unused(X, y)
            X = self._check(X)
            rows = ArrayRows(X, None, check_weights(sample_weight, X))
        stage, self.columns_ = learn_columns(self, rows, self.columns)
        self.fitted_ = Fitted(features=Chain((stage,)))
        return self

    @lazy_on_dask
    def transform(self, X):
        """The treated columns of every row.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or dataframe, or row source
            Of a source (`eigenfeat.rows`) all rows are held; ``fitted_.features.over(X)`` is a source of them.

        Returns
        -------
        (n, d) array or CSR matrix
            float32 for float32 input; sparse for sparse rows where the model was fitted to sparse rows.
        """
        X = self._check_new(X, streams=True)
        features = self.fitted_.features
        assert features is not None
        return features.apply(X) if sparse.issparse(X) else features.at(X)
