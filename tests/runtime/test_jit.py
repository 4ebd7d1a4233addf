"""What is compiled is kept under names that two processes never give to different things."""

import numpy as np
import pytest

from eigenfeat._runtime.jit import _FilesByContent, jit


def files(folder, stamp=1.0):
    return _FilesByContent(str(folder), "function", stamp)


def test_processes_that_compile_at_once_do_not_take_each_others_files(tmp_path):
    first, second = files(tmp_path), files(tmp_path)
    second._load_index = dict  # it looked before the first one had saved
    first.save("float32", "machine code of float32")
    second.save("float64", "machine code of float64")
    loaded = {key: files(tmp_path).load(key) for key in ("float32", "float64")}
    assert loaded == {"float32": None, "float64": "machine code of float64"}  # one entry is lost, none is wrong


def test_files_of_an_earlier_source_are_not_loaded_under_a_name_of_today(tmp_path):
    files(tmp_path).save("float64", "old")
    (index,) = tmp_path.glob("*.nbi")
    files(tmp_path, stamp=2.0).save("float64", "new")
    assert index.exists()
    assert files(tmp_path, stamp=2.0).load("float64") == "new"
    assert len(list(tmp_path.glob("*.nbc"))) == 2


@jit()
def checked(a, b):
    return a / b


@jit(fast_division=True)
def unchecked(a, b):
    return a / b


def test_compiled_functions_are_kept_so():
    assert isinstance(checked._cache._cache_file, _FilesByContent)


def test_division_by_zero_is_checked_unless_speed_is_asked_for():
    assert unchecked(1.0, 0.0) == np.inf
    with pytest.raises(ZeroDivisionError):
        checked(1.0, 0.0)
