"""The whole grid, estimator x input and estimator x parameter, in a process that may die; a table of outcomes.

``make fuzz`` runs it. ``python tests/robustness/fuzz.py --only 'GEMClassifier: rows'`` runs the cases whose names
match, ``--worst`` prints everything that was neither answered nor refused clearly, ``--save`` keeps all outcomes,
``--part 2/8`` runs the second of eight parts, and ``--read`` prints the table of what parts have saved. The library
that is tried is the one on ``PYTHONPATH``: ``--like`` runs the cases of another's saved outcomes, as far as it knows
them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import selectors
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from fuzz_inputs import INPUTS, Input, plain_input  # noqa: E402
from fuzz_judging import GOOD, OUTCOMES, Outcome, fit, skill, tried  # noqa: E402
from fuzz_parameters import HOPELESS, SPECIAL, parameter_values  # noqa: E402
from fuzz_subjects import CONFIGURATIONS, judges_units, subjects, takes  # noqa: E402

import eigenfeat  # noqa: E402

#: The library that is tried is the one that is imported here.
PLACES = os.pathsep.join((str(Path(eigenfeat.__file__).parent.parent), str(HERE)))
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
Case = tuple[Callable[[], Any], Input]
#: Of one case: seconds of the processor, seconds of the clock, and bytes of address space.
SECONDS, PATIENCE, MEMORY = 20.0, 300.0, 8 << 30


def cases() -> dict[str, Callable[[], Case]]:
    """Every case by its name, made when it is asked for."""
    found: dict[str, Callable[[], Case]] = {}
    for name, make in subjects().items():
        for words, spoil in INPUTS.items():
            if words.startswith("groups") and not takes(make(), "groups"):
                continue
            found[f"{name}: {words}"] = lambda make=make, spoil=spoil: (make, spoil(plain_input(make())))  # type: ignore[misc]
        if name not in CONFIGURATIONS:
            for parameter, words, value in parameter_values(make()):
                hopeless = parameter in SPECIAL and words in HOPELESS
                found[f"{name}: {parameter}={words}"] = _of_parameter(make, parameter, value, hopeless)
    return found


def _of_parameter(make: Callable[..., Any], parameter: str, value: Any, hopeless: bool) -> Callable[[], Case]:
    def case() -> Case:
        given = plain_input(make())
        return (lambda: make(**{parameter: value})), Input(given.X, given.y, hopeless=hopeless)

    return case


def reference(name: str, known: dict[str, float | None]) -> float | None:
    """The skill of a subject on plain input."""
    if name not in known:
        model = subjects()[name]()
        given = plain_input(model)
        fit(model, given)
        known[name] = skill(model, given)
    return known[name]


def work() -> None:
    """Run the cases whose names come in, one a line, and answer each with its outcome."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a fit prints is no answer
    known: dict[str, float | None] = {}
    everything = cases()
    for line in sys.stdin:
        name = line.rstrip("\n")
        try:
            subject = name.split(":")[0]
            make, given = everything[name]()
            expected = reference(subject, known) if judges_units(subject, given.units) else None
            limit(SECONDS)
            outcome = tried(make, given, expected)
            limit(0)
        except Exception as problem:  # of the case, not of the fit
            outcome = Outcome("raw error", f"the case cannot be made: {problem!r}")
        print(json.dumps(outcome), file=answers, flush=True)


def limit(seconds: float) -> None:
    """Let the system end this process after so much time of the processor, whatever it is doing then; 0 is for ever."""
    signal.setitimer(signal.ITIMER_PROF, seconds)


