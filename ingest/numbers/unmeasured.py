"""Words and signs of a cell that say why it has no number.

In: the text of a cell without a digit. Out: whether it ran out of memory, was not measured, or did
not work in some way; None for anything else.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

_NO_ROOM = re.compile(
    r"[❌✗✘💥🚫⛔\s(]*(?:O\.O\.M\.?|MemoryError|out[- ]of[- ]mem(?:ory)?|OOM"
    r"|CUDA error: out of memory"
    r"|(?:does|did|do|would|will|could|can)(?: ?n[o'’]?t| not) fit(?: (?:in|into) memory)?"
    r"|won['’]t fit|(?:显存|内存|顯存|記憶體)(?:不足|溢出|不够|耗尽)|爆显存|爆顯存"
    r"|メモリー?不足|메모리 ?부족|Speicher(?:mangel| voll| reicht nicht)|mémoire insuffisante"
    r"|memoria insuficiente)[!.)\s💥❌]*",
    re.IGNORECASE,
)
"""Words by which a run had not memory enough, in one language or another."""

_NOT_MEASURED = re.compile(
    r"not (?:run|tested|measured|reported|available|applicable|done|tried)|untested|skipped|none"
    r"|null|nil|n\.\s?a\.|n[./]?r\.?|n[./]m\.?|no data|pending|k\.\s?A\."
    r"|未测试?|未測定|无数据|미측정|なし|无|없음",
    re.IGNORECASE,
)
"""Words of a cell for which nothing was measured."""

_MARKED = re.compile(
    r"[✗✘❌✖⛔🚫💥⚠\ufe0f×]{1,3}|diverge[sd]?|diverging|unstable|NaN loss|loss spikes?"
    r"|loss (?:is |was )?NaN",
    re.IGNORECASE,
)
"""Signs and words that something did not work, and not what."""

_WHICH = (
    r"(?:NCCL|RCCL|HCCL|MPI|CUDA|HIP|ROCm|XLA|InfiniBand|Slurm|GPU|node|host|driver|network|launch"
    r"|compiler|compilation|watchdog|collective)"
)

_FAILS = r"(?:failed|fails|failure|crash(?:ed|es)?|hung|hangs|aborted|killed|timed out|time-?out)"

_FAILED_SO = re.compile(
    rf"(?:(?:the )?(?:run|job|training|process) )?(?P<said>{_FAILS})"
    rf"(?:(?: due to| because of| by| with(?: an?)?)? \(?(?:{_WHICH} ?){{1,3}}"
    rf"(?:error|{_FAILS})?\)?"
    r"|(?:: |, | [(–—-] ?)(?!.*\b(?:with|without|for|when|if|unless|above)\b)[A-Za-z]"
    r"[A-Za-z ./'-]{2,40}\)?"
    r"| (?:at|in|during|after) (?:the )?(?:first )?(?:init(?:iali[sz]ation)?|start(?:-?up)?|launch"
    r"|warm-?up|compil(?:ation|ing)|backward(?: pass)?|loading|step|iteration))"
    rf"|(?:{_WHICH} ){{1,3}}(?:error|{_FAILS})"
    rf"(?:[,;:]? [(–—-]?(?:run|job|training) (?P<then>{_FAILS})\)?)?",
    re.IGNORECASE,
)
"""A run that failed, and of what: `run failed: NCCL timeout`, `NCCL error`, `killed by Slurm`."""


class Unmeasured(NamedTuple):
    """A cell without a number: its state, and the words for it."""

    state: Literal["outcome", "missing", "unknown"]
    text: str


def unmeasured(text: str, of_a_run: bool) -> Unmeasured | None:
    """The state of a cell that has no number, `of_a_run` where it was to be measured; nothing said
    of a setting is one that is not known.

    >>> unmeasured("显存不足", True).text, unmeasured("not run", True).state
    ('OOM', 'missing')
    >>> unmeasured("none", False).state, unmeasured("full", True), unmeasured("OOM at 8", True)
    ('unknown', None, None)
    >>> unmeasured("NCCL timeout, run failed", True).text, unmeasured("failed (if fused)", True)
    ('failed', None)
    """
    if any(map(str.isdigit, text)):
        return None
    if of_a_run and _NO_ROOM.fullmatch(text):
        return Unmeasured("outcome", text if text.isascii() else "OOM")
    if of_a_run and (failed := _FAILED_SO.fullmatch(text)):
        return Unmeasured("outcome", failed["then"] or failed["said"] or "failed")
    if _NOT_MEASURED.fullmatch(text):
        return Unmeasured("missing" if of_a_run else "unknown", text)
    return Unmeasured("unknown", text) if of_a_run and _MARKED.fullmatch(text) else None
