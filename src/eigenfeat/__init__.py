"""eigenfeat: discriminative features from generalized eigenvectors.

Everything here is one idea: choose symmetric matrices S (signal) and N (noise), maximise vᵀSv / vᵀNv, use many v.

Public names are listed in ``__init__.pyi`` and imported when they are first asked for.
"""

import importlib
import pkgutil

import lazy_loader

__version__ = "0.1.0"

_public, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
_rooms = {module.name for module in pkgutil.iter_modules(__path__)}


def __getattr__(name: str):
    if name in __all__:
        return _public(name)
    if name in _rooms:
        return importlib.import_module(f"eigenfeat.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
