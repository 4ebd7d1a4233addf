"""Tests stand where the source stands: ``src/eigenfeat/a/b.py`` has ``tests/a/test_b.py``, and the other way round."""

from pathlib import Path

import pytest

import eigenfeat

SOURCE, TESTS = Path(eigenfeat.__file__).parent, Path(__file__).parent

# Where modules without tests of their own are tested, and why there.
ELSEWHERE = {
    "values, tables of words and docstrings, which every test of their folder uses": {
        "_sklearn",
        "estimators/least_squares_docs",
        "kernel/needs",
        "kernel/problem",
        "least_squares/relation",
        "least_squares/solution",
        "quotients/quotient",
        "solvers/needs",
        "solvers/request",
        "stability/tables",
    },
    "bases of estimators: every test of the classes that derive from them, test_streaming.py that of streams": {
        "estimators/gem_base",
        "estimators/gem_streaming",
        "estimators/gem_classifier_base",
        "estimators/kernel_base",
        "estimators/kernel_discriminant",
        "estimators/spatial_filters",
    },
    "solvers/test_solve.py runs every solver over every form of a problem": {
        "solvers/dense",
        "solvers/dual",
        "solvers/finish",
        "solvers/krylov",
        "solvers/low_rank",
        "solvers/noise",
        "solvers/randomized",
        "solvers/recurring",
        "solvers/stacked_rows",
    },
    "kernel/test_table.py and the test of each solver run these inner steps": {
        "kernel/basis",
        "kernel/interior_point",
        "kernel/leave_one_out",
        "kernel/scatter",
        "kernel/separable_program",
        "kernel/used_rows",
    },
    "least_squares/test_solve.py and estimators/test_least_squares_cv.py run these inner steps": {
        "least_squares/folds",
        "least_squares/graph",
        "least_squares/paths",
        "least_squares/second_stage",
        "least_squares/spectrum",
    },
    "linear/test_logit.py, test_objective.py and test_streamed.py: steps of one descent, which its minimum tests": {
        "linear/block_sums",
        "linear/passes",
        "linear/quasi_newton",
        "linear/steps",
    },
    "rows/test_dask_rows.py, on its cluster": {"rows/dask_results"},
    "cli/test_commands.py runs every command": {
        "cli/comparing",
        "cli/demonstration",
        "cli/explaining",
        "cli/fitting",
        "cli/paging",
        "cli/talk",
    },
    "features/test_maps.py holds every map to it": {"stages/feature_map"},
    "estimators/test_rayleigh.py fits every matrix by its name": {"quotients/matrices"},
    "moments/test_dense_moments.py: its two loops": {"moments/compiled"},
}
EXCUSED = {module for modules in ELSEWHERE.values() for module in modules}
# Folders of tests that are not about one folder of the source.
ACROSS = {"laws", "reference", "robustness", "same_models"}
# Tests of a whole folder.
WHOLE = {TESTS / "export" / "test_fuzz.py", TESTS / "export" / "test_released.py", TESTS / "report" / "test_browser.py"}


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
    if module in EXCUSED:
        assert not home(module).exists(), f"{module} has tests of its own now: take it off the list"
    else:
        assert home(module).exists(), f"{module} has no {home(module).relative_to(TESTS.parent)}"


def test_the_list_names_modules():
    assert set(modules()) >= EXCUSED


FILES = [path for path in sorted(TESTS.glob("*/test_*.py")) if path.parent.name not in ACROSS and path not in WHOLE]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(TESTS)))
def test_every_test_of_a_folder_is_about_a_module_of_it(path):
    assert path in {home(module) for module in modules()}
