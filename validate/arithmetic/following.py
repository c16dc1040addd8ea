"""Which formula each table follows, and which rows do not: relations of printed rates.

A document rarely says how it counted. Per table (or log) the candidate that reproduces most rows is
taken; between equals the one of the tables around it. It is believed when so many rows agree that
accident is out of the question, or when the rest of the document follows it.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

import numpy as np
import polars as pl
from assay.validate.arithmetic import speed_relations
from assay.validate.arithmetic.counting import candidates
from assay.validate.arithmetic.identity_check import PER_TOKEN
from assay.validate.arithmetic.printed_speed import SAYS
from assay.validate.arithmetic.rated_rows import COUNTS, Array, Candidate, Rows, arrays, rows_of

BELIEVED = 4.0
"""Decades against accident before the rows of one table prove a formula."""

KNOWN = 3.0
"""Decades before a table is seen to follow a formula that its document has proven."""

PROVEN = 6.0
"""Decades before a formula counts as one that the whole document knows."""

STRAY = 0.15
"""Share of a table's rows that may miss a formula and leave it believable."""

FAR = 2.0
"""Further from every known formula than this factor, a rate follows none of them."""

MOST = 0.8
"""Share of a table's rows that must meet a candidate before one far from all is believed wrong."""

DISTANCE = 0.7
"""Weight of a table's hits on the choice of the next one, once per table between."""


@dataclass(frozen=True)
class Choice:
    """Formula that one table follows for one quantity."""

    quantity: str
    group: str
    source: str
    at: Array  # positions in `rows`
    candidate: Candidate
    hits: Array  # per position
    tried: int
    believed: bool  # by the table itself
    proven: bool  # by the document
    far: Array  # per position: beyond every candidate by a factor no formula explains
    others: tuple[Candidate, ...]  # further candidates that the document proves


@dataclass(frozen=True)
class Followed:
    """Every choice for one quantity."""

    rows: Rows
    choices: tuple[Choice, ...]


def of_one_gpu(table: pl.DataFrame) -> pl.DataFrame:
    """`table` with one GPU where their number is unknown and owes nothing to a rate per GPU."""
    alone = pl.when(pl.col("tokens_per_gpu_per_s").is_not_null()).then(1)
    others = [pl.col(n).is_null() for n in SAYS if n != "tokens_per_gpu_per_s"]
    return table.with_columns(
        gpus=pl.coalesce("gpus", pl.when(pl.all_horizontal(others)).then(alone))
    )


def with_speed(table: pl.DataFrame) -> pl.DataFrame:
    """`table` with says, samples_low, samples, samples_high: the most precise number of each run,
    null where none says how fast it was."""
    ends = ("low", "", "high")
    wanted = (speed_relations.samples(name, end) for name in SAYS for end in ends)
    held = np.array(list(arrays(table, wanted))).reshape(len(SAYS), len(ends), table.height)
    low, middle, high = held.transpose(1, 0, 2)
    known = np.isfinite(middle) & (low > 0)
    with np.errstate(divide="ignore", invalid="ignore"):  # of runs that say nothing
        width = np.where(known, (high - low) / middle, np.inf)
    best = np.argmin(width, axis=0)
    row = np.arange(table.height)
    said = pl.Series("says", list(SAYS)).gather(best)
    found = pl.DataFrame(
        [said, *(pl.Series(f"samples{'_' * bool(end)}{end}", each[best, row])
                 for end, each in zip(ends, (low, middle, high), strict=True))]
    )  # fmt: skip
    tells = pl.lit(pl.Series(known[best, row]))
    return table.hstack(found.select(pl.when(tells).then(pl.all())))


def followed(table: pl.DataFrame) -> list[Followed]:
    """The choices of every printed rate and utilisation."""
    if table.is_empty():
        return []
    table = with_speed(of_one_gpu(table))
    found: list[Followed] = []
    used: set[str] = set()
    for quantity in sorted(COUNTS, key=lambda each: each.endswith(WEIGHTS)):
        rows = rows_of(table, quantity)
        if rows is not None:
            choices = tuple(_choices(rows, used))
            used |= {family(each.candidate.formula_id) for each in choices}
            found.append(Followed(rows, choices))
    return found


