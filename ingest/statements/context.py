"""Configuration that stands outside its rows: the statements of a document.

A statement is a line of configuration: assignments, `20 nodes, 2 replicas`, a heading that names a
device, a model or a number format, an option of a command, a key of a dump, a list in a sentence.
`assay.ingest.statements.binding` says what rows make of them.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import pairwise

import polars as pl
from assay.ingest.columns.other_runs import of_these_runs, sentences
from assay.ingest.columns.table_titles import own_table, table_above, table_end
from assay.ingest.columns.titles import OF_DEVICES, line_of_other, titled
from assay.ingest.columns.turns import TURNS, may_turn, turned, turned_device
from assay.ingest.grids.delimited import named_table, uncommented, without_signs
from assay.ingest.lines.lark import Token, Tree, parsed_alike
from assay.ingest.lines.outlines import MOST, Form, form, outline
from assay.ingest.numbers.units import SUFFIXES
from assay.ingest.prose.claims import CLAIMED
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import fields
from assay.ingest.schema.record import Cell, Line, Statement
from assay.ingest.schema.terminals import deferred
from assay.ingest.source.headings import of_set_up, part_of_set_up
from assay.ingest.source.prefixes import all_ascii, holds
from assay.ingest.statements.command_lines import (
    assigned,
    command,
    composed_name,
    resolved,
)
from assay.ingest.statements.lists import MANY, by_commas, everywhere, in_title, listed, twice_over
from assay.ingest.statements.nested import ENDS as OBJECT
from assay.ingest.statements.nested import HEADING, LONGEST, PLACED, Block, Nest, blocks_in, nested
from assay.ingest.statements.phrases import MEASURED, OF_ALL, OF_ONE, phrases
from assay.ingest.statements.row_words import SAME_FACT
from assay.ingest.statements.sentences import for_each, of_every_run
from assay.ingest.statements.trained_with import FORMS as WITH
from assay.ingest.statements.trained_with import LINK, names_program, trained_with, versioned
from assay.ingest.statements.under_headings import UnderHeadings
from assay.ingest.statements.values import (
    OF_JOBS,
    OPEN,
    cell_of,
    known,
    no_value,
    of_listed,
    of_whom,
    saying,
    switched_on,
    unset,
)
from assay.ingest.statements.wrapped import (
    Beside,
    Items,
    carried_on,
    lists_another,
    named_beside,
    names_another,
    said_beside,
)
from assay.ingest.vocabulary.devices import HINT, SIGN, Device, names_card, only, signed
from assay.ingest.vocabulary.networks import FORMS as NETWORKS
from assay.ingest.vocabulary.networks import names_network, network_named

_PARTS = (
    r"(?i:(?:seq(?:uence)?\.?|context) (?:len(?:gth)?|width)|batch(?:[ -]size)?"
    r"|vocab(?:ulary)? size"
    r"|parallel(?:ism)? (?:size|degree)|hidden (?:size|dim)|accumulation steps"
    r"|number of (?:layers|heads))(?:[*_` :=(]+"
    r"|(?: (?:of|is|was|at|to|kept|fixed|held|always|constant))+ )[0-9]",
    rf"[0-9] ?[x×]? ?`?{HINT}|(?i:\b(?:one|single|two|four|eight|sixteen) ){HINT}",
    r"[0-9] (?:devices|instances|servers|hosts|IPUs|HPUs|cards)\b",
    r"[Nn]odes? ?(?:of|with|[x×*]) ?[0-9]+ (?:GPU|devi|accel)",
    r"total parameters|device mesh with|activation (?:checkpointing|recomput)|capacity: ",
    r"(?i:ZeRO[ -](?:stage[ -]?)?[0-3]|deepspeed(?: config\w*)?:? stage|zero_optimization"
    r"|(?:zero|_z)_?[0-3](?:_\w+)*\.json|\bzero-?[0-3]\b)",
    r"(?i:bf16|fp16|fp8|float-?16)[ -](?:mixed[ -])?precision",
    r"(?:固定为|设置为|默认为|(?:fixed|set) (?:to|at)) ?[*`]*[0-9]",
    r"`\w+=[\w.]+`[^`]{1,3}`\w+=|(?i:accumulat[a-z]+ [a-z ]{0,16}(?:over|for|across) "
    r"(?:[0-9]|two|three|four|eight|sixteen))",
    r"(?:devices|GPUs|accelerators|cards|nodes|machines|servers) (?:used )?(?:are|were) ",
    r"^\W*[A-Za-z0-9,-]+ (?:GPUs|accelerators|devices|cards|chips)[,.;]",
    rf"\b[Mm]y (?:own )?(?:{HINT}|[2-5]0[5-9]0)|\b[Oo]ne [2-5]0[5-9]0\b",
    r"[0-9][`*]* (?:in|for|across) all\b",
    r"[a-z](?:Args|Config|Arguments)\(\w+=",
    r"(?i:(?:\b(?:on|across|with|using)|w/) [0-9,]+ (?:devices|GPUs|processes)\b)|MEMBER: [0-9]",
    r"(?i:\b(?:model|device|gpu|accelerator)(?:[_ ]name(?:_or_path)?)?[\"']?\s*[:=]\s*"
    r"[\"']?[A-Za-z])",
    r"[0-9]{3} (?:total |trainable )?parameters|(?i:precision\W*$)|GPUs (?:each|per node)",
    r"GPU models and conf",
    # parts of a sentence: a number and its noun, a short name and its number
    r"[0-9][ -](?:way [TPDCEtpdce]|hidden\b)",
    r"(?:^|[^0-9])[0-9]{1,4}[ -](?:\w+ )?(?:layers?|heads|experts)\b",  # no model has more
    r"\b(?:[TPDCE]P|[MG]BS)[ -]?[0-9]|\b(?:[tpd]p|[mg]bs)[0-9]",
    r"[a-z]-?[Pp]arallel(?:ism)?(?:[ -](?:size|degree))?(?: of| is| to)? [0-9]",
    r"(?i:accumulation (?:of |is )?[0-9]|\bseq(?: len(?:gth)?)? [0-9]{3})",
    r"(?i:\b(?:single|one)[ -](?:GPU|node)\b)|精度[均都]?[为是：:]",
    "[\u3040-\u30ff\uac00-\ud7a3][：:=]? ?[0-9]",
    r"(?i:\b(?:micro|global)[- ]batch(?:[ -]size)?(?: of| is| to)? [0-9])",
    r"(?i:\b(?:hidden|ffn|vocab\w*|context|seqlen|sequences) (?:of )?[0-9])",
    r"[一-鿿][：:为]? ?[0-9]",
    r"(?i:world[ _]size[ :=]+[0-9])|[0-9]-GPU\b",
    r"[a-z]_[a-z_]+ [0-9]+ [a-z]+_[a-z_]+ [0-9]",
    r"[a-zA-Z]{2,3}\)? ?[=:] ?\(?[0-9]+ ?[/x×,-]",
    r"(?:模型(?:名称)?|机器|硬件|显卡|加速卡) ?[:：] ?[A-Za-z0-9]|[0-9一二两三四六八十] ?[卡张块]",
    rf"(?i:\b(?:alle?|every|each|everything|tous|toutes)\b)[^.;]{{0,100}}?(?:{HINT}"
    r"|(?i:bf16|fp16|fp8|float-?16))",
    r"(?i:(?:on|using|with) [*_]{0,2}(?:one|a single|single|two|four|eight)[*_]{0,2} "
    r"(?:[0-9]+ ?Gi?B )?(?:GPU|NPU|card|accelerator|device|chip))",
    CLAIMED,
    r"[0-9] hosts\]|_component_|_target_|(?i:same (?:model|architecture))",
    r"(?i:\b(?:bf16|fp16|[bt]?f(?:loat|p)?-?(?:16|32))\b[^\"':=]*$)",
    r"[0-9] (?:images|imgs|samples|sequences|seqs|examples|videos|clips|graphs)\b ?"
    r"(?:/|per|on each|for each|par) ?(?:[GN]PU|device|card|rank|worker|process|chip|carte)",
    r"(?i:^[\W_]*(?:[\w-]+ ){0,2}(?:hardware|gpus?|nodes?|machines?|cluster|system|platform"
    r"|runtime|server|instance|environment|optimi[sz]er|parallelism|set-?up|config(?:uration)?|settings?)"
    r"(?: (?:type|model|name|used))?[*_`]* ?[:：].*[0-9])",
    rf"[0-9] (?:GPUs?|cards|карт\w*|видеокарт\w*) \(?{HINT}|\bon the [2-5]0[5-9]0\b",
    r"(?i:\b(?:on|auf|sur|en) (?:(?:an?|the|my|our|local|free|single|colab|ein|une?|un) )*)"
    rf"{HINT}",
    r"\b(?:one|two|four|eight) \W*Tesla",
    r"[a-z]_[a-z_]+`? ?[=:]? ?`?[0-9]|[а-я]{3}[ :=—]+[0-9]|[0-9] [а-я]{4}",
    r"(?i:\b(?:secuencia|sequência|sequenza|séquence|sequenzlänge|lote)\b.{0,12}[0-9])",
    "(?:[0-9]|GPU) ?[\uac00-\ud7a3枚基]|[\uac00-\ud7a3] ?(?:GPU|[A-Za-z]+[0-9])|1 ?枚の",
    r"(?i:\b(?:une?|un[ao]|uma?|eine[rmn]?) "
    r"(?:(?:seule?|sol[ao]|einzige[rn]?|einzelnen?|únic[ao]) )?"
    r"(?:GPU|karte|grafikkarte|carte|tarjeta|placa)\b|на одной )",
    "(?:シングル|単一の?|単体の?) ?GPU|单[张块卡]|ZeRO-[0-3] ?(?:相当|を)",
    r"[0-9][kKM]? tokens (?:per|/|a) (?:\w+ )?(?:step|batch|update)",
    r"(?i:\b(?:each|every) (?:GPU|device|card|rank|worker|chip)\b.*[0-9] )",
)

_FORMS = "|".join(_PARTS)

FORMS = (
    "|".join(filter(str.isascii, _PARTS)),
    "|".join(part for part in _PARTS if not part.isascii()),
    f"{WITH}|{NETWORKS}",
)
"""One is found in every line that says something of a run in words, in polars' syntax; apart those
with letters of other scripts, which with the others take more states than a search keeps."""

OPENS = r"(?:^|\s)[\"']?[A-Za-z_][\w.-]*[\"']?\s*(?::|[:=]\s*[\w.]*[\[({])\s*$|^\s*\[[\w.-]+\]\s*$"
"""How a line ends that opens a key of a dump, in polars' syntax."""

