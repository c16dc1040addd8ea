"""Facts that stand above a table of kernels: operation, ranks, device, the unit of its numbers.

In: the lines of a document and a table in it. Out: fields that the heading of the table and the
lines below it say, each only in one way, and of the rest those that the headings around that say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import cache, lru_cache
from itertools import pairwise

from assay.ingest.columns.composite import machine
from assay.ingest.columns.headers import plain
from assay.ingest.columns.titles import (
    counted_devices,
    device_named,
    names_format,
)
from assay.ingest.grids.aligned import ANY_FIGURE, figure_above
from assay.ingest.grids.delimited import uncommented
from assay.ingest.grids.grid import LONGEST, Grid, GridCell, GridRow
from assay.ingest.kernels.collective_ranks import launched, of_a_process
from assay.ingest.kernels.settings_around import (
    CURVES,
    FAR,
    HEADING,
    NEAR,
    ROW,
    SIZES,
    TESTED,
    around,
    both_passes,
    depth_of,
    format_said,
    is_heading,
    kept,
    machine_around,
    names_figure,
    names_products,
    narrow,
    nearest_first,
    opening_of,
    own_title,
    settings_around,
    sizes_named,
    spelled,
)
from assay.ingest.numbers.printed import whole
from assay.ingest.prose.counted_machines import machines
from assay.ingest.prose.only_device import only_device
from assay.ingest.schema.fields import fields
from assay.ingest.schema.format import Folded
from assay.ingest.schema.record import Cell, Code, Line, Record, Schema
from assay.ingest.schema.terminals import deferred
from assay.ingest.source.headings import of_set_up
from assay.ingest.source.posts import author_of, of_own_author
from assay.ingest.vocabulary.devices import SIGN, only, several, signed
from assay.ingest.vocabulary.terms import NUMBER_FORMAT, normalise

BANDWIDTH = {"GB/s": 1e9, "GBps": 1e9, "GB/sec": 1e9, "GiB/s": 2.0**30, "MB/s": 1e6, "TB/s": 1e12,
             "GBPS": 1e9, "GBytes/s": 1e9, "Gbytes/s": 1e9, "GBytes/sec": 1e9, "gbytes_per_s": 1e9,
             "gbytes_per_sec": 1e9, "GB_per_s": 1e9, "GB_per_sec": 1e9, "GB_s": 1e9,
             "TB_per_s": 1e12, "bytes/sec": 1.0,
             "Gbps": 1e9 / 8, "Gb/s": 1e9 / 8, "Gbit/s": 1e9 / 8}  # fmt: skip

_BY_NODES = deferred(
    r"(?<![0-9.x×])([0-9]{1,4}) ?[x×] ?([0-9]{1,3}) ?[x×]? ?"
    rf"(?:GPUs?|{SIGN}s?)(?![A-Za-z0-9])"
)
"""Nodes and the devices of each, in front of their name: `2 x 8 H100`."""

_OF_ATTENTION = {
    "seq": deferred(
        r"(?<![x×*] )\bseq(?:uence)?[ _-]?len(?:gth)?(?:\s*[=:]?\s*(?=[0-9]+(?![\w.,]))"
        r"| (?:is |are )?(?:fixed|set|kept|held)(?: constant)? (?:to|at) "
        r"(?=[0-9]+[kK]?(?![\w.]|,? ?(?:[0-9]|and\b|or\b))))([0-9]+[kK]?)",
        re.I,
    ),
    "direction": deferred(
        r"(?<!\.)\b((?:fwd|forward) ?(?:\+|and|plus) ?(?:bwd|backward)|fwd_?bwd|forward|backward"
        r"|fwd|bwd)\b"
        r"(?!\()",  # a method of a tensor
        re.I,
    ),
}
"""Settings of attention that the words right above a table alone say, beside its sizes."""

_EXCHANGE = r"(?:all[ _-]?(?:gather|reduce|to[ _-]?all)|reduce[ _-]?scatter|all2all|a2a|ag|rs|ar)"

_PRODUCT = r"(?:gemms?|mat-?mul|grouped[ _-]?gemm|group[ _-]?gemm)"

_FUSED = rf"(?:{_EXCHANGE} ?\+ ?{_PRODUCT}|{_PRODUCT} ?\+ ?{_EXCHANGE})"

FUSED = re.compile(rf"(?<![A-Za-z]){_FUSED}(?![A-Za-z])", re.IGNORECASE)
"""A product together with what its ranks exchange, which takes longer: `AG+GEMM`."""

_OPERATOR = re.compile(
    rf"(?<![A-Za-z])({_FUSED}|"
    r"grouped gemm|(?:rms|layer|group|batch)[ _-]?norm|softmax(?![ -]attention)"
    r"|(?:fused linear )?cross[ _-]?entropy|swi?glu|geglu|gelu|silu|rope|rotary(?: embedding)?"
    r"|mlp(?: block| layer)?|ffn|convolutions?"
    r"|(?:fused[ _-])?moe(?: layer| block)?"
    r"|embedding|(?:fused)?adam(?:w(?:8bit)?)?|lamb|adafactor|top-?k|router"
    r"|selective[ _-]scan|(?:associative|mamba|linear|ssd) scan|linear attention"
    r"|gated delta ?(?:net|rule)|(?:rnn-?t|transducer|ctc|kl|dpo|z|focal|triplet) loss"
    r"|kl[ -]div(?:ergence)?|causal[ -]conv1d|embedding bag|grouped conv(?:olution)?s?|cumsum"
    r"|prefix sum|vector add(?:ition)?|top-?p sampling"
    r"|dropout|conv[123]d|spmm|spmv|sddmm|lstm|gru|rnn)(?![A-Za-z])",
    re.IGNORECASE,
)
"""Operators that a heading names, and that no other kind of table of kernels has."""

LIBRARIES = (
    r"(?:cublas(?:lt)?|rocblas|hipblas(?:lt)?|cutlass|triton|(?:py)?torch(?:[._ ]compile)?|eager"
    r"|cudnn|sdpa|flex(?:[- ]?attention)?|flash(?:[-_ ]?att(?:entio)?n)?(?:[-_ ]?v?[1-4])?"
    r"|fa-?[1-4]|xformers|mem(?:ory)?[-_ ]?eff(?:icient)?(?: attention)?|transformer ?engine"
    r"|aotriton|deepgemm|tilelang|ck|aiter|te|marlin|thunderkittens|oneccl|nccl|rccl|liger|apex"
    r"|quack|inductor|before|after|old|new|(?:un|auto-?)?tuned|default"
    r"|huggingface|hf|gems|ours|baseline|naive|vanilla|xla|pallas|splash|cusparse|hipsparse"
    r"|mlx|mps|accelerate|onednn|openblas|mkl|blis|eigen|clblast|flashinfer|fbgemm|miopen|numpy"
    r"|vllm|sglang|tensorrt(?:-llm)?|trt-?llm|megablocks|unsloth|torchao|bitsandbytes)"
    r"(?:[ -]?v?[0-9]+(?:\.[0-9]+)+)?"
)
"""Names under which times of the same call stand side by side."""

_OWN_LIBRARY = rf"(?!(?:before|after|old|new|(?:un|auto-?)?tuned|default|ours)\b)(?:{LIBRARIES})"

_BY_FORMAT = re.compile(
    rf"(?<![\w-])(?P<said>{NUMBER_FORMAT})(?:,? (?:is|are|uses|calls|means|runs(?: through)?|via"
    r"|with|through|by|goes through|ones? (?:is|are)|column (?:is|uses)|rows? (?:are|use))"
    r"|:| =| \() ?"
    r"`(?P<call>[A-Za-z_][\w.:]{2,50})(?:\(\))?`"
    rf"|(?<![\w.`-])`(?P<whose>[A-Za-z_][\w.:]{{2,50}})(?:\(\))?` (?:\(|(?:for|in|is|at) )"
    rf"(?P<in>{NUMBER_FORMAT})(?![\w-])"
    rf"|(?<![\w-])(?P<format>{NUMBER_FORMAT})"
    r"(?: ?[:=] ?| \(| (?:via|with|by|using|uses|through|on) )"
    rf"(?P<library>{_OWN_LIBRARY})(?![\w-])"
    rf"|(?<![\w-])(?P<first>{_OWN_LIBRARY})(?: \(| (?:for|in) )(?P<of>{NUMBER_FORMAT})(?![\w-])",
    re.IGNORECASE,
)
"""Whose calls those in a format are: `bf16: cuBLAS`, `cuBLASLt for fp8`."""


def libraries_of_formats(lines: Sequence[Line], grid: Grid) -> dict[str, Cell]:
    """Number format → who computes in it, as the text above a table says, each in one way."""
    told = dict[str, dict[str, Cell]]()
    above = lines[max(0, grid.begin - FAR) : grid.begin]
    before: list[list[Line]] = []
    for near in nearest_first(above):
        if not before and any(_THE_SAME.search(line.text) for line in near):
            before = [[line] for line in reversed(above) if line not in near]
        _formats_told(near if not told else (), told)
    for near in before if not told else ():
        _formats_told(near if not told else (), told)
    return {name: next(iter(ways.values())) for name, ways in told.items() if len(ways) == 1}


def _formats_told(lines: Sequence[Line], told: dict[str, dict[str, Cell]]) -> None:
    """Put who computes in which format, as some lines say it, into those who are told."""
    for line in lines:
        long = len(line.text) > LONGEST or ROW.match(line.text)
        for found in _BY_FORMAT.finditer(line.text) if not long else ():
            word = found["call"] or found["whose"] or found["library"] or found["first"]
            name = found["said"] or found["in"] or found["format"] or found["of"]
            cell = Cell(word, line.number, line.column, value_origin="stated")
            told.setdefault(spelled(name), {}).setdefault(word.casefold(), cell)


_THE_SAME = deferred(
    r"\b(?:the )?(?:same|above) (?:(?:two|three|four|pair of|[a-z0-9-]{2,12}) )?"
    r"(?:kernels?|libraries|calls|functions|implementations?|back-?ends?|mat-?muls|gemms|routines)\b",
    re.I,
)
"""Words for those who computed what stands further up: `The same two kernels with N = 8192`."""

_KERNELS_OF_ATTENTION = (
    r"composable[- ]kernel|flash[-_ ]?att(?:entio)?n[-_ ]?v?[1-4]|fa-?[234]|xformers"
    r"|aotriton|flashinfer"
)

_ALONE = deferred(rf"(?<!and )(?<!or )(?<![\w-])({LIBRARIES}) only(?![\w-])", re.I)
"""The one library whose calls a table is of: `FA3 only`."""

_BEGINS_WITH = deferred(
    rf"(?!.*\|)[\s#*]*(?:(?:[A-Z][\w']+,|with|using|now) )?"
    rf"({_KERNELS_OF_ATTENTION})"
    r"(?![\w-]| (?:is|was|has|are|can|does|gives|wins|only|vs)\b)",
    re.I,
)
"""How a line begins that says whose calls of attention a table is of: `FlashAttention-3, …`."""

_LIBRARY = deferred(rf"(?<![\w-]){_KERNELS_OF_ATTENTION}(?![\w-])", re.I)

_SECTION = deferred(
    r"[\s#*0-9.)]{1,12}"
    r"(?:(?:backend|library|kernels?|implementation|impl|provider|with|using)[ :`]{1,3})?"
    rf"((?!sdpa\b|flash[-_ ]?att(?:entio)?n(?![-_ ]?v?[0-9])){_OWN_LIBRARY})"
    r"`?(?:[ -]+(?:v?[0-9][0-9.]*|kernels?|backend|library|gemms?|mat-?muls?|results?|performance"
    r"|numbers|baseline|implementation|attention|\([^()|]{0,40}\))){0,4}[\s*:]*",
    re.I,
)
"""A heading that is the name of who computes what stands below it: `## CUTLASS 3.5`."""

_SECTION_OF = deferred(
    r"\s{0,4}(?:[-=*#>]{1,12} ?)?"
    r"(?:(?:backend|library|kernel|implementation|impl|provider)[ :=]{1,3})?"
    rf"((?:(?:our|my) )?{_OWN_LIBRARY}(?:[ /+_-]{{1,3}}{_OWN_LIBRARY})?)"
    r"(?: v?[0-9][0-9.]*)?"
    r"(?: (?:kernels?|backend|implementation|impl|results?|performance|numbers|baseline|timings?"
    r"|gemms?|mat-?muls?)){0,3}(?: ?[-=*#]{2,12})?"
    r"(?P<end>:?)\s*",
    re.I,
)
"""A line that is the name of who computes what stands below it, with a colon at its end or ruled
off: `vLLM Triton implementation:`, `===== cuBLAS =====`."""

_RULED_OFF = deferred(r"\s{0,4}([-=*#])\1{2,12} ?[^-=*#].{0,80}?\1{2,12}\s*")

_TITLE_SAYS = deferred(
    r"\s{0,4}(?:backend|library|implementation|impl|provider) ?[:=] ?[`\"']?"
    r"(?!(?:all|none|various|several|default|auto)\b)"
    r"((?:our |my )?[A-Za-z][\w.+-]{1,30}(?: [A-Z0-9][\w.+-]{0,20}){0,2})[`\"'\s]{0,4}",
    re.I,
)
"""The same behind what it is, without any mark: `Backend: our Triton`."""

_SECTION_SAYS = deferred(
    r"\s{0,8}(?:#{1,6}|={2,12}|-{2,12}|\*\*)\s{0,4}"
    r"(?:backend|library|kernel|implementation|impl|provider)`? ?[=:] ?"
    r"[`\"']?(?!(?:all|none|various|several|default|auto)\b)([A-Za-z][\w.+-]{1,30})[`\"'\s#=*:-]{0,12}",
    re.I,
)
"""The same by whatever name, as programs print it: `## impl = flash2`."""

_BLAS = r"(?:cublas(?:lt)?|rocblas|hipblas(?:lt)?|cutlass|deepgemm|openblas|onednn|mkl|clblast)"

_OF_BLAS = deferred(
    rf"(?:[,;:(] ?|\b(?:with|using|via|by|in) )({_BLAS})(?: v?[0-9][0-9.]*)?(?=\s*(?:[,;:)]|$))",
    re.I,
)
"""The library of products that a line on them names between commas: `gemm, cublasLt 12.4`."""

_BEGINS_WITH_BLAS = deferred(
    rf"[\s#*]{{0,8}}`?({_BLAS})`?(?: v?[0-9][0-9.]*)?"
    r"(?:( (?:through|via|called|driven|timed|measured))"
    r" (?!.{0,60}\b(?:vs|versus|and (?:cu|roc|hip)))|(?=[,;:] \S|\.? *$))",
    re.I,
)
"""How a line on products begins that says whose they are: `cuBLASLt through our own script`,
`cuBLAS 12.4, locked clocks`."""

_COMPARED_WITH = deferred(
    r"\b(?:vs|versus|against|compared|relative|over|faster|slower|speed-?ups?|than|baseline|of the"
    r"|beats?|percent|match(?:es)?|peak|and|or|ours?)\b|%",
    re.I,
)
"""Found where another is what was measured, or several are."""

_VERSIONS = deferred(
    r"\b(?:cuda|cudnn|rocm|(?:py)?torch|driver|python|nccl|triton|gcc|toolkit|hip)(?: version)?"
    r"[ :=]{1,3}v?[0-9]",
    re.I,
)
"""Found where a line lists the software that was there, and not who computed."""

OPERATION = re.compile(
    r"\b(all|reduce)[ _-]?(reduce|gather|scatter|to[ _-]?all)(?:_perf|_test|_bench(?:mark)?)?\b"
    r"|\b(broadcast)(?:_perf|_test|_bench(?:mark)?)?\b"
    r"|\b(send)[ _/-]?(?:recv|receive)(?:_perf|_test|_bench(?:mark)?)?\b",
    re.IGNORECASE,
)

_OF_NCCL = deferred(
    r"(?:\b[nr]ccl[-_ ]tests\b.*[ ,(]|_perf\b[^|;&`]* (?:-d|--datatype)[ =]|_perf`?, )"
    r"(float|half|bfloat16|double)\b"
    r"|_perf\b[^|;]{0,80}, `?(float|half|bfloat16|double)`?[\s.:]{0,4}$"
    r"|(?:^|[,;:] )`?(float|half|bfloat16|double)`?, `?(?:sum|avg|max|min|prod)\b",
    re.IGNORECASE,
)
"""The type that nccl-tests were run with, as they call it."""

_ONE_SIZE = deferred(
    r"_perf\b(?=[^|;&`]* (?:-b|--minbytes)[ =]?([0-9]+[KMG]?)B?(?!\w))"
    r"[^|;&`]* (?:-e|--maxbytes)[ =]?\1B?(?!\w)",
    re.IGNORECASE,
)
"""The one size that a command of nccl-tests sends, which counts in 1,024s."""

_MESSAGES = deferred(
    r"(?<![\w.,-])(?<!to )(?<!from )(?<!than )([0-9]+ ?[KMG]iB|[0-9]{4,}[ -]bytes?)[ -]"
    r"(?:total )?(?:messages?|payloads?|buffers?)\b(?! and| or|s? up)"
)
"""The one size of a message, which no table of several sizes is of."""

_OF_SIZE = deferred(
    r"(?:(?:[rR]educe|[gG]ather|[sS]catter|to[-_ ]?[aA]ll|[bB]roadcast)(?: of| at|,|)"
    r"|\b(?:[Aa]ll|[Ee]ach|[Ee]verything|[Mm]easured|[Ss]ize|[Bb]andwidth|busbw|algbw)"
    r"(?: is)? (?:at|of)"
    r"|\b(?:nodes|GPUs|ranks),(?= [0-9]+ ?[KMG]iB\s*(?:$|[.;:)]))"
    r"|\b(?:[Mm]essage|[Pp]ayload|[Bb]uffer|[Tt]ensor|[Dd]ata)[ -]size(?: is|:| =)?"
    r"|(?<![\w] )\b[Mm]essages?(?: of| is|:)?) "
    r"([0-9]+ ?[KMG]iB)\b(?!,? (?:to|and|or|up)\b)"
)
"""The size of an operation, with its name or ranks: `all_reduce of 1 GiB`, `16 nodes, 1 GiB`."""

_IN_BYTES = deferred(
    r"(?i:send|recv|receive|transfer|messages?|payload|tensors?|buffers?)\b[^|]{0,60}"
    r"(?<![\w.,-])([0-9]{4,}) bytes\b(?! ?(?:to|/|per)\b)"
)
"""The bytes of a message, said of it: `tensors are [2, 4096] bf16, i.e. 134217728 bytes`."""

_OF_NOTHING = deferred(
    r"\b(?:zero|empty)[ -](?:payloads?|bytes?|messages?)\b(?! (?:loss|errors?|copy|copies))",
    re.IGNORECASE,
)
"""Words for calls that send nothing, whose time is what any call takes: `zero-payload overhead`."""

_IN_PARTS = deferred(
    r"(?<=[,;(:–—-] )((?:[1-9][0-9]{0,3} ?[KM]|[1248] ?G)iB)(?=\s*(?:[,;):]|$))"
    r"|(?<=\()((?:[1-9][0-9]{0,3} ?[KM]|[1248] ?G)iB)(?=[,;)])"
)
"""A size in a part of its own of a title, no more than messages have and less than devices do."""

_OF_COLLECTIVES = deferred(
    r"\b(?:collectives?|[nr]ccl|all[ _-]?(?:reduce|gather|to[ _-]?all)|reduce[ _-]?scatter|busbw"
    r"|bus bandwidth)\b",
    re.IGNORECASE,
)

_RANKS = re.compile(
    r"(?<![\w.×])([0-9]+)\s*(?:[ghnx]pus?|gcds?|tiles|ranks?|devices|cards|accelerators)\b",
    re.IGNORECASE,
)

_OF_DEVICES = deferred(
    rf"\b(?i:on|across|over|between|among) ([0-9]{{1,4}}) {SIGN}s?(?: GPUs?)?(?![A-Za-z0-9])"
)
"""How many devices took part, in front of their name: `on 8 H100`."""

_NAMED = re.compile(
    r"(?<![\w.])([0-9]+)\s*ranks\b(?! ?(?:/|per\b))"
    r"|\b(?:world[ _-]?size|n?ranks)\s*(?:of\s|[:=])?\s*([0-9]+)(?![0-9.]*[0-9])"
    r"|(?<![\w.])([0-9]+)-(?:GPU|rank)\b(?![ -](?:nodes?|servers?|hosts?|box|boxes|machines?)\b)",
    re.IGNORECASE,
)

_WORLD = deferred(r"(?<![A-Za-z0-9])(?:W|np) ?= ?([0-9]+)(?![0-9]*[.0-9])")
"""The same beside the name of an operation: `AllReduce W=8`."""

_BENCHMARKED = re.compile(
    r"\s*#\s*(?:Benchmarking:?\s+([A-Za-z_]+)|#processes\s*[:=]\s*([0-9]+)"
    r"|OSU MPI\S* (?:Non-blocking )?([A-Za-z_-]+)(?: Personalized Exchange)? Latency Test.*"
    r"|Datatype: MPI_([A-Z0-9_]+)\.?)\s*"
    r"|Algorithm: +(?:new_|cuda_)?(all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|broadcast)"
    r"(?:_[a-z_]+)?\s*|Options: +processes=([0-9]+), inputs=1,.*"
)
"""A line of oneCCL's benchmark, of IMB, of the OSU micro-benchmarks or of Gloo's above a table: the
operation, how many take part, or the type of what is sent."""

_ABOVE = 8

_NODES = re.compile(
    r"(?<![\w.])([0-9]+)\s*(?:nodes?|servers|hosts|machines)\s*(?:[x×,*(]|with|of)\s*([0-9]+)"
    r"\s*[x×]?\s*(?:(?:NVIDIA|AMD|Intel) )?"
    r"(?:[ghnx]pus?|ranks?|[A-Z]{1,3}[0-9]{2,4}[A-Z]*)(?![A-Za-z0-9])",
    re.IGNORECASE,
)


_ON_SO_MANY = deferred(
    r"(?<![\w.,×-])(9|[1-9][0-9]{1,4}) ?(?:[GHNX]PUs?|GCDs?|ranks|devices|cards) ?"
    r"(?:\((?:on |= ?|across |over )?|(?:on|across|over|spread over) |[,/] ?)"
    r"([0-9]{1,4}) (?:[A-Za-z][\w.-]* )?(?:nodes|servers|hosts|machines)\b"
    r"(?! ?(?:[x×*]|with|of|each)\b)",
    re.IGNORECASE,
)
"""Ranks, and behind them how many nodes they are on: `32 GPUs (8 nodes)`, `16 GPUs on 2 nodes`."""

LARGEST_NODE = 16
"""Devices of the largest node: more are those of several."""

HALF_A_NODE = 8
"""Devices of most nodes."""


def _on_all_nodes(text: str) -> str | None:
    """The ranks of all nodes of a text that says behind them how many nodes they are on; more than
    any node has, or as many as nodes of four or of eight make.

    >>> _on_all_nodes("32 GPUs (8 nodes)"), _on_all_nodes("16 ranks (2 nodes)")
    ('32', '16')
    >>> _on_all_nodes("8 GPUs (2 nodes)"), _on_all_nodes("16 GPUs (16 nodes)")
    (None, None)
    """
    found = _ON_SO_MANY.search(text)
    if found is None:
        return None
    ranks, nodes = int(found[1]), int(found[2])
    return found[1] if ranks > LARGEST_NODE or ranks in (4 * nodes, 8 * nodes) else None


_PER_NODE = deferred(
    rf"(?<![0-9.A-WYZa-wyz])([0-9]+) ?[x×]? ?"
    rf"(?:[GNTX]PUs?|GCDs?|ranks?|devices|process(?:es)?|{SIGN}s?)"
    r" ?(?:/|per[ -]|(?:on|in|for) (?:each|every) |each |every ) ?"
    r"(?:node|host|server|machine|box|VM|instance)s?\b",
    re.IGNORECASE,
)
"""How many ranks each node has: `8 GPUs/node`."""

_HOW_MANY_NODES = deferred(
    r"(?<![\w.])([0-9]+)(?:[ -]?(?:nodes?|hosts?|servers?|machines?)\b|N(?![A-Za-z0-9]))"
    r"|\b(?:nodes|hosts|servers)\s*[:=]\s*([0-9]+)",
    re.IGNORECASE,
)

_SEVERAL_NODES = deferred(
    r"(?<![\w.])(?:[2-9]|[1-9][0-9]+)[ -](?:nodes?|hosts|servers)\b(?! ?[x×*])", re.IGNORECASE
)

_COUNTS = {"two": "2", "three": "3", "four": "4", "eight": "8", "sixteen": "16"}

_IN_WORDS = deferred(rf"\b({'|'.join(_COUNTS)})(?=[ -](?:nodes|hosts|servers|GPUs|ranks)\b)", re.I)
"""How many nodes or ranks, in words: `two nodes (16 GPUs)`."""

_IN_TOTAL = deferred(
    r"(?<![0-9.])([0-9][0-9,]*) ?(?:[GNTX]PUs?|GCDs?|ranks?|devices|processes)?,? (?:in )?total\b"
    r"|\btotal(?: of|:) ?([0-9][0-9,]*)|(?<![0-9.])([0-9][0-9,]*) ranks\b(?! ?(?:/|per\b))",
    re.IGNORECASE,
)
"""How many nodes, or ranks on all of them, a text that says those of each may count."""


def said_above(lines: Sequence[Line], grid: Grid, schema: Schema) -> dict[str, Cell]:
    """Fields that the heading of a table and the lines below it say, each only in one way, and of
    the rest those that the headings around that one say."""
    found: dict[str, Cell] = {}
    doubtful: set[str] = set()
    above = lines[max(0, grid.begin - FAR) : grid.begin]
    if grid.series:  # titles and rows of another comparison speak for themselves
        above = [line for line in above if not ("|" in line.text and _indented(line))]
        above = [line for line in above if not _COMPARED.match(line.text)]
    captions = own_title(lines, grid)
    opening = [opening_of(above)] if "op" not in fields(schema) else []
    for place, every in enumerate((*captions, *opening, *nearest_first(above))):
        near = _unbroken(every) if "op" in fields(schema) else every
        said: dict[str, dict[str, Cell]] = {}
        for line in near:
            of_caption = _of_caption(line.text) if place < len(captions) else ()
            of_another = _opens_another(line, above)
            for name, text in (*_said(line.text), *of_caption):
                if name in fields(schema) and not (name == "kernel" and of_another):
                    cell = Cell(text, line.number, line.column, value_origin="stated")
                    kept(said.setdefault(name, {}), name, cell)
        for name, ways in said.items():
            doubtful |= {name} if len(ways) > 1 and name not in found else set()
            found.setdefault(name, next(iter(ways.values())))
        if "op" in fields(schema) and "ranks" not in found and any(map(_of_nodes, near)):
            doubtful.add("ranks")  # those said further above are of as many nodes as said there
    by_labels = _by_labels(grid, found) if "op" in fields(schema) and grid.heads else {}
    found |= by_labels
    doubtful -= by_labels.keys()
    for line in lines[max(0, grid.begin - _ABOVE) : grid.begin] if "op" in fields(schema) else ():
        for name, word in _benchmarked(line.text):
            found[name] = Cell(word, line.number, line.column, value_origin="stated")
            doubtful.discard(name)
    if "operator" in fields(schema) and "operator" not in {*found, *doubtful}:
        found |= _operator_of_all(lines)
    found = _far_above(lines, grid, schema, found, doubtful)
    names = _left_open(lines, grid, schema, {*found, *doubtful})
    found |= settings_around(lines[max(0, grid.begin - FAR) : grid.begin], names)
    names = [*_left_open(lines, grid, schema, {*found, *doubtful}), "gpu"]
    found = _noted_below(lines, grid, [n for n in names if n in fields(schema)]) | found
    names = [n for n in names if n in ("dtype", "gpu") and n not in {*found, *doubtful}]
    found |= _set_up_below(lines, grid, [n for n in names if n in fields(schema)])
    return {name: cell for name, cell in found.items() if name not in doubtful}


def _opens_another(line: Line, above: Sequence[Line]) -> bool:
    """Whether a line is the name of who computes what stands right below it, and another table
    stands there: the calls of the tables behind that one are of those whom their own lines name."""
    if not (_SECTION_OF.fullmatch(line.text) or _TITLE_SAYS.fullmatch(line.text)):
        return False
    if HEADING.fullmatch(line.text):
        return False
    behind = [each for each in above if each.number > line.number]
    return any(ROW.match(each.text) for each in behind)


def _far_above(
    lines: Sequence[Line], grid: Grid, schema: Schema, found: dict[str, Cell], doubtful: Set[str]
) -> dict[str, Cell]:
    """The lines above a table with the device, the ranks and the type that stand further up."""
    above, collective = lines[max(0, grid.begin - FAR) : grid.begin], "op" in fields(schema)
    if collective and sizes_of_one_rank(lines, grid):  # its title is no heading
        found = _launched_above(above[-NEAR:]) | found
        found = _of_options(above) | found
    if "gpu" in fields(schema):
        found = machine_around(above) | found
        found |= _said_in_full(found.get("gpu"), of_own_author(lines[: grid.begin]))
    if "gpu" in fields(schema) and "gpu" not in {*found, *doubtful}:
        found |= _same_machine(above)
    if collective and "ranks" not in {*found, *doubtful}:
        found |= _ranks_around(above, found.get("op"))
    if collective and "dtype" not in {*found, *doubtful}:
        found |= _of_nccl(above, found.get("op")) or _of_output(above)
    return found


def _said_in_full(near: Cell | None, above: Sequence[Line]) -> dict[str, Cell]:
    """The device of the calls of a table by the name that says more, where a section on the set-up
    above lists it in full: `H100` beside `GPU: H100 PCIe 80GB`."""
    one = only(near.text) if near is not None else None
    if near is None or one is None or one.memory:
        return {}
    listed = dict[str, Cell]()
    for at, line in enumerate(above):
        if of_set_up(line.text) and is_heading(above, at):
            listed |= {cell.text: cell for _, cell in _listed(above, at, ["gpu"])}
    if len(listed) != 1:
        return {}
    cell = next(iter(listed.values()))
    other = only(cell.text)
    if other is None or other.key != one.key or near.text not in cell.text:
        return {}
    return {"gpu": cell} if not one.form or one.form == other.form else {}


_LABELLED = deferred(
    r"[\s*+>-]{0,8}(?P<label>[A-Za-z][A-Za-z /_-]{1,28})\*{0,2}\s?[:=]\*{0,2}\s{1,4}"
    r"(?P<rest>\S.{1,160})"
)

_OF_LABEL = {
    "dtype": deferred(
        r"(?:(?:data|input|tensor|element)[ _-]?)?(?:d?types?|precision|format)", re.I
    ),
    "gpu": deferred(
        r"(?:the |test |our )?(?:gpus?|device|accelerator|hardware|card|machine)", re.I
    ),
}
"""Labels of settings in a list of all that calls were made with."""


def _set_up_below(lines: Sequence[Line], grid: Grid, names: Sequence[str]) -> dict[str, Cell]:
    """Fields of some names that a section on the set-up behind that of a table lists by their
    labels, each in one way: `- Data type: bf16` below `## Methodology`. None of a deeper section,
    which is of another one alone, and none behind the post of another author."""
    heading = heading_above(lines, grid) if names else None
    depth, end = depth_of(heading) if heading else 0, grid.end
    said = dict[str, dict[str, Cell]]()
    while depth and end < len(lines) and not author_of(lines[end].text):
        line = lines[end]
        if HEADING.fullmatch(line.text) and is_heading(lines, end) and depth_of(line) <= depth:
            depth = depth_of(line)
            for name, cell in _listed(lines, end, names) if of_set_up(line.text) else ():
                kept(said.setdefault(name, {}), name, cell)
        end += 1
    return {name: next(iter(ways.values())) for name, ways in said.items() if len(ways) == 1}


def _listed(lines: Sequence[Line], at: int, names: Sequence[str]) -> Iterator[tuple[str, Cell]]:
    """Fields of some names that the section whose heading is line `at` lists by their labels."""
    for place in range(at + 1, len(lines)):
        line = lines[place]
        ends = HEADING.fullmatch(line.text) and depth_of(line) <= depth_of(lines[at])
        if author_of(line.text) or (ends and is_heading(lines, place)):
            return
        labelled = _LABELLED.fullmatch(line.text)
        for name in names if labelled else ():
            word = _of_label(name, labelled) if labelled else None
            if word:
                yield name, Cell(word, line.number, line.column, value_origin="stated")


def _of_label(name: str, labelled: re.Match[str]) -> str | None:
    """The value of a line behind its label, if that is of a field."""
    if not _OF_LABEL[name].fullmatch(labelled["label"]):
        return None
    text = labelled["rest"]
    return device_named(text) if name == "gpu" else format_said(text)


_NOTE = 4
"""Lines below a table among which a note of it stands, and no other table begins."""


def _noted_below(lines: Sequence[Line], grid: Grid, names: Sequence[str]) -> dict[str, Cell]:
    """Fields of some names that the line right below a table says, where no other table, no heading
    and no block follows that it may be of: `H100 80GB, bf16`."""
    end = grid.end
    while end < min(len(lines), grid.end + _NOTE) and _CLOSES.fullmatch(lines[end].text):
        end += 1
    near = range(end, min(end + 2, len(lines)))
    at = next((n for n in near if lines[n].text.strip()), None)
    if (
        at is None
        or len(lines[at].text) > LONGEST
        or lines[at].text.lstrip().startswith(_OF_OTHERS)
    ):
        return {}
    if before := _OF_BEFORE.search(lines[at].text):  # `That was the causal case.`
        own = lines[at]._replace(text=_WERE.sub("", before[0].rstrip(".;!?")))
        return _in_one_way(own, names)
    if lines[at].text.rstrip().endswith((":", "：")) or _DOUBTED.search(lines[at].text):
        return {}
    if at + 1 < len(lines) and _UNDERLINE.fullmatch(lines[at + 1].text):
        return {}  # a heading of reStructuredText
    note, after = lines[at], [line.text.lstrip() for line in lines[at + 1 : at + 1 + _NOTE]]
    if any(t.startswith(_TABLE) for t in after):
        return {}
    of_some = _OF_SOME.search(note.text) is not None
    return _in_one_way(note, [n for n in names if not of_some or n in ("gpu", "dtype")])


def _in_one_way(line: Line, names: Sequence[str]) -> dict[str, Cell]:
    """Fields of some names that a line says, each in one way."""
    said: dict[str, dict[str, Cell]] = {}
    for name, text in _said(line.text):
        if name in names:
            cell = Cell(text, line.number, line.column, value_origin="stated")
            kept(said.setdefault(name, {}), name, cell)
    return {name: next(iter(ways.values())) for name, ways in said.items() if len(ways) == 1}


_DOUBTED = re.compile(
    r"\b(?:seems?|appears? to|apparently|probably|perhaps|maybe|might|presumably|likely"
    r"|I (?:think|guess|suspect|believe|assume))\b",
    re.IGNORECASE,
)
"""Words of an author who is not sure of what was measured."""

_CLOSES = re.compile(r"\s*</(?:div|body|section|center|details)>\s*")
"""The end of a page, or of what a notebook draws, around a table."""

_WERE = re.compile(r"(?:That|Those) (?:was|were) ")


_OF_SOME = re.compile(
    r"\b(?:needs?|drops?|wins?|loses?|gains?|gets?|beats?|falls?|grows?|scales?|saturates?|reaches"
    r"|because|since|which|where|why|explains?|hurts?|helps?|slower|faster|only|most|worse|better"
    r"|limited|bound|dominates?|speed-?ups?|roughly|almost|about|around|up to|even)\b",
    re.IGNORECASE,
)
"""Found in a note below a table that explains some of its rows."""


_UNDERLINE = re.compile(r"\s*([=\-~^\"'#*+.`])\1{2,}\s*")

_TABLE = ("|", "<t", "+-", "```", "~~~")

_OF_OTHERS = (*_TABLE, "#", "**", "<", "- [", "=")
"""How a line below a table begins that is no note of it."""

MOST_ROWS = 1000
"""Rows of separated values that a program prints below what it says of its device and options."""


def below_comments(lines: Sequence[Line], grids: Sequence[Grid]) -> Sequence[Line]:
    """The lines of a document of separated values below comments alone, these without their signs:
    they are no headings. Those of any other document as they are."""
    first = min(grids, key=lambda grid: grid.begin, default=None)
    if first is None or first.syntax not in ("csv", "tsv"):
        return lines
    above = [line.text.lstrip() for line in lines[: first.begin] if line.text.strip()]
    if not above or not all(text.startswith("#") for text in above):
        return lines
    return [uncommented(line) if line.text.lstrip().startswith("#") else line for line in lines]


def said_by_titles(
    grid: Grid, schema: Schema, above: Mapping[str, Cell]
) -> dict[int, Mapping[str, Cell]]:
    """Line → facts of the calls of each row below a title inside a table, a row of one cell or a
    comment between rows: what it says, and of the rest what the text above says. What an earlier
    title said and the last one does not is unknown."""
    told, facts = dict[int, Mapping[str, Cell]](), dict[str, Cell](above)
    own, doubtful = set[str](), set[str]()
    for row in grid.rows:
        words = [cell for cell in row.cells if cell.text]
        if not row.one and not (len(words) == 1 < len(row.cells) and words[0] == row.cells[0]):
            told |= {row.line.number: dict(facts)} if own or doubtful else {}
            continue
        said = _of_title(words[0].text, schema) if words else {}
        for name in {*own, *said} - {"": ""}.keys() if said else ():
            facts.pop(name, None)
        for name, text in said.items():
            if text:
                facts[name] = Cell(text, words[0].line, words[0].column, value_origin="stated")
        own |= {*said}
    return told


def _of_title(text: str, schema: Schema) -> dict[str, str]:
    """Fields that a title inside a table says; of those that it says in several ways nothing."""
    ways = dict[str, dict[str, str]]()
    for name, word in _said(plain(text)) if len(text) <= LONGEST else ():
        if name in fields(schema):
            ways.setdefault(name, {}).setdefault(spelled(word), word)
    if "dtype" not in ways and "dtype" in fields(schema) and (names_format(text) or narrow(text)):
        told = format_said(f"## {text}")
        ways["dtype"] = {told: told} if told else {}
    return {name: next(iter(each.values())) if len(each) == 1 else ""
            for name, each in ways.items()}  # fmt: skip


def with_facts_above(lines: Sequence[Line], folded: Folded, schema: Schema) -> None:
    """Give rows of separated values between other lines the device and the number format that the
    text above their header says, or comments between them; or the one device of the document."""
    places = {line.number: at for at, line in enumerate(lines)}
    own = {number for raw in folded.raw for number in raw["line"]}
    device = cache(lambda: only_device(lines, own | {n.number for n in lines if ROW.match(n.text)}))
    raws, folded.raw = folded.raw, []
    comments = {line.number for line in lines if line.text.startswith("#")}
    folded.refused = [
        each
        for each in folded.refused
        if each.code is not Code.CELL_COUNT or each.span.line not in comments
    ]
    for raw in raws:
        at = places[min(raw["line"])] - 1 if 0 < raw.height <= MOST_ROWS else 0
        told, rows = dict[str, Cell](), dict[int, Mapping[str, Cell]]()
        while at > 0 and _A_COMMENT.match(lines[at].text):
            at -= 1  # up to the header
        if at > 0:
            cells = tuple(GridCell(label, at, 1) for label in lines[at].text.split(","))
            grid = Grid("csv", at, at + 1 + raw.height, (GridRow(lines[at], cells),), ())
            bare = below_comments(lines, [grid])
            said = said_above(bare, grid, schema)
            told = {name: said[name] for name in ("gpu", "dtype") if name in said}
            if not {"gpu"} & {*told, *raw.columns} and (one := device()):
                told["gpu"] = one._replace(value_origin="assumed")
        told = {name: cell for name, cell in told.items() if name not in raw.columns}
        if at > 0:
            last = places[max(raw["line"])] + 1
            rows = said_by_titles(_with_comments(grid, lines[at + 1 : last]), schema, told)
        told_by_rows = {name for each in rows.values() for name in each}
        if not told and not told_by_rows:
            folded.raw.append(raw)
        for row in raw.rows(named=True) if told or told_by_rows else ():
            record = Record(row["line"], {}, row["column"])
            facts = rows.get(row["line"], told)
            record.cells = {name: facts[name] for name in facts if name not in raw.columns} | {
                name: Cell(row[name], row["line"], row["column"], row.get(f"{name}@scale") or 1.0)
                for name in fields(schema) if row.get(name)
            }  # fmt: skip
            record.other = [(each["name"], each["text"]) for each in row.get("other") or ()]
            folded.records.append(record)


_A_COMMENT = re.compile(r"\s*#(?! ?[A-Za-z_]\w*(?:,[^,]*){2})")
"""A comment in words, and no header that begins with such a sign."""


def _with_comments(grid: Grid, lines: Sequence[Line]) -> Grid:
    """The grid with the lines below its header as rows, comments among them as titles; without any
    where there is none."""
    if not any(line.text.lstrip().startswith("#") for line in lines):
        return grid
    rows = list[GridRow]()
    for line in lines:
        if line.text.lstrip().startswith("#"):
            bare = uncommented(line)
            title = GridCell(bare.text, bare.number, bare.column)
            rows.append(GridRow(line, (title, title)))
        else:
            texts = (line.text, "", " ")
            rows.append(GridRow(line, tuple(GridCell(text, line.number, 1) for text in texts)))
    return replace(grid, rows=tuple(rows))


_SAME = re.compile(
    r"\b(?:(?:the )?same|identical) (?:machine|hardware|box|node|GPU|card|device|accelerator|host"
    r"|server|system|set-?up|environment|test ?bed|conditions?|(?:run )?config(?:uration)?)\b"
    r"(?! for (?:all|both|every))"
    r"|\bon (?:one|two|four|[0-9]) of (?:these|those|the same) "
    r"(?:nodes|machines|boxes|hosts|servers|systems|GPUs|cards|devices)\b"
    r"|\bon (?:this|that) (?:same )?(?:machine|hardware|box|node|GPU|card|server|system)\b",
    re.IGNORECASE,
)
"""Words for the device of the calls above: `Same machine.`, `on one of these nodes`."""


def _same_machine(lines: Sequence[Line]) -> dict[str, Cell]:
    """The device that the last line above names, where the text right above a table says that its
    calls were made on the same."""
    near = next(nearest_first(lines), [])
    if not any(_SAME.search(line.text) for line in near if len(line.text) <= LONGEST):
        return {}
    for line in reversed(lines):
        if len(line.text) > LONGEST or ROW.match(line.text):
            continue
        if several(line.text):
            return {}
        if named := device_named(line.text):
            return {"gpu": Cell(named, line.number, line.column, value_origin="stated")}
    return {}


def _of_nodes(line: Line) -> bool:
    """Whether a line says that calls were made between so many nodes, two or more."""
    return "s" in line.text and _SEVERAL_NODES.search(_in_digits(line.text)) is not None


def _in_digits(text: str) -> str:
    """A text with how many nodes or ranks there are in digits."""
    return _IN_WORDS.sub(lambda found: _COUNTS[found[1].casefold()], text)


def _by_labels(grid: Grid, found: Mapping[str, Cell]) -> dict[str, Cell]:
    """Operation and number format that the labels of a table of collectives name: those of PARAM,
    or floats, of 32 bits where nothing says of how many."""
    head = grid.heads[-1]
    first = {row.cells[0].text for row in grid.rows} if head.cells[0].text == _PARAM else set()
    label = first.pop() if len(first) == 1 else head.cells[0].text
    if named := _OF_PARAM.fullmatch(label):
        words = zip(("op", "dtype"), named.groups(), strict=True)
        return {name: Cell(word, head.line.number, head.cells[0].column) for name, word in words}
    typed = next(((each[1], cell) for cell in head.cells
                  if "size" in cell.text.casefold()
                  and (each := _OF_TYPE.fullmatch(plain(cell.text)))), None)  # fmt: skip
    if typed is not None:  # `Size (fp16)`, of MSCCL++
        return {"dtype": Cell(typed[0], typed[1].line, typed[1].column)}
    floats = next((cell for cell in head.cells if "# of floats" in cell.text), None)
    if floats is None or ("dtype" in found and found["dtype"].text == "fp32"):
        return {}
    return {"dtype": Cell("float", floats.line, floats.column)}


_OF_TYPE = re.compile(rf"(?:\w+ )?size ?\(({NUMBER_FORMAT}|int(?:8|32))\)", re.IGNORECASE)


def _times_it(text: str, op: Cell | None) -> bool:
    """Whether a line is the command of nccl-tests that times an operation."""
    found = OPERATION.search(text) if op is not None and "_perf " in text else None
    return found is not None and op is not None and canonical(found) == op.text


def _of_nccl(lines: Sequence[Line], op: Cell | None) -> dict[str, Cell]:
    """The type that text around a section says its nccl-tests were run with, or the command that
    times its operation, said in one way."""
    told = [(next(filter(None, named.groups())), line) for line in around(lines)
            if ("tests" in line.text or _times_it(line.text, op))
            and (named := _OF_NCCL.search(line.text))]  # fmt: skip
    if len({word.casefold() for word, _ in told}) != 1:
        return {}
    word, line = told[0]
    return {"dtype": Cell(word, line.number, line.column, value_origin="stated")}


_TYPE_SAID = deferred(
    r"[\s#*>-]{0,8}(?:data|elem(?:ent)?|msg|buffer|tensor)?[ _-]?(?:d?types?|precision|format)"
    rf"(?:\s{{0,20}}[:=]\s{{0,4}}|\s{{2,24}})(?:torch\.)?({NUMBER_FORMAT}|half|float|double)\s*[,;.]?\s*",
    re.IGNORECASE,
)
"""The line of a program's settings that says the type of all it sends: `dtype    bfloat16`."""


