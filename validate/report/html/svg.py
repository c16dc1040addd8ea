"""Charts as SVG that stands in a page: an Altair chart in, one `<svg>` element as text out.

Altair describes, vl-convert draws (both of the extra `assay[plots]`). What they draw is made fit
for a page that is read in light and dark, printed, and opened without a network: colours become
the page's own (`var(--…)`), the description of a mark becomes its `<title>`, which browsers show as
a tooltip, and what draws nothing is left out. The same chart gives the same bytes.
"""

from __future__ import annotations

import importlib.util
import re
from typing import Any
from xml.etree import ElementTree

NAMESPACE = "http://www.w3.org/2000/svg"

_TAG = f"{{{NAMESPACE}}}"

EXTRA = "assay[plots]"

MISSING = f"plots are left out: they need Altair and vl-convert, `pip install '{EXTRA}'`"

SERIES = tuple(f"c{at}" for at in range(1, 10))
"""Colours of marks, by the names that the style sheet gives them."""

COLOURS = {
    name: f"#{at:02x}{at:02x}fe"
    for at, name in enumerate((*SERIES, "ink", "soft", "grid", "paper"), 1)
}
"""Stand-in colour for each colour of the style sheet: values that nobody would choose."""

BROAD = 600
"""Pixels beyond which a drawing scrolls on a narrow screen, rather than shrink out of sight."""

_DROPPED = ("class", "role", "aria-roledescription", "aria-hidden", "pointer-events", "font-family")

_NUMBER = re.compile(r"-?[0-9]+\.[0-9]{2,}")


def available() -> bool:
    """Whether plots can be drawn here."""
    return all(importlib.util.find_spec(name) for name in ("altair", "vl_convert"))


def drawn(chart: Any, title: str) -> str:
    """The chart as an `<svg>` element named `title`, in the colours of the page."""
    import vl_convert  # noqa: PLC0415 - an extra

    root = ElementTree.fromstring(vl_convert.vegalite_to_svg(chart.to_dict()))
    _mend(root)
    width, height = root.attrib["width"], root.attrib["height"]
    root.attrib.clear()
    root.attrib |= {
        "viewBox": f"0 0 {width} {height}",
        "width": width,
        "height": height,
        "role": "img",
        "aria-label": title,
    }
    if float(width) > BROAD:
        root.attrib["class"] = "broad"
    ElementTree.register_namespace("", NAMESPACE)
    text = ElementTree.tostring(root, encoding="unicode")
    return text.replace(f' xmlns="{NAMESPACE}"', "", 1)


def _mend(element: ElementTree.Element) -> None:
    """Titles instead of labels, colours of the page, short numbers; what draws nothing goes."""
    for child in list(element):
        if _draws_nothing(child):
            element.remove(child)
            continue
        _mend(child)
        if child.tag == f"{_TAG}g" and not len(child):
            element.remove(child)
    label = element.attrib.pop("aria-label", None)
    if label is not None and element.attrib.get("role") == "graphics-symbol" and not len(element):
        title = ElementTree.SubElement(element, f"{_TAG}title")
        title.text = label
    for name in _DROPPED:
        element.attrib.pop(name, None)
    for name, value in element.attrib.items():
        element.attrib[name] = _short(_BY_VALUE.get(value, value))
    if element.attrib.get("opacity") == "1":
        del element.attrib["opacity"]


def _draws_nothing(element: ElementTree.Element) -> bool:
    if element.attrib.get("display") == "none":
        return True
    if element.tag == f"{_TAG}rect":
        return element.attrib.get("fill") == "transparent"
    if element.tag == f"{_TAG}text":
        return not (element.text or "").strip() and not len(element)
    return element.attrib.get("class") == "background" and "stroke" not in element.attrib


def _short(value: str) -> str:
    """Numbers with one decimal: a tenth of a pixel is seen by nobody."""
    return _NUMBER.sub(lambda found: f"{float(found.group()):.1f}".removesuffix(".0"), value)


_BY_VALUE = {value: f"var(--{name})" for name, value in COLOURS.items()}
