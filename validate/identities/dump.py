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
        self.frames = {
            name: parts.get((self.source, self.first), empty)
            for name, (parts, empty) in _parts(evidence).items()
        }
        self.config = _configs(evidence).get(self.source)

    def named(self, frame: str) -> dict[str, dict[str, Any]]:
        """Rows of a frame by name; the first stands where a name comes twice."""
        table = self.frames.get(f"deepflow_{frame}", pl.DataFrame())
        found: dict[str, dict[str, Any]] = {}
        for row in table.iter_rows(named=True):
            found.setdefault(row["name"], row)
        return found

    def machine(self) -> dict[str, Any] | None:
        """The row of the chip."""
        table = self.frames.get("deepflow_machine", pl.DataFrame())
        return table.row(0, named=True) if not table.is_empty() else None

    def finding(
        self, law: str, kind: Kind, severity: Severity, rows: list[Row], text: str, meaning: str,
        observed: tuple[Number, ...] = (), implied: tuple[Number, ...] = (),
    ) -> Finding:  # fmt: skip
        """A finding about `rows` of this dump, its span the first of them."""
        spans = dict.fromkeys(Span(r["source"], r["line"], r["column"] or 1) for r in rows)
        return Finding(law, kind, severity, tuple(spans)[:4], observed, implied, text, meaning,
                       cases=(f"{self.source}#{self.first}",))  # fmt: skip


Parts = dict[tuple[Any, ...], pl.DataFrame]


def _parts(evidence: Evidence) -> dict[str, tuple[Parts, pl.DataFrame]]:
    """Each frame of dumps taken apart by dump, once for all of them; and the frame without rows."""
    if "dumps" not in evidence.memo:
        evidence.memo["dumps"] = {
            name: (frame.partition_by("source", "dump", as_dict=True), frame.clear())
            for name, frame in evidence.reading.frames.items()
            if name.startswith("deepflow_") and "dump" in frame.columns
        }
    found: dict[str, tuple[Parts, pl.DataFrame]] = evidence.memo["dumps"]
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
