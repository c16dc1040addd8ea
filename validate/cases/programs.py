"""Programs of runs and their networks: what no column of a document holds as a model takes it.

In: a reading, or values that a user states. Out: columns that `training_run.run` takes beside those
of `Configuration`. The program is the one whose dump an input has, which its document names for the
row, or whose lines it has; its date is that of the version, else of the first line with one.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
from assay.ingest.schema.reading import Reading
from assay.ingest.vocabulary.networks import network_named
from assay.ingest.vocabulary.program_names import program_named
from assay.model.machines.datasheets import machines
from assay.model.machines.releases import released
from assay.model.machines.software import frameworks, stacks, year
from assay.model.step.work import SCALING
from assay.model.transformer.parallel import LAUNCHES
from assay.model.transformer.training_run import ADAPTERS

PROGRAM: dict[str, pl.DataType] = {
    "framework": pl.String(),  # of software.toml
    "date": pl.String(),  # YYYY-MM, or longer
    "software": pl.String(),  # a stack of software.toml
    "eager": pl.Boolean(),
    "reduce_dtype": pl.String(),
    "tp_overlap": pl.Boolean(),
    "ep_overlap": pl.Boolean(),
    "scaling": pl.String(),  # of 8-bit values
    "launch": pl.String(),
    "node_bandwidth": pl.Float64(),  # B/s
    "shard_ranks": pl.Int64(),
    "expert_tp": pl.Int64(),
    "recomputed": pl.Float64(),  # share of layers
    "head_dim": pl.Int64(),
    "experts_per_token": pl.Int64(),
    "expert_ffn_hidden": pl.Int64(),
    "shared_ffn_hidden": pl.Int64(),
    "dense_layers": pl.Int64(),
    "trained_part": pl.String(),  # lora: adapters beside frozen weights
}
"""Columns beside those of `Configuration`; absent ones are null."""

SWITCH = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def stated(name: str, value: object) -> object:
    """A value of a column of `PROGRAM` as the column holds it; ValueError says what would fit.

    >>> stated("tp_overlap", "yes"), stated("node_bandwidth", "4e11"), stated("date", "2024-07")
    (True, 400000000000.0, '2024-07')
    """
    kind, text = PROGRAM[name], str(value).strip()
    known = {
        "framework": frameworks(), "software": tuple(stacks()), "trained_part": ADAPTERS,
        "scaling": tuple(SCALING), "launch": LAUNCHES,
    }.get(name)  # fmt: skip
    if known is not None and text.lower() not in known:
        raise ValueError(f"{name} {text!r} is none of {', '.join(known)}")
    if name == "date" and year(text) is None:
        raise ValueError(f"date {text!r} is no year or month, such as 2024-07")
    if kind == pl.String():
        return text.lower() if known else text
    if kind == pl.Boolean():
        if text.lower() not in SWITCH:
            raise ValueError(f"{name} {text!r} is none of {', '.join(SWITCH)}")
        return SWITCH[text.lower()]
    try:
        number = int(text) if kind == pl.Int64() else float(text)
    except ValueError:
        raise ValueError(f"{name} {text!r} is no number") from None
    if not 0 <= number < float("inf"):
        raise ValueError(f"{name} is {number}, expected a number from 0 on")
    return number


def implied(program: str) -> dict[str, str]:
    """Program and date of its release, of a program and its version as people write them."""
    told = program_named(program, any_case=True)
    if told is None:
        return {}
    date = released(told.name, told.version)
    return {"framework": told.name} | ({"date": date} if date else {})


def with_programs(wide: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """The cases with the columns of `PROGRAM`, program and date as far as inputs say them.

    What a run's own dump says of the program goes before what its document does, and the release
    of a version before the day on which it ran.
    """
    held = [frame for frame in reading.frames.values() if not frame.is_empty()]
    dumped = _first(held, ("framework",)).select("source", framework="said")
    printed = _first(held, ("trainer",)).select("source", printed="said")
    date = _first(held, ("date", "timestamp")).select("source", date="said")
    texts = wide["program"].drop_nulls().unique().to_list()
    told = {text: one for text in texts if (one := program_named(text, any_case=True))}
    names = {text: one.name for text, one in told.items()}
    dates = {text: released(one.name, one.version) for text, one in told.items()}

    def by_program(found: Mapping[str, str | None]) -> pl.Expr:
        return pl.col("program").replace_strict(found, default=None, return_dtype=pl.String)

    table = wide
    for each in (dumped, printed, date):
        table = table.join(each, on="source", how="left", maintain_order="left")
    said = pl.coalesce("framework", by_program(names), "printed").str.to_lowercase()
    own = pl.col("framework").is_null() | (by_program(names) == pl.col("framework"))
    released_on = pl.when(own).then(by_program(dates))
    return (
        table.with_columns(framework=said, date=pl.coalesce(released_on, "date"))
        .with_columns(
            pl.lit(None, dtype=kind).alias(name)
            for name, kind in PROGRAM.items()
            if name not in ("framework", "date", *wide.columns)
        )
        .drop("printed")
    )


def with_networks(wide: pl.DataFrame) -> pl.DataFrame:
    """The cases with `node_bandwidth` where a document gives a rate of their network.

    What a user states goes before; a machine without a usual node has none by a bare rate.
    """
    keys = ["network", "machine", "gpus_per_node"]
    known = wide.select(keys).unique().drop_nulls("network").drop_nulls("machine")
    found = [(*row, _node_bandwidth(*row)) for row in known.iter_rows()]
    types = {name: wide.schema[name] for name in keys} | {"_found": pl.Float64()}
    table = pl.DataFrame(found, schema=types, orient="row")
    return (
        wide.join(table, on=keys, how="left", maintain_order="left", nulls_equal=True)
        .with_columns(node_bandwidth=pl.coalesce("node_bandwidth", "_found"))
        .drop("_found")
    )


def _node_bandwidth(text: str, name: str, stated: int | None) -> float | None:
    """Bytes per second of the network cards of a node that a text means; None for no text of one.

    It is of the stated node, as `Machine.cards` wants it.
    """
    network, one = network_named(text), machines()[name]
    inside = stated or one.gpus_per_node
    if network is None or not inside:
        return None
    usual = None
    if one.node_bandwidth is not None and one.gpus_per_node:
        usual = one.node_bandwidth / one.gpus_per_node
    return network.of_node(float(inside), usual, one.host)


def _first(frames: list[pl.DataFrame], names: tuple[str, ...]) -> pl.DataFrame:
    """The first value of any of these columns in each source: columns source and said."""
    parts = [
        frame.select(pl.col("source").cast(pl.String), "line", said=pl.col(name).cast(pl.String))
        for frame in frames
        for name in names
        if {"source", "line", name} <= set(frame.columns)
    ]
    if not parts:
        return pl.DataFrame(schema={"source": pl.String, "said": pl.String})
    every = pl.concat(parts, how="vertical_relaxed").drop_nulls("said")
    return every.sort("source", "line").unique("source", keep="first").select("source", "said")
