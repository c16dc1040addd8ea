"""Machine facts: datasheet figures in, a `Machine` per name out, and the spellings that logs print.

The facts lie in `machines.toml`, each with its source; a user's own file has the same form. Nothing
here is measured: efficiencies belong to `calibrate` and the stacks. Units are flop/s, B/s and B.

Source: the makers' datasheets, named for each figure in `machines.toml`.
"""

from __future__ import annotations

import difflib
import functools
import re
import tomllib
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from importlib import resources
from itertools import chain
from pathlib import Path
from typing import Any

from assay.grammars.toml import toml
from assay.model.machines.dtypes import dtype

SCALARS = (
    "memory_bandwidth",
    "memory_bytes",
    "sms",
    "l2_bytes",
    "power",
    "in_network",
    "vector_flops",
    "link_bandwidth",
    "gpus_per_node",
    "node_bandwidth",
    "clock",
    "plain_misaligned",
    "mesh",
    "host",
)

OPTIONAL = {
    "power", "in_network", "link_bandwidth", "gpus_per_node", "node_bandwidth", "vector_flops",
    "clock", "plain_misaligned", "mesh", "host",
}  # fmt: skip


RATES = ("memory_bandwidth", "link_bandwidth", "node_bandwidth", "vector_flops", "plain_misaligned")

LEAST_RATE = 1e6
"""B/s or flop/s: a peak or a bandwidth below it was written in another unit (450 for 450e9)."""

OWN_CARD = 25e9
"""B/s, one direction, of a network card of 200 Gb/s: the slowest in nodes that have one for each
accelerator (DGX A100)."""


@dataclass(frozen=True)
class Fact:
    """One figure, the document it stands in, and `datasheet` or `assumed`.

    The value is SI: flop/s, bytes, bytes/s, watts, hertz or a count.
    """

    value: float
    source: str
    origin: str = "datasheet"


@dataclass(frozen=True)
class Machine:
    """One kind of accelerator in its usual node; every figure keeps its source in `facts`.

    >>> machine("A100-80g").peak("bf16"), machine("A100-80g").facts["memory_bandwidth"].value
    (312000000000000.0, 2039000000000.0)

    Facts are SI: flop/s, bytes, bytes/s, watts, hertz and counts.
    """

    name: str
    model: str  # the name as people print it, without a memory size: A100
    vendor: str
    generation: str
    memory_labels: tuple[int, ...]  # GB as names print it; one machine may go under two
    form: tuple[str, ...]  # sxm, pcie, oam; "" if the bare model name means this machine
    facts: Mapping[str, Fact]
    also: tuple[str, ...] = ()  # other names for the model

    def peak(self, dtype_name: str) -> float:
        """Dense peak in flop/s for a canonical dtype; LookupError where the sheet gives none."""
        fact = self.facts.get(f"peak.{dtype_name}")
        if fact is None:
            known = ", ".join(self.peaks)
            raise LookupError(f"{self.name} has no {dtype_name} peak; it has {known}")
        return fact.value

    @property
    def peaks(self) -> dict[str, float]:
        """Dense peak in flop/s by dtype."""
        return {
            name.removeprefix("peak."): fact.value
            for name, fact in self.facts.items()
            if name.startswith("peak.")
        }

    @property
    def memory_bandwidth(self) -> float:
        """Peak bandwidth of the device memory in B/s."""
        return self.facts["memory_bandwidth"].value

    @property
    def memory_bytes(self) -> float:
        """Capacity of the device memory in B."""
        return self.facts["memory_bytes"].value

    @property
    def sms(self) -> int:
        """Streaming multiprocessors, or compute units.

        Units: a count.
        """
        return int(self.facts["sms"].value)

    @property
    def l2_bytes(self) -> float:
        """Last-level cache in B."""
        return self.facts["l2_bytes"].value

    @property
    def link_bandwidth(self) -> float | None:
        """Links to the other accelerators of the node, B/s in one direction; None if unknown."""
        return self._optional("link_bandwidth")

    def link_among(self, ranks: int) -> float | None:
        """Links, B/s in one direction, that a group of `ranks` in a node can use; None if unknown.

        Without a switch a chip has some of its links to each of `mesh` others: a group uses those
        among its own members.
        """
        others = self._optional("mesh")
        if self.link_bandwidth is None or others is None:
            return self.link_bandwidth
        return self.link_bandwidth * min(1.0, max(ranks - 1, 1) / others)

    @property
    def power(self) -> float | None:
        """Most that the module may draw, in W.

        Units: W.
        """
        return self._optional("power")

    @property
    def in_network(self) -> bool:
        """Whether the switch between the accelerators of a node adds up what passes through it."""
        return bool(self._optional("in_network"))

    @property
    def gpus_per_node(self) -> float | None:
        """Accelerators that share those links: an assumed default, None if there is none."""
        return self._optional("gpus_per_node")

    @property
    def node_bandwidth(self) -> float | None:
        """Network cards of one node together, B/s in one direction: an assumed default."""
        return self._optional("node_bandwidth")

    @property
    def host(self) -> float | None:
        """Accelerators of one host where links go on beyond it; None where a node is a host.

        Units: a count.
        """
        return self._optional("host")

    def node(self, stated: float | None) -> float | None:
        """Accelerators that share links, of a node that a run states or of the usual one.

        A host of a rack or a pod is no node: its links go on to the others. Units: a count.
        """
        usual = self.gpus_per_node
        if stated is None or (self.host is not None and usual is not None and stated < usual):
            return usual
        return stated

    def cards(self, stated: float | None, bandwidth: float | None) -> float | None:
        """Network cards of that node together, B/s in one direction; None if unknown.

        A stated bandwidth is that of the stated node. Without one a smaller node than the usual has
        as many cards fewer where every accelerator has its own; cards that several share stay.
        """
        inside, usual = self.node(stated), self.gpus_per_node
        if bandwidth is not None:
            return bandwidth * (inside or 1.0) / (stated or inside or 1.0)
        if self.node_bandwidth is None or inside is None or usual is None:
            return self.node_bandwidth
        own = self.node_bandwidth / usual >= OWN_CARD
        return self.node_bandwidth * (min(1.0, inside / usual) if own else 1.0)

    @property
    def vector_flops(self) -> float | None:
        """Peak in flop/s of 2-byte arithmetic outside the matrix units; None if unknown."""
        return self._optional("vector_flops")

    @property
    def clock(self) -> float | None:
        """Hz at which the dense 16-bit peak is stated; None if unknown.

        Units: hertz.
        """
        return self._optional("clock")

    @property
    def plain_misaligned(self) -> float | None:
        """Rate in flop/s of 16-bit products whose rows are misaligned, where the libraries of the
        machine have no tensor-core kernels for them; None where they have."""
        return self._optional("plain_misaligned")

    def _optional(self, name: str) -> float | None:
        fact = self.facts.get(name)
        return None if fact is None else fact.value


