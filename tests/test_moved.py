"""Old places of modules say where they are now."""

import importlib

import pytest

from eigenfeat._moved import MOVED


@pytest.mark.parametrize("name", MOVED)
def test_an_old_module_says_its_new_place(name):
    with pytest.raises(ModuleNotFoundError, match=f"{name} is gone: use {MOVED[name].split(' ')[0]}"):
        importlib.import_module(name)


def test_names_from_an_old_module_do_too():
    with pytest.raises(ImportError, match=r"eigenfeat\.data is gone: use eigenfeat\.rows"):
        from eigenfeat.data import read_table  # noqa: F401
