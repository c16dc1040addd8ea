"""Labels of columns of kernels, each by itself: what is measured below it, and what sets it apart.

In: a label and the schema of a kind of table. Out: the `Column` that it names. A label may name a
number format, a library or a direction beside what was measured (`BF16 TFLOPS`, `bwd (ms)`), and
where a collective puts its result.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace

from assay.ingest.kernels.kernel_headings import BANDWIDTH, LIBRARIES
from assay.ingest.numbers.units import unit
from assay.ingest.schema.fields import FieldSpec, by_label, fields
from assay.ingest.schema.record import Schema, ValueOrigin
from assay.ingest.tables.csv_sections import bandwidth_named, timed
from assay.ingest.vocabulary.terms import meaning, normalise
from assay.ingest.vocabulary.words import english, european, split

FORMATS = r"(?:mx|nv)?(?:b?f|fp|bf|tf|int)(?:loat)?[0-9]{1,2}(?:_?e[0-9]m[0-9])?"

_GRADIENTS = (
    r"(?:backward|bwd)[ _](?:w\.?r\.?t\.? ?(?:the )?|of )?(?:inputs?|weights?|data|filters?)"
    r"(?![A-Za-z])|[dw]grad"
)
"""The one of two passes back that a label names, as benchmarks of convolutions do."""

_LOSSES = r"loss ?\+ ?grad(?:ient)?s?(?=:)|grad(?:ient)?s?(?=:)|loss(?=:)"
"""Passes of a loss: `Loss: time (ms) | Gradient: time (ms) | Loss+Gradient: time (ms)`."""

_ASIDE = re.compile(
    rf"(?P<dtype>(?!float[234](?![A-Za-z0-9_])){FORMATS})|(?P<kernel>{LIBRARIES})|(?P<direction>{_GRADIENTS}|{_LOSSES}|"
    r"(?:fwd|forward) ?(?:\+|and|_and_|_) ?(?:bwd|backward)|fwdbwd|forward|backward|fwd|bwd"
    r"|[FB]W(?= (?:Time|FLOPS)))",
    re.IGNORECASE,
)

_PASSES = {"FW": "fwd", "BW": "bwd"}
"""Passes, as the examples of attention-gym call them."""

_PASS = re.compile(r"(backward|bwd)[ _]+(.+)", re.IGNORECASE)


def told_apart(found: re.Match[str]) -> dict[str, str]:
    """Fields that a part of a label fills: a pass back is so whatever it is the gradient of.

    >>> told_apart(at_an_end("bwd weights (us)")), told_apart(at_an_end("Gradient: time (ms)"))
    ({'direction': 'bwd', 'column': 'weights'}, {'direction': 'backward'})
    """
    name, text = str(found.lastgroup), found[0]
    if name != "direction":
        return {name: text}
    if text.casefold() in ("dgrad", "wgrad"):
        return {name: "backward", "column": text}
    if "loss" in text.casefold():
        return {name: "forward+backward" if "+" in text else "forward"}
    if text.casefold().startswith("grad"):
        return {name: "backward"}
    of_what = _PASS.fullmatch(text)
    if of_what is not None:
        return {name: of_what[1], "column": of_what[2]}
    return {name: _PASSES.get(text, text)}


_PROVIDED = re.compile(r"([a-z][a-z0-9_]*)-(tflops|latency|gbps)")
"""Measurement of a kernel, as TritonBench labels it: `aten_matmul-tflops`."""

_IN_TRITONBENCH = {"tflops": ("flops_rate", 1e12), "latency": ("time", 1e-3),
                   "gbps": ("bandwidth", 1e9)}  # fmt: skip
"""Quantities that such labels name, in TFLOPs, milliseconds and gigabytes per second.

