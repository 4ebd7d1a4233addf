"""A sample of the grid of `fuzz.py`, drawn with a fixed seed, and how its outcomes are judged.

``make fuzz`` runs the whole grid.
"""

import json

import numpy as np
import pytest
from fuzz import Worker, cases, part_of, read, run, sampled, table
from fuzz_inputs import INPUTS, plain_input
from fuzz_judging import GOOD, Outcome, judged_error, neighbours_agree, tried
from fuzz_subjects import CONFIGURATIONS, subjects

from eigenfeat import FisherLDA

#: What killed the process, or would not end: run in one of its own, wherever it is drawn.
DANGEROUS = [
    "KernelFisherClassifier: weights 1e+307",
    "KernelFisherClassifier: class_weight=infinite",
    "KernelFisherClassifier: float32 rows, weights 1e39",
    "LeastSquaresCCA: CSR, an index far too large",
    "OrientedKernelPCA: CSR, a negative index",
    "FisherLDA: CSR, pointers beyond the data",
]


def test_a_sample_of_the_grid():
    outcomes = dict(run(sampled(list(cases()), 120, seed=18)))
    bad = {name: outcome for name, outcome in outcomes.items() if outcome.kind not in GOOD}
    assert not bad, table(outcomes)


def test_what_once_crashed():
    outcomes = dict(run(DANGEROUS))
    assert {outcome.kind for outcome in outcomes.values()} == {"clear error"}, outcomes


# ------------------------------------------------------------------ the judge


def outcome_of(problem):
    try:
        raise problem
    except Exception as raised:
        return judged_error(raised).kind


def test_errors_of_others_are_raw():
    assert outcome_of(KeyError("a")) == "raw error"
    try:
        np.linalg.cholesky(-np.eye(2))
    except np.linalg.LinAlgError as problem:
        assert judged_error(problem).kind == "raw error"
    given = plain_input(FisherLDA())
    assert tried(FisherLDA, INPUTS["a missing entry"](given)).kind == "clear error"
    assert tried(FisherLDA, given, 0.99).kind == "ok"


def test_features_that_say_nothing_are_a_collapse():
    class Constant(FisherLDA):
        def predict(self, X):
            return np.zeros(len(X), dtype=int)

    assert tried(Constant, plain_input(FisherLDA()), 1.0).kind == "collapse"
    assert neighbours_agree(np.zeros((4, 2)), np.arange(4)) == 0
    assert neighbours_agree(np.array([[0.0], [0.1], [5.0], [5.1]]), np.array([0, 0, 1, 1])) == 1


def test_answers_that_are_no_numbers_are_silent():
    class Lost(FisherLDA):
        def transform(self, X):
            return np.full((len(X), 1), np.nan)

    assert tried(Lost, plain_input(FisherLDA())).kind == "silent NaN"


def test_answers_where_there_is_none_are_told():
    class Careless(FisherLDA):
        def fit(self, X, y, sample_weight=None):
            return super().fit(X, y)

    given = INPUTS["a negative weight"](plain_input(FisherLDA()))
    assert given.hopeless and tried(Careless, given).kind == "accepted"
    assert tried(FisherLDA, given).kind == "clear error"


def test_parts_are_everything_once(tmp_path):
    names = [f"A: {i}" for i in range(7)]
    parts = [part_of(names, f"{i}/3") for i in (1, 2, 3)]
    assert sorted(name for part in parts for name in part) == names
    with pytest.raises(ValueError, match="from 1 to n"):
        part_of(names, "4/3")
    for i, part in enumerate(parts):
        (tmp_path / f"{i}.json").write_text(json.dumps({name: Outcome("ok") for name in part}))
    assert read(sorted(tmp_path.iterdir())).keys() == set(names)


@pytest.mark.parametrize("code, kind", [("os.abort()", "crash"), ("sum(itertools.repeat(0))", "hang")])
def test_a_process_that_dies_or_does_not_end_is_replaced(code, kind):
    start = "import itertools, os, signal, sys; sys.stdin.readline(); signal.setitimer(signal.ITIMER_PROF, 0.2)"
    worker = Worker(["-c", f"{start}; {code}"])
    assert worker.outcome("anything").kind == kind
    worker.close()


def test_the_table_counts():
    outcomes = {"A: x": Outcome("ok"), "A: y": Outcome("crash"), "B: x": Outcome("ok")}
    lines = table(outcomes).splitlines()
    assert lines[-1].split() == ["in", "all", "2", "0", "0", "0", "0", "0", "0", "1"]
    assert len(lines) == 4


def test_every_estimator_is_a_subject():
    assert {"FisherLDA", "GEMClassifier", "MultinomialLogit", *CONFIGURATIONS} <= subjects().keys()
