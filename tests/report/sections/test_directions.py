"""Spectrum, verdict and strongest directions show the model's own eigenvalues."""

from dataclasses import replace

from eigenfeat.report.drawing.patterns import PatternStyle
from eigenfeat.report.drawing.svg import number
from eigenfeat.report.sections.directions import directions, noise


def test_spectrum_and_strongest(measured_wine):
    known = measured_wine.components
    body = directions(measured_wine, PatternStyle()).body
    assert number(float(known.eigenvalues.max())) in body
    assert body.count('class="direction"') == 3
    assert f"Dashed: what noise alone reaches, {number(measured_wine.noise.found.interval[1])}" in body
    assert known.meaning.split(":")[0] in body


def test_the_verdict_is_said(measured_wine):
    body, found = noise(measured_wine).body, measured_wine.noise.found
    assert "shuffled 99 times" in body
    assert f"{found.n_distinguishable} components of {len(found.values)} are beyond" in body


def test_reasons(measured_wine):
    assert (
        "no directions" in directions(replace(measured_wine, components="It has no directions."), PatternStyle()).body
    )
    assert "cannot" in noise(replace(measured_wine, noise="It cannot be.")).body