def _of_output(lines: Sequence[Line]) -> dict[str, Cell]:
    """The type that a program said in front of its tables, in a text without headings."""
    if any(HEADING.fullmatch(line.text) for line in lines):
        return {}
    told = dict[str, Cell]()
    for line in lines:
        found = _TYPE_SAID.fullmatch(line.text) if len(line.text) <= LONGEST else None
        if found:
            cell = Cell(found[1], line.number, line.column, value_origin="stated")
            kept(told, "dtype", cell)
    return {"dtype": next(iter(told.values()))} if len(told) == 1 else {}


def _ranks_around(lines: Sequence[Line], op: Cell | None) -> dict[str, Cell]:
    """The ranks that the command which times an operation starts, around its section, or that the
    text there says all calls to have, said in one way."""
    told = dict[str, Cell]()
    for line in around(lines):
        if len(line.text) > LONGEST or not (_times_it(line.text, op) or _SO_MANY.search(line.text)):
            continue
        for name, many in processes(line.text):
            if name == "ranks":
                told[many] = Cell(many, line.number, line.column, value_origin="stated")
    return {"ranks": next(iter(told.values()))} if len(told) == 1 else {}


_SO_MANY = re.compile(
    r"\branks? (?:everywhere|throughout|in (?:all|every)|always)\b", re.IGNORECASE
)
"""Found where a text says how many ranks all calls have."""

