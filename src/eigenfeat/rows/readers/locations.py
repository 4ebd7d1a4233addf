"""Where files are: paths, lists, globs and folders, on this machine or on whatever pyarrow and fsspec can open."""

from __future__ import annotations

import bz2
import lzma
import os
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
from pyarrow import fs

from eigenfeat.rows.readers.options import Given

COMPRESSIONS = {".gz": "gzip", ".bz2": None, ".zst": "zstd", ".lz4": "lz4", ".xz": None}
"""Suffixes of compressed files, and what pyarrow calls those that it unpacks as well as Python."""

UNPACKERS: dict[str, Any] = {".bz2": bz2.open, ".xz": lzma.open}
FORMATS = {
    **dict.fromkeys((".csv", ".tsv", ".txt", ".tab", ".dat", ".data"), "text"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), "arrow"),
    ".npy": "npy",
    ".npz": "npz",
    **dict.fromkeys((".svmlight", ".libsvm", ".svm"), "svmlight"),
    **dict.fromkeys((".xlsx", ".xlsm"), "excel"),
}
WILDCARD = r"[*?[]"
MEANINGS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"

DAMAGE = (ValueError, OSError, EOFError, LookupError, TypeError, ArithmeticError, NotImplementedError)
"""What readers of formats raise where a file is damaged."""


@contextmanager
def explained(place: str) -> Iterator[None]:
    """Turn what the readers of formats raise into a refusal that names the file."""
    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {place}") from None
    except (*DAMAGE, zipfile.BadZipFile, zlib.error, lzma.LZMAError) as problem:
        words = str(problem) or type(problem).__name__
        if place in words:
            raise
        raise ValueError(
            f"{place} cannot be read ({words}): it is damaged, cut short, or of another format or encoding"
        ) from problem


@dataclass(frozen=True)
class Location:
    """A file that can be opened again at every pass.

    Attributes
    ----------
    place : str
        What messages call it.
    path : str
        In its file system.
    filesystem : pyarrow.fs.FileSystem
    identity : str
        What tells the file from others, and from what it is at another time.
    partitions : dict
        Columns that the names of its folders say, ``name=value``.
    """

    place: str
    path: str
    filesystem: Any = field(default_factory=fs.LocalFileSystem)
    identity: str = ""
    partitions: dict[str, str | None] = field(default_factory=dict)

    @property
    def suffixes(self) -> tuple[str, str]:
        """Suffix of the format, and that of a compression or nothing."""
        path = PurePosixPath(self.path.lower())
        return (PurePosixPath(path.stem).suffix, path.suffix) if path.suffix in COMPRESSIONS else (path.suffix, "")

    @property
    def format(self) -> str | None:
        """Name of the format that the suffix says, None of one that is not known."""
        suffix, compression = self.suffixes
        found = FORMATS.get(suffix)
        if compression and found not in (None, "text", "svmlight"):
            raise ValueError(f"{self.place}: {suffix} files are compressed inside; unpack it first")
        return found

    @property
    def is_local(self) -> bool:
        return isinstance(self.filesystem, fs.LocalFileSystem)

    @property
    def is_pipe(self) -> bool:
        """Whether the path is neither a file nor a folder, so that it can be read once only."""
        return self.is_local and os.path.exists(self.path) and not os.path.isfile(self.path)

    @contextmanager
    def stream(self) -> Iterator[Any]:
        """Open the bytes of the file in order, unpacked."""
        compression = self.suffixes[1]
        with self.filesystem.open_input_stream(self.path, compression=COMPRESSIONS.get(compression)) as stream:
            yield UNPACKERS[compression](stream) if compression in UNPACKERS else stream

    def file(self) -> Any:
        """Open the file for reading in any order."""
        return self.filesystem.open_input_file(self.path)

    def read(self) -> bytes:
        """Return all bytes of the file."""
        with explained(self.place), self.stream() as stream:
            return stream.read()


def locate(given: Given) -> list[Location]:
    """Find the files of a path, a glob, a folder, or a list of these, in the order of their names within each.

    Raises
    ------
    FileNotFoundError
        Where there is no such file.
    ValueError
        For file systems that are not known, and folders without files of a known format.
    """
    if isinstance(given, list | tuple):
        if not given:
            raise ValueError("there are no files: the list is empty")
        found = [location for one in given for location in locate(one)]
        folders = [os.path.dirname(location.path) for location in found]
        folder = os.path.commonpath(folders) if len({*map(os.path.isabs, folders)}) == 1 else ""
        return [
            replace(location, partitions=_partitions(location.path, folder) or location.partitions)
            for location in found
        ]
    place = str(os.fspath(given))  # type: ignore[arg-type]
    with explained(place):
        filesystem, path = _file_system(place)
        info = filesystem.get_file_info(path)
        is_folder = info.type == fs.FileType.Directory
        if not is_folder and (info.type != fs.FileType.NotFound or not re.search(WILDCARD, path)):
            if info.type == fs.FileType.NotFound:
                raise FileNotFoundError
            return [Location(place, path, filesystem, _identity(place, info))]
        folder, pattern = (path, ".*") if is_folder else _glob(path)
        infos = filesystem.get_file_info(fs.FileSelector(folder, recursive=True, allow_not_found=True))
    found = []
    for info in infos:
        path_found = info.path.removeprefix("./")
        if _is_table(info, folder) and re.fullmatch(pattern, path_found):
            name = place.removesuffix(path) + path_found
            partitions = _partitions(path_found, folder)
            found.append(Location(name, path_found, filesystem, _identity(name, info), partitions))
    if not found and is_folder:
        raise ValueError(f"the folder {place} holds no file that ends in {', '.join(FORMATS)}")
    if not found:
        raise FileNotFoundError(f"there is no file {place} that ends in {', '.join(FORMATS)}")
    return sorted(found, key=lambda location: location.path)


def _file_system(place: str) -> tuple[Any, str]:
    if not re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", place) or os.path.exists(place):
        return fs.LocalFileSystem(), place
    try:
        return fs.FileSystem.from_uri(place)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as problem:
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise ValueError(f"{problem}; install fsspec to read from further file systems") from problem
        filesystem, path = url_to_fs(place)
        return fs.PyFileSystem(fs.FSSpecHandler(filesystem)), path


def _glob(path: str) -> tuple[str, str]:
    """Return the folder of a glob, and a regular expression: ``*`` within a name, ``**`` over folders."""
    folder = re.split(WILDCARD, path)[0].rpartition("/")[0] or ("/" if path.startswith("/") else ".")
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\[[^]]+\])", path)
    meanings = [part.replace("[!", "[^") if part.startswith("[") else re.escape(part) for part in parts]
    return folder, "".join(MEANINGS.get(part, meaning) for part, meaning in zip(parts, meanings))


def _is_table(info: Any, folder: str) -> bool:
    """Return whether a file below a folder is of a known format.

    Names that begin with a dot or an underscore are other things, as the marks that Hadoop leaves.
    """
    below = info.path.removeprefix(folder).split("/")
    is_hidden = any(name.startswith((".", "_")) for name in below)
    return info.type == fs.FileType.File and not is_hidden and Location("", info.path).suffixes[0] in FORMATS


def _identity(place: str, info: Any) -> str:
    return f"{place}, {info.size}, {info.mtime_ns}"


def _partitions(path: str, folder: str) -> dict[str, str | None]:
    """Return the columns that the names of folders below another say."""
    names = os.path.dirname(path.removeprefix(folder)).split("/")
    pairs = [name.split("=", 1) for name in names if "=" in name]
    return {name: None if value == NULL_PARTITION else unquote(value) for name, value in pairs}
