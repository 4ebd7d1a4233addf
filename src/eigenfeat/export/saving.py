"""Model files that are safe to open: nothing in them is code, and what they hold is checked before it is used."""

from __future__ import annotations

import io
import os
import sys
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

from eigenfeat._runtime.config import pickled_without_runtime
from eigenfeat._runtime.files import check_destination, check_regular, write_bytes
from eigenfeat.export.archive import STAMP, Archive, Refusal, read_archive, size_limit, stamp, uncompressed
from eigenfeat.export.checks import check_model, forget_cached, try_model
from eigenfeat.export.trust import audit, untrusted


@pickled_without_runtime()
def save(model: Any, path: str | os.PathLike) -> Path:
    """Write an estimator, or a scikit-learn pipeline of them, to one file.

    The file appears whole or not at all: it is written in the same folder, flushed to the disk and renamed, so that a
    save that is killed, or fails, leaves an older file as it was. An older file's mode is kept; a symbolic link stays
    one, and what it points to is replaced.

    Every file carries the number of its format and the version of eigenfeat that wrote it. What `load` would refuse is
    refused here already.

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
        If the model holds something that `load` would refuse, such as a function of the user's, or if the path is a
        folder, pipe, socket or device.
    OSError
        If it cannot be written: no such folder, no right to write there, a full disk.

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
    path = Path(path)
    check_destination(path)
    packed = _packed(model)
    name = type(model).__name__
    try:
        archive = read_archive(packed, max_bytes=sys.maxsize)
        _trusted(archive)
    except Refusal as refusal:
        raise ValueError(
            f"{name} was not saved to {path}, since load would refuse it: the file {refusal}. It holds what no safe "
            "model file can carry: replace it by a parameter that is data or a name (not a function or a class of your "
            "own) and fit again, or save a part that does without, such as best_estimator_ of a search"
        ) from refusal
    try:
        check_model(model)
    except Refusal as refusal:
        raise ValueError(
            f"{name} was not saved to {path}, since load would refuse it: the model {refusal}"
        ) from refusal
    if archive.needed > size_limit(packed.getbuffer().nbytes):  # so many zeros look like a bomb: not compressed then
        packed = uncompressed(packed)
    write_bytes(path, packed.getbuffer())
    return path


def load(path: str | os.PathLike, *, max_bytes: int | None = None) -> Any:
    """Read a model that `save` wrote.

    A model file is data: opening one from a stranger runs none of the stranger's code, writes nothing, and takes no
    more memory than a few times ``max_bytes``. Trusted are classes of eigenfeat that models are made of, numpy arrays
    of numbers and text, CSR matrices and the estimators of scikit-learn that skops trusts, each only in the way that
    `save` stores it. Functions, methods, classes and calls are not trusted, whatever they are called.

    Before a model is handed out, all its parts are checked: shapes that fit together and the number of columns, index
    bounds, finite numbers. What is *not* known is whether it is a good model, or what its author says it is; nor are
    the insides of scikit-learn's estimators in a pipeline checked, some of which trust their arrays' shapes.

    Parameters
    ----------
    path : path
    max_bytes : int, optional
        What the file may hold when it is unpacked. By default 256 MiB, or 20 times the size of the file where that is
        more; files that `save` writes stay below it.

    Returns
    -------
    estimator

    Raises
    ------
    ValueError
        If the file is not a model that `save` wrote, is damaged, was written by a newer version in another format,
        asks for other types, does not fit together, or holds more than ``max_bytes``.
    FileNotFoundError
        If there is no such file.
    """
    path = Path(path)
    _skops()
    with _opened(path) as stream:
        try:
            return _read(stream, max_bytes)
        except Refusal as refusal:
            raise ValueError(f"{path} {refusal}") from refusal
        except (
            Exception
        ) as problem:  # damage surfaces in the archive, the compression, the JSON or the tree it tells of
            reason = str(problem) or type(problem).__name__
            raise ValueError(
                f"{path} cannot be read as a model file ({reason}): it is damaged, cut short, or was not written by "
                "eigenfeat.save. Copy it again from where it comes from, or fit and save the model again"
            ) from problem


def _read(stream: BinaryIO, max_bytes: int | None) -> Any:
    archive = read_archive(stream, max_bytes)
    model = _skops().loads(archive.content, trusted=_trusted(archive))
    forget_cached(model)
    check_model(model)
    try_model(model)
    return model


def _opened(path: Path) -> BinaryIO:
    try:
        if not check_regular(path):
            raise FileNotFoundError(f"there is no model file {path}")
    except ValueError as problem:
        raise ValueError(f"{problem}; this was not written by eigenfeat.save") from None
    return path.open("rb")


def _packed(model: Any) -> io.BytesIO:
    """The model as an archive of skops, with our stamp."""
    from eigenfeat import __version__  # not yet known while the package is being imported

    packed = io.BytesIO()
    _skops().dump(model, packed, compression=zipfile.ZIP_DEFLATED, compresslevel=1)
    with zipfile.ZipFile(packed, "a") as archive:
        archive.writestr(STAMP, stamp(__version__))
    return packed


def _trusted(archive: Archive) -> list[str]:
    """Names of the types in an audited archive that skops does not trust by itself and we do."""
    ours = audit(archive)
    unknown = _skops().get_untrusted_types(data=archive.content)
    refused = [name for name in unknown if name not in ours]
    if refused:
        raise Refusal(untrusted(", ".join(refused)))
    return unknown


def _skops() -> Any:
    try:
        import skops.io
    except ImportError as missing:
        raise ImportError("saving and loading models needs skops: pip install skops") from missing
    return skops.io
