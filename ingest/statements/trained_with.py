"""The program that a line says runs were trained with.

In: a line of a document, and whether it is a heading or a caption. Out: the cell of field
`program`. A heading names it, a container, a command, a label (`Framework: …`), a sentence on what
was measured with it. A program that is compared with, converted from or pointed to is not said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from assay.ingest.prose.only_program import FORKS
from assay.ingest.schema.record import Cell, Line, Statement
from assay.ingest.schema.terminals import deferred
from assay.ingest.vocabulary.program_names import (
    NOT_TO_TRAIN,
    OF_OTHERS,
    is_below,
    program_named,
    starts,
)

FIELD = "program"

_PROPER = (
    r"(?:NeMo|NEMO|Megatron|MCore|MBridge|MindSpeed|ModelLink|Primus|Paddle[NF]|GPT-NeoX"
    r"|[Tt]orch(?:[Tt]itan|[Tt]une)|LitGPT|OLMo-core|(?:LLM[ -]?|llm-)[Ff]oundry|MosaicML"
    r"|LL?[Aa][Mm][Aa][ -]?Factory|[Aa]xolotl|Hugging ?Face|Intern[Ee]vo|Colossal|[Nn]anotron"
    r"|AXLearn|[Mm]ax[Tt]ext|Levanter|Pax[Mm]L|Deep[Ss]peed|FSDP)"
)

_NAMES = rf"(?:{_PROPER}|nemo|megatron-(?:lm|core|deepspeed)|[Tt]ransformers|Composer|primus)"

_WORDS = r"(?:using|with|in|via|by|through|on|of|use[sd]|from|使用|采用|基于)"

_LABELS = r"(?:[Ff]ramework|[Cc]ontainer|[Ii]mage|[Ss]oftware|[Cc]odebase|[Tt]rainer)"

FORMS = (
    r"PyTorch v?[0-9.]+ (?:with )?FSDP"
    rf"|{_WORDS} ?(?:the )?(?:NVIDIA )?[`*\[]?{_PROPER}"
    rf"|{_NAMES}[A-Za-z_-]*[ :][a-z:_]*v?[0-9]+\.[0-9]"
    rf"|{_LABELS}[`*]*: *[`*\[]*{_NAMES}|框架[^:：]*[:：] ?{_NAMES}"
    rf"|{_PROPER}[^.]* (?:was|is|were) used|{_PROPER} ?(?:训练|进行)"
    r"|-m (?:torchtitan|[Mm]ax[Tt]ext)|MaxText/train|composer \S*train/train"
    r"|litgpt (?:pre|fine)t|tune run |axolotl train"
    r"|llamafactory-cli t|pretrain_gpt\.py|megatron_gpt_pretraining"
)
"""Found in every line of prose or code that may say it, in polars' syntax."""

_SAYS = deferred(FORMS)

_MARKS = (
    "nemo", "megatron", "mcore", "mbridge", "mindspeed", "modellink", "primus", "neox",
    "torchtitan", "torchtune", "litgpt", "lit-gpt", "olmo-core", "foundry", "mosaicml",
    "composer", "factory", "axolotl", "transformers", "internevo", "internlm-train", "colossal",
    "nanotron", "axlearn", "maxtext", "levanter", "paxml", "deepspeed", "fsdp", "paddlenlp",
    "paddlefleetx",
    "automodel", "auto-model", "auto model", "tune run", "pretrain_gpt", "accelerate",
)  # fmt: skip
"""Parts of every line that may name a program: asked first, as most lines hold none."""

_LABEL = deferred(
    r"\W*(?:[A-Za-z]+ ){0,2}(?:framework|trainer|container|image|software(?: stack)?|codebase|"
    r"library|training code|backend)s?(?: version| used)?\W{0,4}[:=：|]"
    r"|.{0,6}(?:框架|软件(?:环境|栈|版本)?).{0,4}[:：]",
    re.IGNORECASE,
)

