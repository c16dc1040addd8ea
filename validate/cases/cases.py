"""From wide frames to the cases that models take, and where each value of a case came from.

Configuration frames (rows that say what ran) become one frame with the columns of
`model.frames.CONFIGURATION_CASE` and more; product frames become `GEMM_CASE`. A value that is not
printed is filled by a rule, each with its law; what no rule gives stays null. `ORIGINS` holds one
row per known value, so that a report can say what was printed, bound, inferred or assumed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import fields
from assay.ingest.schema.reading import Reading
from assay.ingest.vocabulary.recomputation import OF_A_PART, how_much_again
from assay.model.frames import GEMM_CASE
from assay.model.machines.datasheets import candidates, resolve
from assay.model.machines.dtypes import dtype
from assay.model.transformer.training_run import ADAPTERS
from assay.validate.cases.memo import once
from assay.validate.cases.observe import About, about, case_of, observe, subject_of
from assay.validate.cases.programs import with_networks, with_programs
from assay.validate.cases.rules import (
    ORIGINS,
    RULES,
    fill,
    full_nodes,
    machine_rules,
    node_rule,
    nodes_elsewhere,
)
from assay.validate.cases.stated import Overruled, overrule, values

CONFIGURED = tuple(name for name, spec in fields(Configuration).items() if spec.configuration)

PLACE = ("case", "source", "line", "frame", "group")
"""Columns beside the configuration: `group` is the table or the run a row stands in."""


@dataclass(frozen=True)
class Cases:
    """Everything that models may be asked about in one reading.

    `configuration`: `PLACE`, the columns of `Configuration`, machine, and `consumed` (printed
    quantities that went into the case itself). `gemm`: GEMM_CASE with source, line and group.
    `memo` keeps what follows from the reading alone (see `once`); cases with other values share it.
    """

    configuration: pl.DataFrame
    gemm: pl.DataFrame
    origins: pl.DataFrame
    reading: Reading
    unresolved: Mapping[str, str] = field(default_factory=dict)  # printed device → why not known
    overruled: tuple[Overruled, ...] = ()  # printed values that the user overruled
    memo: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def trained_whole(self) -> Cases:
        """The cases without runs that train adapters alone: models count every weight's work."""
        part = pl.col("trained_part")
        return replace(self, configuration=self.configuration.filter(part.is_null()))

    def trained_beside(self) -> Cases:
        """The cases with those runs that train low-rank adapters beside frozen weights."""
        part = pl.col("trained_part")
        kept = part.is_null() | part.str.to_lowercase().is_in(ADAPTERS)
        return replace(self, configuration=self.configuration.filter(kept))

    def with_values(self, configuration: pl.DataFrame, origins: pl.DataFrame) -> Cases:
        """These cases with values filled in later, and the origins of those values."""
        if origins.is_empty():
            return replace(self, configuration=configuration)
        known = self.origins.join(origins, on=["case", "name"], how="anti", maintain_order="left")
        joined = pl.concat([known, origins.select(*ORIGINS)])
        return replace(self, configuration=configuration, origins=joined.sort("case", "name"))


@once
def observed_in(known: Cases) -> pl.DataFrame:
    """Every printed number of the reading, see `observe`."""
    return observe(known.reading, about(known.reading.formats))


def cases(
    reading: Reading,
    frames: Mapping[str, About],
    *,
    machine: str | None = None,
    given: Mapping[str, Any] | None = None,
) -> Cases:
    """The cases of a reading; `frames` as given by `observe.about`.

    `given` are values of configuration columns that the user states: they overrule what is printed.

    `machine` is a known name that the caller states: it stands where a device is printed that it
    may mean, or none is.
    """
    runs = [
        (name, frame)
        for name, frame in reading.frames.items()
        if not frame.is_empty() and set(CONFIGURED) <= set(frame.columns)
    ]
    unresolved: dict[str, str] = {}
    tables = {held.name for held in reading.with_rows("table")}
    wide = pl.concat([_empty(), *(_wide(name, frame, tables) for name, frame in runs)])
    origins = pl.concat(
        [pl.DataFrame(schema=ORIGINS), *(_said(name, frame, reading) for name, frame in runs)]
    )
    wide = with_programs(wide, reading)
    wide, origins, overruled = overrule(wide, origins, values(given or {}))
    open_formats = wide["case"].is_in(_left_open(reading, "dtype").implode())
    said = wide["dtype"].is_not_null() | open_formats
    wide = _named(wide, machine, unresolved)
    open_nodes = wide["case"].is_in(_left_open(reading, "gpus_per_node").implode())
    usual = (nodes_elsewhere(open_nodes), *machine_rules(said, open_nodes))
    wide, found = fill(wide, (full_nodes(), node_rule(wide), *usual, *RULES))
    wide = with_networks(wide)
    products = [
        _products(name, frame, frames[name], machine, unresolved)
        for name, frame in reading.frames.items()
        if frames[name].scope == "gemm"
        and not frame.is_empty()
        and {"m", "n", "k", "gpu", "dtype"} <= set(frame.columns)
    ]
    gemm = pl.concat([pl.DataFrame(schema=_GEMM), *products])
    bare = Cases(wide, gemm, origins.sort("case", "name"), reading, unresolved, overruled)
    return bare.with_values(wide, found)


def _left_open(reading: Reading, name: str) -> pl.Series:
    """The cases for which a statement says a field in a way that is not understood."""
    field_of, state = pl.col("field") == name, pl.col("state") == "unknown"
    return reading.provenance.filter(field_of & state).select(case=case_of())["case"]


_TYPES = {name: spec.dtype for name, spec in fields(Configuration).items()}

