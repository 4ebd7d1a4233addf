"""What is kept of a stream is what was read of it, once."""

import numpy as np
import pytest
from kept_stream import N, Stream, W, X, Y

from eigenfeat.rows.kept_rows import HeldRows, ScratchRows


@pytest.mark.parametrize("kind", [HeldRows, ScratchRows])
def test_kept_rows_are_the_rows_read_once(kind):
    source = Stream()
    rows = kind(source, N)
    assert source.n_passes == 0  # until somebody asks
    for size in (64, None):
        blocks = list(rows.blocks(size))
        for name, expected in (("X", X), ("y", Y), ("weight", W)):
            assert np.array_equal(np.concatenate([getattr(block, name) for block in blocks]), expected)
        assert [block.start for block in blocks] == list(range(0, N, size or N))
    assert source.n_passes == 1


def test_a_source_that_changed_is_refused():
    with pytest.raises(ValueError, match="had 501 rows and has 500 now"):
        list(ScratchRows(Stream(), N + 1).blocks())
