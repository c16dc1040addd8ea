"""Table headers: which column fills which field, in which unit.

In: the text of a header cell. Out: a `Column`. A label is found with or without its unit in
brackets; a column that only says `Throughput` is told by the unit of its header or of its cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache

from assay.ingest.columns.composite import degrees, of_a_shape
from assay.ingest.grids.grid import BREAK, LONGEST
from assay.ingest.numbers.units import unit
from assay.ingest.schema.fields import FieldSpec, by_label, fields
from assay.ingest.schema.record import Schema
from assay.ingest.vocabulary.devices import SIGN, devices, signed
from assay.ingest.vocabulary.terms import configured_by, normalise, spellings, told_once
from assay.ingest.vocabulary.words import (
    ATTAINED,
    DEVICE,
    MEAN,
    MEDIAN,
    MEMORY,
    PLAIN,
    WHOLE,
    Said,
    altering,
    english,
    of_one_device,
    said,
    split,
    timeless,
)

_PICTURE = "[\u2b50\u26a1\U0001f300-\U0001f916\U0001f918-\U0001faff]"  # no 🤗, which names a maker

_PICTURES = (
    f"(?<=[0-9A-Za-z)%])[ \u00a0]?(?:{_PICTURE}|[\u2705\u274c\u26a0])\ufe0f?[ \u00a0]*$"
    f"|^[ \u00a0]*{_PICTURE}\ufe0f?[ \u00a0]*(?=[0-9A-Za-z])"
)
"""Small pictures in front of a text, and behind it how good it was: `27.4 GB ✅`, `🦥 Unsloth`."""

_TICKED = re.compile(
    rf"\s*(?:[✅✔✓☑⚠]|{_PICTURE})\ufe0f?\s*(?:\(([~≈]?[0-9][^()]{{0,40}})\)|([~≈]?[0-9].{{0,60}}))\s*"
)
"""A number behind how good it was, in brackets or not: `✓ (27.4 GB)`, `✔ 31.5`."""

_DECORATION = re.compile(
    rf"\[\^[^\]]*\]|(?<=[KMGT]B)\^[0-9](?![0-9])|`|\\|[†‡]"
    rf"|^【(?=[^【】]*】$)|】$|{_PICTURES}"
)

_CARET = re.compile(
    r"(?:(?<=[A-Za-z)%])\^[a-z*†‡]|(?<=[A-Za-z)%]{2})\^[1-9]|(?<=[0-9])\^[a-f*†‡])\s*$"
)
"""A reference to a footnote in plain text: `GPU^a`, `12.6^b`; `N^2` and `2^k` are powers."""

_REFERENCE = re.compile(
    r"\s*\[(?:#[\w-]*|\*|[0-9]{1,2})\]_(?!\w)|(?<=[A-Za-z)%0-9])(?<!10)[¹²³⁴-⁹ᵃᵇᶜᵈᵉᶠ]+$"
)
"""References to footnotes: of reStructuredText, and raised digits behind no power of ten."""

_EMPHASIS = re.compile(r"(\*{2,3}|__)(.+?)\1")

_LINK = re.compile(r"!?\[(?!\^)([^\[\]]*)\]\([^()\s]*(?:\s\"[^\"]*\")?\)")

_TAG = re.compile(
    r"<(sup|del|s)>.*?</\1>|~~.*?~~"
    r"|</?(?!(?:float|double|half|int|bool)>)[A-Za-z][A-Za-z0-9]*(?:\s[^<>]*)?/?>"
)  # `Functor<float>` is a type of C++

_BRACKET = re.compile(r"(.+?)\s*[(\[]([^()\[\]]+)[)\]]\s*")

_PANELS = re.compile(
    r"((?:(?:train|training|trainer|data|dataset|perf|performance|throughput|speed|timing|timings|metrics|stats|results?"
    r"|summary|cfg|config|hparams|args|setup|run|runtime|model|parallel|parallelism|hw|hardware"
    r"|system|memory|mem|device|metrics?|parameters|params|monitoring|report)[/.])+)"
    r"(?=[A-Za-z_]+(?: \((?:last|latest|avg|average|mean)\))?$"
    r"|GPU(?: [A-Za-z_]+)+(?: \([A-Za-z/]+\))?$)"
)
"""Panels that loggers and configurations sort their labels into: `train/tokens_per_sec`."""

_TRACKED = re.compile(
    r"(?:SCALARS/|HYPER PARAMETERS/(?:Args|General)/)(?=.*\w)|:monitor:machine/(?=\w+$)"
)
"""Where trackers keep what a run reported, and what they were told of it: ClearML's tables."""

_OF_A_DEVICE = re.compile(
    r"(?:sys(?:tem)?[./]|:monitor:)gpu[./](?:gpu_)?[0-9]+[._](\w*mem\w*_[gm]i?b)"
    r"(?: \((?:max|last|latest)\))?",
    re.IGNORECASE,
)

_BYTES_OF_A_DEVICE = re.compile(r"system[./]gpu\.[0-9]+\.memoryAllocatedBytes")
"""The same as Weights & Biases has it."""
"""The memory of one of a run's devices, as trackers watch it: `sys.gpu.0.peak_mem_gb`."""

_NAMED_IN = re.compile(r"(?:model|gpu|device)/(?:name|type|size)")

_LAST_OF = re.compile(r" \((?:last|latest)\)$")

_PATH = re.compile(r"(?:config|parameters|params|hparams|args)[/.](?:\w+[/.])+(?=\w+$)")
"""Where a setting stands among others: `config.backend.torch_dtype`."""

_UNMARKED = re.compile(r"[\w .,:;/%()+-]*")

GENERIC = {"throughput", "speed", "performance", "perf", "rate", "pace"}

_READ_OFF = {"reading", "readings", "tqdm"}
"""Words of a label that says where a number was read, whose unit alone says of what it is."""

NAMES = {
    "模型": "Model", "显卡": "GPU", "硬件": "GPU",
    "精度模式": "Precision", "精度格式": "Precision",
    "平均序列长度": "Sequence length", "设备": "GPU", "加速卡": "GPU", "数据精度": "Precision",
    "模型规模": "Size", "参数量": "Params", "机器数量": "Nodes",
    "是否重计算": "Recompute", "重计算策略": "Recompute", "是否开启重计算": "Recompute",
    "激活重计算": "Recompute",
    "序列并行(CP)": "CP", "上下文并行(CP)": "CP",
    "台数": "Nodes", "机器数": "Nodes", "机器台数": "Nodes", "服务器数": "Nodes",
    "最大长度": "Sequence length", "训练最大长度": "Sequence length",
    "参数": "Params", "参数规模": "Params", "序列": "Sequence length", "实验模型": "Model",
    **{f"{sign}{name}": "micro batch size" for sign in "µμ" for name in (
        "bs", "BS", "BSZ", "batch", "-batch", "B")},
    "硬件信息": "GPU", "TPU": "GPU", "TPU type": "GPU", "TPU slice": "GPU",
    "モデル": "Model", "精度モード": "Precision", "レイヤー数": "NLAYERS", "层": "NLAYERS",
}  # fmt: skip
"""Labels in Chinese and Japanese of names and of what is only counted."""

STEPS = {
    "step", "meanstep", "medianstep", "avgstep", "stepavg", "stepmean", "stept", "iteration",
    "iter", "1step", "1iter", "1iteration", "onestep", "oneiteration", "perstep", "periteration",
    "periter",
    *(f"{all_of}{one}" for all_of in ("whole", "full", "entire", "complete", "total", "steadystate")
      for one in ("step", "iteration", "iter", "perstep", "periteration")),
}  # fmt: skip
"""Labels of a time where the cells have its unit, and of the number of a step where not."""

