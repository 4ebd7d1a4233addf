"""Puts the text of source files into pages, so that what is shown is what runs.

    python docs/include.py

After a line ``<!-- include: path -->`` (from the root of the repository) the fenced block that follows is made the
text of that file. ``tests/test_docs.py`` fails where a page and a file differ.
"""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
INCLUDE = re.compile(
    r"(<!-- include: (?P<path>\S+) -->\n\n?```python\n)(?P<text>.*?)(?=^```$)", re.DOTALL | re.MULTILINE
)


def included(page: str) -> str:
    """A page's text with every included block as its file has it."""
    return INCLUDE.sub(lambda found: found[1] + (ROOT / found["path"]).read_text(), page)


if __name__ == "__main__":
    for path in sorted((ROOT / "docs").rglob("*.md")):
        path.write_text(included(path.read_text()))
