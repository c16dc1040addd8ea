"""The text of a golden file: sections of entries of named lines, sealed with a digest.

    assay golden 1
    sha256: 5f0c…

    [megatron_iteration]
    iteration: 12695
    step_time: 105.22 s

    iteration: 12696
    …

An entry is a record; its lines are one value each, and entries are parted by a blank line. The
digest covers everything below its own line, whatever the line ends, so that a golden which was
edited instead of updated is told from one that was not.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

VERSION = 1
"""Of the text below; a golden of another version says so instead of showing a senseless diff."""

Entry = tuple[tuple[str, str], ...]
"""The lines of one record: name and what is shown of its value."""

TOLERANCE = "tolerance"

READING = "reading"

SCHEMA = "schema "  # the section of each frame's columns is named `schema FRAME`

REFUSED = "refused"

PREDICTED = "predicted"

_HEAD = re.compile(r"assay golden ([0-9]+)")

_LINE = re.compile(r'([A-Za-z_](?:"(?:[^"\\]|\\.)*"|[^":])*): (.*)', re.S)


class NotGolden(ValueError):
    """The text is not that of a golden file."""


@dataclass(frozen=True)
class Document:
    """Section title → its entries, in the order they are written."""

    sections: Mapping[str, Sequence[Entry]] = field(default_factory=dict)
    version: int = VERSION
    edited: bool = False  # the digest is not that of the body

    def one(self, title: str) -> dict[str, str]:
        """The lines of a section that has one entry; empty where there is no such section."""
        return dict(next(iter(self.sections.get(title, ())), ()))


def shown_line(name: str, text: str) -> str:
    """One line of an entry; a line that only a hand can have written stays what it is."""
    return f"{name}: {text}" if name else text


def body(document: Document) -> str:
    """Everything below the digest."""
    blocks = []
    for title, entries in document.sections.items():
        block = "\n\n".join(
            "\n".join(shown_line(name, text) for name, text in entry) for entry in entries
        )
        blocks.append(f"[{title}]\n{block}\n" if block else f"[{title}]\n")
    return "\n".join(blocks)


def write(document: Document) -> str:
    """The text of a golden file.

    >>> print(write(Document({"reading": [(("claimed", "2"),)]})))
    assay golden 1
    sha256: 85883353e1b9237c121e28aa86010ca180cd6e02ba48ae39496431324db2bfb8
    <BLANKLINE>
    [reading]
    claimed: 2
    <BLANKLINE>
    """
    text = body(document)
    return f"assay golden {document.version}\nsha256: {_digest(text)}\n\n{text}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def parse(text: str) -> Document:
    """A golden file read back; raises NotGolden where the text is none.

    Only the head is demanded: what a hand has done below it is for the comparison to show.

    >>> parse(write(Document({"refused": []}))).edited
    False
    >>> parse(write(Document({"refused": []})).replace("refused", "refuse")).edited
    True
    """
    text = text.replace("\r\n", "\n")
    head, _, rest = text.partition("\n")
    digest, _, rest = rest.partition("\n")
    match = _HEAD.fullmatch(head.strip())
    if match is None:
        raise NotGolden(f"begins with {head[:40]!r}, expected 'assay golden {VERSION}'")
    kept = rest.removeprefix("\n")
    sealed = digest.strip() == f"sha256: {_digest(kept)}"
    return Document(_sections(kept), int(match[1]), edited=not sealed)


def _sections(text: str) -> dict[str, list[Entry]]:
    sections: dict[str, list[Entry]] = {}
    entries: list[Entry] = []
    lines: list[tuple[str, str]] = []

    def close() -> None:
        if lines:
            entries.append(tuple(lines))
            lines.clear()

    for line in text.split("\n"):
        if line.startswith("["):
            close()
            entries = sections.setdefault(line.strip("[] "), [])
        elif not line.strip():
            close()
        else:
            match = _LINE.fullmatch(line)
            lines.append((match[1], match[2]) if match else ("", line))
    close()
    return sections
