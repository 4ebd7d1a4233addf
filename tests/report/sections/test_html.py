"""Pieces of HTML escape what they are given and name what they show."""

from xml.etree import ElementTree

from eigenfeat.report.sections.html import Section, figure, legend, listed, paragraph, percent, several, table


def test_nothing_given_is_markup():
    for text in (paragraph("<b>"), table(("<b>",), [("<b>", "<b>")]), figure("<svg/>", "<b>"), legend([("l1", "<b>")])):
        assert "<b>" not in text and "&lt;b&gt;" in text
        ElementTree.fromstring(text)


def test_tables_have_headings_and_sides():
    tree = ElementTree.fromstring(table(("name", "rows"), [("a", 3)], numbers=(1,)))
    assert [e.attrib["scope"] for e in tree.iter("th")] == ["col", "col", "row"]
    assert tree.find(".//td").attrib["class"] == "number"


def test_sections_are_named():
    tree = ElementTree.fromstring(Section("key", "A title", "<p>x</p>", half=True).html())
    assert tree.attrib == {"id": "key", "class": "half", "aria-labelledby": "h-key"}
    assert tree.find("h2").text == "A title"


def test_words():
    assert (several(1, "row"), several(2000, "row")) == ("1 row", "2,000 rows")
    assert (listed(["a"]), listed(["a", "b", "c"]), listed([])) == ("a", "a, b and c", "none")
    assert listed([str(i) for i in range(20)], 2) == "0, 1 and 18 more"
    assert (percent(0.016), percent(float("nan"))) == ("1.6 %", "–")
