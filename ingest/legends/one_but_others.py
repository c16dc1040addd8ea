"""Settings of the rows of some models that a text gives otherwise to all others: `XXL needs full
remat on 16 chips, the other rows are without remat`, `Only the 3B model used checkpointing`.

In: the records of tables, and the lines of their document. Out: the same rows, with what such a
sentence says of the rows of the models that it names, on as many devices as it says, and of the
others of the same section; and these sentences. Where no row is of these models, or all are, it
says nothing: nobody knows then which rows are the others. `3B and 7B use sequence parallelism` says
nothing of others.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import NamedTuple

from assay.ingest.columns.cells import number_of
from assay.ingest.columns.composite import named
from assay.ingest.columns.footnotes import clause_around, of_other_rows, said_of_others
from assay.ingest.columns.other_runs import sentences
from assay.ingest.columns.titles import SIZED, full_name
from assay.ingest.legends.label_signs import (
    AGAIN,
    Explanation,
    give_its_own,
    paragraphs,
    placed,
    settings_of,
)
from assay.ingest.schema.record import Line, Record
from assay.ingest.schema.terminals import deferred
from assay.ingest.source.headings import of_set_up
from assay.ingest.tables import captions

_ONE = deferred(
    r"\W*(?:(?:only|the|just) ){0,2}(?P<name>[\w.-]{2,20}(?: [\w.-]{1,12}){0,2}?)"
    r"(?: (?:models?|rows?|runs?))?"
    r" (?:needs|uses|has|takes|requires|needed|used|had|took|required|(?:runs|ran|is run|was run"
    r"|is|was|trains|was trained) (?:with|in))"
    r" (?P<what>[^,;]{3,80}?)"
    r"(?: on (?P<n>[0-9]{1,5}) (?:chips|GPUs|cards|devices|NPUs|accelerators|GCDs))?[ ,;:.(]*",
    re.IGNORECASE,
)
"""A clause on one model, and how many devices it was on."""

_NAME = r"(?!(?:all|both|we|they|it|this|these)\b)-?[\w./-]{2,48}"

_SOME = deferred(
    rf"\W*(?P<only>(?:only|just) )?(?:(?:for|with) )?(?:the )?"
    rf"(?P<name>{_NAME}(?: [\w.]{{1,12}}){{0,2}}?"
    rf"(?:(?:, | and |, and | & )(?:the )?{_NAME}){{0,4}}?)"
    r"(?: (?:models?|rows?|runs?|ones?|entries))?"
    r" (?:uses?|used|has|have|had|(?:runs?|ran|(?:is|are|was|were)(?: run| trained)?|trains?"
    r"|trained) (?:with|in|using))"
    r" (?P<what>[^,;:.()]{3,60}?)(?: \((?P<how>[^()]{3,40})\))?\s*(?=[,;:.]|$)",
    re.IGNORECASE,
)
"""A clause on some models, which may say that it is of no other: `Only the 3B model used`."""

_IN_CHINESE = deferred(
    r"\W*(?:(?:备?注|说明|注意)\W+)?(?P<only>(?:只有|仅有?) ?)?`?(?P<name>[A-Za-z0-9][\w./-]{1,48}"
    r"(?:`?(?: ?[、,，和及与] ?)`?[A-Za-z0-9][\w./-]{1,48}){0,4})`? ?(?:的)?"
    r"(?:模型|各?行|配置|任务)?(?:[均都]?(?:是)?(?:使用|采用|开启|启用|打开|用|开))"
    r"了? ?(?P<what>[^,，;；。()（）]{2,40}?)"
    r"(?P<others>[,，;；] ?(?:而)?其[余他它](?:的)?(?:各?行|模型|配置|任务|实验|结果)?[均都]?"
    r"(?:则)?(?:未|没有?|不|关闭|没)(?:有)?(?:开启|使用|启用|采用|打开|开|用)?了?)?\s*[。.]?\s*"
)
"""The same in Chinese: `13B 使用重计算，其余模型未开启`, `仅 13B 开启重计算`."""

_PART = r"(?:phase|stage|run|row|period|part|regime|setting|configuration|job|model|case)s?"

_ONLY_IN = deferred(
    r"\W*(?:(?:we|I) )?(?P<first>only )?"
    r"(?:(?:use[sd]?|apply|applied|enabled?|(?:turn|switch)(?:ed)?"
    r" on|have|had|need(?:ed)?) )?(?P<what>[^,;:.()]{3,60}?)(?: \((?P<how>[^()]{3,40})\))?"
    r" (?:(?:is|was|are|were) )?(?P<early>(?:only|just) )?"
    r"(?:(?:on|used|enabled|active|applied|(?:turned|switched) on) )?(?P<before>(?:only|just) )?"
    r"(?:in|for|during|with|on) (?:the )?"
    rf"(?P<name>{_NAME}(?: [\w.]{{1,12}}){{0,2}}?)(?: {_PART})?(?P<behind> (?:only|alone))?"
    r"\s*(?=[,;:.]|$)",
    re.IGNORECASE,
)
"""A clause on what some rows alone have: `We use full remat in the long-context phase only`."""

_IN_THEM_ONLY = deferred(
    r"\W*(?:only|just) (?:in|for|during|with|on) (?:the )?"
    rf"(?P<name>{_NAME}(?: [\w.]{{1,12}}){{0,2}}?)(?: {_PART})?,? (?:(?:do|did|is|was|are|were) )?"
    r"(?:(?:we|I) )?(?:(?:use[sd]?|apply|applied|enabled?|have|had|need(?:ed)?) )?"
    r"(?P<what>[^,;:.()]{3,60}?)(?: (?:on|used|enabled|applied|active))?\s*(?=[,;:.]|$)",
    re.IGNORECASE,
)
"""The same, with the rows first: `Only for the last stage do we use recomputation`."""

_DO_NOT = deferred(
    r"\W*(?:do|does|did|are|is|were|was|have|had)(?: ?n[o'’]t|n['’]t)(?: (?:use|have) (?:it|them))?"
    r"|\W*(?:(?:are|is|run|ran|do|were|was) )?without(?: it)?"
    r"|\W*(?:(?:uses?|used|needs?|needed|have|has|had|with) )?(?:none|not)",
    re.IGNORECASE,
)
"""The clause on others by which these have not what some have: `the others do not`, `use none`."""

_LISTED = deferred(r"(?:,| and | & )\s*(?:and )?(?:the )?")

_TAGS = deferred(r"</?[a-z]{1,6}>")


class _Saying(NamedTuple):
    names: Sequence[str]
    devices: float
    one: Mapping[str, str]
    others: Mapping[str, str]
    said: Explanation
    device: str = ""
    pretrained: bool = False


def tell(
    records: Sequence[Record], lines: Sequence[Line]
) -> tuple[set[int], Sequence[Explanation]]:
    """Give rows, in place, what is said of one model and of all others; the lines that said it, and
    the sentences, which are of no other rows."""
    rows = [row for row in records if row.tabled and row.alike is None]
    used, explained = set[int](), list[Explanation]()
    sayings = list(_sayings(lines)) if rows else []
    titles = [line for line in lines if _HEADING.match(line.text)] if sayings else []
    heads = [line.number for line in titles]
    for saying in sayings:
        section = bisect_right(heads, saying.said.line)
        here = [row for row in rows if bisect_right(heads, row.line) == section]
        here = here or _of_notes(rows, titles[:section], titles[section:])
        if saying.names[0] in _ENDS_OF_TABLE:
            here = _next_table(here, saying.said.line)
            mine = here[-1:] if saying.names[0] == "last" else here[:1]
        else:
            mine = [row for row in here if _is_of(row, saying)]
        if saying.pretrained:
            mine = [row for row in mine if not _is_tuned(titles[: bisect_right(heads, row.line)])]
        if saying.device:
            on = [_device_of(row, titles[: bisect_right(heads, row.line)]) for row in mine]
            here = here if all(on) else []
            mine = [
                row for row, each in zip(mine, on, strict=True) if _in(_words(saying.device), each)
            ]
        if not 0 < len(mine) < len(here):
            continue
        own = {id(row) for row in mine}
        for row in here:
            give_its_own(row, saying.one if id(row) in own else saying.others)
        used.add(saying.said.line)
        explained.append(saying.said)
    return used, explained


_HEADING = deferred(r"#{1,6} |<h[1-6]\b", re.IGNORECASE)


def _of_notes(rows: Sequence[Record], above: Sequence[Line], below: Sequence[Line]) -> list[Record]:
    """The rows that a section without any speaks of: where it is of notes or of the set-up, all of
    those in the section around it."""
    title = above[-1].text.strip("# ") if above else ""
    if not (of_set_up(title) or _NOTES.fullmatch(title)):
        return []
    level = _level(above[-1])
    begin = next((line.number for line in reversed(above) if _level(line) < level), 0)
    end = next((line.number for line in below if _level(line) < level), inf)
    return [row for row in rows if begin < row.line < end]


def _device_of(row: Record, above: Sequence[Line]) -> list[str]:
    """The words of the name of the device of a row, or of the nearest heading around it that names
    one."""
    if "gpu" in row.cells:
        return _words(row.cells["gpu"].text)
    named = (_words(title.text) for title in _around(above) if re.search(_DEVICE, title.text))
    return next(named, [])


def _around(above: Sequence[Line]) -> Iterator[Line]:
    """The headings around what stands below some, from the nearest."""
    level: float = inf
    for title in reversed(above):
        if _level(title) < level:
            yield title
            level = _level(title)


def _is_tuned(above: Sequence[Line]) -> bool:
    return any(_TUNED.search(title.text) for title in _around(above))


_TUNED = deferred(r"\b(?:fine-?tun|SFT|LoRA)", re.IGNORECASE)

_PRETRAINED = deferred(r"\b(?:except|but|apart|other|save)\b.*\bpre-?training\b", re.IGNORECASE)


def _level(heading: Line) -> int:
    return len(heading.text) - len(heading.text.lstrip("#"))


_NOTES = deferred(
    r"(?:[0-9.]+ )?(?:(?:general|further|additional|important|other|some) )?"
    r"(?:notes?|remarks?|caveats|comments|footnotes|details|exceptions)\W*|备?注|说明|注意(?:事项)?",
    re.IGNORECASE,
)


def _is_of(row: Record, saying: _Saying) -> bool:
    """Whether a row is of the model, or called as, and on as many devices, as a sentence says."""
    model, count = row.cells.get("model"), row.cells.get("gpus")
    called = [text for _, text in row.other if len(text) <= LONGEST_NAME]
    words = [_words(text) for text in ([full_name(row.cells), *called] if model else called)]
    found = any(_in(_words(name), each) for name in saying.names for each in words)
    return found and (
        not saying.devices or (count is not None and number_of(count) == saying.devices)
    )


LONGEST_NAME = 40
"""Letters of a cell that may be what a row is called."""


def _words(text: str) -> list[str]:
    return re.split(r"[\s_/-]+", text.casefold())


def _in(words: Sequence[str], called: Sequence[str]) -> bool:
    """Whether words follow each other in a name."""
    places = range(len(called) - len(words) + 1)
    return any(called[at : at + len(words)] == words for at in places)


_HAVE = deferred(r"\b(?:uses?|used|has|have|had|with|in|using|except)\b|[仅只]")


def _sayings(lines: Sequence[Line]) -> Iterator[_Saying]:
    """Sentences of a document on some models, and on all others."""
    for paragraph in paragraphs(lines):
        text = " ".join(line.text for line in paragraph)
        at = 0
        asked = of_other_rows(text) or _HAVE.search(text) or _FOR_ONE.search(text)
        for sentence in sentences(text) if asked else ():
            begin, at = at, at + len(sentence)
            bare = _TAGS.sub(lambda tag: " " * len(tag[0]), sentence).replace("`", "")
            found = _all_but_one(bare) or _one_otherwise(bare) or _one_and_others(bare)
            found = found or _only_in(bare) or _some_and_others(bare)
            found = found or _not_but(bare)
            if found:
                places = tuple(placed(paragraph, begin, at))
                device = _BUT_ON.search(bare)
                said = Explanation({}, places[0][0], places)
                yield _Saying(
                    *found, said, device[1] if device else "", bool(_PRETRAINED.search(bare))
                )


_Found = tuple[Sequence[str], float, Mapping[str, str], Mapping[str, str]]
"""Names of models, on how many devices, what they have, and what all others have."""

_ENDS_OF_TABLE = ("first", "last")
"""Names of rows by where they stand in their table."""


def _next_table(rows: Sequence[Record], line: int) -> list[Record]:
    """The rows of the first table below a line, one of each line of it at most; none where a line
    has several."""
    below = sorted((row for row in rows if row.line > line), key=lambda row: row.line)
    found: list[Record] = []
    for row in below:
        if found and row.line > found[-1].line + 1:
            break
        found.append(row)
    return found if len({row.line for row in found}) == len(found) else []


_DEVICE = r"(?:[DH]GX[- ])?((?-i:[A-Z]{1,3}[0-9]{2,4}[A-Za-z]{0,2}))\b"

_BUT_ON = deferred(
    rf"\b(?:except|but|apart|other|save)\b[^,;:()]{{3,60}}? (?:on|with) (?:the )?{_DEVICE}",
    re.IGNORECASE,
)
"""The device of the runs that a sentence leaves out."""

_ALL_BUT = deferred(
    r"\W*(?:(?:every|each) (?:row|run|model|configuration|entry)|all (?:of the |the )?(?:rows|runs"
    r"|models|configurations|entries|others)|(?:(?:the|our|these) )?(?:measurements|runs|models"
    r"|rows|experiments|results|numbers|jobs|tests|timings)|everything|we)"
    r" (?:uses?|used|has|have|had|(?:is|are|was|were|runs?|ran|trained|measured)"
    r"(?: (?:all )?(?:run|trained|done|made|taken|measured|performed|conducted))?"
    r" (?:with|in|using|on)) (?P<what>[^,;:.()]{2,60}?),?"
    rf" (?:except|but|apart from|other than|save)(?: (?:for|in))? (?:the )?(?P<name>{_NAME})"
    r"(?: (?:one|model|row|run))?"
    rf"(?: on (?:the )?{_DEVICE})?"
    r"(?:,? (?:(?:which|that) (?:is|was|uses?|used|has|had|took|takes|needed|needs|required"
    r"|requires|(?:runs?|ran|is|was|went)(?: (?:run|trained|done))? (?:with|in|on|to))"
    r"|(?:for|on|in|with) which (?:we|it|I) (?:[a-z]+ ){1,5}?(?=(?-i:[A-Z0-9]))"
    r"|where (?:it|they) (?:is|was|are|were|uses?|used))"
    r" ?(?P<own>[^,;:.()]{2,60}?)| \((?P<how>[^()]{2,40})\))\s*\.?\s*",
    re.IGNORECASE,
)
"""A sentence on all rows but one: `Every row uses ZeRO-3 except the last one, which is ZeRO-2.`,
`Runs were done on 4 A100, except for the XL model, for which we went to 8 H100.`"""

_NUMBER_BUT = deferred(
    r"\W*(?P<label>(?:[A-Za-z-]+ ){2,5}?(?:is|was|of)) (?P<what>[0-9][0-9,]*[kK]?) (?:for|in|on)"
    r" (?:(?:every|each) (?:row|run|model|configuration)|all (?:of the |the |other )?(?:rows|runs"
    r"|models|configurations)),?"
    rf" (?:except|but|apart from|other than|save)(?: (?:for|in))? (?:the )?(?P<name>{_NAME})"
    r"(?: (?:one|model|row|run))?(?: \((?P<how>[0-9][0-9,]*[kK]?)\)|,? (?:where|for which|in which)"
    r" it (?:is|was) (?P<own>[0-9][0-9,]*[kK]?))\s*\.?\s*",
    re.IGNORECASE,
)
"""The same of a number: `The batch size is 1536 for every model except the 1T one (3072).`"""


_FOR_ONE = deferred(r"[0-9kK] (?:\w+ )?for (?:the )?[A-Z0-9]")
"""In every line that has a number for one model behind that of all."""

_THINGS = r"(?: (?:GPUs?|nodes?|tokens|sequences|samples|images|layers|steps))?"

_ONE_OTHERWISE = deferred(
    r"\W*(?P<label>(?:[A-Za-z-]+ ){0,4}?[A-Za-z-]+(?: (?:is|was|of|are))? ?[=:]? ?)"
    rf"(?P<what>[0-9][0-9,]*[kK]?){_THINGS}(?: (?:everywhere|throughout|in all runs))?"
    rf"(?: \((?P<a>[0-9][0-9,]*[kK]?){_THINGS} (?:for|in|on|with) (?:the )?(?P<of_a>{_NAME})"
    rf"(?: (?:model|one|run|row)s?)?\)|, (?:but|and) (?P<b>[0-9][0-9,]*[kK]?){_THINGS}"
    rf" (?:for|in|on|with) (?:the )?(?P<of_b>{_NAME})(?: (?:model|one|run|row)s?)?"
    rf"|,? (?:except|but|apart from)(?: for| in)? (?:the )?(?P<of_c>{_NAME})"
    rf"(?: (?:model|one|run|row)s?)? ?\((?P<c>[0-9][0-9,]*[kK]?){_THINGS}\))\s*[.;]?\s*",
    re.IGNORECASE,
)
"""A number of all, and that of one behind it: `Micro batch 4, but 1 for the 30B`, `We used 8 GPUs
(32 for the 30B model)`."""


def _one_otherwise(text: str) -> _Found | None:
    """A number that a sentence gives all rows, and in brackets or behind it the one of one model.

    >>> _one_otherwise("Sequence length 2048 (4096 for Kite-30B).")
    (['Kite-30B'], 0.0, {'seq_len': '4096'}, {'seq_len': '2048'})
    >>> _one_otherwise("We used 8 GPUs (32 for the 30B model).")[2:]
    ({'gpus': '32'}, {'gpus': '8'})
    >>> _one_otherwise("Throughput is 8 (32 for the 30B model).")
    """
    text = _BLANKS.sub(" ", text)
    found = _ONE_OTHERWISE.fullmatch(text)
    if found is None or _PERHAPS.search(text):
        return None
    kind = next(each for each in "abc" if found[each])
    behind = text[found.end("what") :]
    noun = _THING.match(behind)
    own, rest = (
        _settings(f"{found['label']}{number}{noun[0] if noun else ''}")
        for number in (found[kind], found["what"])
    )
    if not rest or own.keys() != rest.keys() or len(rest) != 1:
        return None
    return [found[f"of_{kind}"].rstrip(".")], 0.0, own, rest


_THING = deferred(
    r" (?:GPUs?|nodes?|tokens|sequences|samples|images|layers|steps)\b", re.IGNORECASE
)


def _all_but_one(text: str) -> _Found | None:
    """Settings that a sentence gives all rows but one, and that one.

    >>> _all_but_one("Every row uses ZeRO-3 except the last one, which is ZeRO-2.")
    (['last'], 0.0, {'zero_stage': '2'}, {'zero_stage': '3'})
    >>> _all_but_one("The global batch size is 96 for every model except the 1T one (192).")
    (['1T'], 0.0, {'global_batch': '192'}, {'global_batch': '96'})
    >>> _all_but_one("Every row uses ZeRO-3 except the last one, which is on 8 GPUs.")
    """
    text = _BLANKS.sub(" ", text)
    found = _ALL_BUT.fullmatch(text)
    label = ""
    if found is None and (found := _NUMBER_BUT.fullmatch(text)):
        label = f"{found['label']} "
    if found is None or _PERHAPS.search(text):
        return None
    own = _settings(f"{label}{found['own'] or found['how']}")
    rest = _settings(f"{label}{found['what']}")
    if not own or {*map(_fact, own)} != {*map(_fact, rest)}:
        return None
    return [found["name"].casefold() if not label else found["name"]], 0.0, own, rest


_NOT_BUT = deferred(
    r"\W*(?P<what>(?P<label>no [A-Za-z -]{3,40}?|[A-Za-z][A-Za-z -]{2,50}?) (?:is|are|was|were)"
    r" (?:not (?:used|enabled|needed|applied|necessary)|(?:(?:switched|turned) )?(?:off|on)"
    r"|disabled|enabled|used|[\w-]{1,24}))(?: (?:everywhere|throughout|in all (?:runs|rows)))?,?"
    r" (?:except|but|apart from|other than|save)(?: (?:for|in|with|on))? (?:the )?"
    rf"(?P<names>{_NAME}(?:(?:, | and |, and )(?:the )?{_NAME}){{0,4}}?)"
    r"(?: (?:one|models?|rows?|runs?|pre-?training))?(?: (?:run|trained))?"
    rf"(?: (?:on|with) (?:the )?{_DEVICE})?"
    r"(?:,? (?:where|for which|in which|and there) (?:it|they|we) (?P<own>[^,;:()]{2,60}?)"
    r"|,? (?:which|that|and) (?P<does>(?:is|are|was|uses?|used|has|had|needs?|needed|runs?|ran"
    r"|recomputes?)\b[^,;:()]{2,60}?)| \((?P<how>[^()]{2,40})\))?\s*\.?\s*",
    re.IGNORECASE,
)
"""A sentence that says of some runs that they alone have, or have not, what no or every other has:
`Recomputation is not used except for the 70B on H100, where it is selective.`"""


def _not_but(text: str) -> _Found | None:
    """Settings that such a sentence gives all rows but some, and those.

    >>> _not_but("Activation recomputation is off except for the 70B, where it is selective.")
    (['70B'], 0.0, {'recompute': 'selective'}, {'recompute': 'none'})
    >>> _not_but("No recomputation is used, except for Kite-7B and Kite-70B (full).")[2:]
    ({'recompute': 'full'}, {'recompute': 'none'})
    >>> _not_but("Recomputation is disabled except for the 70B.")[2:]
    ({}, {'recompute': 'none'})
    >>> _not_but("Recomputation is not used except for inference, where it is FP8.")
    """
    found = _NOT_BUT.fullmatch(_BLANKS.sub(" ", text))
    rest = _settings(found["what"]) if found and not _PERHAPS.search(text) else {}
    if found is None or len(rest) != 1:
        return None
    said = found["own"] or found["does"] or found["how"] or ""
    label = re.sub(r"^no ", "", found["label"], flags=re.IGNORECASE)
    bare = _IS.sub("", said)
    own = (
        {}
        if not said
        else _settings(said) or _settings(f"{label} is {bare}") or _settings(f"{bare} {label}")
    )
    if said and {*map(_fact, own)} != {*map(_fact, rest)}:
        return None
    names = [name.strip(" -").rstrip(".") for name in _LISTED.split(found["names"])]
    return names, 0.0, own, rest


def _one_and_others(text: str) -> _Found | None:
    """Settings that a sentence gives one model, and all others in words of their own."""
    other = of_other_rows(text)
    first = clause_around(text, other)[0] if other else 0
    one = _ONE.fullmatch(_BLANKS.sub(" ", text[:first]))
    own = _settings(one["what"]) if one else {}
    behind = said_of_others(text) if one else ""
    rest = _settings(behind) if own else {}
    if one and not own and not rest and captions.whole(behind):
        adapters = captions.named(one["what"])
        own = {captions.FIELD: adapters} if adapters else {}
    elif {*map(_fact, own)} != {*map(_fact, rest)}:
        return None
    if one is None or not own:
        return None
    return [one["name"]], float(one["n"] or 0), own, rest


def _some_and_others(text: str) -> _Found | None:
    """Settings that a sentence gives some models, and no others, or without a word on these.

    >>> _some_and_others("Only the 3B model was trained with activation recomputation, to fit.")
    (['3B'], 0.0, {'activation_checkpointing': 'True'}, {'recompute': 'none'})
    >>> _some_and_others("Kite-7B and -14B use sequence parallelism.")
    (['Kite-7B', '14B'], 0.0, {'sequence_parallel': 'True'}, {})
    >>> _some_and_others("Kite-XL rows use gradient checkpointing, the others do not.")[3]
    {'recompute': 'none'}
    >>> _some_and_others("org/Kite-XL 使用 recompute，其余模型未开启。")
    (['org/Kite-XL'], 0.0, {'activation_checkpointing': 'True'}, {'recompute': 'none'})
    """
    text = _in_english(_BLANKS.sub(" ", text))
    some = _SOME.match(text)
    if some is None or _PERHAPS.search(text):
        return None
    own = _told(some["what"], some["how"])
    other = of_other_rows(text)
    alone = some["only"] is not None or (
        other is not None and _DO_NOT.fullmatch(said_of_others(text)) is not None
    )
    if not own or (other is not None and not alone):
        return None
    if not alone and SIZED.search(text, some.end()):
        return None  # what it says of these behind would be lost
    off = _off(own, some["what"])
    if alone and {*map(_fact, off)} != {*map(_fact, own)}:
        return None
    names = [name.strip(" -") for name in _LISTED.split(some["name"])]
    return names, 0.0, own, {AGAIN[0] if n in AGAIN else n: v for n, v in off.items() if alone}


def _in_english(text: str) -> str:
    """A Chinese sentence on some models, and perhaps on all others, in the words of English ones.

    >>> _in_english("仅 `3B` 开启 recompute"), _in_english("3B 和 7B 使用了序列并行，其余未使用。")
    ('Only 3B uses recompute', '3B and 7B uses 序列并行, the others do not')
    """
    said = _IN_CHINESE.fullmatch(text)
    if said is None or not (said["only"] or said["others"]):
        return text
    names = re.sub(r"`?(?: ?[、,，和及与] ?)`?", " and ", said["name"])
    others = ", the others do not" if said["others"] else ""
    return f"{'Only ' if said['only'] else ''}{names} uses {said['what'].strip()}{others}"


def _only_in(text: str) -> _Found | None:
    """Switches that a sentence turns on in some rows and in no others.

    >>> _only_in("We use full recomputation in the long-context phase only; the rest runs without.")
    (['long-context'], 0.0, {'recompute': 'full'}, {'recompute': 'none'})
    >>> _only_in("Only for the 3B model do we use sequence parallelism.")
    (['3B'], 0.0, {'sequence_parallel': 'True'}, {'sequence_parallel': 'False'})
    >>> _only_in("We use full recomputation in the long-context phase.")
    """
    text = _BLANKS.sub(" ", text)
    some = _IN_THEM_ONLY.match(text)
    if some is None:
        some = _ONLY_IN.match(text)
        words = ("first", "early", "before", "behind")
        if some is None or not any(some[word] for word in words):
            return None
    how = some["how"] if "how" in some.re.groupindex else None
    own = _told(some["what"], how) if not _PERHAPS.search(text) else {}
    off = _off(own, some["what"])
    if not own or off.keys() != own.keys() or "none" in own.values():
        return None
    others = {**off, AGAIN[1]: "False"} if AGAIN[1] in off else off
    return [some["name"].rstrip(".")], 0.0, own, others


def _told(what: str, how: str | None) -> Mapping[str, str]:
    """Settings of what some rows have, and of what brackets behind it add."""
    more = (_settings(f"{what} {how}") or _settings(how)) if how else {}
    return more or _settings(what)


def _off(own: Mapping[str, str], what: str) -> Mapping[str, str]:
    """The settings of all others, as far as some rows alone have a switch, or a way to split a
    model, without which the others do.

    >>> _only_in("Pipeline parallelism (PP=4) is only used for the 65B.")
    (['65B'], 0.0, {'pp': '4'}, {'pp': '1'})
    """
    split = _SPLIT.search(what)
    way = {_WAYS[split[1].casefold()]: "1"} if split else {}
    return {name: told for name in own if (told := _OFF.get(name) or way.get(name))}


_SPLIT = deferred(r"\b(tensor|pipeline|context|expert)[ -]parallelism\b", re.IGNORECASE)

_WAYS = {"tensor": "tp", "pipeline": "pp", "context": "cp", "expert": "ep"}

_OFF = {**dict.fromkeys(AGAIN, "none"), "sequence_parallel": "False"}
"""Switches, and what those have that have them not."""

_PERHAPS = deferred(
    r"\b(?:would|could|can|should|may|might|if|than|unlike|while|whereas|until|before|earlier"
    r"|at first|initially|originally|later|respectively|instead)\b(?! not\b)",
    re.IGNORECASE,
)
"""Words of a sentence that is perhaps of no run, or of more than it begins with."""


_BLANKS = deferred(r"\s+")


def _fact(name: str) -> str:
    return AGAIN[0] if name in AGAIN else name


def _settings(text: str) -> Mapping[str, str]:
    """Settings that a clause says, in words or as code."""
    bare = text.strip(" `,.;:")
    return settings_of(bare) or named(bare) or settings_of(_IS.sub("", bare))


_IS = deferred(r"^(?:(?:is|are|was|were|run|ran|go|do|have|trained|all) )+", re.IGNORECASE)
