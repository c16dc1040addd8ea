"""Subject of a table: runs that trained, or a device, a kernel, a server, a house of cards.

In: the columns of a table and the heading above it. Out: whether its rows are training runs. A step
time, a utilisation, tokens per second and GPU or a peak of memory are a run's alone. `TFLOPs`,
`Memory`, `tokens/s` and `samples/s` are printed of anything: they are a run's where columns beside
them say how it ran, or more than one rate stands there, and no column is of another trade.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import PurePath

from assay.ingest.columns.cells import OF_A_RANGE, slices
from assay.ingest.columns.composite import called, layout, machine, recipe, remark
from assay.ingest.columns.headers import Column, generic, header, plain
from assay.ingest.columns.titles import titled
from assay.ingest.grids.grid import LONGEST, MOST_COLUMNS, Grid
from assay.ingest.schema.record import REMEMBERED, Line, Record, Schema
from assay.ingest.vocabulary.devices import SIGN, signed
from assay.ingest.vocabulary.terms import normalise
from assay.ingest.vocabulary.words import (
    BATCH,
    DEVICE,
    MEAN,
    PLAIN,
    TIMES,
    english,
    of_one_device,
    split,
)

ALONE = {"step_time", "tokens_per_gpu_per_s", "mfu", "hfu", "mfu_weights", "hfu_weights"}
"""Quantities that only runs have."""

RATES = {"model_flops_rate", "tokens_per_s", "samples_per_s", "step_rate", "item_rate"}

TALLIED = {"model", "model_size", "parameters", "gpu", "dtype", "attention"}
"""Configuration that devices, kernels and servers have as well."""

_OF_A_STEP = {"micro_batch", "global_batch", "accumulation"}
"""Batches that no call of a kernel has."""

_OF_PARTITIONS = {"nodes", "gpus_per_node"}
"""Counts of a table of a cluster's partitions beside the memory of a device."""

SERVING = {
    "ttft", "tpot", "itl", "prefill", "decode", "prompt", "concurrency", "qps", "rps", "requests",
    "req", "generation", "generated", "inference", "serving", "acceptance", "isl", "osl", "rtf",
}  # fmt: skip

FOREIGN = SERVING | {
    "kernel", "kernels", "op", "ops", "operator", "operation", "bandwidth", "bw", "latency",
    "shape", "browser", "vcpu", "vcpus", "cores", "tdp", "headdim", "fwd", "bwd", "gemm", "price",
}  # fmt: skip
"""Words of columns that stand beside numbers of servers, kernels and devices."""

ELSEWHERE = {
    "component", "components", "breakdown", "atoms", "particles", "bodies", "mesh", "hz", "fps",
    "latent", "latents", "ttft", "tpot", "itl", "prefill", "decode", "qps", "rps", "rtf",
}  # fmt: skip
"""Words of columns beside which a time of a step is one of its parts, or of no training."""

_OF_A_WORLD = {"mesh", "atoms", "particles", "bodies"}
"""Those of worlds that are simulated, and of the samples of models that learn to."""

_OF_GRADIENTS = {"activation_checkpointing", "recompute"}
"""Configuration that only what computes gradients has, which no simulation does."""

_ELSEWHERE = re.compile(
    r"\b(?:inference|serving|decod(?:e|ing)|prefill|generat(?:e|ion)|latency|kernels?|gemms?|matmuls?"
    r"|(?:batch|online|offline) predict(?:ion|or)s?"
    r"|micro-?benchmarks?|spec(?:s|ification)?s?|hardware)\b|推理|推論|추론",
    re.IGNORECASE,
)

_SAID = ("value", "outcome")

_TRAINED = re.compile(
    r"\b(?:pre-?train|train|fine-?tun|sft|lora)|训练|微调|学習|トレーニング|학습|훈련|파인 ?튜닝",
    re.IGNORECASE,
)


