"""Names of the models of rows of tables, and the sizes of these models that the prose says.

In: the rows of a document's tables, and its paragraphs. Out: the same rows, with the model that a
column of cases names, the one model of its size, that of a family of which they print the size
alone, or the one model of the document; and the size that the text nearest to a table says.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from math import isclose

from assay.ingest.binding.around import AROUND, OWN, SET_UP
from assay.ingest.binding.mentions import Paragraph, size_said, sizes_in
from assay.ingest.columns.cells import number_of
from assay.ingest.columns.other_runs import of_these_runs, sentences
from assay.ingest.columns.titles import SIZED, model_named
from assay.ingest.numbers.units import SUFFIXES
from assay.ingest.prose.scopes import size_of
from assay.ingest.schema.record import Cell, Line, Record
from assay.ingest.schema.terminals import deferred
from assay.ingest.vocabulary.devices import devices
from assay.ingest.vocabulary.program_names import is_library, program_named

SIZED_BY = ("model", "model_size", "parameters", "hidden", "layers")
"""Fields that say which model a row is of."""


def name_models(table: Sequence[Record]) -> None:
    """Give the rows of a table the models that the cells of one of its columns are, all of them,
    where the label says no more than that they are cases: `case | kite-7b`. Where these are of
    several sizes, a text around the table that names one model speaks of some of them."""
    first = table[0]
    told = [row.cells[name] for row in table for name in SIZED_BY if name in row.cells]
    around = {(cell.line, cell.text) for cell in told if cell.value_origin != "printed"}
    if any(cell.value_origin == "printed" for cell in told) or len(around) > 1:
        return
    for label in [label for label, _ in first.other if label.strip().casefold() in _CASES]:
        texts = [dict(row.other).get(label, "") for row in table]
        if all(_A_MODEL.fullmatch(text) for text in texts):
            if around and len({size for text in texts for size in sizes_in(text)}) < 2:
                return  # one model, as it is spelled around the table
            for row, text in zip(table, texts, strict=True):
                for name in SIZED_BY:
                    row.cells.pop(name, None)
                row.cells["model"] = Cell(text, row.line, row.column)
            return


_CASES = {
    "case", "config", "configuration", "name", "run", "job", "experiment", "workload", "benchmark",
    "task", "recipe", "test", "setup", "script", "network", "net", "checkpoint", "用例", "任务",
}  # fmt: skip

_A_MODEL = re.compile(
    r"[`*]*[A-Za-z][A-Za-z0-9.]*(?:[-_ ][A-Za-z0-9.]+){0,4}?[-_ ][0-9]+(?:\.[0-9]+)?[bBmM]"
    r"(?:[-_][a-z]{2,8})?[`*]*"
    r"|[`*]*[A-Za-z][A-Za-z0-9.-]*(?: [A-Za-z]+)?[`*]* ?[(（][0-9]+(?:\.[0-9]+)?[bBmM]"
    r"(?: param(?:eter)?s)?[)）][`*]*"
)


def size_around(around: Sequence[tuple[Paragraph, int]], since: int) -> dict[str, Cell]:
    """The size of the model of a table: of the nearest heading of its section, or paragraph below
    the table before, that names any, if that names one."""
    for paragraph, place in around:
        apart = paragraph.first < since and not paragraph.heading
        if place != OWN or apart or not sizes_in(paragraph.text):
            continue
        if _FOR_ONE.search(paragraph.text):
            return {}
        if said := size_said(paragraph.text):
            digits, letter, at = said
            unlike = _UNLIKE.search(paragraph.text, max(0, at - FARTHEST), at)
            aside = not paragraph.heading and _is_aside(paragraph.text, at)
            if unlike or aside or not of_these_runs(paragraph.text)[at].strip():
                return {}
            cell = Cell(digits, 0, at, SUFFIXES[letter])
            return {"model_size": paragraph.placed(cell)}
        return {}
    return {}


FARTHEST = 60
"""Letters in front of a size in which it may be said that it is another run's."""

