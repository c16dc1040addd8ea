"""Readings, and all that is made of them, without names of people, hosts, addresses and keys.

In: any value made of frames, texts, bytes, tuples, mappings and dataclasses. Out: the same with
every find replaced by what stands for it: `user-1`, `host-2`, `ip-1`, `mac-1`, `email-1`,
`secret-1`. The same name gets the same pseudonym wherever it stands, so that joins still work; the
numbers follow the order of the names, not of the inputs. Numbers, columns of numbers, lines, units
and digests are left alone, and a name that is also a label of a format is replaced only where it
stands as a name. What a text holds is said by `assay.ingest.redact.secrets`; `texts` gives every
text of a value once, with the name of its column or key where that may say what it is.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cache
from typing import Any, TypeVar

import polars as pl
from assay.ingest.formats import FORMATS
from assay.ingest.redact import secrets
from assay.ingest.schema.fields import fields
from assay.ingest.schema.format import Format

Value = TypeVar("Value")

LABELS = frozenset({
    "gpu", "machine", "dtype", "op", "redop", "scope", "quantity", "unit", "kind", "origin",
    "value_origin", "formula_id", "basis", "frame", "field", "state", "code", "sha256", "digest",
    "sharding", "recompute", "framework", "type", "moment", "topology", "severity", "class", "law",
})  # fmt: skip
"""Columns of labels: a name that was learned elsewhere is no name there."""

_COMMON = {
    "root", "user", "users", "admin", "ubuntu", "runner", "home", "work", "data", "shared", "share",
    "public", "project", "projects", "dataset", "datasets", "models", "checkpoints", "logs", "runs",
    "tmp", "temp", "test", "tests", "train", "training", "main", "local", "node", "host", "worker",
    "python", "conda", "bin", "lib", "env", "jobs", "results", "output", "scratch", "workspace",
}  # fmt: skip
"""Names that say nothing of anybody; they are replaced in paths, and left elsewhere."""


@cache
def vocabulary() -> frozenset[str]:
    """Words of the formats' labels and columns, in lower case."""
    words = set(_COMMON)
    for fmt in FORMATS:
        words |= {fmt.name, *fmt.schemas}
        for schema in fmt.schemas.values():
            for spec in fields(schema).values():
                said = " ".join((spec.name, *spec.labels))
                words |= set(re.findall(r"[^\W_]+", said.casefold()))
    return frozenset(words)