class Worker:
    """A process that runs cases, and is replaced when one kills it or does not end."""

    def __init__(self, arguments: Sequence[str] = (str(HERE / "fuzz.py"), "--work")) -> None:
        self._arguments = arguments
        self._start()

    def _start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *self._arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "PYTHONPATH": PLACES, **ONE_THREAD},
        )

    def outcome(self, name: str) -> Outcome:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        with selectors.DefaultSelector() as ready:
            ready.register(self.process.stdout, selectors.EVENT_READ)
            answered = ready.select(PATIENCE)
        line = self.process.stdout.readline() if answered else ""
        if line:
            return Outcome(*json.loads(line))
        if not answered:
            self.process.kill()
        code = self.process.wait()
        hung = not answered or code == -signal.SIGPROF
        outcome = Outcome("hang", f"more than {SECONDS:g} s") if hung else Outcome("crash", f"ended with {code}")
        self._start()
        return outcome

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def run(names: list[str]) -> Iterator[tuple[str, Outcome]]:
    worker = Worker()
    try:
        for name in names:
            yield name, worker.outcome(name)
    finally:
        worker.close()


def sampled(names: list[str], count: int | None, seed: int) -> list[str]:
    """Some of the names, in their order; all where no count is given."""
    if count is None or count >= len(names):
        return names
    chosen = set(random.Random(seed).sample(range(len(names)), count))
    return [name for i, name in enumerate(names) if i in chosen]


def part_of(names: list[str], part: str) -> list[str]:
    """Every n-th of the names, for ``part`` such as "2/8" from the second on: parts take about equally long."""
    first, count = map(int, part.split("/"))
    if not 1 <= first <= count:
        raise ValueError(f"--part must be i/n with i from 1 to n, got {part}")
    return names[first - 1 :: count]


def chosen(options: argparse.Namespace) -> list[str]:
    """The names of the cases that are asked for and can be made here."""
    known = cases()
    asked = json.loads(options.like.read_text()) if options.like else known
    absent = sum(name not in known for name in asked)
    if absent:
        print(f"{absent:,} of {len(asked):,} cases are of estimators or parameters that this library does not have")
    names = [name for name in asked if name in known and re.search(options.only, name)]
    return sampled(part_of(names, options.part), options.sample, options.seed)


def read(files: list[Path]) -> dict[str, Outcome]:
    """What several runs have saved, together."""
    return {name: Outcome(*found) for file in files for name, found in json.loads(file.read_text()).items()}


def table(outcomes: dict[str, Outcome]) -> str:
    """Counts of outcomes, a line a subject."""
    by_subject: dict[str, Counter] = {}
    for name, outcome in outcomes.items():
        by_subject.setdefault(name.split(":")[0], Counter())[outcome.kind] += 1
    width = max(map(len, by_subject), default=0)
    lines = [f"{'':{width}}" + "".join(f"{kind:>13}" for kind in OUTCOMES)]
    by_subject["in all"] = sum(by_subject.values(), Counter())
    for subject, counts in by_subject.items():
        lines.append(f"{subject:{width}}" + "".join(f"{counts[kind]:13,}" for kind in OUTCOMES))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--only", default="", help="a regular expression of names")
    parser.add_argument("--worst", action="store_true", help="print every case that is neither ok nor a clear error")
    parser.add_argument("--part", default="1/1", help="i/n: the i-th of n parts")
    parser.add_argument("--sample", type=int, help="so many of them, drawn with --seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--like", type=Path, help="a JSON file of outcomes, whose cases are run")
    parser.add_argument("--save", type=Path, help="a JSON file of all outcomes")
    parser.add_argument("--read", type=Path, nargs="+", help="files of outcomes, shown instead of running anything")
    options = parser.parse_args()
    if options.work:
        work()
        return
    started, outcomes = time.perf_counter(), {}
    for name, outcome in read(options.read).items() if options.read else run(chosen(options)):
        outcomes[name] = outcome
        if options.worst and outcome.kind not in GOOD:
            print(f"{outcome.kind:>12}  {name}  {outcome.words}", flush=True)
    print(table(outcomes))
    print(f"{len(outcomes):,} cases" + ("" if options.read else f" in {time.perf_counter() - started:.0f} s"))
    if options.save:
        options.save.write_text(json.dumps(outcomes, indent=0))
    sys.exit(any(outcome.kind not in GOOD for outcome in outcomes.values()))


if __name__ == "__main__":
    main()
