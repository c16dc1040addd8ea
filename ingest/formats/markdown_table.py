"""Tables of throughput, topology and utilisation, in whatever syntax; one row is one run.

A table is ours when its header names a measured quantity. Header spellings drift within a
document, so columns are found by label, unit in brackets or not; a label that occurs twice gets a
number, a column nobody declares is kept in `other`. Cells are numbers, outcomes (`OOM`), known
unknowns (`GB`, `xxxx`) or missing, and never one for the other.
"""

from __future__ import annotations

from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import logged, measured, named
from assay.ingest.schema.format import Folded, Format, Region


class MarkdownTable(Configuration):
    """One row of a table: times and rates are what the document says of one run."""

    step_time: float = measured(gt=0, meaning="time of one iteration")
    model_flops_rate: float = measured(
        gt=0, meaning="model FLOPs per second and GPU, by the document's own formula"
    )
    memory: float = measured(gt=0, meaning="memory of one GPU")
    tokens_per_s: float = measured(gt=0, meaning="tokens per second")
    tokens_per_gpu_per_s: float = measured(gt=0, meaning="tokens per second and GPU")
    samples_per_s: float = measured(gt=0, meaning="sequences per second")
    step_rate: float = logged(
        unit="1/s", quantity="step_rate", gt=0, nullable=True, meaning="steps per second"
    )
    item_rate: float = logged(
        unit="1/s", quantity="item_rate", gt=0, nullable=True,
        meaning="things per second that are no sequences, or that nobody names: images, `28.5/s`",
    )  # fmt: skip
    samples_per_gpu_per_s: float = logged(
        unit="1/s", gt=0, nullable=True,
        meaning="sequences or other things per second and GPU, as printed",
    )  # fmt: skip
    max_reserved: float = logged(
        unit="B", gt=0, nullable=True, meaning="what the allocator of one GPU took from it"
    )
    mfu_weights: float = measured(
        ge=0, meaning="model FLOPs utilisation of the weight products alone"
    )
    mfu: float = measured(ge=0, meaning="model FLOPs utilisation")
    hfu_weights: float = measured(
        ge=0, meaning="hardware FLOPs utilisation of the weight products alone"
    )
    hfu: float = measured(ge=0, meaning="hardware FLOPs utilisation")
    speedup: float = logged(
        ["speedup", "speed up", "relative speed", "relative speedup", "加速比", "加速"],
        unit="1", gt=0, nullable=True,
        meaning="times as fast as the row of 1 above it; checked, no observation",
    )  # fmt: skip
    trained_part: str = named(meaning="what is trained where not all weights are: LoRA")
    date: str = named(meaning="date in the notes, as printed")
    outcome: str = named(meaning="what happened instead of a measurement: OOM, fail, may hang")
    notes: str = named(["Notes", "note", "comment", "comments", "remarks"])

    class Config:
        """Meaning of the rows."""

        metadata = {"rows": "table"}


def fold(region: Region) -> Folded:
    """Every table of a document that names what was measured of runs."""
    from assay.ingest.tables.table_rows import table_rows  # noqa: PLC0415 - few logs have one

    return table_rows(region, MarkdownTable)


