"""The laws of every chain: by blocks as at once, in either type, over any source, on any number of threads."""

import pickle
from dataclasses import FrozenInstanceError
from itertools import pairwise

import numpy as np
import pytest
from chains import CHAINS, X
from hypothesis import given, settings
from hypothesis import strategies as st

from eigenfeat.rows import ArrayRows, Block, Rows
from eigenfeat.rows.rows import MappedRows
from eigenfeat.stages import Affine, Chain, Fitted, Softmax, WithConstant

every_chain = pytest.mark.parametrize("kind", CHAINS)


class Stream(Rows):
    n_columns = X.shape[1]
    dtype = np.dtype(np.float64)

    def blocks(self, batch_size=None):
        for start in range(0, len(X), 23):
            yield Block(X[start : start + 23], start=start)


@every_chain
@settings(max_examples=10, deadline=None)
@given(cuts=st.lists(st.integers(1, len(X) - 1), max_size=4, unique=True))
def test_by_blocks_as_at_once(kind, cuts):
    chain = CHAINS[kind]
    edges = [0, *sorted(cuts), len(X)]
    blocks = [chain.apply(X[a:b]) for a, b in pairwise(edges)]
    np.testing.assert_allclose(np.concatenate(blocks), chain.apply(X), rtol=1e-10, atol=1e-12)


@every_chain
def test_the_width_is_as_announced(kind):
    chain = CHAINS[kind]
    made = chain.apply(X)
    assert made.shape == (len(X), chain.n_columns(X.shape[1]))
    assert chain.widest(X.shape[1]) >= max(made.shape[1], X.shape[1])


@every_chain
def test_float32_rows_give_the_results_of_float64_rows_in_their_type(kind):
    chain, single = CHAINS[kind], CHAINS[kind].astype(np.dtype(np.float32))
    exact, made = chain.apply(X), chain.at(X.astype(np.float32))
    np.testing.assert_allclose(made, exact, atol=2e-5 * np.abs(exact).max())
    np.testing.assert_allclose(single.apply(X.astype(np.float32)), made, atol=1e-5 * np.abs(exact).max())
    assert chain.apply(X).dtype == np.float64  # the chain itself has not changed


@every_chain
def test_every_way_to_the_rows_gives_the_same(kind):
    chain = CHAINS[kind]
    expected = chain.apply(X)
    order = np.random.default_rng(1).permutation(len(X))
    sources = {
        "array": (X, expected),
        "source": (ArrayRows(X), expected),
        "stream": (Stream(), expected),
        "chosen": (ArrayRows(X).take(order), expected[order]),
    }
    for name, (source, wanted) in sources.items():
        np.testing.assert_allclose(chain.at(source), wanted, rtol=1e-10, atol=1e-12, err_msg=name)
    np.testing.assert_allclose(chain.over(Stream()).to_array(), expected, rtol=1e-10, atol=1e-12)


def test_the_result_does_not_depend_on_the_number_of_threads():
    rows = np.tile(X, (400, 1)).astype(np.float32)  # several blocks
    for kind in ("layer", "kernel", "mean"):
        one, three = (CHAINS[kind].at(rows, n_jobs) for n_jobs in (1, 3))
        np.testing.assert_array_equal(one, three)


@every_chain
def test_a_chain_is_a_value(kind):
    chain = CHAINS[kind]
    with pytest.raises(FrozenInstanceError):
        chain.stages = ()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(chain)).apply(X), chain.apply(X))


def test_then_makes_another_chain():
    first = Chain((WithConstant(),))
    longer = first.then(Affine.of(np.ones((6, 2))), Softmax())
    assert len(first.stages) == 1 and len(longer.stages) == 3
    np.testing.assert_allclose(longer.apply(X), np.full((len(X), 2), np.log(0.5)))


def test_over_nothing_is_the_source_itself():
    source = ArrayRows(X)
    assert Chain().over(source) is source
    assert isinstance(Chain((WithConstant(),)).over(source), MappedRows)


def test_a_fit_that_has_no_scores_says_so():
    fitted = Fitted(features=Chain())
    assert fitted.scores is None and fitted.probabilities is None and fitted.predictions is None


def test_numbers_take_the_type_of_the_rows_once_a_pass():
    class Counted(WithConstant):
        asked: list = []

        def astype(self, dtype):
            self.asked.append(dtype)
            return self

    rows = np.tile(X, (800, 1)).astype(np.float32)  # several blocks
    chain = Chain((Counted(),))
    chain.at(rows)
    chain.over(ArrayRows(rows)).to_array()
    assert Counted.asked == [np.float32, np.float32]