_TIMED = {"dt", "t", "time", "elapsed", "duration", "wall", "walltime", "latency"}
"""Labels of a time of a step where their unit says so: `dt (s/iter)`."""

RATES = {
    ("s", False): "step_time",
    ("flop/s", False): "model_flops_rate",
    ("flop/s", True): "model_flops_rate",
    ("token/s", False): "tokens_per_s",
    ("token/s", True): "tokens_per_gpu_per_s",
    ("sample/s", False): "samples_per_s",
    ("item/s", False): "item_rate",
    ("1/s", False): "item_rate",
    ("step/s", False): "step_rate",
}
"""A column that only says `Throughput` is told by the unit of its header or of its cells: SI unit
and whether it is per GPU → field."""


EACH = {"samples_per_gpu_per_s": "samples_per_s", "items_per_gpu_per_s": "item_rate"}
"""Rates of one device that are told as those of the job, where its devices are known."""

OF_ONE = "samples_per_gpu_per_s"
"""Field of such a rate as it is printed."""

RESERVED = "max_reserved"

_RESERVED = re.compile(r"[ _-]?(?:\breserved|_reserved|\bresv?|_resv?)(?![A-Za-z])", re.IGNORECASE)

_OF_COMPOSER = {"memory/peak_reserved_mem"}
"""Labels of Composer's MemoryMonitor, which counts in gigabytes and never says so."""

OF_EACH = 9
"""Rank of a column of them."""


@dataclass(frozen=True)
class Column:
    """One column of a table: its label, the field it fills, the factor to that field's unit."""

    label: str
    spec: FieldSpec | None
    scale: float = 1.0
    unit_known: bool = True  # whether a bare number of this column has a unit
    kind: str | None = None  # what its numbers are where the label says so: `Params (B)`
    rank: int = 0  # which of several columns of one field is taken: the least
    degrees: tuple[str, ...] = ()  # fields of a label of several: `TP x PP x DP`
    share: float = 1.0  # what part of a number with its own unit is the field's
    by_cells: bool = False  # whether its cells tell what it holds, whatever its label leaves open
    most: bool = False  # whether the text above it says that it holds the most of something
    listed: bool = False  # whether its cells list devices by their numbers: `0,1`


_WIDE = str.maketrans("（）［］／％", "()[]/%")
"""Signs of Chinese and Japanese in the place of which there are others in English."""


def plain(text: str) -> str:
    """A text cell without emphasis, code marks, links, footnotes and marks of where it may part."""
    return text.strip() if len(text) > LONGEST else _plain(text)


@lru_cache(maxsize=4096)  # every view of a table asks all of its labels and cells again
def _plain(text: str) -> str:
    if "__" not in text and text.isascii() and _UNMARKED.fullmatch(text):
        return text.strip()
    text = text.translate(_WIDE).replace("\u00ad", "").replace("&shy;", "").replace("&nbsp;", " ")
    text = BREAK.sub(" ", text) if "<" in text else text
    return _DECORATION.sub("", unlinked(_EMPHASIS.sub(r"\2", in_letters(text)))).strip()


def in_letters(text: str) -> str:
    """A text with its formulas by their letters and numbers alone.

    >>> in_letters(r"$n_{layers}$, Top-$k$, $d_{\\text{model}}$; $36 or $40")
    'n_layers, Top-k, d_model; $36 or $40'
    >>> in_letters(r"$5.51\\times10^{5}$"), in_letters(r"$1.281 \\pm 0.004$")
    ('5.51e5', '1.281 ± 0.004')
    >>> in_letters(r"150.1$_{\\pm 0.3}$"), in_letters(r"4.02$^\\dagger$"), in_letters(r"10$^{3}$")
    ('150.1 ± 0.3', '4.02', '10$^{3}$')
    >>> in_letters(r"$\\frac{1}{1+e^{-x}}$")
    '1/(1+e^-x)'
    """
    if "$" not in text:
        return text
    text = _RAISED_SIGN.sub("", _LOWERED.sub(r" ± \1", text))
    text = _NUMBER.sub(lambda found: _in_digits(found[1]), text)
    return _FORMULA.sub(lambda found: _MARKS.sub("", _FRACTION.sub(_divided, found[1])), text)


_LOWERED = re.compile(r"\s*\$\s*_\s*\{?\s*(?:\\pm|±)\s*([0-9][0-9.]{0,8}\s*\\?%?)\s*\}?\s*\$")
"""The spread of a number in small letters behind it: `150.1$_{\\pm 0.3}$`."""

_RAISED_SIGN = re.compile(
    r"(?<=[0-9A-Za-z)}])\s*\$\s*\^\s*\{?\s*(?:\\(?:d?dagger|ast|star|S|P|circ)|\*{1,3}|[a-h†‡§¶])"
    r"\s*\}?\s*\$"
)
"""The sign of a note behind a number or a name."""

_PART = r"\{((?:[^{}]|\{[^{}]*\})*)\}"

_FRACTION = re.compile(rf"\\[dt]?frac{_PART}{_PART}")


def _divided(found: re.Match[str]) -> str:
    """A fraction in one line, with brackets around what is more than a name or a number."""
    return "/".join(part if part.isalnum() else f"({part})" for part in found.groups())


def _in_digits(formula: str) -> str:
    """A number as it is written without signs of formulas."""
    for pattern, sign in _IN_DIGITS:
        formula = pattern.sub(sign, formula)
    return formula


_NUMBER = re.compile(
    r"\$([~<>]?\s*(?:\\(?:approx|sim)\s*)?[0-9](?:[0-9.,eE%+ {}^-]|\\(?:times|cdot|pm|,|%"
    r"|[ ;!]))*)\$(?![0-9])"
)
"""A formula that is a number."""

_IN_DIGITS = (
    (re.compile(r"\s*\\(?:times|cdot)\s*10\s*\^\s*\{?\s*([+-]?[0-9]+)\s*\}?"), r"e\1"),
    (re.compile(r"\s*\\pm\s*"), " ± "), (re.compile(r"\{,\}"), ","),
    (re.compile(r"\\(?:approx|sim)\s*"), "~"), (re.compile(r"\\%"), "%"),
    (re.compile(r"\\[,;! ]|[{}]"), ""),
)  # fmt: skip


_FORMULA = re.compile(r"\$(?=[A-Za-z\\])([^$]{1,60})\$")

_MARKS = re.compile(r"\\(?:text|mathrm|mathbf|mathit|operatorname|rm)?(?![A-Za-z])|[{}]")
"""A formula in a text, and the signs of its language around its letters: `$n_{\\text{layers}}$`."""


def unlinked(text: str) -> str:
    """A cell without what Markdown and HTML put around its text, line breaks apart."""
    if len(text) > LONGEST:
        return text
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    if "]_" in text or not text.isascii():
        text = _REFERENCE.sub("", text)
        text = ticked[1] or ticked[2] if (ticked := _TICKED.fullmatch(text)) else text
    if "^" in text:
        text = _CARET.sub("", text)
    marked = ("<" in text or "~~" in text) and not text.startswith("<br")
    return _TAG.sub("", text) if marked else text


def header(labels: Iterable[str], schema: Schema) -> list[Column]:
    """The columns that a header row names; a label that occurs twice gets `(2)`.

    Of several columns of one field one is taken: the label that says nothing else, then the
    median, then the mean. The others are kept as they are.
    """
    return list(_header(tuple(labels), schema))


