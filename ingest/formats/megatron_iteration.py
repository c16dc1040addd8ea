"""Megatron training lines: `iteration N/ M | elapsed time per iteration (ms): … | …`.

In: lines with the word `iteration`. Out: one record per line whose head is `iteration N/ M |`.
Fields come in any order, any may be missing, unknown ones are kept in `other`.
"""

from __future__ import annotations

import re

from assay.ingest.formats.configuration import Configuration
from assay.ingest.parse import Token, Tree, parse_line, terminal
from assay.ingest.schema import by_label, logged, normalise
from assay.ingest.types import Cell, Code, Diagnostic, Folded, Format, Line, Record, Region, Span


class MegatronIteration(Configuration):
    """Times and rates are means over the iterations since the previous line."""

    iteration: int = logged(kind="exact", ge=0, meaning="iteration number")
    train_iters: int = logged(kind="exact", ge=1, meaning="iterations of the schedule")
    consumed_samples: int = logged(["consumed samples"], kind="exact", ge=0, nullable=True)
    consumed_tokens: int = logged(["consumed tokens"], kind="exact", ge=0, nullable=True)
    step_time: float = logged(
        {
            "elapsed time per iteration (s)": 1,
            "elapsed time per iteration (ms)": 1e-3,
            "iteration time (s)": 1,
            "iteration time (ms)": 1e-3,
        },
        unit="s", quantity="step_time", gt=0, nullable=True, meaning="time of one iteration",
    )  # fmt: skip
    learning_rate: float = logged(["learning rate", "lr"], nullable=True)
    lm_loss: float = logged(["lm loss"], nullable=True, meaning="language-model loss")
    loss_scale: float = logged(["loss scale"], ge=0, nullable=True)
    grad_norm: float = logged(["grad norm"], nullable=True)
    params_norm: float = logged(["params norm"], nullable=True)
    num_zeros: float = logged(["num zeros"], ge=0, nullable=True)
    skipped_iterations: int = logged(
        ["number of skipped iterations"], kind="exact", ge=0, nullable=True
    )
    nan_iterations: int = logged(["number of nan iterations"], kind="exact", ge=0, nullable=True)
    samples_per_s: float = logged(
        ["samples per second", "samples/sec"],
        unit="sample/s", quantity="samples_per_s", gt=0, nullable=True,
    )  # fmt: skip
    tokens_per_gpu_per_s: float = logged(
        ["tokens per gpu per second (tgs)", "tokens per gpu per second"],
        unit="token/s", quantity="tokens_per_gpu_per_s", gt=0, nullable=True,
    )  # fmt: skip
    model_flops_rate: float = logged(
        {"TFLOPs": 1e12, "throughput per GPU (TFLOP/s/GPU)": 1e12, "compute per GPU": 1e12},
        unit="flop/s", quantity="model_flops_rate", gt=0, nullable=True,
        meaning="model FLOPs per second and GPU, by the framework's own formula",
    )  # fmt: skip
    actual_seq_len: int = logged(
        ["actual seqlen", "actual seq length"], kind="exact", ge=1, unit="token", nullable=True
    )


def fold(region: Region) -> Folded:
    """Every line with a record head, parsed; what does not parse is refused."""
    folded = Folded()
    claims = re.compile(rf"(?:[^|]*[:=][^|]*\|\s*)?{terminal('HEAD', 'megatron_iteration')}")
    for line in region.lines:
        if not claims.match(line.text):
            continue
        span = Span(region.source.name, line.number, line.column)
        tree = parse_line("megatron_iteration", "iteration_line", line.text.rstrip(), span)
        if isinstance(tree, Diagnostic):
            folded.refused.append(tree._replace(text=line.text))
            continue
        record, remark = _record(region, line, tree)
        folded.records.append(record)
        folded.claimed.add(line.number)
        if remark:
            folded.remarks.append(remark)
    return folded


def _record(region: Region, line: Line, tree: Tree[Token]) -> tuple[Record, Diagnostic | None]:
    record = Record(line.number, {}, line.column, prefix=line.prefix)
    parts = [part for part in tree.children if isinstance(part, Tree)]
    closed = isinstance(tree.children[-1], Token)  # the line ends with a bar
    cut = region.source.cut(line.number) and not closed
    for part in parts:
        tokens = {t.type: t for t in part.scan_values(lambda value: isinstance(value, Token))}
        last = part is parts[-1] and not closed
        if part.data == "head":
            for child in part.find_pred(lambda t: t.data in ("iteration", "train_iters")):
                token = child.children[0]
                assert isinstance(token, Token)
                record.cells[child.data] = _cell(line, token)
        elif part.data == "label":
            if last:
                return record, _truncated(region, line, record, str(tokens["KEY"]))
            record.other.append((str(tokens["KEY"]).strip(), ""))
        elif last and cut:
            return record, _truncated(region, line, record, str(tokens["KEY"]))
        else:
            _metric(record, line, tokens["KEY"], tokens["VALUE"])
    return record, None


def _metric(record: Record, line: Line, key: Token, value: Token) -> None:
    found = by_label(MegatronIteration).get(normalise(key))
    if found is None or found[0].name in record.cells:
        record.other.append((key.strip(), str(value)))
        return
    spec, scale = found
    record.cells[spec.name] = _cell(line, value, scale)


def _cell(line: Line, token: Token, scale: float = 1.0) -> Cell:
    return Cell(str(token), line.number, line.column + (token.start_pos or 0), scale)


def _truncated(region: Region, line: Line, record: Record, label: str) -> Diagnostic:
    record.mark = "truncated"
    span = Span(region.source.name, line.number, line.column + len(line.text.rstrip()))
    message = f"the record is cut off at {label.strip()!r}; the cells before it stand"
    return Diagnostic(span, Code.TRUNCATED, message, line.text)


FORMAT = Format(
    name="megatron_iteration",
    heads=("iteration",),
    schemas={"megatron_iteration": MegatronIteration},
    origin="measured",
    fold=fold,
)