_SERVED = re.compile(
    r"\b(?:inference|serv(?:e|ing)|prefill|decod(?:e|ing)"  # images are decoded for training too
    r"(?!(?:\W+and\W+\w+)?\W+(?:the\W+)?(?:images?|videos?|frames|jpe?gs?|audio)\b)"
    r"|generation|prompts?|requests|concurrency|ttft|rollouts?)\b"
    r"|\b(?:vllm|llama\.cpp|ollama|tensorrt|gguf|quanti[sz]ed|kv cache)|推理|推論|추론",
    re.IGNORECASE,
)

_TRAINING = re.compile(
    r"\b(?:pre-?)?train(?:ing|ed|s)?\b|\bfine-?tun|训练|微调|学習|トレーニング|학습|обуч"
    r"|ファインチューニング|微調整|훈련|파인 ?튜닝|미세 ?조정|\bTrainings"
    r"|\b(?:Feintuning|ajuste fino)\b"
    r"|\b(?:micro|global|local)[ -]?batch|\bdata[ -]?parallel|\bgradient accumulation"
    r"|\bgrad\.? accum|\bq?lora(?![a-z])|\bpipeline parallel|\bactivation checkpoint|\b1F1B\b"
    r"|\bzero[ -]?bubble|\bFSDP|\bZeRO[ -]?(?:stage[ -]?)?[123]\b|\bDDP\b"
    r"|(?:\b|_)train_(?:micro_)?batch_size\b|\b(?:pre)?train\w*\.py\b|\bfine_?tun\w*\.py\b"
    r"|\brun_(?:clm|mlm|plm|sft)\w*\.py\b"
    r"|\b(?:Horovod|Colossal-?AI|nanoGPT|GPT-NeoX|Axolotl|torchtitan|Megatron-(?:LM|DeepSpeed))\b"
    r"|\b(?:trainiert|entra[iî]n|entrena(?:r|do|da|mos|miento)|treina(?:r|do|da|mos|mento))",
    re.IGNORECASE,
)

_OF_A_TRAINER = re.compile(
    r"\btrain(?:ers?|able)\b|\bepochs?\b|\boptimi[sz]er|\bgradients?\b|\bAMP\b|\bapex\b"
    r"|\btorchrun\b",
    re.IGNORECASE,
)
"""Words of training that texts about kernels have as well."""

MENTIONS = 3
"""Lines that speak of training before a document is said to be about it."""


def about_training(lines: Sequence[Line]) -> tuple[bool, bool, bool]:
    """Whether a document speaks of training often, and much more than of serving; whether it
    speaks of training, and of serving no more; and whether it is about serving."""
    spoken = [_speaks(line.text) for line in lines]
    trained, served = sum(of for of, _ in spoken), sum(of for _, of in spoken)
    words = trained or sum(_OF_A_TRAINER.search(line.text) is not None for line in lines)
    often = trained >= MENTIONS and trained > 3 * served
    return often, words > 0 and words >= served, served >= MENTIONS and served > 2 * words


def named_for_training(grid: Grid, source: str, height: int) -> str:
    """The words by which a file that is all one table of separated values is called, where they are
    of training; empty where they are not.

    >>> sheet = Grid("csv", 1, 2, 2, 2, (), ())
    >>> named_for_training(sheet, "results/pytorch-train-throughput.csv", 2)
    'pytorch train throughput'
    """
    words = re.sub(r"[_.-]+", " ", PurePath(source).stem)
    alone = grid.syntax in ("csv", "tsv") and grid.end == height
    return words if alone and _TRAINED.search(words) else ""


def trained_here(lines: Sequence[Line]) -> bool:
    """Whether the text above a table, below its heading, speaks of training and of no serving."""
    return any(_speaks(line.text)[0] for line in lines) and not served_here(lines)


def served_here(lines: Sequence[Line]) -> bool:
    """Whether the text above a table, below its heading, speaks of serving."""
    return any(_speaks(line.text)[1] for line in lines)


