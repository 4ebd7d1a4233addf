"""How a direction's pattern is drawn: as bars of named columns, an image, a curve over time, or a map of the head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eigenfeat.report.drawing.charts import bars, curve
from eigenfeat.report.drawing.pictures import image, topography
from eigenfeat.report.drawing.svg import number

N_BARS = 8


@dataclass(frozen=True, eq=False)
class PatternStyle:
    """What the user said of the columns.

    Attributes
    ----------
    image_shape : (rows, columns), optional
    time_axis : (d,) array, optional
        Time, frequency or wavelength of each column.
    positions : (d, 2) array, optional
        Of each sensor, seen from above, the nose up.
    """

    image_shape: tuple[int, int] | None = None
    time_axis: np.ndarray | None = None
    positions: np.ndarray | None = None

    @classmethod
    def of(
        cls,
        n_columns: int,
        image_shape: tuple[int, int] | None = None,
        time_axis: object = None,
        positions: object = None,
    ) -> PatternStyle:
        """Checked against the number of columns."""
        if image_shape is not None and image_shape[0] * image_shape[1] != n_columns:
            raise ValueError(f"image_shape={image_shape} has {image_shape[0] * image_shape[1]} pixels, not {n_columns}")
        times = None if time_axis is None else np.asarray(time_axis, dtype=np.float64)
        if times is not None and times.shape != (n_columns,):
            raise ValueError(f"time_axis has shape {times.shape} for {n_columns} columns: give one number a column")
        places = None if positions is None else np.asarray(positions, dtype=np.float64)
        if places is not None and places.shape != (n_columns, 2):
            raise ValueError(f"positions has shape {places.shape} for {n_columns} columns: give x and y of each")
        return cls(image_shape, times, places)

    @property
    def is_picture(self) -> bool:
        """Whether patterns are drawn as images or maps, which are square."""
        return self.image_shape is not None or self.positions is not None

    def draw(self, pattern: np.ndarray, names: Sequence[str], what: str) -> str:
        """One pattern; ``what`` names the direction."""
        words = f"Pattern of {what}: {largest(pattern, names)}"
        size = len(pattern)
        if self.image_shape is not None and self.image_shape[0] * self.image_shape[1] == size:
            return image(pattern, self.image_shape, words)
        if self.positions is not None and len(self.positions) == size:
            return topography(pattern, self.positions, words)
        if self.time_axis is not None and len(self.time_axis) == size:
            return curve(pattern, self.time_axis, words)
        top = np.argsort(-np.abs(pattern), kind="stable")[:N_BARS]
        return bars([names[j] for j in top], pattern[top], words, limit=1.0)


def largest(pattern: np.ndarray, names: Sequence[str], count: int = 3) -> str:
    """The columns with the largest entries, in words."""
    top = np.argsort(-np.abs(pattern), kind="stable")[:count]
    return ", ".join(f"{names[j]} {'higher' if pattern[j] >= 0 else 'lower'} ({number(pattern[j])})" for j in top)
