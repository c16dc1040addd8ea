"""Ingest of many inputs: a part per chunk of inputs, then the parts put together.

In: paths and an output folder. Out: the folder's files, and what became of the inputs. A part is a
folder as `save` writes it, in `.parts` of the output; it is complete or not there. What an earlier
attempt, or another task of a job array, has left there is used if its inputs still are what they
were and would be read the same way; so an interrupted ingest goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from assay.ingest.formats.own.travel import descriptions
from assay.ingest.inputs.ceiling import Ceiling
from assay.ingest.inputs.chunks import Chunk, Watch, digest, plan, unwatched
from assay.ingest.inputs.consolidate import consolidate
from assay.ingest.inputs.paths import beside, inputs, shown
from assay.ingest.inputs.read import Recipe, died, read_chunk
from assay.ingest.inputs.side_files import with_side_files
from assay.ingest.inputs.workers import Engine, processes
from assay.ingest.pipeline.merge import merge, twice
from assay.ingest.schema.format import Format
from assay.ingest.schema.reading import Accounting, Outcome
from assay.ingest.schema.record import Diagnostic
from assay.ingest.store.load import (
    Unusable,
    accounts,
    cut_inputs,
    parts_of,
    read_manifest,
    unreadable,
    unusable,
)
from assay.ingest.store.write import (
    PARTS,
    fill,
    fresh_folder,
    is_saved,
    own_version,
    save,
)

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

ABOUT = "part.json"
"""In a part: how its inputs were read, and what each of them and of their side files held."""


@dataclass(frozen=True)
class Share:
    """One task of several that ingest into the same folder: `number` (from 1) of `tasks`."""

    number: int
    tasks: int

    def of(self, paths: Sequence[str]) -> list[str]:
        """The inputs that this task reads."""
        return list(paths[self.number - 1 :: self.tasks])


ALL = Share(1, 1)

HERE = processes(1)


@dataclass(frozen=True)
class Ingested:
    """Result of an ingest: rows, accounts, inputs that gave none, and folders."""

    rows: dict[str, int]  # by frame; empty where the parts are not put together
    accounting: tuple[Accounting, ...]
    unreadable: tuple[Diagnostic, ...]
    folders: tuple[Path, ...]  # where the quarantine is
    resumed: int  # inputs that an earlier attempt had read
    formats: tuple[Format, ...] = ()  # those that were looked for

    @cached_property
    def outcome(self) -> Outcome:
        """Accounts, unreadable inputs, and those that are cut short, as commands judge them."""
        held = replace(merge([]), accounting=self.accounting, formats=self.formats)
        return Outcome(replace(held, remarks=cut_inputs(self.folders)), self.unreadable)


def ingest(
    paths: Iterable[str | Path],
    output: Path,
    how: Recipe,
    *,
    engine: Engine = HERE,
    share: Share = ALL,
    watch: Watch = unwatched,
) -> Ingested:
    """Read `paths` into the folder `output`; with a share of several, into parts of it only.

    Raises FileExistsError where `output` holds files that no ingest wrote, OSError where it cannot
    be written, `Unusable` for an ingested folder among the inputs that is damaged.
    """
    Ceiling.inputs = found = inputs(paths)
    folders = [Path(path) for path in found if is_saved(Path(path))]
    wanted = [path for path in found if Path(path) not in folders]
    how = replace(how, formats=with_side_files(how.formats, wanted))
    with alone(_home(output, folders), share) as home:
        return _ingest(wanted, folders, home, output, how, engine, share, watch)


def _ingest(
    wanted: Sequence[str],
    folders: Sequence[Path],
    home: Path,
    output: Path,
    how: Recipe,
    engine: Engine,
    share: Share,
    watch: Watch,
) -> Ingested:
    """The parts of a share, and where it is all of them the parts put together."""
    _list(home, [*map(shown, wanted)], share)
    mine = share.of(wanted)
    held = _usable(home, mine, how)
    todo = [path for path in mine if shown(path) not in held]
    work = partial(make_part, how, identity(how), home.resolve(), Path.cwd())
    for chunk, made in engine(work, plan(todo)):
        if made is None:
            _keep(home, how, chunk, died(chunk), {})
        watch(chunk)
    taken, faults = _contents(home, folders, how, {shown(path) for path in mine})
    resumed = len(mine) - len(todo)
    if share != ALL:
        parts = tuple(dict.fromkeys(taken.values()))
        read = (a for part in parts for a in accounts(read_manifest(part, how.formats)))
        ours = tuple(sorted((a for a in read if a.source in taken), key=lambda a: a.source))
        return Ingested({}, ours, faults, parts, resumed, how.formats)
    rows = consolidate(taken, output, faults, how.formats) if taken else {}
    shutil.rmtree(home)
    if not taken:
        return Ingested({}, (), faults, (), 0, how.formats)
    return Ingested(
        rows, accounts(read_manifest(output, how.formats)), faults, (output,), resumed, how.formats
    )


def keep(outcome: Outcome, output: Path, how: Recipe) -> Ingested:
    """Write what has been read already; the rest is as `ingest` does it."""
    if not outcome.reading.accounting:
        return Ingested({}, (), outcome.unreadable, (), 0, how.formats)
    with alone(_home(output, ()), ALL) as home:
        save(outcome, home / "whole")
        taken = {account.source: home / "whole" for account in outcome.reading.accounting}
        rows = consolidate(taken, output, outcome.unreadable, how.formats)
        shutil.rmtree(home)
    return Ingested(rows, outcome.reading.accounting, outcome.unreadable, (output,), 0, how.formats)


class Another(RuntimeError):
    """A worker whose code or formats differ from its caller's, so that it would read otherwise."""