class Machines(dict[str, Machine]):
    """Machines by name, in the order of their file, and by what texts call them."""

    @functools.cached_property
    def by_name(self) -> dict[str, tuple[str, ...]]:
        """Small letters → the names that are spelled so."""
        return _together((name.lower(), name) for name in self)

    @functools.cached_property
    def by_model(self) -> dict[str, tuple[str, ...]]:
        """A model, or another name for it, in small letters and in one → names of its machines."""
        words = {name: {_joined(word) for word in (o.model, *o.also)} for name, o in self.items()}
        return _together((word, name) for name, each in words.items() for word in sorted(each))

    @functools.cached_property
    def models(self) -> re.Pattern[str]:
        """A model name as a word: 8x before it or x8 behind is fine, and gaps in it."""
        spelled = {word.lower() for one in self.values() for word in (one.model, *one.also)}
        words = "|".join(map(_spaced, sorted(spelled, key=len, reverse=True)))
        behind = r"(?![a-wyz0-9]|x(?![0-9])| (?:ti|super)(?![a-z]))"
        return re.compile(rf"(?:^|[^a-z0-9]|[0-9]x)({words}){behind}")

    @functools.cached_property
    def sizes(self) -> frozenset[int]:
        """Labels of memory that any of them is sold under, GB."""
        return frozenset(size for one in self.values() for size in one.memory_labels)

    @functools.cached_property
    def _bits(self) -> dict[str, int]:
        """Letter of names, and how often it came before → a bit of its own."""
        return {each: 1 << at for at, each in enumerate(sorted({*chain(*map(_letters, self))}))}

    @functools.cached_property
    def _bits_of(self) -> dict[str, int]:
        """Name → the bits of its letters."""
        return {name: sum(self._bits[each] for each in _letters(name)) for name in self}

    def alike(self, text: str) -> list[str]:
        """Names that are spelled much as `text` is, the likest first, three at most."""
        own = sum(self._bits.get(each, 0) for each in _letters(text))
        # two texts are no more alike than their letters are: most names need no closer look
        near = [
            name for name, letters in self._bits_of.items()
            if 2 * (own & letters).bit_count() / (len(text) + len(name)) >= ALIKE
        ]  # fmt: skip
        return difflib.get_close_matches(text, near, cutoff=ALIKE) if near else []


