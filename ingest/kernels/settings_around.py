"""Settings of a table of kernels that stand below the headings around it, not right above it.

In: the lines above a table. Out: the device, the number format and the sizes of attention that the
text below those headings says, or a section on the set-up before it; each only where it is said in
one way, and by no sentence about other calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from assay.ingest.columns.headers import in_letters, plain
from assay.ingest.columns.titles import device_named, format_named, names_format
from assay.ingest.grids.aligned import FIGURE, figure_above
from assay.ingest.grids.grid import LONGEST, Grid
from assay.ingest.schema.record import Cell, Line
from assay.ingest.schema.terminals import deferred
from assay.ingest.source.headings import of_set_up, part_of_set_up
from assay.ingest.source.posts import of_own_author, own_post
from assay.ingest.vocabulary.devices import only, several
from assay.ingest.vocabulary.terms import NUMBER_FORMAT

HEADING = re.compile(r"\s*(?:#{1,6}\s+\S.*|\*\*[^*]+\*\*:?(?: #[0-9]+| ?\([^()|*]{1,60}\):?)?\s*)")
"""A heading of Markdown, or a line in bold, a remark in brackets behind it perhaps."""


def is_heading(lines: Sequence[Line], at: int) -> bool:
    """Whether a line is a heading, and no further line of a comment, nor what a command printed."""
    if not HEADING.fullmatch(lines[at].text):
        return False
    if at and lines[at].text.startswith("# ") and _TYPED.match(lines[at - 1].text):
        return False
    return not (at and lines[at].text.startswith("# ") and lines[at - 1].text.startswith("# "))


_TYPED = deferred(
    r"\s{0,8}(?:[\w.@~:/()-]{0,60}[$%] ?)?(?:\w{1,40}=\S{1,80} ){0,6}(?:sudo |time )?"
    r"(?:mpi(?:run|exec)|srun|torchrun|flux run|python[0-9.]{0,4}|\./\S)"
    r"|\s{0,8}(?:[\w.@~:/()-]{0,60} ?)?\$ \S"
)
"""The beginning of a line that is a command."""

FAR = 400
"""Lines above a table among which the headings around its own are looked for."""

NEAR = 20
"""Lines above a table, down from its heading, that may say what it is of."""

_BOTH = r"forward (?:and|plus|\+) backward|fwd ?(?:\+|plus|and) ?bwd"

_NO_NOUN = r"\b(?! ?(?:tokens|rows|heads|layers|experts|sequences|samples)\b)"
"""Behind a further number: it is no count of something else, and so one of several sizes."""

SIZES = {
    "heads": deferred(
        r"(?<![\w.])(?<![0-9] there are )([0-9]+) (?:query |attention |q )?heads\b"
        r"(?! ?(?:dim|size)|\s*[=:]\s*[0-9])"
        r"|(?<!kv )\b(?:n(?:um)?[_ ]?)?heads\s*[=:]\s*([0-9]+)(?![0-9]|\s*[/÷])|\bH_?q ?= ?([0-9]+)"
        r"|(?<!kv )(?<![\w-])(?:n(?:um)?_?)?heads ([0-9]+)(?=\s*[,;)]|\.?\s*$)"
        r"|(?<!\S)--(?:n(?:um)?[_-])?(?:q[_-])?heads[ =]([0-9]+)(?![\w.,])"
        r"|(?<![\w.])([0-9]+) (?:query|q)(?:[ -]heads)? ?(?:/|and|,|\+) ?[0-9]+ kv[ -]heads\b",
        re.I,
    ),
    "kv_heads": deferred(
        r"(?<![\w.])([0-9]+) (?:kv|key[ /-]value)[ -]heads\b"
        r"|\b(?:n(?:um)?[_ ]?)?kv[_ ]heads\s*[=:]\s*([0-9]+)"
        r"|(?<!\S)--(?:n(?:um)?[_-])?kv[_-]heads[ =]([0-9]+)(?![\w.,])"
        r"|\bH_?kv ?= ?([0-9]+)",
        re.I,
    ),
    "head_dim": deferred(
        r"\bheads [x×] ?(?:d ?= ?|dim )?([0-9]{2,3})(?![\w.]*[0-9])"
        r"|\bheads of (?:size |dim(?:ension)? |width )?([0-9]+)(?![\w.]*[0-9])"
        r"|\b(?:head[ _-]?(?:dim(?:ension)?|size)|hdim)(?: of| is)?`?\s*[=:]?\s*([0-9]+)"
        r"|(?<![\w.])d ?= ?([0-9]+)(?![\w.]*[0-9])",
        re.I,
    ),
    "batch": deferred(
        r"(?<!--)(?<!per_device_train_)(?<![x×*] )(?<![x×*])\bbatch(?:[ _-]?size)?(?: of)?`?"
        r"\s*[=:]?\s*([0-9]+)"
        r"(?![0-9,.]*[0-9k]|\s*(?:/|÷|//|[*×x])\s*[a-z(]| ?(?:tokens|rows)\b)",
        re.I,
    ),
    "seq": deferred(
        r"(?<![x×*] )(?<![x×*])\bseq(?:uence)?[ _-]?len(?:gth)?s?(?: of| is)?`?\s*[=:]?\s*"
        r"([0-9]+(?: ?k)?)\b"
        rf"(?![.,]?[0-9]| ?(?:[-–~/]|to\b|and\b|or\b|up\b|,) ?[0-9][0-9,]*k?{_NO_NOUN})"
        r"|(?<![\w-])seq(?:uence)? ([0-9]+k?)\b"
        r"(?![.,]?[0-9]| ?(?:[-–~/x×]|to\b|and\b|or\b) ?[0-9])",
        re.I,
    ),
    "hidden": deferred(
        r"\bhidden(?:[ _-]?(?:size|dim(?:ension)?))?(?: of| is)?`?\s*[=:]?\s*([0-9]+)\b"
        rf"(?![.,]?[0-9]| ?(?:[-–~/]|to\b|and\b|or\b|,) ?[0-9][0-9,]*{_NO_NOUN})",
        re.I,
    ),
    "ffn_hidden": deferred(
        r"\b(?:intermediate|ffn|inter|mlp)(?:[ _-]?hidden)?(?:[ _-]?(?:size|dim(?:ension)?))?"
        r"(?: of| is)?`?\s*[=:]?\s*([0-9]{3,6})\b"
        rf"(?![.,]?[0-9]| ?(?:[-–~/]|to\b|and\b|or\b|,) ?[0-9][0-9,]*{_NO_NOUN})",
        re.I,
    ),
    "vocab": deferred(
        r"\bvocab(?:ulary)?(?:[ _-]?size)?(?: of| is)?`?\s*[=:]?\s*([0-9]+)\b"
        rf"(?![.,]?[0-9]| ?(?:[-–~/]|to\b|and\b|or\b|,) ?[0-9][0-9,]*{_NO_NOUN})"
        r"|(?<![\w.,])([0-9]{4,6}) vocab(?:ulary)?\b",
        re.I,
    ),
    "causal": deferred(
        r"(?<!non-)(?<!non )(?<!if )(?<!when )(?<!for )"
        r"(?<!full and )(?<!full or )(?<!full vs )(?<!full/)"
        r"(?! ?causal ?(?:masks? )?(?:vs\.?|versus|and|or|/|&) ?(?:full|non|not|no|dense|without))"
        r"\b(non-|not |no |without (?:a )?)?causal\b"
        r"(?! *[=/|]| *: *\S|(?: mask(?:ing)?)? \(?(?:off|disabled)\b"
        r"| (?:counts?|is|are|masks? (?:is|are)) (?:counted|half|halved|as half))"
        r"|\b(no |without (?:a |any |the )?)(?:attention )?mask(?:ing)?\b"
        r"|(?<!and )(?<!or )(?<!vs )(?<!vs\. )(?<!/)\b(full|dense|bidirectional)[ -]"
        r"(?:(?:attention )?mask(?:ing)?|attention)\b(?! ?(?:and|or|vs\.?|versus|/|layers?\b))"
        r"|\bcausal(?: mask(?:ing)?)? ?[=:]? ?\(?(off|disabled)\b"
        r"|(?<!_)\bcausal ?[=:] ?(True|False)\b(?!\s*[|/,]+ ?(?:True|False))",
        re.I,
    ),
    "tokens": deferred(
        r"(?<![\w.,/×x*-])(?<![×x*] )([0-9][0-9,]*) (?:tokens|rows)\b"
        r"(?! ?(?:per|/|a|each|of(?! hidden)|x|×|\*|or|and|to)\b|[ -]?[x×*/]| fixed)"
        r"|(?:= ?|\bbatch(?:es)? of )([0-9][0-9,]*) tokens\b"
        r"|(?<![\w/-])(?:n(?:um)?_)?(?:tokens|rows)`?\s?[=:]\s?([0-9][0-9,]*)\b(?![.,]?[0-9])"
        r"(?! ?(?:[-–~/]|to\b|and\b|or\b|,) ?[0-9][0-9,]*(?:[\s.;)]|$))",
        re.I,
    ),
    "direction": deferred(
        r"\b(forward|backward|fwd|bwd)(?: pass(?:es)?)?"
        r"(?: (?:T?FLOPS|TFLOPS?/s|times?|latenc(?:y|ies)|throughput|numbers|speeds?|rates?))?"
        r" only\b"
        rf"|\b({_BOTH})(?: pass(?:es)?)? "
        r"(?:(?:are |were |is )?(?:measured|timed|run|benchmarked) )?(?:together|combined|summed)\b"
        rf"|\b(?:timed?|times|measured?|sum of) (?:the )?({_BOTH})\b"
        r"|\b((?:forward|fwd) ?(?:\+|plus) ?(?:backward|bwd))\b"
        r"|\bonly (?:the )?(forward|backward|fwd|bwd)\b|\bof the (forward|backward) pass\b(?! and)",
        re.I,
    ),
}
"""Sizes of attention in words: `head dim 128, 16 heads, batch 4, causal`."""

_OF_HEADS = deferred(r"\bheads?\b|\bH(?:_?q)? ?= ?[0-9]", re.I)

_LETTERS = deferred(
    r"\bB ?= ?(?P<batch>[0-9]+),? (?:[SNLT] ?= ?[0-9]+,? )?H ?= ?(?P<heads>[0-9]+)"
    r"(?:,? (?:[SNLT] ?= ?[0-9]+,? )?D ?= ?(?P<head_dim>[0-9]+))?\b"
)
"""The same in letters that stand together: `B=4, H=32, D=128`."""


OF_ATTENTION = {
    name: field for field, names in {
        "batch": "b z bs bsz batch batchsize nbatch",
        "heads": "h hq nh heads nheads numheads headsq qheads nhead numhead numqheads numqoheads"
        " nqheads",
        "kv_heads": "hkv hk headskv kvheads nheadskv numkvheads nkvheads kvhead numkeyvalueheads",
        "seq": "s n l t sq lq nctx ctx seq seqlen seqlenq seqlength sequencelength lenquery lenq"
        " qlen querylen seqq qseqlen lenqueries",
        "kv_seq": "skv sk lk lkv seqlenkv seqlenk nctxkv lenkv lenk kvlen klen keylen lenkey"
        " lenkeys seqkv seqk kvseqlen",
        "head_dim": "d dh hd dhead headdim hdim dim headsize dimhead",
    }.items() for name in names.split()
}  # fmt: skip
"""Sizes of attention by their letters and words, where those of heads, of a head and of a sequence
stand together."""

_RUN = deferred(
    r"(?<![\w=.-])(?:[A-Za-z_]{1,20} ?[=:] ?[0-9]{1,7}[kK]?(?!\w|\.\w)"
    r"(?:[,;/] ?| |(?=\W|$))){2,12}"
)

MOST_HEADS = 256
"""More than these are a width, where a letter stands beside that of one other size alone."""

_ONE_OF_RUN = re.compile(r"([A-Za-z_]+) ?[=:] ?([0-9]+[kK]?)")


def letters_of_attention(text: str) -> dict[str, str]:
    """The sizes of attention that letters or short names say which stand together, all of them
    such, those of heads and of a head or a sequence among them; none where two runs of them do.

    >>> letters_of_attention("H100, B=16 H=16 N=4096 D=128")
    {'batch': '16', 'heads': '16', 'seq': '4096', 'head_dim': '128'}
    >>> letters_of_attention("B=2, N=8, S=1024, D=64")  # N beside a length is one of heads
    {'batch': '2', 'heads': '8', 'seq': '1024', 'head_dim': '64'}
    >>> letters_of_attention("N=32, C=256, H=56, W=56"), letters_of_attention("M=8, N=8, D=4")
    ({}, {})
    """
    told = list[dict[str, str]]()
    for run in _RUN.findall(text) if "=" in text or ":" in text else ():
        pairs = [(OF_ATTENTION.get(name.replace("_", "").casefold(), ""), size)
                 for name, size in _ONE_OF_RUN.findall(run)]  # fmt: skip
        if [name for name, _ in pairs].count("seq") > 1 and "heads" not in dict(pairs):
            pairs = [("heads" if own in "nN" else name, size) for (name, size), (own, _)
                     in zip(pairs, _ONE_OF_RUN.findall(run), strict=True)]  # fmt: skip
        sizes = {name: str(int(n[:-1]) * 1024) if n[-1] in "kK" else n for name, n in pairs}
        whole = len(sizes) == len(pairs) and "" not in sizes and "heads" in sizes
        whole &= len(pairs) > len("hd") or (
            sizes.keys() == {"heads", "head_dim"} and int(sizes["heads"]) <= MOST_HEADS
        )
        told += [sizes] if whole and {"seq", "head_dim"} & sizes.keys() else []
    return told[0] if len(told) == 1 else {}


def sizes_named(text: str) -> Iterator[tuple[str, str]]:
    """Sizes of attention that a text says, by field."""
    alone = _D_ALONE.fullmatch(text) is not None
    text = in_letters(text)
    text = both_passes(_IN_BOLD.sub("", text) if "**" in text else text)
    of_letters = alone or _OF_HEADS.search(text) is not None
    for name, pattern in SIZES.items():
        for found in pattern.finditer(text):
            if name == "head_dim" and found[0][0] in "dD" and not of_letters:
                continue  # the width of something else
            told = next(filter(None, found.groups()), "")
            if name == "seq" and told[-1] in "kK":
                told = str(int(told[:-1]) * 1024)
            if name == "causal":
                if not _CALLED_WITH.search(text):
                    yield name, told.capitalize() if told in _SAID else str(not told)
            else:
                yield name, _AND.sub(" + ", told.replace(",", ""))
    yield from _in_a_tuple(text)
    yield from _explained(text)
    scans = () if of_letters else _LETTERS_OF_SCANS.finditer(text)
    heads = _LETTERS_OF_HEADS.finditer(text.replace("`", ""))
    together = letters_of_attention(text.replace("`", ""))
    yield from together.items()
    letters = () if together else _LETTERS.finditer(text)
    if not together and SIZES["head_dim"].search(text):
        yield from (("batch", size) for size in _B_ALONE.findall(text))
    for found in (*letters, *scans, *heads):
        yield from ((name, said) for name, said in found.groupdict().items() if said)


_LETTER_EXPLAINED = deferred(
    r"(?<![\w*/^] )(?<![\w.*/^])[A-Za-z](?:_?[A-Za-z]{1,4})?`? ?[=:] ?`?(?P<size>[0-9]{1,6})`?"
    r" ?[(\[](?:the |our )?"
    r"(?:(?P<kv_heads>(?:num(?:ber of)?[ _]?)?(?:kv|key[ /-]value)[ _-]?heads)"
    r"|(?P<heads>(?:(?:num(?:ber of)?|n|#)[ _]?)?(?:(?:query|attention|q)[ _-]?)?heads)"
    r"|(?P<head_dim>head[ _-]?(?:dim(?:ension)?s?|size)|dim(?:ension)? (?:of each|per) head)"
    r"|(?P<batch>batch(?:[ _-]?size)?)"
    r"|(?P<seq>(?:seq(?:uence)?|context)[ _-]?len(?:gth)?))[)\]]",
    re.I,
)
"""A letter with its size, and behind it in brackets what it stands for: `H=12 (num heads)`."""


def _explained(text: str) -> Iterator[tuple[str, str]]:
    """Sizes of attention whose letters a text explains behind them."""
    for found in _LETTER_EXPLAINED.finditer(text) if "=" in text or ":" in text else ():
        said = found.groupdict()
        size = str(said.pop("size"))
        yield from ((name, size) for name, words in said.items() if words)


_NAMED_TUPLE = deferred(
    r"[(\[](?P<names>[A-Za-z_]{1,16}(?: ?[,x×] ?[A-Za-z_]{1,16}){1,4})[)\]] ?(?:=|:|of|is)? ?"
    r"[(\[](?P<sizes>[0-9]{1,7}(?:(?:, ?| ?[x×] ?)[0-9]{1,7}){1,4})[)\]]"
    r"|[(\[](?P<first>[0-9]{1,7}(?:(?:, ?| ?[x×] ?)[0-9]{1,7}){1,4})[)\]] ?(?:=|:|as|is)? ?"
    r"[(\[](?P<behind>[A-Za-z_]{1,16}(?: ?[,x×] ?[A-Za-z_]{1,16}){1,4})[)\]]"
)
"""Sizes together, and their names together beside them: `(batch, hidden) = (8, 2048)`."""

_IN_TUPLES = {
    name: field for field, names in {
        "batch": "batch batchsize bs bsz",
        "seq": "seq seqlen sequence seqlength sequencelength",
        "hidden": "hidden hiddensize hiddendim dmodel embed embeddim",
        "heads": "heads nheads numheads", "head_dim": "headdim headsize dhead",
        "tokens": "tokens numtokens rows", "vocab": "vocab vocabsize",
    }.items() for name in names.split()
}  # fmt: skip
"""Sizes by words, of which no two mean the same."""


def _in_a_tuple(text: str) -> Iterator[tuple[str, str]]:
    """Sizes that a text says together, beside their names: all of them known words, or those of
    attention by letters."""
    for found in _NAMED_TUPLE.finditer(text) if "(" in text or "[" in text else ():
        names = re.split(r" ?[,×] ?| x ", found["names"] or found["behind"])
        sizes = re.split(r", ?| ?[x×] ?", found["sizes"] or found["first"])
        plainly = [name.replace("_", "").casefold() for name in names]
        told = [_IN_TUPLES.get(name, "") for name in plainly]
        letters = [OF_ATTENTION.get(name, "") for name in plainly]
        if {"heads", "seq", "head_dim"} <= {*letters}:
            told = letters
        if len(names) == len(sizes) and all(told) and len({*told}) == len(told):
            yield from zip(told, sizes, strict=True)


_IN_BOLD = re.compile(r"(?<!\S)\*\*(?=[A-Za-z])|(?<=[A-Za-z0-9:)])\*\*(?=[\s,;:.)]|$)")
"""Signs around words in bold, which no product has: `**Batch=4, SeqLen=512**`."""

_D_ALONE = deferred(r"\s{0,4}(?:#{1,6}|\*\*)\s{0,4}d ?= ?[0-9]{2,3}(?:\*\*)?[\s:]{0,4}", re.I)
"""A heading that says no more than the size of a head: `### d = 128`."""

_B_ALONE = deferred(r"(?<![\w.(])B ?= ?([0-9]{1,5})(?![\w.]|,[0-9])(?! ?[x×*/])")
"""How many sequences, in a text that says the size of heads in words: `head_dim 64, B = 2`."""

_AND = re.compile(r" (?:and|plus) ")

_CALLED_WITH = deferred(r"\w\([^()]*\bcausal ?=")
"""A call, whose argument is of whoever writes it so."""

_SAID = {"True", "False", "true", "false"}

_LETTERS_OF_SCANS = deferred(
    r"\bB ?= ?(?P<batch>[0-9]+),? (?:[LTS] ?= ?(?P<seq>[0-9]+),? )?D ?= ?(?P<hidden>[0-9]+)\b"
)
"""Sizes of operators without heads in letters: `B=8, D=1536`."""

_LETTERS_OF_HEADS = deferred(r"\bV ?= ?(?P<vocab>[0-9]{4,6}),? H ?= ?(?P<hidden>[0-9]{3,5})\b")
"""Sizes of the head of a model: `V=128256, H=4096`."""

_INCLUDED = deferred(r"\binclud(?:e|es|ing) (?:the )?backward(?: pass)?\b", re.I)


def both_passes(text: str) -> str:
    """A text with both passes where it says that one is included."""
    return _INCLUDED.sub("of fwd + bwd together", text) if "backward" in text else text


_SENTENCE = re.compile(r"(?<=[^\s.][.;!?])\s+(?=[A-Z0-9*`(])")

_AS_MANY = re.compile(
    r"\b(?:no|without|not) (?:GQA|MQA|grouped[- ]query)\b|\bplain MHA\b"
    r"|\b(?:n(?:um)?[_ ]?)?kv[_ -]heads ?={1,2} ?(?:n(?:um)?[_ ]?)?(?:q[_ -])?heads\b"
    r"|\bas many kv[- ]heads as\b",
    re.IGNORECASE,
)
"""Words for as many heads of keys and values as of queries: `no GQA`, `kv heads = heads`."""

_GROUPED = re.compile(r"\b(?:GQA|MQA|grouped[- ]query|multi[- ]query)\b", re.IGNORECASE)


def as_many_heads(lines: Sequence[Line], grid: Grid) -> Line | None:
    """The line above a table which says that keys and values have as many heads as queries, if no
    other there speaks of fewer."""
    above = lines[max(0, grid.begin - FAR) : grid.begin]
    near = [line for each in nearest_first(above) for line in each]
    told = [line for line in (*near, *around(above)) if len(line.text) <= LONGEST]
    told = [line for line in told if not ROW.match(line.text)]
    said = [line for line in told if any(map(_AS_MANY.search, own_sentences(line.text)))]
    fewer = any(_GROUPED.search(_AS_MANY.sub("", line.text)) for line in told)
    return said[0] if said and not fewer else None


_OF_OTHERS = re.compile(
    r"\b(?:peak|theoretical|for reference|compared? (?:to|with)|unlike|instead of|previous(?:ly)?"
    r"|earlier|divided by|multiplied by|FLOPs? (?:are|is)|not yet|todo|planned|could|would|should"
    r"|expect(?:ed)?|supports?|supported"
    r"|we train|trained|pre-?train(?:ed|ing)?|checkpoints?|weights|accuracy)\b",
    re.IGNORECASE,
)
"""Found in a sentence that speaks of other calls than those measured here."""

ROW = re.compile(
    r"\s*(?:\||<t|\([0-9]+(?:, ?[0-9]+)+\)  +[0-9]"
    r"|[0-9.]+(?:, ?[\w.]+){6}"
    r"|[0-9][0-9.,]*(?: ?[KMGT]i?B)?(?:\s*\|\s*|\s{2,})[0-9][0-9.,]*(?![0-9.,]*[):]))"
)
"""Beginning of a line of a table that stands above another."""

_BLAS = re.compile(r"(?<![A-Za-z])(?:cublas)?([SHD])GEMM(?![A-Za-z])", re.IGNORECASE)

_OF_BLAS = {"s": "fp32", "h": "fp16", "d": "fp64", "32": "fp32", "64": "fp64"}
"""Number formats by the first letter of a product's name in BLAS, or of single precision."""


