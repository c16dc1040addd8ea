"""Which operations a rate or a share of the peak counts: those of the model, or all that were done.

In: a text. Out: whether it says that what is computed again in the backward pass is counted, or
that nothing is. A rate that counts it is one of the hardware, and not the model's.
"""

from __future__ import annotations

import re
from functools import lru_cache

NONE_AGAIN = re.compile(
    r"\bno (?:activations? (?:are|is|were) recomput|(?:activation |gradient )?re-?comput"
    r"|(?:activation|gradient) checkpoint)|\bnothing (?:is|was) recomputed"
    r"|\bwithout (?:any |full |selective )?(?:activation |gradient )?re-?comput"
    r"|\bwithout (?:activation|gradient) checkpoint"
    r"|\brecomput(?:e|ation) (?:is |was )?(?:off|disabled|not used)"
    r"|\bmodel FLOPs? utili[sz]ation|\bnothing recomputed (?:is|was) (?:counted|included)"
    r"|\b(?:not|n['’]t) (?:count|includ)(?:e|ed|ing)? (?:any |the )?(?:activation )?recomput"
    r"|\bmodel[*_]* FLOPs? only\b|\b(?:only (?:the )?model(?:'s)? FLOPs?)\b"
    r"|\bcounts? (?:only )?(?:the )?(?:matrix multiplications|mat-?muls|operations|FLOPs?)"
    r" (?:of|in) (?:the )?forward and (?:the )?backward pass(?:es)?(?! (?:and|as well|plus|with))",
    re.IGNORECASE,
)
"""Words by which hardware's operations are those of the model: none is done again."""

_REPEATED = (
    r"(?:(?:(?:the|all|full|selective|extra|additional|second|repeated|activations?|gradients?"
    r"|forward|pass|operations?|FLOPs?|work|cost|of|from|in|for|due|to)[ -])*"
    r"(?:re-?comput\w+|(?:activation |gradient |re-?)?checkpointing))"
)

_REMARK = r"[*_`\s]*"

AGAIN = re.compile(
    rf"(?<!no )(?<!not )(?<!without )(?<!nothing )(?<!never )\b{_REPEATED}(?: (?:operations?"
    rf"|FLOPs?|forward|pass))*"
    r"(?: (?:is|are|was|were|being|also|both|therefore|thus|here|then|of|activations?))*"
    rf"{_REMARK}(?:counted|included|part of|accounted for)"
    r"|(?<!not )\b(?:includ(?:es?|ing|ed)|incl\.?|counts?|counting|contains?|covers?|plus"
    r"|account(?:s|ing)? for|tak(?:es?|ing))"
    rf" {_REPEATED}"
    r"|\bhardware FLOPs utili[sz]ation"
    r"|(?<![不未])(?:包含|包括|计入|算上)[^。；，]{0,8}(?:重计算|重算)",
    re.IGNORECASE,
)
"""Words by which what is computed again is counted as well."""

_OF_RATE = re.compile(r"[TP]?FLOP", re.IGNORECASE)

_BY_HARDWARE = re.compile(
    r"(?<!this )(?<!our )(?<!same )(?<!that )(?<!other )\b(?:hardware|HW|executed)[ -]"
    r"(?:[TP]?FLOP|number|rate|figure|value)|[(\[,] ?(?:hardware|HW)\b|\bHFLOP",
    re.IGNORECASE,
)

_DENIED = re.compile(
    r"\b(?:not|no|nor|neither|never|without|excl\w*|ignor\w+|omit\w*|unlike|would|could|if|peak"
    r"|theoretical|model(?:'s)?)\b|n['’]t\b|\b(?:w/o|MFU|HFU)\b|utili[sz]ation|不|未|理论|峰值",
    re.IGNORECASE,
)
"""Words of a sentence that denies it, or is of a share, of a bound or of the model's operations."""

_SENTENCES = re.compile(r"(?<=[\w)*`])(?<!incl)[.;](?=\s)|[。；]")


@lru_cache(maxsize=4096)  # every table asks the lines around it, which tables share
def of_hardware(text: str) -> bool:
    """Whether a sentence says of rates of operations that what is computed again is counted.

    >>> of_hardware("`TFLOPS` is per GPU as logged (recomputation **counted**)")
    True
    >>> of_hardware("TFLOPS do not include recomputation."), of_hardware("HFU counts recomputation")
    (False, False)
    """
    return any(
        _OF_RATE.search(sentence) is not None
        and not _DENIED.search(sentence)
        and bool(AGAIN.search(sentence) or _BY_HARDWARE.search(sentence))
        for sentence in _SENTENCES.split(text)
    )
