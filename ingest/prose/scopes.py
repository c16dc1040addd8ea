"""Settings that a sentence gives some rows, others otherwise, by models, sizes or devices.

In: a sentence. Out: `Scoped` values: a field, its value, and the name of the rows that have it:
`7B`, `Llama-3.1 8B`, `H100`, or all models of a range (`up to 2.7B`, `from 30B`). A sentence is
understood where values and names take turns: `checkpointing off for 1B and 3B and on for 7B`,
`models up to 2.7B run without recomputation, 6.7B with selective recomputation`; else it gives
nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from typing import NamedTuple

from assay.ingest.columns.number_formats import of_products
from assay.ingest.schema.terminals import deferred
from assay.ingest.vocabulary.devices import devices
from assay.ingest.vocabulary.languages import in_english
from assay.ingest.vocabulary.terms import NUMBER_FORMAT

_SIZE = r"[0-9]+(?:\.[0-9]+)? ?[BMT]"

_NAMED = (
    rf"(?:\b[A-Z][\w.+]*[- ](?:[0-9.]{{1,4}}[- ])?)?(?<![0-9.,]){_SIZE}(?![A-Za-z0-9_/%])"
    r"(?:-[A-Za-z][\w-]{0,12})?"
)

_ONE = deferred(rf"(?:the |our |both )?(?:{_NAMED})(?: (?:models?|runs?|one)\b| ?(?:的?模型))?")

_AROUND_NAME = re.compile(
    r"^(?:the|our|both) | (?:models?|runs?|one)$| ?(?:的?模型)$", re.IGNORECASE
)

_RANGE = deferred(
    r"(?P<most>(?:up to|≤|<=|not (?:larger|bigger) than|at most) ?(?:and including )?)(?:the )?"
    rf"({_SIZE})\b"
    rf"|(?P<under>(?:below|under|<|(?:smaller|less) than) ?)(?:the )?({_SIZE})\b"
    r"|(?P<least>(?:from|≥|>=|at least|starting (?:at|from)) ?)(?:the )?"
    rf"({_SIZE})\b(?: (?:on|upwards?|up))?"
    r"|(?P<over>(?:above|over|(?<![-=])>|beyond|(?:larger|bigger|more) than) ?)(?:the )?"
    rf"({_SIZE})\b"
    rf"|(?:the )?({_SIZE}) and (?:(?P<up>above|larger|bigger|up|over|upwards?)"
    r"|(?P<down>below|smaller|under))\b",
    re.IGNORECASE,
)

_OF = {"most": "up to", "under": "below", "least": "from", "over": "above", "up": "from",
       "down": "up to"}  # fmt: skip

_BETWEEN = deferred(
    r"\s*(?:,|,? and|,? or|&|/|,? as well as|[、，和与及或])\s*(?:the |for |on |with )?$",
    re.IGNORECASE,
)
"""Between the names of one list."""

_AGAIN = r"(?:re-?comput\w*|check-?point\w*|remat(?:eriali[sz]\w+)?|ckpt|AC\b)"

_KIND = r"(?:(?:activation|gradient|act\.|grad\.) ?)?"

_AGAIN_IN_CHINESE = r"(?:激活值?|梯度|全量|完全|全部?|选择性)?(?:重计算|检查点)"

_FORMAT = (
    rf"(?:(?:pure |plain )?{NUMBER_FORMAT})"
    r"(?![\w-]*/| (?:master|weights?|grad|optim|states?|accum|reduc))"
)

_VALUES = deferred(
    r"(?P<not>(?:不|未|没有?|无需?|关闭)(?:再|需要?|必)?(?:开启|启用|使用|打开|用|做|开)?了?\s?"
    rf"{_AGAIN_IN_CHINESE}|(?:则|都|均)?(?:没有?|未|不)(?:开启|启用|使用|打开|用|开)?(?=\s*(?:[,，.。;；)）]|$)))"
    r"|(?P<some>选择性(?:激活值?)?重计算)|(?P<whole>(?:全量|完全|全部?)(?:激活值?)?重计算)"
    rf"|(?P<turned>(?:开启|启用|使用|打开|采用)了?\s?{_AGAIN_IN_CHINESE})"
    rf"|(?P<none>\b(?:without|no|w/o)(?: any)? {_KIND}{_AGAIN}"
    r"|\bwithout(?: it| any)?(?=\s*(?:[,;.)]|$|and\b))"
    r"|\b(?:do|does|did|is|are|was|were|ha[sd]|have)(?: not|n['’]t)(?: (?:use|need)(?: it| any)?)?"
    r"(?=\s*(?:[,;.)]|$))"
    rf"|\b{_KIND}{_AGAIN} (?:is |was |turned )?(?:off|disabled)\b)"
    rf"|(?P<selective>\bselective(?:ly|_ac\w{{0,20}})?(?: {_KIND}{_AGAIN})?)"
    rf"|(?P<full>\bfull {_KIND}{_AGAIN}"
    r"|\b(?:re-?comput\w*|check-?point\w*)(?: of)? (?:every|each|all) (?:layers?|blocks?)"
    r"|\b(?:every|each) (?:layer|block) (?:is |was )?(?:re-?computed|check-?pointed)"
    r"|\bfull\b(?! (?:batch|node|size)))"
    r"|(?P<used>\b(?:uses?|used|using|with|enables?|enabled|appl(?:y|ies|ied)|needs?|needed"
    r"|requires?|required) (?:activation|gradient) (?:check-?pointing|re-?computation)\b"
    r"|(?:^|(?<=[,;:(*-] ))(?:(?:activation|gradient) check-?pointing"
    r"|(?:(?:activation|gradient) )?re-?computation)(?= (?:only )?(?:for|on|in|with) ))"
    r"|(?P<on>\b(?:on|enabled)\b ?(?:\((?P<every>[^()]*(?:every|each|all|full)[^()]*)\))?"
    r"(?= (?:for|on|in|with)\b|[.;,]|$))"
    r"|(?P<off>\b(?:off|disabled|none|unused|not used)\b"
    r"(?= (?:for|on|in|with|except|apart|other)\b|[.;,)]|$))"
    r"|(?P<key>\b(?:TP|PP|CP|DP|EP|VPP?|MBS|GBS|GAS?|ZeRO(?:[ -]stage)?"
    r"|(?:micro|global)[ -]?batch(?:es)?(?:[ -]sizes?)?|(?:sequence|context)[ -]lengths?"
    r"|(?:tensor|pipeline|expert|context|data)[ -]parallel(?:ism|[ -](?:size|degree)s?)))"
    r"(?: ?[=:-] ?| of (?:degree |size )?| ?[为是] ?| (?:is|was|are|were)(?: set| kept| fixed)?"
    r"(?: to| at)? | )?(?P<many>[0-9]{1,3}(?:,[0-9]{3})+"
    r"|[0-9]{1,7})"
    r"(?![A-Za-z0-9_]|[.,]?[0-9])"
    r"|\bof (?:degree|size) (?P<again>[0-9]{1,4})\b"
    r"|(?:\b(?:and|to|with|at|uses?|of|in|is) |, )(?P<next>[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,7})"
    r"(?= (?:for|on|in|with) (?!all|each|every|the same)|\s*(?:[;,()]|\.(?![0-9])|$))"
    r"|(?<![\w.,])(?<!\bof )(?P<count>[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,6})[ -](?P<noun>layers"
    r"|heads|blocks|(?:GPUs|nodes|(?<=\b1[ -])(?:GPU|node)(?![ -]nodes?))(?! (?:each|apiece)\b))\b"
    rf"|(?<![\w-])(?P<format>{_FORMAT})(?![\w-])",
    re.IGNORECASE,
)

KEYS = {"tp": "tp", "pp": "pp", "cp": "cp", "dp": "dp", "ep": "ep", "vp": "vp", "vpp": "vp",
         "mbs": "micro_batch", "gbs": "global_batch", "ga": "accumulation", "gas": "accumulation",
         "layers": "layers", "blocks": "layers", "heads": "heads", "gpus": "gpus",
         "nodes": "nodes", "gpu": "gpus", "node": "nodes",
         "zero": "zero_stage", "zerostage": "zero_stage",
         "microbatch": "micro_batch", "microbatches": "micro_batch",
         "globalbatches": "global_batch", "microbatchsize": "micro_batch",
         "globalbatch": "global_batch", "globalbatchsize": "global_batch",
         "sequencelength": "seq_len", "contextlength": "seq_len", "tensorparallelism": "tp",
         "pipelineparallelism": "pp", "expertparallelism": "ep", "contextparallelism": "cp",
         "dataparallelism": "dp"}  # fmt: skip
"""Fields by the words that name them, without blanks and strokes."""

_WORTH = deferred(
    rf"{_AGAIN}|\b(?:TP|PP|CP|DP|EP|VPP?|MBS|GBS|GAS?|ZeRO)"
    r"(?: ?[=:-] ?| ?[为是] ?| (?:(?:is|are|was|of|stage) )?)?"
    r"[0-9]|[0-9][ -](?:layers|heads|GPUs?|nodes?)|重计算|检查点|batch|length"
    r"|parallel(?:ism|[ -](?:size|degree)s?) (?:of|is|are|was)\b"
    r"|(?:bf|fp|float)-?(?:16|8|32)|[0-9] ?[机卡]",
    re.IGNORECASE,
)
"""In every sentence that may give such a value."""

_SPEAKS_OF_IT = deferred(rf"{_AGAIN}|重计算|检查点", re.IGNORECASE)

_OF_RUNS = ("gpus", "nodes", "dtype", "micro_batch", "global_batch", "seq_len", "zero_stage")
"""Fields that a sentence may give without a run: what a model needs, what a device can."""

_MAY_RUN = deferred(
    r"\b(?:supports?|supported|can|could|would|should|may|might|fits?|needs?|needed|requires?"
    r"|required|recommend\w*|suggest\w*|minimum|at least|at most|compared|than|vs|versus|peak"
    r"|twice|evaluat\w+|inference|serv(?:ed|ing)|faster|slower|speed-?up|capab\w+|TFLOPS?|cheaper"
    r"|costs?|if|when|scal\w+ (?:from|to))\b"
    r"|[0-9.] ?[x×](?![0-9A-Za-z ])|支持|需要|至少|峰值|相比|推荐|建议",
    re.IGNORECASE,
)
"""Words of a sentence whose numbers are perhaps of no run."""

_GIVEN_TO = deferred(
    r"(?:\b(?:for|on|at|in|with|of)|\() ?(?:all |the |our |both |models? )*$", re.IGNORECASE
)
"""Before the names of those that have a value said in front of them."""

_EXCEPT = deferred(
    r"\b(?:except|apart from|other than|besides|but not|with the exception)(?: for| on| at| of)?"
    r"(?: the)? ?$",
    re.IGNORECASE,
)


_ABLE = deferred(
    r"\b(?:enables?|allows?|supports?|recommend\w*|suggest\w*|could|would|should|planned"
    r"|(?:can|may|might|must) be)\b",
    re.IGNORECASE,
)
"""Words of a sentence about what may be done, and not about runs."""


OTHERS = "the others"
"""The name of all rows that a sentence does not name, in one that names some."""


class Scoped(NamedTuple):
    """A field, its value, and the name of the rows that have it; none of all the others."""

    field: str
    value: str
    rows: str


class _Token(NamedTuple):
    """Names or values of a sentence, and where they stand."""

    begin: int
    end: int
    names: tuple[str, ...] = ()
    values: tuple[tuple[str, str], ...] = ()


def scoped(text: str, models: Iterable[str] = ()) -> list[Scoped]:
    """Settings that a sentence gives some rows, and others otherwise; `models` are those of rows,
    by which it may name them as well.

    >>> [tuple(each) for each in scoped("Checkpointing is off for 1B and 3B and full for 7B.")]
    [('recompute', 'none', '1B'), ('recompute', 'none', '3B'), ('recompute', 'full', '7B')]
    >>> [each[1:] for each in scoped("Models up to 2.7B run without recomputation, 13B selective.")]
    [('none', 'up to 2.7B'), ('selective', '13B')]
    >>> [tuple(each) for each in scoped("We run it with EP 8, TP 1, PP 4 (H100) or PP 2 (B200).")]
    [('pp', '4', 'H100'), ('pp', '2', 'B200')]
    >>> [each[1:] for each in scoped("Recomputation is off for 1B and on for the others.")]
    [('False', '1B'), ('True', 'the others')]
    >>> [each[1:] for each in scoped("Runs on A100 took one node, those on H100 two nodes.")]
    [('1', 'A100'), ('2', 'H100')]
    >>> [tuple(each) for each in scoped("AMP is fp16 on V100 and bf16 on A100.")]
    [('dtype', 'fp16', 'V100'), ('dtype', 'bf16', 'A100')]
    >>> [tuple(each) for each in scoped("On V100 we train in fp16, on the others in bf16.")]
    [('dtype', 'fp16', 'V100'), ('dtype', 'bf16', 'the others')]
    >>> [each[1:] for each in scoped("7B 不开启重计算，13B 和 70B 开启全重计算")]
    [('none', '7B'), ('full', '13B'), ('full', '70B')]
    >>> scoped("The 70B needs TP 8 on H100."), scoped("We use TP 8.")
    ([], [])
    >>> [each[1:] for each in scoped("7B 打开了完全重计算，1B 没有。")]
    [('full', '7B'), ('none', '1B')]
    >>> [each[1:] for each in scoped("Full recomputation was on for 7B and off for the rest.")]
    [('full', '7B'), ('none', 'the others')]
    >>> said = scoped("The sequence length is 2048 for T5 and 512 for BERT.", ["T5", "BERT-Large"])
    >>> [tuple(each) for each in said]
    [('seq_len', '2048', 'T5'), ('seq_len', '512', 'BERT-Large')]
    """
    text = of_products(text)
    plain = in_english(text).text
    models = tuple(models) if _WORTH.search(text) else ()
    found = _scoped(text, models) or (_scoped(plain, models) if plain != text else [])
    if not found and ";" in text:  # clauses of their own
        found = [each for clause in text.split(";") for each in _scoped(clause, models)]
    return found


WHOSE = ("gpu", "model", "model_size")
"""Fields by which a sentence says whose settings it gives."""


def _scoped(text: str, models: Sequence[str] = ()) -> list[Scoped]:
    """The same of a sentence in English, or in Chinese."""
    text = _in_digits(text) if _OF_MACHINES.search(text) else text
    text = _with_the_rest(text)
    if _IN_SAME_ORDER.search(text):
        text = _respectively(text)
    elif _IN_TURN.search(text):
        text = _LISTS.sub(_each_with_its_own, text)
    if apart := _APART.match(text):
        return _but_for_those(apart, models)
    if _ABLE.search(text):
        return []
    if _WORTH.search(text):
        tokens = _joined(sorted([*_values(text), *_names(text, models)]), text)
        if found := _in_turn(tokens, text):
            return found
    if _RAN_ON.search(text) and (ran := list(_machines(text))) and not _MAY_RUN.search(text):
        return _in_turn(_joined(sorted([*ran, *_models(text, models)]), text), text)
    return []


_HAVE = (
    r"(?=,? (?:uses?|used|runs?|ran|ha[sd]|have|are|were|gets?|we|with|at|on|TP|PP|ZeRO|[0-9])\b)"
)

_BEYOND_IT = (
    r"(?:\b(?:every|any)thing (?:above|beyond|larger|bigger|over (?:that|this)|below|smaller)\b"
    rf"|\ball (?:above|below|beyond){_HAVE}"
    r"|\b(?:(?:all|the|our|for|any) ){0,2}(?:larger|bigger|smaller)"
    rf"(?: (?:ones?|models?|sizes|runs))?{_HAVE})"
)

_OPENS_BEYOND = deferred(rf"\W*(?:(?:and|but|while) )?{_BEYOND_IT}", re.IGNORECASE)


def is_beyond(clause: str, text: str) -> bool:
    """Whether a clause of a text is of the models beyond a size that the text names.

    >>> is_beyond("everything above uses TP 4", "Up to 3B we use TP 1; everything above uses TP 4")
    True
    >>> is_beyond("Everything above uses TP 4", "Everything above uses TP 4")
    False
    """
    return _OPENS_BEYOND.match(clause) is not None and _RANGE.search(text) is not None


_BEYOND = deferred(
    rf"{_BEYOND_IT}|\beverything else\b|\b(?:beyond|above|below|over|under)(?: (?:that|this|it))?"
    r"(?=,? (?:TP|PP|ZeRO|we|it is|[0-9]))"
    r"|\b(?:and |all )?(?:the )?(?:others?|rest|remaining ones)(?: (?:ones|models|runs))?\b"
    r"|\botherwise\b",
    re.IGNORECASE,
)
"""All models that are not of the range which stands in front."""

_BESIDE = {"up to": "above", "below": "from", "from": "below", "above": "up to"}

_NO_MODELS = re.compile(
    rf" ?(?:tokens|samples|sequences|images|words)\b| ?(?:to|through|[-–—]) ?(?:{_SIZE})"
)


def _with_the_rest(text: str) -> str:
    """A sentence on a range of models and on what is beyond, with that by its sizes.

    >>> [each[1:] for each in scoped("Up to 13B we use TP 1; beyond that TP 4.")]
    [('1', 'up to 13B'), ('4', 'above 13B')]
    """
    found = list(_RANGE.finditer(text))
    if len(found) != 1 or _NO_MODELS.match(text, found[0].end()):
        return text
    rest = list(_BEYOND.finditer(text, found[0].end()))
    if len(rest) != 1 or len(_ONE_NAME.findall(text)) != 1:
        return text
    kind, size = _range_of(found[0])
    words = f"models {_BESIDE[kind]} {size}"
    return f"{text[: rest[0].start()]}{words}{text[rest[0].end() :]}"


_ONE_NAME = deferred(_NAMED)


def _range_of(found: re.Match[str]) -> tuple[str, str]:
    """The kind of a range, and the size that it begins or ends with."""
    size = next(filter(None, (found[n] for n in (2, 4, 6, 8, 9))))
    return _OF[next(name for name in _OF if found[name])], size.replace(" ", "")


def _of_a_range(tokens: Sequence[_Token], text: str) -> list[Scoped]:
    """The same where one range of models has what a sentence says, and it says no more of others.

    >>> [each[1:] for each in scoped("Models above 13B use TP 4.")]
    [('4', 'above 13B')]
    >>> scoped("We scale up to 70B with TP 8."), scoped("Models up to 70B fit with 8 GPUs.")
    ([], [])
    """
    kinds = [bool(token.names) for token in tokens]
    if sorted(kinds) != [False, True] or _CHOSEN.search(text):
        return []
    those, own = sorted(tokens, key=lambda token: not token.names)
    if len(those.names) != 1 or not is_range(those.names[0]):
        return []
    opens = kinds[0] and _OPENS_RANGE.fullmatch(text, 0, those.begin)
    if _NO_MODELS.match(text, those.end) or not (opens or (kinds[1] and _is_given(those, text))):
        return []
    of_no_run = _MAY_RUN.search(_RANGE.sub(" ", text)) is not None
    return [
        Scoped(field, value, those.names[0]) for field, value in own.values
        if field not in _OF_RUNS or not of_no_run
    ]  # fmt: skip


_OPENS_RANGE = deferred(
    r"\W*(?:(?:the|our|all|every(?:thing|one)?|any(?:thing)?|models?|sizes?|runs?|those|ones|of|for"
    r"|in|at|with) ){0,5}",
    re.IGNORECASE,
)
"""Words in front of a range with which a sentence begins."""

_CHOSEN = deferred(
    r"\b(?:best|fastest|optimal|enough|suffic\w+|scal(?:e[sd]?|ing)|tr(?:y|ied)|tested|all sizes"
    r"|would|could|can|may|might|should)\b",
    re.IGNORECASE,
)
"""Words of a sentence about what may be done with a range of models, or was tried."""


def _in_turn(tokens: Sequence[_Token], text: str) -> list[Scoped]:
    """The same of a sentence by its names and values, where these take turns."""
    if alone := _of_a_range(tokens, text):
        return alone
    if but := _but_for_some(tokens, text) or _of_some_alone(tokens, text):
        return but
    names = [token for token in tokens if token.names]
    tokens = list(_behind_those_of_all(tokens))
    if len(names) < TWO or any(bool(a.names) == bool(b.names) for a, b in pairwise(tokens)):
        return []
    first = bool(tokens[0].names)  # `X without, Y with selective recomputation`
    if bool(tokens[-1].names) == first:
        return []
    if not first and not all(_is_given(each, text) for each in names):
        return []
    pairs = list(zip(names, _alike(token for token in tokens if token.values), strict=True))
    told = [{field for field, _ in values.values} for _, values in pairs]
    common = set.intersection(*told) if told else set[str]()
    of_no_run = _MAY_RUN.search(_RANGE.sub(" ", text)) is not None
    found = [
        Scoped(field, value, name)
        for who, values in pairs
        for name in who.names
        for field, value in values.values
        if field in common or (common and first)
        if field not in _OF_RUNS or not of_no_run
    ]
    return found if len({(each.field, each.rows) for each in found}) == len(found) else []


def _behind_those_of_all(tokens: Sequence[_Token]) -> Sequence[_Token]:
    """Names and values of a sentence without the values it begins with before those of its
    first names, where no other name has one of their fields: every row has these.

    >>> said = scoped("Runs had TP 2, length 512 and no recomputation for 7B, a full one for 70B.")
    >>> [tuple(each) for each in said]
    [('recompute', 'none', '7B'), ('recompute', 'full', '70B')]
    """
    first = next((n for n, token in enumerate(tokens) if token.names), 0)
    common = {field for token in tokens[: max(first - 1, 0)] for field, _ in token.values}
    own = {field for token in tokens[max(first - 1, 0) :] for field, _ in token.values}
    return tokens if common & own else tokens[max(first - 1, 0) :]


def _alike(tokens: Iterable[_Token]) -> list[_Token]:
    """Values of a sentence, those by which nothing is computed again as a switch that is off where
    it is on for others: `disabled for 1B and enabled for 7B`."""
    tokens = list(tokens)
    if ("activation_checkpointing", "True") not in {v for each in tokens for v in each.values}:
        return tokens
    off = {("recompute", "none"): ("activation_checkpointing", "False")}
    return [each._replace(values=tuple(off.get(v, v) for v in each.values)) for each in tokens]


TWO = 2

_OF_MACHINES = re.compile(r"\b(?:node|GPU)s?\b|[0-9] ?[机卡]")

_APART = deferred(
    r"\W*(?:(?:except|apart|aside)(?: (?:for|from|in|on|with))?|other than|with the exception of)"
    r" (?P<those>[^,;]{2,80}(?:\([^()]*\))?),? (?P<rest>(?:all|every\w*|each|the (?:rest|others?)"
    r"|(?:the )?other)\b.+)"
    r"|\W*除了? ?(?P<zh>[^，,。；;]{2,60}?)(?:之外|以外|外)[，,] ?"
    r"(?P<others>(?:其[余他它]|所有|全部).+)",
    re.IGNORECASE,
)
"""A sentence on all rows but those that it names first: `Except for the 70B, all runs use …`."""


def _but_for_those(apart: re.Match[str], models: Sequence[str]) -> list[Scoped]:
    """The same of such a sentence; what those have that it names is not known unless it is said.

    >>> [tuple(each) for each in scoped("Except for the 70B (64 GPUs), all runs use 8 GPUs.")]
    [('gpus', '8', ''), ('gpus', '64', '70B')]
    >>> [tuple(each) for each in scoped("除 70B 使用8机64卡外，其余均为单机8卡")][:2]
    [('nodes', '1', ''), ('nodes', '8', '70B')]
    """
    those, rest = apart["those"] or apart["zh"], apart["rest"] or apart["others"]
    names = [name for token in _names(those, models) for name in token.names]
    own = dict(value for token in _values(those) for value in token.values)
    return [
        each
        for token in _values(_OF_ALL.sub("", rest)) if names
        for field, value in token.values
        for each in (
            Scoped(field, value, ""),
            *(Scoped(field, own.get(field, _unless(field, value)), name) for name in names),
        )
    ]  # fmt: skip


_IN_TURN = deferred(r"[0-9] ?(?:/|,|and) ?[0-9][0-9,]* (?:for|on) ", re.IGNORECASE)

_A_NUMBER = r"[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,6}"

_AND = r"(?: ?/ ?|,? and |, )"

_LISTS = deferred(
    r"(?P<key>[A-Za-z][A-Za-z -]{0,30}?)s?(?: sizes?| lengths?)?(?:(?::| of| is| are| was| were|=)"
    rf"(?: (?:set|fixed) to)?)? ?(?P<values>(?:{_A_NUMBER})(?:{_AND}(?:{_A_NUMBER})){{1,5}})"
    r"(?P<noun> (?:[A-Z][\w-]{0,16} ){0,3}(?:GPUs|nodes|layers|heads))?"
    r" (?:for|on) (?:the |our )?"
    rf"(?P<names>(?:{_NAMED})(?:{_AND}(?:the )?(?:{_NAMED})){{1,5}})(?:,? respectively)?",
    re.IGNORECASE,
)
"""As many values as names behind them: `batches of 4 / 2 for 7B / 13B`."""


def _each_with_its_own(found: re.Match[str]) -> str:
    """Two lists as names with their values in turn, where they are of one length.

    >>> [each[1:] for each in scoped("Micro batch: 4 / 2 for 7B / 13B.")]
    [('4', '7B'), ('2', '13B')]
    >>> scoped("Micro batch: 4 / 2 / 1 for 7B / 13B.")
    []
    """
    names, values = _apart(found["names"]), re.split(_AND, found["values"])
    if len(names) != len(values):
        return _WHOSE
    return ", ".join(
        f"{found['key']} {v}{found['noun'] or ''} for {n}"
        for v, n in zip(values, names, strict=True)
    )


_WHOSE = "for who knows which"


def _apart(names: str) -> list[str]:
    """The names of a list."""
    return re.split(rf"{_AND}(?=(?:the )?(?:{_NAMED}))", names)


_IN_SAME_ORDER = deferred(r",? ?\brespectively\b,?", re.IGNORECASE)

_OF_NAMES = deferred(rf"(?:{_NAMED})(?:{_AND}(?:the )?(?:{_NAMED})){{1,5}}")

_OF_VALUES = deferred(
    rf"(?<![\w.,-])(?P<values>(?:{_A_NUMBER})(?:{_AND}(?:{_A_NUMBER})){{1,5}})(?![\w%]|[.,][0-9])"
    r"(?P<noun> (?:[A-Z][\w-]{0,16} ){0,3}(?:GPUs|nodes|layers|heads|sequences|tokens)\b)?"
)


def _respectively(text: str) -> str:
    """A sentence with a list of names and some of values, in the same order, as each name with all
    that is its own; what such a sentence says behind them is of all, and left out.

    >>> [each[1:] for each in scoped("7B and 13B were trained on 8 and 16 GPUs, respectively.")]
    [('8', '7B'), ('16', '13B')]
    >>> text = "1B and 7B use TP 1 and 2, respectively, and micro-batches of 8 and 4 on 16 A100."
    >>> [tuple(each) for each in scoped(text)][:3]
    [('tp', '1', '1B'), ('micro_batch', '8', '1B'), ('tp', '2', '7B')]
    >>> scoped("The 1B, 7B and 13B use TP 1 and 2, respectively.")
    []
    """
    named, lists = _OF_NAMES.search(text), list(_OF_VALUES.finditer(text))
    names = _apart(named[0]) if named else []
    values = [re.split(_AND, found["values"]) for found in lists]
    if named is None or any(len(each) != len(names) for each in values):
        return _WHOSE
    spans = sorted([named.span(), *(found.span() for found in lists)])
    ends = {begin: end for (_, end), (begin, _) in pairwise([(0, 0), *spans])}
    leads = [text[ends[found.start()] : found.start()] for found in lists]
    leads = [_IN_SAME_ORDER.sub("", lead).strip(" ,") for lead in leads]
    return ", ".join(
        " ".join((name, *(
            f"{lead} {each[at]}{found['noun'] or ''}"
            for lead, each, found in zip(leads, values, lists, strict=True)
        )))
        for at, name in enumerate(names)
    )  # fmt: skip


_NUMERALS = {"one": "1", "a single": "1", "einem": "1", "einer": "1", "two": "2", "three": "3",
             "four": "4", "six": "6", "eight": "8", "sixteen": "16"}  # fmt: skip

_MANY = rf"(?:{'|'.join(_NUMERALS)}|[0-9]{{1,6}})"

_LEFT_OUT = deferred(
    rf"\b(?P<with>on|used?|using|took|take) (?P<many>{_MANY})"
    r"(?=,? (?:and |while |whereas |und )?(?:those|the ones?|that|die)\b[^.;]{1,40}? "
    rf"(?:on|used?|using|took|take) {_MANY} (?P<noun>nodes|GPUs)\b)",
    re.IGNORECASE,
)
"""A number whose noun stands behind the next one: `ran on one, those on H100 on two nodes`."""

_IN_WORDS = deferred(rf"\b(?:{'|'.join(_NUMERALS)})(?= (?:nodes?|GPUs?)\b)", re.IGNORECASE)


_IN_CHINESE = deferred(
    r"(?:(?P<one>单)|(?P<nodes>[0-9]{1,5}) ?)机(?P<cards>[0-9]{1,6}) ?卡"
    r"|(?<![A-Za-z0-9_.])(?P<alone>[0-9]{1,6}) ?卡"
)


def _counted(found: re.Match[str]) -> str:
    """Nodes and devices as English counts them: `8 nodes 64 GPUs`."""
    if found["alone"]:
        return f" {found['alone']} GPUs"
    return f" {'1' if found['one'] else found['nodes']} nodes {found['cards']} GPUs"


def _in_digits(text: str) -> str:
    """A sentence with its numbers of nodes and devices in digits, each before its noun.

    >>> _in_digits("Those on A100 ran on one, those on H100 on two nodes.")
    'Those on A100 ran on 1 nodes, those on H100 on 2 nodes.'
    """
    text = _IN_CHINESE.sub(_counted, text)
    text = _LEFT_OUT.sub(lambda found: f"{found['with']} {found['many']} {found['noun']}", text)
    return _IN_WORDS.sub(lambda found: _NUMERALS[found[0].lower()], text)


def _but_for_some(tokens: Sequence[_Token], text: str) -> list[Scoped]:
    """The same where all rows but some have a value, and those perhaps another one, behind their
    names; what they have is not known else.

    >>> [tuple(each) for each in scoped("Checkpointing is off except for the 34B and 70B.")]
    [('recompute', 'none', ''), ('recompute', '', '34B'), ('recompute', '', '70B')]
    >>> [each[1:] for each in scoped("All use activation checkpointing, except for the 1B.")]
    [('True', ''), ('False', '1B')]
    """
    kinds = [bool(token.names) for token in tokens]
    if kinds not in ([False, True], [False, True, False]):
        return []
    first, those, *rest = tokens
    if not _EXCEPT.search(text[: those.begin]):
        return []
    other = dict(rest[0].values) if rest else {}
    return [
        each
        for field, value in first.values
        for each in (
            Scoped(field, value, ""),
            *(Scoped(field, other.get(field, _unless(field, value)), n) for n in those.names),
        )
    ]


def _unless(field: str, value: str) -> str:
    """The value of the rows that a sentence leaves out, where it says no more of them: a switch
    that is on for all others is off."""
    return "False" if (field, value) == ("activation_checkpointing", "True") else ""


def _of_some_alone(tokens: Sequence[_Token], text: str) -> list[Scoped]:
    """The same where some rows alone compute anything again: all others do without.

    >>> [tuple(each)[1:] for each in scoped("Checkpointing is on for the 34B model only.")]
    [('True', '34B'), ('False', '')]
    >>> [tuple(each)[1:] for each in scoped("Full recomputation is used only for 34B and 70B.")]
    [('full', '34B'), ('full', '70B'), ('none', '')]
    >>> [tuple(each)[1:] for each in scoped("bf16 throughout, gradient checkpointing for 7B only.")]
    [('True', '7B'), ('False', '')]
    """
    first = next((n for n, token in enumerate(tokens) if token.names), 0)
    if not first or first != len(tokens) - 1 or len(tokens[first - 1].values) != 1:
        return []
    ((field, value),), those = tokens[first - 1].values, tokens[first]
    before, behind = _ONLY_BEFORE.search(text[: those.begin]), _ONLY.match(text, those.end)
    if field not in _OTHERWISE or value == "none" or not (before or behind):
        return []
    named = [Scoped(field, value, name) for name in those.names]
    return [*named, Scoped(field, _OTHERWISE[field], "")]


_OTHERWISE = {"recompute": "none", "activation_checkpointing": "False"}
"""Switches, and what they are where nothing is computed again."""

_ONLY_BEFORE = deferred(
    r"\bonly (?:used |on |enabled )?(?:for|on|in|with|at) (?:the )?$", re.IGNORECASE
)

_ONLY = deferred(
    r"(?: models?| runs?)?,? (?:only|alone)\b(?! [a-z]{3,12}s\b)|(?:の|で)?のみ|에서만|만\b",
    re.IGNORECASE,
)


def _is_given(names: _Token, text: str) -> bool:
    before = text[: names.begin]
    return _GIVEN_TO.search(before) is not None and _EXCEPT.search(before) is None


_WITHOUT = {"tp": "1", "pp": "1", "cp": "1", "ep": "1", "vp": "1", "zero_stage": "0"}
"""The value of a setting in a run without it: `tensor parallelism is 4 for 30B and off for 7B`."""


def _values(text: str) -> Iterator[_Token]:
    of_it, key = _SPEAKS_OF_IT.search(text) is not None, ""
    for found in _VALUES.finditer(text):
        if _OF_ALL.search(text, 0, found.start()):
            continue  # of every row
        if again := found["again"] or found["next"]:
            if key:
                yield _Token(*found.span(), values=((key, again.replace(",", "")),))
        elif found["key"]:
            key = KEYS[_ONE_KEY.sub("", _DEGREE.sub("ism", found["key"].casefold()))]
            yield _Token(*found.span(), values=((key, found["many"].replace(",", "")),))
        elif found["format"]:
            yield _Token(*found.span(), values=(("dtype", found["format"].rpartition(" ")[2]),))
        elif found["noun"]:
            said = found["count"].replace(",", "")
            yield _Token(*found.span(), values=((KEYS[found["noun"].casefold()], said),))
        elif found["off"] and key in _WITHOUT:
            yield _Token(*found.span(), values=((key, _WITHOUT[key]),))
        elif of_it and not _IS_ON.match(text, found.end()):
            how = "none" if found["none"] or found["off"] or found["not"] else ""
            how = how or ("selective" if found["selective"] or found["some"] else "")
            how = how or ("full" if found["full"] or found["every"] or found["whole"] else "")
            how = how or _how_in_chinese(found["turned"] or "")
            if found["on"] and not how and (kind := _IN_FRONT.search(text, 0, found.start())):
                how = kind[1].casefold()
            said = ("recompute", how) if how else ("activation_checkpointing", "True")
            yield _Token(*found.span(), values=(said,))


_IS = r"(?: (?:is|was|are|were|stays?|turned|switched|kept))*"

_IS_ON = deferred(rf"{_IS} (?:on|enabled|active)\b(?! (?:all|each|every|[0-9]))", re.IGNORECASE)
"""Behind what is computed again: the word which then stands for it."""

_IN_FRONT = deferred(rf"\b(full|selective) {_KIND}{_AGAIN}{_IS} $", re.IGNORECASE)

_DEGREE = re.compile(r"(?<=parallel)[ -](?:size|degree)s?$")

_ONE_KEY = re.compile(r"[ -]|(?<=size)s$|(?<=length)s$")

_OF_ALL = deferred(
    r"(?:均|都|皆|一律|\b(?:both|each|all(?: of them)?)(?: (?:use|with|in|run|are|at|on))?)\s*$"
)
"""In front of a value: every row has it."""


def _how_in_chinese(turned_on: str) -> str:
    """How much is computed again, in what a Chinese sentence switches on."""
    return "selective" if "选择" in turned_on else ("full" if "全" in turned_on else "")


def _names(text: str, models: Sequence[str] = ()) -> Iterator[_Token]:
    """Names of models, their sizes, ranges of them, and devices, each alone."""
    known = list(_mentions(text, models)) if models else []
    if any(each.names for each in known):
        yield from known
        yield from _others(text)
        return
    taken: list[tuple[int, int]] = []
    for found in _RANGE.finditer(text):
        taken.append(found.span())
        yield _Token(*found.span(), names=(" ".join(_range_of(found)),))
    for device in devices(text):
        taken.append((device.start, device.end))
        yield _Token(device.start, device.end, names=(device.text,))
    for found in _ONE.finditer(text):
        if not any(a < found.end() and found.start() < b for a, b in taken):
            bare = _AROUND_NAME.sub("", found[0])
            yield _Token(*found.span(), names=(bare,))
    yield from _others(text)


_RAN_ON = deferred(
    r"\b(?:ran|runs?|trained|trains?|fine-?tuned|measured|benchmarked|done|uses?|used|using|took)\b",
    re.IGNORECASE,
)
"""In every sentence that says on what some models ran."""

_ON_A = deferred(
    r"(?:\b(?:on|uses?|used|using|took|with|(?:is|was|were) on)|\()"
    r" ?(?:(?:an?|the|our|single|one|just|only) )*(?:(?P<n>[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,6})"
    r" ?[x×]? ?)?(?:NVIDIA |AMD )?$",
    re.IGNORECASE,
)
"""In front of a device on which models ran, and how many of it there were."""


def _machines(text: str) -> Iterator[_Token]:
    """The devices of a sentence as what models ran on; none where one is not led to as that.

    >>> said = scoped("The 70B ran on 64 H100, all others on A100 80GB.")
    >>> [each[1:] for each in said if each.field == "gpu"]
    [('H100', '70B'), ('A100 80GB', 'the others')]
    >>> said = scoped("All models ran on 16 V100 with the exception of 1B (8 A100).")
    >>> [each[1:] for each in said if each.field == "gpus"]
    [('16', ''), ('8', '1B')]
    >>> scoped("On A100 and H100 the 7B was trained like the 13B.")
    []
    """
    found = [(device, _ON_A.search(text, 0, device.start)) for device in devices(text)]
    for device, on in found if all(on for _, on in found) else ():
        count = on["n"].replace(",", "") if on and on["n"] else ""
        counted = (("gpus", count),) if count else ()
        yield _Token(device.start, device.end, values=(("gpu", device.text), *counted))


def _models(text: str, models: Sequence[str]) -> Iterator[_Token]:
    """Names of models of a sentence that names devices as what they ran on."""
    spans = [(device.start, device.end) for device in devices(text)]
    for token in _names(text, models):
        if (token.begin, token.end) not in spans and not any(
            a < token.end and token.begin < b for a, b in spans
        ):
            yield token


def _others(text: str) -> Iterator[_Token]:
    for found in _THE_OTHERS.finditer(text):
        yield _Token(*found.span(), names=(OTHERS,))


def meant(text: str, models: Iterable[str]) -> set[str]:
    """The models, of those of some rows, that a text names, in full or by the words that they begin
    with; a longer name is no model that has a shorter one alone.

    >>> sorted(meant("We ran LLaMA 2 and the ViTs.", ["LLaMA 7B", "LLaMA-2-7B", "ViT-B", "T5"]))
    ['LLaMA-2-7B', 'ViT-B']
    >>> meant("a model like LLaMA, with its tokenizer", ["LLaMA 7B", "T5"])
    set()
    """
    return {name for token in _mentions(text, tuple(models)) for name in token.names}


def where_named(text: str, models: Iterable[str]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Where a text names models of rows, each with those that are meant (`meant`)."""
    for token in _mentions(text, tuple(models)):
        yield token.begin, token.end, token.names


