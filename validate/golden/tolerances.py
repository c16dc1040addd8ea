"""How far repeated runs of one configuration lie apart, and the tolerance that follows.

A golden compares record with record, so that is what is measured here: the same record (all exact
values equal) in several runs. With x = ln(value), run r, record j:

    x[r, j] = centre[j] + between[r] + within[r, j]

Both spreads are robust (see `robust`; within runs 1.4826 × the median absolute deviation, corrected
for the centres taken off). A new run differs from the golden of an old one by at most

    gate = k_runs · spread between + √2 · z(1 − a / 4m) · spread within

in all m of its values, save for a share `a` of the runs: half of `a` for the shift of the whole
run, half shared by the values (union bound). `k_runs` is the quantile of the shift between two runs
in units of a spread estimated from as few runs as there are, found by simulation; for two runs it
is near 120, for ten near 6. Assumed: runs are independent, deviations normal about one centre.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import polars as pl
from assay.ingest.schema.fields import FieldSpec, fields
from assay.ingest.schema.format import Format
from assay.ingest.schema.reading import Reading

FALSE_ALARMS = 0.01
"""Share of unchanged runs that may fail, per quantity and file, unless stated otherwise."""

NORMAL = NormalDist()

NORMAL_MAD = 1.4826
"""Median absolute deviation of a normal distribution → its standard deviation: 1 / Φ⁻¹(¾)."""

NORMAL_QN = 2.2219
"""First quartile of pairwise distances → standard deviation, for a normal distribution."""

FEW = 8
"""Runs below which an odd one cannot be told from spread without a far wider gate."""

DRAWS = 100_000

MANY = 50
"""Runs beyond which their spread is known well enough to use the normal quantile."""

PAIRED = 2000
"""Values beyond which pairs of them are no longer looked at one by one."""

SEED = 4

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Spread:
    """Spread of one quantity over repeated runs; all spreads and the gate are fractions."""

    frame: str
    quantity: str
    runs: int
    records: int  # that several runs share
    between: float  # one standard deviation, run against run
    within: float  # one standard deviation, value against value of one run
    gate: float
    false_alarms: float  # of unchanged runs, at most, by the assumption above
    beyond: int  # pairs of values of these very runs that the gate would have caught
    pairs: int
    matched: str  # how records of different runs were found to be the same


def spreads(reading: Reading, false_alarms: float = FALSE_ALARMS) -> list[Spread]:
    """The spread of every quantity that several runs in `reading` share.

    Raises ValueError unless 0 < `false_alarms` < 1.
    """
    if not 0 < false_alarms < 1:
        raise ValueError(f"a share of false alarms lies between 0 and 1, not {false_alarms}")
    found: list[Spread] = []
    for fmt in reading.formats:
        for name, schema in fmt.schemas.items():
            frame = reading.frames.get(name)
            if frame is not None and frame.height > 1:
                found += _of_frame(name, fmt, frame, fields(schema), false_alarms)
    return found


def _of_frame(
    name: str, fmt: Format, frame: pl.DataFrame, specs: Mapping[str, FieldSpec], share: float
) -> Iterator[Spread]:
    matched, same = _same_records(fmt, frame, specs)
    for spec in specs.values():
        if not spec.numeric or spec.kind == "exact" or spec.configuration:
            continue
        values = same.filter(pl.col(spec.name) > 0).select(
            "record", "run", value=pl.col(spec.name),
            place=pl.col(f"{spec.name}_ulp") if spec.has_ulp else pl.lit(0.0),
        )  # fmt: skip
        shared = values.filter(pl.col("run").n_unique().over("record") > 1)
        if shared.height:
            yield _spread(name, spec.name, matched, shared.sort("record", "run"), share)


def _same_records(
    fmt: Format, frame: pl.DataFrame, specs: Mapping[str, FieldSpec]
) -> tuple[str, pl.DataFrame]:
    """The rows with `record` (what is the same) and `run` (what differs), and how it was matched.

    Records of runs that printed other iterations are matched by their configuration alone; lines of
    one log are then one run, and their median stands for it.
    """
    exact = [n for n, spec in specs.items() if spec.kind == "exact" or not spec.numeric]
    configured = [n for n, spec in specs.items() if spec.configuration]
    numeric = [
        n
        for n, kind in frame.schema.items()
        if kind.is_numeric() and n not in {*exact, *configured, "line", "column"}
    ]
    ways = {"exact values": exact} | ({"configuration": configured} if configured else {})
    for matched, names in ways.items():
        rows = frame.with_columns(record=_ranked(frame, names))
        if fmt.origin == "published":  # a document that says a number twice ran nothing twice
            rows = rows.unique(["source", "record", *numeric], keep="first", maintain_order=True)
        if matched == "configuration" and fmt.lines == "single":
            rows = rows.group_by("source", "record", maintain_order=True).agg(
                pl.col(numeric).median()
            )
        nth = pl.int_range(pl.len()).over("source", "record")
        rows = rows.with_columns(run=pl.format("{}#{}", "source", nth))
        if rows.select((pl.col("run").n_unique().over("record") > 1).any()).item():
            return matched, rows
    return matched, rows.clear()


def _ranked(frame: pl.DataFrame, names: Sequence[str]) -> pl.Series:
    """A number for each distinct row of `names`, nulls being values of their own."""
    if not names:
        return pl.Series("record", [0] * frame.height)
    distinct = frame.select(names).unique(maintain_order=True).with_row_index("record")
    joined = frame.select(names).join(
        distinct, on=names, how="left", nulls_equal=True, maintain_order="left"
    )
    return joined["record"].cast(pl.Int64)


def _spread(frame: str, quantity: str, matched: str, rows: pl.DataFrame, share: float) -> Spread:
    logs = rows.with_columns(x=pl.col("value").log()).with_columns(
        away=pl.col("x") - pl.col("x").median().over("record"),
        runs=pl.len().over("record"),
    )
    shift = logs.group_by("run", maintain_order=True).agg(pl.col("away").median()).sort("run")
    runs = shift["away"].to_numpy()
    left = logs.join(shift.rename({"away": "shift"}), on="run", how="left", maintain_order="left")
    free = (pl.col("runs") / (pl.col("runs") - 1)).sqrt()
    rest = left.select(((pl.col("away") - pl.col("shift")) * free).abs())["away"].to_numpy()
    records = rows["record"].n_unique()
    between = float(robust(runs) or runs.std(ddof=1))  # more than half alike is still no spread
    within = 0.0
    if records > 1:
        within = NORMAL_MAD * float(np.median(rest)) or float(np.sqrt(np.mean(rest**2)))
    each = math.ceil(rows.height / len(runs))
    wide = math.sqrt(2) * -NORMAL.inv_cdf(share / (4 * each)) * within
    wide += factor(len(runs), share / 2) * between
    printed = float(rows.select((pl.col("place") / pl.col("value")).max()).item() or 0.0)
    gate = rounded_up(max(math.expm1(wide), printed))
    beyond, pairs = _beyond(logs, gate)
    return Spread(
        frame, quantity, len(runs), records, between, within, gate, share, beyond, pairs, matched
    )


def robust(values: Floats) -> Floats:
    """Standard deviations along the last axis that an odd value does not spoil.

    Qn of Rousseeuw and Croux (1993): the first quartile of all pairwise distances, 82 % efficient
    where the median absolute deviation is 37 %. Of fewer than eight values none can be told to be
    odd at a bearable price: they get the ordinary standard deviation. Qn looks at every pair, so
    thousands of values get the cheaper median absolute deviation.
    """
    count = values.shape[-1]
    if count > PAIRED:
        away = np.abs(values - np.median(values, axis=-1, keepdims=True))
        return np.asarray(NORMAL_MAD * np.median(away, axis=-1))
    if count < FEW:
        return np.asarray(values.std(axis=-1, ddof=1))
    first, second = np.triu_indices(count, 1)
    apart = np.abs(values[..., first] - values[..., second])
    half = count // 2 + 1
    rank = half * (half - 1) // 2 - 1
    small = {8: 0.669, 9: 0.872}.get(count, count / (count + (1.4 if count % 2 else 3.8)))
    return np.asarray(NORMAL_QN * small * np.partition(apart, rank, axis=-1)[..., rank])


@cache
def factor(runs: int, share: float) -> float:
    """How many spreads two runs lie apart in all but `share` of cases; runs independent and normal.

    The spread is what `robust` finds in `runs` runs, so the factor is large where they are few.
    By simulation with a fixed seed: a robust spread of few runs has no formula.
    """
    if runs > MANY:
        return math.sqrt(2) * -NORMAL.inv_cdf(share / 2)
    random = np.random.default_rng(SEED)
    draws = min(DRAWS, 20_000_000 // runs**2)
    spread = robust(random.standard_normal((draws, runs)))
    apart = np.abs(random.standard_normal(draws) - random.standard_normal(draws))
    return float(np.quantile(apart / spread, 1 - share))


def rounded_up(fraction: float) -> float:
    """To two significant digits of a percentage, never down.

    >>> rounded_up(0.01234), rounded_up(0.0), rounded_up(0.25)
    (0.013, 0.0, 0.25)
    """
    if fraction <= 0 or not math.isfinite(fraction):
        return fraction
    place = 10.0 ** (math.floor(math.log10(fraction)) - 1)
    return float(f"{math.ceil(fraction / place - 1e-9) * place:.3g}")


def _beyond(logs: pl.DataFrame, gate: float) -> tuple[int, int]:
    """Pairs of values of one record that lie further apart than the gate, and all pairs."""
    sides = logs.select("record", "run", "value").group_by("record").head(PAIRED)
    both = sides.join(sides, on="record", suffix="_other").filter(
        pl.col("run") < pl.col("run_other")
    )
    apart = (pl.col("value_other") / pl.col("value") - 1).abs() > gate * (1 + 1e-9)
    return int(both.select(apart.sum()).item() or 0), both.height