_IN_WORDS = re.compile(
    r"\b([shd])(?:ingle|alf|ouble)[ -]precision\b|\b(32|64)[- ]bit[ -]float", re.IGNORECASE
)


_NARROW = re.compile(
    r"(?<![A-Za-z0-9])(?P<eight>(?:fp8_|float8_)?e[45]m[23](?:fn|fnuz)?)(?![A-Za-z0-9])"
    r"|(?<![A-Za-z0-9])(?:u?int[48]|w[48]a(?:8|16)|nf4)(?![A-Za-z0-9])",
    re.IGNORECASE,
)
"""Formats of eight bits and fewer under other names: whoever names one beside a wider format
multiplies in one of both."""


_OPTION = deferred(
    r"(?<!\S)(?:--(?:d?type|data[-_]?type|prec(?:ision)?|a_type)[ =]|-r (?=[a-z0-9]+_r\b))"
    r"(b?f(?:loat|p)?(?:16|32|64|8)|tf32|int8|half|float|double)(?:_r)?(?!\S)"
)
"""The option of a command that says the format of its calls."""

_SHORT = rf"(?:{NUMBER_FORMAT}|[fF](?:16|32|64)(?:_r)?|half|single|float|double)"
"""A number format, as languages and libraries of products call it too."""

_RESULT = deferred(
    rf"(?:->|→|=>) ?{_SHORT}(?![A-Za-z0-9])|(?<![A-Za-z0-9]){_SHORT}"
    r"[ -](?:out(?![\w-]| of)|(?i:a[ck]{2}(?:um\w*)?)(?![\w-]))"
    r"|(?i:\b(?:out(?:puts?)?|C/D|acc|accumulat\w+|accum)"
    rf"(?: (?:is|are|in|to|type|dtype))?)(?:: ?|[ =]){_SHORT}(?![A-Za-z0-9])"
    rf"|(?i:\bcompute(?:[_ ]?type)?)(?:: *|[ =]){_SHORT}(?=[,;)\]]|\s*$)"
)
"""The format of what calls give, or of what they sum up: `e4m3 x e4m3 -> bf16`."""