TAILED = (
    r"[=:]\s*[\"']?[0-9][0-9,_.]*[\"']?\s*"
    r"(?:[,;(][^\"{\[]*$|,?\s*[#/*]|\s[\w.+]+=|\s\\$)"
)
"""How a value goes on that others, a remark or a bracket stand behind, in polars' syntax."""

REST = r"[\s\x1c-\x1f*_`:.,\\]*$"
"""Marks and blanks behind the last value of a line."""

_WORDS = (
    r"[Tt]rue|[Ff]alse|(?:amp_|torch\.|jnp\.)?"
    r"(?:bf16|fp16|fp32|fp8|bfloat16|float16|BF16|FP16|FP32|FP8)(?:[- ](?:true|mixed|AMP))?"
    "|FULL_SHARD|HYBRID_SHARD|SHARD_GRAD_OP|NO_SHARD|selective|full"
)

_NOUNS = r"(?: (?:tokens|sequences|samples|examples|images|steps|micro-?batches))?"

_VALUES = rf"[0-9][0-9,]*(?:\.[0-9]+)?[kKMB]?{_NOUNS}|{_WORDS}"

ENDS = rf"(?:[=:：]|\bis)[\s*_`]*[\"']?(?:{_VALUES})[\"']?[)}}]*{REST}|{TAILED}|{OBJECT}"
"""How an assignment or a `label: value` ends, if a value is all that stands behind its label."""

_WORTHY = (
    r"[=:：]\s*[\"']?\S|\bis\s+[0-9]|^\s*#|--[A-Za-z]|^\s*(?:```|~~~)|[_-][a-z]+[0-9]+[_-]"
    rf"|(?i:[0-9]\s*(?:node|replica|gpu))|(?i:precision|ZeRO)|\b{HINT}"
    rf"|:\s*$|\*\*\s*$|{OPENS}"
)

WORTH = (_WORTHY, *FORMS, TURNS)
"""One is found in every line that may state something, be a heading, fence a block or name one."""

_WORTH = deferred(f"{_WORTHY}|{_FORMS}")

SAYS = (rf"{ENDS}|[=:][\"']?\$|(?:^|[\s'\"(])--[A-Za-z]", *FORMS[:2])
"""One is found in every line that is a list, a command or prose with something of a run in it."""

_SAYS = deferred("|".join(SAYS))

_LOGGED = deferred(
    r"^\s*(?:\[[^\[\]]*\]\s*)*(?:[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:,.]+\s*)?(?:>>\s*)?"
    rf"(?:{PLACED}\s*)?"
    r"(?:Config param\s+)?"
)
"""A logger's brackets, its clock and its arrow, and what a trainer says before its settings."""

_COMMENT = deferred(r"(?<=[\w\"'),\]}])\s+(?:#|//)\s.*$|,?\s*$")

_NESTED = deferred(r"^[\s{]*(?:[\"']\w+[\"']\s*:\s*\{\s*)+(?=[\"'])|^\{\s*(?=[\"'])")
"""Openings of objects inside each other: `{'model': {'n_layers': 32,`."""

_CALLS = deferred(r"^(?:\w+\()?(?:[a-z_]\w*=[A-Z]\w*\()+(?=[a-z_]\w*=)")
"""Openings of records inside each other: `model=ModelArgs(model_config=LlamaConfig(`."""

