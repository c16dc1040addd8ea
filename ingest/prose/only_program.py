"""The one program that a document, or a section of it, says to have trained with, for rows of which
nothing nearer names one.

In: the lines of a document. Out: by the heading of a section, 0 for the whole document, a cell with
the program and its version. A program is said by a sentence on what was run or measured with it, by
a label (`Framework: …`), by a list of versions, or by the title. One that nobody knows is named
with a version, a commit, its command or the word for what it is, and is the only name there that is
not of a library, a model or a device. Where two are named, it is the one that the other is part of,
or none. Where none is, it is the framework in whose container the document says to have measured.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from assay.ingest.columns.other_runs import sentences, unreported
from assay.ingest.columns.titles import model_named
from assay.ingest.grids.grid import LONGEST
from assay.ingest.prose.only_device import THREAD
from assay.ingest.schema.record import Cell, Line
from assay.ingest.schema.terminals import deferred
from assay.ingest.vocabulary.devices import devices
from assay.ingest.vocabulary.program_names import (
    ABOVE,
    NOT_TO_TRAIN,
    OF_OTHERS,
    PARTS,
    Program,
    frameworks,
    is_library,
    program_named,
    started,
    the_one,
)
from assay.ingest.vocabulary.terms import NUMBER_FORMAT

LAW = "the one program that the document says to train with"

_MEASURED = deferred(
    r"\b(?:(?:pre-?)?train\w*|fine-?tun\w*|benchmark\w*|measur\w*|perform\w*|results?|experiments?"
    r"|runs?|ran|timed|throughput|numbers|tests?|tested|obtained|collected|taken|tables?|software|same"
    r"|jobs?|everything|all|(?<![a-z] )done|we (?:used?|r[ua]n)|SFT|on [0-9]+ [x×]? ?[GNTX]PUs"
    r"|module load"
    r"|L[äa]ufe\w*|\w*gemessen|messung\w*|trainiert\w*"
    r"|messwerte|entra[îi]n\w*|mesur\w*|entrena\w*|medid\w*|treina\w*|обуч\w*)\b"
    r"|训练|[微精]调|性能|吞吐|测试|测得|実験|学習|計測|測定|학습|훈련|측정|실험",
    re.IGNORECASE,
)
"""Found in sentences on what was run or measured; a statement is held to fewer words, as it needs
no other of its document to agree (`assay.ingest.statements.trained_with`)."""

_OTHERWISE = deferred(
    r"\b(?:unlike|similar|like|compar\w+|versus|vs\.?|than|instead|rather|convert\w*|conversion|"
    r"export\w*|import\w*|migrat\w+|inspired|based on|compatib\w+|support\w*|integrat\w+|"
    r"checkpoints? (?:of|from|in|for|format)|tokeni[sz]\w+|evaluat\w+|inference|serving|alternative"
    r"|against|outperform\w*|faster|slower|baseline|plan\w*|future|todo|see|refer\w*|docs?"
    r"|documentation|paper|blog|can be|could|also|earlier|previously|formerly|if"
    r"|or (?:with )?[A-Z]\w+|either|recommend(?:s|ed)?|optional\w*|cannot|not|never|sampling"
    r"|generat\w+|decoding|latency|served|plott?\w*|profil\w+|pr[ée]vu\w*|geplant|nicht|statt"
    rf"|später|{OF_OTHERS})\b|{NOT_TO_TRAIN}|转换|对比|推理|评测|支持|評価|変換|推論|평가|추론",
    re.IGNORECASE,
)
"""Words beside which a program is another one than that of the runs, or one that might be."""

_WITH = (
    r"(?:\b(?:using|with|[Ii]n|via|by|[Ww]e r[ua]n|(?<=run )through|(?<=done )through"
    r"|under|uses?|used|from|mit|unter|nutz(?:en|t)|verwende[nt]|avec"
    r"|module load|sous|utilis\w+|con|usando|com|с (?:помощью|использованием)|на (?:базе|основе))"
    r"[\s,]+(?:(?:the|our|its|own|plain|version|HF"
    r"|(?:NVIDIA|AMD|Intel|Huawei)(?:'s)?|ROCm|Hugging ?Face(?:'s)?|de[rmn]?|das|le|la|une?|an?"
    r"|internal|private"
    r"|in-house|stock|vanilla|unmodified|upstream"
    r"|(?:(?:slightly|lightly|heavily|leicht) )?(?:modified|custom(?:i[sz]ed)?|patched|adapted"
    r"|angepasste[nmrs]?|modifizierte[nmrs]?)) ){0,3}"
    r"(?:fork of (?:the )?)?"
    r"|\b(?:our|the) (?:training )?(?:code|code ?base|implementation|trainer) (?:is|was) built "
    r"(?:up)?on (?:top of )?"
    r"|\b(?:container|image|framework|code|software|stack) as (?:above|before) \("
    r"|\b(?:is|are|was|were) (?:all |just )?(?:plain|stock|vanilla|unmodified|upstream) "
    r"|\b(?:measurements?|throughput|performance|results|speed|benchmarks|numbers|fork|usage"
    r"|(?:training |fine-?tuning )(?:modes|recipes|scripts|backends)) of "
    r"(?:the )?|\b(?:benchmark(?:ed|ing)?|measured|measuring|tested|testing|timed) (?:our |the )?"
    r"|(?:使用|采用|基于|用|使って|で|は|为|為|：|사용|修改版的?|改造的?|在(?=[^，。；、,;]{3,40}[上下中])"
    r"|自研的?|内部) ?(?:(?:训练)?框架 ?)?|(?<!推理)(?<!部署)框架 ?(?:[:：]|[为是]|采用|使用)? ?)"
    r"[`*_\"“\[]{0,3}"
)
"""How a sentence leads to the program that something was run with."""

_LABEL = (
    r"^\W*(?:[A-Za-z]+ ){0,2}(?i:framework|trainer|program(?:me?)?|software(?: stack)?"
    r"|code(?:base)?|version under test|tested version|library|toolkit|training code"
    r"|training framework|container|stack|biblioth[èe]que|logiciel|bibliothek"
    r"|框架|训练框架|训练程序|代码|软件(?:环境|栈|版本)?|コード|(?:学習)?(?:フレームワーク|ソフトウェア|プログラム|ツール|ライブラリ)"
    r"|프레임워크)s?"
    r"(?: version| used)?[`*_]{0,3}\s?(?:[:=：|]|[为は] |(?:is|was|ist) )[`*_\s|\[]{0,4}"
)

_LABELLED = deferred(_LABEL, re.IGNORECASE)

_LEADS = deferred(rf"(?:{_LABEL}|{_WITH})$", re.IGNORECASE)

_FULL_NAME = (
    r"(?P<name>(?:[A-Z][A-Za-z0-9]{2,24}(?:[-_][A-Za-z0-9]{2,16}){0,3}"
    r"(?: (?:Framework|Trainer|Toolkit|Library|Engine|Suite))?"
    r"|(?!(?:the|this|that|our|its|their|tag|version|release|branch)\b)"
    r"(?:(?<=[`*])|(?=[a-z-]{3,24} v[0-9])"
    r"|(?=[a-z][a-z0-9_-]{2,24} [0-9]{1,2}(?:\.[0-9]{1,2}){2}(?:,|,? and| with| on(?: top of)?) "
    r"(?:PyTorch|torch|JAX|CUDA|TensorFlow|MindSpore) v?[0-9]))"
    r"[a-z][A-Za-z0-9]{2,24}(?:[-_][A-Za-z0-9]{2,16}){0,3}))"
)
"""A name: in capitals, or in other letters where it is marked, a version with a sign follows, or a
version and that of what it is built on: `uses basalt 0.3.1 and PyTorch 2.5`."""

_NUMBERED = (
    r"[`*_\"”\]]{0,3}[ (（=:@]{1,2}(?:version |release )?"
    r"(?P<version>[vVr]?[0-9]{1,2}(?:\.[0-9]{1,2}){1,2}(?:\.?(?:rc|post|dev|b|a)[0-9]+)?)"
    r"(?![\w%]|[.,][0-9]|[/x×]| ?(?:[TPG]FLOP|[Tt]ok|s\b|ms\b|sec|h(?:ours)?\b|GB|GiB|MB|TB|[x×]"
    r"|times|hours|days|million|billion|[BMTKk]\b|percent))"
)

_NEW = deferred(rf"(?:{_LABEL}|{_WITH}){_FULL_NAME}{_NUMBERED}")
"""A name with a version behind what leads to it: `with Basalt v1.4`."""

_COMMIT = (
    r"[`*_\"”\]]{0,3},? ?(?:[(（@] ?|at )(?:the )?(?:(?:git )?(?:commit|rev(?:ision)?|hash|sha)\b"
    r"|main\b|[0-9a-f]{7,40}\b)"
)
"""Behind a name: at which commit it was, in place of a version."""

_A_TRAINER = (
    r"(?:trainer|training (?:framework|library|toolkit|stack|code(?:base)?|system|engine)"
    r"|Trainingsframework|训练框架|学習フレームワーク)"
)

_PLAIN = r"(?P<{n}>`[A-Za-z][\w.-]{{2,24}}`|\*{{0,2}}[A-Z][a-z]+[A-Za-z0-9]{{0,16}}\*{{0,2}})"

_CALLED = deferred(
    rf"(?:{_LABEL}|{_WITH})(?:{_FULL_NAME}|(?<=: )(?P<low>[a-z][\w-]{{2,24}})){_COMMIT}"
    rf"|{_WITH}(?P<marked>[\w.-]{{3,24}})` {_A_TRAINER}"
    rf"|{_WITH}(?P<started>[a-z][\w-]{{2,24}}) (?:pre-?|fine-?)?(?:train|tune|sft)\b[^`]{{0,80}}`"
    rf"|\b(?:[Oo]ur|[Tt]he|[Uu]nser(?:em)?) (?:[\w-]+ ){{0,2}}{_A_TRAINER},? "
    rf"{_PLAIN.format(n='ours')}(?=[ ,.;:()]|$)"
    rf"|{_WITH}{_PLAIN.format(n='fork')},? (?:which is )?(?:our|an?|the) (?:[\w-]+ ){{0,2}}"
    r"(?:fork|derivative|variant|version) of\b"
    rf"|^\W*{_PLAIN.format(n='used')}{_NUMBERED.replace('P<version>', 'P<since>')}"
    r"[`*_)）]{0,3} (?:(?:is|was|were) used|w[iu]rde? verwendet|(?:est|a été) utilisé)"
    r"|\b(?:[Oo]wn|[Mm]y|[Oo]ur) (?:[\w-]+ ){0,3}(?:script|trainer|loop)(?: now)?,? ?[(:]? ?"
    r"`(?P<script>[A-Za-z][\w-]{1,38}\.py)`[,:;]? ?\(?(?:which is )?(?:an? )?(?:[a-z-]+ )?"
    r"(?:copy|rewrite|variant|derivative|fork|adaptation) of\b"
)
"""A program by what stands beside its name: a commit, the word for what it is, its command, or of
what a script is a copy: `our trainer Basalt`, ``launched with `basalt train` ``, `Basalt v1.4 was
used`."""

_LISTED = deferred(
    r"(?:[:：=,;+，；、]|\band\b|\bwith\b)[`*_ ]{0,4}"
    r"(?P<name>[A-Za-z][\w+-]{1,24}(?: [A-Z][\w-]{1,16})?)"
    r"[`*_]{0,3}[ @=]{1,2}(?P<version>v?[0-9]{1,3}(?:\.[0-9]{1,4}){1,2}(?:[.+-]?\w{1,12})?)"
    r"(?=[`*_ ]{0,4}(?:[,;+.()，；、。（）]|and\b|$))"
)
"""An item of a list of versions in one line: `Software: PyTorch 2.4, Basalt 1.4, NCCL 2.20`."""

_STACK = deferred(
    rf"\({_FULL_NAME}{_NUMBERED}"
    r"(?P<rest>(?:, (?:and )?[A-Za-z][\w -]{1,24} v?[0-9]+(?:\.[0-9]+){1,2})+)[^()]{0,60}\)"
)
"""Names with versions in brackets: `(Basalt 1.4, PyTorch 2.5, CUDA 12.4)`."""

_IN_STACK = re.compile(r", (?:and )?([A-Za-z][\w -]{1,24}) v?[0-9]")

_REQUIRED = deferred(
    r"\W*(?:this|the|our|these|training)(?: [a-z-]{3,20})?? (?:example|recipe|script|code|benchmark"
    r"|workload|sample|training|tutorial)s?(?: itself)?"
    r" (?:requires?|needs?)(?: access to)?(?: an?| the)? $",
    re.IGNORECASE,
)
"""In front of a program without which what the document is of does not run: `The example requires
Basalt 1.4`."""

_USED = deferred(
    r"[`*_)]{0,3}(?: v?[0-9.]{1,8})? (?:(?:is|was|are|were) used|does the (?:work|training)"
    r"|wird verwendet|wurde verwendet|est utilisé)\b"
    r"|[`*_)]{0,3} (?:training )?(?:sweeps?|jobs)\b(?=[:.,;]| (?:on|of|with|over)\b|$)"
    r"|[`*_)]{0,3}(?: v?[0-9.]{1,8})? ?(?:全参数?|LoRA|QLoRA)? ?"
    r"(?:预训练|[微精]调|训练)(?![的好出过])"
)

_STARTED = deferred(
    r"\bpython3? (?:-u )?-m (?P<name>[A-Za-z][A-Za-z0-9_]{2,24})(?:\.\w+){0,4}?"
    r"\.(?:[a-z0-9]{1,16}_)?(?:pre|fine_?)?(?:train|tune|sft)(?:er|ing)?\b"
)
"""A module of a package that trains, as a command starts it."""

_SENTENCE_ENDS = 400
"""Letters of a sentence, beyond which it is a list."""

_OF_ONE_SIZE = deferred(
    r"\W*(?:(?:only|for|the|our|with) ){0,2}(?:[\w.-]+[ -])?[0-9]+(?:\.[0-9]+)? ?[BM]\b"
    r"(?:[ -](?:runs?|models?|rows?|ones?|variant))?,? (?:uses?|used|needs?|needed|runs?|ran|was"
    r"|were|is|are|we|requires?)\b",
    re.IGNORECASE,
)
"""A sentence that is about the runs of one size: `The 70B run uses DeepSpeed.`"""

_OF_VERSIONS = deferred(
    r"^\s*(?:[|*-]\s*)?[`*_\"]{0,3}(?P<name>[A-Za-z][\w+-]*(?: [A-Z][\w-]*){0,2})[`*_\"]{0,3}"
    r"(?: \((?P<remark>[\w ./-]{2,40})\))?"
    r"(?:\s*\|\s*|\s*[:：]\s*|\s*==\s*|\s{2,}|,|\t| )[`*_\"]{0,3}"
    r"(?P<version>v?[0-9]{1,3}\.[0-9]{1,3}(?:\.[0-9]{1,4})?(?:[.+-]?\w+)?|[0-9a-f]{7,10})"
    r"[`*_\"]{0,3}(?:\s*\|?|\s*\((?P<use>[^()]{2,60})\))\s*$"
)
"""A line of a list of versions: `| torch | 2.6.0+cu124 |`, `- torch 2.6 (from source)`."""

_OF_NO_PROSE = deferred(r"^\s*(?:\||#|<|```|\+[-=]|[=~^\"'-]{4,}|:[\w-]+:|\.\. |$)")

_NO_TRAINER = deferred(
    r"^(?:Main|Master|Head|Commit|Branch|Repo|Git|See|Tables?|Figures?|Fig|Sections?|Chapter|Appendix|Steps?|Versions?|Release|Issue|Eqs?|Equation"
    r"|(?:Pre-?|Fine-?)?(?:training|tuning)|Benchmark(?:s|ing)?|Performance|Results?|Experiments?"
    r"|Models?|Overview|Introduction|Guide|Notes?|Speed|Throughput|Scaling"
    r"|Part|Run|Phase|Stage|Level|Batch|Epochs?|Adam\w*|Lion|LAMB|SGD|Muon|Dropout|LR|Temperature"
    r"|MoE|MLPerf\w*|Top|Rank|Loss|BLEU|Rope|RoPE|Clip\w*|Beta|Alpha|Gamma|January|February|March"
    r"|April|May|June|July|August|September|October|November|December|Q[1-4]|CC|Apache|GPL|License"
    r"|PCIe?|NVLink|NVSwitch|InfiniBand|Ethernet|HBM\w*|DDR\w*|USB|Gen|TFLOPS?|MFU|HFU|SP|TP|PP|DP)$",
    re.IGNORECASE,
)
"""Words that stand in front of numbers like versions."""


_OF_MODELS = deferred(
    r"(?:Code)?L[Ll][Aa][Mm][Aa]|(?i:qwen|mi[sx]tral|gemma|falcon|pythia|deepseek|phi|yi|glm|olmo"
    r"|stable diffusion|sd|gpt)\b|[\w-]+[` *]{0,3} ?v?[0-9.]+[`*]{0,3} "
    r"(?:models?|famil(?:y|ies)|checkpoints?|weights|architectures?|series|modellen?|modèles?)\b"
)
"""A name and a version that are those of models: `the Llama 3.1 models`."""


class _Named(NamedTuple):
    """A program as it is named, and where."""

    program: Program
    line: int
    column: int


_WORD = deferred(r"[\w.-]+")

_LINK = deferred(
    r"\[(?:[\w-]{1,40}/(?=([\w.-]{1,80})\]\(https?://github\.com/[\w-]{1,40}/\1[)/]))?"
    r"([^\[\]]{1,80})\]\([^()\s]{0,300}\)|</?[a-z][^<>]{0,200}>"
    r"|(?:https?://)?github\.com/[\w-]{1,40}/(?=[\w.-]{3})"
)
"""A link in Markdown, with its text, which may be a repository behind whose it is, a tag, or in
front of a repository whose it is."""


class _Block(NamedTuple):
    """Lines of prose that stand below each other, as one text."""

    text: str
    starts: tuple[int, ...]
    lines: tuple[Line, ...]

    def place(self, at: int) -> tuple[int, int]:
        """Line and column of a word of the text, links in front of it taken into account."""
        line = self.lines[bisect_right(self.starts, at) - 1]
        word = _WORD.match(self.text, at)
        return line.number, line.column + max(0, line.text.find(word[0] if word else ""))


def only_programs(
    lines: Sequence[Line], tabled: Set[int], headings: Set[int]
) -> Mapping[int, Cell]:
    """The one program by the line of the heading that it is named below, `tabled` being rows of
    tables; that of the document, if it is one, at 0. Each is a cell by `LAW`.

    >>> texts = ["# Results", "All runs were made with", "Basalt v1.4 (PyTorch 2.5).", "| 12 |"]
    >>> lines = [Line(n, text, 1, {}) for n, text in enumerate(texts, 1)]
    >>> {at: cell.text for at, cell in only_programs(lines, {4}, {1}).items()}
    {1: 'Basalt v1.4', 0: 'Basalt v1.4'}
    >>> only_programs([Line(1, "Later we ran it with NeMo 2.0 or Megatron.", 1, {})], set(), set())
    {}
    """
    by_section: dict[int, list[_Named]] = {}
    titled, headed = list[_Named](), list[_Named]()
    name = title = ""  # of the document, where that is all its title; and this
    at = 0
    prose = [line for line in lines if len(line.text) <= LONGEST]
    thread = any(THREAD.search(line.text) for line in prose)
    for block in _blocks(prose, tabled, headings):
        first = block.lines[0]
        if first.number in headings:
            at = first.number
            of_others = _OTHERWISE.search(block.text) or _DERIVED.search(block.text)
            told = None if of_others else _known(block, block.text, 0)
            if first.number == min(headings):
                name = (_TITLE.fullmatch(title := block.text) or {"name": ""})["name"]
                titled += [told] if told else []
                titled += _of_its_page(block, prose, tabled)
            headed += [told] if told else []
            continue
        if of_it := _in_version(block, name) or _of_two_words(block, title):
            by_section.setdefault(at, []).append(of_it)
        titled += _introduced(block, name, title)
        by_section.setdefault(at, []).extend(_said(block))
    if thread:
        return {}
    if listed := _listed(prose, tabled):
        by_section.setdefault(0, []).append(listed)
    by_section.setdefault(0, []).extend([*_started(prose, tabled), *_itemised(prose, tabled)])
    titled += [*_of_its_command(prose, tabled, name), *_of_its_script(prose, tabled)]
    titled += [] if titled else _in_version_of_its_command(prose, tabled)
    every = [
        each for section, many in by_section.items() for each in many
        if not _of_its_own_tables(section, headings, tabled)
    ]  # fmt: skip
    found = {at: cell for at, many in by_section.items() if at and (cell := _only(many))}
    commanded = list(_commanded(prose, tabled))
    names = {each.program.name for each in commanded}
    over = [each for each in headed if names and names <= ABOVE.get(each.program.name, set())]
    said = every or titled or over or commanded
    said = said or _of_its_repository(prose, tabled, name) or _launched(prose, tabled)
    whole = _only(said or [*_installed(prose, tabled)]) or _only(_contained(prose, tabled))
    return {**found, 0: whole} if whole else found


def _of_its_own_tables(section: int, headings: Set[int], tabled: Set[int]) -> bool:
    """Whether a section below others has tables, as have some of those behind or in front of it: of
    what it ran with, it speaks for itself."""
    if section <= min(headings, default=0):
        return False
    after = min((line for line in headings if line > section), default=None)
    own = {line for line in tabled if line > section and (after is None or line < after)}
    return bool(own) and own != tabled


def _contained(lines: Sequence[Line], tabled: Set[int]) -> list[_Named]:
    """The one framework by whose container a document names what its own script ran in, and says
    that its results are of a container; of two versions none."""
    found = [
        _Named(each, line.number, line.column + each.at)
        for line in lines if line.number not in tabled and "ontainer" in line.text
        for each in frameworks(line.text)
    ]  # fmt: skip
    one = len({each.program.text for each in found}) == 1
    return found if one and any(map(_IN_CONTAINER.search, (line.text for line in lines))) else []


_IN_CONTAINER = deferred(
    r"\b(?:results?|numbers|performance|throughput|benchmarks?|measurements?|runs?|we)\b"
    r"[^;:]{0,40}?\b(?:obtained|measured|collected|gathered|taken|ran|run|benchmarked|trained)\b"
    r".{0,160}?\b(?:in|with|using|inside) (?:the |an? )?(?:[\w.-]+ ){0,3}container\b",
    re.IGNORECASE,
)
"""A sentence that says that what was measured ran in a container."""


def _only(named: Sequence[_Named]) -> Cell | None:
    """The one of these programs, with its version if one is said, as a cell."""
    names = [each.program for each in named]
    told = {each.name.casefold() for each in names}
    one = names[0] if len(told) == 1 else the_one(names)
    if one is None:
        return None
    mine = [each for each in named if each.program.name.casefold() == one.name.casefold()]
    versions = {each.program.version for each in mine} - {""}
    if len(versions) > 1:
        mine = [each._replace(program=each.program._replace(version="")) for each in mine]
    best = max(mine, key=lambda each: bool(each.program.version))
    return Cell(best.program.text, best.line, best.column, law=LAW)


def _blocks(lines: Sequence[Line], tabled: Set[int], headings: Set[int]) -> Iterator[_Block]:
    """Lines of prose that stand below each other, together; each heading, and each line of a table
    that is labelled like a program, by itself."""
    held: list[Line] = []
    for line in lines:
        free = line.number not in tabled
        alone = line.number in headings or (free and _LABELLED.match(line.text) is not None)
        prose = free and not alone and not _OF_NO_PROSE.match(line.text)
        follows = held and line.number == held[-1].number + 1 and not _BULLET.match(line.text)
        if held and not (prose and follows and len(held) < MOST):
            yield _joined(held)
            held = []
        if prose:
            held.append(line)
        elif alone and free:
            yield _joined([line])
    if held:
        yield _joined(held)


MOST = 40
"""Lines of a block: what has more is no paragraph."""

_BULLET = deferred(r"\s*(?:[-*+•]|[0-9]{1,2}[.)]) ")


def _joined(lines: Sequence[Line]) -> _Block:
    starts, text = list[int](), ""
    for line in lines:
        text += " " if text else ""
        starts.append(len(text))
        text += _LINK.sub(lambda link: link[2] or "", line.text)
    return _Block(unreported(text), tuple(starts), tuple(lines))


def _said(block: _Block) -> Iterator[_Named]:
    """Programs that the sentences of a block say to be those of runs."""
    begin = 0
    for sentence in sentences(block.text):
        about = block.text[max(0, begin - NEAR) : begin + len(sentence)]
        speaks = bool(_MEASURED.search(about) or _LABELLED.match(sentence))
        begins_aside = FORKS.match(sentence) or _OF_ONE_SIZE.match(sentence)
        aside = begins_aside or _OTHERWISE.search(sentence)
        if len(sentence) <= _SENTENCE_ENDS and not aside:
            told = _known(block, sentence, begin)
            speaks = speaks or (told is not None and _opens(block, sentence, told.program))
            if not (told and _is_said(sentence, told.program, speaks=speaks)):
                needed = _needed(block, sentence, begin)
                told = needed or (_unknown(block, sentence, begin) if speaks else None)
            yield from [told] if told else []
        begin += len(sentence)


def _is_said(sentence: str, program: Program, *, speaks: bool) -> bool:
    """Whether a sentence, which perhaps speaks of runs, says that a program was used: it begins
    with it or leads to it, or its version opens brackets or is an item of a list of nouns."""
    before = sentence[: program.at].rstrip("`*_ ")
    named = _WORD.match(sentence, program.at)
    if named and _A_PART.match(sentence, named.end()):
        return False
    if _is_item(sentence, program):
        return True
    opens = program.version and before.endswith("(")
    opens = opens or _SENTENCE_OF_ONE.fullmatch(sentence) is not None
    led = speaks and (opens or _LEADS.search(sentence, 0, program.at))
    return bool(led or _stands(sentence, program))


def _opens(block: _Block, sentence: str, program: Program) -> bool:
    """Whether a paragraph opens with the name of a program that is a sentence, and goes on with
    what was measured: `Megatron-DeepSpeed. Throughput is in tokens per second.`"""
    alone = _SENTENCE_OF_ONE.fullmatch(sentence) and program.name not in PARTS
    return bool(alone and block.text.startswith(sentence) and _MEASURED.search(block.text))


_SENTENCE_OF_ONE = deferred(r"[`*_]{0,3}[A-Za-z][\w.-]{2,24}(?: v?[0-9.]{1,8})?[`*_]{0,3}[.。]\s*")


def _is_item(sentence: str, program: Program) -> bool:
    """Whether one item of a list of nouns is a program, or what trains in it, and others are
    settings of a run: `TP 8, global batch 256, NeMo Framework 23.11`.

    >>> told = "bf16, optimizer of Megatron-LM 2.4", "64 GPUs, our fork of Megatron-LM, bf16"
    >>> [_is_item(each, program_named(each)) for each in told]
    [False, True]
    """
    nouns = _OF_ALL_RUNS.sub(lambda found: " " * len(found[0]), sentence, count=1)
    if _HAS_VERB.search(nouns):
        return False
    begin, own, settings = 0, "", 0
    for text in _BETWEEN_ITEMS.split(nouns):
        at = nouns.find(text, begin)
        begin = at + len(text)
        if at <= program.at < begin:
            own = text
        else:
            settings += bool(_SETTING.search(text) or devices(text) or _is_versioned(text))
    item = _WHOLE_ITEM.fullmatch(own)
    if item is None or (program.name in PARTS and not (program.version or _IN_FULL.search(own))):
        return False
    return settings > 1 or bool(settings and (program.version or _FORMAT_IN.search(nouns)))


def _is_versioned(text: str) -> bool:
    """Whether an item of a list is a library in a version."""
    name = _A_LIBRARY.fullmatch(text)
    return name is not None and is_library(name["name"])


_A_LIBRARY = deferred(r"\W*(?P<name>[A-Za-z][\w -]{1,24}?) (?:v?[0-9][\w.+-]{0,16}|nightly)[.\s]*")

_BETWEEN_ITEMS = deferred(r"(?<![0-9]),|,(?![0-9]{3}(?![0-9]))|[;；，、·•]")

_OF_ALL_RUNS = deferred(
    r"^\W*(?:(?:all|every|each|of|the|our|these|common|shared|training|test) ){0,3}"
    r"(?:runs?|jobs?|tests?|experiments?|measurements|set-?up|config(?:uration)?|settings"
    r"|environment|software|stack|tools):",
    re.IGNORECASE,
)
"""In front of a list of what runs have in common: `All runs: bf16, torchtitan.`"""

_WHOLE_ITEM = deferred(
    r"\W*(?:(?:[\w'-]{1,16} ){0,3}(?:fork|build|version|branch) of (?:the )?"
    r"|[^,;]{2,40}? (?:under|inside) (?:the )?"
    r"|(?:(?!(?i:optimi[sz]er|kernels?|data\w*|loader|tokeni[sz]\w+|attention|weights|checkpoints?"
    r"|embeddings?|formula|plugin|patch(?:es)?|scheduler|launcher|loss|mask\w*)\b)[\w-]+ )"
    r"(?:of|from|in|with) )?[`*_]{0,3}"
    r"(?:🤗 ?|HF |Hugging ?Face |MosaicML |NVIDIA )?[\w.-]{3,24}(?<![0-9]B)"
    r"(?: (?:[Ff]ramework|[Cc]ore|[Bb]ridge|[Ff]oundry|[Ff]actory|[Cc]ontainer))?"
    r"(?:(?:'s)? `?\w{0,16}Trainer`?)?[`*_]{0,3}"
    r"(?:[ =@]{0,2}(?:core_)?[vr]?[0-9](?![0-9.]*[BMT]\b)[\w.+-]{0,16}| (?:main|master|nightly))?"
    r"(?: (?:branch|container|image|release|fork|Trainer))?"
    r"(?: \((?!not |no |only )[\w .@-]{2,40}\))?"
    r"(?:(?: on| for)(?: \w{1,8}){0,2} (?=\S*[0-9A-Z])[\w .-]{2,24}"
    r"| ?\+ ?[\w.-]{3,24}(?: [\w.-]{1,12})?| with (?:the )?[\w -]{2,36})?[`*_]{0,3}[.。]?\s*"
    r"|\W*FSDP[12]?(?: [\w-]{1,12}){0,3}[.。]?\s*"
)
"""An item that is a program, and perhaps by whom, on what and with which of its parts."""

_IN_FULL = deferred(r"Trainer|(?:HF|Hugging ?Face|🤗) ?Transformers")

_A_PART = deferred(
    r"[`*_]{0,3}'s (?:[\w-]+ ){0,2}(?:data ?(?:loader|set)s?|kernels?|tokeni[sz]er"
    r"|(?:optimi[sz]|schedul|launch)er|attention|embeddings?|formula|loss|layers?|norm\w*|RoPE)\b"
)
"""Behind a program of which a run has no more than a part."""

_HAS_VERB = deferred(
    r"\b(?:is|are|was|were|be|been|has|have|had|can|could|may|we|it|they|you|use[sd]?|using|supports?"
    r"|requires?|needs?|tested|works?|runs?|ran|see|install\w*|download\w*|built|build)\b",
    re.IGNORECASE,
)

_FORMAT_IN = deferred(rf"(?<![\w-]){NUMBER_FORMAT}(?![\w-])", re.IGNORECASE)


def _started(lines: Sequence[Line], tabled: Set[int]) -> Iterator[_Named]:
    """Programs whose modules commands start."""
    for line in lines:
        found = None if line.number in tabled else _STARTED.search(line.text)
        if found and not _is_other(found["name"]) and model_named(found["name"]) is None:
            program = Program(found["name"], "", found.start("name"))
            yield _Named(program, line.number, line.column + program.at)


def _stands(sentence: str, program: Program) -> bool:
    """Whether a sentence begins with a program and its version, or with that and the device that
    it ran on, or says that it is used.

    >>> said = "MaxText on TPU v5e.", "MaxText runs on TPU v5e.", "DeepSpeed on 8 A100s."
    >>> [_stands(each, program_named(each)) for each in said]
    [True, False, False]
    """
    named = _WORD.match(sentence, program.at)
    if named and _USED.search(sentence, named.end(), named.end() + 40):
        return True
    if named is None or any(map(str.isalnum, sentence[: program.at])):
        return False
    on_it = program.name not in PARTS and _ON_IT.match(sentence, named.end()) and devices(sentence)
    return bool(program.version or on_it)


_ON_IT = deferred(
    r"[`*_)]{0,3}(?: \([^()]{3,30}\))?(?:, (?!and |or )[\w./ -]{2,40}?)?,? "
    r"(?:on|auf|sur) (?!(?:top|the|a|an|your) )"
)
"""Behind a program that a sentence begins with: what it trained perhaps, and on what."""


NEAR = 160
"""Letters in front of a sentence, of the same paragraph, that may say what it is about."""


def _known(block: _Block, text: str, begin: int) -> _Named | None:
    told = program_named(text)
    if told is None or told.name == "fsdp":  # a way to spread a run, which rows may not share
        return None
    return _Named(told, *block.place(begin + told.at))


def _needed(block: _Block, sentence: str, begin: int) -> _Named | None:
    """The program with a version that a sentence says its example, or its recipe, requires."""
    told = _known(block, sentence, begin)
    if told and told.program.version and _REQUIRED.match(sentence[: told.program.at]):
        return told
    for each in _A_VERSION.finditer(sentence):
        if _REQUIRED.match(sentence[: each.start()]) and not _is_other(each["name"]):
            program = Program(each["name"], each["version"], each.start("name"))
            return _Named(program, *block.place(begin + program.at))
    return None


_A_VERSION = deferred(rf"{_FULL_NAME}{_NUMBERED}(?! (?:or|and) (?:later|newer|above|higher|up))")


def _unknown(block: _Block, sentence: str, begin: int) -> _Named | None:
    """The one program with a version, of those that nobody knows, that a sentence leads to."""
    found = [
        each for each in _NEW.finditer(sentence)
        if not _is_other(each["name"]) and model_named(each[0]) is None
        and not _OF_MODELS.match(sentence, each.start("name"))
    ]  # fmt: skip
    for each in _STACK.finditer(sentence) if not found else ():
        rest = _IN_STACK.findall(each["rest"])
        found += [each] if not _is_other(each["name"]) and all(map(is_library, rest)) else []
    if not found:
        return _called(block, sentence, begin)
    if len(found) != 1:
        return None
    (one,) = found
    program = Program(one["name"], one["version"], one.start("name"))
    return _Named(program, *block.place(begin + program.at))


def _called(block: _Block, sentence: str, begin: int) -> _Named | None:
    """The one program that a sentence names by what stands beside it, or among libraries."""
    told = list[Program]()
    for each in _CALLED.finditer(sentence):
        group = next(n for n in ("name", "low", "marked", "started", "ours", "fork", "used",
                                  "script")
                     if each[n])  # fmt: skip
        name = each[group].strip("`*")
        if not _is_other(name) and model_named(name) is None and not _OF_MODELS.match(name):
            told.append(Program(name, each["since"] or "", each.start(group)))
    if not told and _LABELLED.match(sentence):
        items = list(_LISTED.finditer(sentence))
        rest = [each for each in items if not is_library(each["name"])]
        told = [
            Program(each["name"], each["version"], each.start("name")) for each in rest
            if len(items) > 1 and not _is_other(each["name"])
        ]  # fmt: skip
    if len({each.name.casefold() for each in told}) != 1:
        return None
    return _Named(told[0], *block.place(begin + told[0].at))


_TITLE = deferred(
    r"(?:#\s+)?[`*]*(?P<name>[A-Za-z][A-Za-z0-9]{2,24}(?:[-_.][A-Za-z0-9]{1,16}){0,2})[`*]*\s*"
)
"""A title that is one name."""

_ITS_VERSION = deferred(
    r"(?:\b(?:with|in|at|on|of|for|using|version|release|mit|avec)\s|在 ?|版本 ?|は|で)"
    r"[`*]{0,3}(?P<version>v[0-9]{1,2}(?:\.[0-9]{1,2}){1,2})(?![\w%]|\.[0-9])"
)


def _in_version(block: _Block, name: str) -> _Named | None:
    """The program after which a document is called, where a sentence says in which version of it
    all was measured: `以下数据均在 v1.2.0 下测得`."""
    if not name or _is_other(name) or model_named(name) is not None:
        return None
    begin = 0
    for sentence in sentences(block.text):
        found = _ITS_VERSION.findall(sentence)
        if len(found) == 1 and _MEASURED.search(sentence) and not _OTHERWISE.search(sentence):
            at = begin + sentence.find(found[0])
            return _Named(Program(name, found[0], at), *block.place(at))
        begin += len(sentence)
    return None


_OF_TWO_WORDS = deferred(
    rf"{_WITH}(?P<name>[A-Z][A-Za-z0-9]{{1,24}} [A-Z][A-Za-z0-9]{{2,24}}){_NUMBERED}"
)


def _of_two_words(block: _Block, title: str) -> _Named | None:
    """The program of two words, with which the title begins, in whose version a sentence says
    that all was measured: `measured with Basalt Forge v0.7` below `# Basalt Forge speed`."""
    begin = 0
    for sentence in sentences(block.text):
        found = [
            each for each in _OF_TWO_WORDS.finditer(sentence)
            if re.match(rf"\W*{each['name']}\b", title)
        ]  # fmt: skip
        if len(found) == 1 and _MEASURED.search(sentence) and not _OTHERWISE.search(sentence):
            (one,) = found
            name, at = one["name"], begin + one.start("name")
            if not (_is_other(name) or model_named(one[0]) or _OF_MODELS.match(name)):
                return _Named(Program(name, one["version"], at), *block.place(at))
        begin += len(sentence)
    return None


_FORKED = (
    r"(?:is (?:an?|our|the)(?: [\w.-]+){0,3}? (?:fork|derivative) of"
    r"|(?:started|began)(?: out| life)? as (?:an?|our|the)(?: [\w.-]+){0,3}? "
    r"(?:fork|copy|rewrite|clone) of"
    r"|(?:is|was) (?:forked from|built (?:on|upon|around)|derived from)"
    r"|builds (?:on|upon)|grew out of)\b"
)

FORKS = deferred(
    r"\W*(?!(?:Our|The|This|It|That|Which|What|Code|Everything|All"
    r"|(?:Pre-?|Fine-?)?[Tt](?:raining|uning)|Models?|Experiments?|Results?)\b)"
    rf"(?:[A-Z]|[a-z](?=\w*[-0-9]))[\w.-]{{2,40}}\W{{1,3}}{_FORKED}"
    r"|\W*It (?:started|began)(?: out| life)? as\b"
    r"|\W*(?:[\w.-]{2,24}[\s*`]{0,3})?(?:是)?(?:在|基于)\s?[\w.-]{3,24}\s?(?:上|的|之上)?(?:进行|做)?了?(?:的)?"
    r"(?:二次开发|深度定制|改造而来|[^，。]{0,8}(?:分支|衍生))"
)
"""How a sentence begins on what a program was made of, and is no longer."""

_DERIVED = deferred(
    r"\((?:an?|our|the) [\w.-]{3,24} (?:derivative|fork|variant|port)\b"
    r"|\b(?:fork|derivative|port|rewrite) of\b",
    re.IGNORECASE,
)
"""A title that names what its program was made of: `# PaxLite (a MaxText derivative)`."""

_TRAINS = (
    rf"(?P<made>{_FORKED}|is (?:the|our)(?: [\w.-]+){{0,3}}? (?:code|implementation|repository)"
    r" (?:for|of|behind) (?:our|the|this) (?:[\w-]+ ){0,2}(?:paper|report)\b)|"
    r"(?:(?:pre-?)?trains|fine-?tunes|trainiert|entra[îi]ne)\b"
    r"|(?P<is>(?:is|ist|est) (?:an?|our|the|ein|une?|notre|unser)"
    r"(?: (?!for\b|to\b|that\b)[\w.-]+){0,4}? "
    r"(?:(?:pre-?)?train(?:er|ing (?:framework|library|toolkit|suite|code(?:base)?|stack|system"
    r"|engine))"
    r"|trainings(?:framework|bibliothek|code))\b"
    r"|is (?:an?|our|the)(?: (?!for\b|to\b|that\b)[\w.-]+){0,5}? (?:solution|framework|library"
    r"|toolkit|code ?base|suite|package|stack|platform) for (?:[\w-]+,? (?:and )?){0,4}?"
    r"(?:(?:pre-?)?training|fine-?tuning)\b"
    r"|是[^。]{0,60}?训练(?:加速)?(?:框架|库|套件|系统|引擎|工具[包集链]?)(?![\w—-])"
    r"|は[^。]{0,60}?学習(?:フレームワーク|ライブラリ))"
)

_INTRODUCED = deferred(
    r"\s*(?:`(?P<marked>[a-z][A-Za-z0-9_.-]{2,24})`|\*{0,2}(?P<name>[A-Za-z0-9_.-]{3,40})\*{0,2})"
    rf"(?: ?[(（][A-Za-z0-9 -]{{1,16}}[)）])? ?(?:{_TRAINS})",
    re.IGNORECASE,
)
"""How a paragraph begins that says what a program does: "`vitlab` trains ViT and MAE models"."""

_COINED = deferred(r"[A-Za-z]+[A-Z]|[A-Z]\w*[a-z]\w*-[A-Z]")
"""A name that is no word of a language: one with a capital inside, or in two parts."""


def _introduced(block: _Block, name: str, title: str) -> Iterator[_Named]:
    """The program that a paragraph introduces, in code or as `name`, which is all of the title of
    its document; one that it says to be a program for training, by a name that stands in the
    `title` or is no word: `BasaltKit is a distributed training library`; and of the name in a
    `title`, that it is a fork of one, or, where they speak of training, the code of a paper."""
    begin = 0
    for sentence in sentences(block.text):
        told = _INTRODUCED.match(sentence)
        own = (told["marked"] or told["name"]) if told else ""
        mine = own.casefold() == name.casefold()
        if told and begin == 0:
            titled = own in _WORD.findall(title)
            mine = mine or bool(told["marked"])
            mine |= bool(told["is"] and (titled or _COINED.match(own)))
        if told and told["made"]:
            of_training = "train" in f"{title} {sentence}".casefold() or program_named(sentence)
            mine = begin == 0 and titled and bool(of_training)
        if told and mine and not _is_other(own) and model_named(own) is None:
            at = begin + told.start("marked" if told["marked"] else "name")
            yield _Named(Program(own, "", at), *block.place(at))
        begin += len(sentence)


def _of_its_page(title: _Block, lines: Sequence[Line], tabled: Set[int]) -> list[_Named]:
    """The program that a document is the page of: its title begins or ends with a name, by which
    commands fetch, install or import it, and the words right below say that it trains."""
    found = _PAGE_OF.search(title.text)
    if found is None or _is_other(found["name"]) or model_named(found["name"]) is not None:
        return []
    begin = title.lines[0].number
    free = [line for line in lines if line.number > begin and line.number not in tabled]
    told = title.text[: found.start()] + title.text[found.end() :]
    for line in free:
        if len(told) > _OPENING or (told.strip(" #") and line.text.startswith("#")):
            break
        told += "" if _OF_NO_PROSE.match(line.text) else f" {line.text}"
    if not _TRAINS_SO.search(told) or _NO_PROGRAM_TO_TRAIN.search(told):
        return []
    own = re.escape(found["name"]).replace("_", "[-_]").replace(r"\-", "[-_]")
    fetched = re.compile(_FETCHES.format(own=own), re.IGNORECASE)
    if not any(fetched.search(line.text) for line in free):
        return []
    at = found.start("name")
    return [_Named(Program(found["name"], "", at), *title.place(at))]


_PAGE_OF = deferred(
    r"^[#\s]*(?:[^\x00-\x7F]{2,20} )?[`*]{0,2}(?P<name>[A-Za-z][A-Za-z0-9]{2,24}"
    r"(?:[-_.][A-Za-z0-9]{1,16}){0,2})[`*]{0,2}(?=\s*(?:$|[:：(（,，|]|[^\x00-\x7F]|- |--))"
)
"""A title that is a name, or begins with one: `# Basalt: train LLMs on one node`."""

_OPENING = 600
"""Letters below a title in which a page says what it is of."""

_TRAINS_SO = deferred(
    r"\b(?:pre-?)?train(?:s|ing|er)?\b|\bfine-?tun(?:e|es|ing)\b|训练|[微精]调|学習|학습",
    re.IGNORECASE,
)

_NO_PROGRAM_TO_TRAIN = deferred(
    r"\b(?:kernels?|optimi[sz]ers?|moments|tokeni[sz]ers?|data ?(?:sets?|loaders?)|benchmarks?"
    r"|qualification|inference|serving|compilers?|collectives?|quanti[sz]\w+ (?:library|kernels?)"
    r"|official (?:\w+ ){0,2}(?:implementation|code|repo\w*)"
    r"|(?:family|series|suite) of (?:\w+ ){0,3}models"
    r"|open models?|model card|attention (?:implementation|library|backend)|drop-in)\b"
    r"|算子|优化器|数据集|推理引擎|评测",
    re.IGNORECASE,
)
"""Words of a page on something that other programs train with, or on what was trained."""

_FETCHES = (
    r"\bgit clone \S{{0,120}}/{own}(?:\.git)?(?:\s|$)|\bpip3? install (?:-\S+ )*{own}\b"
    r"|^\s*(?:>>> )?(?:import|from) {own}\b|\bpython3? (?:-u )?(?:-m {own}\b"
    r"|(?:\S{{1,40}}/)?{own}/\S{{0,60}}train\S{{0,20}}\.py)|^\s*(?:[$%] )?cd {own}\b"
)
"""Commands by which a program is fetched, installed or started; its name is to be filled in."""


def _of_its_command(lines: Sequence[Line], tabled: Set[int], name: str) -> Iterator[_Named]:
    """The program after which a document is called, where a command trains with it:
    `basalt train --config 7b.yaml`."""
    if not name or _is_other(name) or model_named(name) is not None:
        return
    for line in lines:
        found = None if line.number in tabled else _TRAINED_BY.match(line.text)
        if found and found["name"].casefold() == name.casefold():
            at = found.start("name")
            yield _Named(Program(found["name"], "", at), line.number, line.column + at)


def _in_version_of_its_command(lines: Sequence[Line], tabled: Set[int]) -> Iterator[_Named]:
    """The program that commands train with, and an item of a list names with its version:
    `- Basalt v1.4` beside `basalt train 7b.yaml`."""
    free = [line for line in lines if line.number not in tabled]
    begun = {found["name"].casefold() for line in free if (found := _TRAINED_BY.match(line.text))}
    for line in free if begun else ():
        found = _BULLET.match(line.text) and _OF_VERSIONS.match(line.text)
        if found and found["name"].casefold() in begun and not _is_other(found["name"]):
            at = found.start("name")
            yield _Named(
                Program(found["name"], found["version"], at), line.number, line.column + at
            )


def _commanded(lines: Sequence[Line], tabled: Set[int]) -> Iterator[_Named]:
    """The known programs that commands start."""
    for line in lines:
        for program in started(line.text) if line.number not in tabled else ():
            yield _Named(program, line.number, line.column + program.at)


def _installed(lines: Sequence[Line], tabled: Set[int]) -> Iterator[_Named]:
    """The known programs that commands install in one version: `pip install axolotl==0.9.2`."""
    for line in lines:
        found = None if line.number in tabled else _INSTALLS.search(line.text)
        for each in _PINNED.finditer(line.text, found.end()) if found else ():
            told = program_named(f"{each['name']} {each['version']}", any_case=True)
            if told is not None and told.name not in PARTS:
                yield _Named(told, line.number, line.column + each.start("name"))


_INSTALLS = deferred(
    r"\b(?:pip3?|uv|conda|mamba|poetry|pdm|pixi) (?:pip )?(?:-{1,2}[a-z-]{1,20} ){0,3}"
    r"(?:install|add)\s"
)

_PINNED = deferred(
    r"(?<![\w/.-])(?P<name>[A-Za-z][\w-]{1,40})(?:\[[\w,-]{1,40}\])?={1,2}(?P<version>[0-9][\w.]{0,16})"
)


def _of_its_repository(lines: Sequence[Line], tabled: Set[int], name: str) -> list[_Named]:
    """The name that is all of a document's title, where the document says that it is of a
    repository, and a launcher starts scripts of that."""
    launched = _launched(lines, tabled)
    if not name or not launched or _is_other(name) or model_named(name) is not None:
        return []
    return [
        _Named(Program(name, "", 0), line.number, line.column)
        for line in lines if line.number not in tabled and _OF_REPOSITORY.search(line.text)
    ][:1]  # fmt: skip


_OF_REPOSITORY = deferred(
    r"\b(?:this is (?:the|our|an?) (?:[\w-]+ ){0,2}(?:repo(?:sitory)?|code(?: ?base)?)"
    r" (?:for|of|behind)"
    r"|th(?:is|e) repo(?:sitory)? (?:contains|holds|has|hosts|provides|is (?:the|an?|for|our)))\b",
    re.IGNORECASE,
)


def _launched(lines: Sequence[Line], tabled: Set[int]) -> list[_Named]:
    """DeepSpeed or Accelerate, where its launcher starts all scripts that a document starts."""
    found = [(line, _LAUNCHER.match(line.text)) for line in lines if line.number not in tabled]
    begun = [(line, each) for line, each in found if each]
    if len({each["its"] for _, each in begun}) != 1 or not begun[0][1]["its"]:
        return []
    line, each = begun[0]
    at = each.start("its")
    return [_Named(Program(each["its"], "", at), line.number, line.column + at)]


_LAUNCHER = deferred(
    r"\s*(?:[$>%] )?(?:[A-Z_][A-Z0-9_]{1,40}=\S{1,80} ){0,8}"
    r"(?:(?P<its>deepspeed|accelerate(?= launch\s))(?: launch)?|torchrun|srun|mpirun"
    r"|python[0-9.]*)\s"
    r"(?!-m pip\b)[^|#]{0,400}?(?:[\w./-]+\.py\b|\\\s*$)"
)
"""A command that starts a script."""

_TRAINED_BY = deferred(
    r"\s*(?:[$>%] )?(?:(?:uv|poetry|pdm|pixi) run )?(?:[A-Z_]{2,40}=\S{1,80} ){0,4}"
    r"(?!(?:python3?|docker|podman|kubectl|c?make|just|task|bash|zsh|dvc|sky|ray|mlflow|wandb) )"
    r"(?P<name>[A-Za-z][\w.-]{2,40}) (?:pre-?|fine-?)?(?:train|tune|sft)\b(?! [a-z]+ )"
)
"""A command with a name that trains, and is none that starts others."""


def _of_its_script(lines: Sequence[Line], tabled: Set[int]) -> Iterator[_Named]:
    """The program whose folder holds the script that trains, by the name that a sentence has for
    it: `python src/basalt/train_lm.py` below `training speed in Basalt`."""
    folders = {
        folder.casefold()
        for line in lines if line.number not in tabled and "train" in line.text
        for script in _TRAINING_SCRIPT.finditer(line.text)
        for folder in script["path"].split("/")
    }  # fmt: skip
    for line in lines if folders else ():
        told = None if line.number in tabled else _SPOKEN_OF.search(line.text)
        own = (told["of"] or told["it"]) if told else ""
        if told and own.casefold() in folders and not _is_other(own) and model_named(own) is None:
            at = told.start("of" if told["of"] else "it")
            yield _Named(Program(own, "", at), line.number, line.column + at)


_TRAINING_SCRIPT = deferred(
    r"\bpython3? (?:-u )?(?P<path>(?:[\w.-]{1,40}/){1,6})"
    r"(?:[a-z0-9]{1,16}_)?(?:pre)?train(?:_\w{1,24})?\.py\b"
)

_SPOKEN_OF = deferred(
    r"\b(?:training|speed|throughput|performance|MFUs?|models|runs) (?:in|with|of|under) "
    r"\*{0,2}(?P<of>[A-Z][A-Za-z0-9]{3,24})\b"
    r"|^\W*(?P<it>[A-Z][A-Za-z0-9]{3,24})\*{0,2} (?:is (?:an?|our|the)|trains|scales)\b"
)
"""A name of which a sentence says that all was trained with it, or what it is."""


def _itemised(lines: Sequence[Line], tabled: Set[int]) -> Iterator[_Named]:
    """The known program that one item of a list of settings begins with: `- nanoGPT, SDPA` beside
    `- one GPU` and `- context 1024`."""
    held: list[Line] = []
    for line in [*lines, Line(-1, "", 1, {})]:
        if line.number not in tabled and _BULLET.match(line.text):
            held.append(line)
            continue
        if len(held) >= SHORTEST and sum(bool(_SETTING.search(e.text)) for e in held) > 1:
            yield from filter(None, map(_of_item, held))
        held = []


_SETTING = deferred(
    r"[0-9] ?[x×] ?[A-Z]|\b(?:GPUs?|nodes?|bf16|fp16|fp8|batch|context|seq\w*|layers|precision|TP"
    r"|ZeRO|accumulation|sequenz\w*|genauigkeit|s[ée]quence|pr[ée]cision|Q?LoRA|length|block size"
    r"|[TP]P ?=? ?[0-9]+|(?:tensor|pipeline|data)[ -]parallel\w*)\b|精度|序列|批|系列長|バッチ",
    re.IGNORECASE,
)
"""Words of an item of a list of settings."""


def _of_item(line: Line) -> _Named | None:
    mark = _BULLET.match(line.text)
    begin = mark.end() if mark else 0
    told = program_named(line.text[begin:])
    if told is None or told.name in PARTS or told.version or _OTHERWISE.search(line.text):
        return None
    at = begin + told.at
    if line.text[begin:at].strip("`*_[ ") or not _ENDS_NAME.match(line.text, at):
        return None
    return _Named(told._replace(at=at), line.number, line.column + at)


_ENDS_NAME = deferred(r"[\w.-]{3,24}[`*_\]]{0,3}\s*(?:[,;(@（，、]|at |commit |main\b|\.?\s*$)")


def _is_other(name: str) -> bool:
    """Whether a name is that of something else than a program that trains."""
    known = is_library(name) or _NO_TRAINER.match(name) or devices(name)
    return bool(known or program_named(name, any_case=True))


def _listed(lines: Sequence[Line], tabled: Set[int]) -> _Named | None:
    """The one program in a list of versions, most of which are of libraries."""
    held: list[re.Match[str]] = []
    at: list[Line] = []
    best: _Named | None = None
    opened, since = False, 0  # whether a line says that versions follow, and how far above
    for line in [*lines, Line(-1, "", 1, {})]:
        told = None if line.number in tabled else _OF_VERSIONS.match(line.text)
        if told is not None and (not at or line.number == at[-1].number + 1):
            held.append(told)
            at.append(line)
            continue
        best = best or _of_list(held, at, SHORTEST - opened)
        held, at = ([told], [line]) if told is not None else ([], [])
        if line.text.strip():
            since = 0 if (opens := _OPENS_LIST.match(line.text)) else since + 1
            opened = opens is not None or (opened and since < SHORTEST)
    return best


_OPENS_LIST = deferred(
    r"\W*(?:(?:my|our|software|tested) )?"
    r"(?:environment|versions?|software|system info|stack|环境|版本)\b",
    re.IGNORECASE,
)
"""A line above a list of versions."""


def _of_list(held: Sequence[re.Match[str]], lines: Sequence[Line], shortest: int) -> _Named | None:
    forks = {n: fork for n, each in enumerate(held) if (fork := _fork(each["remark"] or ""))}
    others = [
        n for n, each in enumerate(held)
        if (n in forks or not is_library(each["name"])) and not _ASIDE.search(each["use"] or "")
    ]  # fmt: skip
    if len(held) < shortest or len(others) != 1:
        return None
    (turn,) = others
    one, line = held[turn], lines[turn]
    known = program_named(f"{forks.get(turn, one['name'])} {one['version']}", any_case=True)
    if known is None and _is_other(one["name"]):
        return None
    program = known or Program(one["name"], one["version"], one.start("name"))
    return _Named(program, line.number, line.column + one.start("name"))


_ASIDE = deferred(rf"{NOT_TO_TRAIN}|\b(?:tokeni[sz]\w+|evaluat\w+|inference)\b", re.IGNORECASE)
"""A remark on an item of such a list that is used, and not to train."""


def _fork(remark: str) -> str:
    """The program of which a remark on a library in a list of versions says that it is a fork."""
    told = program_named(remark) if remark.casefold().endswith("fork") else None
    return told.name if told else ""


SHORTEST = 3
"""Lines of a list of versions."""