FORMAT = Format(
    name="markdown_table",
    heads=(
        "|", "\\begin{tab", "\\begin{longtab", "<table", "<TABLE", "==", "+-", "-table::", "┌",
        "┏", "╒", "╔", "╭", "╞", "├", "┡", "┍", "┝", "FLOP", "flops", "tok/s", "token/s",
        "tokens/s", "(s)", "(ms)", "(us)", "MFU",
        "mfu", "_ms", "tok_s", "_gib", "step_time", "per_s", "per_it", "sec/it", "sec/step",
        "per second ", "per step", "per batch", "s per it", "time/step",
        "iter time", "hroughput  ", "samples/s", "performance", "Performance:", "-perf",
        "threads: -", "thread: -", "# of Calls", "-- --", "--  --", "   --",
        "econds per ", "it/s", "iter/s", "iters/s",
        "steps/s", "batches/s", "seq/s", "seqs/s", "sequences/s", "img/s", "imgs/s", "image/s",
        "images/s", "sample/s", "s/it", "s/step", "s/batch", "iB)", "(GB)", "Table ", "Tab. ",
        "step time", "iter_time", "optimizer step",
        "-fwd", "-bwd", "-forward:", "-backward:", "-causal=", "_fwd", "_bwd", "_forward:",
        "_backward:",
    ),
    opens=r"^[^|-]*(?:\|[|: \t-]*-|[: \t]*-[: \t-]*\|)[|: \t-]*$"  # an alignment row
    r"|^[\s:*#]*\{\||^\|===\s*$|^\s*\^[^|^]+\^[^|^]+\^"  # wikis
    r"|^\s*\|\|[^|]+\|\|[^|]+\|\||^\s*\|[_=][^|]+\|[_=]|\\begin\{(?:tabular|longtable|tblr)"
    r"|(?i:<table[\s>])|^\s*=+(?: +=+)+\s*$|^\s*\.\. (?:list|csv)-table::"  # HTML, RST
    r"|^\s*[|+]?-+(?:\+-+){2,}[|+]?\s*$|^\s*(?:\+-{3,}\+-{3,}\+|\|-{3,}\+-{3,}\|)\s*$"
    r"|^\s*[┌┏╒╔╭╞├┡┍┝][─━═┬┳╤╦╪┼╇┯┿]+[┐┓╕╗╮╡┤┩┑┥]\s*$"  # drawn
    r"|\((?:[GT]FLOPS?(?:/s)?|[mu]?s|tok(?:en)?s?/s)\):\s*$"  # a title of curves
    r"|^(?:[A-Za-z][\w.=@+-]*[-_][\w.=@+-]*|Performance):\s*$"
    r"|^[0-9]+ threads?: -+\s*$|  # of Calls\s*$"
    r"|(?i:\b(?:vs\.?|versus|by|over|across) (?:the )?(?:number of |# ?)?"  # of a matrix
    r"(?:gpu|device|node|chip|card)s\b)"
    r"|^ *-{2,}(?: +-{2,}){2,} *$|^\s*\|(?:[^|0-9]*\|){3,}\s*$"  # columns given by dashes or bars
    r"|^\s*\| *[A-Za-z][^|]{0,40}(?:\| *[0-9][0-9.,]* *){2,40}\|\s*$"
    r"|^(?:[^|=:0-9,]|[A-Za-z][0-9]+)*[A-Za-z_)\]]  +[^|=:,]*"  # labels kept apart by blanks
    r"(?:(?i:flop|mfu)|(?:tok(?:en)?|it(?:er)?|step|batche|seq|sequence|im(?:a?ge?)?|sample)s?/s"
    r"|s(?:ec)?/(?:it|step|batch)|\((?:[mu]?s|[MG]i?B)\)|_m?s\b|_per_(?:s|it|batch)"
    r"| per (?:s|step|iter)|(?:step|iter(?:ation)?|step_|time/)[ _]?(?:time|step|iter)\b"
    r"|[Tt]hroughput  )[^|=:,]*$"
    r"|^ {3,}(?:[A-Za-z_]+ +)*[A-Za-z_]*(?:_m?s|_s_gpu|_per_\w+|_gib|mfu|flops)"
    r"(?: +[A-Za-z_]+)*\s*$"  # labels that end where cells do
    r"|^\s*Tab(?:le|\.) [0-9IVX]+[.:] .*(?:\w/s\b|/sec|(?i: per second|flop|mfu)|\(m?s\))"
    r"|^(?:- )?[A-Za-z][\w ./()-]{0,40}"  # a result of its own
    r"(?:_ms|_per_s\w*|/s(?:ec)?(?:/\w+)?|(?:step|iter)[_ ]time\w*|mfu|MFU|\(m?s\))"
    r"(?:: +| *= *)[0-9][0-9.,]*k?(?: ?[A-Za-z/%]{1,10})?$"
    r"|^\s*(?:[-*+•]|[0-9]{1,2}[.)]) "  # of a list
    r"\S.{0,99}[:=–—→>][*_]{0,2} +[~≈]?[0-9][0-9.,]* ?[kKM]? ?"
    r"(?:[^|]{1,60}[0-9] ?)?(?:[A-Za-z]+/s(?:ec)?\b|m?s(?:ec)?/(?:it|iter|step)\b|[A-Za-z]+ per s"
    r"|m?s(?:ec\w*)? per (?:\w+ )?(?:step|iter)|[TP]FLOP|% (?:MFU|HFU))[^|]{0,60}$"
    r"|^\s*(?:[-*+•]|[0-9]{1,2}[.)]) .{1,60}[:=–—→] +~?[0-9][0-9.,]* ?[kKM]? ?"  # of a list
    r"(?:[A-Za-z]{1,12}/s(?:ec)?"
    r"|m?s(?:ec|econds?)?(?:/| per )(?:it|step|batch))\w*(?:/\w+|[,;. ] ?[^|]{0,60})?$"
    r"|^\s{0,6}(?:[-*+•]|[0-9]{1,2}[.)])\s+[*_`]{0,2}"
    r"(?i:(?:training |mean |avg\.? |average )?"  # of one run
    r"(?:throughput|speed|(?:step|iteration) time|time per (?:step|iteration)|[mh]fu"
    r"|tok(?:en)?s?/s))"
    r"[^:=]{0,24}[:=][*_ ]{1,4}~?[0-9]"
    r"|^\s*(?:(?:[-*•+]|[0-9]{1,2}[.)]) )?(?i:m?bs|(?:micro[ _-]?|global[ _-])?batch"
    r"(?:[ _-]size)?|seq(?:uence)?(?:[ _-]?len(?:gth)?)?|ctx|context|n?_?gpus?|nodes|world"
    r"(?:_size)?|[tpdc]p|[BTSL])(?: ?[=:] *| +)[0-9]+[^0-9/.|][^|]{0,80}"  # printed by a loop
    r"[0-9] ?(?:tok(?:en)?s?/s|samples/s|m?s/(?:it|iter|step)|m?s|TFLOPS?)\b"
    r"|^\s*[A-Za-z][^|=:\[\]]{0,60}  +[0-9][0-9.,]* ?(?:m?s/(?:it|iter|step)|tok(?:en)?s?/s"
    r"|samples/s|img/s)(?: [^|=\[\]]*)?[0-9]"  # names before numbers that say what they are
    r"|(?i:\b(?:numbers|values|figures|cells|entries|columns?|all)\b[^|]{0,40}\b(?:are|is|in|hold)\b|^[^|.]*)"
    r"[^|.]{0,24}\b(?:tok(?:en)?s?/s|samples/s|tokens per s|samples per s|s/it|s/step|ms/step"
    r"|(?i:(?:milli)?seconds per (?:training )?(?:step|iteration)))[^|]{0,40}:\s*$"  # over numbers
    r"|(?i:\b(?:numbers|values|figures|cells|entries|columns?)\b[^|]{0,24}\b(?:are|is|in|hold)\b)[^|.]{0,16}"
    r"\b(?:tok(?:en)?s?/s|samples/s|s/it|s/step|(?i:(?:milli)?seconds per|tokens per|samples per))"
    r"|(?i:[\"”'’]\s*(?:/|and|,)\s*[\"“'‘][^|]{1,24}[\"”'’]\s*(?:is|are)\b)"
    r"|^\W{0,6}[A-Za-z][A-Za-z0-9_]{0,11}[*`]{0,2} ?= ?(?i:(?:[a-z-]+ ){0,3}?"  # words explained
    r"(?:(?:milli)?seconds per (?:step|iteration)|(?:tokens|samples) per second|tok(?:en)?s?/s"
    r"|[GT]FLOPS?(?:/s)?)\b)"
    r"|^Name: \S.*, dtype: (?:float|int)[0-9]+\s*$"  # a series
    r"|^\s*[A-Za-z][^|=:0-9]*(?:(?i:flop|mfu)|tok(?:en)?s?(?:/|_per_)s|\([mu]?s\)|_m?s\b)"
    r"[^|=:]*(?:  +[0-9][0-9,.]*){2,}\s*$"  # a metric of a turned one
    r"|^[^|=:0-9.]*[,;\t][^|=:0-9.]*(?:(?i:flop|mfu)|tok(?:en)?s?/s|\([mu]?s\)|_m?s\b)[^|=:0-9.]*$"
    r"|^\s*\{\s*\"(?i:model|name|run|config|experiment|benchmark|framework|system|hardware|device"
    r"|gpu|n_?gpu|num_?gpu|world|arch|dtype|precision|batch|micro|global_batch|seq|tp|size|bench"
    r"|exp|task|case|cluster|machine|node|backend|parallel|strategy|method|setup|label|tag|trial)"
    r"[A-Za-z_ ]*\"\s*:.*\}\s*$",  # a line of results, which says first what was run
    suffixes=(".csv", ".tsv", ".rst", ".ipynb", ".json", ".yaml", ".yml"),
    schemas={"markdown_table": MarkdownTable},
    origin="published",
    fold=fold,
    lines="document",
    yields=True,
)  # fmt: skip
