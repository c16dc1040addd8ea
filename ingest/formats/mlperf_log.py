"""Events of a submission to MLPerf: `:::MLLOG {"time_ms": …, "key": "tracked_stats", …}`.

In: such lines, of any rank. Out: one record per event: settings in one frame, what was measured and
when in the other. Settings of the run (batch, length of sequences) are bound to the rows below.
What counts the run on is printed in samples by some submitters and in tokens by others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from assay.ingest.lines.lark import Token, Tree, parse_line, terminal_of
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import logged, named
from assay.ingest.schema.format import Folded, Format, Region
from assay.ingest.schema.record import Cell, Code, Diagnostic, Line, Record, Span, Statement


class MlperfEvent(Configuration):
    """One event of the run: a statistic, a loss, an evaluation, the begin or end of a part."""

    key: str = named(nullable=False, meaning="what happened")
    logged_at: float = logged(
        {"time_ms": 1e-3}, kind="exact", unit="s", ge=0, meaning="seconds since 1970"
    )
    counted: int = logged(
        ["step", "samples_count", "epoch_num"], kind="exact", ge=0, nullable=True,
        meaning="samples or tokens so far, as the submitter counts",
    )  # fmt: skip
    step_time: float = logged(
        {"train_step_timing": 1}, unit="s", quantity="step_time", gt=0, nullable=True, role="time"
    )
    lm_loss: float = logged(["reduced_train_loss", "train_loss"], nullable=True, role="loss")
    eval_accuracy: float = logged(["eval_accuracy"], nullable=True)
    status: str = named(meaning="how a part ended")

    class Config:
        """Meaning of the rows."""

        metadata = {"rows": "step"}


class MlperfSetting(Configuration):
    """One setting of the run, as it is printed."""

    key: str = named(nullable=False)
    value: str = named(nullable=False)

    class Config:
        """Meaning of the rows."""

        metadata = {"rows": "note"}


STATED = {
    "global_batch_size": "global_batch", "max_sequence_length": "seq_len",
    "gradient_accumulation_steps": "accumulation",
}  # fmt: skip
"""Keys of settings that are configuration."""

MEASURED = {"tracked_stats", "train_loss", "eval_accuracy"}

_PARTS = re.compile(r".*_(?:start|stop)|cache_clear|weights_initialization")


@cache
def _mark() -> re.Pattern[str]:
    return re.compile(terminal_of("mlperf_log", "MARK"))


def fold(region: Region) -> Folded:
    """Every event, and what the settings say of the rows below."""
    folded = Folded(parts=set())
    for line in region.lines:
        if not _mark().match(line.text) or line.number in region.read:
            continue
        span = Span(region.source.name, line.number, line.column)
        tree = parse_line("mlperf_log", "event_line", line.text.rstrip(), span)
        if isinstance(tree, Diagnostic):
            folded.refused.append(tree._replace(text=line.text))
            continue
        held = dict(_flat(tree, line))
        if "key" not in held or "time_ms" not in held:
            folded.refused.append(_incomplete(span, line))
            continue
        folded.records.append(_record(line, held))
        folded.claimed.add(line.number)
        assert folded.parts is not None
        folded.parts.add((line.number, line.column))
        stated = STATED.get(held["key"].text)
        if stated and "value" in held and re.fullmatch("[0-9]+", held["value"].text):
            cell = held["value"]._replace(value_origin="stated")
            folded.statements.append(Statement(line.number, (), {stated: cell}, of_run=True))
        if held["key"].text == "submission_platform" and "value" in held:
            said = _platform(held["value"]._replace(value_origin="stated"))
            folded.statements.append(Statement(line.number, (), said, of_run=True))
    return folded


_SYSTEMS = re.compile(r"([0-9]+) ?[x×] ?(?:NVIDIA )?[DH]GX")


def _platform(cell: Cell) -> dict[str, Cell]:
    """Device of a platform, and how many nodes of it: `64xNVIDIA DGX H100`."""
    systems = _SYSTEMS.match(cell.text)
    return {"gpu": cell} | ({"nodes": cell._replace(text=systems[1])} if systems else {})


def _incomplete(span: Span, line: Line) -> Diagnostic:
    return Diagnostic(span, Code.SYNTAX, "an event without a key or a time", line.text)


def _flat(tree: Tree[Token], line: Line) -> Iterator[tuple[str, Cell]]:
    """Every name with its value, those of inner objects too; the first of a name counts."""
    seen: set[str] = set()
    for pair in tree.iter_subtrees_topdown():  # type: ignore[no-untyped-call]
        if pair.data != "pair":
            continue
        name = str(pair.children[0]).strip('"')
        value = pair.children[2]
        if value.data not in ("number", "text", "word") or name in seen:
            continue
        seen.add(name)
        token = value.children[0]
        quoted = token.startswith('"')
        at = line.column + (token.start_pos or 0) + quoted
        yield name, Cell(str(token)[1:-1] if quoted else str(token), line.number, at)


_KEPT_APART = {"key", "time_ms", "value", "namespace", "event_type", "file", "lineno"}


def _record(line: Line, held: dict[str, Cell]) -> Record:
    key = held["key"].text
    record = Record(line.number, {"key": held["key"]}, line.column, prefix=dict(line.prefix))
    value = held.get("value")
    if key not in MEASURED and not _PARTS.fullmatch(key):
        record.frame = "mlperf_setting"
        record.cells["value"] = value or Cell("null", line.number, line.column)
        return record
    record.frame = "mlperf_event"
    record.cells["logged_at"] = held["time_ms"]._replace(scale=1e-3)
    names = {"train_step_timing": "step_time", "reduced_train_loss": "lm_loss", "status": "status",
             "step": "counted", "samples_count": "counted", "epoch_num": "counted"}  # fmt: skip
    if value is not None and key in ("train_loss", "eval_accuracy"):
        record.cells["lm_loss" if key == "train_loss" else key] = value
    for name, cell in held.items():
        column = names.get(name)
        if column and column not in record.cells:
            record.cells[column] = cell
        elif name not in _KEPT_APART and name not in MEASURED:
            record.other.append((name, cell.text))
    return record


FORMAT = Format(
    name="mlperf_log",
    heads=(":::MLLOG",),
    schemas={"mlperf_event": MlperfEvent, "mlperf_setting": MlperfSetting},
    origin="measured",
    fold=fold,
)
