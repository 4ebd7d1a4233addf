"""Sums over rows merge, in any parts, and weigh little where they are sent."""

import pickle
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from eigenfeat.rows import Block, ClassCounts
from eigenfeat.rows.accumulators import MappedAccumulator

LABELS = np.array(list("abcabbbbac"))
WEIGHTS = np.array([1.0, 0, 2, 1, 1, 1, 0, 0, 3, 1])


def counted(*parts):
    counts = ClassCounts()
    for part in parts:
        counts.update(Block(np.zeros((len(LABELS[part]), 1)), LABELS[part], WEIGHTS[part]))
    return counts


@given(st.integers(0, 10))
def test_counts_of_parts_merge_to_those_of_all(cut):
    whole, merged = counted(slice(None)), counted(slice(0, cut)) if cut else ClassCounts()
    if cut < 10:
        merged.merge(counted(slice(cut, None)))
    assert merged.classes.tolist() == whole.classes.tolist() == ["a", "b", "c"]
    assert merged.counts.tolist() == whole.counts.tolist() == [3, 2, 2]
    assert merged.weights.tolist() == whole.weights.tolist() == [5.0, 2.0, 3.0]
    assert merged.n_rows == 10
    codes = np.searchsorted(["a", "b", "c"], LABELS)
    assert whole.coded().weights.tolist() == ClassCounts.of(codes, WEIGHTS, 3).weights.tolist()


def test_a_function_of_blocks_stands_before_an_accumulator():
    mapped = MappedAccumulator(ClassCounts(), lambda block: block.take(np.flatnonzero(block.y == "b")), step=3)
    mapped.update(Block(np.zeros((10, 1)), LABELS))
    assert mapped.accumulator.classes.tolist() == ["b"] and mapped.accumulator.n_rows == 5


def test_a_result_leaves_behind_what_only_updates_need():
    block = Block(np.zeros((100, 7)), np.zeros(100, dtype=np.int64))
    assert sys.getsizeof(block) >= 100 * 8 * 8
    assert sys.getsizeof(Block(sparse.csr_matrix(np.eye(50)))) >= 50 * 12
    mapped = MappedAccumulator(ClassCounts(), lambda block: block)
    mapped.update(block)
    result = pickle.loads(pickle.dumps(mapped.result()))  # its function could not be pickled
    result.merge(mapped)
    assert result.accumulator.counts.tolist() == [200]
    with pytest.raises(AssertionError, match="update an empty one"):
        result.update(block)