def _mentions(text: str, models: Sequence[str]) -> Iterator[_Token]:
    """Where a text names models of rows, each with the names of all rows that it may be."""
    held = _by_beginning(tuple(sorted(set(models))))
    small = text.casefold()
    if not any(key.partition(" ")[0] in small for key in held):
        return  # most texts name none, not even by a first word
    found = [
        each for each in _CALLED.finditer(text)
        if not _LIKE.search(text, 0, each.start()) and not _OF_ITS.match(text, each.end())
    ]  # fmt: skip
    spans: list[tuple[int, int, str]] = []
    for word in found:
        if spans and word.start() < spans[-1][1]:
            continue
        for end in _ends(text, word.start()):
            key = _spelled(text[word.start() : end])
            key = key if key in held else key.removesuffix("s")
            if key in held:
                spans.append((word.start(), end, key))
                break
    keys = {key for _, _, key in spans}
    for begin, end, key in spans:
        longer = {name for each in keys if each != key and each.startswith(f"{key} ")
                  for name in held[each]}  # fmt: skip
        names = tuple(name for name in held[key] if name not in longer)
        if 0 < len(names) < len({*models}):  # a name of all of them is of none in particular
            behind = _ROWS.match(text, end)
            yield _Token(begin, behind.end() if behind else end, names=names)