_LABELLED = deferred(
    r"(?i:(?<![\w-])(?<!mask )(?<!bias )(?<!scale )"
    r"(?:(?:in(?:put)?|data)?[ _-]?d?types?|precision)) ?[:=] *"
    r"(?P<one>half|single|float|double|[fF](?:16|32|64)(?:_r)?)(?![\w-])"
    r"(?! (?:the|of|a|as)\b| ?[x×*,/] ?(?!(?P=one))[A-Za-z])"
    r"|(?<![\w.-])(?P<two>[fF](?:16|32)) (?:in(?:puts?)?|x (?P=two))(?![\w-])"
)
"""The same behind a label, of both operands perhaps: `datatype: half x half -> half`."""

_UNLESS = re.compile(
    r"[,(]? ?\b(?:unless|except(?: (?:where|when|if|for|in))?)\b[^.;|]{0,80}", re.IGNORECASE
)
"""Words of a sentence on other calls than most: `bf16 unless the column says fp8`."""

_OF_A_PEAK = re.compile(
    rf"(?:'s|’s|\b(?:its|their|core|chip|device|card|GPU|theoretical|dense)) {NUMBER_FORMAT}"
    r"(?: (?:dense|tensor[- ]core|matrix))? peak\b|\w\(\)\.\w+"
)
"""Words on the most that a device can do in a format, which say nothing of the calls beside them;
or an attribute in a line of code: `info().bf16_ops_per_second`."""