_BUILT = deferred(
    r"\s*(?:_component_|_target_)\s*[:=]\s*[\"']?[\w.]*\bmodels?\.(?:\w+\.)*([a-z]\w*_[0-9]+[bm])[\"']?\s*"
)

_QUOTED = deferred(r"^[\"']([\w.-]+)[\"'](?=\s*:)")

_CAPTION = deferred(r"\s*(?:\*[^*\s][^*]*\*|_[^_\s].*_|\**Table [0-9]+(?:\**[.:]|\*\*).*)\s*")
"""A line in italics, or a numbered one: the caption of the table above it, if there is one."""

_SAME = deferred(
    r"\W*(?:(?:with|for|on|here|now|again|still|using) )*(?:the )?same (?:model|architecture)\b"
    r"(?! (?:as|used|size))[^.;]{0,80}[.:]?\s*",
    re.IGNORECASE,
)
"""A line that says it of the model above: `Same model on half of the nodes:`."""

_HTML_CAPTION = deferred(r"\s*(?:<table\b[^<>]*>\s*)?<caption\b(?!.*<t[rdh]\b)", re.IGNORECASE)
"""A line inside a table that is no row of it."""

_MARKUP = deferred(
    r"</?(?:p|b|i|em|strong|code|span|div|li|ul|ol|br|caption|center|small|font)(?:\s[^<>]*)?/?>|&nbsp;",
    re.IGNORECASE,
)
"""Signs of HTML in a text."""

_ROLE = deferred(r"(?:\\ )?:(?:sup|sub):`[^`]{1,4}`")
"""Small signs beside a word in reStructuredText, as of a trade mark."""

_LABELS = ("KEY", "PHRASE", "SUBJECT")

_MAX_STATEMENT, _MAX_WORDS = 300, 4000
"""Letters of a line beyond which it is no statement by its form, and nothing but a command."""

_ABOUT_MACHINES = deferred(
    r"[#\s\d.*]*(?:[\w-]+\s){0,2}(?:environment|hardware|set-?up|testbed|platform)s?"
    r"(?:\s(?:set-?up|details|information))?\W*|.*(?:环境|硬件)\w*",
    re.IGNORECASE,
)
"""A heading over what the machines were: `## Test environment`, `### 硬件环境`."""

ARCHITECTURE = ("hidden", "layers", "heads", "kv_heads", "ffn_hidden", "vocab")

SPELLED_OUT = 5
"""Fields of `ARCHITECTURE` that make a block one that spells a model out."""


@dataclass
class Context:
    """The statements of one document, and what the side file and the caller assume."""

    statements: list[Statement] = field(default_factory=list)
    sections: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)  # by heading line
    assumed: UnderHeadings = field(default_factory=lambda: UnderHeadings({}))
    used: set[int] = field(default_factory=set)
    titles: dict[int, str] = field(default_factory=dict)  # text of a heading by its line
    commands_on: dict[int, Cell] = field(default_factory=dict)
    """The device that the line over a command is for, by the line of the command."""
    not_understood: list[int] = field(default_factory=list)  # lines like statements that were not
    too_long: list[Line] = field(default_factory=list)  # in which no statement was looked for

    def assumed_in(self, section: Sequence[int]) -> dict[str, Cell]:
        """Fields that are assumed for rows in a section: of the innermost heading first."""
        found: dict[str, Cell] = {}
        for line in reversed(section):
            found = {**self.assumed.under(self.titles.get(line, "")), **found}
        return found

    def unsaid(self, values: Mapping[str, Cell]) -> dict[str, Cell]:
        """Values without those that the last statement says, in the line that they stand in."""
        last = self.statements[-1] if self.statements else None
        return {
            name: cell for name, cell in values.items()
            if last is None or cell.line != last.line or name not in last.values
        }  # fmt: skip

    @property
    def unmet(self) -> list[str]:
        """Headings that something is assumed under and that the document does not have."""
        return self.assumed.unmet(self.titles.values())


def read_context(
    source: str,
    lines: Sequence[Line],
    taken: set[int],
    assumed: Mapping[str, Cell],
    tabled: Set[int] = frozenset(),
) -> Context:
    """The statements among `lines` that no format has claimed; `tabled` are rows of tables."""
    context = Context(assumed=UnderHeadings(assumed), too_long=list(_too_long(lines, taken)))
    path: list[tuple[int, int, bool]] = []  # (level, line, about machines) of the open headings
    lines = _above_values(source, lines, taken)
    blocks, nest, items = blocks_in(lines), Nest(), Items()
    beside = _beside_tables(lines, blocks, taken, tabled)
    variables: dict[str, Cell] = {}  # of a shell, since the last heading
    models: dict[str, Cell] = {}  # what was said last of a model
    silent: set[tuple[str, bool, bool]] = set()  # lines that state nothing: logs repeat themselves
    above: Line | None = None  # of prose
    for at, (line, says) in enumerate(zip(lines, _say(lines), strict=True)):
        block = blocks.get(line.number)
        heading = None if block else HEADING.match(line.text)
        if heading and line.number not in taken:
            path = _entered(context, path, line, len(heading[1]))
        aside = nest.aside(line, block)
        if heading:
            variables.clear()
        row = line.number in taken and not _HTML_CAPTION.match(line.text)
        before, above = above, None
        if row or aside or len(line.text) > LONGEST:
            continue
        above = None if block or heading else line
        more = {} if block else items.said_by(line, heading=heading is not None)
        if items.aside and above:
            continue
        more |= context.unsaid(carried_on(before, line)) if before and above else {}
        noted, told = _at_tables(context, beside, above)
        more = told | more
        key = line.text, bool(line.prefix), heading is not None
        if key in silent and not models and not more:
            continue
        if more or _worth(line.text):
            section = tuple(number for _, number, _ in path)
            statement = (
                None if key in silent else _read(source, line, section, says=says, heading=key[2])
            )
            rest = _divided(context, statement, line) if above else statement
            rest = _turning(_beside(rest, line, section, more), above, section)
            statement = _in_its_place(rest, lines, at, taken)
            variables |= (given := assigned(line))
            silent |= set() if given or statement else {key}
            statement = statement or _of_same(line, section, models)
            if statement is None:
                continue
            statement = _resolved(statement, variables)
            models |= _of_the_model(statement)
            if all(cell.state == "unknown" for cell in statement.values.values()):
                context.not_understood.append(line.number)
            placed = _placed(
                statement, line, block, environment=any(p[2] for p in path), noted=noted
            )
            if _OPTION.search(line.text) and (on := _opened_for(lines, at)):
                context.commands_on |= {cell.line: on for cell in placed.values.values()}
            context.statements.append(_of_host(placed, line, source))
    return _settled(context, lines, taken, blocks)