_CALLED = deferred(r"(?<![A-Za-z0-9_./-])(?:[A-Z][A-Za-z0-9]|[a-z](?=[\w.-]{0,24}[0-9])[a-z0-9])")

_LIKE = deferred(
    r"\b(?:like|as (?:in|for|with)|than|unlike|similar to|based on|compared (?:to|with)|vs\.?"
    r"|versus|following|from|against|over|beats?|instead of) (?:the )?$",
    re.IGNORECASE,
)

_OF_ITS = deferred(
    r"[\w .-]{0,10}?[- ](?:style|like|based|tokenizer|architecture|family|paper|recipe"
    r"|code(?:base)?|repo(?:sitory)?|kernels?|attention|tokens)\b",
    re.IGNORECASE,
)

_ROWS = deferred(r"'?s?(?: (?:rows?|models?|runs?|ones?|family|entries|lines)\b)?")

_WORD_ENDS = deferred(
    r"(?<=[A-Za-z0-9])(?![A-Za-z0-9]|_[A-Za-z]|\.[0-9]|(?<=[A-Za-z])[-_][A-Za-z])"
)


def _ends(text: str, begin: int) -> list[int]:
    """Where a name that begins in a text may end, the longest first."""
    stop = min(begin + LONGEST_NAME, len(text))
    return [found.start() for found in _WORD_ENDS.finditer(text, begin + 1, stop)][::-1]


