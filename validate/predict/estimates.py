"""Published estimators reproduced on the rows that they print, beside our own kernel models.

From the frames of a reading to the cases of `assay.model.reproductions`: a dump is bound to the one
configuration beside it, a table of layers to the lines above it and a machine, a trace to its
lines. What ends in `_reproduced` is a registered model: what is asked in, predictions out.

The nine products of a DeepFlow dump run on a chip that exists nowhere but in the dump; the matrix
products of a table of layers run on its machine. They become `GEMM_CASE` rows with their own facts
for our kernel models.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import PurePosixPath

import polars as pl
from assay.model.frames import GEMM_CASE, PREDICTION
from assay.model.kernels import gemm
from assay.model.kernels.kernel import Kernel
from assay.model.machines.datasheets import machine, machines, resolve
from assay.model.reproductions import (
    deepflow,
    deepflow_unconfigured,
    transformer_estimates,
    ulysses,
)
from assay.model.reproductions.deepflow_workload import gemms
from assay.validate.cases.cases import Cases
from assay.validate.cases.memo import once
from assay.validate.predict.forecasts import Asked, Forecast

DEEPFLOW = (
    "time", "flop", "gmem_bytes", "l2mem_bytes", "intensity", "intensity_t", "inflection",
    "inflection_t", "reload_ab", "reload_ac", "reload_bc",
)  # fmt: skip

LAYERED = ("flops_fwd", "flops_bwd", "t_total_fwd", "t_total_bwd")
"""Quantities that a report lists as somebody's, so that a row without a prediction says why."""


@once
def dump_cases(cases: Cases) -> pl.DataFrame:
    """`DUMP_CASE` rows: each dump with the configuration of its folder, where there is just one.

    A configuration of the same stem goes before that of the same folder. Values that are not there
    are null, and so is everything for a dump that stands alone or beside several.
    """
    frames = cases.reading.frames
    dumps = _blocks(cases, "deepflow_", "dump")
    if dumps.is_empty():
        return pl.DataFrame(schema=deepflow.DUMP_CASE)
    split = pl.col("parallel_degree").fill_null(1)
    if (totals := frames.get("deepflow_dump")) is not None and not totals.is_empty():
        said = totals.select("source", "dump", split=split)
        dumps = dumps.join(said, on=["source", "dump"], how="left", maintain_order="left")
    else:
        dumps = dumps.with_columns(split=pl.lit(1))
    printed = dumps.select("source", "split", case=_case("dump"))
    configs = frames.get("deepflow_config", pl.DataFrame())
    if configs.is_empty():
        configs = pl.DataFrame(schema=deepflow.DUMP_CASE | {"source": pl.String()})
    configured = beside(printed["source"].to_list(), configs["source"].to_list())
    known = printed.with_columns(
        config=pl.col("source").replace_strict(configured, default=None, return_dtype=pl.String)
    ).join(configs.rename({"source": "config"}), on="config", how="left", maintain_order="left")
    degree = pl.max_horizontal("parallel_degree", "split")
    whole = known.with_columns(parallel_degree=degree)
    return whole.select(pl.col(n).cast(t) for n, t in deepflow.DUMP_CASE.items())


def _case(column: str) -> pl.Expr:
    """The case of a block: its source and its first line."""
    return pl.format("{}#{}", "source", column)


def _blocks(cases: Cases, prefix: str, column: str) -> pl.DataFrame:
    """Source and first line of every block that any frame of a format has rows of."""
    parts = [
        frame.select("source", column)
        for name, frame in cases.reading.frames.items()
        if name.startswith(prefix) and column in frame.columns
    ]
    empty = pl.DataFrame(schema={"source": pl.String, column: pl.Int64})
    return pl.concat([empty, *parts]).unique().sort("source", column)


def beside(dumps: list[str], configs: list[str]) -> dict[str, str]:
    """Dump → its configuration: of the same stem, else the only one in the folder of one dump."""
    near: dict[str, list[str]] = defaultdict(list)  # folder → configurations
    named: dict[tuple[str, str], list[str]] = defaultdict(list)  # folder, stem → configurations
    for config in configs:
        place = PurePosixPath(config)
        near[str(place.parent)].append(config)
        named[str(place.parent), place.stem].append(config)
    places = {dump: PurePosixPath(dump) for dump in dumps}
    count = Counter(str(place.parent) for place in places.values())
    found = {}
    for dump, place in places.items():
        folder = str(place.parent)
        same = named.get((folder, place.stem), [])
        if len(same) == 1:
            found[dump] = same[0]
        elif len(near.get(folder, [])) == 1 and count[folder] == 1:
            found[dump] = near[folder][0]
    return found


@once
def _configured_dumps(cases: Cases) -> pl.DataFrame:
    return deepflow.predict(dump_cases(cases))


