"""Reading ahead: order kept, errors where they belong, no thread left behind."""

import threading
import time

import pytest

from eigenfeat.rows.read_ahead import read_ahead


def reading_threads():
    return [t for t in threading.enumerate() if t.name.startswith("eigenfeat-read-ahead")]


class Counter:
    """A generator that says how far it has been read, and whether it was closed."""

    def __init__(self, n, fails_at=None):
        self.n, self.fails_at, self.made, self.closed = n, fails_at, 0, False

    def __call__(self):
        try:
            for i in range(self.n):
                if i == self.fails_at:
                    raise OSError("the disk is gone")
                self.made += 1
                yield i
        finally:
            self.closed = True


@pytest.mark.parametrize("n", [0, 1, 2, 3, 100])
@pytest.mark.parametrize("depth", [1, 2, 5])
def test_order_is_kept_and_the_thread_ends(n, depth):
    counter = Counter(n)
    assert list(read_ahead(counter(), depth)) == list(range(n))
    assert counter.closed or n == 0
    assert not reading_threads()


def test_no_more_is_read_ahead_than_was_said():
    counter = Counter(100)
    items = read_ahead(counter(), 2)
    assert counter.made == 0
    next(items)
    time.sleep(0.05)
    assert counter.made == 3  # one in use, two ahead
    items.close()


def test_what_is_next_is_read_while_the_last_one_is_used():
    counter = Counter(3)
    items = read_ahead(counter())
    next(items)
    deadline = time.monotonic() + 5
    while counter.made < 3 and time.monotonic() < deadline:
        time.sleep(0.001)
    assert counter.made == 3
    assert list(items) == [1, 2]


def test_an_error_comes_where_its_item_would_have_been():
    items = read_ahead(Counter(10, fails_at=4)())
    seen = []
    with pytest.raises(OSError, match="the disk is gone"):
        for item in items:
            seen.append(item)
    assert seen == [0, 1, 2, 3]
    assert not reading_threads()


def test_an_early_stop_leaves_no_thread_and_closes_the_reader():
    counter = Counter(1000)
    for item in read_ahead(counter()):
        if item == 5:
            break
    assert counter.closed and counter.made <= 9
    assert not reading_threads()
