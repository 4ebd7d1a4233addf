"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def atomic_write(path: str | os.PathLike) -> Iterator[BinaryIO]:
    """Yield a stream whose content replaces the file at ``path`` once the context is left without an error.

    The content goes to a temporary file in the same folder, is flushed to the disk and renamed: whatever goes wrong, an
    older file stays as it was. Symbolic links stay, and an older file's mode is kept. A process that is killed leaves
    the temporary file, named ``.NAME.*.part``.
    """
    path = Path(path)
    target = check_destination(path)
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~_umask()
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            os.chmod(name, mode)
            os.replace(name, target)
        finally:
            with suppress(FileNotFoundError):  # it was renamed
                os.unlink(name)
    except OSError as problem:
        reason = problem.strerror or problem
        explained = type(problem)(f"cannot save to {path} ({reason}): a file that was there is as it was")
        explained.errno = problem.errno
        raise explained from problem


def write_bytes(path: str | os.PathLike, content: bytes | memoryview) -> None:
    """Write ``content`` to ``path``, as `atomic_write` does."""
    with atomic_write(path) as stream:
        stream.write(content)


def check_destination(path: str | os.PathLike) -> Path:
    """Return the file that writing to ``path`` replaces or makes, links followed; refuse what is no file."""
    path = Path(path)
    try:
        target = Path(os.path.realpath(path))
        check_regular(path)
    except OSError as problem:  # links that lead in a circle, names that are too long
        raise type(problem)(f"cannot save to {path} ({problem.strerror or problem})") from problem
    except ValueError as problem:
        raise ValueError(f"cannot save: {problem}") from None
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot save to {path}: there is no folder {path.parent}")
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(f"cannot save to {path}: files may not be made in the folder {path.parent}")
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(f"cannot save to {path}: the file there is read-only")
    return target


def check_regular(path: Path) -> bool:
    """Return whether there is a file at ``path``, links followed; refuse a folder, pipe, socket or device."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    if not stat.S_ISREG(mode):
        kind = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a named pipe", stat.S_IFSOCK: "a socket"}
        raise ValueError(f"{path} is {kind.get(stat.S_IFMT(mode), 'a device')}, not a file: name a file")
    return True


def _umask() -> int:
    """Return the mask of new files, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