class Redactor:
    """Replacements for names and secrets, chosen from everything that is going to be written.

    >>> redactor = Redactor("[gpu-a-7:0]: loading /home/ada/run.toml")
    >>> redactor.text("ada on gpu-a-7 and adam")
    'user-1 on host-1 and adam'
    """

    def __init__(self, *values: Any) -> None:
        self._known: dict[tuple[str, str], str] = {}
        self._taken: set[str] = set()
        self._names: dict[str, str] = {}
        self._name = re.compile(r"(?!)")
        self._seen: dict[tuple[str, bool], str] = {}
        self._learn(values)

    def _learn(self, values: tuple[Any, ...]) -> None:
        found: set[tuple[str, str]] = set()

        def note(category: str, text: str) -> str:
            found.add((category, text))
            return f"{category}-0"

        for column, text in texts(*values):
            self._taken.update(secrets.PSEUDONYM.findall(text))
            if column == "host" and not secrets.plain(text):
                found.add(("host", text))
            elif column is None or secrets.named(column, text, note) is None:
                secrets.replaced(text, note)
        hosts = {text for category, text in found if category == "host"}
        for category, text in sorted(found):
            if not (category == "ip" and text in hosts):
                self._new(category, text)
        names = {text: self._new(kind, text) for kind, text in found if kind in ("user", "host")}
        short = {text.split(".")[0]: said for text, said in names.items() if not _address(text)}
        self._names = {
            name: said
            for name, said in sorted({**short, **names}.items())
            if len(name) > 2 and name.casefold() not in vocabulary() and not name.isdecimal()
        }
        if self._names:
            longest = sorted(self._names, key=lambda name: (-len(name), name))
            some = "|".join(map(re.escape, longest))
            self._name = re.compile(rf"(?<![^\W_]){'(?:' + some + ')'}(?![^\W_])")

    def _new(self, category: str, text: str) -> str:
        """Replacement for a find; a host by its address or its short name, whichever it is."""
        if category == "ip" and ("host", text) in self._known:
            category = "host"
        key = text if category != "host" or _address(text) else text.split(".", maxsplit=1)[0]
        if (category, key) not in self._known:
            number = 1
            while (said := f"{category}-{number}") in self._taken:
                number += 1
            self._taken.add(said)
            self._known[category, key] = said
        return self._known[category, key]

    def text(self, text: str, *, names: bool = True) -> str:
        """A text with every find replaced; `names`: those learned elsewhere as well."""
        if (text, names) not in self._seen:
            said = secrets.replaced(text, self._new)
            if names:
                said = self._name.sub(lambda found: self._names[found.group()], said)
            self._seen[text, names] = said
        return self._seen[text, names]

    def bytes(self, data: bytes) -> bytes:
        """Bytes as they stand on disk, the bad ones kept."""
        said = self.text(data.decode("utf-8", "surrogateescape"))
        return said.encode("utf-8", "surrogateescape")

    def redacted(self, value: Value) -> Value:
        """The value with every text in it redacted; the same object where nothing changes."""
        said: Any = value
        if isinstance(value, Enum | Format):
            return value
        if isinstance(value, str):
            said = self.text(value)
        elif isinstance(value, bytes):
            said = self.bytes(value)
        elif isinstance(value, pl.DataFrame):
            said = self._frame(value)
        elif isinstance(value, pl.Series):
            said = self._column(value)
        elif isinstance(value, Mapping):
            said = {self.redacted(key): self._pair(key, one) for key, one in value.items()}
            if isinstance(value.get("name"), str) and isinstance(value.get("text"), str):
                said["text"] = self._pair(value["name"], value["text"])
        elif isinstance(value, tuple) and hasattr(value, "_fields"):
            said = type(value)(*map(self.redacted, value))
        elif isinstance(value, tuple | list | set | frozenset):
            said = type(value)(map(self.redacted, value))
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            held = {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.init}
            new = {name: self.redacted(one) for name, one in held.items()}
            if all(new[name] is held[name] for name in held):
                return value
            said = dataclasses.replace(value, **new)
        return value if _same(said, value) else said

    def _pair(self, key: Any, value: Any) -> Any:
        """A value of a mapping, whose key may say what it is."""
        if isinstance(key, str) and isinstance(value, str):
            said = secrets.named(key, value, self._new)
            return self.text(value) if said is None else said
        return self.redacted(value)

    def _frame(self, frame: pl.DataFrame) -> pl.DataFrame:
        changed = [new for old in frame if (new := self._column(old)) is not old]
        said = frame.with_columns(changed) if changed else frame
        for name, value in PAIRS:
            if frame.schema.get(name) == frame.schema.get(value) == pl.String:
                said = self._by_name(frame, said, name, value)
        return said

    def _column(self, column: pl.Series) -> pl.Series:
        if column.dtype == pl.String:
            return self._strings(column)
        if column.dtype == pl.Binary:
            new = [None if one is None else self.bytes(one) for one in column]
            return pl.Series(column.name, new, dtype=column.dtype)
        if column.dtype.is_nested() and holds_text(column.dtype):
            old = column.to_list()
            new = self.redacted(old)
            return column if new == old else pl.Series(column.name, new, dtype=column.dtype)
        return column

    def _strings(self, column: pl.Series) -> pl.Series:
        names = column.name not in LABELS
        changed = {}
        for text in telling(column):
            if column.name == "host" and not secrets.plain(text):
                said = self._new("host", text)
            else:
                said = self.text(text, names=names)
            if said != text:
                changed[text] = said
        return column.replace(list(changed), list(changed.values())) if changed else column

    def _by_name(
        self, frame: pl.DataFrame, said: pl.DataFrame, name: str, value: str
    ) -> pl.DataFrame:
        """Values that are what their name says: `wandb_api_key`, `user`."""
        pairs = frame.select(name, value).unique().drop_nulls().sort(name, value)
        rows = [
            (key, text, new)
            for key, text in pairs.iter_rows()
            if (new := secrets.named(key, text, self._new)) is not None and new != text
        ]
        if not rows:
            return said
        kinds = {name: pl.String, value: pl.String, "said": pl.String}
        table = pl.DataFrame(rows, schema=kinds, orient="row")
        found = frame.select(name, value).join(
            table, on=[name, value], how="left", maintain_order="left"
        )
        return said.with_columns(pl.coalesce(found["said"], value).alias(value))


