"""Words of a row of a table about its own run: its labels, its remarks, its footnotes.

In: a row. Out: the texts, and whether each is surely of its own run: a cell under `change` is, one
under `reference` may be of another. What such a text speaks of is not said by anything around.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.ingest.columns.spoken_of import spoken_of
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


def own_words(record: Record) -> Iterator[tuple[Line, bool]]:
    """Texts of a row beside its numbers, and the notes that its signs point to; and whether it
    speaks of its own run for sure."""
    held = [
        (text, _OF_THE_RUN.fullmatch(label)) for label, text in record.other if label != "column"
    ]
    held += [(cell.text, None) for name in ("model", "notes") if (cell := record.cells.get(name))]
    for text, own in held:
        if len(text) <= LONGEST and _LETTER.search(text):
            yield Line(record.line, text, record.column, {}), own is not None
    yield from record.noted


def spoken_of_itself(record: Record) -> frozenset[str]:
    """The settings that a row speaks of in words of its own."""
    device = device_of(record)
    return frozenset().union(*(spoken_of(line.text, device) for line, _ in own_words(record)))


def device_of(record: Record) -> str:
    """The device that a row prints itself, as it prints it."""
    gpu = record.cells.get("gpu")
    return gpu.text if gpu and gpu.line == record.line and gpu.state == "value" else ""