_UNLIKE = deferred(
    r"(?:\b(?:unlike|compar\w+ (?:to|with)|(?:in )?contrast to|as opposed to"
    r"|(?:faster|slower|larger|smaller) than|im (?:Gegensatz|Vergleich) zum?r?|anders als"
    r"|contrairement [àa]u?|par rapport [àa]u?)"
    r"|(?:不同于|相比于|相较于)) ?(?:the |our |de[rmn] |la |le )?(?:[\w-]+[ -]){0,3}$",
    re.IGNORECASE,
)
"""In front of the size of a model that what runs is compared with: `Unlike the 7B, it fits:`."""

_FOR_ONE = deferred(
    r"\b(?:used|needed|required|necessary|enabled|disabled|applied|(?:switched|turned) o(?:n|ff)"
    r"|raised|lowered|halved|doubled|reduced|increased)\b[^.;:,]{0,30}"
    r"\b(?:for|with|by|in) the [0-9][0-9.]* ?[BMT]\b",
    re.IGNORECASE,
)
"""A setting of one of several models: `accumulation was not used for the 7B`."""


def size_in_commands(lines: Sequence[Line], first: int, last: int) -> dict[str, Cell]:
    """The size of a model in the one name of one that commands between two lines train:
    `torchrun train.py --config video_3b.yaml`, on all lines that the command goes on over."""
    found: list[Cell] = []
    goes_on = False
    for line in lines[bisect_right(lines, first, key=_number) :]:
        if line.number >= last:
            break
        trains = goes_on or _TRAINS.search(line.text) is not None
        goes_on = trains and line.text.rstrip().endswith("\\")
        for named in _IN_COMMAND.finditer(line.text) if trains else ():
            cell = Cell(named[1], line.number, line.column + named.start(1), SUFFIXES["B"])
            found.append(cell._replace(value_origin="stated"))
    return {"model_size": found[0]} if len({cell.text for cell in found}) == 1 else {}


def _number(line: Line) -> int:
    return line.number


_TRAINS = re.compile(
    r"^[\s$>]*(?:[A-Z_]+=\S+ ){0,8}(?:(?:torchrun|srun|sbatch|deepspeed|accelerate|mpirun|mpiexec"
    r"|python3?|bash|sh)\b|\./).{0,200}?(?:train|tune|sft|bench|recipe)"
)
"""A command by which something is trained."""

_IN_COMMAND = re.compile(r"(?<=[A-Za-z0-9][-_])([0-9]{1,4}(?:\.[0-9]{1,2})?)[bB](?![A-Za-z0-9])")


def only_model(paragraphs: Iterable[Paragraph], models: set[str]) -> tuple[Cell, Paragraph] | None:
    """The one model that a document names, if it speaks of none of another size, and where."""
    found: tuple[Cell, Paragraph] | None = None
    sizes = {size for model in models for size in sizes_in(model)}
    own: list[str] = []  # sizes in its name, those of what is active as well
    for each in paragraphs:
        sizes |= sizes_in(each.text)
        name = model_named(each.text) if found is None else None
        named = SIZED.search(name) is not None if name else False
        if name and named and (each.heading or not _is_aside(each.text, each.text.index(name))):
            cell = each.placed(Cell(name, 0, each.text.index(name)))
            found = cell._replace(value_origin="assumed", law=ONE_MODEL), each
            own = [size.upper() for size in _IN_NAME.findall(name)]
        if found and any(model != found[0].text for model in models):
            return None
    return found if all(any(as_large(a, b) for b in own) for a in sizes) else None


_IN_NAME = re.compile(r"[0-9]+(?:\.[0-9]+)?[BMTbm](?![A-Za-z])")


def _is_aside(text: str, at: int) -> bool:
    """Whether the sentence at some place of a text tells of another model than that of the rows.

    >>> told = "Larger models such as Wren-70B do not fit.", "Wren-7B on 8 GPUs. Rows follow."
    >>> [_is_aside(each, each.index("Wren")) for each in told]
    [True, False]
    """
    begin = 0
    for sentence in sentences(text):
        if begin <= at < begin + len(sentence):
            return _ASIDE.search(sentence) is not None
        begin += len(sentence)
    return False


