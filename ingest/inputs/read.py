"""Files, folders and globs to one reading: the entry point of ingest.

What is read does not depend on the number of processes that read it, nor on their order.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from assay.ingest.binding.restate import restated
from assay.ingest.formats import FORMATS
from assay.ingest.formats.own.installed import known
from assay.ingest.formats.own.own_format import OwnFormat
from assay.ingest.inputs.abridge import Home, abridged
from assay.ingest.inputs.ceiling import Ceiling, refused
from assay.ingest.inputs.chunks import FULL, Chunk, Watch, plan, unwatched
from assay.ingest.inputs.paths import COMPANIONS, COMPRESSED, assumed, inputs, shown
from assay.ingest.inputs.side_files import side_file, with_side_files
from assay.ingest.inputs.workers import run
from assay.ingest.pipeline.folding import carved
from assay.ingest.pipeline.merge import merge, renamed, together
from assay.ingest.pipeline.small import finished_together, small_inputs
from assay.ingest.pipeline.source_reading import made_together, met, read_source
from assay.ingest.schema.acceptance import by_row
from assay.ingest.schema.format import Format
from assay.ingest.schema.reading import Outcome, Reading
from assay.ingest.schema.record import Cell, Code, Diagnostic, Span
from assay.ingest.source.opening import STDIN, Source, open_source
from assay.ingest.store.disk import disk_is_full
from assay.ingest.store.load import load
from assay.ingest.store.write import is_saved

__all__ = ["COMPANIONS", "COMPRESSED", "Outcome", "Recipe", "inputs", "read", "read_chunk"]


@dataclass(frozen=True)
class Recipe:
    """How inputs are read: what the caller states for all of them, and the formats looked for."""

    stated: Mapping[str, Cell]
    formats: tuple[Format, ...] = FORMATS

    def __reduce__(self) -> tuple[object, ...]:
        """Formats hold functions, which do not travel to another process: their names do."""
        formats = (fmt if isinstance(fmt, OwnFormat) else fmt.name for fmt in self.formats)
        return _recipe, (dict(self.stated), tuple(formats))


def _recipe(stated: dict[str, Cell], formats: tuple[str | Format, ...]) -> Recipe:
    there = {fmt.name: fmt for fmt in known()}
    return Recipe(stated, tuple(there[fmt] if isinstance(fmt, str) else fmt for fmt in formats))


def recipe(stated: Mapping[str, str] | None, formats: Sequence[Format] = FORMATS) -> Recipe:
    """A recipe from values as the caller gives them (`{"gpu": "A100-80g"}`).

    Raises ValueError for a key that is no configuration column.
    """
    return Recipe(assumed(stated or {}, "stated by the caller"), tuple(formats))


def read(
    paths: Iterable[str | Path],
    *,
    stated: Mapping[str, str] | None = None,
    formats: Sequence[Format] | None = None,
    workers: int | None = 1,
    watch: Watch = unwatched,
    long: bool = False,
) -> Outcome:
    """Read every input that `paths` name: files, folders, globs, folders written by `save`.

    `stated` are configuration values the caller assumes for all of them; they come after everything
    the inputs say. `formats` are all there are, unless given: packaged and installed. `workers`
    processes share the inputs (None: as many as it is worth); `watch` is told of what is done.
    With `long`, frames hold of the steps of a long input those rows that tell something new and a
    share of the others; all of them are on disk for as long as the reading is there (`Long`).
    Raises ValueError for a key of `stated` that is no column, and BadFormat (a ValueError) for an
    installed format that cannot be used.
    """
    how = recipe(stated, known() if formats is None else formats)
    Ceiling.inputs = names = inputs(paths)
    folders = [name for name in names if is_saved(Path(name))]
    how = replace(how, formats=with_side_files(how.formats, names))
    chunks = plan([name for name in names if name not in folders])
    home = Home() if long else None
    outcomes = [_loaded(how, Path(folder), home) for folder in folders]
    work = partial(_travelling, how, None if home is None else home.path)
    for chunk, outcome in run(work, chunks, workers):
        watch(chunk)
        outcomes.append(outcome if outcome is not None else died(chunk))
    whole = together(outcomes)
    kept = tuple(replace(each, home=home) for each in whole.reading.long)
    whole = replace(whole, reading=_by_row(replace(whole.reading, long=kept)))
    brought = {fmt.name: fmt for fmt in whole.reading.formats}  # by folders, with their frames
    formats = tuple({**brought, **{fmt.name: fmt for fmt in how.formats}}.values())
    return replace(whole, reading=replace(whole.reading, formats=formats))


def _loaded(how: Recipe, folder: Path, home: Home | None) -> Outcome:
    """Outcome that a folder holds, with the values that the caller states.

    Rows of long inputs go to `home`, where one is given.
    """
    outcome = load(folder, how.formats, streamed=home is not None)
    reading = abridged(outcome.reading, home.path) if home else outcome.reading
    return replace(outcome, reading=restated(_by_row(reading), how.stated))


def _by_row(reading: Reading) -> Reading:
    """The reading with an entry of provenance for each row: ranges of lines are for the disk."""
    return replace(reading, provenance=by_row(reading.provenance, reading.frames))


def _travelling(how: Recipe, home: Path | None, chunk: Chunk) -> Outcome:
    """The outcome of a chunk without its formats, which do not travel.

    Rows of a long input go to the folder `home`, where one is given.
    """
    if home is None or not (chunk.here or (len(chunk.paths) == 1 and chunk.size > FULL)):
        outcome = read_chunk(how, chunk)
    else:
        with TemporaryDirectory(dir=home) as spool:
            spooled = read_chunk(how, chunk, spool=Path(spool))
            outcome = replace(spooled, reading=abridged(spooled.reading, home))
    return replace(outcome, reading=replace(outcome.reading, formats=()))


def read_chunk(
    how: Recipe, chunk: Chunk, root: Path = Path(), spool: Path | None = None
) -> Outcome:
    """Read the inputs of one chunk; each fails alone, and identical ones are parsed once.

    Paths are relative to `root`, names are as given. The rows of a single long input are kept in
    the folder `spool`, where one is given.
    """
    if len(chunk.paths) == 1:
        return together(_read_unit(how, chunk.paths, root, spool))
    try:
        outcomes, left = _read_together(how, chunk.units, root)
    except (Exception, MemoryError) as fault:  # whose fault it was, each of them alone will show
        if disk_is_full(fault):
            raise
        outcomes, left = [], list(chunk.units)
    for unit in left:
        each = _read_unit(how, unit, root, None)
        while some := list(islice(each, COPIES)):
            outcomes.append(_merged(some))
    return _merged(outcomes)


COPIES = 500
"""Readings of inputs that are alike, put together at a time: frames of few rows take much room."""


def _merged(outcomes: Sequence[Outcome]) -> Outcome:
    """Outcomes of different inputs as one."""
    faults = tuple(fault for each in outcomes for fault in each.unreadable)
    return Outcome(merge([each.reading for each in outcomes]), faults)


def _read_together(
    how: Recipe, units: Sequence[tuple[str, ...]], root: Path
) -> tuple[list[Outcome], list[tuple[str, ...]]]:
    """Inputs that differ, and small documents: what costs by the query is done once for all.

    Others that are alike are left.
    """
    opened = {path: _opened(how, path, root) for unit in units for path in unit}
    there = {path: (source, said) for path, (source, said, _) in opened.items() if source}
    wholes = {path: known for path, (source, said) in there.items()
              if (known := met(source, how.formats, said)) is not None}  # fmt: skip
    there = {path: each for path, each in there.items() if path not in wholes}
    alone = {unit[0] for unit in units if len(unit) == 1}
    copies = {at for at, path in enumerate(there) if path not in alone}
    small = small_inputs([*there.values()], how.formats, copies)
    done = {
        path: one or carved(there[path][0], how.formats, there[path][1])
        for path, one in zip(there, small, strict=True)
        if one or path in alone
    }
    taken = done.keys() | wholes.keys()
    faults = tuple(fault for path in opened if path in taken for fault in opened[path][2])
    reading = merge([
        finished_together([*done.values()], how.formats),
        made_together([*wholes.values()], how.formats),
    ])  # fmt: skip
    left = [tuple(path for path in unit if path not in taken) for unit in units]
    return [Outcome(reading, faults)], [unit for unit in left if unit]


def _opened(
    how: Recipe, path: str, root: Path
) -> tuple[Source | None, dict[str, Cell], tuple[Diagnostic, ...]]:
    """A source, what is assumed of it, and what could not be read of it and beside it."""
    opened = open_source(path if path == STDIN else root / path, shown(path))
    if isinstance(opened, Diagnostic):
        return None, {}, (opened,)
    side = side_file(root / path)
    if isinstance(side, Diagnostic):
        return opened, dict(how.stated), (side,)
    return opened, {**side, **how.stated}, ()


def _read_unit(
    how: Recipe, unit: Sequence[str], root: Path, spool: Path | None
) -> Iterator[Outcome]:
    """Inputs that looked alike when the work was planned; what they hold now decides."""
    known: dict[tuple[object, ...], Reading] = {}
    for path in unit:
        opened, said, unreadable = _opened(how, path, root)
        if opened is None:
            yield Outcome(merge([]), unreadable)
            continue
        same = opened.sha256 if len(unit) > 1 else opened.name
        key = (same, tuple(sorted(said.items())), _described(how, opened.name))
        if key in known:
            yield Outcome(renamed(known[key], opened.name), unreadable)
            continue
        reading = _survived(opened, how, said, spool)
        if isinstance(reading, Diagnostic):
            yield Outcome(merge([]), (*unreadable, reading))
            continue
        known[key] = reading
        yield Outcome(reading, unreadable)


def _described(how: Recipe, name: str) -> tuple[str, ...]:
    """The formats that are for an input alone, by its side file."""
    own = (fmt for fmt in how.formats if isinstance(fmt, OwnFormat) and fmt.said)
    return tuple(fmt.name for fmt in own if fmt.said and name in fmt.said.inputs)


def _survived(
    opened: Source, how: Recipe, said: Mapping[str, Cell], spool: Path | None
) -> Reading | Diagnostic:
    """The reading, or where our own code failed: a bug of ours must not cost the other inputs."""
    Ceiling.reading = opened.name
    try:
        return read_source(opened, how.formats, said, spool=spool)
    except MemoryError:
        return Diagnostic(Span(opened.name, 1), Code.UNREADABLE, refused())
    except Exception as fault:
        if disk_is_full(fault):  # where rows were to be kept: no other input fares better
            raise
        if isinstance(fault, OSError):
            message = f"cannot be read: {fault.strerror or type(fault).__name__}"
            return Diagnostic(Span(opened.name, 1), Code.UNREADABLE, message)
        at = traceback.extract_tb(fault.__traceback__)[-1]
        message = (
            f"a bug of assay: {type(fault).__name__} at {Path(at.filename).name}:{at.lineno}: "
            f"{(str(fault).splitlines() or [''])[0][:200]}"
        )
        return Diagnostic(Span(opened.name, 1), Code.UNREADABLE, message)
    finally:
        Ceiling.reading = ""


def died(chunk: Chunk) -> Outcome:
    """Outcome for inputs whose reader was killed or crashed, as for lack of memory."""
    message = "the process that read it died, perhaps for lack of memory"
    faults = [Diagnostic(Span(shown(p), 1), Code.UNREADABLE, message) for p in chunk.paths]
    return Outcome(merge([]), tuple(faults))