_MEASURED = deferred(
    r"\b(?:(?:pre-?)?train\w*|fine-?tun\w*|benchmark\w*|measure\w*|perform\w*|results?|experiments?|"
    r"runs?|ran|throughput|numbers|tests?|tested|obtained|collected|tables?|software)\b|训练|性能|吞吐|测试",
    re.IGNORECASE,
)

_WITH = (
    r"\b(?:using|with|in|via|by|on|of|from|under|uses?|used"
    r"|(?<=run )through|(?<=done )through|(?<=trained )through|(?<=launched )through)\b"
    r"(?: [\w.']+){0,2} ?[`*]*\s*$"
)

_USED = deferred(rf"{_WITH}|(?:使用|采用|基于|用) ?$", re.IGNORECASE)

_WAS_USED = deferred(r"[\w .`*,-]{0,80}? (?:was|is|were) used\b|[\w-]+ ?(?:训练|进行)")

_OWN = (
    r"(?:[\w-]+ ){0,3}(?:(?:pre-?)?train(?:er|ing (?:framework|library|toolkit|code(?:base)?|stack"
    r"|system|engine))|framework|library|toolkit|wrapper|layer|launcher|package|codebase)\b"
)
"""Words for a program that is made of others."""

_OTHERWISE = deferred(
    r"\b(?:unlike|similar|like|compar\w+|versus|vs\.?|than|instead|rather|convert\w*|conversion|"
    r"export\w*|import\w*|migrat\w+|inspired|based on|fork\w*|compatib\w+|support\w*|integrat\w+|"
    r"checkpoints?|tokeni[sz]\w+|data ?sets?|inference|serving|alternative|against|outperform\w*|"
    r"faster|slower|baseline|plan\w*|future|todo|see|refer\w*|docs?|documentation|paper|blog|"
    r"without|can be|could|also|earlier|previously|formerly|if|or|either|recommended|"
    r"optional\w*|cannot|not|(?:and|,) (?:the|an)other|implementations of"
    rf"|interchange\w*|{OF_OTHERS})\b|{NOT_TO_TRAIN}|转换|对比|支持"
    rf"|\b(?:is|was) (?:an?|the|our|my) {_OWN} (?:[^.;]{{0,60}} )?(?:on top of|built (?:up)?on|atop"
    rf"|around|over|wrapping)\b|\b(?:is|ist|est) (?:ein|une?) [^.;]{{0,40}}\b(?:auf Basis|basé)\b",
    re.IGNORECASE,
)
"""Words beside which a program is another one than that of the runs, or one that might be, or the
one that another is made of: `Basalt is a small trainer on top of FSDP2.`"""

_TECHNIQUE = deferred(
    r"\bFSDP[12]?\W{0,4}(?:\+|[0-9]|$)|(?:\+|[0-9]D\b.*)[ (*]*FSDP|\bparallelism\b", re.IGNORECASE
)
"""FSDP as one of the ways in which a program spreads a run: `2D parallelism (FSDP + TP)`."""

_ALONE = deferred(r"\s*(?:[-*+]|[0-9]+\.)?\s*")

SHORT = 60
"""Letters of a line, a bullet perhaps, that is little more than a name and its version."""

LINK = deferred(r"\[([^\[\]]*)\]\([^()\s]*\)")
"""A link in Markdown: its text."""

_SENTENCE = deferred(r"(?<=[a-z0-9)`* ])\. {1,400}(?=[A-Z`*\[])|。")
"""Between sentences; in place of a link there are blanks in front of it, or behind."""


