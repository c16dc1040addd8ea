"""Settings whose numbers have what they count behind them: `1,024 sequences of 2,048 tokens`.

In: the field of a column and the text of a cell. Out: what that says, by field: the number of its
column without its noun, and the others that stand in it. A batch in tokens is one of tokens, and
one of each device a micro-batch, where its column leaves open whose it is.
"""

from __future__ import annotations

import re
from functools import lru_cache

_NUMBER = r"(?<![\w.,-])([0-9][0-9,]*(?:\.[0-9]+)?(?: ?[kKMBT](?![A-Za-z]))?)"

_DEVICE = r"(?:GPU|device|card|chip|rank|NPU|GCD|HPU|accelerator|core|worker|replica)"

_THINGS = (
    r"(?:(?:training |packed )?(?:sequences?|seqs?|samples?|examples?|images?|imgs?|sentences?"
    r"|documents?|prompts?|utterances?|clips?|videos?|pairs?)|条|[个张]?(?:样本|序列|图[片像]))"
)

_TOKENS = r"(?:tokens?|toks?|词元|トークン)"

_OF_A_STEP = (
    r"(?: ?(?:/|per|a|an|each|in (?:a|each|one)) ?(?:(?:optimi[sz]er|training|global) )?"
    r"(?:step|iteration|iter|update|batch))?"
    r"(?:,? \(?(?:in total|total|overall|globally|global)\)?)?"
)

_A_BATCH = re.compile(
    rf"{_NUMBER} ?(?:{_THINGS}(?: ?(?:of|[x×*@]|at|with|, each of) ?{_NUMBER} ?-?{_TOKENS}"
    rf"(?: each| long)?)?|[x×*] ?{_NUMBER} ?{_TOKENS})"
    rf"(?P<each> ?(?:/|per|on each|for each|on every) ?{_DEVICE})?{_OF_A_STEP}",
    re.IGNORECASE,
)

_IN_TOKENS = re.compile(
    rf"{_NUMBER} ?{_TOKENS}{_OF_A_STEP}(?: ?[(（=] ?{_NUMBER} ?{_THINGS}"
    rf"(?: ?(?:of|[x×*@]) ?{_NUMBER}(?: ?-?{_TOKENS})?)? ?[)）]?)?",
    re.IGNORECASE,
)

_OF_EACH = re.compile(rf"{_NUMBER} ?(?:/|per|on each|for each|on every) ?{_DEVICE}", re.IGNORECASE)
"""A batch by whose it is: `32 per GPU`."""

_COUNTED = {
    "seq_len": _TOKENS, "layers": r"(?:transformer |decoder |encoder )?(?:layers|blocks)|层",
    "heads": r"(?:attention |query )?heads|[个头]", "hidden": r"dims?|dimensions|units|channels|维",
    "accumulation": r"(?:gradient )?(?:accumulation )?(?:steps?|passes|micro-?batch(?:es)?"
    r"|micro-?steps?|iterations|times)|步|次",
    "tp": rf"-?way|ranks|{_DEVICE}s|路", "cp": rf"-?way|ranks|{_DEVICE}s|路",
    "ep": rf"-?way|ranks|{_DEVICE}s|路", "dp": rf"-?way|replicas|ranks|groups|{_DEVICE}s|路",
    "pp": r"-?way|(?:pipeline )?stages|ranks|级|段", "vp": r"(?:virtual )?(?:stages|chunks)",
    "parameters": r"parameters|params|参数", "model_size": r"parameters|params|参数",
}  # fmt: skip
"""Field → what its numbers count."""

_BATCHES = ("global_batch", "batch_size", "micro_batch")


@lru_cache(maxsize=4096)  # rows say the same again
def counted_in(field: str, text: str) -> dict[str, str]:
    """Fields that a cell says by what its numbers count; none where that is not all of it.

    >>> counted_in("global_batch", "1,024 sequences of 2,048 tokens")
    {'global_batch': '1024', 'seq_len': '2048'}
    >>> counted_in("batch_size", "32 per GPU"), counted_in("global_batch", "32 per GPU")
    ({'micro_batch': '32'}, {})
    >>> counted_in("global_batch", "4M tokens"), counted_in("seq_len", "4k tokens")
    ({'global_batch_tokens': '4M'}, {'seq_len': '4k'})
    >>> counted_in("layers", "32 layers"), counted_in("layers", "32 experts")
    ({'layers': '32'}, {})
    """
    bare = text.strip(" .*_`")
    if field not in _BATCHES:
        found = _counted(field).fullmatch(bare) if field in _COUNTED else None
        return {field: _digits(found[1])} if found else {}
    if each := _OF_EACH.fullmatch(bare):
        return {} if field == "global_batch" else {"micro_batch": _digits(each[1])}
    if whole := _IN_TOKENS.fullmatch(bare):
        if field == "micro_batch":
            return {}
        counts = {"global_batch_tokens": whole[1], "global_batch": whole[2], "seq_len": whole[3]}
        return {name: _digits(number) for name, number in counts.items() if number}
    found = _A_BATCH.fullmatch(bare)
    if found is None or (found["each"] and field == "global_batch"):
        return {}
    length = found[2] or found[3]
    mine = "micro_batch" if found["each"] else field
    return {mine: _digits(found[1])} | ({"seq_len": _digits(length)} if length else {})


@lru_cache(maxsize=len(_COUNTED))
def _counted(field: str) -> re.Pattern[str]:
    return re.compile(rf"{_NUMBER} ?(?:{_COUNTED[field]})", re.IGNORECASE)


def _digits(number: str) -> str:
    return number.replace(",", "").replace(" ", "")