def _beside_tables(
    lines: Sequence[Line], blocks: Mapping[int, Block], taken: Set[int], tabled: Set[int]
) -> Beside | None:
    """Where lines stand among the tables of a document; None where it has none."""
    if not tabled:
        return None
    headings = [
        line.number for line in lines
        if line.number not in blocks and line.number not in taken and HEADING.match(line.text)
    ]  # fmt: skip
    return Beside(tabled, headings)


def _entered(
    context: Context, path: Sequence[tuple[int, int, bool]], line: Line, level: int
) -> list[tuple[int, int, bool]]:
    """The open headings below a new one, which is noted."""
    about = _ABOUT_MACHINES.fullmatch(line.text) is not None
    path = [*(p for p in path if p[0] < level), (level, line.number, about)]
    context.sections.append((line.number, tuple(number for _, number, _ in path)))
    context.titles[line.number] = line.text.strip(" #*:")
    return path


_OF_NO_TABLE = re.compile(r"\s*(?:[>@]|[-*+] \[)")
"""How a quotation begins, or what is yet to be done: no note on the table above it."""

MOST_BACK = 50
"""Statements among which another device is looked for."""


def _named_anew(context: Context, line: Line) -> dict[str, Cell]:
    """The device that a line above a table names in words that are not understood, unknown, where
    what was said before is of another one."""
    device = named_beside(line)
    if device is None:
        return {}
    section = context.sections[-1][1] if context.sections else ()
    held = (
        each.values["gpu"]
        for each in reversed(context.statements[-MOST_BACK:])
        if "gpu" in each.values and not each.until and section[: len(each.section)] == each.section
    )
    cell, last = Cell(device.text, line.number, line.column, state="unknown"), next(held, None)
    if last is None or last.line in section[-1:]:  # the heading above it names one
        return {}
    return {"gpu": cell} if line_of_other(last, cell) else {}


def _at_tables(
    context: Context, beside: Beside | None, line: Line | None
) -> tuple[int, dict[str, Cell]]:
    """The first row of the tables that a line of prose is a note below, and what it says beside
    those of its section; 0 and nothing where it stands at none."""
    if beside is None or line is None:
        return 0, {}
    noted = 0 if _OF_NO_TABLE.match(line.text) else beside.under(line.number)
    if not noted and not beside.over(line.number):
        return 0, {}
    told = said_beside(line, under=noted != 0)
    if not noted and "gpu" not in told:
        told |= _named_anew(context, line)
    return noted, {name: cell for name, cell in told.items() if not _but_for_some(cell, line)}


def _settled(
    context: Context, lines: Sequence[Line], taken: Set[int], blocks: Mapping[int, Block]
) -> Context:
    """A context whose statements know of each other."""
    texts = {line.number: line.text for line in lines}
    context.statements = versioned(list(_alternatives(context.statements, texts)))
    _raise_set_ups(context, taken, blocks, texts)
    context.statements += list(_of_later_entries(context, texts))
    return context


def _of_later_entries(context: Context, texts: Mapping[int, str]) -> Iterator[Statement]:
    """Unknown values, around the entries of a diary or a changelog, for what one of them says to
    differ from there on: the next goes on from it."""
    for each in context.statements:
        title = context.titles.get(each.section[-1], "") if each.section else ""
        names = turned(texts.get(each.line, "")) if _ENTRY.match(title) else frozenset()
        if names:
            left = Cell(texts[each.line].strip(), each.line, 1, state="unknown")
            said = each.values if _FROM_HERE.search(texts[each.line]) else {}
            values = {name: said.get(name, left) for name in sorted(names)}
            yield Statement(each.line, each.section[:-1], values)


_ENTRY = deferred(
    r"\W*(?:v?[0-9]+\.[0-9]|[0-9]{1,4}[-./][0-9]{1,2}[-./][0-9]"
    r"|[0-9]{1,2}(?:st|nd|rd|th|\.)? [A-Z][a-z]{2}"
    r"|(?:Day|Week|Month|Entry|Update|Release|Version|Tag|Woche|Jour|Semaine) [0-9]"
    r"|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\b"
    r"|第?[0-9]+[月周天日])",
)
"""A heading that is a day, a week or a version."""


def _of_same(line: Line, section: tuple[int, ...], models: dict[str, Cell]) -> Statement | None:
    """Fields said last of a model, where a line says that its runs are of the same."""
    same = models and _SAME.fullmatch(line.text)
    return Statement(line.number, section, dict(models)) if same else None


def _resolved(statement: Statement, variables: Mapping[str, Cell]) -> Statement:
    """A statement with the values of a shell's variables in it."""
    if all(cell.state != "unknown" for cell in statement.values.values()):
        return statement
    return replace(statement, values=resolved(statement.values, variables))


def _worth(text: str) -> bool:
    """Whether a line may state something: a quick look."""
    worthy = _WORTH.search(text) is not None or may_turn(text)
    return worthy or names_program(text) or names_network(text)


def _above_values(source: str, lines: Sequence[Line], taken: Set[int]) -> Sequence[Line]:
    """The lines without the signs of comments: of all in a table of separated values, elsewhere of
    those that are no headings."""
    if source.endswith(".ipynb"):
        lines = list(_unquoted(lines, taken))
    if not named_table(source):
        return without_signs(lines, source, taken)
    return [line if line.number in taken else uncommented(line) for line in lines]


_ARGUMENT = deferred(
    r"(\s*\"\s*)([A-Za-z]\w* ?= ?(?:[0-9][0-9_]*|True|[\w.]*float16),?)\s*(?:\\n)?\",?\s*"
)

_CALL_OF_ELSE = deferred(
    r"gener|sampl|eval|infer|predict|decod|llm|pipeline|tokeni[sz]|dummy|warm", re.IGNORECASE
)
"""Calls whose arguments are no settings of training."""


def _unquoted(lines: Sequence[Line], taken: Set[int]) -> Iterator[Line]:
    """The lines of a notebook, those without their quotes that are one argument of a call."""
    opened = ""
    for line in lines:
        if "(\\n" in line.text or '")"' in line.text or '")\\n' in line.text:
            opened = line.text
        found = _ARGUMENT.fullmatch(line.text) if "=" in line.text else None
        if found is None or line.number in taken or _CALL_OF_ELSE.search(opened):
            yield line
        else:
            yield line._replace(text=found[2], column=line.column + found.end(1))


def _too_long(lines: Sequence[Line], taken: Set[int]) -> Iterator[Line]:
    """The lines in which no statement is looked for, though no format has them."""
    return (each for each in lines if len(each.text) > LONGEST and each.number not in taken)


def _say(lines: Sequence[Line]) -> Sequence[bool | None]:
    """Whether something is found in each line that `SAYS` finds; None where they are few.

    Of those that are few, not many are asked.
    """
    if len(lines) < _MANY:
        return [None] * len(lines)
    texts = pl.Series([line.text for line in lines])
    return holds(texts, *SAYS, plain=all_ascii(texts)).to_list()


_MANY = 300
"""Lines that are looked through together sooner than one by one."""