def deepflow_reproduced(asked: Asked) -> pl.DataFrame:
    """DeepFlow from a dump's configuration; without one, from the numbers of the dump itself."""
    dumps = dump_cases(asked.cases)
    configured = _configured_dumps(asked.cases)
    alone = dumps.filter(
        pl.col("parallel_degree").fill_null(1) == 1, pl.col("batch").is_null()
    ).select("case")
    own = asked.observations.join(alone, on="case", how="semi", maintain_order="left")
    return pl.concat([configured, deepflow_unconfigured.predict_alone(own)])


def layer_cases(cases: Cases, *, stand_in: str | None = None) -> pl.DataFrame:
    """`LAYER_CASE` rows, one per table of layers that has exactly the layers of its block.

    `stand_in` is a machine for tables that have none.
    """
    frame = cases.reading.frames.get("layer_estimates", pl.DataFrame())
    if frame.is_empty():
        return pl.DataFrame(schema=transformer_estimates.LAYER_CASE)
    said = ("block", "batch", "seq_len", "hidden", "heads", "depth", "m1", "m2", "gpu")
    tables = frame.group_by("source", "table", maintain_order=True).agg(
        *(pl.col(name).first() for name in said), names=pl.col("layer")
    )
    rows = []
    for row in tables.iter_rows(named=True):
        wanted = LAYERS.get(row["block"] or "")
        if wanted is None or set(row["names"]) != wanted:
            continue
        facts = _facts(row["gpu"]) or _facts(stand_in)
        case = {"case": f"{row['source']}#{row['table']}", **{n: row[n] for n in said[:-1]}}
        rows.append({**case, **facts})
    return pl.DataFrame(rows, schema=transformer_estimates.LAYER_CASE)


def _layers_of(block: str) -> set[str]:
    model = transformer_estimates.Model(1, 8, 8, 1, 1, 1)
    return {layer.name for layer in transformer_estimates.BLOCKS[block](model)}


LAYERS = {block: _layers_of(block) for block in transformer_estimates.BLOCKS}
"""Block → the layers that its table has; another set is another version of the estimator."""


def _facts(printed: str | None) -> Mapping[str, float | int | None]:
    """Facts of a machine that a table of estimates needs; empty where it is unknown."""
    try:
        known = machine(resolve(printed)) if printed else None
    except LookupError:
        known = None
    if known is None:
        return {}
    links = known.link_bandwidth
    return {
        "matrix_flops": known.peaks.get("fp16"),
        "vector_flops": known.vector_flops,
        "memory_bandwidth": known.memory_bandwidth,
        "link_bandwidth": None if links is None else 2 * links,
        "link_domain": None if known.gpus_per_node is None else int(known.gpus_per_node),
    }


def layers_reproduced(asked: Asked) -> pl.DataFrame:
    """The per-layer estimator on its own tables."""
    return transformer_estimates.predict(layer_cases(asked.cases))


def want_machine(cases: Cases) -> pl.DataFrame:
    """case, scope, subject and quantity of what is predicted as soon as a machine is stated."""
    key = ("case", "scope", "subject", "quantity")
    now = transformer_estimates.predict(layer_cases(cases)).select(key)
    any_machine = next(n for n in machines() if None not in (_facts(n) or {"": None}).values())
    then = transformer_estimates.predict(layer_cases(cases, stand_in=any_machine)).select(key)
    return then.join(now, on=key, how="anti", maintain_order="left").unique(maintain_order=True)