@lru_cache(maxsize=1024)  # a document has the same labels again and again
def _header(labels: tuple[str, ...], schema: Schema) -> tuple[Column, ...]:
    columns: list[Column] = []
    taken: dict[str, int] = {}
    every = [plain(cell) for cell in labels]
    names = [normalise(each) for each in every]
    known = frozenset(names)
    divided = any(_MICRO_BATCHES.fullmatch(english(label)) for label in every)
    counted = [at for at, label in enumerate(every) if _counts_a_device(label)]
    parts = {word for label in every for word in split(label)}
    labelled, of_timm = set(every), not _SIZES_OF_IMAGES.isdisjoint(names)
    for at, label in enumerate(every):
        taken[label] = taken.get(label, 0) + 1
        shown = label if taken[label] == 1 else f"{label} ({taken[label]})"
        if label.endswith("*") and label.rstrip("*") not in labelled:  # the sign of a footnote
            label = label.rstrip("*")  # noqa: PLW2901 - what is looked for
        column = _column(label, shown, schema)
        if of_timm and names[at] in _OF_TIMM:
            column = _column(_OF_TIMM[names[at]], shown, schema)
        if divided and column.spec and column.spec.name == "batch_size":
            column = _column("global batch size", shown, schema)
        if column.spec is None and (whole := _whole_step(label, parts, known)):
            timed = _column(whole, shown, schema)
            column = timed if timed.spec and timed.spec.name == "step_time" else column
        if counted == [at] and not _COUNTS_OF_DEVICES & known:
            column = _column("number of GPUs", shown, schema)
        if column.spec is None and (told := _beside(label, names[at - 1] if at else "", known)):
            column = _column(told, shown, schema)
        columns.append(column)
    if any(column.spec and column.spec.name in _OF_TOKENS for column in columns):
        columns = [
            _column(_DT.sub("step time", column.label), column.label, schema)
            if column.spec is None and _DT.match(column.label) else column
            for column in columns
        ]  # fmt: skip
    if any(column.spec and column.spec.name in _OF_A_RUN for column in columns):
        columns = [
            _column("TFLOPS/GPU", column.label, schema)
            if column.spec is None and _TERA.fullmatch(column.label) else column
            for column in columns
        ]  # fmt: skip
    if all(part & parts for part in _PASSES):
        columns = _without_optimizer(columns)
    columns = _without_capacity(columns)
    best: dict[str, Column] = {}
    for column in columns:
        if column.spec and column.rank < best.get(column.spec.name, _LAST).rank:
            best[column.spec.name] = column
    return tuple(
        column if column.spec is None or best[column.spec.name] is column
        else _second(column, schema)
        for column in columns
    )  # fmt: skip


def _whole_step(label: str, beside: Set[str], names: Set[str]) -> str | None:
    """The label of the time of a step whose parts stand beside it, in words that say no more:
    `Total iteration (ms)` beside both passes, `total (ms)` where the optimizer has its own too;
    `update (s)` where a batch is counted per update, and no pass is timed apart."""
    if all(part & beside for part in (*_PASSES, _UPDATES)) and (
        found := _SUM_OF_PARTS.fullmatch(label)
    ):
        return f"step time{found[1] or ''}"
    if (found := _UPDATE.fullmatch(label)) and names & _OF_UPDATES:
        return None if any(part & beside for part in _PASSES) else f"step time{found[1]}"
    return _TOTAL.sub("", label) if {"forward", "backward"} <= beside else None


def _without_optimizer(columns: list[Column]) -> list[Column]:
    """Columns beside those of both passes: where one is the time of an iteration, that of a `step`
    is the optimizer's, as DeepSpeed's profiler prints them."""
    timed = [
        set(split(column.label)) if column.spec and column.spec.name == "step_time" else set[str]()
        for column in columns
    ]
    columns = [
        Column(column.label, None) if {"optimizer", "optim"} & words else column
        for column, words in zip(columns, timed, strict=True)
    ]
    if not any({"iter", "iteration"} & words for words in timed):
        return columns
    return [
        Column(column.label, None) if {"step"} & words - {"iter", "iteration"} else column
        for column, words in zip(columns, timed, strict=True)
    ]


OF_ANY_MEMORY = MEMORY | DEVICE | {"ram", "gb", "gib", "size", "per", "/", "each", "total"}
"""Words of a label that say nothing of how much of a memory was taken."""

_TAKEN = {"used", "usage", "use", "peak", "max", "maximum", "consumption", "consumed", "occupied",
          "allocated", "alloc", "smi", "nvtop", "nvitop", "gpustat", "utilized", "footprint",
          "占用", "使用"}  # fmt: skip


def _without_capacity(columns: list[Column]) -> list[Column]:
    """Columns of which that of a memory is none where another says that it is what was taken:
    `VRAM`, which the device has, beside `Memory used`."""
    memories = [c for c in columns if c.spec is not None and c.spec.name == "memory"]
    if len(memories) < len(("had", "taken")):
        return columns
    words = {c.label: set(split(english(c.label))) for c in memories}
    bare = {label for label, each in words.items() if each <= OF_ANY_MEMORY}
    if not any(_TAKEN & each for each in words.values()):
        return columns
    return [Column(c.label, None) if c.label in bare else c for c in columns]


def _second(column: Column, schema: Schema) -> Column:
    """A column whose field another one fills: a rate of each device is kept beside that of all."""
    own = fields(schema).get(OF_ONE) if column.rank == OF_EACH else None
    return Column(column.label, own, column.scale)


def _beside(label: str, behind: str, names: Set[str]) -> str | None:
    """A label that says nothing by itself and is clear beside the others: `MP` beside `PP`, `#`
    right behind a column of devices."""
    if normalise(label) == "mp" and "pp" in names and "tp" not in names:
        return "TP"
    if label.strip().casefold() in _A_COUNT and behind in _DEVICES:
        return "number of GPUs"
    name = normalise(label)
    if told := next((said for own, other, said in _BESIDE if name in own and names & other), None):
        return told
    if name in _IN_BYTES and not names & _BATCHES_BY_NAME:
        both = _IN_BYTES.keys() <= names and names & _OF_LAYOUTS
        return _IN_BYTES[name] if both or (name == "mb" and names & _ACCUMULATED) else None
    if (taken := _TAKEN_OF_IT.fullmatch(label)) and any(map(_OF_MEMORY.match, names)):
        return f"memory used ({taken[1]})"
    if label.strip() == "N" and names & _COUNTS_OF_DEVICES:
        return "nodes"
    if name in _MACHINES and not names & _OF_SERVICES:
        return "nodes"
    beside = names & _OF_LAYOUTS - {name} or any(map(_LAYOUT.search, names))
    if name in _IN_SHORT and (beside or label.strip() == "LBS"):  # in capitals of nothing else
        return _IN_SHORT[name]
    if name in _SHARDS and not any("replicate" in name for name in names):
        return "DP"
    return _OF_A_SHAPE.get(label) if len(_SIGNS_OF_SHAPES & names) >= SHAPED else None


_OF_A_SHAPE = {"L": "layers", "d": "hidden size", "D": "hidden size"}

_SIGNS_OF_SHAPES = {
    "l", "d", "heads", "nheads", "numheads", "attentionheads", "attnheads", "#heads", "dff", "dffn",
    "ffn", "ffnhidden", "headdim", "dhead", "kvheads", "vocab", "vocabsize",
}  # fmt: skip

SHAPED = 3
"""Labels of the shape of a model of which so many make letters among them those of its layers and
its width."""

_IN_SHORT = {
    "sl": "sequence length", "lbs": "local batch size", "ckpt": "activation checkpointing",
    "chkpt": "activation checkpointing", "world": "world size", "ws": "world size",
    "nn": "number of nodes", "ppn": "GPUs per node", "gpn": "GPUs per node",
}  # fmt: skip
"""Short labels of settings that elsewhere may be of anything."""