_SPEAKS_OF_CHECKS = re.compile(r"tolerance|reference|check|ground truth|oracle", re.IGNORECASE)

_OF_A_CHECK = re.compile(
    rf"\b{NUMBER_FORMAT} (?:tolerances?|references?|ground truth|oracle)\b"
    rf"|\bcross-?check\w{{0,3}}\b[^.;|]{{0,40}}? {NUMBER_FORMAT}\b",
    re.IGNORECASE,
)
"""Words on what results were checked with, in a format of its own: `within fp16 tolerance`, `an
fp32 reference`."""

_OF_C = {"half": "fp16", "single": "fp32", "float": "fp32", "double": "fp64"}


@lru_cache(maxsize=2048)  # every table asks the lines above it, which tables share
def format_said(text: str) -> str | None:
    """The number format of calls that a text names, in words or by the name of a product too.

    >>> format_said("SGEMM at 4096"), format_said("Single precision everywhere")
    ('fp32', 'fp32')
    >>> format_said("E4M3 in, the output is BF16"), format_said("INT8 x INT8 to FP16")
    ('fp8', None)
    >>> format_said("e4m3 x e4m3 -> bf16"), format_said("./bench --dtype f16 --fp8_too")
    ('fp8', 'f16')
    >>> format_said("Precision: double"), format_said("type: f16 x f16, compute: fp32")
    ('fp64', 'f16')
    """
    text = _UNLESS.sub("", text) if "nless" in text or "xcept" in text else text
    text = _OF_A_PEAK.sub(" ", text) if "peak" in text or ")." in text else text
    text = _OF_A_CHECK.sub(" ", text) if _SPEAKS_OF_CHECKS.search(text) else text
    if option := _OPTION.search(text):
        return _OF_C.get(option[1], str(option[1]))
    text = _RESULT.sub(" ", text)
    if told := {one or two for one, two in _LABELLED.findall(text)}:
        word = told.pop().removesuffix("_r")
        return None if told or names_format(text) else _OF_C.get(word, word)
    letters = [*_BLAS.findall(text), *(one or bits for one, bits in _IN_WORDS.findall(text))]
    found = {_OF_BLAS[letter.casefold()] for letter in letters}
    named = format_named(text) or (found.pop() if len(found) == 1 else None)
    eights = [each["eight"] for each in _NARROW.finditer(text)]
    if not eights or (named and "8" in named and all(eights)):
        return named
    if names_format(text):
        return None
    of_title = HEADING.fullmatch(text) and not any(eights)
    words = {str(each[0]).casefold() for each in _NARROW.finditer(text)} if of_title else set()
    word = words.pop() if len(words) == 1 else ""
    if word == "int8" or word.startswith("w"):  # of weights and activations: `W4A16`
        return word
    return "fp8" if all(eights) else None


