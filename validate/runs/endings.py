"""How a run ended: what its launcher, its scheduler or it itself says, and what can go on from it.

In: the steps of a run, its totals, and the events of the life of jobs. Out: an `Ending`. What
nobody says stays unsaid: a log that stops is no crash.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import polars as pl
from assay.ingest.schema.format import uncompressed
from assay.ingest.schema.reading import Reading
from assay.validate.cases.jobs import of_run
from assay.validate.cases.step_frames import OnDisk
from assay.validate.cases.steps import Steps

WORDS: Mapping[str, str] = {
    "out_of_memory": "out of memory",
    "time_limit": "stopped at its time limit",
    "preempted": "preempted",
    "cancelled": "cancelled",
    "crashed": "crashed",
    "stopped": "stopped",
    "finished": "finished",
}
"""Event that ends a run → how a person says it; the gravest first, which counts of several.

A program that is killed complains: what it prints behind its time limit follows from that. Of
`FOLLOW` each follows from the other: the rest of a job is killed where a part of it crashes.
"""

FOLLOW = ("cancelled", "crashed")
"""Ends of which the first that is printed counts."""

TOLD = ("out_of_memory", "crashed")
"""Ends whose last line says more."""

LONGEST = 120
"""Letters of an error that are shown."""

DOCUMENTS = (".md", ".rst", ".html")
"""Suffixes of documents, which quote logs: what stands below a quotation belongs to the text."""

CUT = "truncated"
"""Mark of a record that stops before its end."""


EVENT: Mapping[str, pl.DataType] = {
    "source": pl.String(), "line": pl.UInt32(), "event": pl.String(), "iteration": pl.Int64(),
    "text": pl.String(),
}  # fmt: skip
"""Columns of events; a frame may lack the last two."""


class Ending(NamedTuple):
    """`event` is a key of `WORDS`, or None where nothing tells; `saved` a step to go on from."""

    event: str | None = None
    text: str | None = None
    saved: int | None = None
    cut: bool = False

    def said(self, done: int | None, planned: int | None) -> str | None:
        """In words, for a run that has come to a step of a schedule; None if nothing is known.

        >>> Ending("crashed", "NCCL error", 80).said(90, 1000)
        'crashed at iteration 90 of 1,000: NCCL error; checkpoint of iteration 80'
        >>> Ending().said(1000, 1000), Ending().said(90, 1000), Ending().said(None, None)
        ('finished', 'iteration 90 of 1,000', None)
        """
        whole = done is not None and planned is not None and done >= planned
        at = "" if done is None else f"iteration {done:,}" + (f" of {planned:,}" if planned else "")
        if self.event == "finished" or (whole and self.event in (None, "stopped")):
            words = "finished" if whole or not at else f"finished at {at}"
        elif self.event:
            words = f"{WORDS[self.event]} at {at}" if at else WORDS[self.event]
        elif self.cut:
            words = f"cut off in the middle{f', {at}' if at else ''}"
        else:
            words = at if planned else ""
        if self.event in TOLD and self.text:
            words += f": {_short(self.text)}"
        if self.saved is not None and not whole:
            words += f"{'; ' if words else ''}checkpoint of iteration {self.saved:,}"
        return words or None


def ending(reading: Reading, held: Steps) -> Ending:
    """How a run ended: the gravest event behind its last step, before another part begins."""
    if held.every.is_empty():
        return Ending()
    end = held.every
    if isinstance(end, OnDisk):
        end = end.slice(end.height - 1, 1)
    last = {name: end[name][-1] for name in ("source", "line", "mark")}
    cut = last["mark"] == CUT
    found: list[pl.DataFrame] = []
    if uncompressed(last["source"]).endswith(DOCUMENTS):
        return Ending(cut=cut)
    for mine in of_run(reading, "event", held.run):
        found.append(
            mine.select(
                pl.col(name).cast(kind) if name in mine.columns else pl.lit(None, kind).alias(name)
                for name, kind in EVENT.items()
            )
        )
    summed = totals(reading, held.run)
    over = bool(summed) and summed["line"] > last["line"]
    if not found:
        return Ending("finished" if over else None, cut=cut and not over)
    events = pl.concat(found)
    behind = events.filter(
        pl.col("source") == last["source"], pl.col("line") >= last["line"],
        pl.col("event").is_in(list(WORDS)),
    )  # fmt: skip
    rank = {name: at for at, name in enumerate(WORDS)}
    either = behind.filter(pl.col("event").is_in(FOLLOW)).sort("line", maintain_order=True)
    if either.height and either["event"][0] == "crashed":
        behind = behind.filter(pl.col("event") != "cancelled")
    said = sorted(behind.select("event", "line", "text").iter_rows(),
                  key=lambda row: (rank[row[0]], -row[1]))  # fmt: skip
    event, _, text = said[0] if said else ("finished" if over else None, 0, None)
    return Ending(event, text, _saved(events, held), cut and event is None)


def totals(reading: Reading, run: str) -> Mapping[str, Any]:
    """The last row of totals of the training of a run; empty where none is printed."""
    rows = [
        row
        for mine in of_run(reading, "total", run)
        for row in mine.filter(pl.col("phase") == "training").iter_rows(named=True)
    ]
    return max(rows, key=lambda row: row["line"], default={})


def _saved(events: pl.DataFrame, held: Steps) -> int | None:
    """The last iteration that was saved and is no later than the last that ran."""
    kept = events.filter(pl.col("event") == "checkpoint")["iteration"].drop_nulls()
    steps = held.rows["iteration"] if "iteration" in held.rows.columns else None
    if steps is None or steps.max() is None:
        return None
    return kept.filter(kept <= steps.max()).max()  # type: ignore[return-value]


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= LONGEST else f"{plain[: LONGEST - 1]}…"
