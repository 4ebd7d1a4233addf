"""The documentation names everything that is public, and its links lead somewhere."""

import re
from pathlib import Path

import pytest

import eigenfeat

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("name", eigenfeat.__all__)
def test_every_public_name_is_in_the_api_page(name):
    assert f"`{name}" in (ROOT / "docs" / "api.md").read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name} links to {target}, which does not exist"


def test_every_benchmark_named_in_the_documentation_exists():
    for page in PAGES:
        for script in re.findall(r"benchmarks/[\w/]+\.py", page.read_text()):
            assert (ROOT / script).exists(), f"{page.name} names {script}, which does not exist"