_BROKEN = re.compile(
    r"(?:^|(?<![\w.-])(?i:on|over|across|with|of|between|among|for|from|to|and|all|the|at|using|in|by"
    r"|is|are|was|were|has|have|had|these|those|our|only|just) )([0-9]{1,6})\s*$"
)
"""A number at the end of a line, whose noun stands in the next: `On 32`."""


def _unbroken(lines: Sequence[Line]) -> list[Line]:
    """Lines of prose, the last first, with a number in front of its noun that stands in the line
    above it."""
    made = list(lines)
    for at, (line, above) in enumerate(pairwise(lines)):
        found = _BROKEN.search(above.text) if above.number == line.number - 1 else None
        if found and line.text[:1].isalpha() and not ROW.match(above.text):
            made[at] = line._replace(text=f"{found[1]} {line.text}")
            made[at + 1] = above._replace(text=above.text[: found.start(1)])
    return made


def _left_open(lines: Sequence[Line], grid: Grid, schema: Schema, found: Set[str]) -> list[str]:
    """Settings that neither a table nor the lines right above it speak of, which may stand around
    its section; none of collectives, which send what a page is not about."""
    if "op" in fields(schema):
        return []
    names = [name for name in ("dtype", *SIZES) if name in fields(schema) and name not in found]
    near = list[str]()
    for at in range(grid.begin - 1, max(0, grid.begin - _ABOVE) - 1, -1):
        if is_heading(lines, at):
            break
        near.append(lines[at].text)
    heading = heading_above(lines, grid)
    texts = (*map(plain, grid.header()), *near, heading.text if heading else "")
    if "dtype" in names and any(names_format(text) or narrow(text) for text in texts):
        names.remove("dtype")
    return names


