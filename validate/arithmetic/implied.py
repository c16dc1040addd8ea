"""The arithmetic of a reading: what printed numbers imply for each other, and for the cases.

In: cases and observations. Out: the one answer to every question of arithmetic: which formula a
rated row was computed by, under which peak, with which layers and vocabulary; which relations each
row keeps; the cases with what that fills in. Cases, `check`, the report's section of arithmetic and
corrections all ask here. Nothing here is a score: an implied value is made of printed ones. What
contradicts itself is for `assay.validate.laws.laws` to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from assay.validate.arithmetic import count_relations, speed_relations
from assay.validate.arithmetic.decided import Decided, decided, lengths
from assay.validate.arithmetic.following import (
    Choice,
    Followed,
    followed,
    of_one_gpu,
    other_formulas,
    with_speed,
)
from assay.validate.arithmetic.identity_check import CHECK, checks, equal
from assay.validate.arithmetic.printed_runs import MEASURED, UNITS, runs
from assay.validate.arithmetic.printed_speed import SAYS
from assay.validate.arithmetic.rated_rows import RATE, Array, Candidate
from assay.validate.arithmetic.relations import evaluate
from assay.validate.arithmetic.repeats import published, repeats
from assay.validate.arithmetic.suspects import RELATIONS
from assay.validate.cases.cases import Cases, observed_in
from assay.validate.cases.rules import ORIGINS

LAWS = (speed_relations.SAMPLES, speed_relations.TOKENS, speed_relations.PER_GPU)
"""Relations between numbers that say how fast a run was."""

IMPLIED = {
    "step_time": "GBS / samples per second",
    "samples_per_s": "GBS / step time, or tokens per second / sequence length",
    "tokens_per_s": "samples per second × sequence length",
    "tokens_per_gpu_per_s": "tokens per second / GPUs",
}
"""Law by which each of these numbers follows from another."""

PROVEN = 3
"""Rows of a document whose formula tells recomputation before its other rows are taken to agree."""


@dataclass(frozen=True)
class Arithmetic:
    """Everything that follows from the printed numbers of some cases, worked out when asked for.

    `given` are the cases before arithmetic; `observed` are their printed numbers, some of them
    perhaps corrected.
    """

    given: Cases
    observed: pl.DataFrame

    @classmethod
    def of(cls, known: Cases, observed: pl.DataFrame | None = None) -> Arithmetic:
        """The arithmetic of these cases, and of their printed numbers as they were read."""
        return cls(known, observed_in(known) if observed is None else observed)

    @cached_property
    def _printed(self) -> pl.DataFrame:
        table = runs(self.given.reading, self.given)
        if table.is_empty():
            return table
        return count_relations.prepared(_corrected(table, self.observed))

    @cached_property
    def decided(self) -> list[Decided]:
        """Groups of rows whose numbers decide a field that they do not print, or take it back."""
        return decided(self._printed, self.given.origins)

    @cached_property
    def repeated(self) -> pl.DataFrame:
        """Published rows that print an earlier one again; see `repeats.REPEAT`."""
        return repeats(published(self.runs, self.given.reading))

    @cached_property
    def _bare(self) -> pl.DataFrame:
        found = _lengths(self.decided)
        if found.is_empty():
            return self._printed
        known = self._printed.join(found, on="case", how="left", maintain_order="left")
        return known.with_columns(
            seq_len=pl.when(pl.col("law").is_null()).then("seq_len").otherwise("_found")
        ).drop("law", "_found")

    @cached_property
    def followed(self) -> list[Followed]:
        """Which formulas the tables follow, per printed quantity."""
        return followed(self._bare)

    @cached_property
    def choices(self) -> list[tuple[Followed, Choice]]:
        """Every choice of a formula with the rows it is about."""
        return [(each, choice) for each in self.followed for choice in each.choices]

    @cached_property
    def unknowns(self) -> pl.DataFrame:
        """case, layers, vocab, formula_id, alike: what formulas single out of rows that lack it.

        `alike` counts the different rows of the model that needed this layer count.
        """
        kinds = {"case": pl.String, "layers": pl.Int64, "vocab": pl.Int64, "formula_id": pl.String,
                 "says": pl.String, "quantity": pl.String, "model": pl.Float64, "met": pl.Boolean,
                 "printed": pl.Float64, "samples": pl.Float64}  # fmt: skip
        rows = [row for each, choice in self.choices for row in _singled_out(each, choice)]
        alone = pl.struct("printed", "samples").filter("met").n_unique()
        return (
            pl.DataFrame(rows, schema=kinds, orient="row")
            .with_columns(alike=alone.over("quantity", "model", "layers"))
            .unique("case", keep="first", maintain_order=True)
            .select("case", "layers", "vocab", "formula_id", "says", "alike")
        )

    @cached_property
    def runs(self) -> pl.DataFrame:
        """The run frame, with layers and vocabularies that formulas single out filled in."""
        return _with_unknowns(self._bare, self.unknowns)

    @cached_property
    def checked(self) -> pl.DataFrame:
        """Every relation of every run; see `relations.CHECKED`."""
        return evaluate(self.runs, RELATIONS)

    @cached_property
    def checks(self) -> pl.DataFrame:
        """Every printed number beside the one that others of its row imply; see `CHECK`.

        Where no formula reproduces a row of its table the nearest one stands.
        """
        rated = [_rated(each) for each in self.followed]
        parts = [pl.DataFrame(schema=CHECK), _speeds(self.checked, self.runs), *rated]
        known = self.observed.select("case", "quantity").unique()
        return (
            pl.concat(parts)
            .join(known, on=["case", "quantity"], how="semi", maintain_order="left")
            .sort("source", "line", "quantity", maintain_order=True)
        )

    @cached_property
    def observations(self) -> pl.DataFrame:
        """The printed numbers, each rate with the id of the formula it was computed by."""
        kept = equal().any().over("source", "group", "quantity")
        ids = self.checks.filter(pl.col("quantity").is_in(_RATED) & kept).select(
            "case", "quantity", "formula_id"
        )
        return self.observed.drop("formula_id").join(
            ids, on=["case", "quantity"], how="left", maintain_order="left"
        ).select(self.observed.columns)  # fmt: skip

    @cached_property
    def cases(self) -> Cases:
        """The cases with what only one value can satisfy."""
        found = _with_lengths(self.given, _lengths(self.decided))
        found = _with_vocabulary(_with_layers(found, self.unknowns), self.unknowns)
        return _consumption(_with_recomputation(found, self.checks), self.unknowns)


_RATED = (RATE, "mfu", "hfu", "mfu_weights", "hfu_weights")


def _corrected(table: pl.DataFrame, observed: pl.DataFrame) -> pl.DataFrame:
    """The run frame with those numbers of its rows that a correction has changed."""
    changed = observed.filter(
        (pl.col("value_origin") == "corrected") & pl.col("quantity").is_in(MEASURED)
    )
    for (name,), part in changed.group_by("quantity", maintain_order=True):
        new = part.select("case", _value="value", _low="low", _high="high")
        names = {str(name): "_value", f"{name}_low": "_low", f"{name}_high": "_high"}
        table = table.join(new, on="case", how="left", maintain_order="left").with_columns(
            pl.coalesce(theirs, own).alias(own) for own, theirs in names.items()
        ).drop("_value", "_low", "_high")  # fmt: skip
    return table


def _singled_out(each: Followed, choice: Choice) -> Iterator[tuple[Any, ...]]:
    """Rows of `Arithmetic.unknowns` that one believed choice gives."""
    if not (choice.believed or choice.proven):
        return
    candidate, rows = choice.candidate, each.rows
    for at, hit in zip(choice.at.tolist(), choice.hits.tolist(), strict=True):
        layers, vocab = candidate.layers[at], candidate.vocab[at]
        solved = bool(candidate.solved[at]) and np.isfinite(layers)
        nominal = np.isfinite(vocab) and rows.vocab[2, at] > rows.vocab[0, at]
        if not (solved or nominal):
            continue
        yield (
            rows.table["case"][at],
            int(layers) if solved else None,
            int(vocab) if nominal and vocab != rows.vocab[1, at] else None,
            candidate.formula_at(at),
            rows.table["says"][at],
            choice.quantity,
            float(rows.models[at]),
            hit == 1,
            float(rows.printed[1, at]),
            float(rows.samples[1, at]),
        )


def _with_unknowns(table: pl.DataFrame, unknowns: pl.DataFrame) -> pl.DataFrame:
    """Solved layers and padded vocabularies in the run frame, for the rows that lacked them."""
    if table.is_empty():
        return table
    found = unknowns.select("case", inferred_layers="layers", _padded="vocab")
    table = table.join(found, on="case", how="left", maintain_order="left")
    padded = pl.col("_padded").is_not_null()
    return table.with_columns(
        layers=pl.coalesce("layers", "inferred_layers"),
        vocab=pl.coalesce("_padded", "vocab"),
        vocab_low=pl.when(~padded).then("vocab_low"),
        vocab_high=pl.when(~padded).then("vocab_high"),
    ).drop("_padded")


class _Under(NamedTuple):
    """Rows `at` of a table under one candidate, `usual` being what a choice made of the others."""

    choice: Choice
    candidate: Candidate
    at: Array
    usual: Candidate | None = None


def _rated(each: Followed) -> pl.DataFrame:
    """`CHECK` of one quantity, each row under the formula it was computed by."""
    rows, parts = each.rows, [part for choice in each.choices for part in _under(each, choice)]
    if not parts:
        return pl.DataFrame(schema=CHECK)
    at = np.concatenate([part.at for part in parts])
    known = rows.table.select("case", "source", "line", "group", "says", "machine", "dtype")[
        at.tolist()
    ]

    def joined(values: Callable[[_Under], Array]) -> pl.Series:
        return pl.Series(np.concatenate([values(part) for part in parts]))

    def told(candidate: Callable[[_Under], Candidate | None]) -> pl.Series:
        ids = [
            None if (one := candidate(part)) is None else one.formula_at(place)
            for part in parts
            for place in part.at.tolist()
        ]
        return pl.Series(ids, dtype=pl.String)

    share = rows.quantity != RATE
    peaks = [part.candidate.peak for part in parts for _ in part.at]
    return checks(
        known.select("case", "source", "line", "group", inputs=pl.concat_list("says")).with_columns(
            printed=pl.Series(rows.printed[1, at]),
            low=pl.Series(rows.printed[0, at]),
            high=pl.Series(rows.printed[2, at]),
            implied=joined(lambda part: part.candidate.implied[1, part.at]),
            implied_low=joined(lambda part: part.candidate.implied[0, part.at]),
            implied_high=joined(lambda part: part.candidate.implied[2, part.at]),
            quantity=pl.lit(rows.quantity),
            formula_id=told(lambda part: part.candidate),
            unit=pl.lit(UNITS[rows.quantity]),
            solved=joined(lambda part: part.candidate.solved[part.at]),
            usual=told(lambda part: part.usual),
            tried=joined(lambda part: np.full(len(part.at), part.choice.tried)),
            peak_flops=joined(lambda part: part.candidate.peaks[part.at]) if share
            else pl.lit(None, dtype=pl.Float64),
            peak_source=pl.Series(_peak_sources(peaks, known), dtype=pl.String) if share
            else pl.lit(None, dtype=pl.String),
        )
    )  # fmt: skip


def _under(each: Followed, choice: Choice) -> Iterator[_Under]:
    """The rows of one table that formulas say something of, by the formula that each is under."""
    if choice.candidate.factors is not None and not (choice.believed or choice.proven):
        return  # a factor that was fitted to these very rows
    others = other_formulas(each.rows, choice)
    usual = choice.at[[int(at) not in others for at in choice.at]]
    yield _Under(choice, choice.candidate, _said(choice.candidate, usual))
    for at, candidate in others.items():
        yield _Under(choice, candidate, _said(candidate, np.array([at])), choice.candidate)


def _said(candidate: Candidate, at: Array) -> Array:
    """Those of the rows `at` that a candidate says something of."""
    some: Array = at[np.isfinite(candidate.implied[1, at])].astype(int)
    return some


def _peak_sources(names: Sequence[str], rows: pl.DataFrame) -> list[str]:
    """Where the peak of each row comes from, by the name of its candidate's peak."""
    found = []
    for name, (machine, dtype) in zip(
        names, rows.select("machine", "dtype").iter_rows(), strict=True
    ):
        if machine is None:
            found.append(f"{name}, which the rows need")
        elif name == "half the fp8 peak":
            found.append(f"half of {machine} fp8 dense")
        else:
            kind = dtype if name == "the stated peak" else name.removesuffix(" peak")
            found.append(f"{machine} {kind} dense")
    return found


