"""Tangent covariance matrices (thesis 3.23), and the image transformations they are most used with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from eigenfeat.features.tangents import Transformation, transformed
from eigenfeat.stages.kernels import KernelRows


def tangents(
    kernel: KernelRows, centers: np.ndarray, transformations: Sequence[tuple[float, Transformation]]
) -> Iterator[np.ndarray]:
    """For every transformation the (n, q) array ``√weight (k_x - k_Lx)`` over the expansion in ``centers``.

    In double precision for any rows: the coordinates of `eigenfeat.kernel.basis` divide by the small eigenvalues of
    the kernel matrix, and sums of squares in single precision would come out indefinite.
    """
    points = kernel.points(centers)
    original = kernel.columns(centers)
    for strength, transformation in transformations:
        moved = transformed(kernel.rows, transformation)
        change = KernelRows(kernel.kernel, moved).columns(points).astype(np.float64)
        np.subtract(original, change, out=change)
        change *= np.sqrt(strength)
        yield change


def tangent_covariance(
    kernel: KernelRows,
    centers: np.ndarray,
    weights: np.ndarray,
    transformations: Sequence[tuple[float, Transformation]],
) -> np.ndarray:
    """``T = Σ_L weight Σ_x w (k_x - k_Lx)(k_x - k_Lx)ᵀ`` over the expansion in ``centers`` (3.23, 3.24).

    αᵀTα is how much f changes under the transformations, squared and summed over the rows.
    """
    T = np.zeros((centers.shape[0],) * 2)
    for change in tangents(kernel, centers, transformations):
        change *= np.sqrt(weights)[:, None]
        T += change.T @ change
    return T


@dataclass(frozen=True)
class ImageTransformation:
    """Base of transformations of images stored as rows.

    Parameters
    ----------
    shape : tuple of int
        (height, width); a row is the image row after row.
    """

    shape: tuple[int, int]

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        images = np.asarray(rows).reshape(len(rows), *self.shape)
        return self._moved(images).reshape(len(rows), -1)

    def _moved(self, images: np.ndarray) -> np.ndarray:
        raise NotImplementedError


@dataclass(frozen=True)
class Translation(ImageTransformation):
    """Shift by ``(down, right)`` pixels, fractions included; edges are repeated."""

    down: float = 0.0
    right: float = 0.0

    def _moved(self, images: np.ndarray) -> np.ndarray:
        return ndimage.shift(images, (0, self.down, self.right), order=1, mode="nearest")


@dataclass(frozen=True)
class Rotation(ImageTransformation):
    """Turn about the centre by ``degrees`` (counter-clockwise)."""

    degrees: float = 5.0

    def _moved(self, images: np.ndarray) -> np.ndarray:
        return ndimage.rotate(images, self.degrees, axes=(2, 1), reshape=False, order=1, mode="nearest")


@dataclass(frozen=True)
class Thickening(ImageTransformation):
    """Thicken bright strokes: a step of ``amount`` pixels along the gradient of brightness; negative thins."""

    amount: float = 0.5

    def _moved(self, images: np.ndarray) -> np.ndarray:
        down, right = np.gradient(images, axis=(1, 2))
        return images + self.amount * np.sqrt(down**2 + right**2)