def of_other_calls(lines: Sequence[Line], grid: Grid) -> bool:
    """Whether the titles of a table name an operator, and attention nowhere, or tokens that are
    decoded one by one."""
    titles = [line.text for each in own_title(lines, grid) for line in each]
    titles += headings_around(lines, grid)
    if any(map(_LINEAR.search, grid.header())) or any(map(_SPARSE.fullmatch, grid.header())):
        return True
    if any(map(_DECODING.search, titles)) and not {*map(normalise, grid.header())} & _OF_QUERIES:
        return True  # one query beside a context of keys, or tokens of several sequences
    named = [text for text in titles if _OPERATOR.search(text) or names_products(text)]
    near = lines[max(0, grid.begin - 2) : grid.begin] if named else ()
    return bool(named) and not any(map(_ATTENTION.search, (*titles, *(line.text for line in near))))


_TESTED_PRODUCTS = {"mm", "bmm", "addmm", "baddbmm", "matmul", "linear", "w8a8_block_fp8_matmul"}


def of_tested_products(lines: Sequence[Line], grid: Grid) -> bool:
    """Whether a table may be of products alone: by the operator in the title that FlagGems printed,
    and where no title says that ranks exchanged something too, `AllGather + GEMM`."""
    heading = heading_above(lines, grid)
    titles = [line.text for each in own_title(lines, grid) for line in each]
    if any(map(FUSED.search, (*titles, heading.text if heading else ""))):
        return False
    title = TESTED.match(lines[grid.begin - 1].text) if grid.begin else None
    return title is None or title[1] in _TESTED_PRODUCTS