_OF_LAYOUTS = {
    "tp", "pp", "cp", "mbs", "gbs", "ubs", "gas", "microbatch", "microbatchsize", "globalbatch",
    "globalbatchsize", "bs", "bsz", "batchsize", "zero", "zerostage", "nodes", "nnodes", "nn",
    "ppn", "gpn", "seqlen", "gpus", "ga", "gradaccum", "actckpt", "ndev", "ngpu", "ngpus",
    "nhost", "nhosts", "numhosts", "numnodes",
}  # fmt: skip
"""Labels beside which they are of a run."""

_LAYOUT = re.compile(r"parallel|layout|并行|並列|병렬")
"""In the labels of columns of whole layouts, beside which they are of one as well."""

_SIZES_OF_IMAGES = {"trainimgsize", "inferimgsize"}
"""Labels of timm's benchmark, which none but it has."""

_OF_TIMM = {
    "paramcount": "Params (M)", "trainbatchsize": "batch size", "trainsteptime": "step time (ms)",
}  # fmt: skip
"""Labels of timm's benchmark, which runs on one device and counts parameters in millions."""

_SHARDS = {"dataparallelsharddegree", "dataparallelshard", "dpsharddegree", "dpshard"}
"""Labels of how many shards of data parallelism there are: all of it where nothing is replicated.
"""

_OF_FSDP = {"reducedtype", "fsdp", "acmode", "reshardafterforward"}
"""Labels beside which the format of parameters is the one that FSDP computes in."""

_TAKEN_OF_IT = re.compile(r"(?:used|taken|occupied|allocated|in use) ?[(\[]([KMG]i?B)[)\]]", re.I)
"""A label of what was taken of a memory, which a column beside it names: `HBM (GB) | used (GB)`."""

_OF_MEMORY = re.compile(r"hbm|vram|mem|gpumem|devicemem")

_STAGES = {"stages", "numstages", "nstages", "#stages"}

_OF_PIPELINES = {
    "schedule", "pipelineschedule", "ppschedule", "bubble", "bubblefrac", "bubblefraction",
    "bubbleratio", "bubblerate", "nummicrobatches", "microbatches", "nmicrobatches",
    "#microbatches",
}  # fmt: skip
"""Labels beside which stages are those of a pipeline, and of no kernel or sharding."""

_DEGREE_OF = re.compile(
    r"([TPDCE]P|V?PP)[ _-](?:degree|size|ways?|count|ranks|stages)", re.IGNORECASE
)
"""`CP degree`: a layout by its short name."""

_COUNT_OF = re.compile(
    r"(?:\\?[#№]|no\.|num(?:ber)?\.?(?: of)?|n[º°]?\.?)[\s_]*(?:of |de )?"
    rf"(?:(?:[GHINTX]PU|accel(?:erator)?|dev(?:ice)?|card|chip|GCD|{SIGN})s?|(?:MPI |GPU )?ranks)",
    re.IGNORECASE,
)

_OF_DEVICE = re.compile(
    rf"(?:\\?[#№]|no\.|num(?:ber)?\.?)?(?: ?of)? ?(?:NVIDIA |AMD |Intel )?{SIGN}"
    r"(?:s| (?:GPU|NPU|TPU|HPU|device|card|accelerator|chip|GCD)s| count)"
    r"|(?:#|no\.|num(?:ber)?\.?)?(?: ?of)? ?(?:GPU|NPU|device|card|accelerator|chip)s "
    rf"[(\[]?{SIGN}[)\]]?",
    re.IGNORECASE,
)
"""How many of a device there are, by its name: `Gaudi 2 devices`, `# H100 GPUs`, `GPUs A100`."""

_NODES_OF_DEVICE = re.compile(
    rf"(?:\\?[#№]|no\.|num(?:ber)?\.?)?(?: ?of)? ?(?:NVIDIA |AMD |Intel )?(?:[DH]GX[ -])?{SIGN}"
    r" (?:nodes|servers|boxes|hosts)",
    re.IGNORECASE,
)
"""How many nodes there are, by their device: `MI250X nodes`."""

_NODES = ("nodes", "servers", "boxes", "hosts")


@lru_cache(maxsize=4096)
def _counts_a_device(label: str) -> bool:
    """Whether a label counts devices of a name."""
    found = label.endswith(("s", "count")) or "s " in label
    return found and len(label) <= LONGEST and _OF_DEVICE.fullmatch(signed(label)) is not None


_MICRO_BATCHES = re.compile(
    r"(?:\\?[#№]|no\.|num(?:ber)?\.?(?: of)?|n)[\s_]*(?:of )?micro[ _-]?b(?:atch(?:es)?|s|\.)",
    re.IGNORECASE,
)
"""Into how many micro-batches the batch of a row is divided: `#Microbatch`."""

_HELD_BY_EACH = re.compile(
    r"(?:sequences|seqs?|samples|images|imgs|videos|clips|sentences|graphs|volumes|pairs|utterances"
    r"|crops|examples)\s?(?:per|/)\s?(?:GPU|GCD|NPU|HPU|device|card|rank|chip|worker|process)",
    re.IGNORECASE,
)
"""A batch of each device by what it holds: `graphs per GPU`."""

_USED = re.compile(
    r"([KMG]i?B) used|used ([KMG]i?B)"
    r"|(?:max(?:imum)? |peak )?(?:nvidia|rocm|npu|xpu|hl|mthreads|ix|mx)[- ]?smi"
    r"(?: (?:max(?:imum)?|peak|memory|mem))?[ ,]{0,2}[(\[]?(?:in )?([KMG]i?B)[)\]]?",
    re.IGNORECASE,
)
"""Bytes that were used, or that a tool shows which lists what devices hold."""

_COUNTS = tuple("\\#№nN")

_COUNT_OF_NODE = re.compile(
    r"(?:(?:num|number|count|n)[ _])?(?:of[ _])?(?:GPU|NPU|device|card|accelerator)s?[ _]?"
    r"(?:(?:num|number|count|n)[ _]?)?(?:/|per|each|in each)[ _]?(?:node|host|machine|server)s?",
    re.IGNORECASE,
)
"""How many devices each node has: `gpu_num_per_node`, `GPUs / machine`."""

_A_COUNT = {
    "#", "\\#", "n", "no.", "no", "num", "count", "qty", "x", "×", "anzahl", "nombre", "cantidad",
    "cant.", "stück", "stückzahl", "quantité", "qté", "quantidade", "qtd.", "quantità", "кол-во",
    "количество", "数量", "個数", "个数", "수량",
}  # fmt: skip

_OF_PRECISION = {"amptype", "amplevel", "optlevel", "ampoptlevel"}
"""Labels of the level at which Apex mixed the precisions of a run, as tables of NPUs say it."""

_COUNTS_OF_DEVICES = {"ngpu", "ngpus", "gpus", "#gpus", "worldsize"}
"""Labels beside which a bare `N` is of nodes."""

_MACHINES = {"hosts", "servers", "vms", "machines", "boxes", "trays"}
"""Labels of columns that count machines under other names than nodes."""

_PROCESSES = {"ranks", "processes", "procs"}
"""Labels that count processes of a run beside its nodes or its layout; elsewhere adapters have
ranks, and loaders of data processes."""

_COUNTS_OF_NODES = {"nodes", "nnodes", "numnodes", "hosts", "numberofnodes"}

_DEGREES = {"tp", "pp", "dp", "tpsize", "ppsize", "dpsize"}

_OF_SERVICES = {"workers", "ps", "clients", "users", "requests", "qps", "rps", "ttft", "tpot"}
"""Labels beside which servers are programs that others ask, and no machines of a run."""

