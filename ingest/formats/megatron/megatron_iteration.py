"""Megatron training lines: `iteration N/ M | elapsed time per iteration (ms): … | …`.

In: lines with the word `iteration`. Out: one record per line whose head is `iteration N/ M |`.
Fields come in any order, any may be missing, unknown ones are kept in `other`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from assay.ingest.lines.lark import Token, Tree, parse_alike, terminal_of
from assay.ingest.lines.metrics import put
from assay.ingest.lines.repair import (
    DIGITS,
    REACH,
    Pieces,
    begins_any,
    begins_record,
    continues,
    whole,
)
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import fields, logged, measured
from assay.ingest.schema.format import CellLayout, Folded, Follower, Format, Reach, Region
from assay.ingest.schema.record import Cell, Code, Diagnostic, Record, Span
from assay.ingest.schema.terminals import terminal

GIB_AS_GB = 2.0**30 / 1e9
"""Fields that divide by 1024³ and print `GB`: a device of 256 GiB shows as 255.98GB."""


class MegatronIteration(Configuration):
    """Times and rates are means over the iterations since the previous line.

    Where a line prints a pair `8400.2/8512.9`, the first is that mean, the second the mean since
    the start of the run, kept in the column that ends with `_average`.
    """

    iteration: int = logged(kind="exact", ge=0, role="counter", meaning="iteration number")
    train_iters: int = logged(
        kind="exact", ge=1, role="schedule", meaning="iterations of the schedule"
    )
    consumed_samples: int = logged(["consumed samples"], kind="exact", ge=0, nullable=True)
    consumed_tokens: int = logged(["consumed tokens"], kind="exact", ge=0, nullable=True)
    step_time: float = measured(gt=0, meaning="time of one iteration")
    step_time_average: float = logged(unit="s", gt=0, nullable=True)
    learning_rate: float = logged(["learning rate", "lr"], nullable=True)
    lm_loss: float = logged(
        known=True,
        nullable=True,
        meaning="language-model loss",
    )
    loss_scale: float = logged(["loss scale"], ge=0, nullable=True)
    grad_norm: float = logged(["grad norm"], nullable=True)
    params_norm: float = logged(["params norm"], nullable=True)
    num_zeros: float = logged(["num zeros"], ge=0, nullable=True)
    load_balancing_loss: float = logged(["load balancing loss"], nullable=True)
    sop_loss: float = logged(["sop loss"], nullable=True, meaning="sentence-order loss of BERT")
    skipped_iterations: int = logged(
        ["number of skipped iterations"], kind="exact", ge=0, nullable=True, role="skipped"
    )
    nan_iterations: int = logged(
        ["number of nan iterations"], kind="exact", ge=0, nullable=True, role="nan"
    )
    samples_per_s: float = measured(ge=0)
    tokens_per_gpu_per_s: float = measured(ge=0)
    tokens_per_gpu_per_s_average: float = logged(unit="token/s", ge=0, nullable=True)
    tokens_per_s: float = measured(ge=0)
    model_flops_rate: float = measured(
        ge=0, meaning="model FLOPs per second and GPU, by the framework's own formula"
    )
    model_flops_rate_average: float = logged(unit="flop/s", ge=0, nullable=True)
    memory_used: float = logged(
        dict.fromkeys(
            ["hip mem usage", "rocm mem usage", "cuda mem usage", "gpu mem usage"], GIB_AS_GB
        ),
        unit="B", ge=0, nullable=True, meaning="memory in use on the device, by its driver",
    )  # fmt: skip
    memory_free: float = logged(
        dict.fromkeys(
            ["hip mem free", "rocm mem free", "cuda mem free", "gpu mem free"], GIB_AS_GB
        ),
        unit="B", ge=0, nullable=True,
    )  # fmt: skip
    memory_total: float = logged(
        dict.fromkeys(
            ["hip mem total", "rocm mem total", "cuda mem total", "gpu mem total"], GIB_AS_GB
        ),
        unit="B", gt=0, nullable=True,
    )  # fmt: skip
    memory_fraction: float = logged(
        [
            "hip mem usage_ratio", "rocm mem usage_ratio", "cuda mem usage_ratio",
            "gpu mem usage_ratio", "mem usages",
        ],
        unit="1", ge=0, nullable=True,
    )  # fmt: skip
    max_allocated: float = logged(
        {"max memory allocated": 1}, unit="B", ge=0, nullable=True,
        meaning="peak of what tensors held, on the rank that prints",
    )  # fmt: skip
    max_reserved: float = logged(
        {"max memory reserved": 1, "memory (GiB)": 2.0**30}, unit="B", ge=0, nullable=True,
        meaning="peak of what the allocator took from the device",
    )  # fmt: skip
    energy_per_gpu: float = logged(
        ["energy per GPU (J/iter/GPU)"], unit="J", ge=0, nullable=True, meaning="of one iteration"
    )
    power_per_gpu: float = logged(["power per GPU (W/GPU)"], unit="W", ge=0, nullable=True)
    actual_seq_len: int = logged(
        ["actual seqlen", "actual seq length"], kind="exact", ge=1, unit="token", nullable=True
    )

    class Config:
        """Meaning of the rows."""

        metadata = {"rows": "step", "framework": "Megatron"}


@cache
def _claims() -> re.Pattern[str]:
    """A record: its head, after nothing, an arrow or a bracket unknown to us, or one metric."""
    head = terminal_of("megatron_iteration", "HEAD")
    return re.compile(
        rf"((?:[=-]+>\s*)?(?:[\[(<{{][^][(){{}}<>|]{{0,60}}[\])>}}]:?\s*){{0,8}})(?:[^|:=]*[:=][^|]*\|\s*)?{head}"
    )


def fold(region: Region) -> Folded:
    """Every line with a record head, parsed; what does not parse is refused.

    A record that is torn over several lines is put together, marked `repaired`, and told of.
    """
    parts: set[tuple[int, int]] = set()
    folded = Folded(parts=parts)
    for at, line in enumerate(region.lines):
        claim = _claims().match(line.text)
        if not claim or line.number in region.read:
            continue
        begin = claim.end(1)
        first = line._replace(text=line.text[begin:], column=line.column + begin)
        pieces = whole([first, *region.lines[at + 1 : at + 1 + REACH]], MegatronIteration)
        span = Span(region.source.name, first.number, first.column)
        tree = parse_alike("megatron_iteration", "iteration_line", pieces.text, span)
        if isinstance(tree, Diagnostic):
            folded.refused.append(tree._replace(text=first.text))
            continue
        record, remark = _record(region, pieces, tree)
        folded.records.append(record)
        folded.claimed |= {piece.number for piece in pieces.lines}
        parts |= {(piece.number, piece.column) for piece in pieces.lines}
        if len(pieces.lines) > 1:
            folded.remarks.append(_repaired(region, pieces, record))
        if remark:
            folded.remarks.append(remark)
    return folded


def _record(region: Region, pieces: Pieces, tree: Tree[Token]) -> tuple[Record, Diagnostic | None]:
    first = pieces.lines[0]
    record = Record(first.number, {}, first.column, prefix=first.prefix)
    parts = list(_parts(tree))
    closed = isinstance(tree.children[-1], Token)  # the line ends with a bar
    cut = region.cut(pieces.lines[-1]) and not closed
    for part in parts:
        tokens = {t.type: t for t in part.scan_values(lambda value: isinstance(value, Token))}
        last = part is parts[-1] and not closed
        if part.data == "head":
            for child in part.find_pred(lambda t: t.data in ("iteration", "train_iters")):
                token = child.children[0]
                assert isinstance(token, Token)
                place = pieces.place(token.start_pos or 0)
                record.cells[child.data] = Cell(str(token), *place)
        elif part.data == "label":
            if last:
                return record, _truncated(region, pieces, record, str(tokens["KEY"]))
            _without_colon(record, pieces, tokens["KEY"])
        elif last and cut:
            return record, _truncated(region, pieces, record, str(next(iter(tokens.values()))))
        elif part.data == "bare":
            record.other.append(("", str(tokens["AMOUNT"])))
        else:
            value = tokens.get("VALUE") or tokens["QUANTITY"]
            line, at = pieces.place(value.start_pos or 0)
            put(record, MegatronIteration, tokens["KEY"], str(value), at, line)
    return record, None


_LABEL_VALUE = re.compile(r"(.*\S)\s+(\S+)\s*")


def _without_colon(record: Record, pieces: Pieces, text: Token) -> None:
    """A cell without a separator: a label alone, or one and a number, as lines of 2019 have it."""
    said = _LABEL_VALUE.fullmatch(text)
    if said is None or not re.fullmatch(terminal("NUMBER"), said[2]):
        record.other.append((text.strip(), ""))
        return
    line, at = pieces.place((text.start_pos or 0) + said.start(2))
    put(record, MegatronIteration, said[1], said[2], at, line)


def _parts(tree: Tree[Token]) -> Iterator[Tree[Token]]:
    """Head, metrics and labels of a line, in order."""
    for part in tree.children:
        if isinstance(part, Tree):
            yield from _parts(part) if part.data == "cell" else (part,)


def _truncated(region: Region, pieces: Pieces, record: Record, label: str) -> Diagnostic:
    record.mark = "truncated"
    last = pieces.lines[-1]
    span = Span(region.source.name, last.number, last.column + len(last.text.rstrip()))
    message = f"the record is cut off at {label.strip()!r}; the cells before it stand"
    return Diagnostic(span, Code.TRUNCATED, message, last.text)


def _repaired(region: Region, pieces: Pieces, record: Record) -> Diagnostic:
    record.mark = "repaired"
    first = pieces.lines[0]
    numbers = ", ".join(str(piece.number) for piece in pieces.lines[1:])
    message = f"the record is torn; it goes on in line {numbers}"
    return Diagnostic(
        Span(region.source.name, first.number, first.column), Code.REPAIRED, message, pieces.text
    )


def goes_on(text: str, more: str) -> Follower:
    """Relation of a line to the record above it, neither torn nor cut, whatever its numbers."""
    if begins_record(more):
        return "ends"
    if begins_any(more):
        return "passed"
    if text.endswith("|"):
        return "joins" if continues(text, more, MegatronIteration) else "ends"
    first = more.split("|", maxsplit=1)[0].strip()
    return "joins" if not first or DIGITS.fullmatch(first) else "ends"


def may_go_on(text: str) -> str:
    """A record; digits and a bar where a cell is left open."""
    record = terminal("SEAM")
    return record if text.endswith("|") else record + r"|(?:^|[\s\]:>)])[0-9.eE+-]*\s*(?:\||$)"


_OPENS = r"iteration\s*[=:]?\s*[0-9]+\s*/"
"""Text that every line with a record holds."""

FORMAT = Format(
    name="megatron_iteration",
    heads=("iteration",),
    schemas={"megatron_iteration": MegatronIteration},
    origin="measured",
    fold=fold,
    opens=_OPENS,
    reach={_OPENS: Reach(REACH)},
    glued=True,
    repeats=(
        "iteration",
        "train_iters",
        "consumed_samples",
        *(name for name, spec in fields(MegatronIteration).items() if spec.configuration),
    ),
    cells=CellLayout("|", REACH, goes_on, may_go_on),
)