def narrow(text: str) -> bool:
    """Whether a text names a format of eight bits or fewer by another name than most."""
    return _NARROW.search(text) is not None


def _said(text: str) -> Sequence[tuple[str, str]]:
    """Settings that a line says; none of a row, nor of a figure, whose name is of its own calls."""
    of_others = len(text) > LONGEST or ROW.match(text) or names_figure(text)
    return () if of_others else _sentences(text)


CURVES = re.compile(rf"\s*{FIGURE}\s*")
"""The line that names a figure, above its numbers."""

_NAME_ALONE = deferred(r"[\s#*`]{0,8}[A-Za-z](?:[\w.=@+]{1,40}-){2,20}[\w.=@+]{1,40}[\s*`:]{0,4}")

_PART_OF_NAME = deferred(
    r"[-_](?:(?P<batch>batch|bs|b)|(?P<heads>(?:n|num[-_]?)?heads?|h)|(?P<head_dim>head[-_]?dim|hdim|d))"
    r"[=_]?[0-9]{1,6}(?![A-Za-z0-9])",
    re.IGNORECASE,
)


def names_figure(text: str) -> bool:
    """Whether a line is no more than the name of a figure, of attention without the unit behind it
    perhaps, as an author took it over: several sizes in it show what it is.

    >>> names_figure("### fused-attention-batch2-head16-d64-bwd"), names_figure("flash-attn-2-fwd")
    (True, False)
    """
    if CURVES.fullmatch(text) is not None:
        return True
    if text.count("-") < len(("name", "batch", "heads")) or not _NAME_ALONE.fullmatch(text):
        return False
    return len({found.lastgroup for found in _PART_OF_NAME.finditer(text)}) > 1


def own_sentences(text: str) -> list[str]:
    """The sentences of a line but for those that speak of other calls."""
    return [each for each in _SENTENCE.split(text) if not _OF_OTHERS.search(each)]


@lru_cache(maxsize=2048)  # every table asks the lines above it, which tables share
def _sentences(text: str) -> tuple[tuple[str, str], ...]:
    """Settings that the sentences of a line say of what was measured."""
    found = list[tuple[str, str]]()
    for sentence in own_sentences(text):
        if named := format_said(sentence):
            found.append(("dtype", named))
        found += sizes_named(sentence)
    return tuple(found)


_OWN = re.compile(
    r"\b(?:I|we)(?:['’]ve)? (?:ran|run|re-?ran|measured?|tested|benchmarked|tried|timed)\b"
    r"|\b(?:measured|benchmarked|timed|ran|run|tested|results|numbers) (?:\w+ )?(?:on|with|from)\b"
    r"|^\W*(?:box|machine|hardware|gpu|set-?up|system|device|card|host|test ?bed|environment) ?:"
    r"|\b(?:throughout|everywhere)\b",
    re.IGNORECASE,
)
"""Found in a sentence of an author who says where the numbers below come from."""


def of_own_calls(text: str) -> str:
    """The sentences of a long line in which its author says what was run; and nothing else."""
    told = [each for each in _SENTENCE.split(text) if _OWN.search(each)]
    return " ".join(each for each in told if not _OF_OTHERS.search(each))


def spelled(text: str) -> str:
    """A format or a direction as all its spellings have it.

    >>> spelled("BFloat16"), spelled("fwd + bwd"), spelled("forward"), spelled("FP-8")
    ('bf16', 'forwardbackward', 'forward', 'fp8')
    """
    plainly = re.sub(r"[^a-z0-9]|and", "", text.casefold()).replace("float", "f")
    plainly = re.sub(r"fwd", "forward", re.sub(r"bwd", "backward", plainly))
    return re.sub(r"^f(?=[0-9])", "fp", plainly)


def kept(said: dict[str, Cell], name: str, cell: Cell) -> None:
    """Put a way in which a field is said among the others; of two that mean the same, `H100` and
    `H100 80GB`, the one that says more."""
    device = only(cell.text) if name == "gpu" else None
    way = device.key + device.form if device else cell.text.casefold()
    way = spelled(cell.text) if name in ("dtype", "direction") else way
    if way not in said or (device and len(said[way].text) < len(cell.text)):
        said[way] = cell


_SET_UP = re.compile(
    r"\b(?:config(?:uration)?s?|set-?up|settings?|method(?:ology)?|conditions|test ?bed|commands?"
    r"|procedure|invocation)\b"
    r"|配置|环境|設定|環境",
    re.IGNORECASE,
)
"""Found in the heading of a section that speaks for those after it."""

_RULE = ("---", "***", "___")
"""Between the comments of a thread: what was said above one is of another author."""


def settings_around(lines: Sequence[Line], names: Sequence[str]) -> dict[str, Cell]:
    """Fields of some names that the text around the section of a table says, each in one way."""
    said: dict[str, dict[str, Cell]] = {}
    for line in around(lines):
        for name, text in _said(line.text):
            if name in names:
                cell = Cell(text, line.number, line.column, value_origin="stated")
                kept(said.setdefault(name, {}), name, cell)
    return {name: next(iter(ways.values())) for name, ways in said.items() if len(ways) == 1}


def around(lines: Sequence[Line]) -> Iterator[Line]:
    """The first lines below each heading around a table, the title of its document or that of a
    set-up before it, the nearest first; none of those above a rule between two comments."""
    lines = of_own_author(lines)
    depth, below = 8, list[Line]()
    begins = bool(lines) and lines[0].number < NEAR
    title = _title(lines) if begins else None
    own = next((lines[n] for n in range(len(lines) - 1, -1, -1) if is_heading(lines, n)), None)
    one_of_several = own is not None and _SET_UP.search(own.text) is not None  # `Config B`
    of_sections = title is not None and _rules_sections(lines)
    for at in range(len(lines) - 1, -1, -1):
        line = lines[at]
        if line.text.strip() in _RULE and at and not lines[at - 1].text.strip():
            if of_sections:
                continue
            return
        if not is_heading(lines, at):
            below.append(line)
            continue
        apart = depth_of(line) == depth and any(ROW.match(each.text) for each in below)
        of_all = line is title and not apart
        of_all |= (
            _SET_UP.search(line.text) is not None
            and not (apart and one_of_several)
            and not _of_another_section(lines, at, depth)
        )
        if depth_of(line) < depth or of_all:
            depth = min(depth, depth_of(line))
            yield line
            yield from reversed(below[-NEAR:])
        below = []
    yield from reversed(below[-NEAR:])


