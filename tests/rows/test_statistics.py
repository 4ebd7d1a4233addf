"""What is summed over rows merges, in any parts."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from eigenfeat.rows import ClassTotals, RowBlock, Seen

labels = np.array(list("abcabbbbac"))
weights = np.array([1.0, 0, 2, 1, 1, 1, 0, 0, 3, 1])


def totals(*parts):
    found = ClassTotals()
    for part in parts:
        found.update(RowBlock(0, np.zeros((len(labels[part]), 1)), labels[part], weights[part]))
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
    seen.update(RowBlock(0, np.zeros((4, 1)), labels[:4]))
    assert seen.statistic.counts.tolist() == [2, 1, 1]
