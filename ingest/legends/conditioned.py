"""Settings that a text says of the rows in which another one is large enough: `SP where TP > 1`; or
of those of some device or number format: `On V100 we ran in fp16`.

In: the records of tables, and the lines of their document. Out: the same rows, with what such a
sentence says of those that meet its condition, and perhaps of those that do not (`otherwise it is
off`); and these sentences, which say nothing else of the rows that do not, nor of rows that do not
print what is asked for. Attention that some rows have in place of the fused one is unknown.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from assay.ingest.columns.cells import number_of
from assay.ingest.columns.composite import NAMES, named
from assay.ingest.columns.footnotes import clause_around
from assay.ingest.columns.other_runs import sentences
from assay.ingest.grids.grid import LONGEST
from assay.ingest.legends.label_signs import Explanation, paragraphs, placed, settings_of
from assay.ingest.prose.claims import COUNTS
from assay.ingest.schema.record import Cell, Line, Record
from assay.ingest.schema.terminals import deferred
from assay.ingest.vocabulary.devices import SIGN, device_at, several, signed
from assay.ingest.vocabulary.terms import NUMBER_FORMAT, configured_by

_NAME = (
    r"(?P<name>TP|MP|PP|DP|CP|EP|VPP?|MBS|GBS|GPUs|nodes|(?:tensor|pipeline|data|context|expert)"
    r"[- ]parallel(?:ism)?(?: (?:degree|size))?|micro[- ]batch(?: size)?|sequence length)"
)

_MORE = r"(?:>|larger than|greater than|bigger than|above|more than|over|exceeds)"

_LEAST = r"(?:>=|≥|at least|from|no less than)"

_EQUAL = r"(?:==?|of|equal to|equals)"

_UP = r"(?:(?:or|and) (?:more|larger|higher|greater|bigger|above|over|up|beyond)|upwards?)\b"

_CONDITION = deferred(
    r",? ?\b(?:if|when|where|wherever|whenever|for|with|as soon as|(?P<of>in|for|on) (?:all |every "
    r"|each |any )?(?:of )?(?:the )?(?:runs?|rows?|cases|models?|jobs?|layouts?|configurations?)"
    r" (?:with|of|that (?:has|have|use))"
    rf"|only (?:if|when|where|for|with)) (?:(?P<one>an?) |the )?{_NAME}\s?(?:is )?"
    rf"(?:(?P<more>{_MORE})|(?P<least>{_LEAST})|(?P<equal>{_EQUAL}))\s?(?P<n>[0-9]{{1,5}}|one)\b"
    rf"(?P<up> {_UP})?"
    r"|(?:当|在)?\s?(?P<name2>TP|PP|DP|CP|EP|VPP?|MBS|GBS)\s?(?:(?P<more2>大于|超过|>)"
    r"|(?P<least2>大于等于|不小于|至少为?|>=|≥)|(?P<equal2>等于|为|=))\s?(?P<n2>[0-9]{1,5})\s?(?:时|的情况下|的(?:配置|行|实验)"
    r")"
    r"|(?P<name3>TP|PP|DP|CP|EP|VPP?|MBS|GBS)\s?(?:が|이|가)?\s?(?P<n3>[0-9]{1,5})\s?"
    r"(?P<more3>(?:より大きい|を超える)(?:場合|とき)[はに]?|보다 (?:크면|클 때(?:는|만)?)"
    r"|초과(?:면|일 때))"
    r"|(?:^\W*|<(?:p|li|br|div)\b[^<>]{0,80}>\s*)(?P<equal4>with|on|for|at) "
    rf"(?P<n4>[0-9]{{1,5}}|{'|'.join(COUNTS)}) "
    r"(?P<name4>GPUs?|nodes?|cards?|devices?|chips?|NPUs?|machines?|servers?)"
    r"(?=,? (?:we|I|they|(?:the|all|these|our) (?:runs?|models?|weights|states|layers))\b)"
    rf"|(?:\b(?:from|at|for|with|on|if|when|where) )?{_NAME.replace('<name>', '<name5>')}"
    rf"\s?[=:]?\s?(?P<n5>[0-9]{{1,5}})(?P<least5>\+(?![\w+])|,?\s?{_UP}|\s?(?:及|或|和)?以上|\s?(?:或|及)更[大高多]"
    r"|\s?이상)",
    re.IGNORECASE,
)
"""A condition on a number of a row."""

_MANY = (
    rf" (?P<n6>[0-9]{{1,5}}|{'|'.join(COUNTS)}) "
    r"(?P<name6>GPUs?|nodes?|cards?|devices?|chips?|NPUs?|GCDs?|machines?|servers?)\b"
)

_COUNTED = deferred(
    r"(?P<opens>^\W*)?(?:(?:(?P<runs>runs|jobs|rows|configurations|cases) )?"
    r"(?:for|on|with|at|using) |(?P<if>,? ?(?:if|when|whenever|where|as soon as)"
    r"(?: (?:there (?:is|are)|it (?:is )?runs?|(?:running|run|started|launched|trained)"
    r"|(?:on|with|using))){0,3}) )?"
    r"(?:(?P<least6>from|starting (?:at|from|with)|at least)|(?P<most6>up to|at most|no more than)"
    r"|(?P<more6>above|beyond|more than)|(?P<less6>below|under|fewer than|less than))"
    rf"{_MANY}(?P<on>,? (?:on(?:wards?)?|and (?:more|up|upwards?|beyond|above)|upwards?)\b)?"
    r"(?P<given> (?:is|are|was|were) (?:given|used|available|requested|specified|passed|set|there"
    r"|present|visible|in use)\b)?"
    rf"(?!,? (?:to|through|until) )|(?:for|on|with|at){_MANY.replace('6>', '7>')},?"
    rf" (?P<least7>{_UP}|and more\b)",
    re.IGNORECASE,
)
"""A condition on how many devices a row has: `From 64 GPUs on`, `runs on more than 8 nodes`."""

_OBSERVED = deferred(
    r"\b(?:observ\w+|see|saw|seen|scal\w+|drop\w*|helps?|reach\w*|achiev\w+|gets?|got|improv\w+"
    r"|degrad\w+|bound|limit\w*|grows?|falls?|throughput|efficien\w+|bottleneck\w*)\b",
    re.IGNORECASE,
)
"""Words of what came of so many devices, beside which settings are of all runs."""

_OF_NODES = ("node", "machine", "server")

_THE_OTHERS = (
    r"(?:(?:the |all |any )?(?:(?:smaller|larger|bigger|lower|higher|remaining|other)"
    r" (?:runs|ones|jobs|rows|scales?|counts?|configurations|sizes|numbers)|others|rest)"
    r"|(?:beyond|above|below|past|after|under)(?: (?:that|this|it|which))?|otherwise|elsewhere"
    r"|from (?:there|then) on)"
)

_COMPLEMENT = deferred(
    rf"[\s,;:.–—(]{{1,4}}(?:(?:and|but|while|whereas|for|on|in|with) ){{0,2}}{_THE_OTHERS}"
    r"(?![\w-])[,:]?(?P<what> [^,;:.()]{1,60})(?=[,;:.()]|$)"
    r"|[\s,;–—]{1,4}(?:(?:and|but|while|whereas) )?(?P<what2>[^,;:.()]{2,40}?)(?: for| on| in)?"
    rf" {_THE_OTHERS}(?=[,;:.()]|$)",
    re.IGNORECASE,
)
"""Words on the rows that do not meet a condition: `; the smaller runs have PP=2`."""

_ONE_NUMBER = deferred(
    r"\W*(?:(?:we|I|it|they|use[sd]?|using|has|have|had|with|at|of|is|are|was|were|run|ran|only"
    r"|just|a|the|to|stage|size|degree|switch(?:ed)?|went|go) ){0,6}?(?P<n>[0-9]{1,6})"
    r"(?: (?:(?:is|was) (?:enough|sufficient|used)|suffices|sufficed|instead|alone))?\W*",
    re.IGNORECASE,
)
"""A number of the setting that was named before it: `stage 1 is enough`."""

_ROWS = r"(?:rows?|runs?|lines?|entries|results|numbers|measurements|的?(?:行|实验|配置|结果))"

_OF_SOME = deferred(
    r"\W*(?:(?:but|however|and|only|note(?: that)?),? )?(?:"
    r"(?:on|for|with|in) (?:the |our |all (?:the )?)?"
    rf"(?P<device>{SIGN})s?(?: (?:GPUs?|cards?|systems?|machines?|nodes?|servers?|{_ROWS}))?"
    rf"|(?:the |our |all (?:the )?)?(?P<device2>{SIGN})s?"
    rf"(?: {_ROWS}|(?= (?:uses?|used|runs?|ran)\b))"
    rf"|(?:(?:on|for|with|in) )?(?:the |our |all (?:the )?)?(?P<format>{NUMBER_FORMAT}) ?{_ROWS})"
    r"(?=[,:]? [A-Za-z`*]|[,，:：]? ?[\u4e00-\u9fff])",
    re.IGNORECASE,
)
"""How a sentence begins that is of the rows of one device, or of one number format."""

_OFF = (
    r"(?:(?:it|this|that|they) )?(?:(?:is|was|are|were|stays|stayed) )?"
    r"(?:(?:always|turned|switched|left) )?(?:off|not (?:used|enabled|on)|unused|disabled|none)\b"
)

_OTHERWISE = deferred(
    r"[\s*_`]*[,;.:–—]?\s*(?:and |but )?(?:otherwise|elsewhere|else|in all (?:the )?other "
    rf"(?:rows|runs|cases)),? {_OFF}"
    rf"|[\s*_`]*[,;.:–—]\s*(?:and |but )?{_OFF} (?:otherwise|elsewhere|(?:for|in|on|with)"
    r" (?:all )?(?:of )?(?:the )?(?:others?|rest|(?:other|remaining) (?:ones|rows|runs|models"
    r"|jobs)))\b",
    re.IGNORECASE,
)
"""Behind what is so where a condition is met: elsewhere it is not."""

_WITHOUT = {
    "sequence_parallel": ("sequence_parallel", "False"),
    "recompute": ("recompute", "none"),
    "activation_checkpointing": ("recompute", "none"),
    "attention": ("attention", "unfused"),
}
"""Settings of rows that are without a switch."""

_SET = deferred(
    r"\b(?:use[sd]?|using|is|are|was|were|on|off|enabled?|disabled?|switch(?:ed)?|turn(?:ed)?|appl(?:y|ied)"
    r"|run|ran|train(?:ed)?|add(?:ed)?|have|has|had)\b|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]",
    re.IGNORECASE,
)
"""Words that set what stands beside them."""

_NO_SETTING = deferred(
    r"\b(?:OOM|out of memory|fail\w*|slow\w*|fast\w*|would|could|can|may|might|should|must|need\w*"
    r"|recommend\w*|crash\w*|fits?|requires?|better|worse|supported|support|possible|try|tried|inference|serving|decod\w*|generat\w*"
    r"|eval\w*|than|versus|vs|compared)\b"
    r"|建议|推荐|需要|可以|支持|更快|更慢|推奨|必要|できます|권장|필요|가능",
    re.IGNORECASE,
)
"""Words of what was not set, or perhaps not."""


_NO_FLASH = deferred(
    r"(?:\breplac(?:e[sd]?|ing)|\bswap(?:s|ped|ping)?|\bdrop(?:s|ped|ping)?|\bremov(?:e[sd]?|ing)"
    r"|\binstead of|\brather than|\bin place of) (?:the |our )?flash[-_ ]?att(?:entio)?n"
    r"|\bflash[-_ ]?att(?:entio)?n(?:[-_ ]?v?[1-4])?(?: (?:is|was|has been|isn['’]t|wasn['’]t|not"
    r"|never)){1,3} (?:replaced|swapped|dropped|removed|supported|available)\b(?! by flash)",
    re.IGNORECASE,
)
"""Words by which some rows have another kernel of attention than the fused one."""


class _Saying(NamedTuple):
    field: str
    sign: str
    number: float
    name: str  # of the device or the number format that is asked for, with the sign `named`
    said: Explanation
    others: Mapping[str, str]  # of the rows that do not meet the condition


def tell(
    records: Sequence[Record], lines: Sequence[Line]
) -> tuple[set[int], Sequence[Explanation]]:
    """Give rows, in place, what is said of those that meet a condition; the lines that said it, and
    the sentences, which are of no other rows."""
    rows = [row for row in records if row.tabled and row.alike is None]
    sayings = list(_sayings(lines)) if rows else []
    used, explained = set[int](), list[Explanation]()
    heads = [line.number for line in lines if line.text.startswith("#")] if sayings else []
    first = min((row.line for row in rows), default=0)
    for saying in sayings:
        section = bisect_right(heads, saying.said.line)
        mine = [row for row in rows if saying.field in row.cells]
        here = [row for row in mine if bisect_right(heads, row.line) == section]
        if saying.said.line < first:  # it is of all that follows, or of all parts of its own part
            end = _end_of_part(lines, saying.said.line) if here else None
            here = [row for row in mine if end is None or row.line < end]
        met = [row for row in here if _meets(row, saying)]
        if saying.name and not 0 < len(met) < len(here):
            continue  # it is of no rows beside others
        own = {id(row) for row in met}
        for row in here:
            for name, text in (saying.said.values if id(row) in own else saying.others).items():
                cell = Cell(text, row.line, row.column, value_origin="stated")
                if not _holds(row, name, saying):
                    row.cells[name] = cell if text else cell._replace(state="unknown")
        if here or (not mine and saying.sign in ("more", "least")):
            used.add(saying.said.line)
            explained.append(saying.said)
    return used, explained


def _end_of_part(lines: Sequence[Line], at: int) -> int | None:
    """The line of the next heading that is no lower than the one which a line stands under."""
    level = 0
    for line in lines:
        depth = len(line.text) - len(line.text.lstrip("#"))
        if depth and line.number < at:
            level = depth
        elif depth and level and depth <= level:
            return line.number
    return None


def _holds(row: Record, name: str, saying: _Saying) -> bool:
    """Whether a row has a setting that a sentence does not change: what a text says of all rows is
    otherwise in those of a device or format that the sentence names."""
    held = row.cells.get(name)
    if held is None:
        return False
    return not saying.name or held.value_origin != "stated" or held.line == row.line


def _meets(row: Record, saying: _Saying) -> bool:
    if saying.name:
        text = row.cells[saying.field].text
        alike = text.casefold() == saying.name.casefold()
        return alike if saying.field == "dtype" else not several(f"{saying.name}; {text}")
    number = number_of(row.cells[saying.field])
    if number is None:
        return False
    held = {"more": number > saying.number, "least": number >= saying.number,
            "less": number < saying.number, "most": number <= saying.number}  # fmt: skip
    return held.get(saying.sign, number == saying.number)


def _sayings(lines: Sequence[Line]) -> Iterator[_Saying]:
    """Sentences of a document with a condition, and what each says."""
    plain = [line._replace(text=_QUOTED.sub(lambda mark: " " * len(mark[0]), line.text))
             for line in lines if len(line.text) <= LONGEST]  # fmt: skip
    for paragraph in paragraphs(plain):
        text = " ".join(line.text for line in paragraph)
        at = 0
        for sentence in sentences(text):
            begin, at = at, at + len(sentence)
            of_some = _of_some(sentence)
            found = of_some or _condition(sentence)
            if found is None:
                continue
            opens = of_some is not None and sentence[found.end()] in ":："
            first, last = (0, len(sentence)) if opens else clause_around(sentence, found)
            aside = _ASIDE.match(sentence, last)
            last = aside.end() if aside else last
            rest = None if of_some else _of_the_rest(text, begin + found.end(), begin + last)
            last = min(last, rest.start() - begin) if rest else last
            told = _told(sentence[first:last], found, first)
            field, sign, number = ("", "", 0.0) if of_some else _asked(found)
            field, name = _named(sentence, found) if of_some else (field, "")
            if told and field and field not in told:
                off = _OTHERWISE.match(text, begin + last) if len(told) == 1 else None
                end = max([each.end() for each in (off, rest) if each], default=begin + last)
                places = tuple(placed(paragraph, begin + first, end))
                others: Mapping[str, str] = {}
                if off:
                    others = dict(_WITHOUT[n] for n in told if n in _WITHOUT)
                elif rest:
                    others = _told_otherwise(rest["what"] or rest["what2"], told)
                said = Explanation(told, places[0][0], places)
                yield _Saying(field, sign, number, name, said, others)


def _of_the_rest(text: str, begin: int, end: int) -> re.Match[str] | None:
    """The words on the rows that do not meet a condition, which stands in front of `begin`, in its
    clause, which ends at `end`, or right behind that."""
    found = _COMPLEMENT.search(text, begin)
    return found if found and found.start() <= end else None


def _told_otherwise(what: str, told: Mapping[str, str]) -> Mapping[str, str]:
    """Settings of the rows that do not meet a condition, by what those have that do.

    >>> _told_otherwise("stage 1 is enough", {"zero_stage": "3"}), _told_otherwise("PP=2", {})
    ({'zero_stage': '1'}, {'pp': '2'})
    >>> _told_otherwise("it took 30 minutes", {"zero_stage": "3"})
    {}
    """
    if _NO_SETTING.search(what):
        return {}
    if said := settings_of(what.strip()) or named(what.strip()):
        return said
    number = _ONE_NUMBER.fullmatch(what)
    alone = len(told) == 1 and all(text.isdecimal() for text in told.values())
    return dict.fromkeys(told, number["n"]) if number and alone else {}


def _of_some(sentence: str) -> re.Match[str] | None:
    """How a sentence begins that is of the rows of one device or format, and names no other."""
    plain = signed(sentence)
    found = _OF_SOME.match(plain)
    return found if found and plain.count("\ufffc") <= 1 else None


def _named(sentence: str, found: re.Match[str]) -> tuple[str, str]:
    """The field of what a sentence is of, and how it is called there."""
    if found["format"]:
        return "dtype", found["format"]
    group = "device" if found["device"] else "device2"
    return "gpu", device_at(sentence, found.start(group)).text


_QUOTED = re.compile(r"^\s*>+ ?")


_ASIDE = deferred(r"[(（][^()（）]{1,80}[)）]")
"""A remark behind a clause, which is of it: the option that does it."""


def _condition(sentence: str) -> re.Match[str] | None:
    """The condition of a sentence; what all have `with a length of 2048` is none."""
    found = _CONDITION.search(sentence)
    one = found is not None and found["one"] and found["equal"]
    found = None if found and one and not (found["up"] or found["of"]) else found
    return found or _on_so_many(sentence)


def _on_so_many(sentence: str) -> re.Match[str] | None:
    """The condition of a sentence that begins with how many devices there are, or names runs by
    that, or says of others what they have; `we scaled up to 64 GPUs with TP 4` is of all.

    >>> _on_so_many("We trained on up to 64 GPUs with TP 4.")
    >>> _on_so_many("ZeRO-3 up to 16 GPUs, ZeRO-1 beyond that.")[0]
    'up to 16 GPUs'
    """
    found = None if _OBSERVED.search(sentence) else _COUNTED.search(sentence)
    if found is not None and found["if"] and _ADVICE.search(sentence):
        return None
    if found is None or any(found[sign] for sign in ("least7", "on", "runs", "if")):
        return found
    if (found["least6"] or "").casefold() in ("from", "at least"):
        return None
    opens = found["opens"] is not None
    return found if opens or _COMPLEMENT.search(sentence, found.end()) else None


_ADVICE = deferred(r"\b(?:you|your|users?)\b|^\W*(?:please )?(?:use|enable|try)\b", re.IGNORECASE)
"""Advice to readers: `Use FSDP if there is more than one GPU.`"""


def _asked(found: re.Match[str]) -> tuple[str, str, float]:
    """The field that a condition asks for, how it compares, and with which number."""
    held = {key.rstrip("234567"): word for key, word in found.groupdict().items() if word}
    if "up" in held:  # `of 2 or more`
        held["least"] = held.pop("equal", "") or held.pop("more", "")
    name = held["name"].casefold()
    field = NAMES.get(name) or configured_by(name) or ""
    if {"name4", "name6", "name7"} & {key for key, word in found.groupdict().items() if word}:
        field = "nodes" if name.startswith(_OF_NODES) else "gpus"
    sign = next(key for key in ("more", "least", "equal", "less", "most") if key in held)
    count = held["n"].casefold()
    return field, sign, float(COUNTS.get(count, count)) if count != "one" else 1.0


def _told(clause: str, found: re.Match[str], begin: int) -> Mapping[str, str]:
    """Settings that a clause says beside its condition; it begins so far in its sentence.

    >>> told = "Sequence parallelism is on wherever TP > 1."
    >>> _told(told, _CONDITION.search(told), 0)
    {'sequence_parallel': 'True'}
    >>> told = "With TP > 1 and micro batch 2 it fails."
    >>> _told(told, _CONDITION.search(told), 0)
    {}
    """
    rest = f"{clause[: found.start() - begin]} {clause[found.end() - begin :]}".strip(" .,;:。，")
    if _NO_FLASH.search(rest):
        return {"attention": ""}
    if _NO_SETTING.search(rest) or _CONDITION.search(rest) or _COUNTED.search(rest):
        return {}
    rest = _IN_ITS_PLACE.sub("", rest)
    if _SET.search(rest) is None:
        return settings_of(rest) or named(rest)
    on = _USED.sub("is on", rest)
    return settings_of(on) or named(_IS.sub(" ", on)) or settings_of(rest)


_IN_ITS_PLACE = deferred(
    rf",? (?:instead of|rather than|in place of) {NUMBER_FORMAT}(?![\w-])", re.IGNORECASE
)
"""The format that some rows have not: `fp16 instead of bf16`."""


_USED = deferred(r"\b(?:is|are|was|were) (?:always )?(?:used|active|applied|employed|in use)\b")

_IS = deferred(r"\s+(?:is|are|was|were)(?: (?:turned|switched))?\s+")