_ASIDE = deferred(
    r"\b(?:unlike|compar(?:ed|ison) (?:with|to)|such as|similar (?:to|numbers|results)|tokeni[sz]er"
    r"|teacher|draft model|reward model|distill?ed from|frozen|than (?:the |our |a )?(?-i:[A-Z])"
    r"|(?:does|do|did|would|will|could|can) ?n[o'’]t (?:even )?fit|see the|expect\w*"
    r"|(?:is|are|was|were) (?:about |roughly |some |around )?[0-9.]+ ?(?:%|[x×]|times) (?:as|faster"
    r"|slower|more)|(?:is|are) (?:given |listed |shown )?in (?:the |an? )?(?:appendix|next|other"
    r"|second|another)|follow (?:later|in)|same (?:shape|size|architecture|depth|width) as)\b"
    r"|[0-9]B-(?:sized?|like)\b",
    re.IGNORECASE,
)
"""A sentence on a model that is not trained, or with which another is compared."""


def model_of_page(paragraphs: Iterable[Paragraph]) -> Cell | None:
    """The model whose numbers a document says that it gives, before its first section: `This page
    gives the throughput of kite-7b on our cluster.` A name that nobody knows is the one that the
    title of the document begins with: `# KiteNet For PyTorch`."""
    headings, title = 0, ""
    every = list(paragraphs)
    for each in every:
        headings += each.heading
        title = title or (each.text if each.heading else "")
        if headings > 1 or each.behind_table:
            return None
        for sentence in () if each.heading else sentences(each.text):
            shared = _SHARES.match(sentence) is not None
            name = model_named(sentence) if shared or _GIVES.match(sentence) else None
            name = name or (_titled(sentence, title, every) if shared else None)
            sized = name is not None and SIZED.search(name) is not None
            if name and (len(sizes_in(sentence)) == 1 if sized else shared):
                cell = each.placed(Cell(name, 0, each.text.index(name)))
                return cell._replace(value_origin="assumed", law=MODEL_OF_PAGE)
    return None


MODEL_OF_PAGE = "the model whose numbers the document says that it gives"

_SHARES = re.compile(
    r"\W*this (?:repo(?:sitory)?|folder|directory|example|project|package|recipe)"
    r" (?:contains|provides|has|holds|includes|offers|shows|demonstrates|explains)\b"
    r"(?!.*\b(?:inference|serv(?:e|ing)|models? (?:such as|like|including)|several|various)\b)"
    r".{0,80}?\b(?:(?:pre-?)?train|fine-?tun|benchmark)(?:e|ing)?\b",
    re.IGNORECASE,
)
"""How a page begins that tells what its scripts train: `This repository has a recipe to train
X.`"""

_GIVES = re.compile(
    r"\W*(?:(?:本页|本文档?|本报告|本仓库)(?:给出|列出|汇总|记录|展示|报告|提供|整理)"
    r"|(?:このページ|本ページ|本稿|本資料|本書)(?:で)?は|(?:이 (?:문서|페이지|보고서))(?:는|에서는)"
    r"|this (?:page|document|report|note|post|readme|file) (?:gives|lists|shows|reports|has|holds"
    r"|summari[sz]es|collects|documents|contains|records|covers|presents)\b)"
    r"(?=.*(?:\b(?:throughput|speeds?|performance|timings?|step times?|memory|benchmarks?|numbers"
    r"|measurements)\b|吞吐|性能|显存|速度|スループット|メモリ|처리량|성능|속도))"
    r"(?!.*(?:\b(?:inference|serving|except|compared?|besides|and other|such as)\b"
    r"|推理|推論|等模型))",
    re.IGNORECASE,
)
"""How a sentence begins that says of which model a document gives numbers of training."""


