"""Words above a table, or in its rows, which say that nothing of it ran in training.

In: the headings and the lines above a table, and the texts of a row. Out: whether they say that
numbers were estimated, projected or simulated, or that they are of a model that is used, or of data
that is made ready. Where what was measured stands beside its estimate, its columns tell.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from functools import lru_cache

from assay.ingest.columns.headers import plain
from assay.ingest.grids.grid import LONGEST
from assay.ingest.schema.record import REMEMBERED, Line, Record
from assay.ingest.tables.named_above import SENTENCE_END, opens_table

_GUESS = "estimated|projected|theoretical|predicted|extrapolated|simulated"

_ESTIMATED = re.compile(
    rf"[\s*_#>]*(?:Table [0-9]+[.:]\W*)?(?:{_GUESS})\b",
    re.IGNORECASE,
)
"""Of what was not measured: `Estimated training time of a 7B model:`."""

_ESTIMATES = re.compile(
    rf"[\s*_#>0-9.]*(?:our |the )?(?:(?:{_GUESS})\b"
    r"|(?:(?!(?:of|to|from|near|with|at|than)\b)[\w-]{1,20} ){1,3}theoretical (?:peaks\b|peak "
    r"(?:performance|throughput|flops|rates?|numbers|specs?)\b)"
    r"|(?:training|step|memory|performance|throughput|scaling|speed|cost|resources?)"
    r"(?:[ -](?:time|cost|speed|memory|usage))? (?:estimates|estimations?|projections?"
    r"|predictions?|extrapolations?|simulations?)\b"
    r"|(?:估算|预估|预测|理论|仿真|模拟)(?:的)?(?:训练|性能|显存|时间|耗时|结果|峰值))"
    r"(?!.*(?:\b(?:measured|actual|observed|real|runs?|vs\.?|versus|against|compared|accuracy"
    r"|errors?|validat\w+)\b|实测|实际|对比))",
    re.IGNORECASE,
)
"""Of a section of what was not measured, and not of how well it was foreseen."""

_NO_RUN = re.compile(
    r"\b(?:numbers|values|figures|results|times|rows|entries|table)\b[^.;]{0,40}"
    r"\b(?:are|were|is|was|come|comes|came)\b[^.;]{0,30}"
    r"\b(?:estimat(?:e[sd]?|ions?)|simulat(?:ed|ions?|or)|predict(?:ed|ions)|projected|projections"
    r"|extrapolated|theoretical|hypothetical|not measured)\b"
    r"|\bno (?:run|job|measurement)s? (?:was|were) (?:made|done|started)\b|\bnothing was run\b",
    re.IGNORECASE,
)

_SOME = re.compile(
    r"\b(?:(?:is|are|was|were) measured|actual|real|some|marked|starred|with|italics?|columns?"
    r"|last|first|next to|beside|if|where|error|parenthes\w+|(?<!without )brackets|bracketed)\b",
    re.IGNORECASE,
)
"""Words by which not all numbers were found so."""

_UNTRAINED = re.compile(
    r"[\s*_#>]*(?:Table [0-9]+\W*)?"
    r"(?:(?:(?:offline|online|batch(?:ed)?|model) )?(?:inference|serving|decoding"
    r"|(?:sampling|prediction|predicting)(?=\W*$|,))"
    r"|推理|推論)(?![A-Za-z])(?!.*(?:\b(?:train|fine-?tun)|训练|微调|学習))"
    r"|[\s*_#>0-9.]*(?:pre-?train(?:ing|ed)|fine-?tun(?:ing|ed)|trained)(?: model)?s?"
    r" (?:inference|serving)\b(?! and\b|,|/)",
    re.IGNORECASE,
)
"""Of what is used and not trained: `Inference (vLLM, AWQ):`, `Fine-tuning inference on an A100`."""

_GENERATED = re.compile(
    r"(?:^|[.;,] )(?:(?!train|tun)[^.:;]){0,80}\b(?:generation|inference|decoding|serving)"
    r" (?:speeds?|throughputs?|rates?|latency|latencies|performance|numbers)\b"
    r"(?:(?!train|tun)[^.:;]){0,60}[:：]\s*$",
    re.IGNORECASE,
)
"""A clause that opens a table of what a model generates: `The generation speed did not change:`"""

_MADE_READY = re.compile(
    r"[\s*_#>0-9.]*(?:(?:the )?data[ -]?load(?:er|ing)s?|data (?:pipeline|preparation)"
    r"|(?:data )?pre-?processing|tokeni[sz](?:er|ation|ing)s?|storage|file ?systems?"
    r"|数据加载|数据预处理)(?![A-Za-z])",
    re.IGNORECASE,
)


def made_ready(heading: str) -> bool:
    """Whether a heading is of what is made ready for training: below it rows that say nothing of a
    run are of none."""
    return _MADE_READY.match(heading) is not None


def guessed_above(
    heading: str, titles: Sequence[Line], between: Sequence[Line], *, beside_estimates: bool
) -> bool:
    """Whether the headings above a table, or what stands between it and the table before, say that
    its rows are estimates or of no training."""
    if _UNTRAINED.match(heading):
        return True
    said = [line for line in between if line.text.strip()]
    opening = opens_table(said[-1:])
    if opening is not None and _UNTRAINED.match(opening.text):
        return True
    if said and len(said[-1].text) <= LONGEST and _GENERATED.search(said[-1].text):
        return True
    if beside_estimates:
        return False
    if opening is not None and _ESTIMATED.match(opening.text):
        return True
    texts = (heading, *(title.text for title in titles))
    return any(map(_ESTIMATES.match, texts)) or any(_says_none_ran(line.text) for line in said)


@lru_cache(maxsize=REMEMBERED)  # every table asks the lines above it, which tables share
def _says_none_ran(text: str) -> bool:
    if len(text) > LONGEST or not _NO_RUN.search(text):
        return False
    return any(_NO_RUN.search(each) and not _SOME.search(each) for each in SENTENCE_END.split(text))


_OF_A_GUESS = re.compile(
    rf"(?:{_GUESS}|ideal|target|goal|roof-?line|theory|simulation|prediction|projection|estimate"
    r"|est\.|理论|预测|估算|预估|目标|仿真)(?:\W.*)?"
    rf"|.*[(\[](?:{_GUESS}|ideal|target|goal|est\.?|theory|simulation|预测|估算|理论)[)\]]",
    re.IGNORECASE,
)
"""The name of a row that was not measured: `Theoretical peak`, `64 (projected)`, `Target`."""

_NOT_YET = re.compile(
    r"(?:still |only |not yet )?(?:planned|scheduled|queued|to ?do|tbd|pending|not started"
    r"|not (?:yet )?(?:run|measured|started|done)|计划中?|未开始|待测|排队中?)"
    r"(?: \([^()]{1,30}\))?\W*",
    re.IGNORECASE,
)
"""All of a text of a row whose run is still to come, as under `Status`."""

_NUMBER_OF_A_GUESS = re.compile(
    rf"[^()\[\]]*[0-9][^()\[\]]*[(\[](?:{_GUESS}|goal|target|planned|expected|est\.?|extrap\.?|proj\.?"
    r"|预测|估算|预估|目标|计划)[)\]]\W*",
    re.IGNORECASE,
)
"""A number that says of itself that it was not measured: `800 (goal)`, `1536 (extrapolated)`."""


_SIGN = r"\\?(\*{1,2}|[†‡§¹²³])"

_GUESSES = rf"(?:{_GUESS}|estimates?|extrapolations?|projections?|predictions?)(?! (?:peak|max))"

_IN_BRACKETS = r"(?:parenthes[ei]s|(?:round |square )?brackets)"

_SIGN_OF_GUESS = re.compile(
    rf"\s*(?:[>(]\s*)?{_SIGN}\)?\s*[:=–-]?\s*(?:[A-Za-z]+ ){{0,3}}?(?:{_GUESS}"
    r"|estimates?|extrapolations?|projections?)\b"
    rf"|.*\b(?:marked|with|denoted)\b.{{0,24}}?[`\"'(]?{_SIGN}[`\"')]?\s.{{0,24}}?"
    rf"\b(?:{_GUESS}|estimates?)\b"
    r"|.*\b(?:(?:with|by|have) an? (?P<called>asterisk|star|dagger)|(?P<starred>starred) \w+"
    rf"|(?P<within>(?:in(?:side)?|within|between) {_IN_BRACKETS}"
    r"|(?:parenthesi[sz]ed|bracketed) \w+)),?"
    r" (?:are|is|were|was) (?:(?!of |to |relative )[\w-]+ ){0,2}?"
    rf"(?:{_GUESSES}|not (?:yet )?(?:run|measured))\b"
    rf"|.*\b(?:{_GUESSES}(?: \w+)?|not (?:yet )?measured) (?:(?:are|is) )?(?:(?:given|shown|printed"
    rf"|put|set) )?in (?P<within2>{_IN_BRACKETS})\b",
    re.IGNORECASE,
)
"""A note on a sign behind numbers that were not measured: `* estimated with our model`; or on
brackets around them: `Values in parentheses are projected`."""

_STEMS = ("estimat", "project", "extrapol", "predict", "simulat", "theor", "measured", "not run")

_TAGS = re.compile(r"</?[a-z]{1,6}>")

_CELLS = re.compile(r"[|&\t]|   ")

_NAMED_SIGNS = {"asterisk": "*", "star": "*", "dagger": "†"}

_BRACKETED = "(…)"
"""Stands for brackets among the signs."""


def signs_of_guesses(lines: Sequence[Line]) -> frozenset[str]:
    """Signs by which a document says that numbers were not measured.

    >>> sorted(signs_of_guesses([Line(1, "\\\\* projected from 64 GPUs", 1, {})]))
    ['*']
    >>> for text in (
    ...     "Values in parentheses are projected from our model, not measured.",
    ...     "Rows with an asterisk are estimates.",
    ...     "Numbers in brackets are relative to the theoretical peak.",
    ... ):
    ...     print(*signs_of_guesses([Line(1, text, 1, {})]))
    (…)
    *
    <BLANKLINE>
    """
    found = set()
    below = [*(line.text for line in lines[1:]), ""]
    for line, rest in zip(lines, below, strict=True):  # a sentence may go on in the next line
        text = line.text if _CELLS.search(rest) else f"{line.text} {rest}"
        small = text.casefold() if len(text) <= LONGEST else ""
        if any(stem in small for stem in _STEMS) and (told := _SIGN_OF_GUESS.match(text)):
            sign = _NAMED_SIGNS.get((told["called"] or "star").casefold(), "")
            bracketed = told["within"] or told["within2"]
            found.add(_BRACKETED if bracketed else told[1] or told[2] or sign)
    return frozenset(found)


def signed_so(texts: Sequence[str], signs: Set[str]) -> bool:
    """Whether the text of a row ends with one of some signs, and is not in italics.

    >>> [signed_so([text], {"*", "†"}) for text in ("4.81†", "64 <sup>†</sup>", "1.2*", "*1.2*")]
    [True, True, True, False]
    """
    bare = (
        each.replace("\\", "")
        for text in texts if len(text) <= LONGEST
        for each in (plain(text), _TAGS.sub("", text).strip())
    )  # fmt: skip
    return any(
        text.endswith(sign) and len(text) > len(sign) and not text.startswith("*")
        for text in bare
        for sign in signs
    )


def foreseen(record: Record, measures: Set[str] = frozenset()) -> bool:
    """Whether a text of a row says that it was not measured, or what stands for its measures says
    so of a run to come: `TBD`, with no number beside it."""
    texts = [text for _, text in record.other]
    texts += [record.cells[name].text for name in ("model", "notes") if name in record.cells]
    held = [record.cells[name] for name in measures & record.cells.keys()]
    if any(_NOT_YET.fullmatch(plain(each.text)) for each in held):
        return all(each.state in ("missing", "unknown") for each in held)
    return any(len(text) <= LONGEST and _is_foreseen(text) for text in texts)


@lru_cache(maxsize=REMEMBERED)  # rows repeat their texts
def _is_foreseen(text: str) -> bool:
    bare = plain(text) if any(map(str.isalpha, text)) else ""
    return any(form.fullmatch(bare) for form in (_OF_A_GUESS, _NOT_YET))


def bracketed_guess(text: str, signs: Set[str]) -> bool:
    """Whether a cell is all in brackets, and these are of numbers that were not measured.

    >>> [bracketed_guess(text, {"(…)"}) for text in ("(1.19)", "**(0.66)**", "1.19 (0.66)", "-")]
    [True, True, False, False]
    """
    return _BRACKETED in signs and _ALL_IN_BRACKETS.fullmatch(plain(text)) is not None


_ALL_IN_BRACKETS = re.compile(r"\s*[~≈]?\s*(?:\([^()]+\)|\[[^\[\]]+\])\s*")


@lru_cache(maxsize=REMEMBERED)
def is_guess(text: str) -> bool:
    """Whether the number in a cell says of itself that it was not measured.

    >>> is_guess("800 (goal)"), is_guess("**1536** (extrapolated)"), is_guess("312 (peak)")
    (True, True, False)
    """
    noted = text.rstrip("*_` ").endswith((")", "]"))
    return noted and _NUMBER_OF_A_GUESS.fullmatch(plain(text)) is not None
