"""Words for machines and their devices, as the expressions of counts of them are put together.

In: a text and a place in it. Out: whether a number there counts the machines of a run.
"""

from __future__ import annotations

import re

from assay.ingest.prose.claims import COUNT, of_several
from assay.ingest.schema.terminals import deferred
from assay.ingest.vocabulary.devices import SIGN

INSTANCE = (
    r"(?:[a-z]{1,3}[0-9]+[a-z]*\.(?:[0-9]*x?large|metal)[\w-]*|(?:Standard_)?N[CDV][0-9]+\w*"
    r"|[ag][2-4]-[a-z]+-[0-9]+g?|BM\.GPU[\w.]*)"
)
"""Names that clouds give to kinds of machines."""

OWNS = deferred(
    r"\b(?!(?:job|run|jobs|runs|experiments?|training|setup|set-up) )[\w()-]+ "
    r"(?:has|owns|consists of|comprises|provides|offers|operates|is (?:made (?:up )?|built )of)"
    r"(?: (?:a total of|up to|about|over))? $"
)
"""In front of a number: so many a site has, on however many a job ran."""

OF_PROCESSOR = deferred(
    r"\b(?:EPYC|Xeon|Ryzen|Threadripper|Opteron|POWER|Power|Gold|Platinum|Silver|Bronze|Core"
    r"|Ultra|i[3579]|Kunpeng|Altra|Graviton|Neoverse|CPU|Cascade Lake|Skylake|Rome|Milan|Genoa"
    r"|MareNostrum|MN|TSUBAME|Tsubame|Stampede|ABCI|Crossroads|Trinity|Tier|Phase|Gen|Generation)"
    r"[ -]?(?:i[3579][ -]|W[ -])?$"
)
"""In front of a number: it names a processor or a site, `EPYC 7742 nodes`, `MareNostrum 5 nodes`,
and counts nothing."""

HOST = (
    r"(?:nodes?|servers?|machines?|hosts?|instances?|VMs?|box(?:es)?|workstations?|rigs?|desktops?"
    rf"|[DH]GX(?:-[12]H?)?(?: (?:{SIGN}))?|{INSTANCE})"
)

KIND = (
    r"(?:(?!(?:across|between|inside|within|on|in|per|of|for|and|or|to|each|every|the|an?|with|from"
    rf"|at|over|by|[KMGT]i?B)\b)(?:[A-Za-z][\w-]*(?:\.[a-z0-9][\w-]*)?|{SIGN}) ){{0,2}}"
)

NOUN = r"(?:GPU|GCD|NPU|TPU|HPU|IPU|card|device|accelerator|chip|superchip|tile)s?\b"

_EXTENT = deferred(
    r"\b(?:parallel\w*|[TPDCE]P|groups?|stages?),? (?:each )?"
    r"(?:spanning|spans|within|inside|over|across) (?:up to |at most )?$",
    re.IGNORECASE,
)
"""In front of machines: so many a group of ranks is on, `64-way expert parallelism spanning 8`."""

_OF_EACH_OF = deferred(rf"(?<![\w.,]){COUNT} $", re.IGNORECASE)
"""In front of a number before a device: it is of each of several, `two 8 A100 nodes`."""

_EVERY_ONE_OF = deferred(r"\b(?:all|both|either|any)(?: of)?(?: the| our| these| my)? $", re.I)

_COMPARED = deferred(
    r" (?:[A-Za-z][\w-]* )?(?:machines|servers|boxes|workstations|rigs|desktops|systems|laptops|PCs"
    r"|clusters)\b",
    re.IGNORECASE,
)
"""Around a number of machines that are compared with each other: `on all three machines`."""

_BESIDE_TRAINING = deferred(
    r"\b(?:loaders?|pre-?processing|data ?sets?|data|corpus|storage|file ?systems?|database"
    r"|tokeni[sz](?:er|ation)|evaluation|inference|serving|scheduler|monitoring|dashboards?|caches?"
    r"|logs) (?:(?:also|only|itself|still) )?(?:runs?|ran|lives?|lies?|sits?|stays?"
    r"|(?:is|are|was|were)(?: \w+)?)(?: (?:on|in|from))?(?: only)? $",
    re.IGNORECASE,
)
"""In front of a number of machines on which something else than training is: `the data loader runs
on one server`."""

_LAST_OF_A_LIST = deferred(r"[0-9],? [0-9][0-9,]*,? (?:and|&) $")
"""In front of the last of several numbers: `8, 16 and 32 nodes`."""


def beside_training(text: str, begin: int) -> bool:
    """Whether machines whose number begins there are what something else than training is on.

    >>> text = "The data loader runs on one server"
    >>> beside_training(text, text.index("one")), beside_training("It runs on one", 11)
    (True, False)
    """
    return _BESIDE_TRAINING.search(text, max(0, begin - 60), begin) is not None


def counts_hosts(text: str, found: re.Match[str], group: str | int) -> bool:
    """Whether a number of machines is that of a run: no name, no bound, none of one group."""
    begin = found.start(group)
    before = max(0, begin - 24)
    if OF_PROCESSOR.search(text, before, begin) or _OF_EACH_OF.search(text, before, begin):
        return False
    if _LAST_OF_A_LIST.search(text, before, begin) or beside_training(text, begin):
        return False
    if _EVERY_ONE_OF.search(text, before, begin) and _COMPARED.match(text, found.end(group)):
        return False
    return not (of_several(text, found, group) or _EXTENT.search(text, max(0, begin - 60), begin))


A_HOST = deferred(rf"\b{HOST}\b", re.IGNORECASE)

PLURAL = (
    rf"(?:(?:{INSTANCE} )?(?:nodes|servers|machines|hosts|instances|VMs|boxes|workstations|rigs)"
    rf"|[DH]GX(?:-[12]H?)?(?: (?:{SIGN}))?(?: (?:nodes|servers|systems))?)"
)

ENDS = r"(?=[*_`]*\s*(?:[.,;:)]|$))"

NAMED = (
    rf"(?:[0-9]{{2,3}} ?Gi?B )?(?:(?:NVIDIA|AMD|Intel|Huawei|Ascend) )?(?:custom )?"
    rf"(?:{SIGN})s?(?: {NOUN})?"
)

DEVICES = rf"(?:{NAMED}|{NOUN})"

TIMES = "[ -]?(?:[x×*] ?)?"

NEAR = 60
"""Letters in front of a number in which machines are looked for that it is of."""