def _speeds(checked: pl.DataFrame, table: pl.DataFrame) -> pl.DataFrame:
    """`CHECK` of what says how fast a row was: what the sharpest number implies for each other.

    A relation holds both ways: where the sharper number is the one that it tests, it is turned.
    """
    said = checked.filter(pl.col("believed") & pl.col("law").is_in(LAWS))
    if said.is_empty():
        return pl.DataFrame(schema=CHECK)
    sharp = with_speed(of_one_gpu(table)).select("case", "says")
    other = pl.coalesce(
        pl.when(pl.col("cells").list.contains(name) & (pl.col("quantity") != name))
        .then(pl.lit(name)) for name in SAYS
    )  # fmt: skip
    known = said.join(sharp, on="case", maintain_order="left").with_columns(other=other)
    forward = known.filter(pl.col("other") == pl.col("says"))
    turned = known.filter(pl.col("quantity") == pl.col("says"))
    ends = [
        pl.when(pl.col("other") == name).then(name if not end else f"{name}_{end}")
        for name in SAYS for end in ("", "low", "high")
    ]  # fmt: skip
    numbers = [
        pl.coalesce(ends[at::3]).alias(f"_{end or 'value'}")
        for at, end in enumerate(("", "low", "high"))
    ]
    columns = [f"{name}{end}" for name in SAYS for end in ("", "_low", "_high")]
    turned = turned.join(table.select("case", *columns), on="case", maintain_order="left")
    turned = turned.with_columns(numbers).drop(columns)
    inverse = pl.col("other") == "step_time"  # a time falls as a rate grows
    ratio = pl.col("implied") / pl.col("_value")
    back = [
        pl.when(inverse).then(pl.col("implied") * pl.col("_value") / pl.col(low))
        .otherwise(pl.col(high) / ratio)
        for low, high in (("printed", "printed"), ("high", "low"), ("low", "high"))
    ]  # fmt: skip
    turned = turned.with_columns(
        implied=back[0], implied_low=back[1], implied_high=back[2], printed="_value", low="_low",
        high="_high", quantity="other", other="quantity",
    )  # fmt: skip
    rows = pl.concat([forward, turned.select(forward.columns)])
    return checks(
        rows.unique(["case", "quantity"], keep="first", maintain_order=True).with_columns(
            formula_id=pl.col("quantity").replace_strict(IMPLIED, return_dtype=pl.String),
            unit=pl.col("quantity").replace_strict(UNITS, return_dtype=pl.String),
            inputs=pl.concat_list("other"),
            solved=pl.lit(value=False),
            tried=pl.lit(1),
        )
    ).sort("source", "line", maintain_order=True)


