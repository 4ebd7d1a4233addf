"""Tests stand where the source stands: ``src/eigenfeat/a/b.py`` has ``tests/a/test_b.py``, and the other way round."""

from pathlib import Path

import pytest

import eigenfeat

SOURCE, TESTS = Path(eigenfeat.__file__).parent, Path(__file__).parent

EVERY_SOLVER = "test_solve runs every solver over every form of a problem"
ELSEWHERE = {
    "_sklearn": "imports of scikit-learn's private modules; used by every estimator's test",
    "moments/compiled": "two loops of test_dense_moments",
    "solvers/dense": EVERY_SOLVER,
    "solvers/dual": EVERY_SOLVER,
    "solvers/finish": EVERY_SOLVER,
    "solvers/krylov": EVERY_SOLVER,
    "solvers/low_rank": EVERY_SOLVER,
    "solvers/needs": EVERY_SOLVER,
    "solvers/noise": EVERY_SOLVER,
    "solvers/randomized": EVERY_SOLVER,
    "solvers/recurring": EVERY_SOLVER,
    "solvers/request": "a value; test_conventions and test_solve",
    "solvers/stacked_rows": EVERY_SOLVER,
    "quotients/matrices": "a table of names; tests/estimators/test_rayleigh.py fits them",
    "quotients/quotient": "a value; every test of a solver",
    "stability/tables": "numbers of the Tracy-Widom law; test_null",
}
# Folders of tests that are not about one folder of the source.
ACROSS = {"laws", "reference", "same_models"}


def modules() -> list[str]:
    """Every module by its path, but for those that only gather or start others."""
    paths = (path.relative_to(SOURCE) for path in sorted(SOURCE.rglob("*.py")))
    return [str(path.with_suffix("")) for path in paths if path.stem not in ("__init__", "__main__")]


def home(module: str) -> Path:
    """Where the tests of a module are."""
    folder, _, name = module.rpartition("/")
    return TESTS / folder / f"test_{name.lstrip('_')}.py"


@pytest.mark.parametrize("module", modules())
def test_every_module_has_tests_of_its_own_name(module):
    if module in ELSEWHERE:
        assert not home(module).exists(), f"{module} has tests of its own now: take it off the list"
    else:
        assert home(module).exists(), f"{module} has no {home(module).relative_to(TESTS.parent)}"


def test_the_list_names_modules():
    assert ELSEWHERE.keys() <= set(modules())


FILES = [path for path in sorted(TESTS.glob("*/test_*.py")) if path.parent.name not in ACROSS]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(TESTS)))
def test_every_test_of_a_folder_is_about_a_module_of_it(path):
    assert path in {home(module) for module in modules()}