@lru_cache(maxsize=REMEMBERED)  # every table asks the lines above it, which tables share
def _speaks(text: str) -> tuple[bool, bool]:
    """Whether a line speaks of training, and whether of serving."""
    low = text.casefold()
    trains = any(map(low.__contains__, _OF_TRAINING)) and _TRAINING.search(text) is not None
    return trains, any(map(low.__contains__, _OF_SERVING)) and _SERVED.search(text) is not None


_OF_TRAINING = (
    "train", "tun", "训练", "微调", "学習", "トレーニング", "학습", "обуч", "entren", "trein",
    "チューニング", "微調整", "훈련", "튜닝", "미세", "ajuste fino",
    "entraî", "horovod", "colossal", "nanogpt", "gpt-neox", "axolotl", "torchtitan", "megatron-",
    "batch", "parallel", "lora", "checkpoint", "1f1b", "accum", "bubble", "fsdp", "zero",
    "ddp", "run_",
)  # fmt: skip
"""One of these is in small letters in every text that `_TRAINING` is found in: most lines have
none, and an expression takes ten times as long to say so."""

_OF_SERVING = (
    "inference", "serv", "decod", "prefill", "generation", "prompt", "request", "concurrency",
    "ttft", "rollout", "vllm", "llama.cpp", "ollama", "tensorrt", "gguf", "quanti", "kv cache",
    "推理", "推論", "추론",
)  # fmt: skip
"""The same of `_SERVED`."""


def names_rates(labels: Sequence[str], schema: Schema) -> bool:
    """Whether one of some labels is of a rate or a time that no kernel has."""
    specs = (column.spec for column in header(labels, schema))
    return any(spec is not None and spec.name in ALONE | _OF_DATA for spec in specs)


def names_rate(lines: Sequence[Line]) -> bool:
    """Whether some lines name a rate of data, which no kernel has: `images/sec`."""
    return any(_RATE.search(line.text) for line in lines)


def names_batch(lines: Sequence[Line]) -> bool:
    """Whether some lines count the samples of a step, which no kernel has: `MBS=2, GBS=1024`."""
    said = (cell for line in lines for name, cell in titled(line).items() if name in _OF_A_STEP)
    return any(cell.state == "value" for cell in said)


_RATE = re.compile(
    r"\b(?:im(?:a)?g(?:e)?s?|samples?|seq(?:uence)?s?|sent(?:ence)?s?|examples?|tok(?:en)?s?|words)"
    r" ?(?:/|per|a) ?s(?:ec(?:ond)?)?\b",
    re.IGNORECASE,
)


def measures(columns: Sequence[Column]) -> bool:
    """Whether some column may hold something that was measured; nothing else is of runs."""
    return any((c.spec is not None and c.spec.quantity) or generic(c) for c in columns)


def numberless(grid: Grid, schema: Schema) -> bool:
    """Whether a table measures nothing however it is looked at: no row of it has a digit or says
    that memory was not enough, and neither its header nor its first column names a quantity."""
    texts = [cell.text for row in grid.rows for cell in row.cells]
    if any(map(_MEASURED.search, texts)):
        return False
    firsts = [row.cells[0].text for row in grid.rows[:MOST_COLUMNS] if row.cells]
    under = [cell.text for cell in grid.rows[0].cells] if grid.rows else []  # a second header
    both = [f"{over} {text}" for over, text in zip(grid.header(), under, strict=False)]
    asked = (grid.header(), firsts, under, both)
    return not any(measures(header(labels, schema)) for labels in asked)


_MEASURED = re.compile(r"\d|\b(?:oom|out of memory)\b", re.IGNORECASE)


_PRICED = re.compile(r"[€£¥]|\$(?!(?!(?:US|AU|CA|SG)D\b|per\b)[A-Za-z_{]\w)")
"""A sign of money; `$BS` is a variable of a script."""

_OF_BYTES = re.compile(r"(?:\w+ )?[(\[]?[KMG]i?B(?:/|[ _]per[ _])s(?:ec)?[)\]]?", re.IGNORECASE)
"""A label of what is read or sent in a second."""

