"""The archive a model file is: read within bounds, before anything in it is believed."""

from __future__ import annotations

import io
import json
import math
import zipfile
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

FORMAT = 1
"""Number of the format that `save` writes; `load` reads up to this one."""

STAMP, TREE = "eigenfeat.json", "schema.json"
"""The members that say who wrote the file, and what it holds."""

SMALLEST_LIMIT = 256 << 20
LARGEST_RATIO = 20
"""What a file may unpack to, where the caller gives no number: 256 MiB, or 20 times the file if that is more."""

LARGEST_STAMP = 4096
CHUNK = 1 << 20
TREE_SHARE = 4
"""The text of the tree may take this part of the limit: as objects it takes several times as much."""

ARRAY_KINDS = "biufcUS"
SPARSE_MEMBERS = {"indices.npy", "indptr.npy", "format.npy", "shape.npy", "data.npy", "_is_array.npy"}


class Refusal(ValueError):
    """Why a file is not loaded: a sentence about it, without its name."""


@dataclass(frozen=True)
class Archive:
    """What a model file holds, none of it interpreted.

    Attributes
    ----------
    tree : dict
        What skops calls the schema: every object's class and content.
    sizes : dict of str to int
        What each array takes in memory, by the name of its member.
    content : bytes
        The tree and the arrays again, not compressed, for skops to read: what was looked at is what is loaded.
    limit : int
        Bytes that the model may take.
    needed : int
        The least limit under which it is read.
    """

    tree: dict[str, Any]
    sizes: dict[str, int]
    content: bytes
    limit: int
    needed: int


def stamp(version: str) -> str:
    """The member that says which format a file has and which version wrote it."""
    return json.dumps({"format": FORMAT, "eigenfeat": version})


def written_by(stream: BinaryIO) -> str:
    """The version that wrote a model file that has been read, and the number of its format."""
    with zipfile.ZipFile(stream) as packed:
        found = json.loads(packed.read(STAMP))
    return f"eigenfeat {found.get('eigenfeat')}, format {found['format']}"


def size_limit(file_size: int) -> int:
    return max(SMALLEST_LIMIT, LARGEST_RATIO * file_size)


def uncompressed(stream: BinaryIO) -> io.BytesIO:
    """The same archive with no member compressed, nor the parts of sparse matrices, which are archives themselves."""
    with zipfile.ZipFile(stream) as packed:
        members = {name: _unpacked(packed, name) for name in packed.namelist()}
    for name in members:
        if name.endswith(".npz"):
            members[name] = uncompressed(io.BytesIO(members[name])).getvalue()
    return _stored(members)


def read_archive(stream: BinaryIO, max_bytes: int | None = None) -> Archive:
    """Read and unpack a model file, never holding more than the limit."""
    limit = size_limit(stream.seek(0, io.SEEK_END)) if max_bytes is None else max_bytes
    with zipfile.ZipFile(stream) as packed:
        names = packed.namelist()
        if STAMP not in names or TREE not in names:
            raise Refusal(
                "was not written by eigenfeat.save: it has no stamp. Fit the model again and save it with that"
            )
        if len(set(names)) < len(names):
            raise Refusal("is damaged or forged: it has two members of one name")
        _check_sizes(packed.infolist(), limit)
        if packed.getinfo(STAMP).file_size > LARGEST_STAMP:
            raise Refusal("was not written by eigenfeat.save: its stamp is too long")
        _check_stamp(json.loads(_unpacked(packed, STAMP)))
        if packed.getinfo(TREE).file_size > limit // TREE_SHARE:
            raise Refusal(too_large(TREE_SHARE * packed.getinfo(TREE).file_size, limit))
        members = {name: _unpacked(packed, name) for name in names if name != STAMP}
    sizes = {name: _array_size(name, data, limit) for name, data in members.items() if name != TREE}
    content = _stored(members).getvalue()
    needed = max(len(content), sum(sizes.values()), TREE_SHARE * len(members[TREE]))
    return Archive(json.loads(members[TREE]), sizes, content, limit, needed)


def _check_sizes(members: list[zipfile.ZipInfo], limit: int) -> None:
    for member in members:
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or member.flag_bits & 1:
            raise Refusal(f"is packed in a way that eigenfeat.save does not use ({member.filename})")
    total = sum(member.file_size for member in members)
    if total > limit:
        raise Refusal(too_large(total, limit))


def too_large(size: int, limit: int) -> str:
    return (
        f"holds {size / 1e6:,.0f} MB, more than the {limit / 1e6:,.0f} MB it may: if you know where it comes from, "
        f"pass max_bytes={size} to load"
    )


def _unpacked(packed: zipfile.ZipFile, name: str) -> bytes:
    """A member in pieces: asked for at once, zipfile unpacks more than the size that the archive claims."""
    with packed.open(name) as member:
        return b"".join(iter(lambda: member.read(CHUNK), b""))


def _check_stamp(found: Any) -> None:
    number = found.get("format") if isinstance(found, dict) else None
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise Refusal("was not written by eigenfeat.save: its stamp has no format number")
    if number > FORMAT:
        raise Refusal(
            f"has model format {number}, written by eigenfeat {str(found.get('eigenfeat'))[:40]}; this version reads "
            f"formats up to {FORMAT}. Upgrade eigenfeat (pip install -U eigenfeat), or save the model with this version"
        )


def _array_size(name: str, data: bytes, limit: int) -> int:
    """Bytes of an array in memory; refused where the array says anything else than the member's length does."""
    if name.endswith(".npy"):
        return _checked_header(name, io.BytesIO(data), len(data), limit)
    if not name.endswith(".npz"):
        raise Refusal(f"has a member that no model file has ({name})")
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        members = packed.infolist()
        if {member.filename for member in members} - SPARSE_MEMBERS or len(members) > len(SPARSE_MEMBERS):
            raise Refusal(f"has a sparse matrix with members that none has ({name})")
        _check_sizes(members, limit)
        total = 0
        for member in members:
            with packed.open(member) as array:
                total += _checked_header(f"{name}/{member.filename}", array, member.file_size, limit)
    return total


def _checked_header(name: str, stream: Any, length: int, limit: int) -> int:
    """numpy makes room for what a header claims before it reads on, so the claim has to be true."""
    version = np.lib.format.read_magic(stream)
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in readers:
        raise Refusal(f"has an array of an unknown format {version} ({name})")
    shape, _, dtype = readers[version](stream)
    if dtype.kind not in ARRAY_KINDS or not dtype.itemsize or dtype.subdtype is not None:
        raise Refusal(f"has an array of type {dtype}, which is neither numbers nor text ({name})")
    if any(n < 0 or n > limit for n in shape) or stream.tell() + math.prod(shape) * dtype.itemsize != length:
        raise Refusal(f"has an array whose shape {shape} does not fit its data ({name})")
    return length


def _stored(members: dict[str, bytes]) -> io.BytesIO:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as packed:
        for name, data in members.items():
            packed.writestr(name, data)
    return buffer
