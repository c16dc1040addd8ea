"""Meanings of printed labels: one answer for every reader.

In: a label as it is printed, in a table header, a cell of a log, a statement, a dump, a side file
or on a command line. Out: its `Meaning` — the quantity or configuration field, the factor to its
unit — or None. The data are `configuration.toml` and `quantities.toml` beside this module, each
spelling with where it was seen; labels said in words that no list could hold are read by `words`.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from assay.ingest.vocabulary.words import Said, english, said

Role = Literal[
    "configuration", "counter", "schedule", "skipped", "nan", "time", "rate", "memory",
    "utilisation", "loss", "label",
]  # fmt: skip
"""Purpose of a column: downstream asks for it instead of names.

`counter` counts steps and `schedule` is how many there will be; `skipped` and `nan` count steps
since the row above that changed nothing, or were no number.
"""

Per = Literal["device", "node", "job", "step", "micro-batch", "token", "sample"]
"""The basis of a quantity: of whom it is, or of what. Numbers of two bases are never compared."""

NUMBER_FORMAT = (
    r"(?:bf16|[Bb]float-?16|tf32|fp(?:16|32|8|4)|[Ff]loat-?(?:16|32|8)|mx-?fp8|(?:nv|mx)-?fp4"
    r"|BF16|BFloat16|TF32|FP(?:16|32|8|4)|MXFP8|(?:NV|MX)FP4)"
)
"""A number format as documents spell it."""

SCALED = (
    r"(?:[ _-]\(?(?:(?:tensor|row|block|channel|group|axis)[ _-]?wise|delayed|dynamic|current"
    r"|hybrid|r?ceil|floor|e4m3|e5m2)(?:[ _-](?:scaling|recipe))?\)?)"
)
"""How numbers of a narrow format are scaled, behind its name: `fp8_rowwise`, `FP8 (delayed)`."""

TOKENS = r"(?:個の ?|个 ?|개의 ?)?(?:[Tt]ok|トーク|토큰|词元|標記|标记|字\b)"
"""Behind a number, in one language or another: it counts what is read, and no parameters."""

Value = Literal["mean", "instant", "peak", "total"]

UNSAID = math.nan
"""The factor of a label without a unit: the number needs one behind it, or is kept as it is."""

_DROPPED = re.compile(r"[\s_\-#.:()\[\]`\\]+|&nbsp;|<br */?>")


@cache
def normalise(label: str) -> str:
    """A label without case, blanks and punctuation that documents vary; `*`, `/` and `%` stay.

    >>> normalise("lm-loss") == normalise("lm loss"), normalise("MFU*"), normalise("#-GPUs")
    (True, 'mfu*', 'gpus')
    """
    return _DROPPED.sub("", label).casefold()


@dataclass(frozen=True)
class Term:
    """A quantity or a configuration field: its role, unit and basis, and how it is spelled.

    `labels` gives the factor of each spelling to `unit`, `seen` where each stands.
    """

    name: str
    role: Role
    unit: str | None = None
    per: Per | None = None
    value: Value | None = None
    labels: Mapping[str, float] = field(default_factory=dict)
    seen: Mapping[str, str] = field(default_factory=dict)


def _term(name: str, said_of: Mapping[str, Any], role: Role) -> Term:
    default = float(said_of.get("default", 1.0))
    own = {
        label: UNSAID if factor == "unsaid" else float(factor)
        for label, factor in said_of.get("factor", {}).items()
    }
    labels = {
        label: own.get(label, default)
        for spellings in said_of.get("seen", {}).values()
        for label in spellings
    }
    seen = {label: where for where, each in said_of.get("seen", {}).items() for label in each}
    return Term(
        name, said_of.get("role", role), said_of.get("unit"), said_of.get("per"),
        said_of.get("value"), labels, seen,
    )  # fmt: skip


@cache
def terms() -> Mapping[str, Term]:
    """Every term by its name, in the order of the data."""
    found: dict[str, Term] = {}
    parts: tuple[tuple[str, Role], ...] = (
        ("configuration.toml", "configuration"), ("quantities.toml", "label"),
    )  # fmt: skip
    for file, role in parts:
        text = files("assay.ingest.vocabulary").joinpath(file).read_text(encoding="utf-8")
        found |= {name: _term(name, each, role) for name, each in tomllib.loads(text).items()}
    return found


@cache
def spellings() -> Mapping[str, tuple[Term, float]]:
    """Normalised label → the term it names and the factor to its unit; names are labels too.

    Raises ValueError where two terms claim a label.
    """
    table: dict[str, tuple[Term, float]] = {}
    for term in terms().values():
        for label, factor in term.labels.items():
            held = table.setdefault(normalise(label), (term, factor))
            if held[0] is not term:
                raise ValueError(f"{label!r} is claimed by {held[0].name} and {term.name}")
    for term in terms().values():
        table.setdefault(normalise(term.name), (term, 1.0))
    return table


COUNTERS = {"step", "steps", "globalstep", "iteration", "iter", "iterations", "epoch", "trainstep"}
"""Labels that count steps, as they are compared: what they stand beside is a history."""


@cache
def meaning(label: str) -> Said | None:
    """Meaning of a label: a spelling of a term first, else its words; None where it is unknown.

    >>> meaning("NHIDDEN").field, meaning("--tensor-model-parallel-size").field
    ('hidden', 'tp')
    >>> meaning("Median TPS/GPU").field, meaning("tokens/s per node")
    ('tokens_per_gpu_per_s', None)
    >>> meaning("Anzahl Schichten").field, meaning("张量并行 TP").field
    ('layers', 'tp')
    """
    found = spellings().get(normalise(label))
    composed = said(label)
    if found is None and composed is None:
        told = told_once(english(label))
        return meaning(told) if told != label else None
    if found is None:
        return composed
    term, factor = found
    if composed is not None and composed.field == term.name:
        return composed  # its words say the unit as well
    return Said(term.name, factor, unit_known=not math.isnan(factor))


_TWICE = re.compile(
    r"(?P<long>[^()\[\]]{3,60}?)"
    r"(?:\s*[(\[]\s*(?P<beside>\w{2,5})\s*[)\]]|\s(?P<behind>[A-Za-z]{2,4}))"
    r"|(?P<first>[A-Za-z]{2,5})\s*[(\[](?P<then>[^()\[\]]{3,60})[)\]]"
)


def told_once(label: str) -> str:
    """A label by one of its two names, where it has a long and a short one for the same field.

    >>> told_once("tensor parallel TP"), told_once("PP (pipeline parallel)")
    ('tensor parallel', 'PP')
    >>> told_once("tensor parallel PP"), told_once("layers (all)")
    ('tensor parallel PP', 'layers (all)')
    """
    named = _TWICE.fullmatch(label.strip())
    if named is None:
        return label
    one, other = (part for part in named.groups() if part)
    known = [_plainly(one), _plainly(other)]
    return one if known[0] is not None and known[0] == known[1] else label


def _plainly(label: str) -> str | None:
    """The field of a label whose bare number is in the unit of the field."""
    found = spellings().get(normalise(label))
    if found is not None:
        return found[0].name if found[1] == 1.0 else None
    composed = said(label)
    return composed.field if composed and composed.scale == 1.0 and composed.unit_known else None


def configured_by(label: str) -> str | None:
    """The configuration field that a label names, None where it names none.

    >>> configured_by("global batch size"), configured_by("lm loss")
    ('global_batch', None)
    """
    found = meaning(label)
    if found is None or found.scale != 1.0 or found.field not in terms():
        return None
    return found.field if terms()[found.field].role == "configuration" else None


def how_much(name: str | None, text: str) -> str | None:
    """The field of a value: recomputation that is `selective` is more than on or off."""
    amounts = ("selective", "full", "none")
    amount = name == "activation_checkpointing" and text.strip("\"' ").casefold() in amounts
    return "recompute" if amount else name


def nearest(label: str, known: Iterable[str] = ()) -> str | None:
    """The configuration field whose name or spelling is nearest to a label that names none.

    >>> nearest("recompue"), nearest("hiden"), nearest("zzz")
    ('recompute', 'hidden', None)
    """
    fields = {name for name, term in terms().items() if term.role == "configuration"}
    wanted = {normalise(name): name for name in (*fields, *known)}
    wanted |= {
        spelled: term.name for spelled, (term, _) in spellings().items() if term.name in fields
    }
    for name in (*fields, *known):  # a field's own name before another's spelling
        wanted[normalise(name)] = name
    found = get_close_matches(normalise(label), wanted, n=1, cutoff=0.7)
    return wanted[found[0]] if found else None