_PRODUCT = {"m", "n", "k"}

_ANSWERED, _LENGTHS = {"input", "output"}, {"length", "lengths", "len", "tokens", "token"}
"""Words of labels of what was asked and answered: `Input, Output Lengths`."""


@lru_cache(maxsize=256)  # a document has the same header again and again
def _words_of(labels: tuple[str, ...]) -> frozenset[str]:
    """All words of some labels."""
    return frozenset(word for label in labels for word in split(english(label)))


def of_runs(
    columns: Sequence[Column],
    heading: str,
    *,
    document: bool = False,
    spoken: bool = False,
    told: Callable[[], bool],
    several: Callable[[], bool],
    rated_near: Callable[[], bool] = lambda: False,
    stepped: Callable[[], bool] = lambda: False,
    serving: bool = False,
) -> bool:
    """Whether the rows under these columns, below this heading, are runs.

    `document` says that the text around them is about training, `spoken` that it speaks of it and
    of nothing else that has rates of tokens or samples, `told` whether the cells of some
    column say how each row was run, `several` whether the lines above name several devices,
    `rated_near` whether they name a rate of data, `stepped` whether they count the samples of a
    step, `serving` that the document is about that.
    """
    if not measures(columns):
        return False
    held = {column.spec.name for column in columns if column.spec and column.spec.quantity}
    said = {column.spec.name for column in columns if column.spec and column.spec.configuration}
    labels = tuple(c.label for c in columns if not c.degrees)
    words = _words_of(tuple(label for label in labels if not _OF_A_WHOLE_RUN.fullmatch(label)))
    words |= {"price"} if any(_PRICED.search(c.label) for c in columns) else set()
    words |= {"bandwidth"} if any(_OF_BYTES.fullmatch(c.label) for c in columns) else set()
    words |= {"serving"} if not document and words >= _ANSWERED and words & _LENGTHS else set()
    if len(columns) >= len(_PRODUCT) and {normalise(c.label) for c in columns} >= _PRODUCT:
        return False  # products of matrices
    if held <= {"step_time", "memory"} and of_an_optimizer(heading):
        return False
    called = _OF_A_CALL if words & _IMPLEMENTED and not document else _IN_MICROSECONDS
    if held == {"memory"} and any(called.search(c.label) for c in columns):
        return False
    if held & (ALONE - {"tokens_per_gpu_per_s"}):
        named = {
            word
            for c in columns
            if c.spec and c.spec.name == "step_time"
            for word in split(english(c.label))
        }
        own = bool(named & {"train", "training"})  # beside how fast what was trained is used
        of_devices = "mesh" in words and (said & _OF_A_STEP or told())
        elsewhere = ELSEWHERE - ({"mesh"} if of_devices else set())
        elsewhere -= _OF_A_WORLD if document and said & _OF_GRADIENTS else set()
        return own or bool(held & (ALONE | RATES) - {"step_time"}) or not words & elsewhere
    if "tokens_per_gpu_per_s" in held:
        return not words & SERVING or bool(words & {"train", "training"})
    trained = _TRAINED.search(heading) or words & {"training", "train", "trainable"}
    timed = document and bool(held & RATES)  # beside a rate
    aside = {"latency"} if timed else set()
    aside |= {"fwd", "bwd"} if timed and (said & _OF_A_STEP or told()) else set()
    aside |= {"price"} if trained or (document and told()) else set()  # of what was trained
    own = any(map(_of_training, columns))
    aside |= SERVING if own else set()  # beside what was trained
    if held & RATES and said & _OF_A_STEP:  # which kernels a run had
        aside |= {"kernel", "kernels"}
    needed = document and any(map(_needed, columns))
    of_jobs = (
        needed
        or (document and held & _OF_JOBS)
        or (_OF_KERNELS.search(heading) is not None and stepped())
    )
    text = _OF_KERNELS.sub(" ", heading) if of_jobs else heading
    if words & (FOREIGN - aside) or (_ELSEWHERE.search(text) and not trained):
        return False
    timed = any(generic(column) for column in columns)  # if its cells say a rate
    rated = held & RATES or _most(columns) or timed
    laid_out = any({"tp", "pp", "dp"} <= set(column.degrees) for column in columns)
    if rated and (trained or document or serving or laid_out or told() or stepped()):
        return bool(trained or document or not serving)
    if spoken and not words & _QUALITIES and (held & _OF_DATA or (timed and rated_near())):
        return True
    spread = any(
        column.spec is not None and column.spec.name == "model_flops_rate"
        and of_one_device(column.label) for column in columns
    )  # fmt: skip
    if spread and several():  # kernels and devices are measured one at a time
        return True
    used = words & {"usage", "used", "consumption"} or _OF_MEMORY.search(heading)
    if document and "memory" in held and said and used:
        return True
    beside = words & BATCH or any(generic(column) for column in columns)
    beside = beside or any(times_an_epoch(c.label) for c in columns)
    batches = bool(trained and "memory" in held and beside)
    only_sizes = held == {"memory"} and not _most(columns)  # of a partition's nodes, perhaps
    tallied = TALLIED | (_OF_PARTITIONS if only_sizes else set())
    of_machines = only_sizes and words & _OF_A_SITE and said <= tallied | {"gpus"}
    peaked = needed or _peaked(columns)
    plain = bool(said - tallied) or len(held & RATES) > 1 or batches or peaked or own
    return (plain or told()) and not of_machines  # what each of them has