_LINEAR = re.compile(
    r"(?<![a-z])(?:gla|ret(?:ention|net)|(?:gated[_ -]?)?delta(?:[_ -]?(?:net|rule))|gdn|kda|ttt"
    r"|mamba2?|ssd|rwkv[0-9]?|hgrn2?|gsa|rebased|(?:lin(?:ear)?|lightning)[_ -]?att(?:entio)?n"
    r")(?![a-z])",
    re.IGNORECASE,
)
"""Names of kernels whose work is linear in the length of a sequence, which attention's is not."""

_SPARSE = re.compile(
    r"\W{0,4}(?:(?:mask|block|attention) )?(?:density|sparsity|keep ratio|kept)\W{0,6}",
    re.IGNORECASE,
)
"""Labels of how much of attention's work is done."""

OF_STEPS = deferred(
    r"(?<!optimizer )\b(?:step|iteration|epoch)[ -](?:time|latency|duration)s?\b"
    r"|\btimes? (?:of|per|for) (?:an? |each |one )?(?:training )?(?:step|iteration|epoch)\b"
    r"|(?<![A-Za-z])(?:m?s|(?:milli)?seconds?) ?(?:per|/) ?(?:training )?"
    r"(?:step|iter(?:ation)?|epoch)\b",
    re.IGNORECASE,
)
"""Found in a sentence on the numbers of whole steps, which no calls are."""


