"""Streams that can be read once, of which something was read to see what they are."""

from __future__ import annotations

import io
from typing import Any


def filled(stream: Any, start: bytes, size: int) -> bytes:
    parts = [start]
    while sum(map(len, parts)) < size:
        part = stream.read(size - sum(map(len, parts)))
        if not part:
            break
        parts.append(part)
    return b"".join(parts)


class JoinedStream(io.RawIOBase):
    """Bytes that were read already, and then the rest of their stream."""

    def __init__(self, head: bytes, rest: Any) -> None:
        self._head, self._rest = memoryview(head), rest

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        head = bytes(self._head if size < 0 else self._head[:size])
        self._head = self._head[len(head) :]
        if size < 0:
            return head + self._rest.read()
        # No shorter than asked for before the end: a parser takes what it gets for a block, which must hold a line.
        return head if len(head) == size else head + self._rest.read(size - len(head))
