"""The documentation site: `make docs` builds it from these pages, the gallery's scripts and the live docstrings."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import warnings
from pathlib import Path

import docutils.nodes
import latex2mathml.converter
import matplotlib

import eigenfeat

matplotlib.use("Agg")
HERE = Path(__file__).parent

project = "eigenfeat"
copyright = "The eigenfeat developers"
author = "The eigenfeat developers"
version = release = eigenfeat.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "gallery", "include.py"]

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 4
suppress_warnings = [
    # Links that leave the site (README, sources): tests/test_docs.py sees that each leads somewhere.
    "myst.xref_missing",
    "config.cache",
]

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "eigenfeat"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {
    "show_prev_next": False,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
}
html_sidebars = {
    page: []  # they stand alone: nothing to put beside them
    for page in ("index", "which_method", "coming_from", "faq", "glossary", "references", "results", "extending", "api")
}

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"\.py$",
    "remove_config_comments": True,
    "download_all_examples": False,
    "min_reported_time": 10,
    "show_signature": False,
    "write_computation_times": False,  # a page that would fetch scripts from the network
    "within_subsection_order": "FileNameSortKey",  # a family's scripts stand together
}
warnings.filterwarnings("ignore", message="X does not have valid feature names")


def public_names() -> dict[str, list[str]]:
    """Every package that says what of it is public, and what that is."""
    names = {"eigenfeat": sorted(eigenfeat.__all__)}
    for module in pkgutil.iter_modules(eigenfeat.__path__):
        if module.ispkg:
            package = f"eigenfeat.{module.name}"
            public = getattr(importlib.import_module(package), "__all__", [])
            names |= {package: sorted(public)} if public else {}
    return names


def write_reference() -> None:
    """A page with every public name, from live docstrings: nothing to forget when one is added."""
    lines = ["API reference", "=============", "", "Every public name by package; :doc:`/api` has them by subject.", ""]
    seen: set[int] = set()
    pages: set[str] = set()
    for package, names in public_names().items():
        found = importlib.import_module(package)
        mine = [name for name in names if is_documented(getattr(found, name)) and id(getattr(found, name)) not in seen]
        seen |= {id(getattr(found, name)) for name in mine}
        pages |= {f"{package}.{name}.rst" for name in mine}
        title = f"``{package}``"
        lines += [title, "-" * len(title), "", (found.__doc__ or "").strip().split("\n")[0], ""]
        lines += [f".. currentmodule:: {package}", "", ".. autosummary::", "   :toctree: api", "   :nosignatures:", ""]
        lines += [f"   {name}" for name in mine] + [""]
        others = [name for name in names if name not in mine]
        if others:
            listed = ", ".join(f"``{name}``" for name in others)
            lines += [f"Tables, types and names of other packages: {listed}.", ""]
    folder = HERE / "generated"
    folder.mkdir(exist_ok=True)
    for stale in folder.glob("api/*.rst"):
        if stale.name not in pages:
            stale.unlink()
    page, text = folder / "reference.rst", "\n".join(lines)
    if not page.exists() or page.read_text() != text:
        page.write_text(text)


def is_documented(thing: object) -> bool:
    """Classes and functions of ours; tables and types of annotations have no docstrings of their own."""
    return (inspect.isclass(thing) or inspect.isfunction(thing)) and thing.__module__.startswith("eigenfeat")


def as_restructured_text(app: object, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Docstrings are written to be read in a terminal: |x| is a size, and links of scikit-learn's lead nowhere here."""
    for i, line in enumerate(lines):
        line = re.sub(r":ref:`([^`<]+?)(\s*<[^`>]+>)?`", r"\1", line)
        plain = (line[:1].strip() or line.lstrip()[:1] == "|") and "`" not in line and "\\" not in line
        lines[i] = line.replace("|", "\\|") if plain else line


def written_as_mathml(display: str):
    """Formulas as MathML, which browsers draw by themselves: nothing to fetch, no script, screen readers read it."""

    def visit(page, node) -> None:
        page.body.append(latex2mathml.converter.convert(node.astext(), display=display))
        raise docutils.nodes.SkipNode

    return visit, None


def check_nothing_is_fetched(app, exception) -> None:
    """Pages are read where there is no network: scripts, styles and pictures are their own."""
    fetched = re.compile(r'<(?:script|img|iframe)[^>]+src="https?://|<link[^>]+href="https?://[^"]+\.css')
    if exception is None:
        pages = [page for page in Path(app.outdir).rglob("*.html") if fetched.search(page.read_text())]
        if pages:
            raise ValueError(f"pages fetch something from the network: {', '.join(map(str, pages[:5]))}")


def setup(app) -> None:
    app.connect("build-finished", check_nothing_is_fetched)
    app.connect("autodoc-process-docstring", as_restructured_text)
    app.add_html_math_renderer("mathml", written_as_mathml("inline"), written_as_mathml("block"))


write_reference()  # before Sphinx looks for pages