def _of_another_section(lines: Sequence[Line], at: int, depth: int) -> bool:
    """Whether a heading over a set-up stands inside a section beside the one that is looked around
    from, above a table of that section: it speaks for that one alone."""
    own = depth_of(lines[at])
    if own <= depth:
        return False
    around_it = next((depth_of(lines[n]) for n in range(at - 1, -1, -1)
                      if is_heading(lines, n) and depth_of(lines[n]) < own), 0)  # fmt: skip
    if around_it < depth:
        return False
    for n in range(at + 1, len(lines)):
        if is_heading(lines, n) and depth_of(lines[n]) <= around_it:
            break
        if ROW.match(lines[n].text):
            return True
    return False


_OF_A_COMMENT = re.compile(
    r"@|\b(?:comment(?:ed)?|wrote|repl(?:y|ied)|said|posted|asked|answer(?:ed)?|ago|post|re:)\b"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{2,4}",
    re.IGNORECASE,
)
"""Found in the heading of a comment of a thread, whose author or date it names."""


def _rules_sections(lines: Sequence[Line]) -> bool:
    """Whether every rule of a document stands right above the heading of a section, and none of
    these is that of a comment: they part sections, and no comments."""
    begun = 0
    for at, line in enumerate(lines):
        if line.text.strip() not in _RULE or not at or lines[at - 1].text.strip():
            continue
        after = next((n for n in range(at + 1, len(lines)) if lines[n].text.strip()), None)
        if after is None:
            continue
        text = lines[after].text
        if not is_heading(lines, after) or depth_of(lines[after]) in (1, 7):
            return False
        if _OF_A_COMMENT.search(text):
            return False
        begun += 1
    return begun > 1 or (begun == 1 and not any(_ONE_AUTHOR.search(line.text) for line in lines))


_ONE_AUTHOR = re.compile(r"\b(?:I|my|mine|we|our|ours|us|you|your|thanks?|hi|hello)\b", re.I)
"""Words of authors who speak for themselves, and after whom another may speak."""


def _title(lines: Sequence[Line]) -> Line | None:
    """The first heading, unless it is one of several as deep and has a table below it: that is
    of its own section."""
    at = next((n for n, line in enumerate(lines) if HEADING.fullmatch(line.text)), None)
    if at is None:
        return None
    of_section = False
    for line in lines[at + 1 :]:
        if HEADING.fullmatch(line.text):
            return None if of_section and depth_of(line) == depth_of(lines[at]) else lines[at]
        of_section |= line.text.lstrip().startswith(("|", "<t", "```"))
    return lines[at]


def depth_of(line: Line) -> int:
    """The signs in front of a heading; a line in bold stands deeper than all of them."""
    text = line.text.lstrip()
    return len(text) - len(text.lstrip("#")) or 7


def machine_around(lines: Sequence[Line]) -> dict[str, Cell]:
    """The one device that the text below the headings around a table names, or a section on the
    set-up before it, or the text in front of all headings; of several none."""
    lines = of_own_author(lines)
    depth, said = 7, dict[str, Cell]()
    below: list[Line] = []
    begins = bool(lines) and lines[0].number < NEAR
    title = _title(lines) if begins else None
    for place in range(len(lines) - 1, -2 if begins else -1, -1):
        line = lines[place] if place >= 0 else None
        if line is not None and not is_heading(lines, place):
            below.append(line)
            continue
        at = 0 if line is None else depth_of(line)
        of_all = line is not None and (
            line is title or of_set_up(line.text) or part_of_set_up(line.text.strip("# *"))
        )
        if at < depth or (of_all and at == depth):
            depth = at
            for each in below[-NEAR:]:
                named = device_named(each.text) if len(each.text) <= LONGEST else None
                if several(each.text):
                    return {}
                if named:
                    cell = Cell(named, each.number, each.column, value_origin="stated")
                    kept(said, "gpu", cell)
            if len(said) == 1:  # nearer than what the headings around say
                break
        below = []
    return {"gpu": next(iter(said.values()))} if len(said) == 1 else {}


_RULED = re.compile(r"\s*[-=]{2,} .*[A-Za-z].* [-=]{2,}\s*")
"""A title between rules: `---- Performance of all_gather on 16 devices ----`."""


TESTED = re.compile(r"\s*Operator: ([\w.-]+)\s")
"""A line that FlagGems writes above the calls of an operator."""


def own_title(lines: Sequence[Line], grid: Grid) -> list[list[Line]]:
    """The title of a comparison, or the caption of a table, as a line above it."""
    if grid.begin and TESTED.match(lines[grid.begin - 1].text):
        return [[lines[grid.begin - 1]]]
    if grid.series or not grid.caption:
        return [[lines[grid.begin]]] if grid.series else []
    return [[lines[grid.begin]._replace(text=grid.caption)]]


def _begin_of_output(lines: Sequence[Line]) -> int:
    """Where the last command was typed above a table, if it printed that below what another one
    did: the lines above are of other calls. 0 where nobody typed two."""
    typed: int | None = None
    if sum("$ " in line.text for line in lines) <= 1:
        return 0
    for at in range(len(lines) - 1, -1, -1):
        text = lines[at].text
        if text.lstrip().startswith(("```", "~~~")) or is_heading(lines, at):
            break
        if "$ " in text and _PROMPT.match(text):
            if typed is not None:
                return typed
            typed = at
    return 0


def opening_of(lines: Sequence[Line]) -> list[Line]:
    """The last sentence above a table, if it opens this: it ends with a colon."""
    near = lines[-NEAR:]
    at = next((n for n in range(len(near) - 1, -1, -1)
               if near[n].text.strip() and not _STYLED.fullmatch(near[n].text)), None)  # fmt: skip
    if at is None:
        return []
    drawn = any(_STYLED.fullmatch(line.text) for line in near[at + 1 :])
    text = near[at].text
    opens = text.rstrip().endswith((":", "：")) and len(text) <= LONGEST
    bare = not ROW.match(text) and not CURVES.fullmatch(text)
    if not (opens and bare and (drawn or len(near) - at <= OPENS)):
        return []
    return [near[at]._replace(text=_SENTENCE.split(text)[-1])]


OPENS = 2
"""Lines right above a table among which the one stands that opens it."""

_PROMPT = re.compile(r"\s{0,8}(?:\([\w.-]+\) )?(?:[\w.@~:/-]{1,40} ?)?\$ \S")
"""How a command begins that someone typed: below it stands what it printed."""

_WHOSE = re.compile(
    r"(?<!\S)--(?:impl(?:ementation)?|backend|provider|kernel|library"
    r"|att(?:entio)?n(?:[-_](?:impl(?:ementation)?|backend))?)"
    r"[ =](?!(?:all|both|none|auto|default|true|false)\b)([A-Za-z][\w.+-]*)"
    r"(?=\s+-|\s*(?:$|[|>&;#\\]))",
    re.IGNORECASE,
)
"""The option of a command that says the one who computes: `--impl triton`, none of several."""


def printed_by(lines: Sequence[Line], at: int) -> Cell | None:
    """Who computes, by an option of the command that printed a table from line `at` on: the last
    that was typed above it."""
    typed = next((line for line in reversed(lines[max(0, at - FAR) : at])
                  if "$ " in line.text and _PROMPT.match(line.text)), None)  # fmt: skip
    found = _WHOSE.findall(typed.text) if typed is not None and len(typed.text) <= LONGEST else []
    if typed is None or len(found) != 1:
        return None
    return Cell(found[0], typed.number, typed.column, value_origin="stated")


