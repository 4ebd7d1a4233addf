"""What is summed over rows merges, in any parts."""

import pickle
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from eigenfeat.rows import Block, ClassTotals, Seen

labels = np.array(list("abcabbbbac"))
weights = np.array([1.0, 0, 2, 1, 1, 1, 0, 0, 3, 1])


def totals(*parts):
    found = ClassTotals()
    for part in parts:
        found.update(Block(np.zeros((len(labels[part]), 1)), labels[part], weights[part]))
    return found


@given(st.integers(0, 10))
def test_totals_of_parts_merge_to_those_of_all(cut):
    whole, merged = totals(slice(None)), totals(slice(0, cut)) if cut else ClassTotals()
    if cut < 10:
        merged.merge(totals(slice(cut, None)))
    assert merged.classes.tolist() == whole.classes.tolist() == ["a", "b", "c"]
    assert merged.counts.tolist() == whole.counts.tolist() == [3, 2, 2]
    assert merged.weights.tolist() == whole.weights.tolist() == [5.0, 2.0, 3.0]
    assert merged.n_rows == 10


def test_a_lens_stands_before_a_statistic():
    seen = Seen(ClassTotals(), lambda block: (block.part(slice(0, 2)), block.part(slice(2, 4))))
    seen.update(Block(np.zeros((4, 1)), labels[:4]))
    assert seen.statistic.counts.tolist() == [2, 1, 1]


def test_what_is_sent_is_weighed_and_leaves_behind_what_only_updates_need():
    block = Block(np.zeros((100, 7)), np.zeros(100, dtype=np.int64))
    assert sys.getsizeof(block) >= 100 * 8 * 8
    assert sys.getsizeof(Block(sparse.csr_matrix(np.eye(50)))) >= 50 * 12
    seen = Seen(ClassTotals(), lambda block: [block])
    seen.update(block)
    result = pickle.loads(pickle.dumps(seen.result()))  # its lens could not be pickled
    result.merge(seen)
    assert result.statistic.counts.tolist() == [200]
    with pytest.raises(TypeError, match="update an empty one"):
        result.update(block)