def _titled(sentence: str, title: str, paragraphs: Iterable[Paragraph]) -> str | None:
    """The name in a sentence on what a document trains that its title begins with, where no
    paragraph has a longer name for one of several models of it: `KiteNet-small`."""
    begun = _BEGINS.match(title)
    found = _TRAINS_IT.search(sentence) if begun else None
    if begun is None or found is None:
        return None
    name, first = found["name"], begun["name"]
    if name != first and not re.match(rf"{re.escape(first)}[-_ ]", name):
        return None
    if program_named(name) or is_library(name) or devices(name):
        return None
    longer = re.compile(rf"(?<![\w./-]){re.escape(first)}[-_ ]?(?:[0-9]|(?<=[-_])\w)[\w.]*")
    named = {each[0].rstrip(".") for p in paragraphs for each in longer.finditer(p.text)}
    return name if named <= {name} else None


def model_of_section(around: Iterable[tuple[Paragraph, int]]) -> Cell | None:
    """The model that the heading over a table begins with, as a sentence below it says that this
    is what was trained: `We benchmark the KiteNet model` below `## KiteNet: one node`."""
    own = [each for each, place in around if place == OWN]
    for title in (each.text for each in own if each.heading):
        for each in () if model_named(title) else own:
            for sentence in () if each.heading else sentences(each.text):
                if name := _titled(sentence, title, own):
                    cell = each.placed(Cell(name, 0, each.text.index(name)))
                    return cell._replace(value_origin="assumed", law=OF_SECTION)
    return None


OF_SECTION = "the model that the heading above names, and the text below it says to be trained"

_A_NAME = r"(?P<name>[A-Z][\w+.&-]{1,24}(?: (?:[A-Z][\w+.-]{0,24}|[0-9]{1,2}\b)){0,3}?)"

_BEGINS = deferred(
    rf"\W*(?:(?:(?:[Pp]re-?|[Ff]ine-?)?[Tt](?:rain|un)ing|Train) )?{_A_NAME}"
    r"(?=(?: v?[0-9.]{1,5})?(?: (?i:for|in|on|with|using)\b|\s*[:–—(]| - |\s*$))"
)
"""The name that a title begins with: `# KiteNet For PyTorch`."""

_TRAINS_IT = deferred(
    r"\b(?:(?:pre-?)?(?:train|fine-?tun)(?:e|ed|ing|s)?"
    r"|[Ww]e (?:test|benchmark|measure|time)(?:e?d)?)"
    rf" (?:(?:a|an|the|our) )?(?:MLPerf )?[`*_]{{0,2}}{_A_NAME}"
    r"[`*_]{0,2}(?= (?:[a-z-]{3,20} ){0,3}?(?:model|network|architecture)\b)"
)
"""How a sentence names the model that is trained: `a script to train the KiteNet speech model`."""


def models_of_all(paragraphs: Iterable[Paragraph]) -> list[tuple[Cell, Paragraph]]:
    """The models of which sentences say that all results below are: `All results below are for
    BERT-large.`; each with its paragraph."""
    found = []
    for each in paragraphs:
        for sentence in () if each.heading or each.explains else sentences(each.text):
            name = model_named(sentence) if _MAY_BE_OF_ALL.match(sentence) else None
            at = sentence.find(name) if name and not _PERHAPS.search(sentence) else -1
            if at >= 0 and _OF_ALL.fullmatch(sentence, 0, at):
                cell = each.placed(Cell(name or "", 0, each.text.index(sentence) + at))
                found.append((cell._replace(value_origin="assumed", law=OF_ALL), each))
    return found


OF_ALL = "the model of which the document says that all results below it are"

_RESULTS = (
    r"(?:(?:performance|training|throughput|benchmark|speed) )?(?:results?|numbers|figures"
    r"|measurements?|experiments?|benchmarks?|runs|tables|timings?|tests|rows)"
)