WEIGHTS = "_weights"
"""Of products with weights alone: what several formulas count alike, so that the rest decides."""


def family(formula_id: str) -> str:
    """Formulas that a document uses together: the four of one year's tables, else one alone.

    >>> family("mosaic-2022.hfu*"), family("megatron-core.plain.gqa.dense.full")
    ('mosaic-2022', 'megatron-core.plain.gqa.dense.full')
    """
    return formula_id.partition(".")[0] if formula_id.startswith("mosaic") else formula_id


def hits(rows: Rows, candidate: Candidate, at: Array | slice = slice(None)) -> Array:
    """1 where a candidate meets the printed number, 0 where not, nan where it says nothing; of the
    rows `at`."""
    low, value, high = candidate.implied[:, at]
    first, printed, last = rows.printed[:, at]
    slack = 1e-12 * printed
    meets = (low <= last + slack) & (high >= first - slack)
    return np.where(np.isfinite(value), meets.astype(float), np.nan)


def other_formulas(rows: Rows, choice: Choice) -> dict[int, Candidate]:
    """Row that misses its formula → another one that the document proves and this row follows."""
    missed = choice.at[choice.hits == 0]
    return {
        int(at): each
        for each in reversed(choice.others)  # the first of several is left
        for at in missed[hits(rows, each, missed) == 1]
    }


def _choices(rows: Rows, used: Set[str]) -> list[Choice]:
    """One choice per table; what knows no formula is chosen only where no formula is believed, and
    between equals those of families that the document has `used` come first."""
    tried = sorted(candidates(rows), key=lambda each: family(each.formula_id) not in used)
    formulas = [each for each in tried if each.formula_id != PER_TOKEN]
    found = _chosen(rows, formulas)
    if len(formulas) == len(tried):
        return found
    known = {choice.group for choice in found if choice.believed or choice.proven}
    last = [each for each in _chosen(rows, tried) if each.group not in known and each.believed]
    instead = {each.group: each for each in last if each.candidate.formula_id == PER_TOKEN}
    rest = [each for each in found if each.group not in instead]
    return sorted([*rest, *instead.values()], key=lambda each: int(each.at[0]))


def _chosen(rows: Rows, tried: list[Candidate]) -> list[Choice]:
    if not tried:
        return []
    shape = len(tried), len(rows.gpus)
    met, decades = np.empty(shape, dtype=np.float32), np.empty(shape)
    for place, each in enumerate(tried):
        met[place], decades[place] = hits(rows, each), -np.log10(each.chance)
    found = []
    for source, tables in _tables(rows).items():
        here = np.sort(np.concatenate([*tables.values()]))
        score = np.array([np.nansum(met[:, at] == 1, axis=1) for at in tables.values()])
        proof = _proof(met, decades, here)
        for place, (group, at) in enumerate(tables.items()):
            fed = np.isfinite(met[:, at]).any(axis=1)
            if not fed.any():
                continue
            weight = DISTANCE ** np.abs(np.arange(len(tables)) - place)
            near = weight @ score
            rank = score[place] + near / (1.0 + near.max()) * 0.999
            if not rank[fed].any():  # nothing is met anywhere: the nearest is named
                rank = -_apart(rows, tried, at)
            best = int(np.argmax(np.where(fed, rank, -np.inf)))
            found.append(
                _choice(rows, tried, best, at, met, decades, proof, int(fed.sum()), (source, group))
            )
    return found


def _proof(met: Array, decades: Array, at: Array) -> Array:
    """Decades against accident of every candidate in the rows `at` that it meets."""
    # candidates one by one: all of them over all rows are hundreds of megabytes
    return np.array(
        [np.nansum(each[at][own[at] == 1]) for each, own in zip(decades, met, strict=True)]
    )


