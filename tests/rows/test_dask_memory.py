"""Memory of arrays is kept while statistics are updated, in the processes that Dask starts, and no longer."""

import os
import platform
import subprocess
import sys
from threading import Thread

import pytest

from eigenfeat.rows import dask_memory
from eigenfeat.rows.dask_memory import KEPT_ARRAY, KEPT_FREE, MAPPED_ARRAY, MMAP_THRESHOLD, TRIM_THRESHOLD, kept_memory

# A megabyte is mapped by itself where memory is given back, and its pages are asked for every time.
FAULTS = """
import resource
import numpy as np
from eigenfeat.rows.dask_memory import kept_memory

def faults(n_numbers):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(100):
        np.ones(n_numbers)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

given_back = faults(2**17)
with kept_memory:
    kept = faults(2**17)
print(given_back, kept, faults(3 * 2**17))  # these find no room in what is kept
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="what is measured is glibc's")
def test_pages_are_asked_for_once_while_statistics_are_updated():
    as_dask_does = {**os.environ, "MALLOC_TRIM_THRESHOLD_": "65536"}
    found = subprocess.run([sys.executable, "-c", FAULTS], env=as_dask_does, capture_output=True, text=True, check=True)
    before, kept, after = map(int, found.stdout.split())
    assert kept < before / 10 and after > before


class Recorded:
    """Stands for the C library."""

    def __init__(self):
        self.calls = []

    def mallopt(self, parameter, value):
        self.calls.append((parameter, value))


@pytest.fixture
def library(monkeypatch):
    recorded = Recorded()
    monkeypatch.setattr(dask_memory, "_library", lambda: recorded)
    return recorded


def test_the_first_task_sets_and_the_last_one_restores(library, monkeypatch):
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    monkeypatch.delenv("MALLOC_MMAP_THRESHOLD_", raising=False)

    def enter_and_leave():
        with kept_memory:
            pass

    with kept_memory:
        other = Thread(target=enter_and_leave)
        other.start()
        other.join()
        assert library.calls == [(TRIM_THRESHOLD, KEPT_FREE), (MMAP_THRESHOLD, KEPT_ARRAY)]
    assert library.calls[2:] == [(TRIM_THRESHOLD, KEPT_FREE), (MMAP_THRESHOLD, MAPPED_ARRAY)]


@pytest.mark.parametrize("given", ["", str(2 * KEPT_FREE)])
def test_where_memory_is_kept_anyway_nothing_is_set(library, monkeypatch, given):
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", given)
    with kept_memory:
        pass
    assert not library.calls