_GEMM = GEMM_CASE | {
    "source": pl.String(), "line": pl.UInt32(), "frame": pl.String(), "group": pl.String()
}  # fmt: skip


def _empty() -> pl.DataFrame:
    place = dict.fromkeys((*PLACE, "trained_part"), pl.String()) | {"line": pl.UInt32()}
    return pl.DataFrame(schema=place | {name: _TYPES[name] for name in CONFIGURED})


def _wide(name: str, frame: pl.DataFrame, tables: Collection[str]) -> pl.DataFrame:
    """Configuration columns of one frame; rows of a table that follow each other are one group."""
    step = pl.col("line").cast(pl.Int64).diff().over("source").fill_null(1)
    begins = pl.when(step > 1).then(pl.col("line")).otherwise(None)
    start = pl.coalesce(begins.forward_fill().over("source"), pl.col("line").first().over("source"))
    block = pl.format("{}#{}", "source", start)
    group = block if name in tables else pl.col("source")
    part = pl.col("trained_part") if "trained_part" in frame.columns else pl.lit(None, pl.String)
    return frame.select(
        case=case_of(), source="source", line="line", frame=pl.lit(name), group=group,
        trained_part=part,
        **{column: pl.col(column).cast(_TYPES[column]) for column in CONFIGURED},
    )  # fmt: skip


def _said(name: str, frame: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """Where each configuration value of one frame came from."""
    said = reading.provenance.filter(pl.col("frame") == name).select(
        "source", "line", "column", "value_origin", "from_line", "law", name="field"
    )  # fmt: skip
    empty = frame.null_count().row(0, named=True)
    held = [column for column in CONFIGURED if empty[column] < frame.height]
    if not held:  # of a column without a value nothing is said, and most have none
        return pl.DataFrame(schema=ORIGINS)
    index = ["source", "line", "column", "case"]
    long = (
        frame.select(
            *index[:-1], *(pl.col(column).cast(pl.String) for column in held), case=case_of()
        )
        .unpivot(held, index=index, variable_name="name")
        .drop_nulls("value")
    )
    on = ["source", "line", "column", "name"]
    known = said.unique(on, keep="first", maintain_order=True)
    return long.join(known, on=on, how="left", maintain_order="left").select(
        case="case",
        name="name",
        value="value",
        value_origin=pl.col("value_origin").fill_null("printed"),
        line=pl.when(pl.col("value_origin").is_null()).then("line").otherwise("from_line"),
        law="law",
    )


def _mapping(
    texts: pl.Series, name: Callable[[str], str], unresolved: dict[str, str]
) -> dict[str, str]:
    """Printed spelling → canonical name for those that have one; the others with the reason."""
    known = {}
    for text in texts.drop_nulls().unique().sort():
        try:
            known[text] = name(text)
        except LookupError as fault:
            unresolved[text] = str(fault.args[0])
    return known


def _device(stated: str | None) -> Callable[[str], str]:
    """Name of a printed device; one that may be several is the one that the caller states."""

    def name(text: str) -> str:
        return stated if stated and stated in candidates(text) else resolve(text)

    return name


def _named(wide: pl.DataFrame, stated: str | None, unresolved: dict[str, str]) -> pl.DataFrame:
    """The columns machine and canonical dtype, from what is printed."""
    devices = _mapping(wide["gpu"], _device(stated), unresolved)
    types = _mapping(wide["dtype"], dtype, unresolved)
    again = _mapping(wide["recompute"], _recomputed, unresolved)
    return wide.with_columns(
        machine=pl.col("gpu").replace_strict(devices, default=None, return_dtype=pl.String),
        dtype=pl.col("dtype").replace_strict(types, default=None, return_dtype=pl.String),
        recompute=pl.col("recompute").replace_strict(again, default=None, return_dtype=pl.String),
    )


_AGAIN = {"null": "none", "uniform": "full", "block": "full", "ac": "full"}
"""Recomputation by words that say where, of all, or that there is such a setting."""


def _recomputed(text: str) -> str:
    """Recomputation that a printed word means; LookupError where it says nothing we know."""
    much = how_much_again(text) or _AGAIN.get(text.casefold())
    lead, _, rest = text.partition(" ")
    if much is None and not OF_A_PART.search(rest):  # `selective op`
        much = how_much_again(lead)
    if much is None:
        raise LookupError(f"{text!r} is none of none, selective, full")
    return "full" if much == "on" else much


def _products(
    name: str,
    frame: pl.DataFrame,
    what: About,
    stated: str | None,
    unresolved: dict[str, str],
) -> pl.DataFrame:
    """GEMM cases of one frame; rows that share a weight matrix are one group."""
    devices = _mapping(frame["gpu"], _device(stated), unresolved)
    types = _mapping(frame["dtype"], dtype, unresolved)
    one = pl.lit(1, dtype=pl.Int64)
    return frame.select(
        case=case_of(),
        subject=subject_of(what.subject),
        machine=pl.when(pl.col("gpu").is_null())
        .then(pl.lit(stated))
        .otherwise(pl.col("gpu").replace_strict(devices, default=None, return_dtype=pl.String)),
        dtype=pl.col("dtype").replace_strict(types, default=None, return_dtype=pl.String),
        b=pl.col("b").fill_null(one) if "b" in frame.columns else one,
        m=pl.col("m").cast(pl.Int64),
        n=pl.col("n").cast(pl.Int64),
        k=pl.col("k").cast(pl.Int64),
        source="source",
        line="line",
        frame=pl.lit(name),
        group=pl.format("{}:{}x{}", "source", "n", "k"),
    )