def _tables(rows: Rows) -> dict[str, dict[str, Array]]:
    """Source → its tables (or logs), in order, each with the positions of its rows."""
    found: dict[str, dict[str, list[int]]] = {}
    for at, (source, group) in enumerate(rows.table.select("source", "group").iter_rows()):
        found.setdefault(source, {}).setdefault(group, []).append(at)
    return {
        source: {group: np.array(places) for group, places in tables.items()}
        for source, tables in found.items()
    }


def _choice(
    rows: Rows,
    tried: list[Candidate],
    best: int,
    at: Array,
    met: Array,
    decades: Array,
    proof: Array,
    count: int,
    place: tuple[str, str],
) -> Choice:
    price = np.log10(max(count, 1))
    mine = met[best, at].astype(float)
    evidence = _evidence(rows, tried[best], decades[best], at[mine == 1])
    misses = int((mine == 0).sum())
    few = misses <= max(1, STRAY * len(at))
    own = evidence - price >= BELIEVED and few and int((mine == 1).sum()) >= 2
    far = _beyond(rows, tried, at) & bool(
        (mine == 1).sum() >= max(4, MOST * np.isfinite(mine).sum())
    )
    elsewhere = proof - _proof(met, decades, at)
    others = tuple(
        each
        for i, each in enumerate(tried)
        if i != best and elsewhere[i] - price >= PROVEN and not _same(tried[best], each)
    )
    proven = bool(elsewhere[best] - price >= PROVEN)
    return Choice(
        quantity=rows.quantity,
        source=place[0],
        group=place[1],
        at=at,
        candidate=tried[best],
        hits=mine,
        tried=count,
        believed=bool(own or (proven and few and evidence >= KNOWN)),
        proven=proven,
        far=far,
        others=others,
    )


def _evidence(rows: Rows, candidate: Candidate, decades: Array, met: Array) -> float:
    """Decades against accident in the rows `met`; a layer count solved from them costs one."""
    spent = 0.0
    for model in np.unique(rows.models[met[candidate.solved[met]]]):
        spent += decades[met[rows.models[met] == model]].max()
    return float(decades[met].sum() - spent)


def _beyond(rows: Rows, tried: list[Candidate], at: Array) -> Array:
    """Rows whose printed number is a factor away from what every candidate makes of them."""
    fed = np.zeros(len(at), dtype=bool)
    least, most = np.full(len(at), np.inf), np.full(len(at), -np.inf)
    for each in tried:
        low, _, high = each.implied[:, at]
        fed |= np.isfinite(low)
        least = np.where(np.isfinite(low), np.fmin(least, low), least)
        most = np.where(np.isfinite(high), np.fmax(most, high), most)
    above = rows.printed[0, at] > FAR * most
    below = rows.printed[2, at] < least / FAR
    found: Array = fed & (above | below)
    return found


def _apart(rows: Rows, tried: list[Candidate], at: Array) -> Array:
    """How far each candidate is from the printed numbers of some rows, as a median of logarithms;
    proportions, which were fitted to the rows, further than all formulas."""
    fitted = np.array([each.factors is not None for each in tried])
    middle = np.full(len(tried), np.inf)
    for place, each in enumerate(tried):
        with np.errstate(divide="ignore", invalid="ignore"):
            gaps = np.abs(np.log(rows.printed[1, at] / each.implied[1, at]))
        if np.isfinite(gaps).any():
            middle[place] = np.median(gaps[np.isfinite(gaps)])
    return np.where(fitted, np.inf, middle)


def _same(one: Candidate, other: Candidate) -> bool:
    """Whether two candidates cannot be told apart on any row."""
    low, high = (
        np.minimum(one.implied[1], other.implied[1]),
        np.maximum(one.implied[1], other.implied[1]),
    )
    return bool(np.all(~np.isfinite(high / low) | (high / low < 1 + 1e-9)))
