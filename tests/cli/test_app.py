"""The way into the command: help at once, versions, exit codes, no traceback that nobody asked for."""

import subprocess
import sys

import pytest
import typer

from eigenfeat.cli.app import INTERRUPTED, UNEXPECTED, explained


def run(*arguments):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)


def test_the_module_runs_too():
    result = run("-m", "eigenfeat.cli", "--help")
    assert result.returncode == 0
    names = ("fit", "compare", "predict", "transform", "report", "explain", "info", "list", "demo", "--version")
    assert all(name in result.stdout for name in names)
    assert run("-m", "eigenfeat.cli", "--version").stdout.startswith("eigenfeat ")
    assert run("-m", "eigenfeat.cli", "fit").returncode == 2


def test_help_imports_nothing_heavy():
    script = (
        "import sys; sys.argv = ['eigenfeat', '--help']\n"
        "from eigenfeat.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = ('numpy', 'scipy', 'sklearn', 'pyarrow', 'pandas', 'matplotlib', 'numba')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    assert run("-c", script).stdout.strip().endswith("[]")


@pytest.mark.parametrize(
    ("problem", "code"),
    [(ValueError("bad"), 1), (RuntimeError("odd"), UNEXPECTED), (KeyboardInterrupt(), INTERRUPTED)],
    ids=lambda value: type(value).__name__,
)
def test_problems_have_exit_codes(problem, code, capsys):
    def command(debug: bool = False) -> None:
        raise problem

    with pytest.raises(typer.Exit) as end:
        explained(command)()
    assert end.value.exit_code == code
    assert "Traceback" not in capsys.readouterr().err
    with pytest.raises(typer.Exit):
        explained(command)(debug=True)
    assert ("Traceback" in capsys.readouterr().err) == (code != INTERRUPTED)
