"""The numbers of a line, each with the label before it and the unit behind it.

In: the text of a line, prefixes peeled off. Out: `Pair` values in order, whatever the syntax:
`label: v unit`, `label=v`, `'label': v`, `label v`, `v unit`, and progress bars with what stands in
their bracket. Text that is no output of a program in this sense (source code, diffs, format
strings) has none.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from assay.ingest.formats.steps.step_words import (
    COUNTERS,
    NOT_OF_DEVICES,
    VALIDATION,
    is_part_of_loss,
    meaning,
    words,
)
from assay.ingest.lines.lark import Shape, shape, terminal_of
from assay.ingest.numbers.units import unit
from assay.ingest.schema.terminals import deferred

_WHOSE = deferred(r"\((?:train(?:ing)?)\)\s*")
"""`Iter(train) [ 100/1000]`: what stands in the brackets is whose count it is."""


@cache
def _value() -> re.Pattern[str]:
    """A date, time or duration, an abbreviated count, or a number alone or before a unit."""
    moment, short, amount, unit_ = (
        terminal_of("generic_step", name) for name in ("MOMENT", "SHORT", "AMOUNT", "UNIT")
    )
    return re.compile(
        rf"(?<![A-Za-z0-9_.@])(?:(?P<moment>{moment})|(?P<short>{short})|(?:{amount})"
        rf"(?=\s?(?:{unit_})|\.(?![0-9])|[^A-Za-z0-9_.]|$))"
    )


@cache
def _behind() -> re.Pattern[str]:
    """A unit, unless a blank parts it from the number and it is the label of the next:
    `loss=3.4 samples/s=812.3`, but `Time 477.61s : 33473.61 words/s`."""
    return re.compile(
        rf"(?P<apart>\s)?(?P<unit>{terminal_of('generic_step', 'UNIT')})"
        r"(?(apart)(?![\w/]*\s?[=:]\s?[\"']?[0-9]))"
    )


_TOTAL = deferred(
    r"(?:\s*/\s*|\s+(?:out )?of\s+)([0-9][0-9,]*(?:_[0-9]{3})*)(?![0-9._]*(?:[A-Za-z]|:\S))"
)

_SHARED = deferred(r"\(([0-9][0-9,.]*)\s?/\s?(gpu|GPU|device|rank)\)")
"""`tps 9120.12(1140.02/gpu)`: the same of one device."""

_OF_ALL = deferred(
    r"\s?\((?:(?:all|total|over|across|on)\s|全部|共|合计|总计)?\s?([0-9]{1,6})\s?"
    r"(?:GPUs?|gpus?|devices|chips|NPUs?|ranks|[张块]?卡)\)"
)
"""`9.95万词元/秒(全部64卡)`, `812,345 tok/s (64 GPUs)`: of whom the number is."""

_AFTER = deferred(
    r"\s+([A-Za-z][A-Za-z0-9_/]*(?:\s[A-Za-z][A-Za-z0-9_/]*){0,4})\s*(?=[,|;\])]|\s-\s|$)"
)
"""Words that end a cell which begins with its number: `42.6% bf16 MFU |`."""

_OF_SEVERAL = deferred(
    r"\s?((?:ms|s|secs?|seconds))(?:\s?/\s?|\s(?:for|per|over)\s(?:the\s)?(?:last\s)?)([0-9]+)"
    r"\s?(?:it(?:er(?:ation)?)?|step|batche?)s?\b"
)
"""A unit that says of how many: `19.2s/100 iters`, `took 2.4 s for 10 steps`."""

_CAPACITY = deferred(r"\s?/\s?([0-9][0-9.]*)\s?([kKMGT]i?B)\b")
"""`61.2/80.0GB`: what there is of it, and the unit of both."""

_TOLD_AT = deferred(r"(?i)\s(?:at|after|for|in)\s(?:global\s)?(?:step|iter(?:ation)?|batch)\s$")
"""`Loss at step 100: 3.1`: what stands between a label and the count in front of its number."""

_OF_WORDS = string.ascii_letters + "_ /"

_DONE = {"after", "processed", "completed", "finished"}

_DONE_STEPS = deferred(r"\s(?:train(?:ing)?\s)?(steps|iterations|iters|batches|updates)\b")
"""The count that `After 100 steps: loss = 3.1` tells."""

_LISTED = deferred(r"[\"']\s?[:=]\s?[\[(]$")
"""The beginning of a list under a label: `"step": [0, 50]` are an epoch and a batch of it."""

_BETWEEN = deferred(r"(?i)between ((?:it(?:er(?:ation)?)?|step|batche)s) $")
"""`between steps 100 and 200`: the second counts."""

_STEPS_IN = deferred(
    r"(?i)(?<![0-9.,])([0-9]+)\s(?:[a-z]+\s)?(?:it(?:er(?:ation)?)?s|steps|batches)"
    r"\s(?:in|took)\s*$"
)
"""Words in front of a time that say of how many it is: `Ran 100 train steps in 41.2 secs`."""

_BAR = deferred(
    r"[0-9]{1,3}%\s?\|[^|\r]*\|\s*"
    r"(?P<at>[0-9][0-9.,]*)/(?P<of>[0-9][0-9.,]*)\s*\[(?P<clock>[0-9:?]+<[^\],]*)(?P<inside>[^\]\r]*)\]?"
)

_ENDLESS = deferred(
    r"\b(?P<at>[0-9]+)(?:it|/\?) \[(?P<clock>[0-9:?]+(?:<[0-9:?]*)?)(?P<inside>,[^\]\r]*)\]?"
)
"""A bar that does not know where it ends: `150it [02:10, 1.15it/s, loss=8.1]`, `150/? [02:10<…`."""

_LOGGED_BAR = deferred(
    r"(?<![\w.])(?P<at>[0-9]+(?:\.[0-9]+)?[kM]?)it/(?P<of>[0-9.]+[kM]?)it\s(?P<inside>[^\r]*)$"
)
"""A bar that is logged line by line, its counts in three digits:
`on:train 5.00it/50.0kit rate:1.2it/s postfix:loss=8.9`."""

_DRAWN = deferred(r"\[[=>.\-#\s]{5,}\]|[━█▏▎▍▌▋▊▉╸╺]+")
"""A bar without a bracket of its own, as Keras draws it."""

_RULED = deferred(r"^\s*(?:={2,}>?|-{2,}>|>>|>{4,})(?=\s)|(?<=\s)(?:={2,}|<{2,}|<={2,})\s*$")
"""Rules and arrows around a line: `===> step 10`, `== step 10 loss 3.1 ==`."""

_RATE = deferred(r"([0-9.]+)\s*((?:it|iter|step|batch|ba)/s|s/(?:it|iter|step|batch|ba))\b")

_CELL = deferred(
    r"[,|;{}\t\]]|\s-\s|\s:\s(?=[A-Z])|\s{2,}(?=\S)|--+(?!>)|>>+|[•│┃]"
    r"|(?<!\.)(?<!\b[A-Z][a-z])(?<!\b[A-Z][a-z]{2})(?<!\bGrad)(?<!\bL\.r)\.\s|[，；。]"
)
"""Marks that part cells; a point ends a sentence, but for `Up. 1000` and `Grad. Norm`."""

_LABEL = deferred(
    r"^[\s\"'\[(){#*`>=:-]*(?:(?:[\w.\/-]+\s+)?(?:INFO|DEBUG|WARNING)[\s:]+)?(?P<label>.*?)[\s\"'\[(`.]*(?P<sep>[:=：]>?|-+>|→|\bis\b)?[\s\"'\[(`~≈]*$"
)

_CALLED = deferred(r"\S*[A-Za-z][._:]\S*\s+(.+)")
"""The name of a function or a module in front of a label: `train_loop step=500`."""

_ASSIGNED = deferred(r"=(?:\"[^\"]*\"|[^\s\"]*)\s+")
"""`level=info msg="train step" step=10`: assignments of texts in front of a label."""

_CODE = deferred(
    r"[{%][\w.\[\]+*/() -]*:?[.,]?[0-9]*[dfsgeE]\}|%[-0-9.]*[dfsgeE]\b"
    r"|[=!<>]=|\+=|(?<!-)->\s*\w+:|&&|\|\|(?!\s{2})|^[^;]*;\s*$"
    r"|\b(?:def|return|import|class|lambda|assert|elif|const|var|let|fn|void)\b"
    r"|\b[A-Za-z_]\w*(?:\.\w+)*\((?![0-9.,%+a-z ]*\)|[A-Za-z%/. ]+\)[\"']?\s*[:=]?\s*[\"']?[0-9.-])"
    r"|^\s*(?:#(?![0-9])|//|/\*|\*\s|>{3}\s|\.\.\.\s|[-+][A-Za-z_]|\+\s|--\w|<|@)"
    r"|\\n|\$\{|\bself\."
)
"""Marks of source code, diffs and format strings, which no line of a trainer has."""

_TOLD = deferred(r"^\s*TrainOutput\(.*\bmetrics=(?P<held>\{[^{}]*\})\)\s*$")
"""The totals that a Hugging Face Trainer gives back, as a notebook shows them."""

_WORDS = 80
"""Characters in front of a bar that belong to it."""

LONGEST = 2000
"""Characters of a line beyond which it is a dump."""


class Pair(NamedTuple):
    """One number: its label and unit as printed, its text, and where it stands (from 0)."""

    label: str
    text: str
    behind: str
    start: int
    total: bool = False  # what the number before it counts up to
    span: tuple[int, int] = (0, 0)
    moment: bool = False  # a date, a time of day or a duration, kept as it is printed


class Said(NamedTuple):
    """A line taken apart: its pairs, and the form it has."""

    pairs: tuple[Pair, ...]
    form: str  # plain, braces, bar


def is_code(text: str) -> bool:
    """Whether a line is a piece of a program rather than what one printed."""
    return _CODE.search(text) is not None


_ALIKE: dict[Shape, Said | None] = {}

_MOST_ALIKE = 4096


def said(text: str) -> Said | None:
    """The pairs of a line; None where it is no line of output with any.

    All digits are alike to it: of lines that differ in nothing else one is taken apart.
    """
    if len(text) > LONGEST:
        return None
    alike = shape(text)
    if alike in _ALIKE:
        return _with_text(_ALIKE[alike], text)
    what = _taken_apart(text)
    if what is None or not any(_DIGIT.search(pair.label + pair.behind) for pair in what.pairs):
        if len(_ALIKE) >= _MOST_ALIKE:
            _ALIKE.clear()
        _ALIKE[alike] = what
    return what


_DIGIT = deferred("[0-9]")


def _with_text(alike: Said | None, text: str) -> Said | None:
    """The values of a line of which another of its shape was taken apart."""
    if alike is None:
        return None
    return Said(tuple([
        Pair(label, text[start : start + len(one)], behind, start, total, span, moment)
        for label, one, behind, start, total, span, moment in alike.pairs
    ]), alike.form)  # fmt: skip


def _taken_apart(text: str) -> Said | None:
    bar = _bar_of(text)
    if bar is not None:
        return _bar(bar, text)
    text = _DRAWN.sub(lambda drawn: "|" + " " * (len(drawn[0]) - 1), text)
    if told := _TOLD.match(text):
        text = " " * told.start("held") + told["held"]
    text = _RULED.sub(lambda rule: " " * len(rule[0]), text)
    stripped = text.strip()
    form = "braces" if stripped.startswith("{") and stripped.endswith("}") else "plain"
    if form == "plain" and is_code(text):
        begin = text.find("{")
        if begin < 0 or not stripped.endswith("}") or is_code(text[:begin]):
            return None
    if "{" in text and stripped.endswith("}"):
        form = "braces"
    pairs = tuple(_pairs(text, 0, len(text)))
    if form == "braces":
        inside = [(held[1], *held.span()) for held in _VALIDATED.finditer(text)]
        pairs = tuple(_within(pair, inside) for pair in pairs) if inside else pairs
    return Said(pairs, form) if pairs else None


_VALIDATED = deferred(
    r"[\"']?\b(val(?:id(?:ation)?)?|eval(?:uation)?|test)[\"']?\s*[:=]\s*\{[^{}]*\}"
)
"""Braces under a word of validation, and what stands in them: `"val": {"loss": 9.9}`."""


def _within(pair: Pair, inside: Sequence[tuple[str, int, int]]) -> Pair:
    """A pair under the word of the braces that it stands in, if it stands in any."""
    word = next((word for word, begin, end in inside if begin <= pair.start < end), None)
    return pair._replace(label=f"{word} {pair.label}") if word else pair


_GLUED = deferred(r"\W*((?i:global_?step|step|iter(?:ation)?))_?([0-9]{1,12})(?=\s|[:,|;/)\]]|$)")
"""A count that its label goes over into, where a line begins: `global_step10 loss 5.1`."""


def _pairs(text: str, begin: int, end: int) -> list[Pair]:
    found: list[Pair] = []
    at, last = begin, begin
    told = ""  # a label of which the count stands in front of the number
    if begin == 0 and (glued := _GLUED.match(text, 0, end)):
        found.append(Pair(glued[1], glued[2], "", glued.start(2), span=glued.span(2)))
        at = last = _behind_value(found, text, glued.end(), end)
    while True:
        value = _value().search(text, at, end)
        if value is None:
            return found
        gap = text[last : value.start()]
        if _in_label(gap, text, value.start()):
            at = value.end()
            continue
        label = _counted(_ordinal(_label(gap), text, value.end()), gap, found, text)
        label = label or told
        told = _told_at(gap) if label else ""
        done = _DONE_STEPS.match(text, value.end(), end) if label.lower() in _DONE else None
        if value["moment"] or done:
            if label:
                of = done[1] if done else label
                found.append(Pair(of, value[0], "", value.start(), moment=done is None))
            at = last = (done or value).end()
            continue
        said_unit, stop = _unit(label, text, value, end)
        after = None if label and not _BARRED.search(gap) else _AFTER.match(text, stop, end)
        if label and after is not None and not _named(after[1]):
            after = None
        if after is not None and (said_unit or not gap.strip() or _CELL.search(gap[-3:])):
            label = after[1]
        elif not label and said_unit not in ("", "%", "B"):
            label, after = said_unit, None  # the unit says what it is: `31,402 tok/s`
        else:
            after = None
        if found and _counts_alone(found[-1], text, value):
            found[-1], label = found[-1]._replace(label=""), found[-1].label
        found.append(Pair(label, value[0], said_unit, value.start(), span=(value.start(), stop)))
        stop = _behind_value(found, text, stop, end)
        at = last = max(stop, value.end(), after.end() if after else 0)


def _told_at(gap: str) -> str:
    """The label in front of a count that stands in front of its number; empty where none does.

    >>> _told_at("; train loss at global step "), _told_at("took 3 after step "), _told_at("Loss ")
    ('train loss', '', '')
    """
    of_count = _TOLD_AT.search(gap)
    before = gap[: of_count.start()] if of_count else ""
    return before[len(before.rstrip(_OF_WORDS)) :].lstrip("_ /")


def _behind_value(found: list[Pair], text: str, stop: int, end: int) -> int:
    """End of what stands behind the last value and its unit, which is taken in: what it counts up
    to, the same of one device, or of how many it is."""
    label, said_unit = found[-1].label, found[-1].behind
    held = _CAPACITY.match(text, stop, end) if said_unit else None
    if held is not None:
        place = (held.start(), held.end())
        found.append(Pair(f"{label} total", held[1], said_unit, held.start(1), span=place))
        return held.end()
    total = _TOTAL.match(text, stop, end) if not said_unit else None
    if total is not None:
        place = (total.start(), total.end())
        found.append(Pair(label, total[1], "", total.start(1), total=True, span=place))
        stop = total.end()
    of_all = _OF_ALL.match(text, stop, end) if said_unit else None
    if of_all is not None:
        if of_all[1] != "1":
            found[-1] = found[-1]._replace(label=f"{label} ({of_all[1]} gpus)")
        return of_all.end()
    shared = _SHARED.match(text, stop, end)
    if shared is not None:
        of_one = f"{label} per {shared[2].lower()}"
        found.append(Pair(of_one, shared[1], "", shared.start(1), span=shared.span()))
        stop = shared.end()
    return stop


def _unit(label: str, text: str, value: re.Match[str], end: int) -> tuple[str, int]:
    """The unit behind a number, and where it ends; a count has none."""
    at = value.end()
    several = _OF_SEVERAL.match(text, at, end)
    if several is not None:
        return f"{several[1]}/{several[2]} steps", several.end()
    behind = _CAPACITY.match(text, at, end)
    if behind is not None:
        return behind[2], at
    behind = _behind().match(text, at, end)
    if behind is None or (_counts(label) and not _is_time(value[0], behind["unit"])):
        return "", at  # `step 10 tokens/s 4321`
    if _NEXT.match(text, behind.end(), end) and _has_its_unit(label, behind["unit"]):
        return "", at  # `loss 5.1 tokens/s 4321`, `samples/s 53.1 tokens/s 4321`
    timed = text.endswith((" in ", " took "), 0, value.start())
    many = _STEPS_IN.search(text, 0, value.start()) if timed else None
    return f"{behind['unit']}/{many[1]} steps" if many else behind["unit"], behind.end()


def _is_time(text: str, behind: str) -> bool:
    """Whether what stands under the label of a count is a time: `step 2.410 s`."""
    known = unit(behind)
    return "." in text and known is not None and known.si == "s"


_NEXT = deferred(r"\s+[0-9]")


def _has_its_unit(label: str, behind: str) -> bool:
    """Whether a label names what has no unit, or one that it says itself: what stands behind its
    number is the label of the next."""
    if not label:
        return False
    what, other = meaning(label), meaning(label, behind)
    if what is None:  # `ppl 21.3 tok/s 4321`, but `speed 4321 tok/s 8`
        return "/" in behind and (other is None or not other.field)
    if what.typed:
        return other is None or other.field != what.field
    return what.field in _WITHOUT_UNIT


_WITHOUT_UNIT = {
    "loss", "grad_norm", "learning_rate", "epoch", "loss_scale", "consumed_tokens",
    "consumed_samples",
}  # fmt: skip
"""Columns of numbers behind which no unit stands."""


def _counted(label: str, gap: str, found: Sequence[Pair], text: str) -> str:
    """The label of a number behind a gap, but for a count of which another is the one meant."""
    if gap == " and " and found and (ends := _BETWEEN.search(text, 0, found[-1].start)):
        return ends[1]
    if _counts(label) and (_LISTED.search(gap) or _BETWEEN.search(gap)):
        return ""
    return label


def _counts(label: str) -> bool:
    return " ".join(words(label)) in COUNTERS


_ORDINAL = deferred(r"(?:\s?/\s?[0-9]+)?\s?(步|次迭代|轮|批次|个批次)")
"""The word that `第 100 步` counts, behind its number; with a total, `第 1/10 轮`."""


def _ordinal(label: str, text: str, end: int) -> str:
    """The label of a number that ends there, or the word behind it that it counts."""
    counted = _ORDINAL.match(text, end) if label.endswith("第") else None
    return counted[1] if counted else label


_IN_LABEL = deferred(r"[0-9]+\s?[x×]?\s?[A-Za-z][A-Za-z0-9-]{2,20}\)\s*[:=]")
"""A count that belongs to its label: `Time(1000 iters): 4.1s`, `tokens/s (8 GPUs): 31402`."""


_IN_BRACKET = deferred(r"[A-Za-z]\s?\([A-Za-z]+\s$")

_OF_BRACKET = deferred(r"[0-9]+\)\s?[:=]")
"""The number of a part that a label names: `LR (group 0)=1.5e-07`."""

_MANY = deferred(r"[0-9]+ (?:it(?:er(?:ation)?)?s|steps|batches)\s*[:=]")

_OF_MANY = deferred(r"(?i)time (?:(?:for|of|per) )?(?:the )?(?:last )?$")
"""`time for last 10 iterations: 12.7s`: a count that belongs to the label of a time."""


def _in_label(gap: str, text: str, start: int) -> bool:
    """Whether a number that starts there behind a gap is a part of a label."""
    if gap[-1:] == "(":
        return _IN_LABEL.match(text, start) is not None
    if _IN_BRACKET.search(gap):
        return _OF_BRACKET.match(text, start) is not None
    return gap[-1:] == " " and bool(_MANY.match(text, start) and _OF_MANY.search(gap))


def values(label: str, text: str, start: int) -> list[Pair]:
    """The number under a label as it stands in a column, with its total; none where there is none.

    >>> [(pair.text, pair.total) for pair in values("epoch", "3/100", 0)]
    [('3', False), ('100', True)]
    """
    if text in ("-", "--", "No log"):  # so a Hugging Face Trainer before its first mean
        return [Pair(label, "n/a", "", start)]
    found = _value().match(text)
    if found is None:
        return []
    behind = None if found["moment"] else _behind().match(text, found.end())
    total = _TOTAL.match(text, found.end()) if behind is None else None
    end = total.end() if total else behind.end() if behind else found.end()
    if end != len(text):
        return []
    pairs = [
        Pair(label, found[0], behind["unit"] if behind else "", start, moment=bool(found["moment"]))
    ]
    if total is not None:
        pairs.append(Pair(label, total[1], "", start + total.start(1), total=True))
    return pairs


def _counts_alone(before: Pair, text: str, value: re.Match[str]) -> bool:
    """Whether the number before one is a count between a label and what it is of.

    `Train loss 12 5.0082`: of two numbers behind a label, parted by blanks alone, an integer in
    front of a decimal counts, and the label is of the other.
    """
    between = text[before.span[1] : value.start()] if before.span[1] else "?"
    parted = text[: before.start].rstrip()[-1:]
    return (
        between.isspace()
        and bool(before.label)
        and not before.behind
        and (parted.isalnum() or parted == "_")
        and before.text.isdigit()
        and "." in value[0]
        and not _counts(before.label)
    )


_BARRED = deferred(r"[|,;]\s*$")
"""The end of what stands before a number that begins its cell: `rank 0 | 100 steps |`."""


def _named(label: str) -> bool:
    """Whether words behind a number say what it is."""
    return _counts(label) or meaning(label) is not None


def _own_words(label: str) -> str:
    """The words of a label that nothing but a blank parts from its number: one, two, and those in
    front that make it another's."""
    words_ = ["", "", *label.split()]  # `len = **10.0`: signs alone
    one, last = words_[-2:]
    two = f"{one} {last}".strip()
    known = _named(two) or is_part_of_loss(two) or one.lower() in NOT_OF_DEVICES | _HELD
    if not (known or one.lower() in _QUALIFIES):
        return last
    begin = len(words_) - 2
    while known and words_[begin - 1].lower() in _QUALIFIES:
        begin -= 1
    return " ".join(words_[begin:]).strip()


