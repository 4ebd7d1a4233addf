"""Stages, seconds, versions, and the command or the code."""

import eigenfeat
from eigenfeat.report import Provenance
from eigenfeat.report.sections.reproduce import reproduce, stages


def test_stages_and_seconds(measured_wine):
    body = stages(measured_wine, Provenance(seconds=12.345)).body
    assert "FeatureLayer" in body and "12.35" in body and "classifier" in body
    assert "scores turned into probabilities" in body


def test_the_command_or_the_code(measured_wine):
    body = reproduce(measured_wine, Provenance(command="eigenfeat fit a.csv", seed=5, sha256="abc")).body
    assert "eigenfeat fit a.csv" in body and "seed of the split" in body and "abc" in body
    assert f"eigenfeat=={eigenfeat.__version__}" in body
    code = reproduce(measured_wine, Provenance()).body
    assert "from eigenfeat import GEMClassifier" in code and "ridge=0.3" in code
