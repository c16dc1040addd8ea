"""Words of a row of a table about its own run: its labels, its remarks, its footnotes.

In: a row. Out: the texts, and whether each is surely of its own run: a cell under `change` is, one
under `reference` may be of another. What such a text speaks of is not said by anything around.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.ingest.columns.spoken_of import EVERY, spoken_of
from assay.ingest.grids.grid import LONGEST
from assay.ingest.schema.record import Line, Record
from assay.ingest.schema.terminals import deferred

_LETTER = re.compile(r"[^\W\d_]")

_OF_THE_RUN = deferred(
    r"\W*|.*\b(?:change[sd]?|variants?|methods?|config\w*|settings?|set-?ups?|notes?|remarks?"
    r"|comments?|runs?|exp\w*|names?|options?|what|diff\w*|modif\w*|tweaks?|versions?|labels?|cases?"
    r"|modes?|recipes?|descriptions?|systems?|strateg\w+|techniques?|features?|hardware|machines?"
    r"|ablations?|trials?|jobs?|delta|override[sn]?)\b.*|变更|改动|备注|配置|说明|変更|備考",
    re.IGNORECASE,
)
"""Labels of columns whose words are about the run of a row, and about no other one."""


_TARGET = re.compile(r"(?<=\])\([^()\s]*\)")
"""The target of a link: its words are those of another page."""

_CITED = deferred(
    r"\((?:(?:from|in|per|as in) )?(?:the |their |original )*"
    r"(?:paper|reported|published|cited)\b[^()]*\)"
    r"|\bet al\b|\b(?:reported|published) (?:in|by)\b|（?论文(?:报告|数据|结果)",
    re.IGNORECASE,
)
"""Signs of a row that others measured: nothing that a page says of its own runs is of it."""


def own_words(record: Record) -> Iterator[tuple[Line, bool]]:
    """Texts of a row beside its numbers, and the notes that its signs point to; and whether it
    speaks of its own run for sure."""
    held = [
        (text, _OF_THE_RUN.fullmatch(label)) for label, text in record.other if label != "column"
    ]
    held += [(cell.text, None) for name in ("model", "notes") if (cell := record.cells.get(name))]
    for text, own in held:
        if len(text) <= LONGEST and _LETTER.search(text):
            bare = _TARGET.sub(lambda found: " " * len(found[0]), text)
            yield Line(record.line, bare, record.column, {}), own is not None
    yield from record.noted


def spoken_of_itself(record: Record) -> frozenset[str]:
    """The settings that a row speaks of in words of its own."""
    device = device_of(record)
    return frozenset().union(*(spoken_in(line.text, device) for line, _ in own_words(record)))


def spoken_in(text: str, device: str) -> frozenset[str]:
    """The settings that words of a row speak of: all of them where it is of other people's runs."""
    return EVERY if _CITED.search(text) else spoken_of(text, device)


def device_of(record: Record) -> str:
    """The device that a row prints itself, as it prints it."""
    gpu = record.cells.get("gpu")
    return gpu.text if gpu and gpu.line == record.line and gpu.state == "value" else ""
