"""Where files are: paths, lists, globs and folders, on this machine or on whatever pyarrow and fsspec can open."""

from __future__ import annotations

import bz2
import lzma
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
from pyarrow import fs

from eigenfeat.rows.readers.errors import explained, listed

COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4", ".xz": "xz"}
FORMATS = {
    **dict.fromkeys((".csv", ".tsv", ".txt", ".tab", ".dat", ".data"), "text"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), "arrow"),
    ".npy": "npy",
    ".npz": "npz",
    **dict.fromkeys((".svmlight", ".libsvm", ".svm"), "svmlight"),
    **dict.fromkeys((".xlsx", ".xlsm"), "excel"),
}
COMPRESSIBLE = ("text", "svmlight")
NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"

LOCAL = fs.LocalFileSystem()


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
    partitions : dict
        Columns that the names of its folders say, ``name=value``.
    """

    place: str
    path: str
    filesystem: Any = field(default_factory=fs.LocalFileSystem)
    partitions: tuple[tuple[str, str | None], ...] = ()

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
        if compression and found and found not in COMPRESSIBLE:
            raise ValueError(f"{self.place}: {suffix} files are compressed inside; unpack it first")
        return found

    @property
    def is_local(self) -> bool:
        return isinstance(self.filesystem, fs.LocalFileSystem)

    @property
    def is_pipe(self) -> bool:
        """Whether the path is neither a file nor a folder, so that it can be read once only."""
        return self.is_local and os.path.exists(self.path) and not os.path.isfile(self.path)

    @property
    def identity(self) -> str:
        """Name, size and time of the file."""
        info = self.filesystem.get_file_info(self.path)
        return f"{self.place}, {info.size}, {info.mtime_ns}"

    @contextmanager
    def stream(self) -> Iterator[Any]:
        """Open the bytes of the file in order, unpacked."""
        compression = COMPRESSIONS.get(self.suffixes[1])
        if compression == "xz":
            with self.filesystem.open_input_stream(self.path, compression=None) as packed, lzma.open(packed) as stream:
                yield stream
        elif compression == "bz2":  # files of several streams, as parallel packers write them
            with self.filesystem.open_input_stream(self.path, compression=None) as packed, bz2.open(packed) as stream:
                yield stream
        else:
            with self.filesystem.open_input_stream(self.path, compression=compression) as stream:
                yield stream

    @contextmanager
    def file(self) -> Iterator[Any]:
        """Open the file for reading in any order."""
        with self.filesystem.open_input_file(self.path) as file:
            yield file


def locate(given: str | os.PathLike | Sequence[str | os.PathLike]) -> list[Location]:
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
        folder = os.path.commonpath(folders) if len({os.path.isabs(folder) for folder in folders}) == 1 else ""
        return [_partitioned(location, folder) for location in found]
    place = str(os.fspath(given))  # type: ignore[arg-type]
    with explained(place):
        filesystem, path = _file_system(place)
        info = filesystem.get_file_info(path)
        if info.type == fs.FileType.Directory:
            found = _in_folder(place, filesystem, path, ".*")
            if not found:
                raise ValueError(f"the folder {place} holds no file that ends in {', '.join(FORMATS)}")
            return found
        if info.type == fs.FileType.NotFound and re.search(r"[*?[]", path):
            folder = re.split(r"[*?[]", path)[0].rpartition("/")[0]
            found = _in_folder(place, filesystem, folder or ("/" if path.startswith("/") else "."), _glob(path))
            if not found:
                raise FileNotFoundError(f"there is no file {place} that ends in {', '.join(FORMATS)}")
            return found
    if info.type == fs.FileType.NotFound:
        raise FileNotFoundError(f"there is no file {place}")
    return [Location(place, path, filesystem)]


def unknown_format(location: Location) -> ValueError:
    """Return the refusal of a suffix."""
    return ValueError(
        f"{location.place} has the suffix {PurePosixPath(location.path).suffix!r}; tables are read from "
        f"{', '.join(FORMATS)}, text also compressed ({', '.join(COMPRESSIONS)}), and with delimiter= from any text "
        "file whose first line names its columns"
    )


def _file_system(place: str) -> tuple[Any, str]:
    if not re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", place):
        return LOCAL, place
    try:
        return fs.FileSystem.from_uri(place)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as problem:
        if os.path.exists(place):  # a local name with a colon
            return LOCAL, place
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise ValueError(f"{problem}; install fsspec to read from further file systems") from problem
        filesystem, path = url_to_fs(place)
        return fs.PyFileSystem(fs.FSSpecHandler(filesystem)), path


def _in_folder(place: str, filesystem: Any, folder: str, pattern: str) -> list[Location]:
    """Find the files of a known format below a folder whose paths match a regular expression.

    Names that begin with a dot or an underscore are other things, as the marks that Hadoop leaves.
    """
    selector = fs.FileSelector(folder, recursive=True, allow_not_found=True)
    matching = re.compile(pattern)
    prefix = place[: -len(folder)] if place.endswith(folder) else ""
    found = []
    for info in filesystem.get_file_info(selector):
        path = info.path.removeprefix("./")
        below = info.path.removeprefix(folder.rstrip("/")).split("/")
        if (
            info.type != fs.FileType.File
            or not matching.fullmatch(path)
            or any(p[:1] in (".", "_") for p in below if p)
        ):
            continue
        location = Location(prefix + path, path, filesystem)
        if FORMATS.get(location.suffixes[0]):
            found.append(_partitioned(location, folder))
    return sorted(found, key=lambda location: location.path)


def _glob(path: str) -> str:
    """Return a regular expression of a glob: ``*`` within a name, ``**`` over folders."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\[[^]]+\])", path)
    meanings = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(
        meanings.get(part, part.replace("[!", "[^") if part.startswith("[") else re.escape(part)) for part in parts
    )


def _partitioned(location: Location, folder: str) -> Location:
    """Return a location with the columns that the names of its folders below another say."""
    names = os.path.dirname(location.path.removeprefix(folder)).split("/")
    pairs = [tuple(name.split("=", 1)) for name in names if "=" in name]
    partitions = tuple((name, None if value == NULL_PARTITION else unquote(value)) for name, value in pairs)
    return Location(location.place, location.path, location.filesystem, partitions or location.partitions)


def check_partitions(locations: Sequence[Location]) -> tuple[str, ...]:
    """Return the columns that folders' names say, the same ones for every file."""
    names = tuple(name for name, _ in locations[0].partitions)
    for location in locations:
        others = tuple(name for name, _ in location.partitions)
        if others != names:
            raise ValueError(
                f"the folders of {location.place} say the columns {listed(others) or 'none'}, those of "
                f"{locations[0].place} {listed(names) or 'none'}: partition all files alike"
            )
    return names
