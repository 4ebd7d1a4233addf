"""Fitted models outside Python's memory: files that are safe to open."""

from eigenfeat.export.saving import load, save

__all__ = ["load", "save"]