def _letters(text: str) -> list[str]:
    """Letters of a text, the second `a` as `a1`: the more two share, the more they are alike."""
    seen: dict[str, int] = {}
    found = []
    for letter in text:
        seen[letter] = before = seen.get(letter, -1) + 1
        found.append(f"{letter}{before}")
    return found


def _together(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for key, name in pairs:
        found[key] = (*found.get(key, ()), name)
    return found


def _joined(text: str) -> str:
    """A name in small letters, its parts in one: Gaudi 2 and gaudi2 are alike."""
    return re.sub(r"[ _-]+", "", text.lower())


def _spaced(word: str) -> str:
    """The pattern of a name whose parts may stand apart: gaudi2 as `gaudi 2`, h100 as it is."""
    parts = re.split(r"[ _-]+|(?<=[a-z]{3})(?=[0-9])", word)
    return "[ _-]?".join(map(re.escape, parts))


def load(path: Path) -> Machines:
    """Machines of a TOML file in the form of `machines.toml`; ValueError names what is wrong."""
    return _read(toml(path.read_text(encoding="utf-8")))


def machines() -> Machines:
    """Every machine by name: the packaged ones, and those that `learn` was given."""
    return _OWN[0] if _OWN else _packaged()


@functools.cache
def _packaged() -> Machines:
    text = (resources.files(__package__) / "machines.toml").read_text(encoding="utf-8")
    return _read(tomllib.loads(text))


_OWN: list[Machines] = []
"""At most one mapping, in the place of the packaged one: that with a user's own machines."""


def learn(path: Path | None) -> None:
    """Know the machines of a user's file too, from now on; None forgets them.

    One with a packaged name goes before that. ValueError names what is wrong with the file.
    """
    _OWN[:] = [] if path is None else [Machines({**_packaged(), **load(path)})]


def machine(name: str, among: Mapping[str, Machine] | None = None) -> Machine:
    """The machine of that name or of a spelling that `resolve` knows.

    LookupError names those alike and says how to add one.
    """
    known = machines() if among is None else among
    return known[name] if name in known else known[resolve(name, known)]


ALIKE = 0.6
"""Likeness from which a known name is worth a mention beside one that is not known."""


def resolve(text: str, among: Mapping[str, Machine] | None = None) -> str:
    """The name of the one machine that `text`, as a log or a table prints it, can mean.

    LookupError where none or more than one fits: a size is never guessed.

    >>> resolve("8xA100_80GB"), resolve("Tesla V100-SXM2-32GB"), resolve("NVIDIA H100 80GB HBM3")
    ('A100-80g', 'V100-32g', 'H100')
    """
    known = _spelled(machines() if among is None else among)
    found = candidates(text, known)
    if len(found) == 1:
        return found[0]
    if found:
        raise LookupError(f"{text!r} may be {' or '.join(found)}: name one of them")
    alike = ", ".join(known.alike(text))
    raise LookupError(
        f"no machine is called {text!r}{'; near it: ' if alike else ''}{alike}. "
        "`assay machines` lists those that are known; --machines FILE adds others"
    )


def candidates(text: str, among: Mapping[str, Machine] | None = None) -> tuple[str, ...]:
    """Names of all machines that `text` can mean, in the order of the file.

    >>> candidates("a100"), candidates("GeForce 1080")
    (('A100-40g', 'A100-80g'), ())
    """
    spelled = _spelled(machines() if among is None else among)
    plain = _in_full(_MARKS.sub("", text).strip().lower())
    exact = spelled.by_name.get(plain, ())
    if exact:
        return exact
    tail = _model_in(plain, spelled.models)
    if tail is None:
        return ()
    model, rest = tail
    sizes = {int(size) for size in _SIZE.findall(rest)} | _labels(rest, spelled.sizes)
    form = _FORM.search(plain)
    wanted = form.group(1) if form else ""
    return tuple(
        name
        for name in spelled.by_model[model]
        if (not sizes or sizes & set(spelled[name].memory_labels)) and wanted in spelled[name].form
    )


def _spelled(known: Mapping[str, Machine]) -> Machines:
    return known if isinstance(known, Machines) else Machines(known)


def _in_full(text: str) -> str:
    """A device with the words that short forms leave out: `v5p-128`, `dual 4090`, `DGXH100`.

    >>> _in_full("2x v5p-128"), _in_full("4090"), _in_full("dgxh100")
    ('2x tpu-v5p-128', 'rtx-4090', 'dgx h100')
    """
    for short, full in _SHORT:
        if short.search(text):  # most are none, and a search costs a fraction
            text = short.sub(full, text)
    return text


_SHORT = (
    (re.compile(r"(?<![a-z0-9-])(?:tpu[ _-]?)?(v[2-9][ep]?)(?![a-z0-9])"), r"tpu-\1"),
    (re.compile(r"(?<![a-z0-9-])(?:rtx[ _-]?)?([345]0[5-9]0)(?![0-9])"), r"rtx-\1"),
    (re.compile(r"\b([dh]gx)(?=[a-z][0-9])"), r"\1 "),
)


def _labels(text: str, labels: Set[int]) -> set[int]:
    """Sizes sold under a label that a driver reports as `text` does: 32510MiB is a card of 32 GB.

    A driver keeps some for itself: a card shows 0 to 4 % less than 2³⁰ times its label.
    """
    shown = [int(size) / 1024 for size in _MIB.findall(text)]
    return {size for size in labels for seen in shown if 0 <= 1 - seen / size < 0.04}


_MIB = re.compile(r"(?<![0-9.])([0-9]{4,6})[ ]?mib(?![a-z0-9])")

_SIZE = re.compile(r"(?<![0-9.])([0-9]{2,3})[ ]?(?:g|gb|gib)(?![a-z0-9])")

_MARKS = re.compile("[®™]")

_FORM = re.compile(r"(?<![a-z])(sxm|pcie|nvl|oam)[0-9]?(?![a-z0-9])")


def _model_in(text: str, models: re.Pattern[str]) -> tuple[str, str] | None:
    """The one model name that stands as a word in `text`."""
    found = [
        (_joined(hit.group(1)), text[: hit.start(1)] + " " + text[hit.end(1) :])
        for hit in models.finditer(text)
    ]
    return found[0] if len({model for model, _ in found}) == 1 else None


def _read(document: Mapping[str, Any]) -> Machines:
    sources: Mapping[str, str] = document.get("sources", {})
    tables: Mapping[str, Mapping[str, Any]] = document.get("machine", {})
    if not tables:
        raise ValueError("a machine file has tables [machine.NAME]; this one has none")
    return Machines({name: _machine(name, table, sources) for name, table in tables.items()})


def _machine(name: str, table: Mapping[str, Any], sources: Mapping[str, str]) -> Machine:
    printed = {f"peak.{dtype(key)}": entry for key, entry in table.get("peak", {}).items()}
    printed |= {key: table[key] for key in SCALARS if key in table}
    lacking = [key for key in SCALARS if key not in printed and key not in OPTIONAL]
    if not table.get("peak"):
        lacking.append("peak")
    if lacking:
        raise ValueError(f"machine {name} lacks {', '.join(lacking)}")
    about = {"model", "also", "vendor", "generation", "memory_labels", "form"}
    known = {*about, "peak", *SCALARS}
    if strange := sorted(set(table) - known):
        raise ValueError(f"machine {name} has {', '.join(strange)}; known are {sorted(known)}")
    return Machine(
        name=name,
        model=str(table.get("model", name)),
        vendor=str(table.get("vendor", "")),
        generation=str(table.get("generation", "")),
        memory_labels=tuple(table.get("memory_labels", ())),
        form=tuple(table.get("form", ("",))),
        also=tuple(table.get("also", ())),
        facts={key: _fact(name, key, entry, sources) for key, entry in printed.items()},
    )


def _fact(name: str, key: str, entry: object, sources: Mapping[str, str]) -> Fact:
    match entry:
        case [int() | float() as value, str() as source]:
            origin = "datasheet"
        case [int() | float() as value, str() as source, "assumed" | "datasheet" as origin]:
            pass
        case _:
            raise ValueError(f'machine {name}: {key} must be [value, "source"], got {entry!r}')
    if not value > 0:
        raise ValueError(f"machine {name}: {key} must be positive, got {value!r}")
    if value < LEAST_RATE and (key.startswith("peak.") or key in RATES):
        raise ValueError(
            f"machine {name}: {key} must be in flop/s or B/s, {LEAST_RATE:g} or more, got {value!r}"
        )
    return Fact(float(value), sources.get(source, source), origin)