def _raise_set_ups(
    context: Context, taken: Set[int], blocks: Mapping[int, Block], texts: Mapping[int, str]
) -> None:
    """Let what stands under a heading about the set-up, or is said of every run, speak for the
    sections beside it.

    Only where no row stands below that heading, and where nothing else that is raised beside it
    says a field otherwise; what a block of code says, a command to try perhaps, stays in its
    section, but for what names the machine.
    """
    ends = [*(line for line, _ in context.sections), math.inf]
    rows = sorted(taken)
    held = {
        path[:depth]
        for at, (line, path) in enumerate(context.sections)
        if bisect_right(rows, line) < bisect_left(rows, ends[at + 1])
        for depth in range(1, len(path) + 1)
    }
    paths = {path for line, path in context.sections if of_set_up(context.titles[line])} - held
    parents = {path: path[:-1] for path in paths} | {
        path: path[:-2] for line, path in context.sections
        if path[:-1] in paths and path not in paths and part_of_set_up(context.titles[line])
    }  # fmt: skip
    told = [
        (s, parents.get(s.section, s.section[:-1])) for s in context.statements
        if s.section and s.section not in held and not s.of_run
        and (s.section in parents or _of_all_sections(s, context, texts))
        and (s.line not in blocks or _NAMES_MACHINE.match(texts[s.line]))
    ]  # fmt: skip
    raised: dict[int, tuple[int, ...]] = {}
    for part in (False, True):  # a part of the set-up that says otherwise keeps it to itself
        mine = [each for each in told if part or each[0].section[:-1] == each[1]]
        said: dict[tuple[Sequence[int], str], set[tuple[str, float, str]]] = {}
        for each, parent in mine:
            for name, cell in each.values.items():
                said.setdefault((parent, name), set()).add(saying(cell))
        doubtful = {parent for (parent, _), cells in said.items() if len(cells) > 1}
        raised |= {id(each): parent for each, parent in mine if parent not in doubtful}
    context.statements = [
        replace(each, section=raised.get(id(each), each.section)) for each in context.statements
    ]


def _of_all_sections(statement: Statement, context: Context, texts: Mapping[int, str]) -> bool:
    """Whether a statement is of every run, under a heading of nothing else than those."""
    title = context.titles.get(statement.section[-1], "")
    return of_every_run(texts[statement.line]) and not _ELSEWHERE.search(title)


_ELSEWHERE = deferred(
    r"\b(?:related|previous|prior|background|inference|serving|deploy\w*|eval\w*|future|limitations?"
    r"|data ?sets?|data|faq|install\w*|usage|quick ?start|accuracy|quality|converge\w*|news"
    r"|changelog)\b",
    re.IGNORECASE,
)
"""Headings below which `all results` are not those of the tables beside them."""

_NAMES_MACHINE = deferred(
    r"\s*(?:[-*] )?(?:GPUs?|accelerators?|devices?|hardware)(?: (?:type|name|model)s?)?\s*:\s*\S",
    re.IGNORECASE,
)
"""A line of what a program prints of the system that it is on: `- GPU type: 8x H100`."""


def _of_each(line: Line, section: tuple[int, ...]) -> Iterator[Statement]:
    """Statements of a line that speaks of a model, or of each of several, and of no other row."""
    for found in filter(None, map(for_each, _SENTENCES.split(line.text))):
        name, told = found
        spec = fields(Configuration)[name]
        unknown = Cell(line.text.strip(), line.number, line.column, state="unknown")
        if len(told) > 1:
            yield Statement(line.number, section, {name: unknown})
        for model, value in told.items():
            if cell := cell_of(spec, value, line):
                yield Statement(line.number, section, {name: cell}, subject=model, here=True)


_SENTENCES = deferred(r"(?<=[\w)])[.;] +(?=[A-Z])|。")


def _divided(context: Context, statement: Statement | None, line: Line) -> Statement | None:
    """A statement without what its line says of each of several models, which is noted."""
    section = context.sections[-1][1] if context.sections else ()
    apart = list(_of_each(line, section))
    context.statements += apart
    if statement is None or not apart:
        return statement
    told = {name for each in apart for name in each.values}
    values = {name: cell for name, cell in statement.values.items() if name not in told}
    return replace(statement, values=values) if values else None


def _beside(
    statement: Statement | None, line: Line, section: tuple[int, ...], more: Mapping[str, Cell]
) -> Statement | None:
    """A statement with values that it does not say itself."""
    if not more:
        return statement
    statement = statement or Statement(line.number, section, {})
    return replace(statement, values={**more, **statement.values})


def _opened_for(lines: Sequence[Line], at: int) -> Cell | None:
    """The one device that the line of prose over a command names: `To reproduce on Gaudi2:`."""
    for line in reversed(lines[max(0, at - LONGEST_COMMAND) : at]):
        text = _TAGS.sub("", line.text).rstrip(" *_`")
        if text.endswith((":", "：")) and len(text) <= LONGEST:
            last = text[max(text.rfind(". "), 0) :]
            device = only(last)
            return Cell(device.text, line.number, line.column) if device else None
    return None


LONGEST_COMMAND = 12
"""Lines of a command behind the one that opens it."""

_OPTION = re.compile(r"(?:^|\s)--[a-z]")

_TAGS = re.compile("</?[a-z][^<>]*>")


def _in_its_place(
    statement: Statement | None, lines: Sequence[Line], at: int, taken: Set[int]
) -> Statement | None:
    """A statement of the rows of one table alone, where its line is the title of that; and of no
    device, where its sentence names another in the line above or below."""
    if statement is None:
        return None
    until = table_end(lines, at) or own_table(lines, at, taken)
    if "gpu" in statement.values and (names_another(lines, at) or lists_another(lines, at)):
        unknown = {n: c._replace(state="unknown") for n, c in statement.values.items()
                   if n in OF_DEVICES}  # fmt: skip
        statement = replace(statement, values={**statement.values, **unknown})
    if until or _under_its_table(lines, at, taken):
        return replace(statement, caption=True, until=until)
    if held := table_above(lines[at], taken):
        return replace(statement, caption=True, since=held[0], until=held[1])
    return statement


def _turning(
    statement: Statement | None, line: Line | None, section: tuple[int, ...]
) -> Statement | None:
    """A statement with unknown values for what its line of prose says to differ from here on."""
    if line is None or line.prefix:
        return statement
    held = dict(statement.values) if statement else {}
    told = {other for name in held for other in SAME_FACT.get(name, ())}
    names = turned(line.text) - held.keys() - told
    if not names:
        return statement
    held = {name: cell for name, cell in _from_here_on(line).items() if name in names} | held
    names -= {*held, *(other for name in held for other in SAME_FACT.get(name, ()))}
    unknown = Cell(line.text.strip(), line.number, line.column, state="unknown")
    left = dict.fromkeys(sorted(names), unknown)
    if "gpu" in left:
        left["gpu"] = unknown._replace(text=turned_device(line.text))
    statement = statement or Statement(line.number, section, {})
    return replace(statement, values={**left, **held})