def _same(one: Any, other: Any) -> bool:
    """Whether redaction changed nothing; a frame is the same object then."""
    if isinstance(one, pl.DataFrame | pl.Series):
        return one is other
    if isinstance(one, str | bytes):
        return bool(one == other)
    if isinstance(one, Mapping):
        return list(one) == list(other) and all(one[key] is other[key] for key in one)
    if isinstance(one, tuple | list):
        return all(a is b for a, b in zip(one, other, strict=True))
    return one is other


def _address(text: str) -> bool:
    return re.fullmatch(r"[0-9.]+|[0-9a-fA-F:]+:[0-9a-fA-F:]*", text) is not None


PAIRS = (("name", "value"), ("name", "text"), ("field", "text"))
"""Columns of which one names what the other holds."""

TELLING = r"[A-Za-z@~]|[0-9]\.[0-9]|:[0-9A-Fa-f]*:"
"""Texts without a match (dates, numbers) name nobody."""


def telling(column: pl.Series) -> pl.Series:
    """The different texts of a column that may name somebody."""
    texts = column.unique().drop_nulls()
    return texts.filter(texts.str.contains(TELLING))


def holds_text(dtype: pl.DataType) -> bool:
    """Whether there is text somewhere in a column of that type."""
    if isinstance(dtype, pl.List):
        return holds_text(dtype.inner)  # type: ignore[arg-type]
    if isinstance(dtype, pl.Struct):
        return any(holds_text(field.dtype) for field in dtype.fields)  # type: ignore[arg-type]
    return dtype in (pl.String, pl.Binary)


def texts(*values: Any) -> Iterator[tuple[str | None, str]]:
    """Every text of the values, once, with the name of its column or key where it has one."""
    seen = set()
    for pair in _texts(values):
        if pair not in seen:
            seen.add(pair)
            yield pair


def _texts(value: Any, name: str | None = None) -> Iterator[tuple[str | None, str]]:
    if isinstance(value, Enum | Format):
        return
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, bytes):
        yield name, value.decode("utf-8", "surrogateescape")
    elif isinstance(value, pl.DataFrame):
        yield from _of_frame(value)
    elif isinstance(value, pl.Series):
        yield from _of_column(value)
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from _texts(key)
            yield from _texts(one, key if isinstance(key, str) else None)
        if isinstance(value.get("name"), str) and isinstance(value.get("text"), str):
            yield value["name"], value["text"]
    elif isinstance(value, tuple | list | set | frozenset):
        for one in value:
            yield from _texts(one)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from _texts(getattr(value, field.name))


def _of_frame(frame: pl.DataFrame) -> Iterator[tuple[str | None, str]]:
    for column in frame:
        yield from _of_column(column)
    for name, value in PAIRS:
        if frame.schema.get(name) == frame.schema.get(value) == pl.String:
            yield from frame.select(name, value).unique().drop_nulls().sort(name, value).iter_rows()


def _of_column(column: pl.Series) -> Iterator[tuple[str | None, str]]:
    if column.dtype == pl.String:
        for text in telling(column):
            yield "host" if column.name == "host" else None, text
    elif holds_text(column.dtype):
        for row in column:
            yield from _texts(row.to_list() if isinstance(row, pl.Series) else row)
