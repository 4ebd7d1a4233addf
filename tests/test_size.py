"""Nothing grows beyond a screen or two: modules of at most 400 lines, functions of at most 60."""

import ast
from pathlib import Path

import pytest

import eigenfeat

ROOT = Path(eigenfeat.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))
MODULE_LINES, FUNCTION_LINES = 400, 60

every_module = pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function's body without its docstring; the signature does not count."""
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


@every_module
def test_no_module_is_long(path):
    assert len(path.read_text().splitlines()) <= MODULE_LINES


@every_module
def test_no_function_is_long(path):
    functions = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.FunctionDef)]
    long = {f"{f.name} (line {f.lineno})": body_lines(f) for f in functions if body_lines(f) > FUNCTION_LINES}
    assert not long


def test_a_docstring_and_a_signature_do_not_count():
    text = 'def f(\n    a,\n    b,\n):\n    """One.\n\n    Two.\n    """\n    c = a\n    return c + b\n'
    assert body_lines(ast.parse(text).body[0]) == 2