_FROM_HERE = deferred(
    r"\bfrom (?:here|now|then|(?:this|that) point) on(?:wards?)?\b|\bsince then\b"
    r"|\b(?:again|now)\b(?! (?:and|we see|faster|slower))",
    re.IGNORECASE,
)

_EARLIER = deferred(
    r"\b(?:than|before|earlier|previous\w*|was|were|had|instead of|not|without|only|half|halv\w+"
    r"|twice|doubl\w+|from [0-9]|up to|except)\b",
    re.IGNORECASE,
)


def _from_here_on(line: Line) -> dict[str, Cell]:
    """Settings that sentences say to be so from here on: `From now on everything is in bf16.`"""
    found: dict[str, Cell] = {}
    begin = 0
    for part in sentences(of_these_runs(line.text)):
        if _FROM_HERE.search(part) and not _EARLIER.search(part):
            own = line._replace(text=part, column=line.column + begin)
            found |= phrases(own, least=1)
        begin += len(part)
    return found


_OF_A_TABLE = deferred(
    r"\W*(?:(?:training|step|iteration|measured|mean|median|peak|end-to-end) )*"
    r"(?:speeds?|throughputs?|times?|timings?|rates?|performance|results|numbers|tokens|memory|MFU)\b"
    r"(?!.*\b(?:is|are|was|were|has|have|can|does|do|see|than|vs)\b)[^:|]{8,160}",
    re.IGNORECASE,
)
"""A line that names what a table holds, and has no verb: `Training speed of GPTs on 8xA100.`"""

APART = 6
"""Lines below a caption within which no other table may begin: it may be that one's."""


def _under_its_table(lines: Sequence[Line], at: int, taken: Set[int]) -> bool:
    """Whether a line names what the table right above it holds."""
    number = lines[at].number
    if not taken & {number - 1, number - 2} or not _OF_A_TABLE.fullmatch(lines[at].text):
        return False
    return taken.isdisjoint(range(number + 1, number + APART))


def _of_the_model(statement: Statement) -> dict[str, Cell]:
    """Fields of a model that a statement says, of no table alone."""
    if statement.of_run or statement.caption:
        return {}
    return {n: c for n, c in statement.values.items() if n in (*ARCHITECTURE, "seq_len")}


def _alternatives(statements: Sequence[Statement], texts: Mapping[int, str]) -> Iterator[Statement]:
    """The statements; of bullets that list a run each, only what all of them say alike. Bullets of
    which no two say the same are of one run."""
    group: list[Statement] = []
    for statement in [*statements, None]:
        bullet = (
            statement is not None
            and len(statement.values) >= MANY
            and (_BULLET.match(texts[statement.line]) is not None)
        )
        if group and (statement is None or not bullet or statement.line > group[-1].line + CLOSE):
            yield from _in_common(group)
            group = []
        if statement is not None and bullet:
            group.append(statement)
        elif statement is not None:
            yield statement


def _in_common(group: Sequence[Statement]) -> Iterator[Statement]:
    names = [name for each in group for name in each.values]
    if len(set(names)) == len(names):  # parts of one set-up
        last = replace(group[-1], values={n: c for each in group for n, c in each.values.items()})
        yield from [last] if len(group) > 1 else group
        return
    same = {
        name: cell.text
        for name, cell in group[0].values.items()
        if all(each.values.get(name, cell).text == cell.text for each in group)
        and all(name in each.values for each in group)
    }
    for each in group:
        values = {
            name: cell if name in same else cell._replace(text="several", state="unknown")
            for name, cell in each.values.items()
        }
        yield replace(each, values=values)


_BULLET = deferred(r"\s*[-*+] ")

CLOSE = 4
"""Lines between two bullets of one list."""


def _placed(
    statement: Statement, line: Line, block: Block | None, *, environment: bool, noted: int
) -> Statement:
    """A statement with what its place says: a block's name, a heading, a logger's prefix, and the
    first row of the tables that it is a note below."""
    if noted and not statement.until:
        statement = replace(statement, since=noted)
    if statement.until or not (environment or block or line.prefix):
        return statement
    return Statement(
        statement.line, statement.section, statement.values, statement.size, statement.backward,
        statement.of_run or bool(line.prefix), block.subject if block else "",
        environment and not block, statement.caption, since=statement.since,
    )  # fmt: skip


def _of_host(statement: Statement, line: Line, source: str) -> Statement:
    """A statement of all of a notebook, where its line prints the device that it ran on."""
    if "gpu" not in statement.values or not source.endswith(".ipynb"):
        return statement
    printed = _PRINTED.fullmatch(signed(line.text))
    if printed is None:
        return statement
    listed = {"gpus": statement.values["gpu"]._replace(text="1")} if printed["listed"] else {}
    values = {**statement.values, **listed}
    return Statement(line.number, (), values, environment=True)


def _read(
    source: str, line: Line, section: tuple[int, ...], *, says: bool | None, heading: bool
) -> Statement | None:
    """The statement that a line is; `says`: whether `SAYS` is found in it, if that is known."""
    if len(line.text) > _MAX_WORDS:
        return _understood(line, section, says=says, heading=heading)
    key = outline(line.text), line.column, bool(line.prefix), says, heading
    if key not in _REPEATED:
        found = _understood(line, section, says=says, heading=heading)
        if len(_REPEATED) >= MOST:
            _REPEATED.clear()
        said = (found, form(line.text, found.values, line.column)) if found else None
        _REPEATED[key] = said
        return found
    known = _REPEATED[key]
    if known is None:
        return None
    found, told = known
    if told is None:
        return _understood(line, section, says=says, heading=heading)
    values = told.said_by(line.text, line.number)
    return Statement(
        line.number, section, values, found.size, found.backward, found.of_run, found.subject,
        caption=found.caption,
    )  # fmt: skip


_REPEATED: dict[tuple[str, int, bool, bool | None, bool], tuple[Statement, Form | None] | None] = {}
"""Statements that lines of an outline are, wherever they stand, and the form of what they say:
programs and documents repeat themselves. Of what is peeled off a line it counts whether there is
something."""


def _understood(
    line: Line, section: tuple[int, ...], *, says: bool | None, heading: bool
) -> Statement | None:
    if ":`" in line.text:
        line = line._replace(text=_ROLE.sub(lambda found: " " * len(found[0]), line.text))
    if "<" in line.text or "&nbsp;" in line.text:
        says = None
        line = line._replace(text=_MARKUP.sub(lambda found: " " * len(found[0]), line.text))
    if OF_ONE.search(line.text):
        return None
    line = line._replace(text=by_commas(line.text))
    if held := nested(line):
        return Statement(line.number, section, held)
    if len(line.text) > _MAX_WORDS:
        told = {} if MEASURED.search(line.text) else command(line)
        return Statement(line.number, section, told) if told else None
    return _in_words(line, section, says=says, heading=heading)


