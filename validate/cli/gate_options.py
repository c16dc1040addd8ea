"""The gates of `assay report`: options in, verdicts on stderr, exit code out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from assay.validate.cli.exits import Exit
from assay.validate.cli.guard import Refusal, complain, write

if TYPE_CHECKING:
    from assay.validate.score.assess import Report
    from assay.validate.score.gates import Least, Limit, Verdict

MaxMape = Annotated[
    list[str] | None,
    typer.Option(
        "--max-mape",
        metavar="[SCOPE[.QUANTITY][@MODEL]=]P%",
        help="Fail where a mean absolute error is larger; may be repeated.",
    ),
]

MaxBias = Annotated[
    list[str] | None,
    typer.Option(
        "--max-bias",
        metavar="[SCOPE[.QUANTITY][@MODEL]=]P%",
        help="Fail where a mean error is larger, either way; may be repeated.",
    ),
]

Required = Annotated[
    list[str] | None,
    typer.Option(
        "--require",
        metavar="SCOPE.QUANTITY>=N",
        help="Fail where fewer rows are scored; may be repeated.",
    ),
]

Baseline = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.json",
        help="Fail where an error grew beyond the interval it has in this earlier report.",
    ),
]

Junit = Annotated[
    Path | None, typer.Option("--junit", metavar="FILE", help="Write what passed as JUnit XML.")
]


@dataclass(frozen=True)
class Gates:
    """Gates asked of a report, checked before anything is read."""

    limits: Sequence[Limit] = ()
    required: Sequence[Least] = ()
    baseline: Mapping[str, Any] | None = None
    junit: Path | None = None


def gates(
    max_mape: list[str] | None,
    max_bias: list[str] | None,
    require: list[str] | None,
    baseline: Path | None,
    junit: Path | None,
) -> Gates:
    """The gates of a command line; Refusal where one of them is none."""
    from assay.validate.score.gates import least, limit

    try:
        limits = [limit("mape", text) for text in max_mape or ()]
        limits += [limit("bias", text) for text in max_bias or ()]
        required = [least(text) for text in require or ()]
    except ValueError as fault:
        raise Refusal(str(fault)) from None
    earlier = _earlier(baseline) if baseline else None
    return Gates(limits, required, earlier, junit)


READ = {
    "accuracy": {"scope", "quantity", "model", "origin", "n", "mape", "ci_high"},
    "pairs": {"case", "scope", "subject", "quantity", "model", "origin", "error"},
}
"""Columns of an earlier report that gates look at."""


def _holds(rows: object, columns: set[str]) -> bool:
    return isinstance(rows, list) and all(
        isinstance(row, dict) and columns <= row.keys() for row in rows
    )


def _earlier(path: Path) -> Mapping[str, Any]:
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as fault:
        raise Refusal(f"--baseline: {path} cannot be used: {fault}") from None
    lists = report if isinstance(report, dict) else {}
    if not all(_holds(lists.get(name), columns) for name, columns in READ.items()):
        raise Refusal(f"--baseline: {path} is no report; `assay report … -o {path}` writes one")
    return lists


def settle(found: Report, asked: Gates, models: Sequence[str]) -> Exit:
    """Judge, say the verdicts on stderr, write the XML, and give the exit code."""
    from assay.validate.score.gates import exit_code, judge

    wanted = asked.limits or asked.required or asked.baseline is not None
    verdicts = judge(
        _scored(found) if wanted else {},
        limits=asked.limits,
        required=asked.required,
        baseline=asked.baseline,
        yardsticks={model.name for model in found.models if model.baseline} - set(models),
        models=[*models, *found.scores.accuracy["model"]] if models else (),
    )
    for verdict in verdicts:
        complain(str(verdict))
    if asked.junit:
        write(asked.junit, _xml(verdicts))
    return Exit(exit_code(verdicts))


def _scored(found: Report) -> dict[str, Any]:
    """The document with the scored pairs alone: others did not make the figures."""
    from assay.validate.report.json_document import document

    said = document(found)
    key = ("case", "scope", "subject", "quantity", "model")
    counted = set(found.scored.select(key).iter_rows())
    pairs = [pair for pair in said["pairs"] if tuple(pair[name] for name in key) in counted]
    return {**said, "pairs": pairs}


def _xml(verdicts: Sequence[Verdict]) -> str:
    from assay.validate.report.junit import Result, junit
    from assay.validate.score.gates import Status

    return junit(
        "assay report",
        [
            Result(
                suite=verdict.gate,
                name=verdict.about,
                failure=verdict.message if verdict.status is Status.FAILED else "",
                error=verdict.message if verdict.status is Status.EMPTY else "",
                details="\n".join(verdict.rows),
            )
            for verdict in verdicts
        ],
    )
