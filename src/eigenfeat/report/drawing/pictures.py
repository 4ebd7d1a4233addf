"""Patterns as pictures: images of pixels, maps of the head. Red-blue by opacity, so that they suit any background."""

from __future__ import annotations

import base64
import struct
import zlib
from html import escape

import numpy as np

from eigenfeat.report.drawing.svg import Canvas, number

UP, DOWN = (208, 88, 32), (38, 110, 190)
"""Colours of what is higher and lower; readable on white and on black, and with any kind of colour vision."""

GRID = 36
"""Pixels of a map of the head, a side."""


def image(pattern: np.ndarray, shape: tuple[int, int], words: str, limit: float | None = None) -> str:
    """A pattern of pixels as an image that grows without blurring."""
    return (
        f'<img class="pixels" alt="{escape(words)}" src="{_address(pattern.reshape(shape), limit)}" '
        f'width="{shape[1]}" height="{shape[0]}">'
    )


def topography(pattern: np.ndarray, positions: np.ndarray, words: str) -> str:
    """A pattern of sensors as a map seen from above, between them by inverse distance, with a dot a sensor."""
    centre = (positions.max(axis=0) + positions.min(axis=0)) / 2
    radius = float(np.linalg.norm(positions - centre, axis=1).max()) * 1.12 or 1.0
    at = (positions - centre) / radius
    ticks = (np.arange(GRID) + 0.5) / GRID * 2 - 1
    x, y = np.meshgrid(ticks, -ticks)
    distance = np.hypot(x[..., None] - at[:, 0], y[..., None] - at[:, 1])
    weights = 1 / (distance + 0.02) ** 3
    values = (weights * pattern).sum(axis=-1) / weights.sum(axis=-1)
    limit = float(np.abs(pattern).max()) or 1.0
    values[np.hypot(x, y) > 1] = 0.0
    canvas = Canvas(200, width=200)
    canvas.add(
        f'<image x="10" y="10" width="180" height="180" href="{_address(values, limit)}" preserveAspectRatio="none"/>'
    )
    canvas.add('<circle class="head" cx="100" cy="100" r="90"/><path class="head" d="M90 11L100 1L110 11"/>')
    for (a, b), value in zip(at, pattern):
        canvas.dot(100 + 90 * a, 100 - 90 * b, 2.2, "sensor", number(value))
    return canvas.text(words)


def _address(values: np.ndarray, limit: float | None) -> str:
    return "data:image/png;base64," + base64.b64encode(png(values, limit)).decode("ascii")


def png(values: np.ndarray, limit: float | None = None) -> bytes:
    """A PNG of signed values: the hue is the sign, the opacity the size."""
    limit = limit or float(np.abs(values).max()) or 1.0
    opacity = np.round(255 * np.clip(np.abs(values) / limit, 0, 1)).astype(np.uint8)
    pixels = np.empty((*values.shape, 4), dtype=np.uint8)
    pixels[..., :3] = np.where((values >= 0)[..., None], UP, DOWN)
    pixels[..., 3] = opacity
    pixels[opacity == 0] = 0  # one colour for nothing: it compresses
    lines = b"".join(b"\0" + line.tobytes() for line in pixels)
    header = struct.pack(">IIBBBBB", values.shape[1], values.shape[0], 8, 6, 0, 0, 0)
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, content) for kind, content in parts)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
