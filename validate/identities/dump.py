"""One dump of an estimator, as its laws look at it: rows by frame and name.

Sizes are printed in powers of 1024 under decimal names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
from assay.ingest.types import Span
from assay.validate.identities.evidence import Evidence
from assay.validate.identities.finding import Finding, Kind, Number, Severity

Row = Mapping[str, Any]
GIB = 2.0**30


class Dump:
    """The rows of one dump, by frame and name."""

    def __init__(self, evidence: Evidence, row: Row) -> None:
        self.row = row
        self.source, self.first = row["source"], row["dump"]
        self.rows = {
            name: rows.get((self.source, self.first), []) for name, rows in _rows(evidence).items()
        }
        self._named: dict[str, dict[str, Row]] = {}
        self.config = _configs(evidence).get(self.source)

    def named(self, frame: str) -> dict[str, Row]:
        """Rows of a frame by name; the first stands where a name comes twice."""
        if frame not in self._named:
            found = self._named[frame] = {}
            for row in self.rows.get(f"deepflow_{frame}", ()):
                found.setdefault(row["name"], row)
        return self._named[frame]

    def machine(self) -> Row | None:
        """The row of the chip."""
        return next(iter(self.rows.get("deepflow_machine", ())), None)

    def finding(
        self, law: str, kind: Kind, severity: Severity, rows: list[Row], text: str, meaning: str,
        observed: tuple[Number, ...] = (), implied: tuple[Number, ...] = (),
    ) -> Finding:  # fmt: skip
        """A finding about `rows` of this dump, its span the first of them."""
        spans = dict.fromkeys(Span(r["source"], r["line"], r["column"] or 1) for r in rows)
        return Finding(law, kind, severity, tuple(spans)[:4], observed, implied, text, meaning,
                       cases=(f"{self.source}#{self.first}",))  # fmt: skip


Rows = dict[tuple[str, int], list[Row]]
"""Source and first line of a dump → its rows."""
SIZES = ("memory", "memory_per_shard", "memory_bandwidth", "memory_size", "l2_bandwidth", "l2_size",
         "shared_memory_size", "interconnect_bandwidth", "bytes", "flop", "gmem_bytes",
         "l2mem_bytes", "time", "step_time", "parameters")  # fmt: skip
"""Columns that are never below zero."""
LAWLESS = ("deepflow_reload", "deepflow_component")
"""Frames that no law looks at."""


def _rows(evidence: Evidence) -> dict[str, Rows]:
    """The rows of each frame by their dump, once for all of them."""
    if "dumps" not in evidence.memo:
        place = ("source", "line", "column", "dump", "name")
        looked_at = {
            *place,
            *(f"{name}{end}" for name in (*SIZES, "peak_flops") for end in ("", "_ulp")),
        }
        evidence.memo["dumps"] = {
            name: frame.select(each for each in frame.columns if each in looked_at).rows_by_key(
                ["source", "dump"], named=True, include_key=True
            )
            for name, frame in evidence.reading.frames.items()
            if name.startswith("deepflow_") and "dump" in frame.columns and name not in LAWLESS
        }
    found: dict[str, Rows] = evidence.memo["dumps"]
    return found


def _configs(evidence: Evidence) -> dict[str, dict[str, Any]]:
    """Source of a dump → the row of the configuration beside it."""
    from assay.validate.estimates import _beside  # noqa: PLC0415

    if "configs" not in evidence.memo:
        frame = evidence.reading.frames.get("deepflow_config", pl.DataFrame())
        rows: dict[str, dict[str, Any]] = {}
        for row in frame.iter_rows(named=True):
            rows.setdefault(row["source"], row)
        dumps = evidence.reading.frames.get("deepflow_dump", pl.DataFrame({"source": []}))
        beside = _beside(dumps["source"].to_list(), list(rows))
        evidence.memo["configs"] = {dump: rows[config] for dump, config in beside.items()}
    found: dict[str, dict[str, Any]] = evidence.memo["configs"]
    return found


def number(name: str, value: float, place: float | None, unit: str) -> Number:
    """A printed value with one unit in its last place, rounded or cut."""
    half = place or 0.0
    return Number(name, value, value - half / 2, value + half, unit)


def whole(value: float, slack: float) -> bool:
    """Whether a value is a positive whole number but for `slack`."""
    return value > 0.5 and abs(value - round(value)) <= slack


def batch_and_sequence(dump: Dump) -> tuple[int | None, int | None]:
    """Batch and sequence, from the configuration or from the dump's own integers."""
    if dump.config is not None and dump.config["batch"] and dump.config["sequence"]:
        return int(dump.config["batch"]), int(dump.config["sequence"])
    kernels = dump.named("kernel")
    hidden, embedding = kernels.get("hidden_forward"), kernels.get("embedding_forward")
    clip = kernels.get("gradclip_hidden")
    if hidden is None or embedding is None or clip is None:
        return None, None
    if not hidden["flop"] or not embedding["bytes"] or not clip["flop"]:
        return None, None
    width = round((clip["flop"] / 4 / 8) ** 0.5)  # 2D × 4D elements, 4 flop each
    size = clip["bytes"] * 4 / (clip["flop"] * 3)
    batch = hidden["flop"] / (13 * width)
    steps = embedding["bytes"] / (2 * batch * width * size) if batch else 0.0
    if not (whole(batch, 1e-9) and whole(steps, 1e-9)):
        return None, None
    return round(batch), round(steps)