_DEVICES = {
    "gpu", "device", "gputype", "accelerator", "accel", "card", "npu", "chip", "hpu", "hardware",
    "gpumodel", "devicetype", "acceleratortype", "显卡", "加速卡", "karte", "grafikkarte", "carte",
    "tarjeta", "beschleuniger", "accélérateur", "acelerador", "acceleratore", "placa", "scheda",
    "видеокарта", "ускоритель", "アクセラレータ", "가속기", "장치", "카드",
}  # fmt: skip
"""Labels of columns of machines, right of which a bare sign of counting counts them."""

_ACCUMULATED = {"gas", "ga", "gradaccum", "gradacc", "gradaccsteps", "gradaccumsteps", "accum",
                "gradientaccumulation", "gradientaccumulationsteps", "accumulationsteps",
                "gradaccumulation"}  # fmt: skip
"""Labels beside which `MB` is a batch."""

_IN_BYTES = {"mb": "micro batch size", "gb": "global batch size"}
"""Short labels of batches, which elsewhere are of megabytes and gigabytes."""

_BATCHES_BY_NAME = {
    "mbs", "microbatch", "microbatchsize", "microbs", "gbs", "globalbatch", "globalbatchsize",
    "globalbs", "bs", "bsz", "batch", "batchsize",
}  # fmt: skip
"""Labels beside which they are that."""

_BESIDE: Sequence[tuple[Set[str], Set[str], str]] = (
    ({"acc"}, {"mbs", "microbatch", "microbatchsize"}, "gradient accumulation"),
    ({"fps"}, _OF_PRECISION, "images/s"),  # nothing but training has a level of mixed precision
    (_STAGES, _OF_PIPELINES, "PP"),
    (_PROCESSES, _COUNTS_OF_NODES | _DEGREES, "number of GPUs"),
    ({"batch"}, _DEVICES, "batch size"),
    ({"wpb"}, {"wps", "ups", "bsz"}, "tokens per batch"),  # as fairseq calls them
    ({"paramdtype"}, _SHARDS | _OF_FSDP, "dtype"),
)
"""Labels, those beside which they are clear, and what they say there."""

_DT = re.compile(r"dt(?=\s*[(\[]|$)")
"""A time between two steps, beside tokens a second: `dt (ms)`."""

_OF_TOKENS = {"tokens_per_s", "tokens_per_gpu_per_s"}

_OF_A_RUN = {"step_time", *_OF_TOKENS, "mfu", "hfu"}

_TERA = re.compile(r"TFs?\s*(?:/|per)\s*(?:GPU|device|card|chip|NPU|GCD|rank)", re.IGNORECASE)
"""Teraflops of a device in short, beside what else a run makes: `TF/gpu`; it may be a library."""

_TOTAL = re.compile(r"\btotal\b", re.IGNORECASE)

_SUM_OF_PARTS = re.compile(r"(?:total|sum|all)( ?[(\[][a-z]{1,7}[)\]])?", re.IGNORECASE)
"""The label of all parts of a step beside them."""

_PASSES = ({"forward", "fwd"}, {"backward", "bwd"})

_UPDATES = {"optimizer", "optim", "opt", "update"}

_UPDATE = re.compile(r"(?:(?:full|complete|whole) )?updates?( ?[(\[][a-z]{1,7}[)\]])", re.I)

_OF_UPDATES = {
    f"{things}{per}update" for per in ("per", "/")
    for things in ("sequences", "seqs", "samples", "sentences", "tokens", "images", "batch")
}  # fmt: skip
"""Labels of a batch beside which an update is a step."""

_LAST = Column("", None, rank=99)


def _in_known_words(label: str) -> str:
    """A label in English, without a remark, and by the name that what it says has elsewhere."""
    if normalise(label) not in spellings():  # a spelling is clear, whatever its words are
        label = told_once(english(NAMES.get(label, label)))
    label = _without_remark(_alone(_of_its_device(_IN_SHORT_A_RATE.sub("throughput", label))))
    if (sign := _BY_SIGN.fullmatch(label)) and configured_by(meaning := sign[1] or sign[2]):
        return meaning
    if sized := _MODEL_IN.fullmatch(label):
        return f"Model size ({sized[1][0].upper()})"
    if called := next((name for form, name in _CALLED if form.fullmatch(label)), None):
        return called
    if power := _IN_POWERS.fullmatch(label):
        return f"{power[1]} ({'M' if power[2] == '6' else 'B'})"
    if used := _USED.fullmatch(label):
        return f"memory ({used[1] or used[2] or used[3]})"
    if own := _DEGREE_OF.fullmatch(label) or _OF_ALL_OF_A_STEP.fullmatch(label):
        return own[1]
    if (fullest := _ON_THE_FULLEST.search(label)) and MEMORY & set(split(label)):
        return f"peak {label[: fullest.start()]}{label[fullest.end() :]}"
    of_nodes = label.endswith(_NODES) and _NODES_OF_DEVICE.fullmatch(signed(label))
    if of_nodes or not label.startswith(_COUNTS):
        return "number of nodes" if of_nodes else label
    if _COUNT_OF.fullmatch(signed(label)):  # `#GPU`, `# MI250`: how many
        return "number of GPUs"
    counted = _COUNT_OF_ONE.fullmatch(label)
    plural = f"num {counted[1]}s" if counted else ""
    return plural if configured_by(plural) in _WHOLE else label


_NOUNS = r"(?:GPU|NPU|GCD|HPU|device|card|chip|accelerator)s"

_IN_A_JOB = re.compile(
    rf"how many {_NOUNS}|(?:job|run)(?:['’]s)? {_NOUNS}|(?:(?:#|number of|num\.?|total) ?)?{_NOUNS}"
    r" (?:of|in|for|per|used (?:in|by|for)) (?:the |a |an |each |one |whole |entire ){0,2}"
    r"(?:job|run|training|experiment)",
    re.IGNORECASE,
)
"""How many devices there were, by whose they are: `GPUs of the job`, `Job's GCDs`."""

_OF_ALL_OF_A_STEP = re.compile(
    r"(?:whole|full|entire|complete) ((?:training |optimi[sz]er )?(?:step|iteration|iter)\b(?!s)"
    r"[^/]{0,24})",
    re.IGNORECASE,
)
"""The time of a step, as against its parts: `whole step (ms)`."""

_ON_THE_FULLEST = re.compile(
    r",? ?[(\[]?(?:(?:on|of|at|in) )?(?:the )?(?:(?:fullest|worst|busiest|heaviest"
    r"|most loaded|largest) (?:GPU|NPU|device|card|rank|stage|chip)|(?:rank|GPU|device) ?0)\b[)\]]?"
    r"|(?:(?<=(?:max|eak) mem )|(?<=(?:max|eak) memory ))(?:over|across|of) (?:all )?(?:the )?"
    r"(?:ranks|GPUs|devices|cards|stages)",
    re.IGNORECASE,
)
"""Of which device a memory is, where one stands for all: `memory of the fullest GPU`."""

_IN_A_STEP = re.compile(
    r"(?:#|number of |num )?(?:seq(?:uence)?s (?:per|/|in (?:a|each)) (?:global "
    r"|optimi[sz]er )?(?:batch|step|iteration)"
    r"|samples (?:per|in (?:a|each)) (?:global batch|(?:optimi[sz]er )?step|iteration))",
    re.IGNORECASE,
)
"""Labels of how many sequences a step takes: `Sequences per batch`."""

_CALLED = (
    (_IN_A_STEP, "global batch size"), (_MICRO_BATCHES, "gradient accumulation"),
    (_HELD_BY_EACH, "micro batch size"), (_COUNT_OF_NODE, "GPUs per node"),
    (_IN_A_JOB, "number of GPUs"),
)  # fmt: skip
"""Forms of labels, and the name that what they say has elsewhere."""