_NOT_MEASURED = deferred(
    r"\b(?:projected|projections?|estimated|estimates?|predicted|predictions?|theoretical"
    r"|simulated|extrapolated)\b",
    re.IGNORECASE,
)

_MEASURED_TOO = deferred(
    r"\b(?:measured|achieved|actual|observed|vs\.?|versus|against|compared|of (?:the )?theoretical"
    r"|peak|%|not)\b|%",
    re.IGNORECASE,
)


def of_no_calls(lines: Sequence[Line], grid: Grid) -> bool:
    """Whether the heading of a table or the line that opens it says that nobody measured what
    stands there: `Estimated TFLOPS on B300:`."""
    heading = heading_above(lines, grid)
    titles = [heading.text] if heading else []
    titles += [line.text for line in opening_of(lines[max(0, grid.begin - NEAR) : grid.begin])]
    return any(
        _NOT_MEASURED.search(text) is not None and _MEASURED_TOO.search(text) is None
        for text in titles if len(text) <= LONGEST
    )  # fmt: skip


_OF_SUMS = deferred(
    r"\b(?:total|totals|sum|summed|totall?ed|aggregated?) (?:time )?(?:over|of|across) (?:all )?"
    r"(?:the )?(?:layers|calls|steps|micro-?batches|collectives)\b"
    r"|\b(?:per|in (?:a|one|each)|of (?:a|one|each)|one) (?:whole |single )?(?:training )?"
    r"(?:step|iteration)\b",
    re.IGNORECASE,
)
"""Found above times of all calls of a step together, as a profile gives them."""


def of_sums(lines: Sequence[Line], grid: Grid) -> bool:
    """Whether a line right above a table says that its times are of all calls of a step."""
    near = lines[max(0, grid.begin - _NEAREST) : grid.begin]
    return any(_OF_SUMS.search(line.text) for line in near)


def of_whole_runs(lines: Sequence[Line], grid: Grid, *, headless: bool) -> bool:
    """Whether the title of a table, or a line right above it, speaks of training or of other work
    of a whole model; of a table that says no heads, any title around it too."""
    heading = heading_above(lines, grid)
    own = [line.text for each in own_title(lines, grid) for line in each]
    own += [heading.text] if heading else []
    if any(_OF_RUNS.search(text) and not _ATTENTION.search(text) for text in own):
        return True
    near = lines[max(0, grid.begin - _NEAREST) : grid.begin]
    if any(OF_STEPS.search(line.text) for line in near) or _of_blocks(lines, grid):
        return True
    titles = (*own, *headings_around(lines, grid)[:2], *grid.header()) if headless else ()
    return any(map(_OF_RUNS.search, titles))


def _of_blocks(lines: Sequence[Line], grid: Grid) -> bool:
    """Whether the paragraph above a table, or above those right over it, says that its numbers are
    of whole blocks or layers, in which attention is one call of several."""
    near = list[str]()
    for line in reversed(lines[max(0, grid.begin - FAR) : grid.begin]):
        if near and not line.text.strip():
            break
        if line.text.strip() and not ROW.match(line.text):
            near.append(line.text.strip())
    return _OF_BLOCKS.search(" ".join(reversed(near))[:LONGEST]) is not None


_OF_BLOCKS = deferred(
    r"\b(?:of|for|over|across) (?:the|a|an|one|each) (?:whole|entire|complete) "
    r"(?:(?:attention|transformer|decoder|encoder) )?(?:block|layer|module)\b"
    r"|^\W*(?:(?:attention|transformer|decoder|encoder) )?(?:block|layer|module)[- ]level\b",
    re.IGNORECASE,
)

_NEAREST = 3

_OF_RUNS = re.compile(
    r"\btrain|fine-?tun|\bsteps?\b|epoch|end[- ]to[- ]end|e2e|tokens?/s|\btok/|\bmodels?\b"
    r"|per layer|samples?/|images?/|prompt|generat|serving",
    re.IGNORECASE,
)

_DECODING = re.compile(
    r"\bdecod(?:e|er|ing)\b|\bgeneration\b|\bpacked\b|\bvar-?len\b|\bragged\b", re.IGNORECASE
)

_OF_QUERIES = {"seq", "seqlen", "seqlength", "sequencelength", "seqlenq", "qlen", "sq", "qseqlen"}
"""Labels of lengths that say whose they are, or that no decoding has."""


def heading_above(lines: Sequence[Line], grid: Grid) -> Line | None:
    """The heading that a table stands under."""
    above = lines[max(0, grid.begin - NEAR) : grid.begin]
    return next((line for line in reversed(above) if HEADING.fullmatch(line.text)), None)


def headings_around(lines: Sequence[Line], grid: Grid) -> list[str]:
    """The heading that a table stands under, and those around that one."""
    found, depth = list[str](), 8
    for line in reversed(lines[max(0, grid.begin - FAR) : grid.begin]):
        if HEADING.fullmatch(line.text) and depth_of(line) < depth:
            depth = depth_of(line)
            found.append(line.text)
    return found


_COMPARED = re.compile(r"\s*\[-* .* -*\]\s*$")
"""The title of a comparison that PyTorch's timers print."""

INDENT = 6
"""Blanks in front of a row of a comparison that PyTorch's timers print."""


_OF_EXCHANGES = deferred(
    r"(?<![\w.+/-])(?P<name>(?:[NRHPB]|one|X)CCL|[nr]ccl(?=-tests)|MSCCL(?:\+\+|pp)?|Gloo|NVSHMEM"
    r"|UCC|(?:Open ?|Intel ?)?MPI|MPICH|MVAPICH2?(?:-(?:GDR|X|[Pp]lus))?)(?![\w+])",
)
"""Libraries of collectives."""

_OF_ANOTHER = deferred(
    r"\b(?:vs\.?|versus|against|compar\w*|relative|than|faster|slower|speed-?ups?|without|replac\w*"
    r"|instead|alternatives?|beyond|beats?|ours|own|custom|drop-in|bypass\w*|plug-?ins?)\b"
    r"|\bour (?!(?:[\w-]+ ){0,3}(?:nodes?|clusters?|machines?|servers?|fabric|hardware)\b)",
    re.IGNORECASE,
)
"""Found where another one than the library that a text names may be who exchanged."""

_USED = deferred(
    r"\s*[-*+] {1,4}\*{0,2}(?P<listed>[A-Za-z+]{3,10})\*{0,2}:?(?: version)? v?[0-9][\w.+-]*\s*"
    r"|\s*[-*+]?\s{0,4}\*{0,2}(?:(?:communication )?library|backend|comms?)\*{0,2} ?[:=]\*{0,2} ?"
    r"`?(?P<said>[A-Za-z+]{3,10})`?(?: v?[0-9][\w.+-]*)?\s*",
    re.IGNORECASE,
)
"""A line on what was installed, or on who exchanged: `- NCCL 2.21.5`, `Library: RCCL`."""


def _outside_code(lines: Sequence[Line]) -> list[Line]:
    """The headings around what follows some lines, the nearest first; no comments of code."""
    found, fenced = list[Line](), False
    for at, line in enumerate(lines):
        fenced ^= line.text.lstrip().startswith(("```", "~~~"))
        if not fenced and HEADING.fullmatch(line.text) and is_heading(lines, at):
            depth = depth_of(line)
            found = [*(each for each in found if depth_of(each) < depth), line]
    return found[::-1]


def _opening(above: Sequence[Line]) -> list[Line]:
    """The line right above a table, where it opens it: `RCCL 2.21, all_gather, half:`."""
    last = next((line for line in reversed(above[-_OPENING:]) if line.text.strip()), None)
    opens = last is not None and last.text.rstrip(" *_").endswith((":", "："))
    return [last] if last is not None and opens and len(last.text) <= LONGEST else []


_OPENING = 3
"""Lines above a table among which the one that opens it stands."""


def library_around(lines: Sequence[Line], grid: Grid) -> Cell | None:
    """The library that exchanged what a table of collectives measures, which the line that opens
    it or else the nearest of the headings around it that names one says, or a list around its
    section; None where another may be meant, or a table names some itself."""
    own = [*grid.header(), *(cell.text for row in grid.rows for cell in row.cells)]
    if any(map(_OF_EXCHANGES.search, own)):
        return None
    return library_above(lines[: grid.begin])


