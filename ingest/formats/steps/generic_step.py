"""Step records of any trainer, by the shape of a file.

In: the lines that no other format has claimed. Out: rows of two frames. Those of trainers whose
lines are known (`trainers.toml`) mean what the trainer's source says; all others are marked
generic, each naming the words that made it one. A line alone decides nothing: lines with the same
labels are one shape, and a shape is a step record if at least three lines share it, a count of
steps rises by few strides and a quantity of training stands beside it; or if a line holds a count
of steps and two quantities with units.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from assay.ingest.formats.steps.step_blocks import BLOCK_HEADS, block_at
from assay.ingest.formats.steps.step_columns import COLUMN_HEADS, columns_at
from assay.ingest.formats.steps.step_lines import SCHEMAS
from assay.ingest.formats.steps.step_pairs import (
    LONGEST,
    Said,
    is_bar_of_training,
    is_bar_of_validation,
    said,
)
from assay.ingest.formats.steps.step_records import capped, meant, step_records
from assay.ingest.formats.steps.step_shapes import Found
from assay.ingest.formats.steps.step_words import meaning
from assay.ingest.lines.lark import ALIKE
from assay.ingest.schema.format import Folded, Format, Region
from assay.ingest.schema.terminals import deferred


def fold(region: Region) -> Folded:
    """Every shape among the lines that is one of step records."""
    folded = Folded(parts=set())
    alone: list[Found] = []
    for record, found in step_records(_found(region), alone):
        folded.records.append(record)
        for line in found.lines:
            folded.claimed.add(line.number)
            folded.parts.add((line.number, line.column))  # type: ignore[union-attr]
    folded.remarks += capped(region.source.name, alone)
    folded.records.sort(key=lambda record: (record.line, record.column))
    return folded


def _found(region: Region) -> list[Found]:
    """Lines and blocks that have pairs, in order; none in fences of source code."""
    lines = [
        line
        for line in region.lines
        if line.number not in region.read and len(line.text) <= LONGEST
    ]
    found: list[Found] = []
    bars: list[tuple[int, str]] = []  # how many were found before each bar, and its count
    at = 0
    while at < len(lines):
        line = lines[at]
        if "bar" in line.prefix:
            bars.append((len(found), line.prefix["bar"]))
        under, end = columns_at(lines, at)
        if under:
            found += map(meant, under)
            at = end
            continue
        block = block_at(lines, at)
        if block is not None:
            found.append(meant(block))
            at = lines.index(block.lines[-1], at) + 1
            continue
        at += 1
        if line.text.startswith("|") and _OF_A_TABLE.fullmatch(line.text):
            continue
        if region.cut(line) or not _may_be_one(line.text.translate(ALIKE)):
            continue
        what = said(line.text)
        if what is None:
            continue
        if what.form == "bar" and not _of_training(what, line.text):
            continue
        found.append(meant(Found([line], what, [(pair, line) for pair in what.pairs])))
    _counted_by_bars(found, bars)
    return found


_OF_A_TABLE = deferred(
    r"\|(?:\s*[*`_]{0,3}[~≈]?[-+0-9.,]+\s*(?:[A-Za-z%×µ][A-Za-z%µ/]{0,16})?[*`_]{0,3}\s*\|){2,}\s*"
)
"""A row of a table of Markdown: numbers without a label, which its header has."""


def _counted_by_bars(found: Sequence[Found], bars: Sequence[tuple[int, str]]) -> None:
    """The count of a line that stands alone between two bars of one count.

    A bar is drawn before the line is written and again behind it. Where lines and bars come
    through two buffers, several lines stand between two bars, or the bars differ.
    """
    before = dict(bars)  # the last in front of each
    after: dict[int, str] = {}
    for count, bar in bars:
        after.setdefault(count, bar)
    for at, each in enumerate(found):
        around = before.get(at)
        if around is not None and around == after.get(at + 1):
            done, _, of = around.partition("/")
            each.at, each.of = int(done), int(of)


def _of_training(what: Said, text: str) -> bool:
    """Whether a bar shows quantities of training, or says that it counts steps."""
    if is_bar_of_validation(what, text):
        return False
    held = [meaning(pair.label, pair.behind) for pair in what.pairs]
    return any(each is not None and each.training for each in held) or is_bar_of_training(text)


_OPENS = (
    r"(?i)loss[\"'\])]?[a-z_/ ]{0,16}\)?(?:\s|[\"'(\[:=>|-]){0,6}-?(?:[0-9]|nan|inf)"
    r"|(?:^|[^a-z])(?:lr|learning[_ ]?rate|g(?:rad(?:ient)?)?[_ ]?norm|mfu|t[pg]s|[wu]ps)\b"
    r"[^0-9]{1,40}[0-9]"
    r"|[0-9]%?\s?(?:tok(?:en)?s?/s|(?:ex|s)amples?/s|ima?ge?s?/s|sent(?:ence)?s?/s|seq(?:uence)?s?/s"
    r"|(?:avg |train(?:ing)? )?loss\b|[tgp]flop|(?:bf16 )?mfu"
    r"|(?:m?s|sec|it|steps?|ba)/(?:it|step|batch|s)|it (?:\[|rate:))"
    r"|(?:tok(?:en)?s?|samples?|ima?ge?s?|steps?|iter(?:ation)?s?|batch(?:es)?)[_ ]?(?:per[_ ]?|/)"
    r"(?:s|gpu|device)[^0-9]{1,24}[0-9]"
    r"|(?:step|iter(?:ation)?|batch)[_ ]?(?:time|ms)[^0-9]{1,12}[0-9]|steps in [0-9.]+ ?[sm]"
    r"|(?:^|[^a-z])(?:time|seconds?|ms|latency)[_ ]?(?:(?:per[_ ]?|/)(?:step|it)|[:=] ?[0-9])"
    r"[^|]{0,60}[0-9]"
    r"|tflops?[^0-9]{1,24}[0-9]|损失[^0-9]{0,6}[0-9]|[0-9]\s?(?:词元|令牌|样本)/秒|耗时[^0-9]{0,3}[0-9]"
    rf"|{'|'.join(BLOCK_HEADS)}|{'|'.join(COLUMN_HEADS)}"
)
"""Found in every line that may be a record by itself, and in the head of a block."""

_SET = r"(?:val(?:id(?:ation)?)?|eval(?:uation)?|cv)"

_VALIDATES = deferred(
    rf"(?i)(?:\W*|[^|]*\|\s*)(?:{_SET}|test(?:ing)?|dev)\s*(?:[:|>-]*\s*[\[({{]|\|)"
    rf"|\W*(?:(?:evaluat|validat|test)(?:ing|ed)|(?:{_SET}|test|dev)\s(?:set|split))\b"
    rf"|(?:\s*\[[^\[\]]{{0,40}}\])*\W*{_SET}\W+(?:(?:loss|results?|metrics)\W+)?"
    r"(?:(?:at|after|for|of)\W+)?(?:global[_ ]?)?(?:step|iter(?:ation)?|epoch|batch)s?\b"
    rf"|(?:(?!loss|lr\b|train(?:ing)?\b)[^\[(<|,;-]|[\[(<|,;-](?!\s*{_SET}))*"
    rf"(?:[\[(<]\s*{_SET}\s*[\])>]|[|,;-]\s*{_SET}\s*(?:\||-\s|:\s*(?![\s0-9.+n-]))"
    rf"|\b{_SET}\s(?:info|results?|metrics|summary)\b)"
    r"|.*?\b(?:collection|split|subset|mode|phase|stage|loop)[\"']?\s*[:=]\s*[\"']?"
    rf"(?:[a-z]+[_./-])*(?:{_SET}|test|dev)(?![a-z])"
)
"""`VALIDATION [0][10/78]`, `val: {…}`, `Epoch 0 | Validation | …`, `Validation: step 10`, `[eval]`
in front of all that is measured, `split=val`: of no step of training."""


_OPENS_HERE = deferred(_OPENS)


@lru_cache(maxsize=4096)
def _may_be_one(alike: str) -> bool:
    """Whether a line may be a record by itself, whatever digits stand in it."""
    return _OPENS_HERE.search(alike) is not None and not _VALIDATES.match(alike)


FORMAT = Format(
    name="generic_step",
    heads=("",),
    schemas=SCHEMAS,
    origin="measured",
    fold=fold,
    opens=_OPENS,
    reach=BLOCK_HEADS | COLUMN_HEADS,
    behind=True,
)