def make_part(how: Recipe, asked: str, home: Path, root: Path, chunk: Chunk) -> str:
    """Read one chunk into a part of `home`, complete or not there; its folder.

    Raises `Another` where this process has another assay than the one that `asked` (its
    `identity`), as a worker on another machine may.
    """
    if identity(how) != asked:
        raise Another(f"a worker has another assay ({own_version()}) or other formats")
    side = {shown(path): digest(str(beside(root / path))) for path in chunk.paths}
    with tempfile.TemporaryDirectory(prefix=".rows-", dir=home) as spool:
        return _keep(home, how, chunk, read_chunk(how, chunk, root, Path(spool)), side)


def _keep(
    home: Path, how: Recipe, chunk: Chunk, outcome: Outcome, side: Mapping[str, str | None]
) -> str:
    said = {
        "recipe": identity(how),
        "inputs": {a.source: [a.sha256, side[a.source]] for a in outcome.reading.accounting},
        "asked": sorted(map(shown, chunk.paths)),
    }
    text = json.dumps(said, indent=1, sort_keys=True)
    part = home / hashlib.sha256(text.encode()).hexdigest()[:24]
    try:
        with fresh_folder(part) as fresh:
            fill(outcome, fresh)
            (fresh / ABOUT).write_text(text, "utf-8")
    except FileExistsError:  # another task, or a second attempt at this one, was first
        pass
    return str(part)


def identity(how: Recipe) -> str:
    """A digest of everything but the inputs that decides what is read from them."""
    said = [
        own_version(),
        _code(),
        sorted((key, *map(str, cell)) for key, cell in how.stated.items()),
        [fmt.name for fmt in how.formats],
        descriptions(how.formats),
    ]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


@cache
def _code() -> str:
    """A digest of the grammars, and of the modules that hold formats and schemas."""
    found = hashlib.sha256()
    for package, suffix in (("assay.grammars", ".lark"), ("assay.ingest", ".py")):
        for file in _below(files(package)):
            if file.name.endswith(suffix):
                found.update(file.name.encode() + b"\0" + file.read_bytes())
    return found.hexdigest()


def _below(folder: Traversable) -> Iterator[Traversable]:
    """The files of a package and of its rooms, in order of their names."""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _below(entry)
        else:
            yield entry


