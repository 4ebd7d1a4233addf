"""A fitted model as plots, and as one self-contained page."""

from eigenfeat.report.page import render, write_report
from eigenfeat.report.plots import (
    plot_components,
    plot_confusion,
    plot_pairs,
    plot_projection,
    plot_reliance,
    plot_spectrum,
)
from eigenfeat.report.provenance import Provenance

__all__ = [
    "Provenance",
    "plot_components",
    "plot_confusion",
    "plot_pairs",
    "plot_projection",
    "plot_reliance",
    "plot_spectrum",
    "render",
    "write_report",
]