def trained_with(line: Line, *, heading: bool) -> dict[str, Cell]:
    """The program that a line says, in one spelling, as a cell of `FIELD`; nothing for others.

    >>> said = trained_with(Line(1, "All runs used NeMo 24.07 on DGX H100.", 0, {}), heading=False)
    >>> said["program"].text
    'nemo 24.07'
    >>> trained_with(Line(1, "Unlike Megatron, it needs no patches.", 0, {}), heading=False)
    {}
    """
    if not (heading and line.text.startswith("#")) and not names_program(line.text):
        return {}
    if heading:
        told = {} if _OTHERWISE.search(line.text) else _cell(line, line.text, 0)
        technique = told and told[FIELD].text == "fsdp" and _TECHNIQUE.search(line.text)
        return {} if technique else told
    if not _SAYS.search(line.text) or "](#" in line.text:  # a table of contents
        return {}
    line = line._replace(text=LINK.sub(lambda link: f" {link[1]}".ljust(len(link[0])), line.text))
    if _LABEL.match(line.text) or starts(line.text):
        return {} if _OTHERWISE.search(line.text) else _cell(line, line.text, 0)
    begin, found = 0, dict[str, Cell]()
    for text in _SENTENCE.split(line.text):
        found = found or _in_sentence(line, text, begin)
        begin = line.text.find(text, begin) + len(text)
    return found


def names_program(text: str) -> bool:
    """Whether a text may name a program: a quick look."""
    small = text.lower()
    return any(mark in small for mark in _MARKS)


def _in_sentence(line: Line, text: str, begin: int) -> dict[str, Cell]:
    """The program of a sentence: a version beside a name alone, or what was measured with it."""
    told = program_named(text)
    if told is None or _OTHERWISE.search(text) or FORKS.match(text):
        return {}
    alone = told.version and len(text) <= SHORT
    alone = alone and told.at <= len((_ALONE.match(text) or [""])[0]) + len("**NVIDIA ")
    used = _USED.search(text[: told.at]) or _WAS_USED.match(text, told.at)
    if alone or (used and _MEASURED.search(text)):
        return _cell(line, text, line.text.find(text, begin))
    return {}


def _cell(line: Line, text: str, begin: int) -> dict[str, Cell]:
    told = program_named(text)
    if told is None:
        return {}
    return {FIELD: Cell(told.text, line.number, line.column + begin + told.at)}


def versioned(statements: Sequence[Statement]) -> list[Statement]:
    """The statements; a program without a version is of the one that its document names with it.

    Of lines that follow each other and say the same program and nothing else, the first is enough.
    """
    statements = [
        each
        for before, each in zip([None, *statements], statements, strict=False)
        if before is None or not _repeats(before, each)
    ]
    known: dict[str, set[str]] = {}
    for each in statements:
        if FIELD in each.values:
            name, _, version = each.values[FIELD].text.partition(" ")
            known.setdefault(name, set()).update({version} - {""})
    one = {
        name: f"{name} {min(versions)}" for name, versions in known.items() if len(versions) == 1
    }
    return [_named_in_full(each, one) for each in statements] if one else statements


_TASK = deferred(r"\b(?:(?P<before>pre-?training)|(?P<after>fine-?tuning|SFT))\b", re.IGNORECASE)

_OF_ITS_TASK = deferred(
    r"(?:^|[.;] )\W*(?:the )?(?P<task>pre-?training|fine-?tuning|SFT)\b(?: [a-z]+){0,2}? "
    r"(?:uses?|used|runs?|ran|is|was)\b[^.;]*$",
    re.IGNORECASE,
)
"""The beginning of a sentence that says of one task alone what it was done with: `Pretraining uses
Megatron-LM`."""


def of_their_tasks(
    statements: Sequence[Statement],
    texts: Mapping[int, str],
    titles: Mapping[int, str],
    sections: Sequence[tuple[int, tuple[int, ...]]],
) -> list[Statement]:
    """The statements, the program that a sentence gives one task in the sections whose headings
    name that task alone, where other headings name another one: there it is not known."""
    tasks = {path: named for line, path in sections if (named := _tasks(titles.get(line, "")))}
    around = {path[:depth] for path in tasks for depth in range(1, len(path))}
    tasks = {p: named for p, named in tasks.items() if len(named) == 1 and p not in around}
    found = list[Statement]()
    for each in statements:
        cell = each.values.get(FIELD)
        text = texts.get(cell.line, "")[: cell.column - 1] if cell else ""
        told = _OF_ITS_TASK.search(text) if len(set(tasks.values())) > 1 else None
        if cell is None or told is None:
            found.append(each)
            continue
        mine = _tasks(told["task"])
        of_others = cell._replace(state="unknown")
        found += [
            replace(each, section=path, values={FIELD: cell if named == mine else of_others})
            for path, named in tasks.items()
        ]
        rest = {name: other for name, other in each.values.items() if name != FIELD}
        found += [replace(each, values=rest)] if rest else []
    return found


