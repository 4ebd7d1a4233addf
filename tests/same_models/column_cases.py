"""Columns before a method: their sizes, splines of them, and tables of any kind."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from recording import Case, cases_of
from same_data import digits, iris, named_wine, positive, table, wine, words

from eigenfeat import FisherLDA, make_tabular


def column_cases() -> Iterator[Case]:
    scaler = cases_of("ColumnScaler", positive, ("transform",))
    for columns in ("auto", "standardise", "common", "quantile-normal"):
        yield scaler(columns, columns=columns)
    yield scaler("weights", weighted=True)
    yield scaler("sparse", words)
    yield scaler("float32", given="float32", tolerance=1e-6, reason="float32 rows")
    for given in ("batches", "parquet", "dask"):
        yield scaler(given, wine, given=given, weighted=True)
    splines = cases_of("ColumnSplines", iris, ("transform",))
    yield splines("plain", n_knots=4)
    yield splines("products", n_knots=3, products=True, weighted=True)
    yield splines("constant columns", digits)
    yield splines("float32", given="float32", tolerance=1e-6, reason="float32 rows")
    yield splines("new batches", given="new batches")
    encoder = cases_of("TableEncoder", table, ("transform",))
    yield encoder("plain", columns="none")
    yield encoder("few categories", columns="standardise", max_categories=2, min_frequency=0.1)
    yield encoder("arrays", named_wine, columns="none")
    discriminant = partial(make_tabular, FisherLDA(ridge=0.1))
    yield Case("make_tabular-discriminant", discriminant, table, ("predict_proba", "predict"))