def _in_words(
    line: Line, section: tuple[int, ...], *, says: bool | None, heading: bool
) -> Statement | None:
    """The statement that a line is, but for what it says of other runs."""
    statement = _in_any_words(line, section, says=says, heading=heading)
    if heading or line.prefix or (statement is None and not _TURNS_TO_OURS.search(line.text)):
        return statement
    if (own := of_these_runs(line.text)) == line.text:
        return statement
    says = _SAYS.search(line.text) is not None if says is None else says
    return _in_any_words(line._replace(text=own), section, says=says, heading=heading)


_TURNS_TO_OURS = deferred(r"\b(?:[Uu]nlike|[Ii]nstead of|[Rr]ather than|[Tt]ested|[Ee]valuated)\b")
"""In every line that says nothing as it stands, and something once others are left out of it."""


def _in_any_words(
    line: Line, section: tuple[int, ...], *, says: bool | None, heading: bool
) -> Statement | None:
    """The statement that a line is by its form: a caption, pairs, words, options, a name."""
    statement = _by_form(line, section, says=says, heading=heading)
    if statement is not None:
        values = statement.values
        held = {name: cell for name, cell in values.items() if not _but_for_some(cell, line)}
        statement = replace(statement, values=held) if held else None
    if statement is not None and not statement.values.keys().isdisjoint(OF_JOBS):
        held = of_whom(dict(statement.values), line.text)
        statement = replace(statement, values=held)
    if statement is not None and line.text.count("=") > 1 and (several := twice_over(line)):
        held = {name: cell for name, cell in statement.values.items() if name not in several}
        statement = replace(statement, values=held) if held else None
    if statement is not None and "VISIBLE_DEVICES" in line.text:
        statement = _of_visible(statement, line)
    if line.text.lstrip().startswith("|"):
        return statement
    caption = statement is not None and statement.caption
    told = trained_with(line, heading=heading or caption) | _network(line)
    if not told or (statement is not None and told.keys() <= statement.values.keys()):
        return statement
    bare = statement or Statement(line.number, section, {})
    return replace(bare, values={**told, **bare.values})


_VISIBLE = deferred(r"\b[A-Z_]+_VISIBLE_DEVICES ?= ?[\"']?([0-9]+(?:,[0-9]+)*)(?![0-9,])")


def _of_visible(statement: Statement, line: Line) -> Statement:
    """A statement whose number of devices is how many of them its line lets programs see."""
    seen = _VISIBLE.search(line.text)
    if seen is None or "gpus" not in statement.values:
        return statement
    count = Cell(str(seen[1].count(",") + 1), line.number, line.column + seen.start(1))
    return replace(statement, values={**statement.values, "gpus": count})


def _network(line: Line) -> dict[str, Cell]:
    """The network that a line gives a rate of, where it speaks of machines and not of a figure."""
    if not names_network(line.text) or MEASURED.search(line.text):
        return {}
    found = network_named(line.text)
    if found is None:
        return {}
    return {"network": Cell(found.text, line.number, line.column + found.at)}


def _by_form(  # noqa: PLR0912
    line: Line, section: tuple[int, ...], *, says: bool | None, heading: bool
) -> Statement | None:
    values: dict[str, Cell] = {}
    variable = _EXPORTED.fullmatch(line.text)
    if variable and not known(variable[1]) and not switched_on(variable[1], variable[2]):
        return _named_for_run(line, section)
    measured = MEASURED.search(line.text) is not None
    if measured and not heading and (own := _of_all_runs(line.text)):
        line, measured, says = line._replace(text=own), False, None
    short = len(line.text) <= _MAX_STATEMENT
    if short and _CAPTION.fullmatch(line.text):
        held = phrases(line, least=1) | titled(line)
        return Statement(line.number, section, held, caption=True) if held else None
    if line.text.lstrip().startswith("|"):
        return None
    if short and (statement := _statement(line, section)) is not None:
        return statement
    if heading or measured or _ADVISED.search(line.text) or _OF_A_STEP.fullmatch(line.text):
        says = False
    elif says is None:
        says = _SAYS.search(line.text) is not None
    if short and heading:
        values = titled(line) | in_title(line)
    elif short and says and (held := everywhere(line)):
        return Statement(line.number, section, held, None, backward=True)
    elif short and says:
        values = listed(line, _bare(line.text))
    told = ({} if variable else phrases(line), command(line)) if says else ()
    for more in told:
        values |= {
            name: cell
            for name, cell in more.items()
            if name not in values or values[name].state == "unknown"
        }
    values = values or (_open_statement(line) if short and told else {}) or _built(line)
    if _HEADS_OF_KINDS.search(line.text):
        values.pop("heads", None)
    if values:
        of_all = not heading and OF_ALL.search(line.text) is not None
        return Statement(line.number, section, values, backward=of_all)
    return _named_for_run(line, section) if short else None


def _named_for_run(line: Line, section: tuple[int, ...]) -> Statement | None:
    """The statement of a line with a name that is put together of settings."""
    said = composed_name(line)
    return Statement(line.number, section, said, of_run=True) if said else None


_EXPORTED = re.compile(r"\s*export ([A-Z][A-Z0-9_]*)=([\w./:+]*)\s*")
"""A variable of an environment, which says nothing in words."""

_OF_A_STEP = re.compile(
    r"\s*(?:step|iter(?:ation)?|epoch)s?[ :=]+[0-9]+[,:]?\s+"
    r"(?:(?:[A-Za-z_][\w.-]*\s)?[A-Za-z_][\w.-]*"
    r"(?:=[\w.+-]+|(?::\s?|=?\s)[+-]?[0-9]+\.[0-9]+(?:e[+-]?[0-9]+)?)(?:[,;]?\s+|[,;]?$))+"
    r"(?:[A-Za-z/%]{1,12}\s*)?",
    re.IGNORECASE,
)
"""A count and the values of it, by name: a record, of whichever program."""


def _of_all_runs(text: str) -> str:
    """A text with blanks for all but the sentences of every run that measure nothing; empty where
    none is left: `A chip has a peak of 918 TFLOP/s. All runs are in bf16.`"""
    if len(text) > LONGEST or not of_every_run(text):
        return ""
    ends = [0, *(found.end() for found in _SENTENCES.finditer(text)), len(text)]
    own = "".join(
        part if of_every_run(part) and not MEASURED.search(part) else " " * len(part)
        for part in (text[a:b] for a, b in pairwise(ends))
    )
    return own if own.strip() else ""


_BUT_FOR = deferred(
    r"[^\s()（）]{0,8}\s*[(（][^()（）]*[0-9][BMT](?![A-Za-z])[^()（）]{0,8}(?:为|是|用|[:：=]|\bis\b|\buses\b)"
    r"\s*[0-9]"
    r"|[0-9][0-9,.]*[kKMB]?\s*[/*×]\s*(?:[A-Za-z]+_[A-Za-z_]*|[dtpces]p|WORLD_SIZE|world size)\b"
)