Source: tritonbench.utils.triton_op, whose metrics are declared so.
"""

BREAKS = " _-:,()[]/"

SIZED = re.compile(r"(.+?)\s*[(\[]([^()\[\]]+)[)\]]\s*")

_SQUARE = re.compile(
    r"(?:[a-z\u2e80-\uffff ]+\()?=?([mnk]) ?= ?(?!\1)([mnk]) ?= ?(?!\1|\2)[mnk]\)?", re.IGNORECASE
)

PRODUCT = re.compile(
    r"(?:[a-z\u2e80-\uffff ]*[( ])?([mnk]) *[x×*, ] *([mnk]) *[x×*, ] *([mnk])\)?", re.IGNORECASE
)

_BYTES = {
    "B": 1.0,
    "bytes": 1.0,
    "byte": 1.0,
    "Bytes": 1.0,
    "Byte": 1.0,
    "KiB": 2.0**10,
    "MiB": 2.0**20,
    "GiB": 2.0**30,
}

LOOSE = {
    "size": "bytes", "payload": "bytes", "messagesize": "bytes", "消息": "bytes",
    "msgsize": "bytes", "message": "bytes", "msg": "bytes", "buffer": "bytes",
    "buffersize": "bytes", "messagelength": "bytes", "transfersize": "bytes",
    "datasize": "bytes", "数据量": "bytes", "数据大小": "bytes", "消息大小": "bytes",
    "throughput": "algbw",
    "算法带宽": "algbw", "总线带宽": "busbw", "algbw": "algbw", "algobw": "algbw", "busbw": "busbw",
    "algbandwidth": "algbw", "algorithmbandwidth": "algbw", "busbandwidth": "busbw",
    "payloadsize": "bytes", "payloadsz": "bytes", "msgsz": "bytes", "messagesz": "bytes",
    "buffersz": "bytes",
    "totalsize": "bytes", "tensorsize": "bytes", "tensor": "bytes",
    "globalmembw": "bandwidth", "nwbw": "busbw", "nwbandwidth": "busbw",

}  # fmt: skip
"""Labels of columns whose numbers mean nothing without a unit, in brackets or in each cell."""

_TIMES = {"time", "duration", "latency", "elapsed", "runtime", "gputime", "kerneltime",
          "devicetime", "meantime", "avgtime", "averagetime", "mediantime", "cudatimeavg",
          "devicetimeavg", "avgduration", "meanlatency", "medianlatency"}  # fmt: skip
"""Labels of times whose unit stands in each cell, in one us and in the next ms."""

_PLACES = re.compile(
    r"[\s_(]*\b(out[- _]of[- _]place|oop(?=[ _])|in[- _]place|ip(?=[ _]))\b\)?[\s_]*", re.IGNORECASE
)
"""Where nccl-tests puts the result: it measures both, and a call is the one out of place."""

_IN_OTHER_WORDS = {
    "算子": "op", "算子名": "op", "算子名称": "op", "集合通信": "op", "通信算子": "op",
    "内核": "kernel", "核函数": "kernel",
    "op type": "op", "hlo op name": "op",
    **dict.fromkeys(
        ("加速器", "加速卡", "显卡", "芯片", "设备", "加速器型号", "加速卡型号", "显卡型号",
         "芯片型号", "gpu型号", "gpu 型号", "アクセラレータ", "가속기"), "gpu"
    ),
    "커널": "kernel", "カーネル": "kernel", "card": "gpu", "casual": "causal",
    "matm": "m", "matn": "n", "matk": "k", "ti_to_tc": "dtype",
    "msg_bytes": "bytes", "nbytes": "bytes", "num_bytes": "bytes", "buffer_bytes": "bytes",
    "np": "ranks", "nproc": "ranks", "nprocs": "ranks", "num_ranks": "ranks", "# ranks": "ranks",
    "#ranks": "ranks", "# gpus": "ranks", "#gpus": "ranks",
}  # fmt: skip
"""Other spellings of labels that a kind of table may know."""

_SEQUENCES = {"numseqs", "nseqs", "numsequences", "nsequences", "numberofsequences", "seqs",
              "sequences"}  # fmt: skip
"""Labels of how many sequences a call of attention is of, which its engine counts so."""

_RATE_WORDS = {"flops", "throughput", "performance", "perf", "rate", "speed", "achieved", "compute",
               "computation"}  # fmt: skip

_OF_NETWORK = re.compile(
    r"([\w.+-]+(?: [\w.+-]+){0,4}) ((?:bus|alg)[ _]?(?:bw|bandwidth)) ?[(\[]([^()\[\]]+)[)\]]",
    re.IGNORECASE,
)
"""A bandwidth of one of several networks that stand side by side: `MPFT busbw (GB/s)`."""

UNMEASURED = {"peak", "theoretical", "ideal", "expected", "predicted", "target", "nominal", "max",
              "min", "reference", "estimated", "projected", "required", "line"}  # fmt: skip
"""Words in front of a measurement that say that it is none, or no typical one."""

_UNIT_BEHIND = re.compile(
    r"((?:bus|alg(?:o(?:rithm)?)?)\.?(?:[ _]?(?:bw|bandwidth))?),?[ _]?[(\[]?"
    r"((?:[GMT]i?B|[GM]b(?:it)?)(?:/s(?:ec)?|ps))[)\]]?",
    re.IGNORECASE,
)
"""A bandwidth of a collective with its unit, however both stand together: `busbw GB/s`,
`algbw, GB/s`, `alg[GB/s]`."""


_OF_LIBRARY = re.compile(rf"({LIBRARIES})[ _](?=time|latency)", re.IGNORECASE)
"""The library whose time a column of collectives is: `NCCL Time (us)`."""

_BANDWIDTH_WORDS = {"memory", "mem", "bandwidth", "bw", "hbm", "dram", "achieved", "effective",
                    "eff", "throughput"}  # fmt: skip


_IN_ONE_WORD = re.compile(
    r"(?P<words>(?:[a-z]+_){1,3})(?P<place>[gmt])b(?:ps|_?s|_?/s|_per_s(?:ec)?)", re.IGNORECASE
)
"""A bandwidth of memory with its unit in one word: `effective_gb_s`."""

_BY_PLACE = {"m": 1e6, "g": 1e9, "t": 1e12}


def _of_memory(label: str) -> tuple[str, float] | None:
    """The field and the factor of a bandwidth of memory whose label is one word with its unit;
    None of others.

    >>> _of_memory("effective_gb_s"), _of_memory("mem_bw_GBps"), _of_memory("peak_gb_s")
    (('bandwidth', 1000000000.0), ('bandwidth', 1000000000.0), None)
    """
    found = _IN_ONE_WORD.fullmatch(label)
    known = found and {*found["words"].casefold().strip("_").split("_")} <= _BANDWIDTH_WORDS
    return ("bandwidth", _BY_PLACE[found["place"].casefold()]) if found and known else None


_OF_STREAM = re.compile(
    r"(copy|scale|mul|add|triad|dot|read|write|nstream)[ _]?[(\[]?"
    r"([GMT]i?B(?:/s|ps|/sec))[)\]]?",
    re.IGNORECASE,
)
"""Bandwidth of a function of STREAM and its like: `Triad (GB/s)`."""


_STREAMS = re.compile(r"copy|scale|mul|add|triad|dot|nstream", re.IGNORECASE)
"""The same of bare numbers, whose unit the text above says."""


@dataclass(frozen=True)
class Column:
    """The field that a column fills, the factor to its unit, and what sets it apart."""

    spec: FieldSpec | None = None
    scale: float = 1.0
    aside: Mapping[str, str] = field(default_factory=dict)
    sizes: str = ""  # letters of a product that its cells say, in order
    label: str = ""  # of a column that fills no field, where its cells are kept
    law: str = ""  # what its unit rests on, where its label does not say it
    origin: ValueOrigin = "solved"  # by that law


def placed(label: str, schema: Schema, bare: Column | None) -> Column:
    """The column of a label that may say where a collective puts its result."""
    found = _PLACES.search(label)
    if found is None:
        return column_named(label, schema, bare)
    if found[1][0] in "iI":
        return Column()
    return column_named((label[: found.start()] + " " + label[found.end() :]).strip(), schema, bare)


def column_named(label: str, schema: Schema, bare: Column | None = None) -> Column:
    """The column of a label that may name a format, a library or a direction beside a quantity."""
    if {"m", "n", "k"} <= set(fields(schema)):
        if _SQUARE.fullmatch(label):
            return Column(sizes="mnk")
        if product := PRODUCT.fullmatch(label):
            letters = "".join(product.groups()).casefold()
            return Column(sizes=letters if len(set(letters)) == 3 else "")
    if named := _PROVIDED.fullmatch(label):
        name, scale = _IN_TRITONBENCH[named[2]]
        spec, what = fields(schema).get(name), "kernel"
        what = "operator" if "operator" in fields(schema) else what  # of nothing else that says it
        return Column(spec, scale, {what: named[1]}) if spec else Column()
    if "operator" in fields(schema) and (of := _OF_STREAM.fullmatch(label)):
        scale = BANDWIDTH.get(of[2].replace("ps", "/s"), 0.0)
        return Column(fields(schema)["bandwidth"], scale, {"operator": of[1]})
    by_word = bare is not None and bare.spec is not None and bare.spec.name == "bandwidth"
    if bare and by_word and "operator" in fields(schema) and _STREAMS.fullmatch(label):
        return replace(bare, aside={"operator": label})
    aside: dict[str, str] = {}
    rest = label
    while True:
        if (told := measured_as(rest, schema)) is not None:
            fits = not aside or (told.spec is not None and says_how_fast(told.spec))
            return replace(told, aside={**told.aside, **aside}) if fits else Column()
        found = at_an_end(rest) or _before_unit(rest, schema)
        if found is None or found.lastgroup in aside or found.lastgroup not in fields(schema):
            masked = OF_A_MASK.fullmatch(rest) if "causal" in fields(schema) else None
            if bare is not None and masked and "kernel" in aside:  # `FA2 causal | FA2 full`
                return replace(bare, aside={**aside, "causal": str(masked["yes"] is not None)})
            return Column()
        aside |= told_apart(found)
        if found.string is not rest:  # `bandwidth fwd (GB/s)`
            rest = f"{_without(found)} {rest[len(found.string) :].strip()}"
            continue
        rest = (rest[: found.start()] + " " + rest[found.end() :]).strip(BREAKS)
        rest = rest.replace("()", "").strip(BREAKS)
        rest += ")" * (rest.count("(") - rest.count(")"))  # of a unit at its end
        if not rest and bare is not None:
            return replace(bare, aside=aside)


def _before_unit(label: str, schema: Schema) -> re.Match[str] | None:
    """The format or the pass behind a word for what was measured, in front of its unit:
    `bandwidth fwd (GB/s)`."""
    sized = SIZED.fullmatch(label)
    found = at_an_end(sized[1], ("dtype", "direction")) if sized else None
    if sized is None or found is None or not (rest := _without(found)):
        return None
    told = measured_as(f"{rest} ({sized[2]})", schema)
    return found if told and told.spec and says_how_fast(told.spec) else None


def _without(found: re.Match[str]) -> str:
    """A text without a part of it at one of its ends."""
    return (found.string[: found.start()] + " " + found.string[found.end() :]).strip(BREAKS)


OF_A_MASK = re.compile(
    r"(?P<yes>causal)|(?:non|not|no)[ -]?causal|full|no ?mask|bidirectional", re.IGNORECASE
)
"""The mask in a label of calls of attention."""


def at_an_end(
    text: str, groups: Container[str] = ("dtype", "kernel", "direction")
) -> re.Match[str] | None:
    """The name of a format, a library or a direction that a label begins or ends with, of one of
    some groups."""
    for found in _ASIDE.finditer(text):
        before, behind = text[: found.start()], text[found.end() :]
        first = not before.strip(BREAKS) and (not behind or behind[0] in BREAKS)
        last = not behind.strip(BREAKS) and (not before or before[-1] in BREAKS)
        if (first or last) and found.lastgroup in groups:
            return found
    return None


_OF_DEVICE = re.compile(
    r"(?:gpu|cuda|device|kernel|achieved|measured|eff(?:ective|\.)?|actual|sustained)[ _]"
    r"(?=[TG]i?(?:FLOP|B)[A-Za-z/]{0,6}$)|(?:avg\.?|average)[ _](?=[TG]i?B(?:/s|ps|/sec)$)",
    re.IGNORECASE,
)
"""Words in front of a rate that say no more than that it was measured there: `GPU GFLOPS`."""


_AS_COUNTED = re.compile(
    r" ?[(\[](?:eff(?:ective|\.)?|achieved|measured|actual|avg\.?|average|median|mean|p50|approx\.?"
    r"|model|algorithmic)[)\]]$"
    r"|(?:(?<=flops)|(?<=flop/s)|(?<=[gt]ops)|(?<=B/s))"
    r"[ _](?:eff(?:ective)?|achieved|measured|actual|median|mean|p50)$",
    re.IGNORECASE,
)
"""How a rate was counted, behind its unit: `GB/s (eff.)`, `tflops_effective`."""


def measured_as(label: str, schema: Schema) -> Column | None:
    """The column of a label that says one thing and nothing beside it; None of any other."""
    label = _AS_COUNTED.sub("", label)
    label = label.rstrip("? ？") if label.endswith(("?", "？")) else label  # `causal?`
    label = _with_its_unit(english(label) if european(label) else label)
    known, columns = by_label(schema), fields(schema)
    field, scale_of_unit = _UNITS_ALONE.get(normalise(label), ("", 1.0))
    if field in columns:
        return Column(columns[field], scale_of_unit)
    label = _IN_OTHER_WORDS.get(label.casefold(), label)
    label = "batch" if "kv_seq" in columns and normalise(label) in _SEQUENCES else label
    label = _OF_DEVICE.sub("", label, count=1)
    if "busbw" in columns:
        label = _bandwidth_with_unit(size_with_unit(label))
        if (told := _of_one_network(label, columns)) is not None:
            return told
    if normalise(label) in known and normalise(label) not in LOOSE:
        spec, scale = known[normalise(label)]
        return Column(spec, scale)
    if (rated := bandwidth_named(label) or _of_memory(label)) and rated[0] in columns:
        return Column(columns[rated[0]], rated[1])
    if (scale_of_time := timed(label)) is not None and "time" in columns:
        return Column(columns["time"], scale_of_time)
    if normalise(label) in _TIMES and "time" in columns:
        return Column(columns["time"], 0.0)
    if "busbw" in columns and normalise(label) == normalise("size (# of floats)"):
        return Column(columns["bytes"], 4.0, law="a float has four bytes")
    sized = SIZED.fullmatch(label)
    name, printed = (sized[1], sized[2]) if sized else (label, label)
    measure = unit(printed)
    named = sized is not None and _in_signs(name)
    plainly = not sized or (set(split(name)) <= _RATE_WORDS and not named)
    if measure and measure.si == "flop/s" and "flops_rate" in columns and plainly:
        return Column(columns["flops_rate"], measure.scale)
    of_memory = not sized or (set(split(name)) <= _BANDWIDTH_WORDS and not named)
    if printed in BANDWIDTH and "bandwidth" in columns and of_memory:
        return Column(columns["bandwidth"], BANDWIDTH[printed])
    held = meaning(label) if "memory" in columns and not at_an_end(label) else None
    if held is not None and held.field == "memory":
        return Column(columns["memory"], held.scale if held.unit_known else 0.0)
    loose = columns.get(LOOSE.get(normalise(name), ""))
    if loose is not None:
        factors = BANDWIDTH if loose.unit == "B/s" else _BYTES
        return Column(loose, factors.get(printed, 0.0)) if sized else Column(loose, 0.0)
    return _size_named(name, printed, schema) if sized else None


_BEHIND_COMMA = re.compile(r"([A-Za-z][^,()\[\]]{2,60}), ?(?:in )?([^,()\[\]\s]{2,12})")

_BEHIND_SIGNS = re.compile(r"([\u3040-\u9fff\uac00-\ud7a3]{2,20}) ?([A-Za-zµ][A-Za-z/]{1,7})")


def _with_its_unit(label: str) -> str:
    """A label whose unit stands behind a comma, or behind signs of Chinese, with it in brackets;
    any other as it is.

    >>> _with_its_unit("Time, ms"), _with_its_unit("Effective bandwidth, in GB/s")
    ('Time (ms)', 'Effective bandwidth (GB/s)')
    >>> _with_its_unit("batch, heads"), _with_its_unit("显存带宽GB/s")
    ('batch, heads', '显存带宽 (GB/s)')
    """
    found = (_BEHIND_COMMA if "," in label else _BEHIND_SIGNS).fullmatch(label)
    known = found is not None and (unit(found[2]) is not None or found[2] in BANDWIDTH)
    return f"{found[1]} ({found[2]})" if found and known else label


_OF_RATES = re.compile(
    r"计算|算力|性能|吞吐|速度|速率|实测|有效|达到|平均|显存|内存|访存|带宽|浮点|数据|量|率|的|演算|スループット"
    r"|実測|帯域幅?|성능|처리량|대역폭"
)


def _in_signs(name: str) -> bool:
    """Whether a label has more than words for rates in a script without blanks: `朴素`.

    >>> _in_signs("朴素"), _in_signs("实测性能"), _in_signs("measured")
    (True, False, False)
    """
    rest = _OF_RATES.sub("", name)
    return any(sign >= "\u2e80" and sign.isalpha() for sign in rest)


def _bandwidth_with_unit(label: str) -> str:
    """The label of a bandwidth of a collective with its unit in brackets; any other as it is.

    >>> _bandwidth_with_unit("alg[GB/s]"), _bandwidth_with_unit("Bus BW, GB/s")
    ('algbw (GB/s)', 'Busbw (GB/s)')
    """
    sized = _UNIT_BEHIND.fullmatch(label)
    return f"{sized[1][:3]}bw ({sized[2]})" if sized else label


_SIZE_WITH_UNIT = re.compile(r"(\w+?)_(?:in_)?(b|bytes|[kmg]i?b)", re.IGNORECASE)


def size_with_unit(label: str) -> str:
    """The label of a message that says its unit in one word with it in brackets; any other as it
    is.

    >>> size_with_unit("msg_size_mib"), size_with_unit("size_kb"), size_with_unit("memory_mb")
    ('msg_size (MiB)', 'size (KB)', 'memory_mb')
    """
    found = _SIZE_WITH_UNIT.fullmatch(label)
    if found is None or LOOSE.get(normalise(found[1])) != "bytes":
        return label
    unit_of = found[2].upper().replace("I", "i") if found[2].casefold() != "bytes" else "bytes"
    return f"{found[1]} ({unit_of})"


_UNITS_ALONE = {
    "gbps": ("bandwidth", 1e9), "gbpersec": ("bandwidth", 1e9), "gbpers": ("bandwidth", 1e9),
    "tops": ("flops_rate", 1e12), "top/s": ("flops_rate", 1e12), "tops/s": ("flops_rate", 1e12),
    "gop/s": ("flops_rate", 1e9), "gops/s": ("flops_rate", 1e9), "gops": ("flops_rate", 1e9),
    "pop/s": ("flops_rate", 1e15), "pops/s": ("flops_rate", 1e15),
}  # fmt: skip
"""Labels that are a unit: of memory bandwidths, which nobody counts in bits, and of operations."""


def _of_one_network(label: str, columns: Mapping[str, FieldSpec]) -> Column | None:
    """The column of a label of collectives that names a network or a library in front of what was
    measured; one that fills no field where it was not."""
    if told := _OF_NETWORK.fullmatch(label):
        if UNMEASURED & set(split(told[1])):
            return Column()
        named = columns[LOOSE[normalise(told[2])]]
        return Column(named, BANDWIDTH.get(told[3], 0.0), {"column": told[1]})
    if told := _OF_LIBRARY.match(label):
        in_unit = timed(label[told.end() :])
        return Column(columns["time"], in_unit, {"column": told[1]}) if in_unit else None
    return None


def _size_named(name: str, aside: str, schema: Schema) -> Column | None:
    """The column of a size that is named in front of a remark in brackets, or by it."""
    known = by_label(schema)
    if normalise(name) in known and (spec := known[normalise(name)][0]).unit is None:
        return Column(spec)
    if "m" in fields(schema) and _SIZE_NAMED.fullmatch(aside):
        return Column(known[normalise(aside)][0])
    return None


_SIZE_NAMED = re.compile(r"[MNKmnk]|batch")
"""A size of a product in brackets behind what it is: `tokens per expert (M)`."""


def says_how_fast(spec: FieldSpec) -> bool:
    """Whether a field is of a measurement, one that nothing predicts among them."""
    return spec.quantity is not None or spec.unit == "flop/s"