_OF_ALL = re.compile(
    r"\W{0,4}(?:(?:all|unless (?:otherwise )?(?:noted|stated|specified),? (?:all )?)(?: of)?"
    rf"(?: the| our| these)? ?{_RESULTS}(?: (?:below|here|that follow|(?:reported|shown)(?: here"
    r"| below)?|(?:in|on|of) (?:this|the following) (?:page|document|report|post|readme|section"
    r"|tables?)))?(?: (?:are|were|is|was))?(?: (?:obtained|measured|collected|taken|done|run))?"
    r" (?:for|of|with|on|using|used?|train|trained) (?:(?:a|an|the|our) ){0,2}"
    r"|(?:以下|下面|本文|所有|下列)的?(?:所有)?(?:结果|性能|实验|测试|数据|表格)(?:数据|结果)?[均都]?(?:为|是|基于|使用|采用|针对)\s?"
    rf"|(?:the|these|our) {_RESULTS}(?: below| here)? (?:(?:are|were)(?: all)? (?:for|of|with)"
    r"|(?:all )?(?:use|train)(?:e?d)?) (?:(?:a|an|the|our) ){0,2}"
    r"|(?:in (?:this|the following|these) \w+,? )?(?:we|I) (?:have )?(?:test|measure|benchmark"
    r"|evaluate|profile)(?:e?d)? (?:the |how )?[\w /-]{0,40}?\b(?:performance|throughput|speed"
    r"|scaling|memory(?: use| usage)?) (?:of|for|when|with)(?: [A-Z]\w+)?(?: (?:pre-?)?training)?"
    r" (?:(?:a|an|the|our) ){0,2}"
    r"|(?:the|our) (?:trained |tested )?model (?:(?:here|used|under test|in all (?:runs|tests)) )?"
    r"(?:is|was) (?:always )?(?:(?:a|an|the|our) ){0,2}"
    r"|(?:我们)?[^，。；]{0,24}?(?:测试|评测|评估|测量)了?[^。；]{0,40}?(?:训练|的|对|在)?\s?"
    r"|(?:测试|训练|所用|使用的)?模型[均都]?(?:为|是|采用|使用)\s?"
    r"|我们(?:[均都]|统一)?训练了?(?:一个|的是)?\s?"
    r"|alle (?:Ergebnisse|Messungen|Zahlen|Läufe)(?: unten| hier)? (?:sind|gelten|wurden)"
    r" (?:für|mit)(?: de[nmr]| das)? |以下の(?:結果|測定|数値)は(?:すべて|全て)?)"
    r"[`*_]{0,2}",
    re.IGNORECASE,
)
"""How a sentence begins that says of which model all results are."""

_MAY_BE_OF_ALL = re.compile(
    r"\W{0,4}(?:all|unless|the|these|our|we|I|in (?:this|these|the)|alle)\b"
    r"|\W{0,4}[\u3040-\u30ff\u4e00-\u9fff]",
    re.IGNORECASE,
)
"""How such sentences begin: a quick look."""

_PERHAPS = re.compile(
    r"\b(?:except|unlike|compared?|besides|inference|serving|earlier|previous|would|will|apart)\b"
    r"|除|推理|推論",
    re.IGNORECASE,
)
"""Words of such a sentence by which some results are of another model."""


def by_size(
    paragraphs: Iterable[Paragraph], models: set[str], printed: set[str]
) -> dict[str, Cell | None]:
    """The models that a document names, by the sizes in their names; None of one that several
    models have. Of the `models` of rows those alone that rows have `printed`."""
    found: dict[str, Cell | None] = {}
    for each in paragraphs:
        name = model_named(each.text) if sizes_in(each.text) else None
        told = SIZED.findall(name) if name else []
        if name is None or len(told) != 1:
            continue
        size = told[0].replace(" ", "").upper()
        cell = each.placed(Cell(name, 0, each.text.index(name)))
        held = found.setdefault(size, cell)
        if held and held.text.casefold() != name.casefold():
            found[size] = None
    own = dict[str, set[str]]()  # the models of rows, in small letters
    for model in models:
        for size in SIZED.findall(model):
            own.setdefault(size.replace(" ", "").upper(), set()).add(model.casefold())
    return {
        size: cell for size, cell in found.items()
        if size not in own
        or (cell and cell.text in printed and own[size] == {cell.text.casefold()})
    }  # fmt: skip