_OF_MEMORY = re.compile(
    r"\bmemory\b.{0,24}\b(?:benchmarks?|usage|used|consumption|footprint|measure[a-z]{1,6})\b"
    r"|\b(?:measured|used|peak|maximum) (?:[A-Z]PU |device )?memory\b",
    re.IGNORECASE,
)
"""A heading of how much memory runs took: `U-Net memory benchmark`."""

_OF_A_WHOLE_RUN = re.compile(
    r"latency ?[(\[,]? ?(?:in )?(?:min(?:ute)?s?|h(?:ou)?rs?|h|days?)\.?[)\]]?"
    r"|acceptance(?: criteri(?:on|a))?",
    re.IGNORECASE,
)
"""The latency of no call, but of training until it is good enough, as MLPerf has it, and what is
good enough."""

_OF_AN_EPOCH = PLAIN | MEAN | set(TIMES) | {
    "time", "epoch", "/", "of", "one", "an", "in", "min", "mins", "minutes", "h", "hour", "hours",
    "wall", "clock", "elapsed",
}  # fmt: skip
"""Words of a label of how long an epoch took, which nothing but training has."""


def times_an_epoch(label: str) -> bool:
    """Whether a column holds how long an epoch took: `Training Time (sec/epoch)`."""
    words = set(split(english(label)))
    return "epoch" in words and len(words) > 1 and words <= _OF_AN_EPOCH


_IN_MICROSECONDS = re.compile(
    r"\b(?:time|latency|step|iter(?:ation)?|duration)s?\b.{0,12}?[(\[](?:us|µs|μs|usec|microseconds?)[)\]]"
    r"|\b(?:time|latency|step|iter(?:ation)?)_us\b",
    re.IGNORECASE,
)
"""A label of a time that is a call's: no step of training is counted in microseconds."""

_IMPLEMENTED = {"implementation", "implementations", "impl", "provider", "backend", "kernel"}

_OF_A_CALL = re.compile(
    rf"{_IN_MICROSECONDS.pattern}|^(?:time|latency|duration)[ _]?[(\[]?ms[)\]]?$", re.IGNORECASE
)
"""The same beside what implements the call, whose time may be bare."""