def library_above(lines: Sequence[Line]) -> Cell | None:
    """The same of what follows some lines."""
    above = of_own_author(lines)
    told = dict[str, Cell]()
    for line in [*_opening(above), *_outside_code(above)]:
        named = {
            each["name"].casefold(): each["name"] for each in _OF_EXCHANGES.finditer(line.text)
        }
        if len(named) > 1 or _OF_ANOTHER.search(line.text):
            return None
        if named:
            word = next(iter(named.values()))
            return Cell(word, line.number, line.column, value_origin="stated")
    for line in around(above):
        used = _USED.fullmatch(line.text) if len(line.text) <= LONGEST else None
        word = (used["listed"] or used["said"]) if used else ""
        if word and _OF_EXCHANGES.fullmatch(word):
            told.setdefault(
                word.casefold(), Cell(word, line.number, line.column, value_origin="stated")
            )
    return next(iter(told.values())) if len(told) == 1 else None


def _indented(line: Line) -> bool:
    """Whether a line begins as far in as such a row."""
    return line.column + len(line.text) - len(line.text.lstrip()) > INDENT


def _benchmarked(text: str) -> Iterator[tuple[str, str]]:
    """The operation, or the ranks, that a line right above a table of its calls names."""
    said = _BENCHMARKED.fullmatch(text)
    if said is None:
        return
    if said[2] or said[6]:
        yield "ranks", said[2] or said[6]
        return
    if said[4]:
        yield "dtype", said[4].casefold()
    elif known := OPERATION.match((said[1] or said[3] or said[5]).removesuffix("v")):
        yield "op", canonical(known)


def sizes_of_one_rank(lines: Sequence[Line], grid: Grid) -> Set[str]:
    """The operations of which sizes of a table are what each rank sends: gathering and exchanging,
    as oneCCL, IMB and OSU count, and scattering what is reduced, as oneCCL alone does.

    Source: user guide of the Intel MPI benchmarks; osu_reduce_scatter of the OSU micro-benchmarks,
    which divides its size by the number of processes.
    """
    near = lines[max(0, grid.begin - _ABOVE) : grid.begin]
    titles = [line.text for line in near if _BENCHMARKED.fullmatch(line.text)]
    apart = {"all_gather", "all_to_all", "gather", "scatter"} if titles else set[str]()
    return apart | ({"reduce_scatter"} if any("ing:" in title for title in titles) else set())


_BENCHMARK = deferred(r"##\s+([^#\s].*?)\s*")


def benchmark_above(lines: Sequence[Line], grid: Grid) -> str:
    """The name of the benchmark that a table stands below, above the name of its device."""
    above = lines[max(0, grid.begin - FAR) : grid.begin]
    found = (_BENCHMARK.fullmatch(line.text) for line in reversed(above) if "##" in line.text)
    return next((named[1] for named in found if named), "")


_PARAM = "COMMS-RES"

_OF_PARAM = re.compile(rf"{_PARAM}-([a-z_]+)-([a-z0-9]+)")
"""The first label of PARAM's tables of collectives, or of each row: operation and format."""

_OF_CURVES = {
    "batch": deferred(r"[-_](?:batch|bs|[bB])[=_]?([0-9]+)(?![A-Za-z0-9])"),
    "heads": deferred(r"[-_](?:(?:n|num[-_]?)?heads?|[hH])[=_]?([0-9]+)(?![A-Za-z0-9])"),
    "head_dim": deferred(r"[-_](?:head[-_]?dim|hdim|[dD])[=_]?([0-9]+)(?![A-Za-z0-9])"),
    "seq": deferred(r"[-_](?:seq(?:[-_]?len)?|n[-_]?ctx)[=_]?([0-9]+)(?![A-Za-z0-9])"),
    "causal": deferred(r"[-_]causal=(True|False)\b"),
    "direction": deferred(r"[-_](fwd|bwd|forward|backward)(?![A-Za-z0-9])"),
    "dtype": deferred(r"[-_](b?fp?16|fp8|fp32|float(?:16|32)|bfloat16|int8)(?![A-Za-z0-9])"),
    "operator": deferred(
        rf"^\s*(?!{ANY_FIGURE}(?: \(|:))"
        r"([A-Za-z][\w.=@+-]*?)(?:[-_]perf(?:ormance)?)?(?: \(|:)"
    ),
}
"""Parts of the name of a figure: `fused-attention-batch4-head32-d64-fwd-causal=True (TFLOPS):`."""


_ATTENTION = re.compile(r"att(?:entio)?n|sdpa|flash|[mgs]qa|[fm]ha|mla|(?<![a-z])fa[2-4]?(?![a-z])",
                        re.IGNORECASE)  # fmt: skip
"""Found in names of figures of attention."""


def of_curves(lines: Sequence[Line], grid: Grid) -> bool:
    """Whether a table is the numbers of a figure, below its name, as Triton prints them: columns
    behind those of the calls are curves, of the unit behind the name or behind each of theirs."""
    return grid.syntax == "text" and figure_above(lines[: grid.begin]) is not None


def _spelled_out(found: str) -> str:
    """A setting as cells print it: a length in digits, of which k counts 1,024.

    >>> _spelled_out("2k"), _spelled_out("fwd and bwd")
    ('2048', 'fwd + bwd')
    """
    if found[:1].isdigit() and found[-1] in "kK":
        return str(int(found[:-1]) * 1024)
    return found.replace(" and ", " + ").replace(" plus ", " + ")


@lru_cache(maxsize=1024)  # every table asks the lines above it, which tables share
def _said(text: str) -> tuple[tuple[str, str], ...]:
    """Fields that a line above a table says, and how."""
    if tested := TESTED.match(text):
        return (*_fields(text), ("operator", tested[1]))
    opens = text.rstrip().endswith((":", "：")) and not CURVES.fullmatch(text)
    opens = opens or _BEGINS_WITH_OPERATOR.match(text) is not None
    operators = list(_OPERATOR.finditer(text)) if opens or HEADING.fullmatch(text) else []
    gaps = [text[a.end() : b.start()] for a, b in pairwise(operators)]
    one = operators and not any(map(_BETWEEN.search, gaps)) and not _IN_ALL.search(text)
    return (*_fields(text), *([("operator", operators[0][1])] if one else []))


_BEGINS_WITH_OPERATOR = deferred(
    r"\s{0,8}(?:fused )?(?:(?:rms|layer|group|batch)[ _-]?norm|softmax|swiglu|geglu|rope"
    r"|cross[ _-]?entropy(?: loss)?)"
    r"(?: (?:forward|backward|fwd|bwd|kernels?|benchmark|results|performance|mlp|\+|and)){0,4}"
    r"(?:,|\s*$| \()",
    re.IGNORECASE,
)
"""A line above a table that begins as a title does: `RMSNorm forward, bf16, 8192 tokens`."""


def _operator_of_all(lines: Sequence[Line]) -> dict[str, Cell]:
    """The operator whose name is in the title of a document, if none of its headings names another
    one, or a product or attention."""
    headings = [line for at, line in enumerate(lines)
                if line.text.lstrip()[:1] in ("#", "*") and is_heading(lines, at)]  # fmt: skip
    if not headings or headings[0].number > NEAR or depth_of(headings[0]) > 1:
        return {}
    title = headings[0]
    told = [{word for name, word in _said(line.text) if name == "operator"} for line in headings]
    named = {re.sub("[^a-z0-9]", "", word.casefold()) for each in told for word in each}
    mixed = any(_ATTENTION.search(line.text) or names_products(line.text) for line in headings)
    if mixed or len(named) != 1 or not told[0]:
        return {}
    return {"operator": Cell(told[0].pop(), title.number, title.column, value_origin="stated")}


_BETWEEN = deferred(r"[/,&+、]|\b(?:and|or|vs)\b")
"""Between the names of several operators."""


def names_operator(text: str) -> bool:
    """Whether a text is the name of an operator, and no more."""
    return _OPERATOR.fullmatch(text) is not None


def operator_in(name: str) -> str | None:
    """The one operator that the name of a kernel has among its words.

    >>> operator_in("torch.softmax"), operator_in("my_ops.rms_norm_v2"), operator_in("triton_v3")
    ('softmax', 'rms norm', None)
    """
    words = re.sub(r"[._:/-]+", " ", name)
    found = {spelled(each): each for each in _OPERATOR.findall(words)}
    return next(iter(found.values())) if len(found) == 1 else None


_IN_ALL = deferred(r"^#.*\b(?:issue|bug|feature|performance)\]", re.IGNORECASE)
"""The title of a thread, which is of several things."""


def _of_caption(text: str) -> tuple[tuple[str, str], ...]:
    """The operator that the caption of a table names."""
    of_itself = HEADING.fullmatch(text) or TESTED.match(text)
    found = None if of_itself else _OPERATOR.search(text)
    return (("operator", found[1]),) if found else ()


_OF_BEFORE = re.compile(r"\b(?:That|Those) (?:was|were) [^.;!?|]{0,120}[.;!?]")
"""A sentence on the calls before: `That was the causal case.`"""


def _fields(text: str) -> Iterator[tuple[str, str]]:
    text = _OF_BEFORE.sub("", text) if "hat w" in text or "hose w" in text else text
    curves = names_figure(text)
    others = curves and not _ATTENTION.search(text)
    text = both_passes(text)
    for name, pattern in (_OF_CURVES if curves else _OF_ATTENTION).items():
        if not (others and name in ("heads", "head_dim")):  # `-D4096`: of another thing
            yield from ((name, _spelled_out(found)) for found in pattern.findall(text))
    if curves:
        return
    yield from sizes_named(text)
    if (whose := _who_computes(text)) is not None:
        yield "kernel", whose
    if device := device_named(text):
        yield "gpu", device
    if dtype := format_said(text):
        yield "dtype", dtype
    for found in OPERATION.finditer(text):
        yield "op", canonical(found)
    of_tests = "tests" in text or "_perf" in text or "place" in text or "sum" in text
    if of_tests and (named := _OF_NCCL.search(text)):
        yield "dtype", next(filter(None, named.groups()))
    if len(sizes := _sizes_of_messages(text)) == 1:
        yield "bytes", str(sizes.pop())
    yield from processes(text)