def trace_cases(cases: Cases) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Traces and their lines in order, as `ulysses.predict` takes them."""
    frames = cases.reading.frames
    known = _blocks(cases, "ulysses_", "trace")
    if known.is_empty():
        return pl.DataFrame(schema=ulysses.TRACE_CASE), pl.DataFrame(schema=ulysses.TRACE_LINE)
    headers = frames.get("ulysses_trace", pl.DataFrame())
    names = [name for name in ulysses.TRACE_CASE if name != "case"]
    if not headers.is_empty():
        on = ["source", "trace"]
        held = headers.select(*on, *names)
        known = known.join(held, on=on, how="left", maintain_order="left")
    traces = known.select(
        _case("trace").alias("case"),
        *(
            (pl.col(n) if n in known.columns else pl.lit(None)).cast(ulysses.TRACE_CASE[n]).alias(n)
            for n in names
        ),
    )
    parts = [pl.DataFrame(schema=ulysses.TRACE_LINE)]
    for name, columns in LINES.items():
        frame = frames.get(name, pl.DataFrame())
        if not frame.is_empty():
            parts.append(_lines(frame, columns))
    return traces, pl.concat(parts)


def _lines(frame: pl.DataFrame, columns: Mapping[str, pl.Expr]) -> pl.DataFrame:
    given = {"case": _case("trace"), "line": pl.col("line"), "section": pl.col("section")}
    given |= columns
    kept = frame.select(
        given.get(name, pl.lit(None)).cast(kind).alias(name)
        for name, kind in ulysses.TRACE_LINE.items()
    )
    whole = pl.col("shape").list.eval(pl.element().is_not_null()).list.all()
    return kept.drop_nulls("kind").filter(whole.fill_null(value=True))  # of sizes of so many digits


_SHAPE = pl.col("shape").str.extract_all("[0-9]+").cast(pl.List(pl.Int64), strict=False)

_ULP = pl.col("peak_memory_ulp") / 2

LINES: dict[str, dict[str, pl.Expr]] = {
    "ulysses_tensor": {
        "kind": pl.lit("tensor"), "subject": pl.col("subject"), "name": pl.col("name"),
        "label": pl.col("label"), "shape": _SHAPE,
    },
    "ulysses_flops": {
        "kind": pl.lit("flops"), "subject": pl.col("subject"), "text": pl.col("equation"),
    },
    "ulysses_memory": {
        "kind": pl.when(pl.col("peak_memory").is_not_null()).then(pl.lit("peak")),
        "subject": pl.col("subject"),
        "low": pl.col("peak_memory") - _ULP, "high": pl.col("peak_memory") + _ULP,
    },
    "ulysses_event": {
        "kind": pl.when(pl.col("text") != "is_contiguous: False").then("kind"),
        "text": pl.col("text"),
    },
}  # fmt: skip
"""Frame → the columns of `TRACE_LINE` that it gives."""


def traces_reproduced(asked: Asked) -> pl.DataFrame:
    """Sizes, flop and peak memory of every Ulysses trace."""
    return ulysses.predict(*trace_cases(asked.cases))


DTYPES = {1: "fp8", 2: "fp16", 4: "fp32", 8: "fp64"}
"""Bytes per element → the number format of that size."""

FACTS = ("peak", "memory_bandwidth", "itemsize")

_WITH_FACTS = GEMM_CASE | dict.fromkeys(FACTS, pl.Float64())


@once
def dump_products(cases: Cases) -> pl.DataFrame:
    """The nine products of every configured dump, with the rates that its power buys.

    Rates are those before the estimator's derate: what a datasheet would print.
    """
    rows = []
    whole = dump_cases(cases).drop_nulls().filter(pl.col("parallel_degree") == 1)
    for row in whole.iter_rows(named=True):
        try:
            work, chip = deepflow.configured(row)
        except (ValueError, ZeroDivisionError):
            continue
        facts = (chip.peak_flops, chip.peak_memory_bandwidth, float(work.precision))
        for one in gemms(work):
            named = (row["case"], one.name, None, DTYPES.get(work.precision))
            rows.append((*named, 1, one.a, one.c, one.b, *facts))
    return pl.DataFrame(rows, schema=_WITH_FACTS, orient="row")


def layer_products(cases: Cases) -> pl.DataFrame:
    """The matrix products of every known table of layers, under the names of its rows."""
    rows = []
    for row in layer_cases(cases).iter_rows(named=True):
        if (said := transformer_estimates.known(row)) is None:
            continue
        model, peaks = said
        tokens, m = model.batch * model.seq_len, model.m
        inner, q, heads = 4 * model.hidden // m, model.hidden // model.heads, model.heads // m
        products = {
            "mlp": {
                "fc1": (1, tokens, inner, model.hidden),
                "fc2": (1, tokens, model.hidden, inner),
            },
            "attention": {
                "qkv_proj": (1, tokens, 3 * model.hidden // m, model.hidden),
                "logits": (model.batch * heads, model.seq_len, model.seq_len, q),
                "attend": (model.batch * heads, model.seq_len, q, model.seq_len),
                "v_proj": (1, tokens, model.hidden, heads * q),
            },
        }
        facts = (peaks.matrix_flops, peaks.memory_bandwidth, float(transformer_estimates.ELEMENT))
        for name, sizes in products[row["block"]].items():
            rows.append((row["case"], name, None, "fp16", *sizes, *facts))
    return pl.DataFrame(rows, schema=_WITH_FACTS, orient="row")


def on_dumps(kernel: Kernel) -> Forecast:
    """A kernel model at its starting values on the products of dumps."""

    def forecast(asked: Asked) -> pl.DataFrame:
        return _predicted(dump_products(asked.cases), kernel)

    return forecast


def on_layers(kernel: Kernel) -> Forecast:
    """A kernel model on the products of tables of layers: the time of a row's forward pass."""

    def forecast(asked: Asked) -> pl.DataFrame:
        found = _predicted(layer_products(asked.cases), kernel)
        return found.with_columns(scope=pl.lit("layer"), quantity=pl.lit("t_fwd"))

    return forecast


def _predicted(products: pl.DataFrame, kernel: Kernel) -> pl.DataFrame:
    if products.is_empty():
        return pl.DataFrame(schema=PREDICTION)
    return gemm.predict(products, kernel)