_OF_AN_OPTIMIZER = re.compile(
    r"(?<![A-Za-z])(?:(?:fused|apex|cpu|8-?bit)?[ _-]?"
    r"(?:adam\w*|lamb|lion|sgd|adafactor|muon|shampoo)"
    r"|optimi[sz]ers?(?:['’]s)?)(?:[ -](?:steps?|updates?)(?![A-Za-z])|\.step\b)"
    r"|(?<![A-Za-z])(?:steps?|updates?) of (?:the |an? |one )?(?:\w*adam\w*|optimi[sz]ers?)",
    re.IGNORECASE,
)
"""Words of a heading that the step of an optimizer has, which is no step of training."""


def of_an_optimizer(heading: str) -> bool:
    """Whether a heading is of the steps of an optimizer alone.

    >>> of_an_optimizer("AdamW step (1.1B parameters)"), of_an_optimizer("Step time with AdamW")
    (True, False)
    """
    return _OF_AN_OPTIMIZER.search(heading) is not None and not _TRAINED.search(heading)


_OF_KERNELS = re.compile(r"\b(?:kernels?|hardware)\b", re.IGNORECASE)
"""Words of a heading that no job's rate is of: `Liger Kernel: Llama 3 8B with FSDP`."""

_OF_JOBS = {"tokens_per_s", "samples_per_s"}

_OF_DATA = RATES - {"model_flops_rate"}
"""Rates that no kernel has."""

_QUALITIES = {
    "accuracy", "acc", "ap", "map", "top", "bleu", "wer", "cer", "fid", "f1", "iou", "miou", "auc",
    "ndcg", "mmlu", "quant", "quantization", "params", "flops", "macs",
}  # fmt: skip
"""Words of columns of a table of finished models, whose rates are mostly those of their use."""


_OF_A_SITE = {"partition", "partitions", "queue", "queues", "instance", "instances"}
"""Words of labels of a table of the machines that a site has."""


def _most(columns: Sequence[Column]) -> bool:
    """Whether a column says the most memory that something took."""
    most = {"peak", "max", "maximum"}
    return any(
        column.spec is not None
        and column.spec.name == "memory"
        and (column.most or most & set(split(column.label)))
        for column in columns
    )


def _of_training(column: Column) -> bool:
    """Whether a column says itself that what it measures is of training: `Training Memory`."""
    measured = column.spec is not None and column.spec.quantity is not None
    said = set(split(english(column.label)))
    return measured and bool({"train", "training", "finetuning"} & said)


def _needed(column: Column) -> bool:
    """Whether a column holds memory that a text above says training took, under another name."""
    memory = column.spec is not None and column.spec.name == "memory"
    return memory and column.most and not _A_MEMORY.search(column.label)


_A_MEMORY = re.compile(r"mem|ram\b|hbm|存|メモリ|메모리", re.IGNORECASE)


def _peaked(columns: Sequence[Column]) -> bool:
    """Whether a column says the most memory of a device that a run took: no size of a device."""
    most = {"peak", "max", "maximum", "allocated", "used"}
    return any(
        column.spec is not None
        and column.spec.name == "memory"
        and most & (words := set(split(column.label)))
        and words & (DEVICE | {"vram", "hbm", "cuda"})
        for column in columns
    )


def measured(
    records: Sequence[Record], refused: int, columns: Sequence[Column], *, ranges: bool = True
) -> bool:
    """Whether some row has a number of what was measured, where the header alone is no proof, nor
    are ranges, unless they are said to be."""
    held = {column.spec.name for column in columns if column.spec}
    if not records:  # a row that cannot be read is refused, a table of such rows is not ours
        return refused == 1 and bool(held & ALONE)
    return any(
        name in record.cells
        and record.cells[name].state in _SAID
        and (ranges or record.cells[name].law != OF_A_RANGE)
        for record in records
        for name in (*ALONE, *RATES, "memory")
    )


def numbering(values: Sequence[str]) -> bool:
    """Whether cells count their rows, 1, 2, 3: a column of names, whatever its label.

    >>> numbering(["1", "2", "3"]), numbering(["1", "2", "4"]), numbering(["40", "41"])
    (True, False, False)
    """
    counted = [str(number) for number in range(1, len(values) + 1)]
    return len(values) > 2 and list(values) == counted


