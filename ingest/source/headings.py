"""Headings of documents in one spelling, whatever a document writes them in.

In: lines as they stand. Out: the same lines, in which a heading of HTML (`<h2>…</h2>`) or one with
a rule below it (reStructuredText, Markdown) is written with Markdown's signs, so that every reader
asks for one spelling. A word of a tagged heading stands in the column in which it is printed, or as
far right of it as its tag has no room for the signs; one above a rule as far right of it as there
are signs in front.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import polars as pl
from assay.ingest.schema.record import Line
from assay.ingest.schema.terminals import deferred
from assay.ingest.source.blocks import Mask, Places
from assay.ingest.vocabulary.devices import Device, devices, only

TAGGED = r"(?i:<h[1-6][\s>])"
"""Found in every heading of HTML, in polars' syntax."""

RULE = (
    r"^(?:={3,}|-{3,}|~{3,}|\^{3,}|\"{3,}|'{3,}|`{4,}|\+{3,}|\*{3,}|#{3,}|:{3,}|\.{4,}|_{4,})\s*$"
)
"""A line that is a rule below, or above, the text of a heading, in polars' syntax."""

_RULE = deferred(RULE)


ASCIIDOC = r"^(?:={1,5} +\S|\|={3,}\s*$)"
"""A heading of AsciiDoc, or the fence of a table there, in polars' syntax."""


def around_headings(texts: pl.Series, of: Places | None = None) -> Mask:
    """Lines of headings that are not in Markdown's spelling, and the lines around them.

    `of` says of which document each line is, where they are several.
    """
    rule = texts.str.contains(RULE).to_numpy()
    found: Mask = rule | texts.str.contains(TAGGED).to_numpy()
    found |= texts.str.contains(ASCIIDOC).to_numpy()
    for n in (1, 2):
        found[:-n] |= rule[n:] if of is None else rule[n:] & (of[n:] == of[:-n])
    return found


_BESIDE = r"(?:\s|<(?!h[1-6]|/?t[abrdfh])[^<>]*>)*"
"""Tags that may stand beside a heading on its line: of no other heading, and of no table."""

_TAGGED = deferred(
    rf"({_BESIDE})(<h([1-6])(?:\s[^<>]*)?>)((?:(?!</h[1-6]|<t[abrdfh]).)*)(?:</h[1-6]>{_BESIDE})?$",
    re.IGNORECASE,
)

_TAG = deferred(r"<[^<>]*>")

_MARKDOWN = deferred(r"#{1,6}\s+\S")

_TITLE = deferred(r"[^\W_].*[^\W_]\W{0,3}$")

_APART = deferred(r"\S(?: {2,}|\t)\S|\|")
"""Words of a header of a table are kept apart; those of a heading are not."""

_DATE_IN_FRONT = deferred(r"^\s*[12][0-9]{3}[-/.][01]?[0-9][-/.][0-3]?[0-9]\b[:,]?\s+")
"""The day that a title of a diary begins with, which wide blanks may keep apart from the rest."""

SHORT = 0.75
"""Part of its text's width that a rule has at least; it is a line of another kind else."""


NUMBERED = (
    r"[#\s\d.*一二三四五六七八九十、（）]*"
    r"(?:(?:(?:Appendix|App\.|Annex|Section|Sec\.|§) ?)?[A-Z](?:\.[0-9]+){0,3}[.:)]?\s+)?"
)
"""The number in front of a heading, in figures or in Chinese, or its letter: `C.1`."""

_STRONG = (
    "machines?|hardware|software|clusters?|partition|nodes|box|rigs?|test ?beds?"
    "|environments?|settings?"
    "|set[- ]?ups?|configurations?|config|conditions|methodology|stack|conventions|defaults"
    "|basics|HW|SW"
)
"""Words of which a heading over how things were set up has one."""

_WEAK = (
    "code(?:base)?|methods?|versions?|workloads?|measurements?|measuring|data(?: ?sets?)?|models?"
    "|precision|parallelism|layouts?|timing|metrics|details"
)
"""Words that such a heading may have beside them."""