def _tasks(text: str) -> frozenset[str]:
    return frozenset(found.lastgroup or "" for found in _TASK.finditer(text))


def as_the_document_says(
    statements: Sequence[Statement],
    programs: Mapping[int, Cell],
    texts: Mapping[int, str],
    headings: Set[int],
) -> list[Statement]:
    """The statements, given the one program that their document, or the section of a heading, names
    (`only_programs`): with its version, and where a command starts what that is built on, or a
    container or the title is called after it, that.

    FSDP is no program beside it, unless another heading than the title (the first of the lines of
    `headings`) names that program: then its section may be of it, and the other of FSDP alone.
    """
    first, *others = sorted(headings) or [0]
    below = [texts.get(at, "").casefold() for at in others]
    return [
        each for said in statements
        if (each := _as_its_section_says(said, programs, texts, below, first)).values
    ]  # fmt: skip


def _as_its_section_says(
    statement: Statement,
    programs: Mapping[int, Cell],
    texts: Mapping[int, str],
    below: Sequence[str],
    title: int,
) -> Statement:
    held = statement.values.get(FIELD)
    if held is None:
        return statement
    if starts(texts.get(held.line, "")):  # as what is built on it does
        for heading in reversed(statement.section):
            over = program_named(texts.get(heading, ""))
            if over and is_below(held.text.partition(" ")[0], over.name):
                return _named_in_full(statement, {held.text: over.text})
    if not programs:
        return statement
    at = next((at for at in reversed(statement.section) if at in programs), 0)
    program = programs[at].text if at in programs else ""
    name, _, version = program.partition(" ")
    if held.text == "fsdp" and name and not any(name.casefold() in title for title in below):
        rest = {field: cell for field, cell in statement.values.items() if field != FIELD}
        return replace(statement, values=rest)
    text = texts.get(held.line, "")
    around = is_below(held.text.partition(" ")[0], name) and (
        starts(text) or _CONTAINER.search(text) is not None or held.line == title
    )
    if around or (version and held.text == name):
        return _named_in_full(statement, {held.text: program})
    return statement


def versions_below(
    statements: Sequence[Statement],
    programs: Mapping[int, Cell],
    sections: Sequence[tuple[int, tuple[int, ...]]],
) -> list[Statement]:
    """Statements of sections that say in which version they ran what a heading further up names
    without one; `sections` are the headings above each heading, with itself."""
    paths = dict(sections)
    named = {(each.section, cell.text) for each in statements if (cell := each.values.get(FIELD))}
    return [
        Statement(cell.line, paths[at], {FIELD: cell})
        for at, cell in programs.items() if at in paths and " " in cell.text
        if any(
            (paths[at][:depth], cell.text.partition(" ")[0]) in named
            for depth in range(len(paths[at]))
        )
    ]  # fmt: skip


_CONTAINER = deferred(r"\b(?:container|image)s?\b", re.IGNORECASE)


def _repeats(before: Statement, statement: Statement) -> bool:
    said, held = statement.values.get(FIELD), before.values.get(FIELD)
    if said is None or held is None or len(statement.values) > 1:
        return False
    return said.text == held.text and before.section == statement.section


def _named_in_full(statement: Statement, names: dict[str, str]) -> Statement:
    cell = statement.values.get(FIELD)
    if cell is None or cell.text not in names:
        return statement
    values = {**statement.values, FIELD: cell._replace(text=names[cell.text])}
    return replace(statement, values=values)