def name_rows(records: Sequence[Record], columns: Sequence[Column]) -> None:
    """Take columns that only count their rows for what they are: names, kept as printed."""
    asked = set[str]()  # several groups may have a column of one field
    for column in columns:
        spec = column.spec
        if spec is None or spec.quantity is None or spec.name in asked:
            continue
        asked.add(spec.name)
        cells = [record.cells[spec.name] for record in records if spec.name in record.cells]
        if len(cells) == len(records) and numbering([cell.text for cell in cells]):
            for record in records:
                record.other.append((column.label, record.cells.pop(spec.name).text))


def says_how(grid: Grid) -> bool:
    """Whether the cells of some column say how each row was run: its layout, its devices."""
    rows = [row for row in grid.rows if not row.blank and not row.one]
    for n in range(grid.width):
        texts = Counter(row.cells[n].text for row in rows if n < len(row.cells))
        if 2 * sum(count for text, count in texts.items() if _of_a_run(text)) >= len(rows) > 0:
            return True
    return False


_MANY_DEVICES = re.compile(
    r"(?<![\w.,])(?:[2-9]|[1-9][0-9]{1,4})\s?[x×]?\s?"
    rf"(?:{SIGN}s?|GPUs|NPUs|TPUs|chips|devices)(?![0-9])"
)


@lru_cache(maxsize=REMEMBERED)  # every table asks the lines above it, which tables share
def many_devices(text: str) -> bool:
    """Whether a line names more devices than one: `8x H100`, `64 GPUs`."""
    return _MANY_DEVICES.search(signed(text)) is not None


@lru_cache(maxsize=4096)  # each view of a table asks its cells again
def _of_a_run(text: str) -> bool:
    if len(text) > LONGEST or not any(map(str.isalpha, text)):
        return False
    bare = plain(text)
    return bool(
        layout(bare)
        or remark(bare)
        or "gpus" in machine(bare)
        or slices(bare)
        or called(bare).keys() - {"model", "model_size"}
        or "sharding" in recipe("", bare)
        or _TO_TRAIN.search(bare)
        or _LAUNCHES.search(bare)
    )


_LAUNCHES = re.compile(
    r"^(?!.*(?:infer|eval|serv|generat|decod|vllm|sglang))(?:.*?[\s;`])?"
    r"(?:srun (?:\S+ ){0,6}?(?:-N ?|--nodes[ =])[0-9]"
    r"|(?:torchrun|accelerate launch|composer|tune run|python[0-9.]* -m torch\.distributed\.\w+) "
    r"(?:\S+ ){0,6}?(?:-n ?|--(?:nproc[-_]per[-_]node|num[-_]processes|nnodes|nproc)[ =])[0-9]"
    r"|deepspeed (?:\S+ ){0,6}?--num_(?:gpus|nodes)[ =][0-9])"
)
"""A launcher with a count of what it starts on, which says how its row was run."""


_TO_TRAIN = re.compile(r"\b(?:pre-?|re)?train(?:ing)?\b|\bfine-?tun", re.IGNORECASE)


_PHASES = {
    "phase", "mode", "stage", "task", "split", "workload", "type", "kind", "pass", "scenario",
    "run type", "pipeline", "step", "job", "run", "what", "阶段", "任务", "类型", "模式", "场景",
}  # fmt: skip
"""Labels of columns whose cells may say that a row is of no training."""

_NO_TRAINING = re.compile(
    r"(?:(?:batch(?:ed)?|online|offline|model)[ _-]?)?(?:infer(?:ence|encing)?|eval(?:uation)?|val"
    r"(?:idation)?|test(?:ing)?|predict(?:ion|ing)?|generat(?:e|ion|ing)|decod(?:e|ing)|prefill"
    r"|serv(?:e|ing)|forward[ -]only|(?:RL |PPO |GRPO |policy )?roll-?outs?|sampl(?:er|ing)"
    r"|generator|deploy(?:ed|ment)|reward[ -]?(?:model|scoring)"
    r"|推理|在线推理|离线推理|评测|评估|验证|推論|추론)"
    r"(?:\s*\([^()]*\))?",
    re.IGNORECASE,
)