_COUNT_OF_ONE = re.compile(
    r"(?:\\?[#№]|n(?:um(?:ber)?)?\.?(?=[\s_])|n[ro]\.|n[ro](?= of\b))[\s_]*(?:of[\s_])?"
    r"((?:[A-Za-z]{1,12}[ _]){0,2}[A-Za-z]{3,12}(?<!s))s?",
    re.IGNORECASE,
)
"""A sign of counting and what is counted, one or several: `#layer`, `No. of heads`."""

_WHOLE = {"layers", "heads", "kv_heads", "experts", "nodes"}
"""Settings that count parts of a model or of a cluster."""


_IN_SHORT_A_RATE = re.compile(r"^thr\.?(?=\s?[(\[][A-Za-z]{1,9}(?:/| per )s)", re.IGNORECASE)
"""A throughput by its first letters before the unit of one: `thr (img/s)`."""

_MODEL_IN = re.compile(
    r"models?,? ?[(\[]?(?:in |# ?)?(B|M|billions?|millions?)(?: of)?(?: param(?:eter)?s?)?[)\]]",
    re.IGNORECASE,
)
"""A label of models whose cells are their sizes: `Model (B)`."""

_BY_SIGN = re.compile(
    r"[A-Za-z](?:_\{?[A-Za-z]{1,3}\}?)? ?(?:\(([A-Za-z#][A-Za-z -]{3,30})\)"
    r"|[:=–—] ?([A-Za-z#][A-Za-z -]{3,30}))"
)
"""A symbol, and behind it what it stands for: `L (layers)`, `h: hidden size`."""

_IN_POWERS = re.compile(
    r"(#?[A-Za-z][A-Za-z ]{3,24}?) ?[(\[](?:[x×*] ?)?(?:1[eE]|10\^?)([69])[)\]]"
)
"""A label in powers of ten: `params [1e9]`."""


def _of_its_device(label: str) -> str:
    """A label of a rate with the word for a device where it names the device: `tokens/s per MI250`.

    >>> _of_its_device("tokens/s per MI250"), _of_its_device("MI300X / H100")
    ('tokens/s per GPU', 'MI300X / H100')
    """
    rated = _PER_SOMETHING.search(label) if "/" in label or "per" in label else None
    named = devices(label) if rated else []
    if len(named) != 1 or not _PER_SOMETHING.search(label[: named[0].start + 1]):
        return label
    before, behind = label[: named[0].start], label[named[0].end :]
    return f"{before}GPU{behind}" if _A_RATE.search(before) else label


_PER_SOMETHING = re.compile(r"(?:\bper |/ ?)[A-Z0-9]", re.IGNORECASE)

_A_RATE = re.compile(r"(?:\bper |/ ?)s(?:ec(?:ond)?)?\b|FLOP", re.IGNORECASE)


_PER_MINUTE = re.compile(
    r"(?<=[a-z])\s?/\s?min(?:ute)?(?![a-z])|(?<![a-z])per min(?:ute)?(?![a-z])", re.IGNORECASE
)
"""Units in which a rate is counted that is not counted a second: `samples/min`."""

_COUNTED = {
    "tokens_per_s", "tokens_per_gpu_per_s", "samples_per_s", "samples_per_gpu_per_s", "item_rate",
    "step_rate",
}  # fmt: skip

AFTER = 4
"""Rank of a column of them: what is counted a second goes before."""

_OF_A_LETTER = re.compile(r"[A-Z]: *[A-Za-z]")
"""A label of one of several that letters stand for."""


@lru_cache(maxsize=65_536)  # every view of a table asks all of its labels again
def _column(label: str, shown: str, schema: Schema) -> Column:
    if (packed := _packed(label)) or len(label) > LONGEST:
        return Column(shown, None, degrees=packed)
    if _OF_A_LETTER.match(label):  # `B: tokens/s`: no billions
        return Column(shown, None)
    if _PER_MINUTE.search(label):
        own = _column(_PER_MINUTE.sub("/s", label, count=1), shown, schema)
        rated = own.spec is not None and own.spec.name in _COUNTED
        return replace(own, scale=own.scale / 60, rank=AFTER) if rated else Column(shown, None)
    if many := _MANY_AT_ONCE.search(label):
        own = _column(label[: many.start()] + label[many.end() :], shown, schema)
        rated = own.spec is not None and own.spec.name in _COUNTED
        return replace(own, scale=own.scale * _times(many)) if rated else Column(shown, None)
    label = _in_known_words(label)
    known = by_label(schema)
    if label.endswith("?") and (asked := known.get(normalise(label.rstrip("? ")))):
        return Column(shown, fields(schema).get(_ASKED.get(asked[0].name, "")))
    composed = said(label)
    if found := known.get(normalise(label)):
        spec, scale = found
        bare = spec.unit == "B" or (spec.unit == "s" and composed and not composed.unit_known)
        return Column(shown, spec, scale, unit_known=not bare)
    if told := _in_words(label, shown, composed, schema):
        return told
    bracket = _BRACKET.fullmatch(label)
    if bracket and (name := rate(bracket[1], bracket[2])):
        spec = fields(schema)[name]
        measure = unit(bracket[2])
        assert measure is not None
        return Column(shown, spec, measure.scale)
    if bracket and (found := known.get(normalise(bracket[1]))):
        spec, _ = found
        measure = unit(bracket[2])
        if measure and measure.si == spec.unit:
            return Column(shown, spec, measure.scale)
        if _makes_another(spec, bracket[2]) or (measure and spec.name in _SAID_IN_WORDS):
            return Column(shown, None)
        rated = measure is not None and "/" in bracket[2]  # `checkpointing (s/it)`
        if not measure or (spec.unit is None and not rated):  # `Layers (of all)`: a remark
            return Column(shown, spec, found[1], unit_known=spec.unit != "B")
    return Column(shown, None, degrees=degrees(label) or several(label) or of_a_shape(label))


_ASKED = {
    "activation_checkpointing": "activation_checkpointing", "recompute": "activation_checkpointing",
    "sequence_parallel": "sequence_parallel",
}  # fmt: skip
"""Settings that labels ask for, and the switch of each: `Recompute?`."""


_MANY_AT_ONCE = re.compile(
    r"(?:(?<=[(（\[/, ])|^)(?:(?P<sign>[万萬만亿億억])|[x×*]? ?1(?P<zeros>0{3,8})"
    r"|[x×*]? ?1[eE](?P<power>[3-8])"
    r"|1(?P<k>0{0,2})k) ?(?=(?:tok(?:en)?s?|samples?|seq(?:uence)?s?|images?|img|词元|样本|序列"
    r"|图|トークン"
    r"|サンプル|토큰|샘플) ?(?:/|per\b))"
    r"|(?<=/[sS]) ?[(（\[] ?[x×*]? ?1(?:(?P<zeros_behind>0{3,8})"
    r"|[eE](?P<power_behind>[3-8])) ?[)）\]]$"
)
"""How many of the things that a rate counts each number stands for: `(万 tokens/s)`, `(10k tok/s)`,
`tokens/s (x1000)`."""


def _times(many: re.Match[str]) -> float:
    """The number of things that each number of a rate stands for."""
    if sign := many["sign"]:
        return 1e4 if sign in "万萬만" else 1e8
    if zeros := many["zeros"] or many["zeros_behind"]:
        return 10.0 ** len(zeros)
    if power := many["power"] or many["power_behind"]:
        return 10.0 ** int(power)
    return 1e3 * 10.0 ** len(many["k"])


_SAID_IN_WORDS = {"dtype", "recompute", "activation_checkpointing"}
"""Settings that have no unit: `precision (%)` is how often something was right."""