LONGEST_NAME = 48
"""Letters of a name of a model."""


def _spelled(name: str) -> str:
    """A name in small letters, its words and numbers apart: `gpt 2` for GPT-2 and GPT2."""
    return " ".join(re.split(r"[\s_-]+|(?<=[a-z])(?=[0-9])", name.casefold()))


@lru_cache(maxsize=256)
def _by_beginning(models: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """The models by each of the words that they begin with: `llama`, `llama 2`, `llama 2 7b`."""
    found: dict[str, list[str]] = {}
    for model in models:
        words = _spelled(model.rpartition("/")[2]).split(" ")
        for count in range(1, len(words) + 1):
            key = " ".join(words[:count])
            if _NAMES_ONE.match(key) and not _OF_MANY.fullmatch(key):
                found.setdefault(key, []).append(model)
    return {key: tuple(names) for key, names in found.items()}


_NAMES_ONE = re.compile(r"[a-z](?:[a-z0-9]| [0-9])")

_OF_MANY = re.compile(
    r"(?:base|large|small|tiny|medium|huge|dense|sparse|full|ours|our|baseline|model|default|mini"
    r"|nano|micro|giant|pro|plus|new|old|the|our|this|lora|qlora|moe|pre|no|with|fp8|bf16|fp16"
    r"|training|train|test|run|single|multi|one|two|x?xl|lg|sm|md|gpu|gpus|node|nodes)s?"
)
"""Words with which names of models begin, and many other things."""


_THE_OTHERS = deferred(
    r"(?<!each )\b(?:others|(?<=the )rest|everything else|(?:remaining|other) (?:GPUs?|cards"
    r"|devices|chips|machines|systems|partitions|models|sizes|ones))\b"
    r"(?! of\b)|其[他余它]|それ以外|나머지",
    re.IGNORECASE,
)
"""Words for all rows that a sentence does not name."""


def _joined(tokens: Iterable[_Token], text: str) -> list[_Token]:
    """Tokens with the names of one list as one, and the values of one list; names of another kind
    than those before them (`70B on H100`) are left apart."""
    found: list[_Token] = []
    for token in tokens:
        last = found[-1] if found else None
        if last is None or bool(last.names) != bool(token.names):
            found.append(token)
        elif token.names and _BETWEEN.match(text[last.end : token.begin]):
            found[-1] = last._replace(end=token.end, names=(*last.names, *token.names))
        elif token.values and _near(text[last.end : token.begin]):
            found[-1] = last._replace(end=token.end, values=(*last.values, *token.values))
        else:
            found.append(token)
    return [each._replace(values=_once(each.values)) for each in found]


def _near(between: str) -> bool:
    return len(between) <= MOST_BETWEEN and not re.search(r"[.;:。；：]", between)


MOST_BETWEEN = 12
"""Letters between two values of one list."""


def _once(values: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple(dict.fromkeys(values))


def is_range(rows: str) -> bool:
    """Whether the name of some rows is that of a range of models: `up to 2.7B`."""
    return _IN_RANGE.fullmatch(rows) is not None


def size_of(name: str) -> float | None:
    """The size of a model by a name that is nothing else: `2.7B`; None of any other."""
    found = _A_SIZE.fullmatch(name)
    return float(found[1]) * _SCALES[found[2].upper()] if found else None


_A_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([BMTbmt])")

_SCALES = {"M": 1e6, "B": 1e9, "T": 1e12}


def in_range(size: float, rows: str) -> bool | None:
    """Whether a model of some size is of a range; None of what is no range.

    >>> in_range(2.7e9, "up to 2.7B"), in_range(30e9, "above 30B"), in_range(7e9, "7B")
    (True, False, None)
    """
    found = _IN_RANGE.fullmatch(rows)
    if found is None:
        return None
    limit = float(found[2]) * _SCALES[found[3].upper()]
    alike = abs(size - limit) <= 1e-6 * limit
    over, under = size > limit, size < limit
    return {"up to": under or alike, "below": under and not alike, "from": over or alike,
            "above": over and not alike}[found[1]]  # fmt: skip


_IN_RANGE = re.compile(r"(up to|below|from|above) ([0-9.]+) ?([BMTbmt])")


def paragraphs(texts: Iterable[tuple[int, str]]) -> Iterator[tuple[range, str]]:
    """The texts of consecutive lines, each behind the lines that it stands in."""
    held: list[tuple[int, str]] = []
    for number, text in chain(texts, [(-1, "")]):
        if held and (number != held[-1][0] + 1 or not text.strip() or _BEGINS.match(text)):
            lines = range(held[0][0], held[-1][0] + 1)
            yield lines, " ".join(each.strip() for _, each in held)
            held = []
        if text.strip():
            held.append((number, text))


_BEGINS = re.compile(r"\s*(?:[-*+•]|[0-9]+[.)]|#|>)\s")
"""Beginning of an item, of a heading or of a quotation."""
