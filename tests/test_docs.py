"""Every block of python on every page runs, every public name has its line, every link leads somewhere."""

import importlib
import pkgutil
import re
import runpy
import warnings
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import matplotlib
import matplotlib.pyplot
import pytest

import eigenfeat
from eigenfeat import kernel
from eigenfeat.features.maps import FEATURE_MAPS
from eigenfeat.quotients import CRITERIA

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
API = (ROOT / "docs" / "api.md").read_text()
GALLERY = sorted((ROOT / "docs" / "gallery").glob("*.py"))
EXTENSIONS = sorted((ROOT / "examples" / "extending").glob("*.py"))
# Languages a fence may be of; "python" runs, the others are shown.
SHOWN_ONLY = {"text", "sh", "console", "json", "toml", "html", "{toctree}"}

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))


@dataclass(frozen=True)
class Fence:
    """A fenced block: its language, the line its code starts on, and the code."""

    language: str
    line: int
    code: str


def fences(page: Path) -> list[Fence]:
    found: list[Fence] = []
    opened: tuple[str, str, int] | None = None
    lines = page.read_text().splitlines()
    for number, line in enumerate(lines, start=1):
        mark = re.match(r"\s*(```+|~~~+)\s*(\S*)", line)
        if mark is None:
            continue
        if opened is None:
            opened = (mark[1], mark[2], number)
        elif line.strip() == opened[0]:
            found.append(Fence(opened[1], opened[2] + 1, "\n".join(lines[opened[2] : number - 1])))
            opened = None
    assert opened is None, f"{page.name}:{opened and opened[2]}: this fence is never closed"
    return found


@pytest.fixture
def tables_as_they_were():
    """Pages and examples add to the tables of the library; other tests must not see it."""
    tables = [CRITERIA, FEATURE_MAPS, getattr(kernel, "LOSSES", {})]
    kept = [patch.dict(table) for table in tables]
    for keeper in kept:
        keeper.start()
    yield
    for keeper in kept:
        keeper.stop()


@every_page
def test_every_block_of_python_runs(page, tmp_path, monkeypatch, tables_as_they_were, capsys):
    """Top to bottom, in one namespace, as a reader would who types what the page says."""
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    namespace: dict = {"__name__": "__main__"}
    for fence in fences(page):
        where = f"{page.relative_to(ROOT)}:{fence.line}"
        assert fence.language in {"python", *SHOWN_ONLY}, f"{where}: a fence of python, or of one of {SHOWN_ONLY}"
        if fence.language != "python":
            continue
        # Lines counted from the top of the page: a traceback names page and line.
        code = compile("\n" * (fence.line - 1) + fence.code, str(page.relative_to(ROOT)), "exec")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(code, namespace)
        except Exception as error:
            trace, line = error.__traceback__, fence.line
            while trace is not None:
                if trace.tb_frame.f_code.co_filename == code.co_filename:
                    line = trace.tb_lineno
                trace = trace.tb_next
            pytest.fail(f"{page.relative_to(ROOT)}:{line}: {type(error).__name__}: {error}")


@pytest.mark.parametrize("path", EXTENSIONS, ids=lambda p: p.stem)
def test_every_extension_runs(path, tmp_path, monkeypatch, tables_as_they_were, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.parametrize("path", GALLERY, ids=lambda p: p.stem)
def test_every_script_of_the_gallery_runs(path, tmp_path, monkeypatch, capsys):
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    assert matplotlib.pyplot.get_fignums()
    matplotlib.pyplot.close("all")


def test_pages_show_the_files_they_include():
    include = runpy.run_path(str(ROOT / "docs" / "include.py"))
    shown = []
    for page in PAGES:
        text = page.read_text()
        assert include["included"](text) == text, f"{page.name} is behind: run python docs/include.py"
        found = [match["path"] for match in include["INCLUDE"].finditer(text)]
        assert len(found) == text.count("<!-- include:"), f"{page.name} has an include without a block of python below"
        shown += found
    assert sorted(shown) == [str(path.relative_to(ROOT)) for path in EXTENSIONS]


# ------------------------------------------------------------------ public names


def table_entries(text: str) -> set[str]:
    """Names that stand alone, in back-ticks, as the first cell of a row of a table."""
    return set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))


def section(name: str) -> str:
    """What stands under the heading of a sub-package."""
    found = re.search(rf"^## `{re.escape(name)}`\n(.*?)(?=^## |\Z)", API, re.DOTALL | re.MULTILINE)
    assert found, f"docs/api.md has no heading ## `{name}`"
    return found[1]


def packages() -> list[str]:
    """Sub-packages that say what of them is public."""
    names = [f"eigenfeat.{m.name}" for m in pkgutil.iter_modules(eigenfeat.__path__) if m.ispkg]
    return [name for name in names if getattr(importlib.import_module(name), "__all__", None)]


@pytest.mark.parametrize("name", eigenfeat.__all__)
def test_every_public_name_is_in_the_api_page(name):
    assert name in table_entries(API)


@pytest.mark.parametrize("package", packages())
def test_every_public_name_of_a_package_is_in_its_section(package):
    assert set(importlib.import_module(package).__all__) == table_entries(section(package))


def test_the_api_page_names_nothing_that_is_not_there():
    top = API.split("\n## `eigenfeat.")[0]
    assert table_entries(top) == set(eigenfeat.__all__)
    for package in re.findall(r"^## `(eigenfeat\.\w+)`", API, re.MULTILINE):
        importlib.import_module(package)


# ------------------------------------------------------------------ links


def anchors(page: Path) -> set[str]:
    """Anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


@every_page
def test_links_lead_somewhere(page):
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)", page.read_text()):
        if target.startswith("http"):
            continue
        there = page.parent / target if target else page
        assert there.exists(), f"{page.name} links to {target}, which does not exist"
        if anchor:
            assert anchor in anchors(there), f"{page.name} links to {target}#{anchor}, and there is no such heading"


@every_page
def test_files_named_in_the_documentation_exist(page):
    for name in re.findall(r"`(?:python )?((?:benchmarks|examples|tests|docs|src)/[\w/.]+\.\w+)", page.read_text()):
        assert (ROOT / name).exists(), f"{page.name} names {name}, which does not exist"