def _filled(
    cases: Cases, name: str, found: pl.DataFrame, *, value_origin: str, law: pl.Expr
) -> Cases:
    """`cases` with column `name` replaced from `found` (case, and the value as `name`)."""
    held = cases.configuration.join(
        found.select("case", _found=name), on="case", how="left", maintain_order="left"
    )
    origins = found.select(
        case="case",
        name=pl.lit(name),
        value=pl.col(name).cast(pl.String),
        value_origin=pl.lit(value_origin),
        line=pl.lit(None, dtype=pl.UInt32),
        law=law,
    ).select(*ORIGINS)
    wide = held.with_columns(pl.coalesce("_found", name).alias(name)).drop("_found")
    return cases.with_values(wide, origins)


def _lengths(found: Sequence[Decided]) -> pl.DataFrame:
    """case, _found, law of every row whose sequence length was decided or taken back."""
    kinds = {"case": pl.String, "_found": pl.Int64, "law": pl.String}
    return pl.DataFrame(list(lengths(found)), schema=kinds, orient="row")


def _with_lengths(cases: Cases, found: pl.DataFrame) -> Cases:
    """Lengths that were decided put in, with the reason; those taken back gone."""
    if found.is_empty():
        return cases
    wide = cases.configuration.join(found, on="case", how="left", maintain_order="left")
    wide = wide.with_columns(
        seq_len=pl.when(pl.col("law").is_null()).then("seq_len").otherwise("_found")
    ).drop("law", "_found")
    gone = found.filter(pl.col("_found").is_null()).select("case", name=pl.lit("seq_len"))
    origins = cases.origins.join(gone, on=["case", "name"], how="anti", maintain_order="left")
    bare = replace(cases, configuration=wide, origins=origins)
    said = found.drop_nulls("_found").rename({"_found": "seq_len"})
    return _filled(bare, "seq_len", said, value_origin="solved", law=pl.col("law"))


