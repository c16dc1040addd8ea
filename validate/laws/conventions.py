"""Whose formula, whose definition: what a document follows, and the rows that follow another.

A definition that a whole document follows is a note. A row that misses the formula of its table and
meets another one that the same document follows elsewhere is a warning: its number is no error, and
is not comparable with its neighbours.
"""

from __future__ import annotations

from collections import defaultdict

import polars as pl
from assay.ingest.schema.record import Span
from assay.validate.arithmetic import following
from assay.validate.arithmetic.decided import FIELD
from assay.validate.arithmetic.following import Choice, Followed
from assay.validate.arithmetic.printed_runs import UNITS, label
from assay.validate.arithmetic.speed_relations import EXCHANGED
from assay.validate.cases.standing import rows, standing, weighed
from assay.validate.laws.evidence import Evidence
from assay.validate.laws.finding import Finding, Number

FORMULA = "formula"

DEFINITION = "definition"

STATEMENT = "statement-against-rows"


def other_formulas(evidence: Evidence) -> list[Finding]:
    """Rows that follow another formula than their table."""
    found = []
    for each, choice in evidence.choices:
        if not (choice.believed or choice.proven):
            continue
        others = following.other_formulas(each.rows, choice)
        for at in sorted(others):
            found.append(_row(evidence, each, choice, at, others[at].formula_id))
    return found


def _row(evidence: Evidence, each: Followed, choice: Choice, at: int, other: str) -> Finding:
    case = each.rows.table["case"][at]
    low, value, high = (float(end[at]) for end in each.rows.printed)
    implied = [float(end[at]) for end in choice.candidate.implied]
    unit = UNITS[choice.quantity]
    usual = choice.candidate.formula_id
    return Finding(
        law=FORMULA,
        kind="convention",
        severity="warning",
        spans=(evidence.span(case),),
        observed=(Number(choice.quantity, value, low, high, unit),),
        implied=(Number(choice.quantity, implied[1], implied[0], implied[2], unit),),
        explanation=(
            f"{label(choice.quantity)} follow {other}, the rows around it {usual} "
            f"({choice.tried} tried): {value / implied[1]:.3f} of what that gives"
        ),
        meaning="Do not compare the rate with its neighbours; the time beside it is not in doubt.",
        cases=(case,),
        quantities=(choice.quantity,),
    )


def followed_formulas(evidence: Evidence) -> list[Finding]:
    """Per document, quantity and formula: how many rows follow it, of how many formulas tried."""
    groups: dict[tuple[str, str, str], list[tuple[Followed, Choice]]] = defaultdict(list)
    for each, choice in evidence.choices:
        if choice.believed and choice.tried > 1:
            name = f"{choice.candidate.formula_id} {choice.candidate.peak}".strip()
            groups[choice.source, choice.quantity, name].append((each, choice))
    found, stands = [], dict(standing(evidence.reading).iter_rows())
    for (_, quantity, name), members in groups.items():
        met = [each.rows.table["case"].gather(choice.at[choice.hits == 1])
               for each, choice in members]  # fmt: skip
        number = round(sum(stands.get(case, 1.0) for cases in met for case in cases))
        each, choice = members[0]
        first = each.rows.table["case"][int(choice.at[0])]
        found.append(
            Finding(
                law=FORMULA,
                kind="convention",
                severity="note",
                spans=(evidence.span(first),),
                observed=(),
                implied=(),
                explanation=f"{label(quantity)} of {number} rows follow {name} "
                f"({choice.tried} tried)",
                meaning="Rates are comparable only with rates of the same formula.",
            )
        )
    return found


def definitions(evidence: Evidence) -> list[Finding]:
    """Relations that a document keeps in another variant than the usual: per GPU, per replica."""
    odd = evidence.checked.filter(pl.col("believed") & ~pl.col("usual") & pl.col("hit"))
    found = []
    for row in (
        weighed(odd, evidence.reading)
        .group_by("source", "law", "quantity", "variant", maintain_order=True)
        .agg(rows().alias("len"), pl.col("case").first())
        .iter_rows(named=True)
    ):
        found.append(
            Finding(
                law=DEFINITION,
                kind="convention",
                severity="warning" if row["variant"] == EXCHANGED else "note",
                spans=(evidence.span(row["case"]),),
                observed=(),
                implied=(),
                explanation=f"{label(row['quantity'])} of {row['len']} rows are {row['variant']}, "
                f"by {row['law']}",
                meaning="The column counts something else than its name says; divide accordingly.",
            )
        )
    return found


def contradicted_statements(evidence: Evidence) -> list[Finding]:
    """Statements that the numbers of the rows they speak for exclude: these do not bind."""
    found = []
    for each in evidence.arithmetic.decided:
        if each.held is None or each.line is None:
            continue
        rows = [evidence.span(case) for case in each.cases]
        said = Number(FIELD, each.held, each.held, each.held, "1")
        value = each.value
        needed = () if value is None else (Number(FIELD, value, value, value, "1"),)
        found.append(
            Finding(
                law=STATEMENT,
                kind="identity",
                severity="warning",
                spans=(Span(rows[0].source, each.line, 1), rows[0]),
                observed=(said,),
                implied=needed,
                explanation=f"{label(FIELD)} {each.held:g} is stated for {len(rows)} row(s), whose "
                f"numbers say otherwise: {each.law}",
                meaning="The statement is not used for these rows.",
                cases=each.cases,
            )
        )
    return found