_NORM = deferred(r"(\|(?:g|grads?|∇\w*)\|)\s*[=:]?\s*$")
"""`|g| = 1.2`: bars that part no cells."""


def _label(gap: str) -> str:
    """The label at the end of what stands between two numbers; empty where there is none."""
    if norm := _NORM.search(gap):
        return norm[1]
    gap = _WHOSE.sub(" ", gap)
    if (bare := gap.rstrip())[-1:] in (":", "="):
        gap = bare  # `Loss:\t2.31`
    cell = _CELL.split(gap)[-1] if gap.strip() else ""
    if not cell.strip() and gap.strip():
        # what ends with a bracket or a bar before the number: `loss | 3.1`, `step [3]`
        pieces = [piece for piece in _CELL.split(gap) if piece.strip()]
        cell = pieces[-1] if len(pieces) == 1 and gap.strip().endswith("|") else ""
    match = _LABEL.match(cell)
    if match is None or not match["label"]:
        return ""
    label = _ASSIGNED.split(match["label"])[-1].strip(" \"'`*:=.")
    if not match["sep"] and '"' not in cell and "'" not in cell:
        # nothing but a blank parts the label from its number: one word, or two
        label = _own_words(label)
    called = _CALLED.match(label)
    if called is not None and _counts(called[1]):
        label = called[1]
    return label if _LETTER.search(label) else ""


