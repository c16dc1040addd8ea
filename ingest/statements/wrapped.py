"""Items of lists of settings, prose that stands beside a table, and words of it on other rows.

In: a line and what opened the list that it is an item of, or the table that it stands beside. Out:
field → cell of what it says: `- bf16` says below `Setup:` all that a sentence would, and beside a
table one thing in a sentence is enough.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from itertools import islice, pairwise, takewhile
from math import inf

from assay.ingest.columns.number_formats import listed_in
from assay.ingest.columns.other_runs import GOES_ON, IS_OPEN, of_these_runs, sentences
from assay.ingest.columns.titles import OF_DEVICES
from assay.ingest.schema.record import Cell, Line, Statement
from assay.ingest.schema.terminals import deferred
from assay.ingest.source.headings import of_set_up, reproduces, reproduces_all, set_up_on
from assay.ingest.statements.phrases import MEASURED, OF_ONE_KIND, of_one, phrases
from assay.ingest.statements.row_words import SETTINGS
from assay.ingest.vocabulary.devices import SIGN, Device, devices, may_name, only, signed
from assay.ingest.vocabulary.recomputation import how_much_named, is_it

_MAY_SAY = re.compile(
    r"[GNTHIx]PUs?\b|GCD|[Cc]ards?\b|[Cc]hips|[Nn]od[eo]|nœud|[Kk]noten|[Ss]erver|[Bb]atch|\bbs\b|[Ss]eq|[Ll]ength"
    r"|[Cc]ontext|ctx|okens\b|recision|[bftBFT][fpFP][0-9pP]|[Ff]loat|AMP|layers|hidden|heads"
    r"|aralleli|way\b"
    r"|Z[eE]RO|ccumul|\b[TPDCE]P\b|=|images|samples|sequences|devices|ranks|xperts|vocab"
    r"|ccelerators?\b"
    r"|ecomput|heckpoint|\b[Rr]emat|ckpt"
)
"""Found in every sentence that says a setting of a run, but for one that names a device."""


def _unmarked(line: Line) -> Line:
    """A line with blanks for tags of HTML, but for those that end a paragraph."""
    if "<" not in line.text or "</p" in line.text.removesuffix("</p>"):
        return line
    return line._replace(text=_TAG.sub(lambda tag: " " * len(tag[0]), line.text).strip("\n"))


_TAG = deferred(r"</?(?:a|b|i|p|em|strong|code|span|sub|sup)(?:\s[^<>]*)?>", re.IGNORECASE)


@dataclass
class Items:
    """Whether the list that the next item is in says how things were set up."""

    headed: bool = False  # by the heading above
    opened: bool = False  # by the line above
    aside: bool = False  # of something else than training, by the line above

    def holds(self, line: Line) -> bool:
        """Whether a line is an item of such a list."""
        return self.opened and _ITEM.match(line.text) is not None

    def said_by(self, line: Line, *, heading: bool) -> dict[str, Cell]:
        """Fields that a line says as an item of such a list; nothing of a line that is none."""
        item = _ITEM.match(line.text) is not None
        if heading or not item:
            blank = self.aside and not line.text.strip()  # between a line and its list
            self.aside = blank or (not heading and _OF_ELSE.match(line.text) is not None)
        if heading:
            apart = _OF_OPTIONS.search(_OF_HARDWARE_TOO.sub("", line.text))
            self.headed = self.opened = not apart and _of_set_up(line.text)
        elif line.text.strip() and not item:
            if not line.text.startswith(("  ", "\t")):
                self.opened = self.headed or _OPENS.match(line.text) is not None
        elif self.opened and line.text.strip() and not line.prefix:
            return _said_by(line)
        return {}


def _of_set_up(title: str) -> bool:
    return of_set_up(title) or set_up_on(title) is not None


_OF_OPTIONS = deferred(
    r"config|parameters|recipe|info|options|specs?\b|methods?\b|protocol|architecture|конфигурация"
    r"|参数|パラメータ|파라미터|方法|구성|構成|配置(?!$)",
    re.IGNORECASE,
)
"""A heading over what a program could be told, too."""

_OF_HARDWARE_TOO = deferred(
    r"(?<=hardware and )(?:(?:the|training|model|run) )?(?:hyper-?)?(?:config\w*|parameters)"
    r"|(?:hyper-?)?parameters(?= and (?:the )?hardware\b)"
    r"|(?<=ハードウェアと)(?:ハイパー)?パラメータ",
    re.IGNORECASE,
)
"""Words of a heading over what was used, beside the machines: `Hardware and hyper-parameters`."""

_ALL_RUNS = (
    r"(?:all|every|each|both)(?: of)?(?: the| our| these)? (?:\w+ )?(?:runs?|rows?|experiments?"
    r"|measurements?|results?|numbers?|benchmarks?|tables?|cases|configurations|timings|trainings?"
    r"|entries|jobs)"
)

_OPENS = deferred(
    r"\W*(?:[\w'/-]+ ){0,5}(?:set-?up|settings?|config(?:uration)?|hardware|environment|conditions"
    r"|test ?bed|specs?|details|architecture)\b(?!.*\b(?:inference|serving|eval\w*|recommend\w*"
    r"|require\w*|support\w*|planned|options?|minim\w+|previous|other)\b)[^.?!]{0,60}[:：][\s*_]*"
    r"(?:</?\w+>\s*)*$"
    r"|\W*(?!.*\b(?:inference|serving|eval\w*|decod\w*|previous|other|except|but|tr(?:y|ied)|tips?"
    r"|recommend\w*|options?|should|can|could|may|planned|todo|support\w*)\b)"
    rf"(?:unless [^.:;|?]{{3,60}}|[^.:;|?]{{0,60}}?\b{_ALL_RUNS}"
    r"(?: (?:below|above|here|on this page|in this (?:section|page|document)))*"
    r"(?: (?:are|were|was|is|use[sd]?|share[sd]?|ran|run|have|had|with|on|in|done|made|taken|the"
    r"|measured|trained|same|following|this|these|as|follows|common|settings?|conditions?))*)"
    r"\s*[:：][\s*_]*$",
    re.IGNORECASE,
)

_OF_ELSE = deferred(
    r"[^.?!|]{0,80}?\b(?:inference|serving|eval\w*|decod\w+|deploy\w*|recommended|requirements"
    r"|minimum|planned|demo)\b[^.?!|]{0,60}[:：][\s*_]*$",
    re.IGNORECASE,
)
"""A line that opens a list of what is of no training."""

_ITEM = deferred(r"\s*(?:[-*+•] |[0-9]{1,2}[.)] |<li\b)")

_OPTION = deferred(r"--[a-z]|\b(?:enable|use|set|pass|whether|default|if|see|run|install)\b", re.I)

MOST_WORDS = 16
"""Words of an item that is one of settings, and no paragraph."""


def _said_by(line: Line) -> dict[str, Cell]:
    plain = line._replace(text=of_these_runs(_unmarked(line).text))
    if len(plain.text.split()) > MOST_WORDS or _OPTION.search(plain.text):
        return {}
    if MEASURED.search(plain.text) or of_one(plain.text):
        return {}
    told = phrases(plain, least=1) or _again(plain)
    kind = None if "dtype" in told else listed_in(_ITEM.sub(_blank, plain.text, count=1))
    return told | {"dtype": Cell(kind.word, line.number, line.column + kind.at)} if kind else told


def _again(line: Line) -> dict[str, Cell]:
    """How much an item says to be computed again, that names nothing else: `- recompute (full)`."""
    item = _ITEM.sub(_blank, line.text, count=1).strip()
    much = how_much_named(item) or ("on" if is_it(item) else None)
    if much is None:
        return {}
    cell = Cell(much, line.number, line.column + line.text.index(item))
    if much == "on":
        return {"activation_checkpointing": cell._replace(text="True")}
    return {"recompute": cell}


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


_OF_OTHERS = deferred(
    r"\b(?:than|vs\.?|versus|compared|unlike|instead|inference|serving|previous(?:ly)?|future|plan\w*"
    r"|will|cannot|can|could|would|should|may|might|must|even|also|only|some|many|most|each of"
    r"|adapted|frozen|layers? (?:of|are|were)|other|another|e\.g|such as|like|similar\w*|about"
    r"|roughly|typical\w*|usual(?:ly)?(?! [0-9])|larger|smaller|bigger|newer|older"
    r"|scal\w+ to|up to|down to|at least|at most|tried|try|fits?|needs?|OOM|out of memory"
    r"|rents?|owns?|paper|authors?|we have|colleagues?|friends?|somebody|elsewhere|others"
    r"|(?<!all )(?<!each )of (?:them|those)|of which)\b"
    r"|\bfor (?:the |an? )?(?-i:\S*[A-Z0-9])|\?|->|→|[<>≤≥~≈]|\$ ?[0-9]",
    re.IGNORECASE,
)
"""Words of a sentence beside a table that is perhaps not of its rows, or not of all of them."""

_TELLS = deferred(
    r"\b(?:(?:halv|doubl|tripl|increas|decreas|reduc|rais|lower|chang|compar|vary|vari)\w*|means?"
    r"|joins?|joined|connect\w*|link(?:s|ed)?|contain(?:s|ed)?|beyond|too|slow|gave|gives?|faster"
    r"|slower|better|start(?:s|ed)?|finish\w*|stor(?:ed|age|es)|all-?reduce\w*|logged|reported|works?"
    r"|worked|requirements?|minimum|recommend\w*|recomienda|sufficient|enough|supported|checkpoints?"
    r"|users?|loss|costs?|bytes|fork\w*|default\w*|states|gradients|entries|longest|then|pass|NVLink"
    r"|switch\w*|bandwidth|else|first layer)\b|^\W*(?:(?:it|that|they|this one) (?:used|uses"
    r"|ran|had|took)\b|data(?:set)?s?\b|this (?:work|research) (?:used|was)\b"
    r"|pre-?train\w*\b.*\bfine-?tun|for multi-)|\b[0-9.]+ ?[BM] (?:models?|runs?|variants?)\b",
    re.IGNORECASE,
)
"""Words of a sentence that tells of what a setting does, and of no run that had it."""

_OF_ABOVE = deferred(
    r"\W*(?:(?:all|everything|both|these|those|they|numbers|results|figures|measurements|rows|runs?"
    r"|ran|measured|timed|trained|taken|recorded|collected|benchmarked|tested|common|shared"
    r"|hardware|systems?|machines?|GPUs?|cards?|devices?|nodes?|accelerators?|set-?up|test ?bed"
    r"|config(?:uration)?|settings?|environment|env|script"
    r"|(?:(?:the|our) )?(?:local |global |micro[ -])?batch(?:[ -]size)?"
    r"|sequences?|precision|context|length|(?:(?:the|our) )?model)\b"
    r"|(?:the|our|my) (?:box|machines?|cards?|GPUs?|nodes?|servers?|accelerators?|hardware|host"
    r"|workstation|devices?|runs?|numbers|results|rig|test ?bed)\b"
    r"|.{0,60}\b(?:in all cases|throughout|everywhere|in (?:all|both|every)\b|on both\b"
    r"|(?:of|for|to) (?:all|each|every one) of (?:them|these|those)\b))",
    re.IGNORECASE,
)
"""How a sentence below a table begins, or goes on, that is of all of its rows."""

FARTHEST = 30
"""Lines between a table and prose of its section that is about its rows."""


EACH_ADDS = deferred(
    r"\b(?:each|every) (?:row|line|step|entry|change|optimi[sz]ation|item|variant)\b[^.;]{0,40}?"
    r"\b(?:adds?|added|builds?|built|includes?|keeps?|appl(?:y|ied|ies)|comes?|on top|stacks?"
    r"|extends?)"
    r"\b[^.;]{0,60}?\b(?:above|previous|before|preceding|last|prior|earlier|ones)\b"
    r"|\b(?:rows?|steps?|changes?|optimi[sz]ations?|they|entries|lines|numbers|results) (?:are|is)"
    r" (?:all )?(?:cumulative\b|stacked\b|applied (?:cumulatively|on top of each other"
    r"|on top of one another|incrementally|one after (?:another|the other)))"
    r"|\b(?:applied|added|enabled|turned on) (?:cumulatively|on top of (?:each other|one another"
    r"|the (?:previous|last) (?:one|row|step)))"
    r"|\b(?:adds?|added|adding|stack(?:s|ed|ing)?|pil(?:e|ed|ing)|layer(?:s|ed|ing)?)\b(?: up)?"
    r" (?:(?:them|things|the rest|everything|(?:(?:the|our|these) )?(?:(?:usual|following|same) )?"
    r"(?:changes|features|tricks|techniques|optimi[sz]ations|these)) )?"
    r"(?:one (?:(?:more|further|extra|new) )?(?:[a-z]{3,14} )?at a time|one by one"
    r"|one after (?:another|the other)|on top of (?:each other|one another)|step by step)"
    r"|\bcumulatively\b|\bcumulative (?:results?|effects?|numbers|ablations?|changes"
    r"|optimi[sz]ations|measurements?|speeds?|throughputs?)\b|每一?[行步项]\S{0,12}(?:上一[行步项]|前一[行步项])\S{0,8}(?:基础|叠加|累)"
    r"|(?:逐[步项行个一]|依次)(?:叠加|累加|累积|加入|添加)"
    r"|jede (?:Zeile|Änderung)[^.;]{0,40}(?:vorherigen?"
    r"|darüber)",
    re.IGNORECASE,
)
"""A sentence on a table of which each row has what those above it have, and more."""

_EACH_ALONE = deferred(
    r"\b(?:not|n['’]t|never|non)[ -](?:cumulative|stacked|accumulated|additive|add(?:ed)? up)"
    r"|\b(?:each|every) (?:\w+ )?(?:alone|by itself|on its own|individually|separately"
    r"|in isolation)|\bindependent(?:ly)? of (?:each other|one another)\b|不累[加计积]"
    r"|(?:互相|相互)独立|累積(?:では|で)?な|누적(?:이|은)? ?아니|nicht kumulativ|non cumulatif",
    re.IGNORECASE,
)


def each_adds(text: str) -> bool:
    """Whether a text says of a table that each row has what those above it have, and more.

    >>> each_adds("I added one flag at a time."), each_adds("Each row adds to the one above.")
    (True, True)
    >>> each_adds("I added one flag at a time to this command, rows are not cumulative.")
    False
    """
    return EACH_ADDS.search(text) is not None and not each_alone(text)


def each_alone(text: str) -> bool:
    """Whether a text says of rows that none has what those above it have."""
    return _EACH_ALONE.search(text) is not None


def with_sentence(before: Line | None, line: Line) -> str:
    """A line of prose behind the sentence that goes on in it, where that is of each row."""
    if before is None or before.number != line.number - 1 or line.prefix:
        return line.text
    begun = before.text.rpartition(". ")[2]
    return f"{begun} {line.text}" if _OF_EACH_ROW.search(begun) else line.text


_OF_EACH_ROW = re.compile(r"\b(?:[Ee]ach|[Ee]very) (?:row|line|step|entry|change|item|variant)\b")


def opening_results(lines: Sequence[Line]) -> Set[int]:
    """The lines that end in a colon over a list whose first items say what was measured: they are
    of that list, and no note on the table above them.

    >>> texts = ["One A100, batch 16:", "", "- eager: 191 ms/iter", "- compiled: 142 ms/iter"]
    >>> opening_results([Line(at, text, 1, {}) for at, text in enumerate(texts, 1)])
    {1}
    """
    found = set[int]()
    for at, line in enumerate(lines):
        if not line.text.rstrip(" *_").endswith((":", "：")) or len(line.text) > LONGEST_PROSE:
            continue
        below = (o.text for o in lines[at + 1 : at + 3 + FIRST_ITEMS] if o.text.strip())
        items = list(islice(takewhile(_IS_ITEM.match, below), FIRST_ITEMS))
        if len(items) == FIRST_ITEMS and all(map(MEASURED.search, items)):
            found.add(line.number)
    return found


_IS_ITEM = re.compile(r"\s{0,6}(?:[-*+•]|[0-9]{1,2}[.)])\s")

FIRST_ITEMS = 2


class Beside:
    """Where lines stand among the tables and the headings of their document."""

    def __init__(
        self, rows: Iterable[int], headings: Sequence[int], lines: Sequence[Line] = ()
    ) -> None:
        self._rows, self._headings = sorted(rows), headings
        self._opening = opening_results(lines)

    def over(self, line: int) -> bool:
        """Whether the first table of its section stands below a line."""
        begin, end = self._section(line)
        at = bisect_right(self._rows, begin)
        first = self._rows[at] if at < len(self._rows) else inf
        return line < first < end and first <= line + FARTHEST

    def under(self, line: int) -> int:
        """The first row of the tables of its section where all stand above a line that opens no
        results of its own, else 0."""
        begin, end = self._section(line)
        first, last = bisect_right(self._rows, begin), bisect_left(self._rows, end) - 1
        if first > last or line in self._opening or not line - FARTHEST <= self._rows[last] < line:
            return 0
        return self._rows[first]

    def right_above(self, line: int) -> tuple[int, int]:
        """The first and the last row of the table that a line stands below."""
        at = bisect_left(self._rows, line) - 1
        last = self._rows[at]
        while at and self._rows[at - 1] == self._rows[at] - 1:
            at -= 1
        return self._rows[at], last

    def _section(self, line: int) -> tuple[int, float]:
        at = bisect_right(self._headings, line)
        end = self._headings[at] if at < len(self._headings) else inf
        return self._headings[at - 1] if at else 0, end


class Again:
    """Blocks of code below a table that are what its runs were started with, as a line says."""

    def __init__(self, beside: Beside | None) -> None:
        self._beside = beside
        self._since, self._section, self._in_code = 0, tuple[int, ...](), False
        self._of_all = 0, 0  # the first and the last row of a table of which a line says it of each

    def pass_by(self, line: Line, path: Sequence[int], *, heading: bool, code: bool) -> None:
        """Go on to a line; `path` are the headings around the one before it."""
        self._in_code = code
        if self._beside is None or code:
            return
        said = reproduces(line.text)
        if heading or any(map(str.isalnum, line.text.lstrip(" `~").partition(" ")[2])):
            self._of_all = 0, 0
        if said and reproduces_all(line.text) and self._beside.under(line.number):
            self._of_all = self._beside.right_above(line.number)
        if heading:
            self._since = self._beside.under(line.number - 1) if said else 0
            self._section = tuple(path)
        elif said and (first := self._beside.under(line.number)):
            self._since, self._section = first, tuple(path)

    def placed(self, statement: Statement) -> Statement:
        """A statement of such a block as one of the rows above it."""
        if not (self._since and self._in_code) or statement.until:
            return statement
        first, last = self._of_all
        if first:
            return replace(statement, caption=True, since=first, until=last)
        return replace(statement, since=self._since, section=self._section)


def near_tables(lines: Iterable[Line], rows: Set[int]) -> list[Line]:
    """The lines of prose around the rows of tables that may say a setting, the two of a sentence
    that ends in the next line too."""
    held = sorted(rows)
    near = [
        line for line in lines
        if bisect_left(held, line.number - FARTHEST) < bisect_right(held, line.number + FARTHEST)
        and len(line.text) < LONGEST_PROSE
    ]  # fmt: skip
    wrapped = {each.number for pair in pairwise(near) if _in_two_lines(*pair) for each in pair}
    return [
        line for line in near
        if line.number in wrapped or (
            not _OF_TABLES.match(line.text) and (_MAY_SAY.search(line.text) or may_name(line.text))
        )
    ]  # fmt: skip


def _in_two_lines(before: Line, line: Line) -> bool:
    """Whether a sentence with a number goes on from one line to the next, and may say a setting."""
    if line.number == before.number + 1 and each_adds(with_sentence(before, line)):
        return True
    if line.number != before.number + 1 or not IS_OPEN.match(before.text):
        return False
    if not GOES_ON.match(line.text):
        return False
    whole = f"{before.text.rpartition('. ')[2]} {line.text.partition('. ')[0]}"
    return _DIGIT.search(whole) is not None and _MAY_SAY.search(whole) is not None


_DIGIT = re.compile("[0-9]")


def said_beside(line: Line, *, under: bool) -> dict[str, Cell]:
    """Fields that a line of prose says beside a table, where one thing in a sentence is enough.

    >>> page = Line(7, "Nodes are H200 boxes. On an L4 it would not fit.", 1, {})
    >>> {name: cell.text for name, cell in said_beside(page, under=False).items()}
    {'gpu': 'H200'}
    """
    own = _of_tables(line, under=under)
    if not (_MAY_SAY.search(own) or devices(own)):
        return {} if under else _first_item(line)
    told = phrases(line._replace(text=own), least=1)
    told |= {} if under or "gpu" in told else _listed_alone(line._replace(text=own))
    if "gpu" in told and "gpus" not in told and not _RAN_ON.search(signed(own)):
        told = {name: cell for name, cell in told.items() if name not in OF_DEVICES}
    if not under and "gpu" not in told:
        told |= _first_item(line)
    fields = {*SETTINGS, "model"} if under else SETTINGS
    return {name: cell for name, cell in told.items() if name in fields}


_BEGINS_WITH_ONE = deferred(rf"(?:^|[.;:] )\W*(?:NVIDIA |AMD )?{SIGN}(?: GPUs?)?, ")
"""A sentence over a table that begins with a device as the first item of a list."""


def _first_item(line: Line) -> dict[str, Cell]:
    """The one device of a line with a sentence that begins with it: `MI300X, FP8 for 8B.`"""
    if not devices(line.text) or not SHORTEST_PROSE < len(line.text) < LONGEST_PROSE:
        return {}
    own = of_these_runs(line.text)
    device = only(own) if _BEGINS_WITH_ONE.search(signed(own)) else None
    cell = Cell(device.text, line.number, line.column + device.at) if device else None
    return {"gpu": cell} if cell else {}


_AS_ITEM = deferred(rf"(?:NVIDIA |AMD )?{SIGN}(?:[ -](?:[0-9]+ ?Gi?B?|SXM[0-9]?|PCIe|NVL))*")

_SHORT_ITEM = deferred(r"[\w.+/@%'-]+(?: [\w.+/@%'-]+){0,3}")


def _listed_alone(line: Line) -> dict[str, Cell]:
    """The device and the number format of a line that is nothing but a list of short items, one of
    them a device and another the format.

    >>> page = Line(7, "ViT-L, FSDP, H100 SXM, bf16.", 1, {})
    >>> {name: cell.text for name, cell in _listed_alone(page).items()}
    {'gpu': 'H100 SXM', 'dtype': 'bf16'}
    """
    device, kind = only(line.text), listed_in(line.text.rstrip(" .:*_`"))
    items = _BETWEEN.split(line.text.strip().strip("*_`().:：。 "))
    if device is None or kind is None or not all(map(_SHORT_ITEM.fullmatch, items)):
        return {}
    if not any(_AS_ITEM.fullmatch(signed(item)) for item in items):
        return {}
    return {
        "gpu": Cell(device.text, line.number, line.column + device.at),
        "dtype": Cell(kind.word, line.number, line.column + kind.at),
    }


_BETWEEN = re.compile(r"\s*[,;|·]\s+")


def named_beside(line: Line) -> Device | None:
    """The one device that a line of prose names above a table, whatever it says of it."""
    if not devices(line.text):
        return None
    return only(_REMARK.sub(" ", _of_tables(line, under=False)))


_REMARK = re.compile(r"\([^()]*\)")


def _of_tables(line: Line, *, under: bool) -> str:
    """A line of prose with blanks for what is not of the rows of the tables beside it."""
    text = line.text
    if line.prefix or not SHORTEST_PROSE < len(text) < LONGEST_PROSE or _NO_PROSE.match(text):
        return ""
    if text.count("=") > MOST_PAIRS:
        return ""
    if not text.isascii() and _OTHER_SCRIPT.search(text):
        return ""
    return "".join(
        part if _is_of_table(part, under=under) else " " * len(part)
        for part in sentences(of_these_runs(_unmarked(line).text))
    )


_RAN_ON = deferred(
    r"\b(?:on|with|using|are|is|was|were|from|an?|my|our|one|single)\s+"
    rf"(?:(?:NVIDIA|AMD|[0-9]+ ?GB|single|local|custom|rented|shared)\s+){{0,2}}{SIGN}"
    rf"|(?:^|[:·;,(])[\s*_`]*(?:NVIDIA |AMD )?{SIGN}(?:[ (-]+(?:[0-9]+ ?Gi?B|SXM[0-9]?|PCIe|NVL"
    r"|GPUs?|cards?|nodes?))*\)?[*_`]*(?=\s*(?:[.,;·)]|$|in all|only|throughout|everywhere))",
    re.IGNORECASE,
)
"""A device of a sentence that says on what something ran, and not how that is."""


_OTHER_SCRIPT = re.compile(r"[\u0400-\u04ff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]")
"""Letters of languages whose words for parts of several are not known here."""

MOST_PAIRS = 3
"""Assignments in a line of prose: one with more is a list of them."""

SHORTEST_PROSE, LONGEST_PROSE = 12, 400
"""Letters of a line that is a sentence, and beyond which it is a paragraph that speaks of much."""

_OF_TABLES = re.compile(r"\s*(?:\||</?t|[-=+|: ]{8,}$)")

_NO_PROSE = deferred(r"\s*(?:[|>#\"]|[-*+•] |[0-9]{1,2}[.)] |:[a-z]|\.\. |<t|```)|\W*$")


_ONE_MODEL = deferred(
    r"\b(?:train|tun)\w* (?:an? |the |our )?(?:GPT|BERT|RoBERTa|T5|ViT|ResNet|Llama|LLaMA|OPT)\b"
)
"""A sentence about one model, which is perhaps not that of every row."""


_THE_MODEL = deferred(r"\W*(?:the |our )?model (?:here )?is\b", re.IGNORECASE)
"""How a sentence below a table begins that says which model all its rows are of."""


def _is_of_table(sentence: str, *, under: bool) -> bool:
    if of_one(sentence) or any(w.search(sentence) for w in (_OF_OTHERS, _TELLS, MEASURED)):
        return False
    of_some = OF_ONE_KIND.search(sentence) or _ONE_MODEL.search(sentence)
    if of_some and not (under and _THE_MODEL.match(sentence)):
        return False
    return not under or _OF_ABOVE.match(sentence) is not None


_PROSE = deferred(r"(?!\s*(?:[|>#*+-]|[0-9]+[.)] ))\s*\S.{8,}")

_STOP = deferred(r"[.!?;:](?:\s|$)")


_LISTED = re.compile(r"\s*GPU [0-9]{1,2}: ")

MOST_OF_A_MACHINE = 16
"""Devices of a machine that are looked at in a list of them."""


def lists_another(lines: Sequence[Line], at: int) -> bool:
    """Whether a list of the devices of a machine that begins in a line goes on with another."""
    if "GPU 0: " not in lines[at].text:
        return False
    own = {each.key for each in devices(lines[at].text)}
    for line in lines[at + 1 : at + MOST_OF_A_MACHINE]:
        if not _LISTED.match(line.text):
            break
        if {each.key for each in devices(line.text)} - own:
            return True
    return False


def lists_one(lines: Sequence[Line], at: int) -> bool:
    """Whether a list of the devices of a machine that begins in a line has none but that one."""
    if "GPU 0: " not in lines[at].text:
        return False
    return at + 1 < len(lines) and not _LISTED.match(lines[at + 1].text)


def names_another(lines: Sequence[Line], at: int) -> bool:
    """Whether the sentence that a line is in names another device in the line above or below it.

    >>> page = ["The instances are g3.8xlarge (2 Tesla M60, 16 GB) and", "g4dn.4xlarge (1 T4)."]
    >>> names_another([Line(n, text, 1, {}) for n, text in enumerate(page, 1)], 1)
    True
    """
    own = {each.key for each in devices(lines[at].text)}
    if not own or not _PROSE.fullmatch(lines[at].text):
        return False
    above, text = lines[at - 1].text if at else "", lines[at].text
    below = lines[at + 1].text if at + 1 < len(lines) else ""
    tail = _STOP.split(above)[-1] if _PROSE.fullmatch(above) else ""
    goes_on = _STOP.split(text)[-1].strip() != ""
    head = _STOP.split(below)[0] if goes_on and _PROSE.fullmatch(below) else ""
    last = {each.key for each in devices(_STOP.split(text)[-1])}
    first = {each.key for each in devices(_STOP.split(text)[0])}
    over = {each.key for each in devices(tail)} if first else set()
    under = {each.key for each in devices(head)} if last else set()
    return bool((over | under) - own)