PARTS_OF_MEMORY = {
    "activation", "activations", "weight", "weights", "gradient", "gradients", "grad", "grads",
    "param", "params", "parameter", "parameters", "states", "state", "buffer", "buffers", "cache",
    "static", "temporary", "temp", "fragmentation", "allocated", "free", "used", "other", "others",
}  # fmt: skip
"""Words behind a memory that is a part of one, or is counted otherwise."""

_OTHER_PARTS = PARTS_OF_MEMORY - {"allocated", "used"}

_REMARK = re.compile(
    r"(?:(?:as )?(?:(?:shown|reported|seen|measured|read|given|displayed)(?: (?:by|in|from|with))? "
    r"|(?:by|in|from|via|with|using) )?(?:(?:nvidia|rocm|npu)[- ]?smi|nvtop|nvitop|gpustat|torch"
    r"|pytorch)|tensorboard|tqdm|rank ?0|gpu ?0|steady[- ]state"
    r"|after warm-?up|measured|lower is better|higher is better|[↓↑])",
    re.IGNORECASE,
)
"""Remarks beside a unit that leave a quantity what it is: where it was seen."""


_OF_ACTIVE = re.compile(
    r"(?:(?:counting|counted|based|computed|calculated|from|by|on|with|for|using|the|only) ){0,4}"
    r"(?:active|activated) (?:params?|parameters|experts|weights|FLOPs?)"
    r"(?: (?:are |is )?(?:only|counted|used|alone))?",
    re.IGNORECASE,
)
"""By which parameters the work of experts was counted: by those that it takes."""

_OF_WORK = re.compile(r"FLOP|\bMFU\b", re.IGNORECASE)


def _without_remark(label: str) -> str:
    """A label with its unit alone in brackets, where they say besides only how it was measured.

    >>> _without_remark("mem (nvidia-smi, MiB)"), _without_remark("mem (weights, MiB)")
    ('mem (MiB)', 'mem (weights, MiB)')
    >>> _without_remark("VRAM (nvidia-smi)"), _without_remark("speed (tqdm)")
    ('VRAM', 'speed (tqdm)')
    >>> _without_remark("TFLOPS/GPU (active params)"), _without_remark("size (active params)")
    ('TFLOPS/GPU', 'size (active params)')
    """
    bracket = _BRACKET.fullmatch(label) if "(" in label else None
    if bracket and _OF_ACTIVE.fullmatch(bracket[2]) and _OF_WORK.search(bracket[1]):
        return bracket[1]
    parts = [part.strip() for part in bracket[2].split(",")] if bracket else []
    units = [part for part in parts if unit(part)]
    rest = [part for part in parts if not unit(part)]
    if bracket is None or not rest or not all(map(_REMARK.fullmatch, rest)):
        return label
    if not units and MEMORY & set(split(bracket[1])):
        return bracket[1]
    return f"{bracket[1]} ({units[0]})" if len(units) == 1 else label


def _makes_another(spec: FieldSpec, remark: str) -> bool:
    """Whether a remark makes a label another quantity: `TFLOPs (total)`, `GBS (tokens)`,
    `Memory (activations, GB)`."""
    part = spec.name == "memory" and bool(_OTHER_PARTS & set(split(remark)))
    return part or (spec.numeric and any(altering(remark)))


def _in_words(label: str, shown: str, composed: Said | None, schema: Schema) -> Column | None:
    """The column of a label whose words say together what it is of."""
    if composed and EACH.get(composed.field) in fields(schema):
        spec = fields(schema)[EACH[composed.field]]
        return Column(shown, spec, composed.scale, rank=OF_EACH)  # where no column has those of all
    if RESERVED in fields(schema) and _RESERVED.search(label):
        if shown in _OF_COMPOSER:
            return Column(shown, fields(schema)[RESERVED], 1e9)
        taken = said(_RESERVED.sub(" ", label, count=1))
        taken = taken or said(_RESERVED.sub(" allocated ", label, count=1))  # `peak reserved`
        if taken and taken.field == "memory" and not (MEAN | MEDIAN) & set(split(label)):
            return Column(shown, fields(schema)[RESERVED], taken.scale, taken.unit_known)
    if composed and composed.field in fields(schema):
        kind = "nominal" if composed.nominal else None
        spec = fields(schema)[composed.field]
        return Column(shown, spec, composed.scale, composed.unit_known, kind, composed.rank,
                      share=composed.share)  # fmt: skip
    return None


_ALSO = {"batchtime": "step time"}
"""Labels of trackers that are another's words."""


_MEASURES = re.compile(r"mem|perf|throughput|speed|timing|stat|metric", re.IGNORECASE)


def _alone(label: str) -> str:
    """A label without the path and the panels that loggers and configurations sort it into.

    >>> _alone("config.backend.torch_dtype"), _alone("metrics/train/batch_time (last)")
    ('torch_dtype', 'step time')
    >>> _alone("mem/GPU"), _alone("monitoring/gpu_name")
    ('mem/GPU', 'gpu_name')
    >>> _alone("SCALARS/perf/step_time_sec (last)"), _alone(":monitor:gpu/gpu_0_mem_used_gb (max)")
    ('step_time_sec', 'mem_used_gb')
    """
    if tracked := _TRACKED.match(label):
        label = label[tracked.end() :]
    if _NAMED_IN.fullmatch(label):
        return label.replace("/", "_")
    if found := _OF_A_DEVICE.fullmatch(label):
        return found[1]
    if _BYTES_OF_A_DEVICE.fullmatch(label):
        return "memory allocated (bytes)"
    if (path := _PATH.match(label)) and configured_by(label[path.end() :]):
        return label[path.end() :]
    panel = _PANELS.match(label)
    if panel is None:
        return label
    rest = _LAST_OF.sub("", label[panel.end() :])
    of_one = set(split(rest)[:1]) <= DEVICE
    held = said(_RESERVED.sub(" ", rest)) if of_one else None
    if held is not None and held.field == "memory":
        return rest
    if of_one and (not configured_by(rest) or _MEASURES.search(panel[1])):
        return label  # `mem/GPU` is of one
    rest = _ALSO.get(normalise(rest), rest)
    return rest + (" per device" if "device" in panel[1] else "")


_OF_ONE_NOUN = re.compile(
    r"(batch(?:[ -]?sizes?)?|bs)\s*[(\[]([^()\[\]/,×]+)[/,×]([^()\[\]/,×]+)"
    r"(?:[/,×]([^()\[\]/,×]+))?[)\]]",
    re.IGNORECASE,
)

_TIMES_DEVICES = re.compile(
    r"(?:(?:mini-?)?batch(?:[ -]?sizes?)?|bs|bsz)?\s*[(\[]?\s*"
    r"(?:(?:[a-z]+|batch(?: ?size)?|bs) ?(?:/|per) ?|per[ -])(?:[GN]PU|device|card)\s*[x×*]\s*"
    r"(?:#|num(?:ber of)? |n)?(?:[GN]PU|device|card)s?\s*[)\]]?"
    r"|(?:(?:mini-?)?batch(?:[ -]?sizes?)?|bs|bsz)\s*[x×*]\s*"
    r"(?:#|num(?:ber of)? |n)?(?:[GN]PU|device|card)s?",
    re.IGNORECASE,
)
"""A batch of each device and how many of them there are: `samples/GPU x GPUs`."""

_SIGNS = (r"\s+[/|]\s+", r"\s*[×*]\s*|\s+x\s+|(?<=[^\x00-\x7f])x(?=[^\x00-\x7f])", r"\s*[/,+]\s*")
"""Signs between the names of a label of several, the clearest first."""