_QUALIFIES = {"avg", "avg.", "average", "mean", "running", "rolling", "smoothed", "max", "maximum",
              "peak", "min", *VALIDATION}  # fmt: skip
"""Words in front of a label that make it that of another number: `avg step time 0.51 s`."""

_HELD = {"mem", "memory", "vram"}

_LETTER = deferred(r"[^\W\d_]")


def _bar_of(text: str) -> re.Match[str] | None:
    """The progress bar of a line; literals first, they cost less."""
    if "%" in text and (found := _BAR.search(text)):
        return found
    if ("it [" in text or "/? [" in text) and (found := _ENDLESS.search(text)):
        return found
    return _LOGGED_BAR.search(text) if "it/" in text else None


def _bar(bar: re.Match[str], text: str) -> Said | None:
    """A progress bar: what it counts, its rate, and what stands behind that in its bracket."""
    pairs = []
    front = text[: bar.start()].rstrip(" |:")  # `loss: 1.2 ||:  12%|#  |`
    begin = max(0, bar.start() - _WORDS, *(front.rfind(end) + 1 for end in "|\r"))
    if text[begin : bar.start()].strip():
        pairs += _pairs(text, begin, bar.start())
    pairs.append(Pair("bar", bar["at"], "", bar.start("at")))
    if "of" in bar.groupdict():
        pairs.append(Pair("bar", bar["of"], "", bar.start("of"), total=True))
    inside = bar["inside"]
    rate = _RATE.search(inside)
    begin = bar.start("inside")
    if rate is not None:
        pairs.append(Pair(rate[2], rate[1], rate[2], begin + rate.start(1)))
        begin += rate.end()
    pairs += _pairs(text, begin, bar.end("inside"))
    if bar.end() < len(text.rstrip()):  # `…it/s] loss: 3.1`
        pairs += _pairs(text, bar.end(), len(text))
    return Said(tuple(pairs), "bar")


