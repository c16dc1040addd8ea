"""The one device that a document names, for rows of which nothing nearer says what they ran on.

In: the lines of a document. Out: a cell with the device, where every line that names one names the
same, and one of them speaks of it as what was used; None where a second one is named, or the
document is a thread of several authors.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from assay.ingest.columns.other_runs import of_these_runs, unreported
from assay.ingest.grids.grid import LONGEST
from assay.ingest.schema.record import Cell, Line
from assay.ingest.schema.terminals import deferred
from assay.ingest.vocabulary.devices import SIGN, by_kind, devices, only, other_of_its_kind, signed

LAW = "the one device that the document names"

_USED = deferred(
    rf"[0-9] ?[x×*]? ?{SIGN}"
    rf"|{SIGN}s?(?:[- ](?:GPU|NPU|card|chip|module|accelerator|superchip)s?)? ?(?:[x×*] ?[0-9]"
    r"|\(?(?:nodes?|cluster|partition|servers?|machines?|modules|instances?)\b)"
    rf"|\b(?:on|using|used?|uses)\W+(?:[\w-]+ ){{0,4}}?{SIGN}"
    r"|\b(?:hardware|(?:gpu|npu|dcu|mlu|xpu)s?|devices?|accelerators?|system|machines?|cluster|nodes?|platform|cards?"
    rf"|environment|pods?|racks?|box(?:es)?|workstations?|single|access to)\b[^.;|]{{0,40}}?{SIGN}"
    rf"|\b(?:node|server|machine|host)s?\b[^.;|]{{0,90}}?{SIGN}"
    r"|(?:型号|芯片|加速器|设备|硬件|环境|平台|规格)[*_` ]{0,3}(?:[:：]|为|是|采用|使用)"
    rf"\W{{0,4}}{SIGN}"
    rf"|[卡机]\W*{SIGN}|{SIGN}\W*[卡机服集]|^\s*#.*{SIGN}"
    rf"|(?:使用的?|采用的?|选用的?|用的?)是? ?{SIGN}|在 ?(?:一[张块台] ?)?{SIGN} ?(?:上|平台|环境)",
    re.IGNORECASE,
)
"""Found where a device is what something ran on: counted, of nodes, behind its label."""

_OTHERWISE = deferred(
    r"\b(?:requir\w+|support\w*|recommend\w*|minimum|compatib\w+|inference|serving|deploy\w*"
    r"|unlike|compar\w+|than|plan(?:ned|s)?|todo|will|price[sd]?|buy|newer|later|need(?:s|ed)?"
    r"|should|could|would|may|might|can|also|if|but (?:the|one|two|for)"
    r"|except|(?:some|most|half)(?: of)?(?: the| these| our)? (?:runs?|rows?|results|numbers|models"
    r"|experiments|measurements|tables)|optimi[sz]ed for|target\w*|et al|their|they|others?)\b"
    r"|(?-i:\b(?!All\b|The\b|Our\b|Models?\b|Training\b|Everything\b|Runs\b)[A-Z][\w.-]+ "
    r"(?:was|were|is|has been) (?:pre-?)?trained)|>=|≥|推理|支持|要求"
    r"|\b(?:reference|baseline|competing) (?:cards?|devices?|GPUs?|machines?|systems?|hardware"
    r"|values?|numbers?|clusters?)\b|参考(?:卡|设备|机|值|集群|数据)|对照"
    r"|需要|推荐|建议|相比|对比|优于|超过|如果|计划|适合|适用|他们|其他",
    re.IGNORECASE,
)
"""Words beside which a device is perhaps not what the runs were on."""

_TITLE = deferred(r"# \S")
"""The title of a document: `# B200, first look`."""

_IN_CODE = deferred(r"`[^`]{1,60}`")
"""Names of programs and options, whatever their words mean elsewhere."""

_OURS = deferred(
    r"\b(?:we|our|all|every|each|everything|throughout)\b|我|本文|本次|所有|全部",
    re.IGNORECASE,
)
"""Found in a line on all runs, whatever section it stands in."""

_OF_SET_UP = deferred(
    r"^# |^#.*(?:hardware|set-?up|environment|system|machine|cluster|node|platform|test ?bed|method"
    r"|config|overview|about|experiment|benchmark|硬件|环境|实验|配置|测试|平台)",
    re.IGNORECASE,
)
"""A heading of a document, or of a section on how all of it was measured."""

_OF_OTHERS = deferred(
    r"^#.*\b(?:related|background|introduction|prior|previous|acknowledge?ments?|citations?|other"
    r"|requirements?|install\w*|prerequisites|inference|serving)\b",
    re.IGNORECASE,
)

_OF_A_TABLE = deferred(r"^\s*\.\. (?:\w+-)?table::|<caption\b|^\W*(?:Table|Figure|表|图) ?[0-9]")
"""The title of one table, which speaks of no other."""

_ASSIGNED = deferred(r"(?<![\w-])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?==)")
"""The name of a variable, which may have a number of its own: `BX300_FUSED_TOPK=1`."""

THREAD = deferred(r"\b(?:commented|opened this (?:issue|pull)|replied)\b|^#{0,4} ?@[\w-]+:?$")
"""Above what one of several authors says."""


def only_device(lines: Sequence[Line], tabled: Set[int]) -> Cell | None:
    """The one device of a document, `tabled` being rows of its tables; its cell is one by `LAW`.

    >>> texts = ["# Hardware", "Trained on 64 A100-80GB GPUs.", "# Results", "| A100 | 12 |"]
    >>> lines = [Line(n, text, 1, {}) for n, text in enumerate(texts, 1)]
    >>> only_device(lines, {4}).text, only_device([*lines, Line(5, "or on V100", 1, {})], {4})
    ('A100-80GB', None)
    """
    named, at = set[str](), 0  # the heading that a line stands below, by its number
    used: list[tuple[int, Line]] = []
    counted: list[Line] = []  # lines on what something ran on, whatever they are of
    with_rows, aside, general = set[int](), False, True
    headings = set[int]()
    for line in lines:
        if line.text.startswith("#"):
            headings.add(line.number)
            at, aside = line.number, _OF_OTHERS.search(line.text) is not None
            general = _OF_SET_UP.search(line.text) is not None
        if line.number in tabled:
            with_rows.add(at)
        if len(line.text) > LONGEST:
            continue
        if THREAD.search(line.text):
            return None
        text = line.text if line.number in tabled else unreported(line.text)
        told = devices(_ASSIGNED.sub(" ", text) if "_" in text else text)
        if not told:
            continue
        fresh = {device.text for device in told} - named
        named |= fresh
        if fresh and not _of_one_maker(named):
            known = all(only(each) for each in named if not by_kind(each))
            if not known or only("; ".join(named)) is None:
                return None
        titled = line.number == at and _TITLE.match(line.text) is not None
        said = line.number not in tabled and (line.number != at or titled) and not aside
        said = said and _USED.search(_AN_INSTANCE.sub(SIGN_ALONE, signed(line.text))) is not None
        others = said and not devices(of_these_runs(line.text))  # ran on it
        if not said or others or _OTHERWISE.search(_IN_CODE.sub("", line.text)):
            continue
        counted.append(line)
        if (general or _OURS.search(line.text)) and not _OF_A_TABLE.search(line.text):
            used.append((at, line))
    if len(headings) > 1:  # what is said beside a table is of its section
        used = [
            (begin, line) for begin, line in used
            if begin not in with_rows or _OURS.search(line.text)
        ]  # fmt: skip
    whole = [line for _, line in used]
    device = only("; ".join(sorted(named))) if whole else None
    if device is None and counted:
        return _of_its_maker(counted, named, lines)
    return Cell(chip_of(device.text), whole[0].number, 1, law=LAW) if device else None


_AN_INSTANCE = deferred(r"`{0,2}\bTrn([1-9])n?\.[0-9a-z]+(?![\w.-])`{0,2}", re.IGNORECASE)
"""A machine of a cloud's that is named by its chips, which the name counts with it."""

SIGN_ALONE = SIGN[0]


def chip_of(text: str) -> str:
    """The chip of an instance of a cloud, as its maker calls it; any other device as it is.

    >>> chip_of("trn1.32xlarge"), chip_of("A100-80GB")
    ('Trainium1', 'A100-80GB')
    """
    found = _AN_INSTANCE.fullmatch(text)
    return f"Trainium{found[1]}" if found else text


def _of_one_maker(named: Set[str]) -> bool:
    """Whether no more than one device is named beside kinds, perhaps its own: `XY920 NPU`."""
    return len({text for text in named if not by_kind(text)}) <= 1


def _of_its_maker(counted: Sequence[Line], named: Set[str], lines: Sequence[Line]) -> Cell | None:
    """The device of a maker that nobody else knows, in whose own document no other is named: what
    is counted of it in one section is that of all."""
    told = [each for line in counted for each in devices(line.text) if not each.kind]
    one = told[0] if told and {each.key for each in told} == {told[0].key} else None
    if one is None or not _of_one_maker(named):
        return None
    others = (other_of_its_kind(one, line.text) for line in lines if len(line.text) <= LONGEST)
    alone = all(other is False for other in others)
    return Cell(one.text, counted[0].number, 1, law=LAW) if alone else None