def call(
    row: Record, called: Mapping[str, Cell | None], around: Sequence[tuple[Paragraph, int]]
) -> None:
    """Call the model of a row that says its size alone by the one name of that size; of one that
    prints it, by its family."""
    size = row.cells.get("model_size")
    _call_by_family(row, around)
    if size is None or "model" in row.cells or size.value_origin == "printed":
        return
    for name, cell in called.items():
        if cell is not None and as_large(name, f"{number_of(size) or 0:g}"):
            law = "the one model of that size that the document names"
            row.cells["model"] = cell._replace(value_origin="assumed", law=law)
            return


def _call_by_family(row: Record, around: Sequence[tuple[Paragraph, int]]) -> None:
    """Call the model of a row that prints its size, and no name, by the one family that the text
    nearest above it says the models to be of: `GPT-style models`."""
    size = row.cells.get("model_size")
    if size is None or size.value_origin != "printed" or "model" in row.cells:
        return
    for paragraph, place in around:
        if place not in (OWN, AROUND, SET_UP) or paragraph.first > row.line:
            continue
        told = [found for each in sentences(paragraph.text) for found in _families_in(each)]
        if len({found["family"].casefold() for found in told}) > 1:
            return
        for found in told[:1]:
            own = f"{number_of(size) or 0:g}"
            sizes = {(each["size"] or "").strip().upper() for each in told}
            if any(said and not as_large(said, own) for said in sizes):
                return
            name = found["family"]
            cell = paragraph.placed(Cell(name, 0, paragraph.text.index(name)))
            sign = next((sign for sign, scale in SUFFIXES.items() if scale == size.scale), "")
            row.cells["model"] = cell._replace(
                text=f"{name} {size.text}{sign}", value_origin="solved", law=OF_FAMILY
            )
            return


OF_FAMILY = "the family that the text says the models to be of, and the size of the row"


def _families_in(sentence: str) -> list[re.Match[str]]:
    """Where a sentence says of which family models are that were trained, and of no others.

    >>> [found["family"] for found in _families_in("All runs are GPT-style models in fp16.")]
    ['GPT']
    >>> _families_in("This is as fast as GPT models, unlike T5 models.")
    []
    """
    found = list(_FAMILIES.finditer(sentence))
    return [] if found and _OF_OTHER_MODELS.search(sentence) else found


_FAMILIES = deferred(
    r"(?<![\w./-])(?:(?P<size>[0-9]{1,4}(?:\.[0-9]{1,2})?[BM])[ -](?:param(?:eter)?s? )?)?"
    r"(?P<family>(?:GPT|LL[Aa]MA|Llama|BERT|m?T5|OPT|BLOOM|Falcon|Mistral|Gemma|Qwen|OLMo|Mamba|ViT|DiT"
    r"|Pythia|MPT|Nemotron|Granite|DeepSeek)(?:-?[0-9](?:\.[0-9])?)?)"
    r"(?:[- ](?:style|type))?"
    r"(?:(?: (?:language|causal|dense|decoder(?:-only)?|transformer)){0,2}[ -]"
    r"(?:models?|LLMs|family|Modellen?)\b| ?(?:系列)?(?:的)?(?:模型|モデル|모델))"
)
"""A family of models, and words for models of it: `GPT-style models`, `a 98B GPT model`."""

_OF_OTHER_MODELS = deferred(
    r"\b(?:than|vs\.?|versus|unlike|compar\w+|instead|except|baselines?|as (?:for|with|in|fast)"
    r"|(?<!-)like|similar|support\w*|inference|serving|reward|teacher|draft|e\.g|such as|also"
    r"|download\w*|convert\w*|previous\w*|earlier|next|will)\b|相比|对比|支持|推理|と比べ",
    re.IGNORECASE,
)
"""Words of a sentence whose models are perhaps not those of the rows."""


