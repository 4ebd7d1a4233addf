"""Fitted models outside Python's memory: files that are safe to open, and graphs that run without Python."""

from eigenfeat.export.onnx_models import to_onnx
from eigenfeat.export.saving import load, save

__all__ = ["load", "save", "to_onnx"]
