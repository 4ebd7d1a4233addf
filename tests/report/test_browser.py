"""Pages in a real browser: no error, no network, clicks and keys work, dark is dark, nothing sticks out on a phone."""

import shutil

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from eigenfeat import FisherLDA, GEMRegressor, LeastSquaresCCA
from eigenfeat.report import write_report

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here: apt-get install chromium")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A classifier's page with named columns and long class names, and a regressor's."""
    folder = tmp_path_factory.mktemp("pages")
    data = load_wine(as_frame=True)
    y = data.target.map(dict(enumerate(["a rather long name of a class", "b", "c"]))).to_numpy()
    X, X_test, y, y_test = train_test_split(data.data, y, random_state=0)
    classes = write_report(
        FisherLDA().fit(X, y), folder / "classes.html", X_test, y_test, train=(X, y), time_budget=5.0
    )
    model = GEMRegressor(2, n_slices=3).fit(X.iloc[:, 1:], X.iloc[:, 0])
    numbers = write_report(
        model, folder / "numbers.html", X_test.iloc[:, 1:], X_test.iloc[:, 0].to_numpy(), time_budget=2.0
    )
    Y = np.column_stack([X_test.iloc[:, j] > X.iloc[:, j].median() for j in range(4)]).astype(int)
    model = LeastSquaresCCA().fit(X_test.iloc[:, 4:], Y)
    names = ["a label of many words", "b", "c", "d"]
    labels = write_report(
        model, folder / "labels.html", train=(X_test.iloc[:, 4:], Y), target_names=names, time_budget=1.0
    )
    return {"classes": classes, "numbers": numbers, "labels": labels}


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def opened(browser, pages):
    """A function that opens a page, and fails at the end if it complained or asked for anything."""
    contexts, complaints = [], []

    def open_page(name, width=1280, scheme="light"):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: request.url.startswith(("file:", "data:")) or complaints.append(request.url))
        page.goto(pages[name].as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def brightness(page):
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return sum(float(part) for part in colour[4:-1].split(",")) / 3


def shown(page):
    return page.evaluate("Array.from(document.querySelectorAll('.pair:not([hidden])'), p => p.dataset.pair)")


def test_a_click_shows_the_pair(opened):
    page = opened("classes")
    assert len(shown(page)) == 1
    for key in ("0-2", "1-2", "1-1"):
        page.click(f'button.cell[data-pair="{key}"]')
        assert shown(page) == [key]
        pressed = page.evaluate("Array.from(document.querySelectorAll('[aria-pressed=true]'), c => c.dataset.pair)")
        assert set(pressed) == {key}
    assert page.locator("#pair-0-2 h3").inner_text() == "a rather long name of a class and c"


def test_the_matrix_is_reached_and_walked_by_keys(opened):
    page = opened("classes")
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('button.cell')"):
            break
    assert page.evaluate("document.activeElement.dataset.pair") == "0-0"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert shown(page) == ["1-2"]


def test_dark_is_dark_by_system_and_by_switch(opened):
    assert brightness(opened("classes")) > 240
    assert brightness(opened("classes", scheme="dark")) < 40
    page = opened("classes")
    page.click("#theme")
    assert brightness(page) > 240 and page.locator("#theme").inner_text().endswith("light")
    page.click("#theme")
    assert brightness(page) < 40
    page.reload()
    assert brightness(page) < 40


@pytest.mark.parametrize("name", ["classes", "numbers", "labels"])
@pytest.mark.parametrize("width", [390, 768, 1280])
def test_nothing_sticks_out_and_words_can_be_read(opened, name, width):
    page = opened(name, width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    smallest = page.evaluate(
        "Math.min(...Array.from(document.querySelectorAll('svg'), s => s.getBoundingClientRect().width)"
        ".filter(w => w > 0)) / 360 * 12"
    )
    assert smallest >= 9  # pixels of letters in figures


def test_it_prints(opened):
    page = opened("classes", scheme="dark")
    page.emulate_media(media="print")
    assert brightness(page) > 250
    assert page.pdf()[:4] == b"%PDF"


def test_every_figure_has_words(opened):
    page = opened("classes")
    bare = page.evaluate(
        "Array.from(document.querySelectorAll('svg, img')).filter(f => !(f.getAttribute('aria-label') || f.alt)).length"
    )
    assert bare == 0
    assert page.evaluate("Array.from(document.querySelectorAll('figure')).every(f => f.querySelector('figcaption'))")