_QUALIFIED = (
    r"(?:(?:the|our|my|this|these|test(?:ing)?|bench(?:mark(?:ing|s)?)?|training|running"
    r"|experiment(?:al|s)?|measurement|base|fixed|common|shared|general|basic|implementation"
    r"|environment|software|hardware|default|parallel) )*"
)

_A_SETTING = (
    r"(?:(?:(?:global|micro|mini)[- ]?)?batch(?: ?sizes?|es)?|sequence lengths?|context lengths?"
    r"|precision|parallelism|(?:activation )?recomputation|activation checkpointing"
    r"|(?:グローバル|マイクロ)?バッチ(?:サイズ)?|シーケンス長|系列長|精度|並列(?:化|度)|再計算"
    r"|批(?:次|量)?(?:大小)?|批处理大小|序列长度|并行(?:度|策略|方式)|重计算|배치(?: ?크기)?"
    r"|시퀀스 길이|정밀도|병렬화)"
)
"""The name of a setting of a run."""

_IN_EAST_ASIA = (
    r"(?:(?:测试|实验|训练|预训练|评测|硬件|软件|模型|超参数?|参数|配置|超|実験|計測|測定|学習|ベンチマーク|実行"
    r"|モデル|모델|ハードウェア|ソフトウェア|运行|计算|公共|统一|基本|通用|集群|共通|計算"
    r"|환경|실험|학습|측정|테스트|벤치마크|공통|훈련|环境|软硬件|系统|[GNX]PU|加速卡"
    r"|[A-Z][A-Za-z]{2,11}(?= ?[GNX]PU))(?:の)? ?){0,2}"
    r"(?:环境|配置|设置|参数|条件|平台|集群|硬件|软硬件环境|結構|模型结构|模型实现|超参数?|并行配置|環境|設定|パラメータ|机器|约定|前提|说明"
    r"|优化策略|优化方法|설정|환경|조건|ハードウェア|ソフトウェア|計算機|構成|하드웨어|소프트웨어|장비|구성)"
)
"""A set-up in a heading in Chinese, Japanese or Korean: `環境`, `共通設定`."""

_AND_IN_EAST_ASIA = r" ?(?:と|・|、|および|及び|和|与|及|및|과|와|/|&) ?"

_BESIDE_IN_EAST_ASIA = (
    r"(?:(?:使用|对象|対象|사용)?(?:の)? ?(?:モデル|模型|모델|データ(?:セット)?"
    r"|数据(?:集)?|데이터(?:셋)?"
    r"|コード|代码|코드|运行(?:信息|情况|方式)|(?:計測|測定|评测|测试|测量|측정)? ?(?:方法|방법)))"
)
"""A word that such a heading may have beside it: `環境とモデル`."""

