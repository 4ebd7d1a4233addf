"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def atomic_write(path: str | os.PathLike) -> Iterator[BinaryIO]:
    """Yield a stream whose content replaces the file at ``path`` once the context is left without an error.

    The content goes to a temporary file in the same folder, is flushed to the disk and renamed: whatever goes wrong, an
    older file stays as it was. Symbolic links stay, and an older file's mode is kept. A process that is killed leaves
    the temporary file, named ``.NAME.*.part``.
    """
    target = check_destination(path)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    mode = 0o600 if target.exists() else 0o666  # less the process's mask
    try:
        try:
            with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            if target.exists():
                shutil.copymode(target, temporary)
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
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
        exists = check_regular(path)
    except OSError as problem:  # links that lead in a circle, names that are too long
        raise type(problem)(f"cannot save to {path} ({problem.strerror or problem})") from problem
    except ValueError as problem:
        raise ValueError(f"cannot save: {problem}") from None
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot save to {path}: there is no folder {path.parent}")
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(f"cannot save to {path}: files may not be made in the folder {path.parent}")
    if exists and not os.access(target, os.W_OK):
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
