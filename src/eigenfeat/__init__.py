"""eigenfeat: discriminative features from generalized eigenvectors.

Everything here is one idea: choose symmetric matrices S (signal) and N (noise), maximise vᵀSv / vᵀNv, use many v.

Public names are listed in ``__init__.pyi`` and imported when they are first asked for.
"""

import importlib
import pkgutil

import lazy_loader

from eigenfeat._moved import MOVED, announce

__version__ = "0.1.0"

_public, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
_rooms = {module.name for module in pkgutil.iter_modules(__path__)}

announce()


def __getattr__(name: str):
    if name in __all__:
        return _public(name)
    if name in _rooms:
        return importlib.import_module(f"eigenfeat.{name}")
    place = MOVED.get(f"eigenfeat.{name}")
    if place:
        raise AttributeError(f"eigenfeat.{name} is gone: use {place}.")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