def number(text: str) -> str:
    """A number without commas or underscores between its digits."""
    return text.replace(",", "").replace("_", "")


def is_bar_of_training(text: str) -> bool:
    """Whether the words before a bar say that it counts steps."""
    return not _COUNTED_BY_BARS.isdisjoint(words(_before_bar(text)))


def is_bar_of_validation(what: Said, text: str) -> bool:
    """Whether the words right before a bar say that it is none of training: `on:eval 20it/32it`,
    `Stepping through eval batches: 100%|`."""
    begin = next((pair.start for pair in what.pairs if pair.label == "bar"), len(text))
    *above, last = [words(each) for each in _before_bar(text[:begin]).split()[-3:]] or [()]
    told = {each for before in above for each in before} if last and last[0] in _PASSED else {*last}
    return not VALIDATION.isdisjoint(told)


_PASSED = {"batches", "batch", "steps", "step", "samples", "data", "set", "loop", "epoch"}
"""Words for what a bar counts, in front of which stands of which phase they are."""


def _before_bar(text: str) -> str:
    return (text.split("%|", maxsplit=1)[0]).rstrip("0123456789 ").rstrip(": ")


_COUNTED_BY_BARS = {
    "step", "steps", "train", "training", "iter", "iteration", "epoch", "episode",
}  # fmt: skip
