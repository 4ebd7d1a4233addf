"""The order of the layers: nothing below imports from above."""

import ast
from pathlib import Path

import pytest

import eigenfeat

ROOT = Path(eigenfeat.__file__).parent

# Lower layers first; a layer may import from itself and from those before it.
ORDER = [
    {"_moved", "_runtime"},
    {"_sklearn"},
    {"rows"},
    {"moments"},
    {"quotients"},
    {"solvers"},
    {"stages"},
    {"features"},
    {"linear", "kernel", "scores", "least_squares"},
    {"stability"},
    {"estimators"},
    {"tables"},
    {"export", "report"},
    {"cli"},
]
LEVEL = {name: level for level, names in enumerate(ORDER) for name in names}


def layer(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported_layers(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    modules = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    modules += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    return {m.split(".")[1] for m in modules if m.startswith("eigenfeat.")}


@pytest.mark.parametrize(
    "path", [p for p in sorted(ROOT.rglob("*.py")) if layer(p) != "__init__"], ids=lambda p: str(p.relative_to(ROOT))
)
def test_imports_only_go_down(path):
    here = layer(path)
    assert here in LEVEL, f"add the layer {here!r} to ORDER in this test, where it belongs"
    for other in imported_layers(path):
        assert LEVEL[other] <= LEVEL[here], f"{path.relative_to(ROOT)} imports from {other}, which is above {here}"
        assert LEVEL[other] < LEVEL[here] or other == here, f"{here} and {other} are siblings: neither may import"