def _but_for_some(cell: Cell, line: Line) -> bool:
    """Whether brackets behind a value give it another one for a model, `1(2B 模型为 4)`, or it is
    a part of a calculation with a name: `8 / sp_size`."""
    return _BUT_FOR.match(line.text[max(0, cell.column - line.column) :]) is not None


_MAY_STATE = re.compile(r"[=:：0-9]|\sis\s")
"""A sign without which the grammar finds no statement: Lark is asked of few lines of prose."""


def _statement(line: Line, section: tuple[int, ...]) -> Statement | None:
    bare = _bare(line.text)
    words = _EMPHASIS.sub("", bare)
    if (found := _ALONE.fullmatch(signed(words))) and (device := only(words)):
        return Statement(line.number, section, _counted(found, device, line))
    tree = parsed_alike("context", "statement_line", bare) if _MAY_STATE.search(bare) else None
    if tree is None:
        return None
    body = next(part for part in tree.children if isinstance(part, Tree))
    values = dict(_values(body, line))
    if not values:
        return None
    label = next((str(s.children[0]) for s in body.find_data("size")), None)
    size = _number(label) if label else None
    if label:
        cell = Cell(label[:-1], line.number, line.column, SUFFIXES[label[-1]])
        values["model_size"] = cell
    return Statement(line.number, section, values, size, body.data == "backward")


_EMPHASIS = deferred(r"\*\*|__(?=[A-Za-z])|`")

_ADVISED = deferred(r"\b(?:add|try|pass|append|set|use)\b[^.;]*\bif\b", re.IGNORECASE)
"""An option for those who need it: `Add --max_length=1024 if it does not fit`."""

_HEADS_OF_KINDS = deferred(r"\bnum_[vk]_heads\b|\([QqKk]/[QqKk]\)")
"""Heads of queries and keys, or of values, alone: a model with both has no one count of them."""

_VERSION = r"(?:(?:PyTorch|torch|TensorFlow|JAX)? ?v?[0-9]+\.[0-9]+[\w.+]*,? +)?"

_SIZE = r"(?:, [0-9]+ MiB(?:, [\w.]+)*)"

_ALONE = deferred(
    r"(?:[#>*+-]+ |[0-9]+\. )*(?:([0-9]+)\s*[x×]\s*)?"
    rf"{_VERSION}({SIGN})(?: GPUs?)?(?:\s*[x×]\s*([0-9]+))?{_SIZE}?\s*[:.]?\s*"
)
"""A line that is a device, and how many of it, `## 8x A100 80GB`, or what a program prints of it
beside a version or a memory: `Tesla T4, 15360 MiB`."""

_PRINTED = deferred(
    rf"(?:(?:Using )?(?:GPU|device|gpu|Device)(?: name)?s?\s*:\s*|(?:Running|Training) on )?"
    rf"{_VERSION}{SIGN}(?P<listed>{_SIZE})?\s*"
)
"""A line of output that is all about the device of a notebook."""


def _counted(found: re.Match[str], device: Device, line: Line) -> dict[str, Cell]:
    said = {"gpu": Cell(device.text, line.number, line.column)}
    if many := found[1] or found[3]:
        said["gpus"] = Cell(many, line.number, line.column)
    return said


def _built(line: Line) -> dict[str, Cell]:
    """The model that a configuration builds: `_component_: torchtune.models.llama3.llama3_8b`."""
    found = _BUILT.fullmatch(line.text)
    return {"model": Cell(found[1], line.number, line.column + found.start(1))} if found else {}


def _bare(text: str) -> str:
    """A line without links, what loggers put before it, quotes of a key, a comment or a comma
    behind it, and a shell's sign that it goes on."""
    plain = _LOGGED.sub("", LINK.sub(r"\1", text)).strip().removesuffix("\\").rstrip()
    plain = _QUOTED.sub(r"\1", _NESTED.sub("", _COMMENT.sub("", plain)).strip())
    plain = _CALLS.sub("", plain)
    for opens, closes in ("()", "{}"):
        if plain.count(closes) > plain.count(opens):
            plain = plain.rstrip(closes + ", ")
    return plain


def _open_statement(line: Line) -> dict[str, Cell]:
    """The field of a line that says it in a way that is not understood: unknown from here on."""
    found = re.fullmatch(r"[\"']?([A-Za-z_][\w -]*?)[\"']?\s*[=:]\s*(\S.*)", _bare(line.text))
    if not found:
        return {}
    name, text = known(found[1]), found[2].strip("\"'")
    if name is None or no_value(text) or "=" in text or not OPEN.match(text):
        return {}
    spec = fields(Configuration)[name]
    if not spec.numeric or (cell_of(spec, text, line) is not None) or len(text.split()) > 3:
        return {}
    return {name: Cell(text, line.number, line.column, state="unknown")}


def _values(body: Tree[Token], line: Line) -> list[tuple[str, Cell]]:
    """Field and cell of everything a statement says that a configuration has a column for."""
    found: list[tuple[str, Cell]] = []
    for part in body.find_pred(lambda _: True):
        tokens = {t.type: t for t in part.children if isinstance(t, Token)}
        if part.data in ("assignment", "noted", "pair", "sentence"):
            label = next(tokens[kind] for kind in _LABELS if kind in tokens)
            name = known(str(label))
            if switch := switched_on(str(label), str(tokens["VALUE"])):
                found.append(("dtype", Cell(switch, line.number, line.column)))
            if unset(str(label), str(tokens["VALUE"])):
                continue
            if name is None:
                continue
            name, text = of_listed(name, str(tokens["VALUE"]))
            if cell := cell_of(fields(Configuration)[name], text, line):
                found.append((name, cell))
        elif part.data == "count":
            name = tokens["COUNTED"].strip().lower().rstrip("s")
            counted = {"node": "nodes", "replica": "dp", "gpu": "gpus"}[name]
            if not names_card(str(tokens["INT"])):
                found.append((counted, Cell(str(tokens["INT"]), line.number, line.column)))
        elif part.data == "dtype":
            found.append(("dtype", Cell(str(tokens["DTYPE"]), line.number, line.column)))
    return found


def _number(text: str) -> float:
    return float(text[:-1]) * SUFFIXES[text[-1]]


def architectures(statements: Sequence[Statement]) -> Iterator[dict[str, Cell]]:
    """The models that statements in consecutive lines spell out, each once."""
    seen: set[tuple[tuple[str, str], ...]] = set()
    block: dict[str, Cell] = {}
    last = 0
    for statement in [*statements, None]:
        if statement is None or statement.line > last + NEAR:
            if len(block.keys() & set(ARCHITECTURE)) >= SPELLED_OUT:
                key = tuple(sorted((name, cell.text) for name, cell in block.items()))
                if key not in seen:
                    seen.add(key)
                    yield block
            block = {}
        if statement is not None:
            one = {n: c for n, c in statement.values.items() if n in (*ARCHITECTURE, "dtype")}
            if len(statement.values) == 1:
                block |= one
            last = statement.line


NEAR = 16
"""Lines between two statements of one dump."""