def _with_layers(cases: Cases, unknowns: pl.DataFrame) -> Cases:
    law = pl.format(
        "the only layer count that reproduces the printed rate under {} ({} row(s) of this size)",
        "formula_id", "alike",
    )  # fmt: skip
    return _filled(cases, "layers", unknowns.drop_nulls("layers"), value_origin="solved", law=law)


COUNTS_RECOMPUTATION = {"narayanan-eq3": "full", "narayanan-eq3-stored": "none"}
"""Formulas that their code chooses by whether activations are recomputed, and which way."""


def _with_recomputation(cases: Cases, found: pl.DataFrame) -> Cases:
    """Fill in recomputation from the formula that reproduces a rate; where all such rows of a
    document agree, for its other rows too."""
    unsaid = cases.configuration.filter(pl.col("recompute").is_null())
    policy = pl.col("formula_id").replace_strict(
        COUNTS_RECOMPUTATION, default=None, return_dtype=pl.String
    )
    said = (
        found.filter(equal() & (pl.col("quantity") == RATE) & ~pl.col("solved"))
        .with_columns(recompute=policy)
        .drop_nulls("recompute")
    )
    again = cases.configuration.filter(pl.col("recompute").is_in(["full", "selective"]))
    said = said.filter(  # where some of it is said, a rate without it may count the model's alone
        (pl.col("recompute") != "none") | ~pl.col("source").is_in(again["source"].implode())
    )
    inferred = said.join(unsaid, on="case", how="semi").select("case", "recompute", "formula_id")
    law = pl.format("{}, which reproduces the printed rate, counts it so", "formula_id")
    cases = _filled(cases, "recompute", inferred, value_origin="solved", law=law)
    alike = said.group_by("source").agg(
        pl.col("recompute").first(), pl.col("recompute").n_unique().alias("ways"), pl.len()
    )
    rest = (
        unsaid.drop("recompute")
        .join(inferred, on="case", how="anti")
        .join(alike.filter((pl.col("ways") == 1) & (pl.col("len") >= PROVEN)), on="source")
    )
    law = pl.lit("as in all rows of the document whose rate tells")
    return _filled(cases, "recompute", rest, value_origin="assumed", law=law)