_SHORT = {
    "micro": "micro_batch", "local": "micro_batch", "device": "micro_batch", "gpu": "micro_batch",
    "pergpu": "micro_batch", "perdevice": "micro_batch", "percard": "micro_batch",
    "bs": "micro_batch", "bsz": "micro_batch", "mb": "micro_batch", "batch": "micro_batch",
    "batchsize": "micro_batch", "b": "micro_batch",
    "global": "global_batch", "total": "global_batch", "effective": "global_batch",
    "gb": "global_batch", "accum": "accumulation", "acc": "accumulation", "ga": "accumulation",
    "gas": "accumulation", "gradacc": "accumulation", "accumulation": "accumulation",
    "s": "seq_len", "seq": "seq_len", "seqlen": "seq_len", "sequence": "seq_len", "t": "seq_len",
    "length": "seq_len", "context": "seq_len", "ctx": "seq_len",
}  # fmt: skip
"""Names of batches and lengths beside each other: `batch (micro / global)`, `MBS x GAS`."""

_BATCHES = {"micro_batch", "global_batch", "batch_size"}

_BESIDE_BATCHES = {*_BATCHES, "accumulation", "seq_len", "dp"}

_OF_WHOM_UNSAID = {"b", "bs", "bsz", "batch", "batchsize"}
"""Names of a batch that beside a length say not of whom it is."""


def several(label: str) -> tuple[str, ...]:
    """Fields of a label that names several settings of a batch, or nodes and the devices of each.

    >>> several("Batch/card × accum"), several("Batch (micro / global)")
    (('micro_batch', 'accumulation'), ('micro_batch', 'global_batch'))
    >>> several("nodes x GPUs"), several("tokens / s"), several("BS / GPU")
    (('nodes', 'gpus_per_node'), (), ())
    >>> several("(b, s)"), several("batch/s"), several("Batch size (micro × accum × DP)")
    (('batch_size', 'seq_len'), (), ('micro_batch', 'accumulation', 'dp'))
    """
    if packed := _packed(label):
        return packed
    if label.casefold().endswith(("/s", "/t")):
        return ()  # batches per second
    label = label[1:-1] if label.startswith("(") and label.endswith(")") else label
    if beside := _counted_beside(label.split("/")):
        return beside
    for sign in _SIGNS:
        parts = re.split(sign, label.strip())
        if 2 <= len(parts) <= 3 and (found := _batches(parts)):
            return found
    inner = _BRACKET.fullmatch(label)
    return of_nodes if inner and (of_nodes := _nodes_in(inner[1], inner[2])) else ()


def _packed(label: str) -> tuple[str, ...]:
    """The fields of a label of two counts: a batch of each device and how many of them there are,
    parts of a batch in brackets behind it, or nodes and their devices, one of them in brackets."""
    if len(label) > LONGEST:
        return ()
    if _TIMES_DEVICES.fullmatch(label):
        return "micro_batch", "gpus"
    if noun := _OF_ONE_NOUN.fullmatch(label):
        return _batches([part for part in noun.groups()[1:] if part])
    bracket = _BRACKET.fullmatch(label) if "(" in label else None
    return _counted_beside([bracket[1], bracket[2]]) if bracket else ()


def _counted_beside(parts: Sequence[str]) -> tuple[str, ...]:
    """The fields of a label that counts nodes and their devices: `Nodes / GPUs`."""
    names = list(map(normalise, parts))
    if len(names) != 2 or not any(each in _HOSTS for each in names):
        return ()
    found = tuple("nodes" if n in _HOSTS else "gpus" if n in _ALL_DEVICES else "" for n in names)
    return found if {*found} == {"nodes", "gpus"} else ()


def _nodes_in(name: str, remark: str) -> tuple[str, ...]:
    """The fields of a remark that says how many devices are multiplied: `Scale (nodes x GPUs)`."""
    if normalise(name) not in SCALES:
        return ()
    found = (_batches(re.split(sign, remark.strip())) for sign in _SIGNS[:2])
    return next((each for each in found if "nodes" in each), ())


def _batches(parts: Sequence[str]) -> tuple[str, ...]:
    names = [normalise(part) for part in parts]
    if len(names) == 2 and names[0] in _HOSTS and names[1] in _OF_A_HOST:
        return "nodes", "gpus_per_node"
    if len(names) == 2 and names[1] in _HOSTS and names[0] in _OF_A_HOST:
        return "gpus_per_node", "nodes"
    told = [configured_by(part) for part in parts]
    found = [own if own in _BESIDE_BATCHES else _SHORT.get(name, "")
             for own, name in zip(told, names, strict=True)]  # fmt: skip
    if "seq_len" in found and "accumulation" not in found:
        found = ["batch_size" if name in _OF_WHOM_UNSAID else own
                 for own, name in zip(found, names, strict=True)]  # fmt: skip
    alone = names[-1] in ("gpu", "device")  # `BS / GPU` is one setting
    known = all(found) and len(set(found)) == len(found) and not alone
    return tuple(found) if known and not _BATCHES.isdisjoint(found) else ()


_HOSTS = {
    "nodes", "hosts", "machines", "servers", "节点", "节点数", "机", "机器", "机器数", "ノード",
    "노드",
}  # fmt: skip

_ALL_DEVICES = {"gpus", "npus", "devices", "cards", "gcds", "chips"}
"""Devices beside nodes: of all of them or of each, as their numbers say."""

_OF_A_HOST = {
    "gpus", "npus", "devices", "cards", "ranks", "gpuspernode", "gpus/node", "pernode",
    "gpupernode", "processes", "gpu/node", "devicespernode", "npuspernode", "卡", "卡数",
    "每节点卡数", "每机卡数", "枚", "장",
}  # fmt: skip
"""Names of nodes, and of what each of them has, beside each other: `nodes x GPUs/node`."""

SCALES = {
    "config", "configuration", "setup", "scale", "gpus", "devices", "hardware", "size", "cluster",
    "resources", "machines", "system", "clustersize", "platform", "规模", "集群", "集群规模",
    "配置", "构成", "構成", "규모",
}  # fmt: skip
"""Labels over how many devices runs took, or on which."""


def rate(label: str, printed_unit: str) -> str | None:
    """The field of a generic column, by a unit; None where the label or the unit is another."""
    measure = unit(printed_unit)
    if measure is None:
        return None
    name = normalise(label)
    if name in STEPS or name == "dt" or (name in _TIMED and "/" in printed_unit):
        return "step_time" if measure.si == "s" else None
    if not _says_little(label):
        return None
    words = set(split(english(label)))
    whole = bool({"performance", "perf"} & words) or words <= _READ_OFF
    if whole and measure.si == "s" and measure.scale >= 1.0 and "/" not in printed_unit:
        return None  # `Performance | 79.8 s` is the time of a whole run as often as of a step
    per_gpu = of_one_device(label) or measure.per is not None or "gpu" in printed_unit.casefold()
    if measure.si == "flop/s" and measure.scale > 1e12 and not per_gpu:
        return None  # petaflops are of a whole job
    return RATES.get((measure.si, per_gpu))


@lru_cache(maxsize=4096)  # asked again by each view of a table
def _says_little(label: str) -> bool:
    """Whether a label says nothing but that something was fast: `Throughput per GPU`.

    >>> _says_little("Training speed"), _says_little("Peak throughput")
    (True, False)
    >>> _says_little("Total throughput"), _says_little("Total throughput per GPU")
    (True, False)
    """
    words = set(split(timeless(english(label))))
    known = PLAIN | MEAN | (DEVICE if words & DEVICE else WHOLE) | {"/"}
    if (len(words) == 1 and words <= ATTAINED) or (words and words <= _READ_OFF):
        return True
    return bool(words & GENERIC) and not words - GENERIC - known


def generic(column: Column) -> bool:
    """Whether only the cells of a column tell what it holds, if anything that is measured."""
    if column.spec is not None:
        return False
    return column.by_cells or normalise(column.label) in STEPS or _says_little(column.label)
