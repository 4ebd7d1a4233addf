"""What people install: the wheel and the source archive have everything the package reads, and run by themselves."""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import eigenfeat

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "eigenfeat"


def run(*command, **options) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """A folder with the wheel and the source archive, made without a network."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-d", folder, cwd=ROOT)
    return folder


def package_files() -> set[str]:
    compiled = {"__pycache__"}
    return {str(p.relative_to(SOURCE)) for p in SOURCE.rglob("*") if p.is_file() and not compiled & set(p.parts)}


def test_the_wheel_has_every_file_of_the_package_and_says_it_is_typed(built):
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        names = wheel.namelist()
    packed = {name.removeprefix("eigenfeat/") for name in names if name.startswith("eigenfeat/")}
    assert packed == package_files()
    assert "py.typed" in packed
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_source_archive_has_what_builds_and_tests_it(built):
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    assert {"pyproject.toml", "README.md", "LICENSE", "src/eigenfeat/py.typed", "tests/test_package.py"} <= names


def test_the_wheel_runs_without_the_source_tree(built, tmp_path):
    target = tmp_path / "site"
    run(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", target, next(built.glob("*.whl")))
    code = "import eigenfeat; print(eigenfeat.__file__, eigenfeat.__version__)"
    found = run(sys.executable, "-c", code, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(target)})
    assert found.split() == [str(target / "eigenfeat" / "__init__.py"), eigenfeat.__version__]


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_wheel_in_an_empty_environment_runs_the_demonstration(built, tmp_path):
    """Downloads the dependencies: minutes."""
    run(sys.executable, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", f"{next(built.glob('*.whl'))}[all]")
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    run(python, "-m", "eigenfeat.cli", "demo", cwd=tmp_path, env=environment)
    assert list(tmp_path.glob("demo/*.html"))


def test_a_name_that_is_not_public_is_refused():
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        eigenfeat.nothing  # noqa: B018