_SET_UP = deferred(
    rf"{NUMBERED}{_A_SETTING}(?:(?:,? (?:and|&) |, | ?/ ?| ?(?:と|および|及び|和|与|及|、|와|과) ?)"
    rf"{_A_SETTING})+\W*|"
    rf"{NUMBERED}(?:(?:the|our|your|my|this|training|model|run|job|experiment(?:al)?|common|"
    r"benchmark(?:ing)?|test|"
    r"general|shared|default|hardware|software|system|measurement|devices?|gpu|server|machine"
    r"|node|cluster|platform) (?:and )?)*"
    r"(?:set-?ups?|configurations?|configs?|settings?|hyper-?parameters|parameters|environment"
    r"|details"
    r"|methodology|methods?|protocol|recipe|conditions|info(?:rmation)?|machines?|specs?|specifications?)\W*"
    rf"|{NUMBERED}(?:(?:the|our|my|this|test(?:ing)?|training|compute|gpu) )*"
    r"(?:hardware|test ?beds?|systems?(?: under test)?|platforms?|clusters?|rigs?)"
    r"(?: (?:and|&) (?:software|stack|parallelism|method(?:s|ology)?))?\W*"
    rf"|{NUMBERED}(?:(?:the|our|my) )?(?:machines?|hardware|clusters?|nodes?|systems?)"
    r"(?:(?:,| and| &|, and) (?:(?:the|our|my) )?(?:machines?|hardware|software|code(?: ?base)?"
    r"|network|nodes?|clusters?|stack|containers?|environment))+\W*"
    rf"|{NUMBERED}(?:what (?:we|I) (?:(?:am|are|was|were) )?(?:train(?:ed|ing)?|ran|run|used?)"
    r"|what (?:is|was|we) measured?|how (?:we|I|it (?:is|was)|this (?:is|was)"
    r"|(?:they|(?:the|these|our) (?:numbers|results|benchmarks|measurements|runs|timings))"
    r" (?:are|were)) (?:measured?|benchmark(?:ed)?|test(?:ed)?|timed?|ran|run|train(?:ed)?|made"
    r"|obtained|taken|collected|produced)(?: (?:it|this|them|these|performance|throughput|speed"
    r"|things|everything|(?:the|these) \w+))?"
    r"|how to read (?:the|these|this) (?:tables?|numbers|results|page)"
    r"|(?:test|measurement|benchmark(?:ing)?|experimental) (?:procedures?|protocols?|notes)"
    r"|(?:(?:software|package|library|tested) )?versions?(?: info(?:rmation)?)?"
    r"|(?:(?:(?:the|our|my|training|trainer|run|job|launch|common|shared) )+(?:arguments|options))"
    r"|(?:common|general) (?:notes|remarks)|(?:fixed )?facts|conventions|ground rules"
    r"|(?:settings|parameters|configuration) (?:of|for|in) (?:all|every) \w+"
    r"|what we (?:ran|train(?:ed)?) on"
    r"|(?:(?:training|compute|our|the) )*infrastructure"
    r"|about (?:the|these|our) (?:numbers|benchmarks|measurements|results|runs)"
    r"|(?:optimi[sz]ations?|techniques|tricks) (?:(?:that )?(?:we|are|were) )?"
    r"(?:used?|enabled|applied|on|in use)|(?:enabled|applied|used) (?:optimi[sz]ations?|techniques)"
    r"|(?:optimi[sz]ation|parallel(?:i[sz]ation|ism)?) strateg(?:y|ies)"
    r"|models?(?: sizes?)? (?:and|&) (?:parallelism|layouts?"
    r"|parallel (?:layouts?|strateg(?:y|ies)))"
    r"|模型(?:规模)?[与和及、]\s?并行(?:策略|配置|方式|度)?"
    r"|what (?:(?:we|I) )?(?:stayed|stays|was kept|is kept|kept|held|was held) "
    r"(?:fixed|constant|the same)"
    r"|(?:held|kept) (?:fixed|constant)|constants|fixed|in common|common to (?:all|every) \w+"
    r"|(?:the )?same (?:for|in) (?:all|every) \w+"
    r"|(?:(?:settings?|parameters|configuration|values) )?(?:(?:that is|that are|which are) )?"
    r"(?:shared by|common to|valid for|for|of) (?:all|every)(?: of)?(?: the)? (?:runs?|experiments?"
    r"|tables?)|(?:what )?all (?:runs|experiments|tables)(?: (?:share|have in common|use))?"
    r"|(?:where|what) (?:we|I|it|this|they|everything) (?:ran|runs?|was run)(?: it)?(?: on)?)\W*"
    rf"|{NUMBERED}(?=.*\b(?:{_STRONG})\b)(?:(?:notes on|about) )?(?:{_QUALIFIED}(?:{_STRONG}"
    rf"|{_WEAK})"
    rf"(?:,? (?:and|&) |, |/| & )?)+(?:(?: we)? used| details| versions| specs|,? in (?:short"
    rf"|brief))?\W*"
    rf"|{NUMBERED}(?:{_BESIDE_IN_EAST_ASIA}{_AND_IN_EAST_ASIA})?{_IN_EAST_ASIA}"
    rf"(?:{_AND_IN_EAST_ASIA}(?:{_IN_EAST_ASIA}|{_BESIDE_IN_EAST_ASIA})){{0,2}}"
    r"(?:信息)?(?:参考|说明|一览)?\W*"
    rf"|{NUMBERED}(?:Umgebung|System|Hardware|Maschine|Systeme|Rechner)(?: und (?:Software|Hardware"
    r"|Methodik|Konfiguration|Messung|Modelle?|Daten))?\W*"
    rf"|{NUMBERED}(?:Syst[èe]mes?|Machines?|Mat[ée]riel|Plateforme|Sistema|Hardware)"
    r"(?: et (?:logiciels?|m[ée]thode|mod[èe]les?|donn[ée]es)"
    r"| y software| e software)?\W*"
    rf"|{NUMBERED}(?:(?:Versuchs|Test|Mess|Trainings)(?:umgebung|aufbau|bedingungen)"
    r"|(?:Aufbau|Umgebung|(?:Rahmen)?bedingungen|Einstellungen) (?:der|des|für die) "
    r"(?:Messung(?:en)?|Versuche?s?|Experimente?s?|Läufe|Tests?|Trainings?)"
    r"|(?:environnement|configuration|conditions|entorno|configuraci[oó]n|ambiente|condizioni"
    r"|configura[cç][aã]o|condiciones|configurazione)(?: (?:de |d'|des |do |di |del |dell')?"
    r"(?:matérielle|tests?|mesures?|essais|entraînement|pruebas?|entrenamiento|testes?|treinamento|treino|prova"
    r"|addestramento))?|(?:конфигурация|условия|окружение|стенд)"
    r"(?: (?:обучения|эксперимента|измерений|тестов))?)\W*",
    re.IGNORECASE,
)