def _with_vocabulary(cases: Cases, unknowns: pl.DataFrame) -> Cases:
    """The padded vocabulary goes to every case of the document with the same nominal one."""
    runs = cases.configuration.select("case", "source", "vocab")
    padded = (
        unknowns.drop_nulls("vocab").select("case", padded="vocab").join(runs, on="case")
        .filter(pl.col("padded") != pl.col("vocab"))
        .group_by("source", "vocab", maintain_order=True)
        .agg(pl.col("padded").unique())
        .filter(pl.col("padded").list.len() == 1)
        .with_columns(pl.col("padded").list.first())
    )  # fmt: skip
    row = ["source", "line"]  # a statement of the vocabulary speaks for a whole line
    nominal = cases.reading.provenance.filter(
        (pl.col("field") == "vocab") & (pl.col("kind") == "nominal")
    ).select(row)
    found = (
        cases.configuration.join(nominal, on=row, how="semi", maintain_order="left")
        .join(padded, on=["source", "vocab"], maintain_order="left")
        .select("case", vocab="padded")
    )
    law = pl.lit("the multiple of 128·TP within the printed label that most printed rates need")
    return _filled(cases, "vocab", found, value_origin="solved", law=law)


def _consumption(cases: Cases, unknowns: pl.DataFrame) -> Cases:
    """The column `consumed`: printed quantities of the row itself that went into its case.

    A layer count that a second row of the same size gives as well owes nothing to this row's time.
    """
    alone = pl.when(pl.col("alike") < 2).then(pl.concat_list(pl.lit(RATE), "says"))
    used = unknowns.drop_nulls("layers").select(
        "case", consumed=alone.otherwise(pl.concat_list(pl.lit(RATE)))
    )
    nothing = pl.lit([], dtype=pl.List(pl.String))
    wide = cases.configuration.join(used, on="case", how="left", maintain_order="left")
    wide = wide.with_columns(pl.col("consumed").fill_null(nothing))
    return cases.with_values(wide, pl.DataFrame(schema=ORIGINS))
