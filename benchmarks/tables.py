"""Tables through three encoders: ours, skrub's TableVectorizer, and scikit-learn's own parts.

    python benchmarks/tables.py [--rows N] [--made]

The same two classifiers stand behind each. Tables are real ones, of scikit-learn, statsmodels and Covertype with its
areas and soils by name; with ``--made`` ones made with a fixed seed: numbers with thousands separators and per cent
signs, dates, truth words, categories with rare values, gaps that inform, an identifier, a constant, a copy. Error and
log loss of held-out rows, a half of them, and rows a second of `transform`.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from eigenfeat import TableEncoder


def typed(n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """A table with types: nothing to read from text."""
    X = pd.DataFrame(rng.standard_normal((n, 5)), columns=list("abcde"))
    X["city"] = rng.choice(
        ["Rome", "Oslo", "Bern", *(f"town {i}" for i in range(60))], n, p=[0.3, 0.2, 0.14, *[0.006] * 60]
    )
    X["when"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1400, n), "D")
    signal = X.a - X.b * X.c + 1.5 * (X.city == "Oslo") + np.cos(2 * np.pi * X.when.dt.month / 12)
    return X, (signal + 0.7 * rng.standard_normal(n) > 0.5).to_numpy().astype(int)


def gaps(n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """The same with gaps that go with the label, an identifier, a constant and a copy."""
    X, y = typed(n, rng)
    for name in "ab":
        X.loc[rng.random(n) < np.where(y == 1, 0.25, 0.05), name] = np.nan
    return X.assign(customer=[f"C{i:07d}" for i in range(n)], currency="EUR", again=X.c), y


def written(n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """The same as text, as a CSV of an office has it."""
    X, y = gaps(n, rng)
    income = np.exp(9 + X.d)
    y = ((X.d + y + 0.5 * rng.standard_normal(n)) > 0.5).astype(int).to_numpy()
    return X.assign(
        d=[f"{v:,.2f}" for v in income],
        e=[f"{10 * v:.1f} %" for v in X.e],
        when=X.when.dt.strftime("%d.%m.%Y"),
        member=np.where(rng.random(n) < 0.5 + 0.3 * y, "yes", "no"),
    ), y


def covertype() -> tuple[pd.DataFrame, np.ndarray]:
    """Measurements, and areas and soils as words instead of 44 columns of 0 and 1."""
    from datasets import load_covertype

    data = load_covertype()
    X = pd.DataFrame(data["X"][:, :10].astype(float), columns=[f"measured {j}" for j in range(10)])
    X["area"] = np.array([f"area {j}" for j in range(4)])[data["X"][:, 10:14].argmax(axis=1)]
    X["soil"] = np.array([f"soil {j}" for j in range(40)])[data["X"][:, 14:54].argmax(axis=1)]
    return X, np.asarray(data["y"])


def of_statsmodels(name: str, label: str, at_least: float) -> tuple[pd.DataFrame, np.ndarray]:
    """A table of statsmodels, and whether a column of it reaches a value."""
    import statsmodels.datasets

    table = getattr(statsmodels.datasets, name).load_pandas().data
    return table.drop(columns=label), (table.pop(label) >= at_least).to_numpy().astype(int)


def of_scikit_learn(load) -> tuple[pd.DataFrame, np.ndarray]:
    data = load(as_frame=True)
    return data.data, data.target.to_numpy()


REAL = {
    "covertype, words": covertype,
    "affairs": lambda: of_statsmodels("fair", "affairs", 1e-9),
    "doctor's visits": lambda: of_statsmodels("randhie", "mdvis", 1),
    "election 1996": lambda: of_statsmodels("anes96", "vote", 1),
    "breast cancer": lambda: of_scikit_learn(load_breast_cancer),
    "wine": lambda: of_scikit_learn(load_wine),
}


def sampled(X: pd.DataFrame, y: np.ndarray, n: int) -> tuple[pd.DataFrame, np.ndarray]:
    """At most so many rows, in random order."""
    chosen = np.random.default_rng(0).permutation(len(y))[:n]
    return X.iloc[chosen].reset_index(drop=True), y[chosen]


def scikit_learn():
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    words = OneHotEncoder(
        handle_unknown="infrequent_if_exist", min_frequency=0.005, max_categories=30, sparse_output=False
    )
    return make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (words, make_column_selector(dtype_include=["object", "string", "category", "bool"])),
    )


def skrub_vectorizer():
    from skrub import TableVectorizer

    return make_pipeline(TableVectorizer(), SimpleImputer(strategy="median", add_indicator=True), StandardScaler())


def compared(name: str, X: pd.DataFrame, y: np.ndarray) -> None:
    """A line an encoder."""
    half = len(y) // 2
    for encoder_name, make in ENCODERS.items():
        encoder = make()
        train = encoder.fit_transform(X[:half], y[:half])
        start = time.perf_counter()
        test = encoder.transform(X[half:])
        rate = (len(y) - half) / (time.perf_counter() - start)
        cells = []
        for model in MODELS.values():
            fitted = model().fit(train, y[:half])
            p = fitted.predict_proba(test)
            wrong = np.mean(fitted.classes_[p.argmax(axis=1)] != y[half:])
            cells.append(f"{wrong:6.2%} {log_loss(y[half:], p, labels=fitted.classes_):7.4f}")
        print(
            f"{name:16}  {len(y):6}  {encoder_name:12}  {train.shape[1]:7}  {cells[0]:>14}  {cells[1]:>14}  "
            f"{rate:9,.0f}",
            flush=True,
        )


ENCODERS = {"eigenfeat": TableEncoder, "skrub": skrub_vectorizer, "scikit-learn": scikit_learn}
MODELS = {
    "logit": lambda: LogisticRegression(max_iter=1000),
    "boosting": lambda: HistGradientBoostingClassifier(random_state=0),
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--made", action="store_true", help="tables of our own making instead of real ones")
    asked = parser.parse_args()
    print(f"{'table':16}  {'rows':>6}  {'encoder':12}  {'columns':>7}  {'logit':>14}  {'boosting':>14}  {'rows/s':>9}")
    if asked.made:
        for table in (typed, gaps, written):
            compared(table.__name__, *table(asked.rows, np.random.default_rng(0)))
    else:
        for name, load in REAL.items():
            compared(name, *sampled(*load(), asked.rows))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