def of_set_up(title: str) -> bool:
    """Whether a heading names nothing but how things were set up: `## Training configuration`.

    What is said below it is said of the sections beside it.

    >>> of_set_up("## Setup"), of_set_up("### 2.1 Model settings"), of_set_up("## Setup of BERT")
    (True, True, False)
    >>> of_set_up("## 環境とモデル"), of_set_up("## モデルとデータ"), of_set_up("## 모델 및 환경")
    (True, False, True)
    >>> of_set_up("#### A100/H100环境配置"), of_set_up("## Setup (A100 and H100)")
    (True, True)
    """
    bare = _OF_ALL_ROWS.sub("", title)
    return _SET_UP.fullmatch(bare) is not None or (
        (rest := _without_devices(bare)) != bare and _SET_UP.fullmatch(rest) is not None
    )


def _without_devices(title: str) -> str:
    """A heading without the several devices that it names beside each other; one that names less
    than two stays: it is of that device alone."""
    named = devices(title)
    if len({device.key for device in named}) < SEVERAL:
        return title
    for text in sorted({device.text for device in named}, key=len, reverse=True):
        title = title.replace(text, "\ufffc")
    return _ON_ITS_OWN.sub("", _IN_TURN.sub("\ufffc", title))


SEVERAL = 2

_IN_TURN = deferred(
    r"\ufffc(?:(?:, ?(?:and )?| ?[/&+] ?| and | or |、|，|和|与|及|と|와 ?|과 ?)\ufffc)+"
)
"""Devices of which a heading names one after another."""


_OF_ALL_ROWS = deferred(
    r"\s?[(（\[](?:(?:the )?same (?:for|on|in) |for |of )?(?:all|every|each|所有|全部|全て"
    r"|すべて|各|모든)[^()（）]{0,24}[)）\]]",
    re.IGNORECASE,
)
"""Behind the words of a heading: it is of all rows, `优化策略（所有机型相同）`."""


def set_up_on(title: str) -> Device | None:
    """The one device that a heading names beside how things were set up on it: what is said below
    is said of its rows.

    >>> [set_up_on(title).text for title in ("#### A100环境配置", "## Set-up (8x H100 nodes)")]
    ['A100', 'H100']
    >>> set_up_on("## Setup"), set_up_on("## Results on H100"), set_up_on("## A100 and H100 setup")
    (None, None, None)
    """
    device = only(title)
    if device is None:
        return None
    rest = _ON_ITS_OWN.sub("", title.replace(device.text, "\ufffc"))
    return device if of_set_up(rest) else None


_ON_ITS_OWN = deferred(
    r" ?[(（\[]?(?:(?:on|of|for|with|the|an?|our|one|NVIDIA|AMD|[0-9]+ ?[x×]?) )*"
    r"(?:[0-9]+ ?[x×] ?)?\ufffc(?:[- ](?:GPUs?|nodes?|machines?|cluster|servers?|cards?))?"
    r"[)）\]]?[ :-]{0,2}",
    re.IGNORECASE,
)
"""A device in a heading, with the words around it that go with it."""

