"""Words of a row of a table about its own run: its labels, its remarks, its footnotes.

In: a row. Out: the texts, and whether each is surely of its own run: a cell under `change` is, one
under `reference` may be of another. What such a text speaks of is not said by anything around.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from assay.ingest.columns.footnotes import without_others
from assay.ingest.columns.spoken_of import EVERY, spoken_of
from assay.ingest.grids.grid import LONGEST
from assay.ingest.schema.record import Line, Record
from assay.ingest.schema.terminals import deferred
from assay.ingest.vocabulary.words import split

_LETTER = re.compile(r"[^\W\d_]")

_OF_THE_RUN = deferred(
    r"\W*|.*\b(?:change[sd]?|variants?|methods?|config\w*|settings?|set-?ups?|notes?|remarks?"
    r"|comments?|runs?|exp\w*|names?|options?|what|diff\w*|modif\w*|tweaks?|versions?|labels?|cases?"
    r"|modes?|recipes?|descriptions?|systems?|strateg\w+|techniques?|features?|hardware|machines?"
    r"|ablations?|trials?|jobs?|delta|override[sn]?)\b.*|变更|改动|备注|配置|说明|変更|備考"
    r"|(?:实验|训练|测试|硬件|运行|実験|学習|ハードウェア|実行)?(?:配置|设置|构成|構成|設定|条件|環境|环境|구성|설정)"
    r"|実験|实验|手法|方法|方式|変更点|실험|변경|비고|방식|방법|기법",
    re.IGNORECASE,
)
"""Labels of columns whose words are about the run of a row, and about no other one."""


_LINKED = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)")
"""A link: the words of its target are those of another page."""

_CITED = deferred(
    r"\((?:(?:from|in|per|as in) )?(?:the |their |original )*"
    r"(?:paper|reported|published|cited|literature|blog|data ?sheet|arXiv)\b[^()]*\)"
    r"|\bet al\b|\b(?:reported|published) (?:in|by)\b|（?论文(?:报告|数据|结果)",
    re.IGNORECASE,
)
"""Signs of a row that others measured: nothing that a page says of its own runs is of it."""

_SOURCES = deferred(
    r"(?:data )?(?:sources?|ref(?:erence)?s?|origin|provenance|taken from|from|reported (?:by|in)"
    r"|cit(?:ed|ation)(?: from)?|published(?: in)?|来源|出处|出典|Quelle)\W*",
    re.IGNORECASE,
)
"""Labels of columns that say who measured a row."""

_PUBLISHED = deferred(
    r"\b(?:blog(?: ?post)?s?|papers?|posts?|reports?|arXiv|docs?|documentation|websites?|web ?page"
    r"|press release|data ?sheets?|white ?papers?|talks?|slides|leader ?board|literature|vendors?"
    r"|marketing|MLPerf|authors?|appendix|model card|tech(?:nical)? report|announcement)\b"
    r"|^\W*\[[0-9]{1,3}\]|\b(?:Table|Fig(?:ure)?\.?|Section|Sec\.) [0-9]|https?://",
    re.IGNORECASE,
)
"""Publications under such a label."""

_OF_OURS = deferred(r"\b(?:we|ours?|my|mine|this|here|own)\b", re.IGNORECASE)


def _others_measured(label: str, text: str) -> bool:
    """Whether a cell says that somebody else published what its row measures."""
    if _SOURCES.fullmatch(label) is None or _OF_OURS.search(text):
        return False
    return _PUBLISHED.search(text) is not None


_NAMED = ("model", "notes")
"""Fields whose cells are words."""


class Words(NamedTuple):
    """A text of a row; whether it speaks of the row's own run for sure, and whether it says that
    others measured that."""

    line: Line
    own: bool
    cited: bool = False


_OF_OTHERS = {
    "column", "contributor", "contributors", "author", "maintainer", "owner", "贡献方", "贡献者",
    "提供方", "维护者", "负责人",
}  # fmt: skip
"""Labels of texts that are no words of a run: its side, and who ran it."""


def own_words(record: Record) -> Iterator[Words]:
    """Texts of a row beside its numbers, and the notes that its signs point to."""
    held = [(label, text) for label, text in record.other if label not in _OF_OTHERS]
    held += [(name, c.text) for name in _NAMED if (c := record.cells.get(name))]
    for label, text in held:
        others = len(text) <= LONGEST and _others_measured(label, text)
        if others or (len(text) <= LONGEST and _LETTER.search(text)):
            bare = _LINKED.sub(lambda found: f" {found[1]}".ljust(len(found[0])), text)
            own = label == "notes" or (
                label != "model" and _OF_THE_RUN.fullmatch(label) is not None
            )
            cited = others or _CITED.search(text) is not None
            yield Words(Line(record.line, bare, record.column, {}), own, cited)
    for line, own in record.noted:
        line = line._replace(text=without_others(line.text))  # noqa: PLW2901
        yield Words(line, own, _CITED.search(line.text) is not None)


def spoken_of_itself(record: Record) -> frozenset[str]:
    """The settings that a row speaks of in words of its own."""
    device = device_of(record)
    denied = {name for name in _SHARES_IN if shares_nothing(record, name)}
    return frozenset(denied).union(*(spoken_in(words, device) for words in own_words(record)))


def spoken_in(words: Words, device: str) -> frozenset[str]:
    """The settings that words of a row speak of: all of them where it is of other people's runs."""
    return EVERY if words.cited else spoken_of(words.line.text, device)


def device_of(record: Record) -> str:
    """The device that a row prints itself, as it prints it."""
    gpu = record.cells.get("gpu")
    if gpu is None or gpu.state != "value":
        return ""
    named = gpu.value_origin == "printed" and any(gpu.text in text for _, text in record.other)
    return gpu.text if named or gpu.line == record.line else ""  # `7B, A100` over its column


def shares_nothing(record: Record, name: str) -> bool:
    """Whether a row says in a cell that it ran with data parallelism alone, `DDP`, or `True` below
    that, or that it ran without what `name` is a setting of: `no` below `deepspeed`, `w/o ZeRO`.
    """
    return (
        record.tabled
        and name in _SHARES_IN
        and any(
            _REPLICATED.fullmatch(text)
            or (_REPLICATED.fullmatch(label) and _SO_IT_IS.fullmatch(text))
            or _WITHOUT[name].search(text)
            or (_SHARES_IN[name] & {*split(label)} and _NONE_OF_IT.fullmatch(text))
            for label, text in record.other
        )
    )


_SHARES_IN = {
    "zero_stage": {"deepspeed", "zero"}, "sharding": {"fsdp", "fsdp2", "sharding", "sharded"},
}  # fmt: skip
"""Words of labels over cells that say whether a row shards, by the field that tells how."""

_NONE_OF_IT = re.compile(
    r"\W*(?:no|none|off|false|disabled|without|n|否|无|关)\W*|\s*[-–—✗✘×❌]+\s*", re.IGNORECASE
)

_SO_IT_IS = re.compile(r"\W*(?:yes|on|true|enabled|with|y|是|有|开)\W*|\s*[✓✔✅☑]\ufe0f?\s*", re.I)

_WITHOUT = {
    name: re.compile(
        rf"(?<![\w-])(?:without|w/o|no|not using) (?:using )?(?:{'|'.join(sorted(words))})"
        r"(?![\w-]| ?(?:stage|offload|infinity|\+\+|[0-9]))", re.IGNORECASE,
    )
    for name, words in _SHARES_IN.items()
}  # fmt: skip

_REPLICATED = re.compile(r"\W*(?:plain |torch |pytorch )?(?:DDP|data[- ]parallel(?:ism)?)\W*", re.I)