def of_no_training(record: Record) -> bool:
    """Whether a cell of a row says that it is of inference or of an evaluation, or how far the
    values of another row lie apart.

    It is all of the cell, and stands where rows say what they are of; or a word in it is.
    """
    model = record.cells.get("model")
    return (model is not None and _of_inference(model.text)) or any(
        (name in _PHASES and _NO_TRAINING.fullmatch(plain(text)) is not None)
        or (name in _PHASES and _of_inference(text))
        or (name in _STATISTICS and spread(text))
        for label, text in record.other
        if len(text) <= LONGEST and (name := label.strip("# ").casefold()) in _OF_ROWS
    )


@lru_cache(maxsize=4096)  # a table has the same names again and again
def _of_inference(text: str) -> bool:
    """Whether a name of what was run is of inference: `BERT-Large inference`."""
    return (
        len(text) <= LONGEST
        and _INFERENCE.search(text) is not None
        and _TRAINING.search(text) is None
    )


_INFERENCE = re.compile(r"(?<=\w[ (,:-])[(]?(?:inference|serving)\b", re.IGNORECASE)

_STATISTICS = {
    "stat", "stats", "statistic", "statistics", "agg", "aggregate", "aggregation", "summary",
    "quantile", "percentile", "level_1", "level_2", "unnamed: 1", "unnamed: 2", "统计",
}  # fmt: skip
"""Labels of columns whose cells may say that a row is a statistic."""

_OF_ROWS = _PHASES | _STATISTICS


def titled_otherwise(text: str) -> bool:
    """Whether a line among the rows of a table is a title of inference alone.

    >>> titled_otherwise("**Inference**"), titled_otherwise("Training and inference")
    (True, False)
    """
    return _NO_TRAINING.fullmatch(plain(text).strip("*_ :")) is not None


_SPREAD = (
    r"std(?:dev)?\.?|st\.? ?dev\.?|min(?:imum)?|max(?:imum)?|variance"
    r"|p(?!40)[0-9]{2}(?:\.[0-9])?|n|count"  # P40 is a device
)

_SUMMARY = re.compile(
    r"(?:(?:arithmetic |geometric )?mean|average|avg\.?|geomean|median|平均|sum"
    r"|(?:grand )?totals?|合计|总计"
    rf"|{_SPREAD}|standard deviation|最[大小](?:值)?)",
    re.IGNORECASE,
)
"""First cell of a row that sums up the rows above it, and is none itself."""


BOUNDS = ("__MIN", "__MAX")
"""Behind the labels of the bounds of what a tracker draws as one point: such rows are steps."""

_DESCRIBED = {"count", "mean", "std", "min", "max"}


def described(names: Iterable[str]) -> bool:
    """Whether names of rows, or labels of columns, are those of the statistics that a frame prints
    of its columns: how many values, their mean, spread and quartiles, of nobody knows which rows.

    >>> described(["count", "mean", "std", "min", "25%", "50%", "75%", "max"])
    True
    """
    return {plain(name).casefold() for name in names} >= _DESCRIBED


def summary(text: str) -> bool:
    """Whether the first cell of a row says that it sums up those above it.

    >>> summary("**Mean**"), summary("mean time")
    (True, False)
    """
    return _SUMMARY.fullmatch(plain(text).strip("*_ :")) is not None


_OF_SPREAD = re.compile(rf"(?:{_SPREAD}|standard deviation|最[大小](?:值)?)", re.IGNORECASE)


def spread(text: str) -> bool:
    """Whether the label of a column says how far values lie apart: that of no run beside the mean.

    >>> spread("P40")
    False
    >>> spread("Std"), spread("p95"), spread("mean")
    (True, True, False)
    """
    return _OF_SPREAD.fullmatch(plain(text).strip("*_ :")) is not None
