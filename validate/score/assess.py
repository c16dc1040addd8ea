"""The whole path: inputs in, everything that a report shows out. Writers only lay it out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import polars as pl
from assay.ingest.inputs.chunks import Watch, unwatched
from assay.ingest.inputs.read import read
from assay.ingest.schema.format import Format
from assay.ingest.schema.reading import Outcome
from assay.model.schedule import STEP
from assay.model.stacks.stack import Stack
from assay.validate.arithmetic.decided import Decided
from assay.validate.arithmetic.identity_check import as_predictions
from assay.validate.arithmetic.implied import Arithmetic
from assay.validate.arithmetic.printed_runs import MEASURED
from assay.validate.arithmetic.repeats import published, repeats
from assay.validate.cases.cases import Cases, cases, observed_in
from assay.validate.cases.observe import about
from assay.validate.cases.solved_shape import with_shapes
from assay.validate.cases.steps import unsettled
from assay.validate.cases.unsaid import with_unsaid
from assay.validate.laws.finding import Finding
from assay.validate.laws.laws import findings
from assay.validate.predict import kernel_forecasts
from assay.validate.predict.forecasts import Asked
from assay.validate.predict.models import Registered, named, predict
from assay.validate.predict.predictions import load
from assay.validate.predict.step_forecast import fitted
from assay.validate.score.accuracy import Scores, score, scored
from assay.validate.score.copies import copies, relogged, remeasured
from assay.validate.score.corrections import contradicted, corrected
from assay.validate.score.every_row import every_row
from assay.validate.score.join import Comparison, compare


@dataclass(frozen=True)
class Understood:
    """Cases and numbers that were read: which of them count, which contradict themselves."""

    outcome: Outcome
    cases: Cases
    observations: pl.DataFrame
    counted: pl.DataFrame  # the observations that count
    left_out: pl.DataFrame  # case, quantity of those that do not: contradicted, repeats, warm-up
    checks: pl.DataFrame
    contradicted: pl.DataFrame  # case, quantity: left out, or empty where they are kept
    repeats: pl.DataFrame
    findings: Sequence[Finding]
    machine: str | None  # what the caller says of inputs that do not name theirs
    decided: Sequence[Decided]  # fields that numbers decided, or took back
    settled: bool = True  # whether steps that have not settled are left out

    def whole(self, part: pl.DataFrame) -> pl.DataFrame:
        """Pairs of one scope, quantity, model and origin with those that they stand for."""
        if part.is_empty():
            return part
        reading = self.outcome.reading
        return every_row(part, str(part["quantity"][0]), reading, settled=self.settled)

    def asked(self, stack: Stack | None = None) -> Asked:
        """The question to models; `stack` replaces the packaged calibrated kernels."""
        whole, beside = self.cases.trained_whole(), self.cases.trained_beside()
        return Asked(whole, self.observations, self.counted, self.machine, stack, beside)


@dataclass(frozen=True, kw_only=True)
class Report(Understood):
    """Everything understood, with predictions, their errors, and the numbers left over."""

    comparison: Comparison
    fitted: pl.DataFrame  # case: rows that the caller's stack has seen; no accuracy of it
    scored: pl.DataFrame  # the pairs that count
    scores: Scores
    models: Sequence[Registered]
    stack: Stack | None = None  # the caller's own, instead of the packaged ones
    hide: Callable[[str], str] = str  # what a line of an input goes through before it is shown


def assess(
    paths: Iterable[str | Path],
    *,
    machine: str | None = None,
    given: Mapping[str, str] | None = None,
    models: Iterable[str] = (),
    predictions: Path | None = None,
    formats: Sequence[Format] | None = None,
    stack: Stack | None = None,
    workers: int | None = 1,
    watch: Watch = unwatched,
    keep_contradicted: bool = False,
    apply_corrections: bool = False,
    all_rows: bool = False,
    every_row: bool = False,
) -> Report:
    """Read `paths`, predict what can be predicted, and compare.

    `machine` is assumed where an input does not say its device; `given` are configuration values
    that overrule what is printed, by column; `stack` replaces the packaged
    calibrated kernels; `workers` processes read the inputs (None: as many as it is worth), and
    `watch` is told of what is read. Rows with an error among their findings are not scored unless
    `keep_contradicted`; `apply_corrections` scores them with the values that the arithmetic
    implies, where it implies one. Steps of a run that have not settled are scored with `all_rows`
    only. Of a long input the rows that tell something new are looked at one by one; with
    `every_row` all are, in memory that grows with them. Raises LookupError for an unknown model or
    machine, ValueError for a predictions file that cannot be joined.
    """
    asked = named(models)
    stated: Mapping[str, str] = {"gpu": machine} if machine else {}
    outcome = read(
        paths, stated=stated, formats=formats, workers=workers, watch=watch, long=not every_row
    )
    known = understand(
        outcome,
        machine=machine,
        given=given,
        keep_contradicted=keep_contradicted,
        apply_corrections=apply_corrections,
        all_rows=all_rows,
    )
    predicted = predict(known.asked(stack), asked)
    if predictions is not None:
        predicted = pl.concat([predicted, load(predictions, known.cases)])
    return against(known, predicted, asked, stack)


def understand(
    outcome: Outcome,
    *,
    machine: str | None = None,
    given: Mapping[str, str] | None = None,
    keep_contradicted: bool = False,
    apply_corrections: bool = False,
    all_rows: bool = False,
) -> Understood:
    """The cases and numbers of what was read; the options are those of `assess`."""
    frames = about(outcome.reading.formats)
    bare = with_shapes(cases(outcome.reading, frames, machine=machine, given=given))
    observations = observed_in(bare)
    known = Arithmetic.of(bare, observations)
    found = findings(outcome.reading, known)
    wrong = contradicted([] if keep_contradicted else found)
    if apply_corrections:
        bare, observations = corrected(bare, observations, found)
        left = [] if keep_contradicted else [each for each in found if not each.correction]
        wrong = contradicted(left)
        known = Arithmetic.of(bare, observations)
    again = _again(known, outcome)
    exchanged = pl.concat([again.filter(how="exchanged")["case"], _exchanged_copies(again)])
    early = unsettled(outcome.reading) if not all_rows else pl.Series("case", [], pl.String)
    left_out = _left_out(known.observations, wrong, again, early)
    counted = known.observations.join(left_out, on=["case", "quantity"], how="anti",
                                      maintain_order="left")  # fmt: skip
    return Understood(
        outcome=outcome,
        cases=with_unsaid(known.cases, known.observations),
        observations=known.observations,
        counted=counted,
        left_out=left_out,
        checks=known.checks.with_columns(exchanged=pl.col("case").is_in(exchanged.implode())),
        contradicted=wrong,
        repeats=again,
        findings=found,
        machine=machine,
        decided=known.decided,
        settled=not all_rows,
    )


def against(
    known: Understood,
    predicted: pl.DataFrame,
    models: Sequence[Registered],
    stack: Stack | None = None,
) -> Report:
    """Report of what was understood beside a frame of `PREDICTION`, made by `models` and others.

    `stack` is the caller's own, where one was used. Raises Unjoinable where units differ or a
    model predicts one number twice.
    """
    implied = as_predictions(known.checks)
    comparison = compare(known.observations, pl.concat([predicted, implied]))
    asked = known.asked(stack)
    steps, kernels = fitted(asked), kernel_forecasts.fitted(asked)
    count = scored(comparison.pairs, known.left_out, identities=implied["model"].unique())
    count = count.filter(
        ~((pl.col("model") == STEP.name) & pl.col("case").is_in(steps["case"].implode()))
    )
    known_to = kernels.with_columns(model=pl.lit(kernel_forecasts.LABEL))
    count = count.join(known_to, on=["case", "scope", "model"], how="anti", maintain_order="left")
    groups = pl.concat(
        [frame.select("case", "group") for frame in (known.cases.configuration, known.cases.gemm)]
    )
    held = {field.name: getattr(known, field.name) for field in fields(Understood)}
    return Report(
        **held,
        comparison=comparison,
        fitted=pl.concat([steps, kernels.select("case")]).unique(maintain_order=True),
        scored=count,
        scores=score(count, groups, known.whole),
        models=models,
        stack=stack,
    )


def _again(known: Arithmetic, outcome: Outcome) -> pl.DataFrame:
    """Cases that are no measurement of their own, each with the one that it is."""
    frames = (known.cases.configuration, known.cases.gemm)
    copied = copies(known.observations, frames, outcome.reading.accounting)
    own = known.observations.join(copied, on="case", how="anti", maintain_order="left")
    tables = published(known.runs, outcome.reading)
    whole = tables.join(copied, on="case", how="anti", maintain_order="left")
    others = [
        known.repeated if whole.height == tables.height else repeats(whole),
        relogged(outcome.reading.frames, known.cases.configuration),
        remeasured(own, known.cases.gemm),
    ]
    return pl.concat([copied, *others]).unique("case", keep="first", maintain_order=True)


def _exchanged_copies(again: pl.DataFrame) -> pl.Series:
    """Copies of rows with exchanged values: the same cells of them are no equals."""
    first = again.filter(how="exchanged").select(of="case")
    return again.filter(how="copy").join(first, on="of", how="semi")["case"]


def _left_out(
    observations: pl.DataFrame, contradicted: pl.DataFrame, again: pl.DataFrame, early: pl.Series
) -> pl.DataFrame:
    """case, quantity of what no model is judged by: contradicted, repeated, or not settled yet."""
    repeated = observations.join(again, on="case", how="semi").select("case", "quantity")
    warming = observations.filter(
        pl.col("case").is_in(early.implode()) & pl.col("quantity").is_in(MEASURED)
        & (pl.col("quantity") != "memory")
    ).select("case", "quantity")  # fmt: skip
    return pl.concat([contradicted.select("case", "quantity"), repeated, warming]).unique()