_SET_ASIDE = deferred(
    r"\b(?:related|previous|prior|background|inference|serving|deploy\w*|eval\w*|future"
    r"|limitations?|faq|install\w*|usage|quick ?start|getting started|accuracy|quality"
    r"|converge\w*|news|updates?|changelog|what'?s new|features?|highlights?|news|tl;?dr"
    r"|summary|abstract|conclusions?|results?|findings|key \w+|why|motivation|support\w*"
    r"|requirements?|prerequisites?|roadmap|plan(?:s|ned)?|to ?do|try|tutorials?|demos?"
    r"|examples?|hands[- ]on|showcase|steps?|how to|licen[sc]e|citation|contents|links?"
    r"|references?|glossary|terms|notation|history|models?|recommend\w*|tips|tuning|cost|prices?"
    r"|downloads?|api|options|outlook|theory|estimat\w*|expected|targets?|baselines?|runs?"
    r"|experiments?|benchmarks?|scaling|throughput|speed|performance|ablations?|sweeps?"
    r"|comparisons?)\b"
    r"|背景|简介|特性|亮点|安装|快速|推理|评[估测]|结果|结论|总结|更新|计划|支持|示例|教程|使用方法|模型|要求|目录"
    r"|背景|特徴|インストール|推論|評価|結果|結論|まとめ|更新|予定|対応|例|使い方|モデル|목차|설치|추론|평가|결과",
    re.IGNORECASE,
)
"""Words of headings over what is not of the runs of a page, or of some of them."""


def precedes(title: str) -> bool:
    """Whether what is said below a heading in front of all tables may be of all of them: it names
    no part of a page that is of something else, whatever it is called.

    >>> precedes("## The job"), precedes("## Before we start"), precedes("## Quick start")
    (True, True, False)
    >>> precedes("## Files for this tutorial"), precedes("## Tutorials")
    (True, False)
    """
    return _SET_ASIDE.search(_FOR_THE_PAGE.sub("", title)) is None


_FOR_THE_PAGE = deferred(
    r" (?:for|of|in) (?:this|the) (?:tutorial|notebook|example|demo|benchmarks?|experiments?)\W*$",
    re.IGNORECASE,
)
"""The end of a heading that names the page, whatever that is of: `Files for this tutorial`."""


_CONSTANT = deferred(
    rf"{NUMBERED}(?:(?:the|our|my|some|common|shared|global|general) )*"
    r"(?:conventions|ground rules|(?:fixed )?facts|constants|fixed(?: settings)?|in common"
    r"|(?:common|shared) (?:settings|parameters|variables|values)"
    r"|(?:held|kept|what (?:is|was|stays|stayed)(?: kept)?) (?:fixed|constant|the same)"
    r"|common to (?:all|every) \w+|same (?:for|in) (?:all|every) \w+)\W*",
    re.IGNORECASE,
)


def of_constants(title: str) -> bool:
    """Whether a heading is over what holds for all that follows, in whatever it is written: below
    one of the set-up alone, a block of code may be a command to try.

    >>> of_constants("## Conventions"), of_constants("## Setup"), of_constants("### Held constant")
    (True, False, True)
    """
    return _CONSTANT.fullmatch(title) is not None


_PART_OF_SET_UP = deferred(
    rf"{NUMBERED}(?:(?:the|our|my|test|training|and|&|,|/) ?|(?:hardware|software|environment"
    r"|code(?: ?base)?|network|nodes?|data ?set"
    r"|machines?|platform|test ?bed|cluster|metrics?|measurements?|methodology|precision|timing"
    r"|versions?"
    r"|硬件|软件|环境|하드웨어|소프트웨어|ハードウェア|ソフトウェア) ?)+\W*",
    re.IGNORECASE,
)


def part_of_set_up(title: str) -> bool:
    """Whether a heading below that of the set-up is of a part of it that every run has.

    >>> part_of_set_up("Hardware and software"), part_of_set_up("Baselines")
    (True, False)
    """
    return _PART_OF_SET_UP.fullmatch(title) is not None


