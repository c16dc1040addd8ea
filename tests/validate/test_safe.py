"""Text made safe: nothing is obeyed in any medium, ordinary text stays, nothing gets lost."""

from __future__ import annotations

import csv
import io
import json
from html import unescape
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from assay.validate.report import safe
from hypothesis import example, given
from hypothesis import strategies as st

ANY = st.text(st.characters(exclude_categories=()))  # lone surrogates too
HOSTILE = [
    "\x1b[2J\x1b]8;;http://x\x1b\\", "\x9b31m", "a\rb", "\u202egnp.exe", "\u2028", "\x00", "\udcff",
    "</style><script>", "`|*_[x](y)", "=1+1", "\U000e0041", "\xad", "\ufeff",
]  # fmt: skip


@given(ANY)
@example("".join(HOSTILE))
def test_visible_text_is_printable_and_on_one_line(text: str) -> None:
    shown = safe.visible(text)
    assert shown.isprintable()
    assert len(shown.splitlines()) <= 1
    shown.encode("utf-8")


@given(st.text(st.characters(exclude_categories=("C", "Z")), max_size=safe.LONGEST))
def test_ordinary_text_stays(text: str) -> None:
    assert safe.visible(text) == text


@given(st.text(st.characters(exclude_characters="\\"), max_size=safe.LONGEST))
def test_what_is_not_ordinary_is_spelled_out_and_not_dropped(text: str) -> None:
    assert safe.visible(text).encode("latin-1", "backslashreplace").decode("unicode_escape") == text


@given(st.integers(0, 5000), st.integers(0, 5000))
def test_long_words_are_cut_and_say_so(one: int, other: int) -> None:
    shown = safe.visible(f"{'x' * one} {'y' * other}")
    assert len(shown) <= 2 * (safe.LONGEST + 30)
    cut = (one > safe.LONGEST) + (other > safe.LONGEST)
    assert shown.count(" characters]…") == cut


class Elements(HTMLParser):
    """Contents of a page that a browser would see: elements, attributes, text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.seen: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        self.text += data


@given(ANY)
@example("".join(HOSTILE))
@example('" onerror="alert(1)')
def test_html_is_text_in_elements_and_attributes(text: str) -> None:
    said = safe.html(text)
    parser = Elements()
    parser.feed(f'<p title="{said}">{said}</p>')
    parser.close()
    assert parser.seen == [("p", [("title", safe.visible(text))])]
    assert parser.text == safe.visible(text)
    assert unescape(said) == safe.visible(text)


@given(ANY)
@example("\ufffe\x0b\ud800")
def test_xml_can_hold_it(text: str) -> None:
    root = ElementTree.Element("a", b=safe.xml(text))
    root.text = safe.xml(text)
    back = ElementTree.fromstring(ElementTree.tostring(root, encoding="unicode"))
    assert (back.text or "") == safe.xml(text) == back.attrib["b"]


@given(st.dictionaries(ANY, ANY))
@example({"a": "".join(HOSTILE)})
def test_json_says_the_same_in_printable_characters(value: dict[str, str]) -> None:
    text = safe.json_text(json.dumps(value, ensure_ascii=False))
    assert text.isprintable()
    joined = json.loads(json.dumps(value))  # pairs of surrogates are one character in JSON
    assert json.loads(text) == joined


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a|b", r"a\|b"),
        ("`x`", r"\`x\`"),
        ("<script>", r"\<script>"),
        ("> quoted", r"\> quoted"),
        ("a_b _c_", r"a_b \_c\_"),
        ("[a](b)", r"\[a\](b)"),
        ("- item", r"\- item"),
        ("1. item", r"1\. item"),
        ("---", r"\---"),
        ("# head", r"\# head"),
        ("    code", "code"),
        ("-1.5 %", "-1.5 %"),
        ("1.5", "1.5"),
        ("me@example.org", "me@<!-- -->example.org"),
        ("see #12", r"see \#<!-- -->12"),
        ("https://x.example", "https:<!-- -->//x.example"),
        ("WWW.x.example", "WWW<!-- -->.x.example"),
        ("a.log:4:13", "a.log:4:13"),
        ("two\nlines", r"two\\nlines"),
    ],
)
def test_markdown(text: str, said: str) -> None:
    assert safe.markdown(text) == said


@given(ANY)
def test_markdown_never_ends_a_cell_or_opens_an_element(text: str) -> None:
    said = safe.markdown(text).replace("\\\\", "").replace("<!-- -->", "")
    for mark in "|<`*[]":
        assert said.count(mark) == said.count(f"\\{mark}")
    assert len(said.splitlines()) <= 1


@given(ANY)
@example("[x](http://y)")
@example("\\](")
def test_a_sarif_message_holds_no_link(text: str) -> None:
    assert "](" not in safe.sarif(text).replace("\\](", "")


@pytest.mark.parametrize(
    "text", ["-1.5", "+1", "-2e-05", "-3 %", "-1,024", "-inf", "+.5", "", "a=b", "10-20", "–"]
)
def test_numbers_and_plain_text_stay_as_they_are_in_csv(text: str) -> None:
    assert safe.csv(text) == text


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", " =1", "＝1+1", "-", "+cmd|' /C calc'!A0",
     "--1", "-1;=2", "\n=1"],
)  # fmt: skip
def test_formulas_are_text_in_csv(text: str) -> None:
    assert safe.csv(text) == f"'{text}"


@given(st.floats(allow_nan=False))
def test_every_number_survives_csv(value: float) -> None:
    for text in (repr(value), f"{value:+.6g}", f"{value:,.2f}"):
        file = io.StringIO()
        csv.writer(file).writerow([safe.csv(text)])
        assert next(csv.reader(io.StringIO(file.getvalue()))) == [text]
