"""The statement that one line is, by its form: a caption, pairs, words, options, a name.

Whose it is, and what the lines around it make of it, is asked in `assay.ingest.statements.context`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from html import unescape
from itertools import pairwise

from assay.ingest.columns.other_runs import of_these_runs
from assay.ingest.columns.table_titles import titles_table
from assay.ingest.columns.titles import model_named, titled
from assay.ingest.lines.lark import Token, Tree, parsed_alike
from assay.ingest.lines.outlines import MOST, Form, form, outline
from assay.ingest.numbers.units import SUFFIXES
from assay.ingest.prose.own_models import described_model, own_model, size_behind, size_of_title
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import fields
from assay.ingest.schema.record import Cell, Line, Statement, ValueOrigin
from assay.ingest.schema.terminals import deferred
from assay.ingest.statements.command_lines import (
    asks,
    chunks,
    coded,
    command,
    composed_name,
    visible,
)
from assay.ingest.statements.lists import by_commas, everywhere, in_title, listed, twice_over
from assay.ingest.statements.nested import LONGEST, PLACED, nested
from assay.ingest.statements.phrases import MEASURED, OF_ALL, of_one, phrases, without_turns
from assay.ingest.statements.sentences import of_every_run, switched
from assay.ingest.statements.trained_with import LINK, trained_with
from assay.ingest.statements.values import (
    OF_JOBS,
    OPEN,
    cell_of,
    known,
    no_value,
    of_listed,
    of_whom,
    switched_on,
    unset,
)
from assay.ingest.statements.values import (
    said as said_of,
)
from assay.ingest.statements.worth import SAID
from assay.ingest.vocabulary.card_counts import counted_chips
from assay.ingest.vocabulary.devices import SIGN, Device, names_card, only, signed
from assay.ingest.vocabulary.languages import in_english
from assay.ingest.vocabulary.networks import names_network, network_named
from assay.ingest.vocabulary.sectioned_keys import ASIDE
from assay.ingest.vocabulary.terms import NUMBER_FORMAT

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

_TYPED = deferred(r"^([A-Za-z_]\w*)\s*:\s*(?:int|float|bool|str)(?:\s*\|\s*None)?\s*=\s*(?=\S)")
"""A field of a class with its type in front of its value: `n_layer: int = 12`."""

_QUOTED = deferred(r"^[\"']([\w.-]+)[\"'](?=\s*:)")

_CAPTION = deferred(
    r"\s*(?:\*[^*\s][^*]*\*|_[^_\s].*_"
    r"|\**(?:Table |[表표] ?)(?:[A-Z]\.?)?[0-9]+(?:\.[0-9]+)*(?:\**[.:：。]|\*\*|\u3000).*)\s*"
)
"""A line in italics, or a numbered one: the caption of the table above it, if there is one."""

_ITS_NUMBER = re.compile(
    r"^#{1,6} +[0-9]{1,2}(?:\.[0-9]{1,2}){0,3}[.)]? +"
    r"|(?<![x×+&] )\b[TPDCE]P [0-9]+(?=\s*(?:[,;)]|$))"
)
"""In front of a heading: `## 4 Pipeline parallelism` has no four stages; and degrees that it lists
bare, `TP 4, PP 1`, by which it may be called alone."""

_NUMBERED = deferred(
    r"#{1,6} \**(?:(?:Table|Tab\.|Tabelle|Tableau|Tabla|Tabela) |[表표] ?)(?:[A-Z]\.?)?"
    r"[0-9]+(?:\.[0-9]+)*[a-z]?\**(?:[.:：。]|\s[–—-]\s|\*\*|\u3000| \()",
    re.IGNORECASE,
)
"""A heading that is the caption of a numbered table, which has more words than other headings."""

_MARKUP = deferred(
    r"</?(?:p|b|i|em|strong|code|span|div|li|ul|ol|dl|dt|dd|br|caption|center|small|font)(?:\s[^<>]*)?/?>|&nbsp;",
    re.IGNORECASE,
)
"""Signs of HTML in a text."""

_DEFINED = deferred(r"</dt>(\s*)<dd(?:\s[^<>]*)?>", re.IGNORECASE)
"""Between a word of a list of definitions and what it is: `<dt>GPU</dt><dd>A100</dd>`."""

_ENTITY = deferred(r"&(?!nbsp)#?[A-Za-z0-9]{2,8};")

_ROLE = deferred(r"(?:\\ )?:(?:sup|sub):`[^`]{1,4}`")
"""Small signs beside a word in reStructuredText, as of a trade mark."""

_LABELS = ("KEY", "PHRASE", "SUBJECT")

_MAX_STATEMENT, _MAX_WORDS = 300, 4000
"""Letters of a line beyond which it is no statement by its form, and nothing but a command."""

SENTENCES = deferred(r"(?<=[\w)])[.;] +(?=[A-Z])|。")


def stated(
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
        line.number, section, values, found.size, found.backward, found.outright, found.of_run,
        found.subject, caption=found.caption,
    )  # fmt: skip


_REPEATED: dict[tuple[str, int, bool, bool | None, bool], tuple[Statement, Form | None] | None] = {}
"""Statements that lines of an outline are, wherever they stand, and the form of what they say:
programs and documents repeat themselves. Of what is peeled off a line it counts whether there is
something."""


_OF_ANOTHER_AUTHOR = deferred(
    r"\W*(?:same here|me too|can confirm|i see the same)\b", re.IGNORECASE
)
"""How a comment begins that tells of runs beside those of who opened its thread."""


def _understood(
    line: Line, section: tuple[int, ...], *, says: bool | None, heading: bool
) -> Statement | None:
    if _OF_ANOTHER_AUTHOR.match(line.text):
        return None
    if "&" not in line.text or not (signs := list(_ENTITY.finditer(line.text))):
        return _plainly(line, section, says=says, heading=heading)
    plain = _ENTITY.sub(lambda found: unescape(found[0]).replace("\xa0", " "), line.text)
    found = _plainly(line._replace(text=plain), section, says=None, heading=heading)
    if found is None:
        return None
    values = {name: _behind(cell, line, signs) for name, cell in found.values.items()}
    return replace(found, values=values)


def _behind(cell: Cell, line: Line, signs: Sequence[re.Match[str]]) -> Cell:
    """A cell of a text without signs of HTML, where it stands among them."""
    at = cell.column - line.column
    for sign in signs:
        if sign.start() >= at:
            break
        at += len(sign[0]) - len(unescape(sign[0]))
    return cell._replace(column=line.column + at)


def _plainly(
    line: Line, section: tuple[int, ...], *, says: bool | None, heading: bool
) -> Statement | None:
    if ":`" in line.text:
        line = line._replace(text=_ROLE.sub(lambda found: " " * len(found[0]), line.text))
    if "<" in line.text or "&nbsp;" in line.text:
        says = None
        line = line._replace(text=_unmarked(line.text))
    if of_one(line.text):
        return None
    if ".**" in line.text or "._" in line.text:
        line = line._replace(text=_RUN_IN.sub(lambda found: f"{found[1]}:{found[2]}", line.text))
    if "(" in line.text:
        line = line._replace(text=_AS_THERE.sub(lambda found: " " * len(found[0]), line.text))
    if "$" in line.text:
        line = line._replace(
            text=_SYMBOL.sub(lambda found: found[1].rjust(len(found[0])), line.text)
        )
    line = line._replace(text=by_commas(line.text))
    if held := nested(line):
        return Statement(line.number, section, held)
    if len(line.text) > _MAX_WORDS:
        told = {} if MEASURED.search(line.text) else command(line)
        return Statement(line.number, section, told) if told else None
    return _in_words(line, section, says=says, heading=heading)


def _unmarked(text: str) -> str:
    """A text as wide without signs of HTML."""
    if "</dt>" in text:
        text = _DEFINED.sub(lambda found: ":".ljust(len(found[0])), text)
    return _MARKUP.sub(lambda found: " " * len(found[0]), text)


def _in_words(
    line: Line, section: tuple[int, ...], *, says: bool | None, heading: bool
) -> Statement | None:
    """The statement that a line is, but for what it says of other runs."""
    statement = _in_any_words(line, section, says=says, heading=heading)
    if heading and statement is not None and _CHANGES.match(line.text):
        held = {n: cell for n, cell in statement.values.items() if n not in _CHANGED}
        statement = replace(statement, values=held) if held else None
    if heading or line.prefix or (statement is None and not _TURNS_TO_OURS.search(line.text)):
        return statement
    if (own := of_these_runs(line.text)) == line.text:
        return statement
    says = SAID.search(line.text) is not None if says is None else says
    return _in_any_words(line._replace(text=own), section, says=says, heading=heading)


_CHANGES = deferred(
    r"[#=*\s0-9.]{0,24}(?:\[[\w /-]{1,24}\]\s{0,4}|[\w()/-]{1,24}:\s{1,4})?"
    r"(?:add|adopt|allow|default to|enable|implement|introduce|let|make|migrate|move|port|prefer"
    r"|replace|support|switch|turn (?:on|off)|upgrade|use)\s",
    re.IGNORECASE,
)
"""How a title begins that asks for a change or tells of one: rows below may be of before it."""

_CHANGED = frozenset({
    "activation_checkpointing", "attention", "dtype", "program", "recompute",
    "sequence_parallel", "sharding", "zero_stage",
})  # fmt: skip
"""Settings that such a title may turn to."""

_TURNS_TO_OURS = deferred(r"\b(?:[Uu]nlike|[Ii]nstead of|[Rr]ather than|[Tt]ested|[Ee]valuated)\b")
"""In every line that says nothing as it stands, and something once others are left out of it."""


def _in_any_words(
    line: Line, section: tuple[int, ...], *, says: bool | None, heading: bool
) -> Statement | None:
    """The statement that a line is by its form: a caption, pairs, words, options, a name."""
    statement = _by_form(line, section, says=says, heading=heading)
    if statement is not None:
        values = statement.values
        held = {name: cell for name, cell in values.items() if not but_for_some(cell, line)}
        statement = replace(statement, values=held) if held else None
    if statement is not None and not statement.values.keys().isdisjoint(OF_JOBS):
        held = of_whom(dict(statement.values), line.text)
        statement = replace(statement, values=held)
    if statement is not None and line.text.count("=") > 1 and (several := twice_over(line)):
        held = {name: cell for name, cell in statement.values.items() if name not in several}
        statement = replace(statement, values=held) if held else None
    if statement is not None and (left := without_turns(statement.values, line)) is not None:
        statement = replace(statement, values=left) if left else None
    if statement is not None and "VISIBLE_DEVICES" in line.text and (one := visible(line)):
        seen = {name: cell for name, cell in one.items() if name in statement.values}
        statement = replace(statement, values={**statement.values, **seen})
    if line.text.lstrip().startswith("|"):
        return statement
    caption = statement is not None and statement.caption
    told = trained_with(line, heading=heading or caption) | _network(line)
    told |= _switched(line) if titles_table(line.text) else {}
    told |= _in_code(line)
    told |= described_model(line)
    if statement is None or "model" not in statement.values:
        told |= own_model(line, title=heading or caption)
        told |= size_of_title(line) if heading and "model" not in told else {}
    model = (told | (dict(statement.values) if statement else {})).get("model")
    if model and model.state == "value" and "aram" in line.text:
        told |= size_behind(line, model)
    if not told or (statement is not None and told.keys() <= statement.values.keys()):
        return statement
    bare = statement or Statement(line.number, section, {})
    return replace(bare, values={**told, **bare.values})


_RUN_IN = deferred(
    r"^(\s*(?:(?:[-*+]|[0-9]{1,2}[.)]) )?"
    r"(?:\*\*|__)[A-Z][\w /-]{2,40})\.(\*\*|__)(?=\s)"
)
"""A heading that its paragraph follows on the same line: `**Precision.** Everything is bf16.`"""

_AS_THERE = deferred(
    r",? (?:(?:as|like) (?:above|before|there|earlier|previously|in the (?:first|last|previous|main"
    r"|other) (?:table|section|runs?))|wie (?:oben|zuvor)|comme (?:ci-dessus|avant)|como (?:arriba"
    r"|antes))(?= \([0-9][0-9,]*[kK]?\))",
    re.IGNORECASE,
)
"""Words between a setting and its value in brackets that was said before: `batch as above (64)`."""

_SYMBOL = deferred(r"\$(?:[A-Za-z][\w{}]*\s*=\s*)?([0-9][0-9,]*)\$")
"""A number of a formula, with its symbol perhaps: `a length of $s = 4096$`."""


def _network(line: Line) -> dict[str, Cell]:
    """The network that a line gives a rate of, where it speaks of machines and not of a figure."""
    if not names_network(line.text) or MEASURED.search(line.text):
        return {}
    found = network_named(line.text)
    if found is None:
        return {}
    return {"network": Cell(found.text, line.number, line.column + found.at)}


def _of_a_part(line: Line) -> dict[str, Cell]:
    """Batches of a device and ways of sharding that a heading names beside what is under it, and
    does not compare: `ResNet-50, per-GPU batch 192`, `8B (16x H100, FSDP FULL_SHARD)`."""
    if not _PARTS_OF_HEADINGS.search(line.text) or _COMPARED.search(line.text):
        return {}
    told = phrases(line, least=1)
    return {name: told[name] for name in ("micro_batch", "sharding") if name in told}


_PARTS_OF_HEADINGS = deferred(
    r"\bper[- ](?:GPU|device|accelerator|card|rank|chip|NPU|HPU) (?:mini-?)?batch"
    r"|(?:FULL|HYBRID|NO)_SHARD"
    r"|SHARD_GRAD_OP",
    re.IGNORECASE,
)

_COMPARED = deferred(
    r"\b(?:vs|versus|or|than|effects?|impact|influence|compar\w+|larger|smaller|bigger|best|from"
    r"|up to|without|why|how|whether|on|off|sweep|ablation)\b|[?→]|->",
    re.IGNORECASE,
)


def _by_form(  # noqa: PLR0912
    line: Line, section: tuple[int, ...], *, says: bool | None, heading: bool
) -> Statement | None:
    values: dict[str, Cell] = {}
    if asks(line):
        held = chunks(line)
        return Statement(line.number, section, held) if held else None
    variable = _EXPORTED.fullmatch(line.text)
    if variable and not known(variable[1]) and not switched_on(variable[1], variable[2]):
        return _named_for_run(line, section)
    if ("peak" in line.text.casefold() or "峰值" in line.text) and MEASURED.search(line.text):
        line = line._replace(text=_without_peaks(line.text))
    measured = MEASURED.search(line.text) is not None
    if measured and not heading and (own := _of_all_runs(line.text)):
        line, measured, says = line._replace(text=own), False, None
    short = len(line.text) <= _MAX_STATEMENT
    if short and _CAPTION.fullmatch(line.text):
        held = _as_counted(phrases(line, least=1) | titled(line), line)
        return Statement(line.number, section, held, caption=True) if held else None
    if line.text.lstrip().startswith("|"):
        return None
    if short and (statement := _statement(line, section)) is not None:
        return statement if heading or measured else _with_what_else(statement, line)
    if variable and known(variable[1]) == "model":  # the grammar has no names of models
        held = said_of(variable[1], variable[2], line, variable.start(2))
        return Statement(line.number, section, held) if held else None
    if heading or measured or _ADVISED.search(line.text) or _OF_A_STEP.fullmatch(line.text):
        says = False
    elif says is None:
        says = SAID.search(line.text) is not None
    if short and heading:
        told = phrases(line, least=1) if _NUMBERED.match(line.text) else {}
        values = _of_a_part(line) | told | _spread(line) | _nodes(line) | _switched(line)
        values |= titled(line)
        values = _as_counted(values | in_title(line), line)
    elif short and says and (held := everywhere(line)):
        return Statement(line.number, section, held, None, backward=not _FROM_NOW.search(line.text))
    elif short and says:
        values = listed(line, _bare(line.text))
    said = ({} if variable else phrases(line), command(line)) if says else ()
    for more in (*said, coded(line, said[0])) if said else ():
        values |= {
            name: cell
            for name, cell in more.items()
            if name not in values or values[name].state == "unknown"
        }
    values = values or (_open_statement(line) if short and said else {}) or _built(line)
    if _HEADS_OF_KINDS.search(line.text):
        values.pop("heads", None)
    if values:
        of_all = not heading and OF_ALL.search(line.text) is not None
        of_all = of_all and _FROM_NOW.search(line.text) is None
        return Statement(line.number, section, values, backward=of_all)
    return _named_for_run(line, section) if short else None


def _spread(line: Line) -> dict[str, Cell]:
    """How a title says in words that its runs are spread, and what is in their batches, where it
    compares nothing.

    >>> said = _spread(Line(1, "### TP4 PP2, micro batch 2", 1, {}))
    >>> {name: cell.text for name, cell in said.items()}
    {'micro_batch': '2', 'tp': '4', 'pp': '2'}
    >>> _spread(Line(1, "### The effect of TP 8", 1, {}))
    {}
    """
    if not _MAY_SPREAD.search(line.text) or _COMPARED.search(line.text.replace(" on ", "  ")):
        return {}
    bare = line._replace(text=_ITS_NUMBER.sub(lambda found: " " * len(found[0]), line.text))
    return {n: cell for n, cell in phrases(bare, least=1).items() if n in _OF_RUNS}


_MAY_SPREAD = deferred(
    r"\b[TPDCEtpdce][Pp] ?-?[0-9]|\b[TPDCE]P ?[x×]|parallel|accumulat"
    r"|[0-9][kK] (?:context|seq)|[0-9][kKM] tokens",
    re.IGNORECASE,
)
"""In every title that says so without a sign between a label and its number."""

_OF_RUNS = frozenset({
    "tp", "pp", "dp", "cp", "ep", "vp", "seq_len", "accumulation", "micro_batch", "global_batch",
    "global_batch_tokens",
})  # fmt: skip


def _as_counted(values: dict[str, Cell], line: Line) -> dict[str, Cell]:
    """Values of a title, devices that its words count in each node as those of a node alone.

    >>> line = Line(1, "## HGX H100 boxes with 8x H100", 1, {})
    >>> {name: cell.text for name, cell in _as_counted(titled(line), line).items()}
    {'gpu': 'H100', 'gpus_per_node': '8'}
    """
    if "gpus" not in values or not _HOSTS.search(line.text):
        return values
    told = phrases(line, least=1)
    each = told.get("gpus_per_node")
    if each is None or "gpus" in told or each.text != values["gpus"].text:
        return values
    if "nodes" in told and told["nodes"].text == "1":
        return values
    return {n: cell for n, cell in values.items() if n != "gpus"} | {"gpus_per_node": each}


_HOSTS = deferred(
    r"\b(?:nodes?|servers?|machines?|hosts?|boxes|instances?|VMs?|blades?|\w+\.\w*x?large)\b",
    re.IGNORECASE,
)


def _nodes(line: Line) -> dict[str, Cell]:
    """How many nodes or devices a heading counts, and what each node has.

    >>> said = _nodes(Line(1, "## Two A100 nodes (8 GPUs each)", 1, {}))
    >>> {name: cell.text for name, cell in said.items()}
    {'nodes': '2', 'gpus_per_node': '8'}
    >>> _nodes(Line(1, "## A100 nodes", 1, {}))
    {}
    """
    plain = signed(line.text)
    if not (_NODES_OF.search(plain) or _DEVICES_OF.search(plain)):
        return {}
    told = phrases(line, least=1)
    return {name: told[name] for name in ("nodes", "gpus_per_node", "gpus") if name in told}


_NODES_OF = deferred(
    rf"(?<![\w.,/-])(?:[0-9]{{1,4}}|one|a single|two|four|eight) (?:{SIGN}[ -]nodes?\b"
    r"(?! (?:vs|and|or))|nodes? (?:of|with) [0-9]{1,2} "
    r"|nodes? ?[x×*] ?[0-9]{1,2} (?:GPU|NPU|GCD|HPU|card|chip|accelerator)s?\b)",
    re.IGNORECASE,
)


_DEVICES_OF = deferred(
    rf"(?<![\w.,/-])(?:[0-9]{{1,5}} (?:{SIGN}s?|[GNHT]PUs?|GCDs?)(?: (?:GPU|GCD|chip|core)s?)? ?"
    rf"(?:\(|(?:on|across|over) [0-9]{{1,4}} nodes?\b)|[0-9]{{1,5}} {SIGN} (?:GCD|chip|core)s?\b"
    rf"|[0-9]{{1,4}} ?[x×] ?[0-9]{{1,2}} ?(?:[x×] ?)?{SIGN}"
    rf"|[0-9]{{1,4}} nodes \([0-9]{{1,5}} {SIGN}"
    rf"|(?:[0-9]{{1,4}} ?[x×]?|two|three|four|eight) [DH]GX {SIGN}|\ba pair of {SIGN})"
    rf"|{SIGN} ?[x×] ?[0-9]{{1,4}} \([0-9]{{1,4}} nodes?\)",
    re.IGNORECASE,
)
"""Devices counted in front of the machines that they are in, or of their name: `512 H100 on 64
nodes`, `64 NPU (Ascend 910B)`, `4 × 8 H100`, `3x DGX A100`."""


_CODE = deferred(r"`([^`|]{0,200}=[^`|=]{1,80}=[^`|]{1,200})`")
"""A stretch of code with more than one setting."""


_LOADED = deferred(
    r"\s*(?:(?P<held>[A-Za-z_][\w, ]{0,40}?)\s*=\s*)?\w*(?:Model|For[A-Z]\w+|LMHead\w*)"
    r"\.from_pretrained\(\s*(?:\w+=)?[\"'](?:[\w.-]+/)?(?P<name>[\w.-]{3,60})[\"']"
)
"""A line of a program that loads the model which is trained."""


def loaded(lines: Sequence[Line], at: int) -> dict[str, Cell]:
    """The model that a line of a program loads, its name in that line or the next one, if that is
    no other one than what it trains.

    >>> texts = "net = AutoModel.from_pretrained(", '    "wren/wren-3b", dtype="auto")'
    >>> said = loaded([Line(n, text, 1, {}) for n, text in enumerate(texts, 1)], 1)
    >>> said["model"].text, said["model"].line, said["model"].column
    ('wren-3b', 2, 11)
    >>> loaded([Line(1, 'ref_model = AutoModel.from_pretrained("wren/wren-3b")', 1, {})], 0)
    {}
    """
    line, opened = lines[at], ""
    if at and lines[at - 1].text.rstrip().endswith("from_pretrained("):
        opened = lines[at - 1].text.rstrip()
    text = opened + line.text
    found = _LOADED.match(text) if "from_pretrained(" in text and len(text) <= LONGEST else None
    if found is None or ASIDE.search(found["held"] or "") or model_named(found["name"]) is None:
        return {}
    return {
        "model": Cell(found["name"], line.number, line.column + found.start("name") - len(opened))
    }


def _in_code(line: Line) -> dict[str, Cell]:
    """Settings of a list that stands as code in a sentence on the runs, as if it were a line of its
    own: ``All on one card, `batch size per device = 2, max_seq_length = 2048` ``."""
    found: dict[str, Cell] = {}
    if line.text.count("=") < 2 or "`" not in line.text or _ADVISED.search(line.text):
        return found
    for code in _CODE.finditer(line.text):
        if _SUGGESTED.search(line.text, 0, code.start()):
            continue
        for each in _PARTS.finditer(code[1]):
            at = line.column + code.start(1) + each.start()
            part = _statement(line._replace(text=each[0], column=at), ())
            found |= part.values if part else {}
    return found


_SUGGESTED = deferred(
    r"(?:\b(?:can|could|may|might|try|set|setting|use|pass|passing|add|adding|e\.?g|example|instance"
    r"|such as|like|defaults?|should|want|need|to|instead of|not|without|unlike|than|if|when|was"
    r"|previously|crash\w*|fail\w*|error\w*)\b|例如|比如|可以|例えば)[^.;。`]{0,80}$",
    re.IGNORECASE,
)
"""In front of code that is no account of what ran."""

_PARTS = re.compile(r"[^,;\s][^,;]*")


_FROM_NOW = deferred(
    r"\b(?:from (?:now|here|then|there|(?:this|that) (?:point|day|week|date|run|table|section))"
    r"(?: on(?:wards?)?)?|(?:here|there)after|hence-?forth|since then|ab (?:jetzt|hier)|désormais"
    r"|a partir (?:de )?(?:ahora|agora)|с этого момента)\b|以降|今後|从此|此后|此後|이후",
    re.IGNORECASE,
)
"""Words of what holds below alone, however much it is said of all runs."""


def _with_what_else(statement: Statement, line: Line) -> Statement:
    """A statement with what its line says in words beside its form: `…; micro-batch is 2`."""
    if not any(sign in line.text for sign in (",", ";", " and ", ". ")):
        return statement
    more = {n: c for n, c in phrases(line).items() if n not in statement.values}
    return replace(statement, values={**statement.values, **more}) if more else statement


def _named_for_run(line: Line, section: tuple[int, ...]) -> Statement | None:
    """The statement of a line with a name that is put together of settings."""
    said = composed_name(line)
    return Statement(line.number, section, said, of_run=True) if said else None


_EXPORTED = re.compile(r"\s*export ([A-Z][A-Z0-9_]*)=[\"']?([\w./:+-]*)[\"']?\s*")
"""A variable of an environment, which says nothing in words."""

_OF_A_STEP = re.compile(
    r"\s*(?:step|iter(?:ation)?|epoch)s?[ :=]+[0-9]+[,:]?\s+"
    r"(?:(?:[A-Za-z_][\w.-]*\s)?[A-Za-z_][\w.-]*"
    r"(?:=[\w.+-]+|(?::\s?|=?\s)[+-]?[0-9]+\.[0-9]+(?:e[+-]?[0-9]+)?)(?:[,;]?\s+|[,;]?$))+"
    r"(?:[A-Za-z/%]{1,12}\s*)?",
    re.IGNORECASE,
)
"""A count and the values of it, by name: a record, of whichever program."""


def _switched(line: Line) -> dict[str, Cell]:
    """Switches of a title: `### 33B (activation checkpointing on)`."""
    plain = in_english(line.text)
    return {
        part.name: Cell(part.word, line.number, line.column + plain.place(part.at))
        for part in switched(plain.text) if part.name
    }  # fmt: skip


def _without_peaks(text: str) -> str:
    """A text with blanks for sentences on what devices can do at most, which measure nothing."""
    if len(text) > LONGEST:
        return text
    ends = [0, *(found.end() for found in SENTENCES.finditer(text)), len(text)]
    return "".join(
        " " * len(part) if _OF_A_PEAK.match(part) and MEASURED.search(part) else part
        for part in (text[a:b] for a, b in pairwise(ends))
    )


_OF_A_PEAK = deferred(
    r"(?!.*\b(?:[MH]FU|throughput|speed)\b\W{0,3}[0-9])"
    r".*(?:\b(?:[MH]FU|utili[sz]ation)\b[^;]{0,120}\bpeak\b|\bpeak\b[^;]{0,60}\b(?:is|of)\b"
    r"[^;]{0,30}FLOP|(?:[MH]FU|利用率)[^;。]{0,60}峰值)",
    re.IGNORECASE,
)
"""A sentence on the peak of a device, and on no figure of a run."""


def _of_all_runs(text: str) -> str:
    """A text with blanks for all but the sentences of every run that measure nothing; empty where
    none is left: `A chip has a peak of 918 TFLOP/s. All runs are in bf16.`"""
    if len(text) > LONGEST or not of_every_run(text):
        return ""
    ends = [0, *(found.end() for found in SENTENCES.finditer(text)), len(text)]
    own = "".join(
        part if of_every_run(part) and not MEASURED.search(part) else " " * len(part)
        for part in (text[a:b] for a, b in pairwise(ends))
    )
    return own if own.strip() else ""


_PER_DEVICE = (
    r"(?: (?:sequences|samples|images|tokens))?"
    r"(?:(?: per | ?/ ?)(?:GPU|device|accelerator|card|chip|NPU|GCD))?"
)

_OF_FORMAT = (
    rf"(?:for|in|with|using|under) (?:the )?(?:{NUMBER_FORMAT}|mixed precision|AMP)(?![A-Za-z0-9])"
    r"(?: ?\([^()]{1,16}\))?"
)

_JOINED = r"(?:[,;] ?|,? (?=and |but |or ))(?:and |but |or )?"

_ELSE = r"(?:otherwise|elsewhere|else|without)\b"

_BUT_FOR = deferred(
    r"[^\s()（）]{0,8}\s*[(（][^()（）]*[0-9][BMT](?![A-Za-z])[^()（）]{0,8}(?:为|是|用|[:：=]|\bis\b|\buses\b)"
    r"\s*[0-9]"
    r"|[0-9][0-9,.]*[kKMB]?\s*[/*×]\s*(?:[A-Za-z]+_[A-Za-z_]*|[dtpces]p|WORLD_SIZE|world size)\b"
    rf"|[0-9][0-9,]*{_PER_DEVICE} {_OF_FORMAT}"
    rf"{_JOINED}(?:{_ELSE},? [0-9]|[0-9][0-9,]*{_PER_DEVICE}(?: {_ELSE}| {_OF_FORMAT}))"
    rf"|[0-9][0-9,]*{_PER_DEVICE}{_JOINED}[0-9][0-9,]*{_PER_DEVICE} {_OF_FORMAT}"
)


def but_for_some(cell: Cell, line: Line) -> bool:
    """Whether brackets behind a value give it another one for a model, `1(2B 模型为 4)`, or it is
    a part of a calculation with a name, `8 / sp_size`, or of one number format, and others have
    another: `256 for FP16, 128 otherwise`."""
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
    above = body.data == "backward"
    return Statement(line.number, section, values, size, backward=above, outright=above)


_EMPHASIS = deferred(r"\*\*|__(?=[A-Za-z])|`")

_ADVISED = deferred(
    r"\b(?:add|try|pass|append|set|use)\b[^.;]*\bif\b"
    r"|^\W*(?:if|in case) [^.;]*,? (?:please )?(?:add|try|pass|append|set|use|enable|lower"
    r"|reduce)\b",
    re.IGNORECASE,
)
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

PRINTED = deferred(
    rf"(?:(?:Using )?(?:GPU|device|gpu|Device)(?: name)?s?\s*:\s*|(?:Running|Training) on )?"
    rf"{_VERSION}{SIGN}(?P<listed>{_SIZE})?\s*"
)
"""A line of output that is all about the device of a notebook."""


def _counted(found: re.Match[str], device: Device, line: Line) -> dict[str, Cell]:
    said = {"gpu": Cell(device.text, line.number, line.column)}
    if slices := counted_chips(line.text):
        chips, _, law = slices
        origin: ValueOrigin = "solved" if law else "printed"
        at = line.number, line.column
        said["gpus"] = Cell(str(chips), *at, value_origin=origin, law=law)
    elif many := found[1] or found[3]:
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
    plain = _TYPED.sub(r"\1 = ", _CALLS.sub("", plain))
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
                found.append((switch[0], Cell(switch[1], line.number, line.column)))
            if unset(str(label), str(tokens["VALUE"])):
                continue
            if name is None:
                continue
            name, text = of_listed(name, str(tokens["VALUE"]))
            if name == "recompute" and (how := _HOW_AGAIN.match(text)):
                text = how[1].casefold()
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


_HOW_AGAIN = deferred(
    r"[*_`\"']*(full|selective|none)\b[*_`\"']*(?=\s*[:,;(–—]|\.\s)", re.IGNORECASE
)
"""How much is computed again, before what that is: `Selective: only the attention core.`"""


def _number(text: str) -> float:
    return float(text[:-1]) * SUFFIXES[text[-1]]