_INTRODUCES = deferred(
    rf"{NUMBERED}(?:introduction|overview|preface|preamble|foreword|about(?: this \w+)?"
    r"|before you (?:read|start)|general|概述|简介|引言|前言|介绍|はじめに|概要|개요|소개"
    r"|Einleitung|Einführung|Überblick|Aperçu|introducción|introdução|introduzione|введение|обзор)\W*",
    re.IGNORECASE,
)


def introduces(title: str) -> bool:
    """Whether a heading is over what goes before all that follows: `## Introduction`.

    >>> introduces("## 1. Introduction"), introduces("## Introduction of ZeRO")
    (True, False)
    """
    return _INTRODUCES.fullmatch(title) is not None


_WHAT_RAN = deferred(
    rf"{NUMBERED}(?:what|how) (?:(?:we|I)(?: \w+)? "
    r"|(?:everything|it|this|(?:the|these|our|all) \w+) (?:is|was|are|were) )"
    r"(?:(?:train|measur|benchmark|tim|test)(?:e?d?|ing)|ran|run|used?)\b[^,;:]{0,30}"
    rf"|{NUMBERED}(?:(?:the|our|my|all|common|shared|fixed|general) )*(?:conventions|constants)"
    rf"(?: and (?:settings?|defaults))?\W*|{NUMBERED}(?:common|shared|fixed) (?:settings?"
    rf"|parameters"
    r"|configuration|values)\W*|(?:公共|统一|通用|共通)(?:设置|配置|参数|設定)\W*",
    re.IGNORECASE,
)


def of_what_ran(title: str) -> bool:
    """Whether a heading is over how its author ran what was measured, where a command is that of
    those runs: `## How we run`, `## What I train`.

    >>> of_what_ran("How we run"), of_what_ran("Conventions"), of_what_ran("How to run it")
    (True, True, False)
    """
    return _WHAT_RAN.fullmatch(title) is not None


_CODE_OF = (
    r"\b(?:commands?|scripts?|(?:launch|command) lines?|config(?:uration)?s?|YAML|JSON|recipes?"
    r"|settings|flags|arguments|overrides|invocations?)"
    r" \(?(?:(?:that |which )?(?:is |are |was |were )?(?:used|shared|common|identical|the same) )?"
    r"(?:behind|for|of|by|to|in)"
)

_EVERY_ROW = (
    r"(?:each|every|all|both|any)(?: of(?! the above))?(?: the| these)? (?:[\w-]{1,16} )??"
    r"(?:points?|rows?|runs?|lines?|jobs?|entry|entries|results?|numbers|measurements?|cases?"
    r"|experiments?|timings|configurations?|settings|variants?|of the above)"
)

_STARTED = (
    r"(?:had|obtained|made|measured|started|produced|launched|run|collected|generated|trained)"
)

_REPRODUCES = deferred(
    r"(?:\b(?:to|how to|for) reproduc(?:e|ing)\b|^[\W_0-9]*reproduc(?:e|ing|tion|ibility)\b"
    r"|\bcommands? (?:behind|for|of|used for) (?:these|the|this|each|every) "
    rf"|{_CODE_OF} {_EVERY_ROW}"
    r"|\b(?:these|the|all) (?:numbers|results|rows|runs) (?:above )?(?:were|are) "
    r"(?:had|obtained|made|measured|started|produced) (?:with|by)\b"
    rf"|\b{_EVERY_ROW} (?:above )?(?:was|were|is|are) {_STARTED} (?:with|by|as|using|from)\b"
    r"|^\W*复现|再現|^\W*재현)",
    re.IGNORECASE,
)

_REPRODUCES_ELSE = deferred(
    r"\b(?:not|cannot|can['’]t|bug|issue|error|crash|eval\w*|accuracy|inference|serving|paper|data"
    r"|datasets?|figures?|plots?|first|last|best|one|(?<!each )(?<!every )row|example|e\.g|loss"
    r"|curves?)\b",
    re.IGNORECASE,
)
"""Words by which it is not the runs of a whole table."""


def reproduces(text: str) -> bool:
    """Whether a line, or a heading, is over what the runs of the table above it were started with.

    >>> reproduces("<summary>How to reproduce this</summary>"), reproduces("### Reproducing")
    (True, True)
    >>> reproduces("To reproduce the bug:"), reproduces("We could reproduce it.")
    (False, False)
    """
    plain = _TAG.sub(" ", text)
    return _REPRODUCES.search(plain) is not None and not _REPRODUCES_ELSE.search(plain)


