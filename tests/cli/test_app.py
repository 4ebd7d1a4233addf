"""The way into the command: as a script, as a module, and without the packages it needs."""

import subprocess
import sys


def run(*arguments):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)


def test_the_module_runs_too():
    result = run("-m", "eigenfeat.cli", "--help")
    assert result.returncode == 0
    assert all(command in result.stdout for command in ("demo", "fit", "predict", "transform", "report"))


def test_missing_packages_are_named():
    script = (
        "import sys; sys.modules['typer'] = None\n"
        "import importlib.util as u; found = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'typer' else found(name, *a)\n"
        "from eigenfeat.cli import main; main()"
    )
    result = run("-c", script)
    assert result.returncode == 1
    assert result.stderr.strip() == "The eigenfeat command needs typer: pip install 'eigenfeat[all]'"