_ONLY = re.compile(
    r"(?:^|[.;:] |[*_(])(?:(?:Results|Numbers|Values|Times?) (?:for|of|with) )?"
    r"[`*\"]{0,3}(?!(?i:f(?:or)?w(?:ar)?d|b(?:ack)?w(?:ar)?d|(?:non-?)?causal|inference|training"
    r"|prefill|decod\w+|dense|sparse|weights?|activations?|kernels?|times?|bandwidth|latency"
    r"|intra\S*|inter\S*|nv\w+|pcie|linux|windows|[cg]pus?|[mg][hq]a|mla|\w*norm|softmax|attention"
    r"|gemms?|all\S*|reduce\S*|broadcast|this|these|the|one|rank\S*|first|last|single|selected"
    r"|median|mean|average|min|max|total|self|head\S*|large|small|rows?|columns?)\b)"
    r"([A-Z][\w.+-]{1,30})[`*\"]{0,3} only(?=[,.;:)*_ ]|\s*$)"
)
"""A sentence that begins with the one whom all calls are of: `Tessera only, values in TFLOP/s`."""


def named_alone(lines: Sequence[Line], at: int) -> Cell | None:
    """Who alone computes what a table from line `at` on is of, as the paragraph right above says
    it, and whose name is that of a column or a row elsewhere."""
    above = list(lines[max(0, at - NEAR) : at])
    while above and (not above[-1].text.strip() or above[-1].text.lstrip().startswith("..")):
        above.pop()
    for line in reversed(above):
        if not line.text.strip() or len(line.text) > LONGEST or ROW.match(line.text):
            break
        for name in _ONLY.findall(line.text):
            cell = re.compile(
                rf"(?:^|\||\s{{2}}|[-*>,] ?)[ *`\"]{{0,3}}{re.escape(name)}[ *`\"]{{0,3}}"
                r"(?:\(|\||\s{2}|,|<|$)"
            )
            if not names_format(name) and only(name) is None and any(
                cell.search(each.text) for each in lines if name in each.text and each is not line
            ):  # fmt: skip
                return Cell(name, line.number, line.column, value_origin="stated")
    return None


_STYLED = re.compile(
    r"\s*(?:</?(?:div|style)\b[^<>]{0,80}>|\.dataframe [^{}]{0,80}\{|[a-z-]{1,30}: [a-z-]{1,30};"
    r"|\})\s*"
)
"""A line of how a page draws a data frame, which says nothing."""