_OF_EVERY_ROW = deferred(
    rf"{_CODE_OF} {_EVERY_ROW}\b|\b{_EVERY_ROW} (?:above )?(?:was|were|is|are) {_STARTED} ",
    re.IGNORECASE,
)


def reproduces_all(text: str) -> bool:
    """Whether such a line says it of each row of the table.

    >>> reproduces_all("The launch line for each point:"), reproduces_all("The launch line:")
    (True, False)
    >>> reproduces_all("Command (identical for all rows):"), reproduces_all("All of the above ran.")
    (True, False)
    """
    return reproduces(text) and _OF_EVERY_ROW.search(text) is not None


_SCRIPT = deferred(
    rf"{NUMBERED}(?:(?:the|our|launch(?:ing)?|start|run|training|pre-?training|reference) )*"
    r"(?:scripts?|(?:launch|start|training|run) commands?)\W*"
    rf"|{NUMBERED}(?:(?:启动|训练|预训练|运行|执行)(?:的)?)?(?:脚本|命令)\W*|{NUMBERED}启动(?:预)?训练\W*",
    re.IGNORECASE,
)


def of_script(title: str) -> bool:
    """Whether a heading is over the script of a training, and of no one in particular: below that
    of a model it is what the model's numbers were had with.

    >>> of_script("### 脚本"), of_script("### Training script"), of_script("## Scripts for BERT")
    (True, True, False)
    """
    return _SCRIPT.fullmatch(title) is not None


_TOLD_APART = r"(?:[0-9]{1,3}(?:\.[0-9])?[BM]?)"
"""A number or a size, which tells the training of one model of a page from those of others."""

_TRAINING = deferred(
    rf"{NUMBERED}(?:(?:the|full|running|start(?:ing)?|launch(?:ing)?) )?(?:pre-?)?train(?:ing)?"
    rf"(?:[ -]?{_TOLD_APART})?\W*"
    rf"|{NUMBERED}(?:启动|开始)?(?:预)?训练(?:[ -]?{_TOLD_APART}|[(（]{_TOLD_APART}[)）])?\W*"
    r"|(?:事前)?学習\W*|(?:사전 ?)?학습\W*",
    re.IGNORECASE,
)


def of_training(title: str) -> bool:
    """Whether a heading is over the training of what a heading around it names, and of no part of
    it; a number behind it tells it from others on its page.

    >>> of_training("## Training"), of_training("## Training-2"), of_training("## Training data")
    (True, True, False)
    """
    return _TRAINING.fullmatch(title) is not None


def headed(lines: Sequence[Line]) -> list[Line]:
    """The lines, with headings in Markdown's spelling.

    A rule's level is the place of its character among those of the document, by itself or with the
    same rule above the title, as in reStructuredText; where Markdown's own signs are used too, `=`
    is the first and `-` the second.
    """
    marks: list[str] = []
    if mixed := any(_MARKDOWN.match(line.text) for line in lines):
        marks = ["=", "-"]
    found = list(lines)
    wiki = any(line.text.startswith(_OF_WIKIS) for line in lines)
    adoc = any(_FENCE.fullmatch(line.text) for line in lines)
    for at, line in enumerate(lines):
        if adoc and (signed := _OF_ASCIIDOC.fullmatch(line.text)):
            found[at] = line._replace(text="#" * len(signed[1]) + signed[2])
        elif tagged := _TAGGED.fullmatch(line.text):
            found[at] = line._replace(text=_signed(tagged))
        elif drawn := _DRAWN.fullmatch(line.text):
            found[at] = line._replace(text=_plainly(drawn, wiki=wiki))
        elif _RULE.match(line.text) and _titled(lines, at):
            over = at > 1 and not mixed and lines[at - 2].text.rstrip() == line.text.rstrip()
            mark = line.text[0] * (1 + over)
            if mark not in marks:
                marks.append(mark)
            signs = "#" * min(6, marks.index(mark) + 1) + " "
            title = found[at - 1]
            found[at - 1] = title._replace(text=signs + title.text)
    return found


_FENCE = deferred(r"\|={3,}\s*")

