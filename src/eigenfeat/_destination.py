"""A file that appears whole or not at all, in the place of one that may be there already."""

from __future__ import annotations

import os
import re
import secrets
import signal
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import current_thread, main_thread
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # no such locks on this system: what a killed save leaves behind stays until it is deleted by hand
    fcntl = None  # type: ignore[assignment]

KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISCHR, "a device"),
)


def regular_file(path: Path) -> os.stat_result | None:
    """What the system knows of the regular file at a path, links followed; None where there is nothing."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISREG(found.st_mode):
        kind = next((name for is_kind, name in KINDS if is_kind(found.st_mode)), "no regular file")
        raise ValueError(f"{path} is {kind}, not a file: name a file")
    return found


def check_destination(path: Path) -> Path:
    """The file that writing to ``path`` is about to replace or make; refused where it is none that may be."""
    try:
        target = Path(os.path.realpath(path))
        existing = regular_file(path)
    except OSError as problem:  # links that lead in a circle, names that are too long
        raise _explained(path, problem) from problem
    except ValueError as problem:
        raise ValueError(f"cannot save: {problem}") from None
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot save to {path}: there is no folder {path.parent}")
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(f"cannot save to {path}: files may not be made in the folder {path.parent}")
    if existing is not None and not os.access(target, os.W_OK):
        raise PermissionError(f"cannot save to {path}: the file there is read-only")
    return target


def replace_file(path: Path, content: bytes | memoryview) -> None:
    """Write ``content`` to ``path``, as `replacing` does."""
    with replacing(path) as stream:
        stream.write(content)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A stream whose content replaces what is at ``path``, links followed, once the context is left without an error.

    It is written beside the destination and then renamed, so that whatever goes wrong leaves an older file as it was.
    An older file's mode and owner are kept. File and folder are flushed to the disk. A request to end the process
    (SIGTERM) meanwhile ends it after the unfinished file is gone.
    """
    target = check_destination(path)
    existing = regular_file(target)
    try:
        _sweep(target)
        with _ending_in_order(), _unfinished(target, 0o666 if existing is None else 0o600) as (stream, place):
            if existing is not None:
                _take_after(stream.fileno(), existing)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            if fcntl is None:
                stream.close()  # such systems do not rename open files
            os.replace(place, target)
        _flush_folder(target.parent)
    except OSError as problem:
        raise _explained(path, problem) from problem


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Until the end of the context, SIGTERM raises SystemExit, where nothing else was to be done with it."""
    if current_thread() is not main_thread() or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield  # handlers are the main thread's to set, and another's handler knows better
        return
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def _unfinished(target: Path, mode: int) -> Iterator[tuple[BinaryIO, Path]]:
    """A new file beside the target, locked as long as it is being written, gone in the end unless it was renamed."""
    while True:
        place = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
        handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
        if fcntl is None:
            break
        fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            break
        os.close(handle)  # another save swept it before the lock was ours
    stream = os.fdopen(handle, "wb")
    try:
        yield stream, place
    finally:
        with suppress(FileNotFoundError):
            place.unlink()
        with suppress(OSError):  # what could not be written was said already
            stream.close()


def _sweep(target: Path) -> None:
    """Delete what killed saves to this target left: unfinished files that no living process has locked."""
    if fcntl is None:
        return
    leftover = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{8}}\.part")
    for name in filter(leftover.fullmatch, os.listdir(target.parent)):
        place = target.with_name(name)
        with suppress(OSError):  # locked, not ours, or gone meanwhile
            handle = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                place.unlink()
            finally:
                os.close(handle)


def _take_after(handle: int, existing: os.stat_result) -> None:
    """Give an open file the owner and the mode of another one. The owner first: changing it takes rights away."""
    made = os.fstat(handle)
    if hasattr(os, "fchown") and (made.st_uid, made.st_gid) != (existing.st_uid, existing.st_gid):
        os.fchown(handle, existing.st_uid, existing.st_gid)
    if hasattr(os, "fchmod"):
        os.fchmod(handle, stat.S_IMODE(existing.st_mode))


def _flush_folder(folder: Path) -> None:
    """The new name survives a power cut only once the folder is on the disk too."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _explained(path: Path, problem: OSError) -> OSError:
    reason = problem.strerror or problem
    explained = type(problem)(f"cannot save to {path} ({reason}): a file that was there is as it was")
    explained.errno = problem.errno
    return explained
