"""What the fit did, in which time, and how to do it again."""

from __future__ import annotations

from html import escape

from eigenfeat.report.provenance import Provenance
from eigenfeat.report.sections.html import Section, missing, paragraph, table
from eigenfeat.report.values.facts import Facts
from eigenfeat.report.values.measured import Measured


def stages(found: Measured, origin: Provenance) -> Section:
    """From a row to the answer, and the seconds of the fit."""
    known = found.facts
    lines = [
        (stage.name, stage.words, " → ".join(f"{n:,}" for n in (stage.n_inputs, stage.n_outputs) if n is not None))
        for stage in known.stages
    ]
    body = paragraph("What happens to a row on its way to the answer:")
    body += table(("stage", "what it does", "columns"), lines)
    seconds = [*known.seconds]
    if origin.seconds is not None:
        seconds.append(("the whole fit", origin.seconds))
    if seconds:
        body += paragraph("What the fit took:")
        body += table(("part of the fit", "seconds"), [(name, f"{s:.2f}") for name, s in seconds], numbers=(1,))
    else:
        body += missing(f"{found.subject.name} does not record how long its parts took.")
    return Section("stages", "Stages and their seconds", body, half=True)


def reproduce(found: Measured, origin: Provenance) -> Section:
    """Versions, seed, and the command or the code."""
    known = found.facts
    lines = list(known.versions)
    if origin.seed is not None:
        lines.append(("seed of the split", str(origin.seed)))
    seeds = [s.get_params(deep=False).get("random_state") for s in found.subject.steps if hasattr(s, "get_params")]
    if any(seed is not None for seed in seeds):
        lines.append(("random_state of the model", ", ".join(str(s) for s in seeds if s is not None)))
    body = f"<pre><code>{escape(_recipe(known, origin))}</code></pre>"
    if origin.sha256:
        body += paragraph(f"With the file whose SHA-256 is {origin.sha256}.")
    return Section("reproduce", "How to reproduce it", body + table(("", "version"), lines), half=True)


def _recipe(known: Facts, origin: Provenance) -> str:
    pins = " ".join(f"{name}=={number}" for name, number in known.versions if name != "Python")
    if origin.command:
        return f"pip install {pins}\n{origin.command}"
    code = "\n".join(f"from eigenfeat import {name}" for name in _ours(known))
    return f"pip install {pins}\n\n{code}\nmodel = {known.code}\nmodel.fit(X, y)"


def _ours(known: Facts) -> list[str]:
    import eigenfeat

    return [name for name in dict.fromkeys(known.steps) if name in eigenfeat.__all__]