def models_printed(rows: Iterable[Record]) -> dict[str, dict[str, Cell]]:
    """The models with a number in their names that rows print, each with its size where the rows
    that print one have it alike: a family has many, `LLaMA3` with 4 layers and with 8."""
    found = dict[str, list[dict[str, Cell]]]()
    for row in rows:
        cell = row.cells.get("model")
        alone = cell is not None and size_of(cell.text) is not None  # a size is no name
        if cell and not alone and cell.value_origin == "printed" and _A_NUMBER.search(cell.text):
            sizes = {name: row.cells[name] for name in SIZED_BY[1:3] if name in row.cells}
            found.setdefault(cell.text, []).extend([sizes] if sizes else [])
    return {
        name: sizes[0] if len({number_of(next(iter(each.values()))) for each in sizes}) == 1 else {}
        for name, sizes in found.items()
    }


def call_as_printed(
    table: Sequence[Record],
    around: Sequence[tuple[Paragraph, int]],
    printed: Mapping[str, Mapping[str, Cell]],
) -> None:
    """Give rows that name no model the one that the text nearest above their table names as another
    table prints it: `Fine-grained 16B on 64 GPUs:`; and its size by that table, where the size in
    its name is about the same."""
    if not printed or any("model" in row.cells for row in table):
        return
    for paragraph, place in around:
        if place != OWN or paragraph.first > table[0].line:
            continue
        told = {name: at for name in printed if (at := _place(name, paragraph.text)) is not None}
        names = [n for n in told if not any(n != other and n in other for other in told)]
        if names and (len(names) > 1 or _BESIDE_ANOTHER.search(paragraph.text)):
            return
        for name in names:
            cell = paragraph.placed(Cell(name, 0, told[name]))._replace(value_origin="stated")
            for row in table:
                _call_it(row, cell, printed[name])
            return


def _place(name: str, text: str) -> int | None:
    """Where a text names a model, and none of a longer name."""
    if name not in text:
        return None
    found = re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.[0-9])", text)
    return found.start() if found else None


def _call_it(row: Record, model: Cell, sized: Mapping[str, Cell]) -> None:
    """The model of a row, and its size as other rows print it; nothing where the sizes differ."""
    own = row.cells.get("model_size") or row.cells.get("parameters")
    name, size = next(iter(sized.items()), ("", None))
    sizes = [f"{number_of(cell) or 0:g}" for cell in (own, size) if cell is not None]
    if len(sizes) > 1 and not as_large(sizes[0], sizes[1]):
        return
    if size is not None and (own is None or own.value_origin != "printed"):
        row.cells.pop("model_size", None)
        row.cells[name] = size._replace(value_origin="stated")
    row.cells["model"] = model


_A_NUMBER = re.compile(r"[0-9]")

_BESIDE_ANOTHER = deferred(
    r"\b(?:than|vs\.?|versus|unlike|compar\w+|instead|except|baseline|as (?:for|with|in)|like"
    r"|similar)\b|相比|对比|と比べ",
    re.IGNORECASE,
)
"""Words of a text that perhaps names the model of other runs."""


ONE_MODEL = "the one model that the document names"


def sizes_of(row: Record) -> frozenset[str]:
    """Sizes by which a row's model is called."""
    model = row.cells.get("model")
    size = row.cells.get("model_size") or row.cells.get("parameters")
    called = SIZED.findall(model.text) if model else []
    sizes = frozenset(each.replace(" ", "").upper() for each in called)
    if size is not None and size.state == "value":
        sizes |= {f"{number_of(size) or 0:g}"}
    return sizes


def as_large(one: str, other: str) -> bool:
    """Whether two sizes, `7B` or `7e+09`, are about the same."""
    a, b = (amount(each) for each in (one, other))
    return isclose(a, b, rel_tol=0.05)


def amount(size: str) -> float:
    """Parameters by a size, `7B` or `7e+09`."""
    scale = {"M": 1e6, "B": 1e9, "T": 1e12}.get(size[-1])
    return float(size[:-1]) * scale if scale else float(size)
