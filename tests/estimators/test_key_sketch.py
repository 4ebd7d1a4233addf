"""Different keys are counted exactly while they are few, and well when they are many, in any order."""

import numpy as np
import pytest

from eigenfeat.estimators.key_sketch import KEY_RANGE, DistinctKeys, n_distinct

keys = np.random.default_rng(0).integers(0, KEY_RANGE, 60_000)


def test_few_are_exact_and_many_are_near():
    assert n_distinct(np.repeat(keys[:1000], 3), most=1000) == len(np.unique(keys[:1000]))
    assert n_distinct(keys, most=2**13) == pytest.approx(len(np.unique(keys)), rel=0.04)


@pytest.mark.parametrize("most", [100, 10**5])
def test_parts_make_the_sketch_of_all(most):
    whole, parts, merged = DistinctKeys(most), DistinctKeys(most), DistinctKeys(most)
    whole.add(keys)
    for part in np.array_split(keys[::-1], 7):
        parts.add(part)
        own = DistinctKeys(most)
        own.add(part)
        merged.add(own.smallest, own.is_full)
    for other in (parts, merged):
        assert np.array_equal(other.smallest, whole.smallest) and other.count == whole.count