_OF_ASCIIDOC = deferred(r"(={1,5})( +(?!.{0,120}=\s*$)\S.{0,118})")


_DRAWN = deferred(
    r"(?P<begin>\s{0,8}(?P<mark>[=*~-])(?P=mark){1,79}\s+)(?P<title>[^\W_](?:[^|]{0,118}[^\s|=*~-])?)"
    r"\s+(?P=mark){2,80}\s*"
    r"|(?P<points>\s{0,8}(?:>{2}|={1,3}>|-{2,3}>|:{2,4})\s+)"
    r"(?P<pointed>(?=\D{0,80}[0-9])[^\W_][^.;]{2,100}[^\s.;:])\s*"
    r"|(?P<bracket>\s{0,8}\[\s{0,4})(?P<held>(?=\D{0,80}[0-9])(?=\S*[ |,])[^\W_]"
    r"[^\[\]]{1,99}[^\[\]\s])\s{0,4}\]\s*"
)
"""The title of a part of a program's output, drawn on both sides of its text or in front of it:
`=== 7B, seq 4096 ===`, `>> 13B tp=2`, `[70B | tp 8]`."""

_WIDE = deferred(r"(?<=[^\s,;:|]) {2,}(?=[^\s|])")

LOWEST = 6
"""Level of a heading that a program has drawn."""


_OF_WIKIS = ("{|", "||", "^ ", "|_.")
"""How lines of a wiki's tables begin, whose headings have as many signs as their level."""


def _plainly(drawn: re.Match[str], *, wiki: bool) -> str:
    """A drawn title with the sign of a heading, its text where it stood if there is room; what
    wide blanks or strokes keep apart in it commas do."""
    title = drawn["title"] or drawn["pointed"] or drawn["held"]
    title = _WIDE.sub(lambda gap: ",".ljust(len(gap[0])), title).replace("|", ";")
    begin = drawn["begin"] or drawn["points"] or drawn["bracket"]
    marks = begin.strip()
    signs = "#" * (min(len(marks), LOWEST) if wiki and not marks.strip("=") else LOWEST)
    return f"{signs} ".ljust(len(begin)) + title


def _signed(tagged: re.Match[str]) -> str:
    """A heading of HTML with signs in place of its tags, as wide as they are; a bare tag of a deep
    level, `<h5>`, has no room for as many and the blank behind them.

    >>> _signed(_TAGGED.fullmatch("<h2>Softmax</h2>")), _signed(_TAGGED.fullmatch("<h5>fp8</h5>"))
    ('##  Softmax', '##### fp8')
    """
    blank = _TAG.sub(lambda tag: " " * len(tag[0]), tagged[4])
    signs = "#" * int(tagged[3]) + " "
    return f"{' ' * len(tagged[1])}{signs:<{len(tagged[2])}}{blank}".rstrip()


def _titled(lines: Sequence[Line], at: int) -> bool:
    """Whether the line above the rule at `at` is the text of a heading, and stands alone."""
    if at == 0 or lines[at - 1].number != lines[at].number - 1:
        return False
    title, rule = lines[at - 1].text.rstrip(), lines[at].text.rstrip()
    if not _TITLE.search(title.lstrip()) or _MARKDOWN.match(title):
        return False
    if _APART.search(_DATE_IN_FRONT.sub("", title, count=1)):
        return False
    if len(rule) < SHORT * len(title):
        return False
    above = lines[at - 2] if at > 1 and lines[at - 2].number == lines[at].number - 2 else None
    return above is None or not above.text.strip() or above.text.rstrip() == rule


def underlines(text: str, above: str) -> bool:
    """Whether a line underlines the heading right above it with tildes, and opens no block of code.

    >>> underlines("~~~~~~~~", "### Training"), underlines("~" * 4, "## Runs")
    (True, True)
    >>> underlines("~~~", "## Training"), underlines("~~~~~~~~", "training")
    (False, False)
    """
    ruled = text.strip()
    return (
        len(ruled) > SHORTEST_RULE
        and set(ruled) == {"~"}
        and above.startswith("#")
        and len(ruled) >= len(above.strip("# "))
    )


SHORTEST_RULE = 3
"""Tildes that open a block of code."""
