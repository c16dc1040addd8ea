"""Lines that say that their runs were set up as others of the document were.

In: a line of prose, the line above it, the statements of a document and its headings. Out: what the
line takes over, with what it says itself: `Same setup as Section 2, CP 16:`, `otherwise the same
config as in the PR description`, `其余配置同上`. Fields that the statements referred to say in two
ways are of none of them; of what the line says to differ nothing is taken over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from assay.ingest.columns.turns import turned
from assay.ingest.schema.record import Cell, Line, Statement
from assay.ingest.schema.terminals import deferred
from assay.ingest.statements.phrases import phrases
from assay.ingest.statements.row_words import SETTINGS
from assay.ingest.statements.values import saying

_SCRIPT = (
    r"(?:(?:job|launch|training|batch|Slurm|run) )?(?:scripts?|commands?|snippet|listing|recipe"
    r"|(?:environment|shell|env) variables|exports)"
)

_PLACE = (
    r"(?:(?:in|for|of|from|under|with|the ones? in|those (?:in|of)|used (?:in|for)) )?"
    r"(?:(?P<above>above|before|(?:the |our |my )?(?:previous|preceding|last) (?:section|table"
    r"|tests?"
    r"|runs?|experiments?|benchmarks?|part|paragraph|sweep)|(?:the )?(?:section|table|runs?|sweep"
    rf"|benchmark|numbers|results|{_SCRIPT}) above)\b(?! ?[0-9])"
    r"|(?:section|sec\.|§|chapter|appendix) ?(?P<section>[0-9A-Z](?:\.[0-9]{1,2}){0,3})"
    r"(?![\w.]*[0-9])"
    r"|table (?P<table>[A-Z]?\.?[0-9]{1,2})(?![\w.]*[0-9])"
    r"|(?P<opening>(?:the |my |our )?(?:(?:PR|pull request|issue|MR)(?:['’]s)?(?: description"
    r"| text)"
    r"|(?:first|original|opening|top|initial) (?:post|message|comment|description)|description"
    r"|OP)\b))"
)

_THINGS = (
    r"(?:set-?ups?|settings?|config(?:uration)?s?|hyper-?parameters|parameters|conditions|recipe"
    r"|training set-?up|options|flags|arguments)"
)

_REFERS = deferred(
    rf"\b(?:same|identical)(?: [\w-]+){{0,2}}? {_THINGS}(?:,? (?:as|like|to|that (?:we"
    rf"|I) used) {_PLACE})"
    rf"|\b(?:otherwise|else|rest|remaining {_THINGS}|other {_THINGS}|{_THINGS}|everything)"
    r"(?: (?:is|are|was|were|remain(?:s|ed)?|stay(?:s|ed)?|kept|exactly)){0,2}"
    rf" (?:(?:the )?same(?: as)?|identical to|as|like|unchanged (?:from|to)|equal to) (?:as )?"
    rf"{_PLACE.replace('?P<', '?P<o_')}"
    r"|(?:^|(?<=[.;:] ))\W{0,6}(?:exactly |all )?(?:the )?same as (?:as )?"
    rf"{_PLACE.replace('?P<', '?P<a_')}"
    r"|\b(?:with|using|uses?|used|takes?|took|by|from|via) (?:exactly )?"
    r"(?:(?:the |these )?(?:flags|options|arguments|settings|configuration) (?:in|of|from) )?"
    rf"(?P<n_above>(?:the |our |my )?{_SCRIPT} above|the above {_SCRIPT})\b(?! ?[0-9])"
    r"|(?:^\W*|\b(?:with|using|uses?|used|in|from|via) (?:exactly )?(?:the )?)"
    r"(?P<v_above>`[\w$./-]{3,40}`,? (?:(?:as|from|defined|given|shown|listed) )?above)\b"
    r"(?! (?:is|was|are|has|shows?|can|may|should)\b)"
    r"|\b(?P<e_above>everything else (?:(?:is|was|being|stays?|stayed|remains?|kept) )?"
    r"(?:exactly )?(?:the same|unchanged|identical))(?=\s*(?:[.,;:)]|$))"
    r"|(?:(?:^|[,;:] )\W{0,4}|\b(?:with|using|ran|run|running) )"
    r"(?P<y_asked>your (?:exact |original )?(?:command|script|config(?:uration)?|settings|set-?up"
    r"|flags|repro(?:ducer)?))\b(?! (?:line|file|is|was|has|should|must|will|can|needs?)\b|'s)",
    re.IGNORECASE,
)

_REFERS_IN_CHINESE = deferred(
    r"(?:其[余它他]|配置|设置|参数|环境|设定)[^。；;0-9]{0,12}?(?:(?P<above>同上(?!面第)|[与和]上(?:[文述表节]|一[节表])"
    r"[^。；;0-9]{0,8}?(?:相同|一致))|(?:同|[与和])\s?第\s?(?P<section>[0-9]+(?:\.[0-9]+)*)\s?[节章]"
    r"[^。；;0-9]{0,8})"
)

_OTHER_ABOVE = deferred(
    r"(?P<above>(?:위|앞)(?:의|에서)? ?(?:\w+ )?(?:환경 ?변수|명령어?|스크립트|설정|옵션|구성)"
    r"(?:으로|로|을 |를 )"
    r"|上(?:記|述)?の(?:環境変数|コマンド|スクリプト|設定|オプション|構成)(?:で|を使|を用|により)"
    r"|(?:使用|采用|用|按照?|以|基于|通过)上(?:述|面|文)的?(?:环境变量|命令|脚本|配置|参数|设置|选项)"
    r"|\bmit (?:den|dem|der) (?:obigen (?:Umgebungsvariablen|Befehl|Kommando|Skript|Einstellungen"
    r"|Konfiguration)|(?:Umgebungsvariablen|Befehl|Skript|Einstellungen|Konfiguration) oben)\b"
    r"|\bavec (?:les variables(?: d['’]environnement)?|la commande|le script|les options"
    r"|la configuration) ci-dessus)",
    re.IGNORECASE,
)
"""Runs with what stands above, in other languages: `위 환경 변수로`, `上記の設定で`."""

_MAY_REFER = re.compile(
    r"\b(?:[Ss]ame|[Ii]dentical|[Uu]nchanged|as|like|with|using|uses?|used|takes?|took|by|from|via)"
    r"\b.{0,60}"
    r"(?:above|before|previous|preceding|last|[Ss]ec|§|[Cc]hapter|[Aa]ppendix|[Tt]able|post|descri"
    r"|message|comment|OP\b|\byour )|[Ee]verything else|^\W*[Yy]our |[,;:] your "
    r"|同上|[同与和].{0,8}[节表章]|[위앞上]|oben|obige"
    r"|ci-dessus"
)

_MAY_END = re.compile(
    r"above|before|revious|receding|\blast |[Ss]ec|§|[Cc]hapter|[Aa]ppendix|[Tt]able|\bpost\b"
    r"|descri|message|comment|\b(?:OP|PR|MR)\b|issue|request|verything else|同上|[节表章]"
    r"|[위앞上]|oben|obige|ci-dessus|\b[Yy]our (?:exact |original )?(?:com|scr|conf|set|fl|rep)"
)
"""In every line with the place that a sentence refers to: most have none of these words."""

_OF_NOTHING = deferred(
    r"\b(?:not|nearly|almost|roughly|unlike|than|similar|would|could|should|can|may|will|why"
    r"|whether"
    r"|try|tried|if)\b|[?？]",
    re.IGNORECASE,
)
"""Words of a sentence that says of runs that they were not set up so."""

_OF_OTHERS = deferred(r"\b(?:data|dataset|tokeni[sz]er|eval\w*|inference)\b", re.IGNORECASE)
"""Words beside the reference, between two commas, that it is not about how runs were set up."""

_OTHER = deferred(
    r"\b(?:different|other|another|various|varying|several|new|larger|smaller|longer|shorter|more"
    r"|fewer|less|bigger|twice|half|double|without|no|except(?: for)?|but (?:for|with)|apart from"
    r"|instead of|only) (?:the |a |an )?(?:[\w-]+ ){0,2}?(?P<what>cards?|GPUs?|devices?|hardware"
    r"|machines?|nodes?|accelerators?|systems?|models?|batch(?:es)?|sequences?|contexts?|lengths?|blocks?"
    r"|precision|format|parallelism|layout|recomput\w+|checkpointing|ZeRO|sharding)\b",
    re.IGNORECASE,
)

_DEVICES = ("gpu", "gpus", "nodes", "gpus_per_node")

_MODEL = (
    "model", "model_size", "parameters", "layers", "hidden", "heads", "kv_heads", "ffn_hidden",
    "vocab", "experts",
)  # fmt: skip

_BATCHES = ("batch_size", "micro_batch", "global_batch", "global_batch_tokens", "accumulation")

_AGAIN = ("recompute", "activation_checkpointing")

_SHARDED = ("zero_stage", "sharding")

_DEGREES = ("tp", "pp", "dp", "cp", "ep", "vp", "sequence_parallel")

_OF_WORD = (
    (re.compile("card|gpu|device|hardware|machine|node|accel|system", re.I), _DEVICES),
    (re.compile("model", re.I), _MODEL),
    (re.compile("batch", re.I), _BATCHES),
    (re.compile("seq|context|length|block", re.I), ("seq_len",)),
    (re.compile("precision|format", re.I), ("dtype",)),
    (re.compile("parallelism|layout", re.I), _DEGREES),
    (re.compile("recomput|checkpointing", re.I), _AGAIN),
    (re.compile("zero|sharding", re.I), _SHARDED),
)
"""Fields that differ where the thing does that a word names."""

_ALONG: Mapping[str, Sequence[str]] = {
    "gpu": _DEVICES, "gpus": ("gpus", "nodes", "dp"), "nodes": ("gpus", "nodes", "dp"),
    "model": _MODEL, "model_size": _MODEL, "parameters": _MODEL,
    "global_batch": ("global_batch_tokens", "batch_size", "accumulation"),
    "global_batch_tokens": ("global_batch", "batch_size", "accumulation"),
    "micro_batch": ("batch_size", "accumulation"),
    "batch_size": _BATCHES,
    "tp": ("dp",), "pp": ("dp", "vp"), "cp": ("dp",),
    "recompute": _AGAIN, "activation_checkpointing": _AGAIN,
    "zero_stage": _SHARDED, "sharding": _SHARDED,
}  # fmt: skip
"""Fields that do not hold where another is said to be so."""

_TAKEN_OVER = {*SETTINGS, *_MODEL, "sharding", "sequence_parallel"}

LEAST = 2
"""Settings that a section says, if it is one that others are compared with."""


class Reference(NamedTuple):
    """Where a sentence says that its runs are set up as others, and what it says itself."""

    begin: int
    line: int
    section: tuple[int, ...]
    place: str  # "above", "section 2", "table 3", "model 7B", "opening" or "asked"
    own: Mapping[str, Cell]
    apart: frozenset[str]  # fields that it says to differ
    only: frozenset[str] = frozenset()  # those that it says to be the same, where it names them


def refers(before: Line | None, line: Line, section: tuple[int, ...]) -> Reference | None:
    """The reference of a line of prose to other runs that its own are set up like; None for others.

    >>> page = Line(9, "Same setup as Section 2, but on other cards, TP 2:", 1, {})
    >>> found = refers(None, page, ())
    >>> found.place, {name: cell.text for name, cell in found.own.items()}, "gpu" in found.apart
    ('section 2', {'tp': '2'}, True)
    >>> refers(None, Line(9, "The same plot as in Section 2.", 1, {}), ())
    """
    if " as " in line.text or line.text.startswith("as "):
        head = before.text.rstrip() + " " if before and before.number == line.number - 1 else ""
        if as_others := _as_for(head, line, section) or _kept(line, section):
            return as_others
    if not _MAY_END.search(line.text):
        return _same_things(line, section) if _MAY_BE_SAME.search(line.text) else None
    head = ""
    if before and before.number == line.number - 1 and not line.prefix:
        head = before.text.rstrip() + " "
    whole = head + line.text
    if len(whole) > LONGEST or not _MAY_REFER.search(whole):
        return None
    found = _REFERS.search(whole) or _REFERS_IN_CHINESE.search(whole) or _OTHER_ABOVE.search(whole)
    if found is None or found.end() <= len(head):
        return None
    begin = max((end.end() for end in _END.finditer(whole, 0, found.start())), default=0)
    stop = _END.search(whole, found.end())
    sentence = whole[begin : stop.start() + 1 if stop else None]
    rest = sentence.replace(found[0], " ", 1)
    beside = whole[: found.start()][begin:].rpartition(", ")[2] + _clause(whole[found.end() :])
    if _OF_NOTHING.search(rest) or _OF_OTHERS.search(beside):
        return None
    told = phrases(Line(line.number, rest, 0, {}), least=1)
    own = {
        name: cell._replace(column=line.column) for name, cell in told.items()
        if name in _TAKEN_OVER
    }  # fmt: skip
    first = before.number if before and begin < len(head) else line.number
    told_again = _IN_BRACKETS.match(whole, found.end())  # of the same, in few words
    told_apart = sentence.replace(told_again[0], " ", 1) if told_again else sentence
    apart = frozenset(apart_from(told_apart, own))
    apart |= frozenset(_DEVICES if _OF_A_PROGRAM.match(found[0]) else ())
    only = _things_in_chinese(whole[: found.start()]) if found[0][0] in "配设参环" else ()
    return Reference(first, line.number, section, _place(found), own, apart, frozenset(only))


_CLAUSE_IN_CHINESE = re.compile(r"[^，,；;。:：]*$")

_AND_IN_CHINESE = re.compile(r"\s*(?:[、/]|[与和及])\s*")


def _things_in_chinese(before: str) -> Iterator[str]:
    """Fields of the things whose settings a clause says to be the same, by the words in front of
    that: `模型结构、dtype 与 attention 设置同上`; none where it names none that we know."""
    clause = _CLAUSE_IN_CHINESE.search(before)
    for thing in _AND_IN_CHINESE.split(clause[0].strip(" `*").casefold()) if clause else ():
        for words, names in _OF_THING:
            if words.fullmatch(thing.strip(" `的")):
                yield from names


_MAY_BE_SAME = re.compile(r"\b[Ss]ame |\b(?:the same|unchanged)[.,;]")

_THING = r"(?:[a-z]+[ -]){0,2}[a-z]+"

_SETTING = r"(?:[a-z]+[ _-]){0,2}[a-z]+"

_THE_SAME = deferred(
    rf"\W*(?:(?:with|at|again|on|using|and|still) )*(?:exactly )?(?:the )?same "
    rf"(?P<things>{_THING}(?:(?:, | and |, and |/){_THING}){{0,3}})(?=\s*(?:[.;:]|, |$))"
    rf"|\W*(?:the )?(?P<kept>{_THING}(?:(?:, | and ){_THING}){{0,2}}) (?:is|are|stays?|remains?) "
    r"(?:the same|unchanged)(?=\s*[.,;])",
    re.IGNORECASE,
)
"""How a sentence begins that names what its runs have of those above: `Same image and sequence
length, TP 2.`"""

_OF_ITS_MODEL = deferred(
    r"\b(?:train(?:ed)?|ran|run|measured|varied|timed|benchmarked|repeat(?:ed)?|swept|scaled)\b"
    r"[^.;:]{0,60}?\b(?:for|with|on|of)? ?(?:exactly )?the same model\b"
    r"(?! (?:as|size|on|in|with a))",
    re.IGNORECASE,
)
"""Words on runs of the model of those above: `we varied the stage for the same model`."""

_WITH_VERB = deferred(
    r"\b(?:is|are|was|were|has|have|had|gives?|gave|takes?|took|gets?|got|needs?|does|do|did|makes?"
    r"|runs?|beats?|fits?|reach\w*|goes|went|becomes?|drops?|shows?|yields?)\b",
    re.IGNORECASE,
)

_OF_THING = (
    (
        re.compile(
            r"(?:(?:seq(?:uence)?|context)[ -](?:length|len|window|size)|context"
            r"|(?:序列|上下文)长度)"
        ),
        ("seq_len",),
    ),
    (re.compile(r"模型(?:结构|架构|规模)?"), _MODEL),
    (re.compile(r"global[ -]batch(?:[ -]size)?"), ("global_batch", "global_batch_tokens")),
    (re.compile(r"micro-?[ -]?batch(?:[ -]size)?"), ("micro_batch",)),
    (re.compile(r"(?:number )?(?:precision|format|dtype)|(?:训练)?精度|数据类型"), ("dtype",)),
    (
        re.compile(r"(?:parallelism|parallel (?:layout|config\w*|degrees))|并行(?:策略|度)?"),
        _DEGREES,
    ),
    (re.compile(r"(?:activation )?(?:recomput\w+|checkpointing)|(?:激活)?重计算"), _AGAIN),
    (re.compile(r"(?:flash[ -]?)?attention(?: kernel)?|注意力"), ("attention",)),
    (re.compile(r"vocab(?:ulary)?(?: size)?"), ("vocab",)),
    (re.compile(r"optimi[sz]er|sharding|zero(?: stage)?|优化器"), _SHARDED),
    (
        re.compile(r"(?:hardware|machines?|systems?|nodes|gpus|cluster|硬件|机器|集群)"),
        ("gpu", "gpus_per_node"),
    ),
)
"""Fields that are the same where the thing is that a text names."""


_AS_FOR = deferred(
    rf"(?:^|[.;:,] |\()(?P<things>(?:the )?{_THING}(?:(?:, | and |, and |/){_THING}){{0,4}})"
    r" (?:(?:is|are|was|were) )?(?:the same )?as (?:for|with|in) (?:the )?"
    r"(?P<name>(?:[A-Za-z][\w.-]*[ -])?[0-9]+(?:\.[0-9]+)?[BM])\b(?! ?(?:tokens|and|or|/)\b)",
    re.IGNORECASE,
)
"""Settings that runs have of those of another model: `precision and optimizer as for the 7B`."""

_ALL_ELSE = re.compile(
    rf"(?:the )?(?:everything|all|rest|remaining \w+|other \w+|{_THINGS})(?: else)?", re.IGNORECASE
)


def _as_for(head: str, line: Line, section: tuple[int, ...]) -> Reference | None:
    """The reference of a sentence, which may have begun on the line above, to runs of a model."""
    whole = head + line.text
    found = _AS_FOR.search(whole) if len(whole) <= LONGEST else None
    if found is None or found.end() <= len(head):
        return None
    things = _BETWEEN.split(found["things"].casefold())
    only = {name for thing in things for words, names in _OF_THING
            if words.fullmatch(thing) for name in names}  # fmt: skip
    if not only and not _ALL_ELSE.fullmatch(things[-1]):
        return None
    place, first = f"model {found['name']}", line.number - bool(found.start() < len(head))
    return Reference(first, line.number, section, place, {}, frozenset(), frozenset(only))


_KEPT = deferred(
    r"(?:^|(?<=[.;] ))\W*(?P<things>(?!(?:the |exactly )?same )(?:the )?"
    rf"{_SETTING}(?:(?:, | and |, and |/)(?:the )?{_SETTING}){{0,4}})"
    r"(?: (?:is|are|was|were|stays?|remains?)(?: (?:all|both|kept|exactly)){0,2}"
    r" (?:(?:the same )?as|like) (?:above|before)\b(?! ?[0-9])"
    r"|(?<! are)(?<! is)(?<! were)(?<! was)(?<! kept)(?<! stay)(?<! not) as (?:above|before)"
    r"(?=\s*(?:[.;]|$)))"
    rf"|(?:^|(?<=[.;] ))\W*(?:(?:all )?(?:with|on|at|in|using) )?(?:exactly )?(?:the )?same"
    rf" (?P<same>{_SETTING}(?:(?:, | and |, and |/){_SETTING}){{0,4}}) as (?:above|before)\b"
    r"(?! ?[0-9])",
    re.IGNORECASE,
)
"""Settings that runs have of those above: `Context, vocabulary and precision are as above.`,
`Context as above; TP is 2.`, `Same machines and precision as above.`"""


def _kept(line: Line, section: tuple[int, ...]) -> Reference | None:
    """The reference of a sentence that names settings to be as those above."""
    found = _KEPT.search(line.text) if len(line.text) <= LONGEST else None
    if found is None:
        return None
    listed = found["things"] or found["same"]
    things = [re.sub("_", " ", each) for each in _BETWEEN.split(listed.casefold())]
    named = [
        {name for words, names in _OF_THING if words.fullmatch(thing.removeprefix("the "))
         for name in names}
        for thing in things
    ]  # fmt: skip
    if not all(named):
        return None
    only = frozenset(name for each in named for name in each)
    return Reference(line.number, line.number, section, "above", {}, frozenset(), only)


def _same_things(line: Line, section: tuple[int, ...]) -> Reference | None:
    """The reference of a line whose first sentence names settings that it has of the runs above."""
    text = _TAGS.sub(lambda tag: " " * len(tag[0]), line.text)
    stop = _END.search(text)
    sentence = text[: stop.start() + 1 if stop else None]
    found = _THE_SAME.match(sentence) if len(text) <= LONGEST else None
    if found is None and _OF_ITS_MODEL.search(sentence) and not _OF_NOTHING.search(sentence):
        of_it = frozenset(_MODEL)
        return Reference(line.number, line.number, section, "above", {}, frozenset(), of_it)
    if found is None or _OF_NOTHING.search(sentence):
        return None
    if found["things"] and _WITH_VERB.search(sentence):
        return None
    told = _BETWEEN.split((found["things"] or found["kept"]).casefold())
    things = [thing.removeprefix("the ").removeprefix("same ") for thing in told]
    only = {name for thing in things for words, names in _OF_THING
            if words.fullmatch(thing) for name in names}  # fmt: skip
    if not only:
        return None
    return Reference(line.number, line.number, section, "above", {}, frozenset(), frozenset(only))


_TAGS = re.compile(r"</?[A-Za-z][^<>]{0,200}>")

_BETWEEN = re.compile(r", and |, | and |/")

_OF_A_PROGRAM = re.compile(
    r"(?:(?:same|identical|other|remaining) )?(?:[\w-]+ ){0,2}?(?:options|flags|arguments)\b", re.I
)
"""Options of a program, on however many devices it runs."""


def _clause(text: str) -> str:
    """A text up to where its clause or its sentence ends."""
    return _CLAUSE_END.split(text, maxsplit=1)[0]


_CLAUSE_END = re.compile(r"[,;:。；，]|\.(?:\s|$)")

_IN_BRACKETS = re.compile(r" ?\([^()]{1,80}\)")

LONGEST = 800
"""Letters of two lines beyond which they are a paragraph that speaks of much."""

_END = re.compile(r"(?<=[\w)`*%\]])[.!?]\s+(?=[A-Z`*(_]|[0-9]+ ?[x×])|[。；！？]")


def _place(found: re.Match[str]) -> str:
    told = {re.sub("^[oaneyv]_", "", key): text for key, text in found.groupdict().items() if text}
    kind = next(iter(told))
    return f"{kind} {told[kind]}" if kind in ("section", "table") else kind


def apart_from(sentence: str, own: Iterable[str]) -> Iterator[str]:
    """Fields in which runs differ from those that a sentence says that they are set up like, beside
    what it says itself."""
    yield from turned(sentence)
    for other in _OTHER.finditer(sentence):
        yield from next(names for words, names in _OF_WORD if words.search(other["what"]))
    for name in own:
        yield name
        yield from _ALONG.get(name, ())


def goes_along(name: str) -> Sequence[str]:
    """Fields that do not hold where another one is not the same."""
    return _ALONG.get(name, ())


def taken_over(
    references: Sequence[Reference],
    statements: Sequence[Statement],
    titles: Mapping[int, str],
    sections: Sequence[tuple[int, tuple[int, ...]]],
    comments: Sequence[int],
) -> Iterator[Statement]:
    """The values that lines take over from places that they refer to, as statements of their own.

    `titles` are texts of headings by their lines, `sections` those headings with the ones around
    them, `comments` the lines on which comments of a thread begin.
    """
    for each in references:
        spoken = [s for s in statements if s.line < each.line and not s.of_run]
        named = each.only or each.place == "asked"  # a post has its commands below names
        spoken = [s for s in spoken if named or not s.subject]
        values = _said_at(each, spoken, titles, sections, comments)
        here = {
            name: cell for s in statements if each.begin <= s.line <= each.line
            for name, cell in s.values.items()
            if s.section == each.section and cell.state == "value"
        }  # fmt: skip
        apart = each.apart | {*here, *(other for name in here for other in _ALONG.get(name, ()))}
        kept = {  # where this line says it: of the runs of the other they hold there
            name: cell._replace(line=each.line, column=1)
            for name, cell in values.items()
            if name not in apart and name in (each.only or values)
        }  # fmt: skip
        if kept:
            yield Statement(each.line, each.section, {**kept, **each.own, **here})


def _said_at(
    each: Reference,
    spoken: Sequence[Statement],
    titles: Mapping[int, str],
    sections: Sequence[tuple[int, tuple[int, ...]]],
    comments: Sequence[int],
) -> dict[str, Cell]:
    """The values that statements say at the place that a line refers to."""
    kind, _, number = each.place.partition(" ")
    if kind == "opening":
        first = min((line for line in comments if line < each.line), default=each.line)
        return _alike(s for s in spoken if s.line < first)
    if kind == "asked":  # in a thread alone: of a post whose author opened it
        return _asked(each, spoken, comments)
    if kind == "section":
        named = [path for line, path in sections if _numbered(titles.get(line, ""), number)]
        of = named[0] if len(named) == 1 else None
        if of is None or each.section[: len(of)] == of:
            return {}
        return _alike(s for s in spoken if s.section[: len(of)] == of)
    if kind == "model":
        of_it = re.compile(rf"(?<![\w.]){re.escape(number)}(?!\w)", re.IGNORECASE)
        called = [path for line, path in sections if of_it.search(titles.get(line, ""))]
        if len(called) != 1 or called[0] == each.section:
            return {}
        return _alike(s for s in spoken if s.section[: len(called[0])] == called[0])
    if kind == "table":
        return {}  # whose settings stand in its rows, or around it, as those of the same section
    mine = _alike(s for s in spoken if s.section == each.section)
    asked = bool(each.only) and each.only.isdisjoint(mine)  # of what its section has not said
    if len(mine.keys() & SETTINGS) >= LEAST and not asked:
        of_one = any("model" in s.values for s in spoken if s.section == each.section)
        return mine if of_one else {}  # which hold here anyway, but for other models
    for _, path in reversed([held for held in sections if held[0] < each.line]):
        if path == each.section or path == each.section[: len(path)]:
            continue
        said = _alike(s for s in spoken if s.section == path)
        if len(said.keys() & SETTINGS) >= LEAST or not each.only.isdisjoint(said):
            return said
    return {}


def _asked(
    each: Reference, spoken: Sequence[Statement], comments: Sequence[int]
) -> dict[str, Cell]:
    """The settings of the post that opened a thread, for one that answers it with `your command`;
    none where a post between them says as much of runs of its own."""
    first, second = (*comments, 0, 0)[:2]
    asked = _alike(s for s in spoken if s.line < first)
    opened = len(asked.keys() & SETTINGS) >= LEAST
    if not first < each.line or not (opened or first < second < each.line):
        return {}
    own = max(line for line in comments if line < each.line)
    between = {name for s in spoken if (first if opened else second) < s.line < own
               for name in s.values.keys() & SETTINGS}  # fmt: skip
    if len(between) > LEAST:
        return {}
    return asked if opened else _alike(s for s in spoken if s.line < second)


def _numbered(title: str, number: str) -> bool:
    """Whether a heading has a number: `2. Training`, `Section 2`, `Appendix C: Details`."""
    found = re.match(
        rf"(?:(?:section|appendix|chapter|§)\s*)?{re.escape(number)}(?![\w]|\.[0-9])", title, re.I
    )
    return found is not None


def _alike(statements: Iterable[Statement]) -> dict[str, Cell]:
    """The settings that statements say, but for what two of them say in two ways."""
    found: dict[str, Cell] = {}
    several = set[str]()
    for each in statements:
        for name, cell in each.values.items():
            if name not in _TAKEN_OVER or cell.state != "value":
                continue
            held = found.setdefault(name, cell)
            if saying(held) != saying(cell):
                several.add(name)
    return {name: cell for name, cell in found.items() if name not in several}
