"""Model files that are safe to open: nothing in them is code."""

from __future__ import annotations

import importlib
import inspect
import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any


def save(model: Any, path: str | os.PathLike) -> Path:
    """Write a fitted estimator, or a scikit-learn pipeline of them, to one file.

    The file appears whole or not at all: it is written beside its destination and then renamed, so that a save that is
    killed, or fails, leaves an older file as it was.

    Parameters
    ----------
    model : estimator
    path : path
        By habit ``*.skops``. An existing file is replaced.

    Returns
    -------
    Path
        Where it was written.

    Raises
    ------
    ValueError
        If the model holds something that `load` would refuse, such as a function of the user's.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from sklearn.datasets import load_iris
    >>> from eigenfeat import FisherLDA, load, save
    >>> X, y = load_iris(return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = save(FisherLDA().fit(X, y), pathlib.Path(folder) / "iris.skops")
    ...     load(path).score(X, y)
    0.98
    """
    io = _skops()
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"cannot save to {path}: there is no folder {path.parent}")
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    unfinished = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            io.dump(model, stream, compression=zipfile.ZIP_DEFLATED, compresslevel=1)
            stream.flush()
            os.fsync(stream.fileno())
        refused = _refused(io.get_untrusted_types(file=unfinished))
        if refused:
            raise ValueError(
                f"{type(model).__name__} holds {', '.join(refused)}, which no safe model file can carry. Replace it by "
                "a parameter that is data or a name (not a function or a class of your own), and fit again"
            )
        unfinished.chmod(0o666 & ~_umask())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return path


def load(path: str | os.PathLike) -> Any:
    """Read a model that `save` wrote.

    A model file is data: opening one from a stranger runs none of the stranger's code. Types are limited to
    eigenfeat's own classes and to the numpy, scipy and scikit-learn types that skops trusts.

    Parameters
    ----------
    path : path

    Returns
    -------
    estimator

    Raises
    ------
    ValueError
        If the file is not a model, is cut short or damaged, or asks for other types.
    """
    io = _skops()
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no model file {path}")
    try:
        untrusted = io.get_untrusted_types(file=path)
    except Exception as problem:  # damage surfaces in the archive, the compression, the JSON or the tree it describes
        raise ValueError(_unreadable(path, problem)) from problem
    refused = _refused(untrusted)
    if refused:
        raise ValueError(
            f"{path} asks for {', '.join(refused)}: not loaded, for only types of eigenfeat, numpy, scipy and "
            "scikit-learn are trusted. If you made this file yourself, open it with skops.io.load and name them there"
        )
    try:
        return io.load(path, trusted=untrusted)
    except Exception as problem:
        raise ValueError(_unreadable(path, problem)) from problem


SPARSE_ROWS = ("scipy.sparse._csr.csr_array", "scipy.sparse._csr.csr_matrix")
"""Plain data that models of wide data keep, and that skops can store but does not trust by itself."""


def _refused(type_names: list[str]) -> list[str]:
    """Those that are neither classes defined in eigenfeat nor sparse rows. Whatever skops trusts is not even listed."""
    return [name for name in type_names if name not in SPARSE_ROWS and not _is_own_class(name)]


def _is_own_class(name: str) -> bool:
    module, _, attribute = name.rpartition(".")
    if module.split(".")[0] != "eigenfeat":
        return False
    try:
        found = getattr(importlib.import_module(module), attribute, None)
    except ImportError:
        return False
    return inspect.isclass(found) and found.__module__ == module


def _unreadable(path: Path, problem: Exception) -> str:
    return (
        f"{path} cannot be read as a model file ({problem or type(problem).__name__}): it is damaged, cut short, of "
        "another version, or was not written by eigenfeat.save"
    )


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def _skops() -> Any:
    try:
        import skops.io
    except ImportError as missing:
        raise ImportError("saving and loading models needs skops: pip install 'eigenfeat[models]'") from missing
    return skops.io