def _home(output: Path, folders: Sequence[Path]) -> Path:
    if output.is_dir() and any(output.iterdir()) and not is_saved(output):
        raise FileExistsError(f"{output} holds other files than those of an earlier ingest")
    if output.resolve() in {folder.resolve() for folder in folders}:
        raise FileExistsError(f"{output} is an input and the output at once")
    home = output / PARTS
    home.mkdir(parents=True, exist_ok=True)
    return home


@contextmanager
def alone(home: Path, share: Share) -> Iterator[Path]:
    """Keep other ingests out of a folder: all of them, or those that are no share of one.

    The lock goes with the process, whatever ends it. Where the disk or the system knows none, who
    writes twice at once is not told. Raises FileExistsError where another is at work.
    """
    if fcntl is None:
        yield home
        return
    busy = f"another ingest is writing {home.parent}: let it end, or name another folder"
    held = os.open(home, os.O_RDONLY)
    try:
        try:
            fcntl.flock(held, (fcntl.LOCK_EX if share == ALL else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FileExistsError(busy) from None
        except OSError:  # a disk without locks
            pass
        if not home.is_dir() or not os.path.samestat(os.fstat(held), home.stat()):
            raise FileExistsError(busy)  # the other has just ended
        shutil.rmtree(home / "whole", ignore_errors=True)  # an attempt that was killed
        yield home
    finally:
        os.close(held)


def _list(home: Path, names: list[str], share: Share) -> None:
    """List the wanted inputs in a file, so that readers can name those that are missing."""
    text = json.dumps(names, indent=1)
    path = home / f"wanted-{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
    if share == ALL:
        for other in home.glob("wanted-*.json"):
            other.unlink(missing_ok=True)
    part = home / f".{path.name}.{os.getpid()}"
    part.write_text(text, "utf-8")
    os.replace(part, path)


def _usable(home: Path, mine: Sequence[str], how: Recipe) -> set[str]:
    """The inputs that a part holds as they are now; parts that hold another state of one go."""
    by_name = {shown(path): path for path in mine}
    asked, held = identity(how), set()
    for part in parts_of(home.parent):
        said = _about(part)
        current = said.get("recipe") == asked and all(
            _now(by_name[name]) == state
            for name, state in said.get("inputs", {}).items()
            if name in by_name
        )
        if current:
            held |= said["inputs"].keys() & by_name.keys()
        elif not said or set(said["asked"]) & by_name.keys():
            shutil.rmtree(part)
    return held


def _about(part: Path) -> dict[str, Any]:
    try:
        return dict(json.loads((part / ABOUT).read_text("utf-8")))
    except (OSError, ValueError):
        return {}


def _now(path: str) -> list[str | None]:
    """Digests of an input and of its side file as they are now, in the form of `part.json`."""
    return [digest(path), digest(str(beside(Path(path))))]


def _contents(
    home: Path, folders: Sequence[Path], how: Recipe, names: set[str]
) -> tuple[dict[str, Path], tuple[Diagnostic, ...]]:
    """Each wanted source and the part that holds it; and the inputs that gave none."""
    taken: dict[str, Path] = {}
    faults: set[Diagnostic] = set()
    doubled: list[str] = []
    for part in parts_of(home.parent):
        if not names & set(_about(part).get("asked", ())):
            continue
        said = read_manifest(part, how.formats)
        faults.update(unreadable(said))
        for account in accounts(said):
            if account.source in names:
                taken.setdefault(account.source, part)
    for folder in folders:
        try:
            said = read_manifest(folder, how.formats)
        except Unusable as fault:
            faults.add(unusable(folder, fault))
            continue
        again = [a.source for a in accounts(said) if a.source in taken]
        faults.update(unreadable(said))
        doubled += again
        for account in accounts(said):
            taken.setdefault(account.source, folder)
    # an earlier attempt may have failed where a later one did not
    left = {fault for fault in faults if fault.span.source not in taken}
    return taken, tuple(sorted({*left, *map(twice, doubled)}))