def _sizes_of_messages(text: str) -> set[int]:
    """The bytes of messages that a text says."""
    sizes = {_whole(size) for size in _MESSAGES.findall(text)}
    if "_perf" in text and (swept := _ONE_SIZE.search(text)):
        sizes.add(_whole(swept[1]))
    if not sizes:
        sizes = {_whole(size) for size in _IN_BYTES.findall(text)}
        sizes |= {_whole(size) for size in _OF_SIZE.findall(text)}
    if _OF_NOTHING.search(text) and _OF_COLLECTIVES.search(text):
        sizes.add(0)
    if not sizes and _OF_COLLECTIVES.search(text):
        sizes = {_whole(one or other) for one, other in _IN_PARTS.findall(text)}
    return sizes


def _who_computes(text: str) -> str | None:
    """The library that a line says to be alone, whose name a heading is, or which a line on
    products names in a part of its own; None where others may be meant.

    >>> _who_computes("## CUTLASS 3.5"), _who_computes("GEMM on one GPU, cublasLt 12.4")
    ('CUTLASS 3.5', 'cublasLt')
    >>> _who_computes("vLLM Triton Implementation:"), _who_computes("===== cuBLAS =====")
    ('vLLM Triton', 'cuBLAS')
    >>> _who_computes("## Triton tutorials"), _who_computes("GEMM, TFLOPS relative to cuBLAS")
    (None, None)
    """
    if (begins := _BEGINS_WITH.match(text)) and len({*_LIBRARY.findall(text)}) == 1:
        return begins[1]
    if " only" in text and (alone := _ALONE.search(text)):
        return alone[1]
    if (section := _SECTION_SAYS.fullmatch(text)) is not None:
        return str(section[1])
    if HEADING.fullmatch(text) and (section := _SECTION.fullmatch(text)):
        return section[1]
    if (section := _TITLE_SAYS.fullmatch(text)) is not None:
        return str(section[1])
    if (section := _SECTION_OF.fullmatch(text)) and (section["end"] or _RULED_OFF.fullmatch(text)):
        return str(section[1])
    if (begins := _BEGINS_WITH_BLAS.match(text)) and (begins[2] or _alone(text)):
        return begins[1]
    if len(text) > LONGEST or not names_products(text):
        return None
    if any(each.search(text) for each in (_COMPARED_WITH, _BY_FORMAT, _VERSIONS)):
        return None
    named = {each.casefold(): each for each in _OF_BLAS.findall(text)}
    return next(iter(named.values())) if len(named) == 1 else None


_ANY_LIBRARY = deferred(rf"(?<![\w-]){_OWN_LIBRARY}(?![\w-])", re.I)

_IS_COMPARED = deferred(
    r"\b(?:vs|versus|against|faster|slower|speed-?ups?|than|baseline|beats?|wins?|relative|ours)\b",
    re.I,
)


def _alone(text: str) -> bool:
    """Whether a text names one library, and nothing that it is compared with."""
    named = {each.casefold().split(" ")[0] for each in _ANY_LIBRARY.findall(text)}
    return len(named) == 1 and _IS_COMPARED.search(text) is None


def canonical(found: re.Match[str]) -> str:
    """The name of an operation, as collectives are called in every row."""
    parts = [part.casefold() for part in found.groups() if part]
    if parts == ["send"]:
        return "sendrecv"
    return "_".join("to_all" if part.startswith("to") else part for part in parts)


def _whole(size: str) -> int:
    """The bytes of a size in 1,024s.

    >>> _whole("256 MiB"), _whole("1G"), _whole("65536")
    (268435456, 1073741824, 65536)
    """
    number = re.match("[0-9]+", size)
    unit = size[number.end() :].strip()[:1].upper() if number else ""
    return int(number[0]) << 10 * " KMG".index(unit or " ") if number else 0


def processes(text: str) -> Iterator[tuple[str, str]]:
    """How many ranks a text says that there were."""
    text = _in_digits(text)
    if cards := machine(text).get("gpus") if "卡" in text else None:
        yield "ranks", cards
    elif grid := _BY_NODES.search(signed(text)):
        yield "ranks", str(int(grid[1]) * int(grid[2]))
        yield "ranks_per_node", grid[2]
    elif started := _started(text):
        yield from started.items()
    elif shared := _PER_NODE.search(text) or _PER_NODE.search(signed(text)):
        yield "ranks_per_node", shared[1]
        whole = _of_all_nodes(text, int(shared[1]))
        yield from [("ranks", str(whole))] if whole else []
    elif of_all := _on_all_nodes(text):
        yield "ranks", of_all
    elif named := _NAMED.search(text) or (OPERATION.search(text) and _WORLD.search(text)):
        yield "ranks", next(filter(None, named.groups()))
    elif instances := _of_instances(text):
        yield from instances.items()
    else:
        nodes = _NODES.search(text)
        for each in [nodes[2]] if nodes else _RANKS.findall(text):
            if ranks := _ranks(nodes, each, text):
                yield "ranks", ranks
                if nodes and int(ranks) == int(nodes[1]) * int(each) and nodes[1] != "1":
                    yield "ranks_per_node", each
        if nodes is None and not _RANKS.search(text) and (devices := _devices_of(text)):
            yield "ranks", devices


def _of_instances(text: str) -> dict[str, str]:
    """The ranks on instances of a cloud, whose devices a text counts.

    >>> _of_instances("on 2x p5.48xlarge (8 H100 GPUs each)"), _of_instances("2x p5.48xlarge")
    ({'ranks': '16', 'ranks_per_node': '8'}, {})
    """
    if "xlarge" not in text and ".metal" not in text:
        return {}
    told = {part.name: part.word for part in machines(text) if part.name}
    if not {"nodes", "gpus_per_node"} <= told.keys() or "gpus" in told:
        return {}
    each = told["gpus_per_node"]
    return {"ranks": str(int(told["nodes"]) * int(each)), "ranks_per_node": each}


def _devices_of(text: str) -> str | None:
    """How many devices a text says that took part, if it is one number on no node of several.

    >>> _devices_of("on 8 H100, bus bandwidth"), _devices_of("across 4 A100 GPUs of each node")
    ('8', None)
    """
    if counted := counted_devices(text):
        return counted
    found = set(_OF_DEVICES.findall(signed(text)))
    apart = re.search(r"\bnodes?\b|\bhosts?\b|\beach\b", text, re.IGNORECASE)
    return found.pop() if len(found) == 1 and not apart else None


def _started(text: str) -> dict[str, str]:
    """The ranks that a command starts, of a benchmark of NCCL as many as its processes' devices.

    >>> _started("mpirun -np 4 ./all_gather_perf -g 2"), _started("`broadcast_perf -b 1G -g 8`")
    ({'ranks': '8'}, {'ranks': '8'})
    """
    started = launched(text)
    command = re.split(r"[|;&`]", text[text.find("_perf") :], maxsplit=1)[0]
    each = of_a_process(command) if "_perf" in text else 1
    if each > 1 and not started:
        return {"ranks": str(each)}
    return {name: str(int(many) * each) for name, many in started.items()}


def _of_all_nodes(text: str, of_each: int) -> int | None:
    """The ranks on all nodes of a text that says those of each, in one way or in ways that agree.

    >>> _of_all_nodes("4 nodes, 8 GPUs/node, 32 total", 8), _of_all_nodes("8 GPUs/node", 8)
    (32, None)
    """
    whole = {next(filter(None, found.groups())) for found in _IN_TOTAL.finditer(text)}
    nodes = {next(filter(None, found.groups())) for found in _HOW_MANY_NODES.finditer(text)}
    ranks = {int(many.replace(",", "")) for many in whole} | {int(n) * of_each for n in nodes}
    return ranks.pop() if len(ranks) == 1 else None


def _launched_above(lines: Sequence[Line]) -> dict[str, Cell]:
    """The same of the last command above a table."""
    for line in reversed(lines):
        if told := launched(line.text):
            return {
                name: Cell(text, line.number, line.column, value_origin="stated")
                for name, text in told.items()
            }
    return {}


_OPTION = deferred(
    r"\s*data_?types?\s*:\s+([a-z]+[0-9]*)\s*"
    r"|.*\bbenchmark\b.* (?:--dtype|-d)[ =]([a-z]+[0-9]*)(?: .*)?"
)
"""The one type among the options that oneCCL's benchmark prints, or in its command."""


def _of_options(lines: Sequence[Line]) -> dict[str, Cell]:
    """The type of the last options above a table of oneCCL's benchmark."""
    for line in reversed(lines):
        if "type" in line.text and (told := _OPTION.fullmatch(line.text)):
            word = told[1] or told[2]
            return {"dtype": Cell(word, line.number, line.column, value_origin="stated")}
    return {}


def _ranks(nodes: re.Match[str] | None, ranks: str, text: str) -> str | None:
    """All ranks of a text; None where it may name those of a node: `4 nodes x 8 GPUs` are 32."""
    if nodes is None:
        return None if re.search(r"\bnodes\b|\beach\b|per node", text, re.IGNORECASE) else ranks
    many, of_each = whole(nodes[1]), whole(nodes[2])
    if many is None or of_each is None:
        return None
    inside = "(" in nodes[0]  # `2 nodes (8 GPUs)` may have as many each
    if many == 1:
        return ranks
    behind = text[nodes.start() :]
    said = re.search(r"\beach\b|per node|nodes? of\b", behind, re.IGNORECASE)
    listed = inside or "," in nodes[0]  # `2 nodes, 16x B200`
    if listed and not said and of_each > HALF_A_NODE and of_each % many == 0:
        every = of_each > LARGEST_NODE or of_each in (4 * many, 8 * many)
        return str(of_each) if every else None  # `4 nodes (32x H200)`
    if said or re.search(r"[x×*]", behind):
        return str(many * of_each)
    return ranks if of_each in (4 * many, 8 * many) and not (inside and of_each <= 8) else None
