"""The goldens of a directory: which belongs to which input, made, checked and replaced.

`DIR/**/CASE.log` has its golden in `CASE.golden` beside it, whether the log is compressed or not.
Inputs of one folder that differ in their ending alone keep it: `CASE.log.golden`.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.ingest.formats import FORMATS
from assay.ingest.inputs.paths import COMPRESSED, inputs
from assay.ingest.inputs.read import read
from assay.ingest.schema.format import Format
from assay.ingest.schema.reading import Reading
from assay.validate.golden.agree import tolerance
from assay.validate.golden.canonical import document
from assay.validate.golden.compare import Cause, Difference, Reason, compare, diff, quantity
from assay.validate.golden.document import (
    SCHEMA,
    TOLERANCE,
    Document,
    Entry,
    NotGolden,
    parse,
    write,
)

SUFFIX = ".golden"

PART = ".golden.part"

Predict = Callable[[Reading], Mapping[str, Sequence[Entry]]]
"""Function from a reading to the predictions of models, as further sections of its golden."""


def nothing(reading: Reading) -> Mapping[str, Sequence[Entry]]:
    """No predictions."""
    return {}


@dataclass(frozen=True)
class Case:
    """An input and its golden; one of the two may be missing on disk."""

    name: str  # of the input inside the directory, or of a golden without an input
    input: Path | None
    golden: Path


@dataclass(frozen=True)
class Settings:
    """How inputs are read: what the caller states of them, formats, models."""

    stated: Mapping[str, str] | None = None
    formats: Sequence[Format] = FORMATS
    predict: Predict = nothing


@dataclass(frozen=True)
class Checked:
    """Result of a check of one case; no reasons means that it stands."""

    case: Case
    difference: Difference
    claimed: int = 0
    refused: int = 0  # lines, none where the golden stands: it holds them


@dataclass(frozen=True)
class Updated:
    """Result of an update: written, unchanged, held back (it would change) or none (see reason)."""

    case: Case
    outcome: str
    diff: str = ""
    reason: Reason | None = None
    changed: bool = False  # there was a golden before
    unused: frozenset[str] = frozenset()  # quantities of stated tolerances that no line is about


def cases(folder: Path) -> list[Case]:
    """Every input and every golden of a directory, by name.

    Raises NotADirectoryError where `folder` is none.
    """
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} is no directory")
    paths = [Path(path) for path in inputs([folder])]
    stems = Counter(plain_name(path, ending=False) for path in paths)
    found = {}
    for path in paths:
        short = plain_name(path, ending=False)
        golden = short if stems[short] == 1 else plain_name(path, ending=True)
        if golden in found:
            golden = path  # a file and its own compressed copy
        found[golden] = path
    pairs = [
        Case(path.relative_to(folder).as_posix(), path, stem.with_name(stem.name + SUFFIX))
        for stem, path in found.items()
    ]
    known = {case.golden for case in pairs}
    orphans = [
        Case(path.relative_to(folder).as_posix(), None, path)
        for path in sorted(folder.rglob(f"*{SUFFIX}"))
        if path not in known and not any(p.startswith(".") for p in path.relative_to(folder).parts)
    ]
    return sorted([*pairs, *orphans], key=lambda case: case.name)


def plain_name(path: Path, *, ending: bool) -> Path:
    """The path without the suffix of a compressed stream, and without its own `ending`.

    >>> plain_name(Path("a/run.log.gz"), ending=False), plain_name(Path("a/run.1"), ending=True)
    (PosixPath('a/run'), PosixPath('a/run.1'))
    """
    if path.suffix in COMPRESSED:
        path = path.with_suffix("")
    return path if ending else path.with_suffix("")


def read_case(
    case: Case, settings: Settings, tolerances: Mapping[str, str] | None = None
) -> tuple[Document, Reading] | Reason:
    """The golden that the input of a case would have now, or why it has none."""
    assert case.input is not None
    outcome = read([case.input], stated=settings.stated, formats=settings.formats)
    for fault in outcome.unreadable:
        return Reason(Cause.UNREADABLE, fault.message)
    reading = outcome.reading
    if outcome.unrecognised:
        tried = ", ".join(fmt.name for fmt in settings.formats)
        lines = reading.accounting[0].lines
        return Reason(Cause.UNKNOWN, f"no format knows a line of its {lines:,} (tried {tried})")
    return document(reading, settings.predict(reading), tolerances), reading


def check(case: Case, settings: Settings) -> Checked:
    """One case against its golden."""
    if case.input is None:
        message = "the golden has no input beside it: put it back, or remove the golden"
        return Checked(case, Difference((Reason(Cause.ORPHAN, message),)))
    made = read_case(case, settings)
    if isinstance(made, Reason):
        return Checked(case, Difference((made,)))
    current, reading = made
    account = reading.accounting[0]
    names = (case.golden.as_posix(), case.input.as_posix())
    difference = _against(case.golden, current, names)
    held = 0 if difference.reasons else account.refused
    return Checked(case, difference, account.claimed, account.refused - held)


def _against(path: Path, current: Document, names: tuple[str, str]) -> Difference:
    if not path.is_file():
        message = f"{path.name} is not there: `assay golden update` writes it"
        return Difference((Reason(Cause.MISSING, message),))
    try:
        golden = parse(path.read_bytes().decode("utf-8"))
    except NotGolden as fault:
        return Difference((Reason(Cause.EDITED, str(fault)),))
    except UnicodeDecodeError:
        return Difference((Reason(Cause.EDITED, "it is not UTF-8"),))
    return compare(golden, current, names)


def update(
    folder: Path,
    settings: Settings,
    *,
    replacing: bool = False,
    tolerances: Mapping[str, str] | None = None,
) -> Iterator[Updated]:
    """Write the golden of every input of a directory, one at a time.

    A golden that exists and would change is held back unless `replacing`. `tolerances` join those
    that a golden records already; one stated as `none` is dropped. Each file is written under a
    temporary name and renamed, so that at any moment a golden is there whole or not at all. Raises
    ValueError for a tolerance that is none.
    """
    for text in (tolerances or {}).values():
        if text != "none":
            tolerance(text)
    for case in cases(folder):
        yield _update(case, settings, tolerances or {}, replacing=replacing)
    for left in folder.rglob(f".*{PART}"):  # of an update that was killed
        left.unlink(missing_ok=True)


def _update(
    case: Case, settings: Settings, tolerances: Mapping[str, str], *, replacing: bool
) -> Updated:
    if case.input is None:
        message = "the golden has no input beside it: put it back, or remove the golden"
        return Updated(case, "none", reason=Reason(Cause.ORPHAN, message))
    text, before = _existing(case.golden)
    kept = {**(before.one(TOLERANCE) if before else {}), **tolerances}
    made = read_case(case, settings, {q: t for q, t in sorted(kept.items()) if t != "none"})
    if isinstance(made, Reason):
        return Updated(case, "none", reason=made)
    current = write(made[0])
    unused = frozenset(tolerances) - _quantities(made[0]) if tolerances else frozenset()
    if current == text:
        return Updated(case, "unchanged", unused=unused)
    shown = diff(before, made[0], (case.golden.as_posix(), case.input.as_posix()))
    if text is not None and not replacing:
        return Updated(case, "held back", shown or _seal(before), changed=True, unused=unused)
    replace(case.golden, current)
    changed = text is not None
    return Updated(case, "written", shown or _seal(before), changed=changed, unused=unused)


def _quantities(document: Document) -> frozenset[str]:
    """Everything in a golden that a tolerance can be stated for."""
    names = {
        name
        for title, entries in document.sections.items()
        if title != TOLERANCE and not title.startswith(SCHEMA)
        for entry in entries
        for name, _ in entry
    }
    return frozenset(quantity(name) for name in names)


def _existing(path: Path) -> tuple[str | None, Document | None]:
    """The text of a golden that is there, with LF line ends, and its document if it is one."""
    if not path.is_file():
        return None, None
    text = path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")
    try:
        return text, parse(text)
    except NotGolden:
        return text, None


def _seal(before: Document | None) -> str:
    return "only its seal differs" if before else "it is no golden file"


def replace(path: Path, text: str) -> None:
    """Write a file so that a reader, or a second run after a crash, never meets a half of it."""
    part = path.with_name(f".{path.name.removesuffix(SUFFIX)}{PART}")
    part.write_bytes(text.encode("utf-8"))
    os.replace(part, path)