def nearest_first(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """The lines right above a table down from its heading, then each heading around that."""
    lines = own_post(lines)
    if (named := figure_above(lines)) is not None:
        yield [named]
    elif lines and _RULED.fullmatch(lines[-1].text):
        yield [lines[-1]]
    near: list[Line] = []
    at = len(lines) - 1
    begin = _begin_of_output(lines)
    while at >= begin and len(near) < NEAR and not (near and is_heading(lines, at + 1)):
        if not (CURVES.fullmatch(lines[at].text) or _STYLED.fullmatch(lines[at].text)):
            near.append(lines[at])
        at -= 1
    table = next((n for n, line in enumerate(near) if ROW.match(line.text)), None)
    if table:  # between a table above and this one
        yield near[:table]
        own = any("_perf" in line.text or _TYPED.match(line.text) for line in near[:table])
        near = [line for line in near[table:] if not ROW.match(line.text)]
        near = [line for line in near if not (own and _TYPED.match(line.text))]
    yield near
    depth = next((depth_of(line) for line in near if HEADING.fullmatch(line.text)), 7)
    for place in range(at, -1, -1):
        if is_heading(lines, place) and depth_of(lines[place]) < depth:
            depth = depth_of(lines[place])
            yield [lines[place]]


_PRODUCTS = deferred(
    r"gemm(?!v)|(?<![A-Za-z])mat-?mul|matrix[ -](?:multipl|mul|product)|矩阵乘|(?:cu|roc|hip)blas"
    r"|cutlass|torch\.mm\b",
    re.I,
)

_NO_PRODUCTS = deferred(
    r"gemv|spmm|spmv|sparse|transpos|attention|conv(?:olution|[123]d)|trsm|syrk|potrf|cholesky|fft"
    r"|top-?k\b|稀疏|转置",
    re.I,
)
"""Other things that are done with matrices of a size."""

_LETTERS_OF_PRODUCTS = deferred(
    r"(?<![A-Za-z0-9_.=])(?<!= )((?:[MNK] ?= ?){1,3}|(?:[mnk] ?= ?){1,3})"
    r"([0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,6}|[0-9]{1,3}[kK])(?!\w|[.,][0-9]| ?[x×*/])"
    r"|(?<![\w-])--?([mnkMNK])[ =]([0-9]{2,6})(?![\w.])"
)
"""Letters with a size: `M = N = 8192`, `K=4096`, and options of a command."""

_OF_MATRICES = deferred(
    r"\bmatri(?:x|ces)(?: of)?(?: (?:size|dimension)s?)?(?: of)?:? ?"
    r"([0-9]{2,6})(?: ?[x×*] ?(?:\1))(?: ?[x×*] ?(?:\1))?(?!\w|\.[0-9]| ?[x×*])"
    r"|(?<![\w.])([0-9]{2,6})(?: ?[x×*] ?(?:\2))(?: ?[x×*] ?(?:\2))?"
    r" (?:[A-Za-z]\w* )?matri(?:x|ces)\b"
    r"|矩阵(?:的)?(?:维度|大小|规模|尺寸|size)?(?:为|是)?\s*[:：=]?\s*"
    r"([0-9]{2,6})(?: ?[x×*] ?\3)*(?!\w|\.[0-9]| ?[x×*]|\s?[~～–—、,，到至-]\s?[0-9])"
    r"|(?<![\w.×])([0-9]{2,6})(?:³|\^3| cubed)(?!\w)"
    r"|(?<![A-Za-z0-9_.])([0-9]{3,6}) ?[x×*] ?(?:\5) ?[x×*] ?(?:\5)(?!\w|\.[0-9]| ?[x×*])",
    re.IGNORECASE,
)
"""Square matrices of a size: `at matrix size 4096x4096`, `2048x2048 matrices`, `矩阵维度 4096`,
`4096³`; or all three sizes of a product of such."""


def names_products(text: str) -> bool:
    """Whether a text speaks of products of matrices, and of nothing else that is done with them."""
    return _PRODUCTS.search(text) is not None and _NO_PRODUCTS.search(text) is None


def of_products(lines: Sequence[Line], grid: Grid) -> bool:
    """Whether the labels of a table, the lines above it or the headings around it speak of products
    of matrices, and of nothing else that is done with them."""
    near = [line.text for each in nearest_first(lines[max(0, grid.begin - FAR) : grid.begin])
            for line in each]  # fmt: skip
    texts = [text for text in (*grid.header(), *near) if len(text) <= LONGEST]
    return any(map(_PRODUCTS.search, texts)) and not any(map(_NO_PRODUCTS.search, texts))


def _by_product_libraries(grid: Grid) -> bool:
    """Whether a name in the first column of a table is that of a library which computes products:
    rows of calls that `cuBLAS` and whoever else made."""
    names = [plain(row.cells[0].text) for row in grid.rows if len(row.cells) == grid.width]
    names = [name for name in names if len(name) <= LONGEST]
    return any(map(_PRODUCTS.search, names)) and not any(map(_NO_PRODUCTS.search, names))


_SQUARE = deferred(
    r"\b[Ss]quare\b|\b([MNKmnk]) ?= ?(?!\1)([MNKmnk]) ?= ?(?!\1|\2)[MNKmnk]\b"
    r"|\b[Nn] ?[x×*] ?[Nn]\b|方阵"
)


_CHAIN = deferred(r"(?<![\w-])([MNK]) ?= ?(?!\1)([MNK]) ?= ?(?!\1|\2)[MNK](?![\w-])")
"""The three sizes of a product that are one, which nothing else has: `M=N=K`."""


def of_squares_alone(lines: Sequence[Line], grid: Grid) -> bool:
    """Whether the text above a table is about products, and says that they are square."""
    near = [line.text for each in nearest_first(lines[max(0, grid.begin - FAR) : grid.begin])
            for line in each]  # fmt: skip
    if any(map(_CHAIN.search, near)) and not any(map(_NO_PRODUCTS.search, near)):
        return True
    return of_products(lines, grid) and any(map(_SQUARE.search, near))


_OF_SPECS = deferred(
    r"\b(?:peak|theoretical|spec(?:ification)?s?|spec ?sheets?|data ?sheets?|advertised|vendor"
    r"|promised|rated|nominal|claimed)\b",
    re.IGNORECASE,
)


def product_above(lines: Sequence[Line], grid: Grid, letters: str) -> dict[str, Cell]:
    """Sizes of some letters that all products of a table have, as the nearest text above says them:
    one line all of them, or each line its own."""
    squares = letters == "mnk" and (of_products(lines, grid) or _by_product_libraries(grid))
    nearest = nearest_first(lines[max(0, grid.begin - FAR) : grid.begin])
    first = [lines[grid.begin]._replace(text=plain(grid.header()[0].replace("³", "^3")))]
    for place, near in enumerate((first, *own_title(lines, grid), *nearest)):
        titles = [line.text for line in near if not place or HEADING.fullmatch(line.text)]
        if any(map(_OF_SPECS.search, titles)):
            return {}  # what a maker promises is of no product
        told = [(sizes, line) for line in near if len(line.text) <= LONGEST
                for sizes in _products_in(line.text, squares=squares)]  # fmt: skip
        whole = {tuple(sizes[x] for x in letters) for sizes, _ in told if {*sizes} == {*letters}}
        said = {name: {sizes[name] for sizes, _ in told if name in sizes} for name in letters}
        if len(whole) > 1 or any(len(ways) > 1 for ways in said.values()):
            return {}
        if all(said.values()):
            return {
                name: Cell(sizes[name], line.number, line.column, value_origin="stated")
                for sizes, line in told for name in sizes if name in letters
            }  # fmt: skip
        if any(said.values()):
            return {}
    return _product_around(lines[max(0, grid.begin - FAR) : grid.begin], letters)


def _product_around(above: Sequence[Line], letters: str) -> dict[str, Cell]:
    """Sizes of some letters, not of all three, that one line of the text below the headings around
    a table says, and no other line there says in another way."""
    ways = dict[tuple[str, ...], dict[str, Cell]]()
    for line in around(above) if 0 < len(letters) < len("mnk") else ():
        if len(line.text) > LONGEST or ROW.match(line.text):
            continue
        for sizes in _products_in(line.text, squares=False):
            if not {*letters} & {*sizes}:
                continue
            way = tuple(sizes.get(x, "") for x in letters)
            ways[way] = {
                name: Cell(sizes[name], line.number, line.column, value_origin="stated")
                for name in letters if name in sizes
            }  # fmt: skip
    (only_one,) = ways.values() if len(ways) == 1 else ({},)
    return only_one if len(only_one) == len(letters) else {}


_TOKENS_OF_ALL = deferred(
    r"\b(?:batch(?:[ _-]?size)?|bs|B) ?[×x*·] ?(?:seq(?:uence)?(?:[ _-]?len(?:gth)?)?|[SNLT])`? ?"
    r"(?:=|:|is|to|at|stays(?: at)?|(?:is |are )?(?:fixed|kept|held|constant)(?: constant)?"
    r"(?: at| to)?)"
    r" ?(?P<product>[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,7}[kK]?)(?![\w.,]*[0-9]| ?[x×*/])"
    r"|\btotal (?:number of )?tokens(?: per (?:batch|call))?,? ?(?:=|:|of|is|at|to|stays(?: at)?"
    r"|(?:is |are )?(?:fixed|kept|held|constant)(?: constant)?(?: at| to)?)"
    r" ?(?P<total>[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,7}[kK]?)(?![\w.,]*[0-9]| ?[x×*/])"
    r"|\bbatch(?:[ _-]?size)? (?:is |was )?(?:chosen|set|adjusted|scaled|picked|varied)"
    r"[^.;|]{0,40} (?P<kept>[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,7}[kK]?) tokens\b",
    re.I,
)
"""The tokens of every call of attention, whatever their length: `batch × sequence = 16384`,
`batch size set so that the total number of tokens is 16k`."""


def tokens_of_all(lines: Sequence[Line], grid: Grid) -> Cell | None:
    """The tokens that the nearest text above a table says all its calls to be of, in one way."""
    for near in nearest_first(lines[max(0, grid.begin - FAR) : grid.begin]):
        prose = [line for line in near if len(line.text) <= LONGEST and not ROW.match(line.text)]
        text = " ".join(line.text.strip() for line in sorted(prose, key=lambda each: each.number))
        told = {next(filter(None, each.groups())) for each in _TOKENS_OF_ALL.finditer(text)}
        if told:
            return Cell(_in_full(told.pop()), prose[0].number, 1) if len(told) == 1 else None
    return None


def _in_full(size: str) -> str:
    """A size of a matrix in digits; of a thousand of them as powers of two are called.

    >>> _in_full("8,192"), _in_full("8K")
    ('8192', '8192')
    """
    if size[-1:] in ("k", "K"):
        return str(int(size[:-1]) * 1024)
    return size.replace(",", "")


_OF_EXPERTS = deferred(
    r"\btop[_-]?k`? ?[=:] ?[0-9]|\bE ?= ?[0-9]|\b(?:num[_-]?|n[_-]?)?experts`? ?[=:] ?[0-9]"
    r"|(?<![\w.])[0-9]{1,4} experts\b"
)
"""Found where calls are of several experts, whose products are not all of one size."""


def _products_in(text: str, *, squares: bool) -> Iterator[dict[str, str]]:
    """The sizes that sentences of a line say, by letter; none of one that says a letter twice, nor
    of one on layers of experts, which are several products: `E=64, N=1408, K=2048, top_k=6`."""
    for sentence in own_sentences(text):
        if _OF_EXPERTS.search(sentence):
            continue
        sizes = dict[str, set[str]]()
        for chain, size, option, of_option in _LETTERS_OF_PRODUCTS.findall(sentence):
            for letter in re.findall("[mnk]", chain.casefold()) or [option.casefold()]:
                sizes.setdefault(letter, set()).add(_in_full(size or of_option))
        if sizes and all(len(each) == 1 for each in sizes.values()):
            yield {name: each.pop() for name, each in sizes.items()}
        found = {next(filter(None, each.groups())) for each in _OF_MATRICES.finditer(sentence)}
        if squares and not sizes and len(found) == 1:
            yield dict.fromkeys("mnk", found.pop())
