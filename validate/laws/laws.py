"""All laws, in one list: what each ties together, how grave a breach is, and what finds it.

A law is data and one function from the evidence to findings. Relations of one row share a function,
because one wrong cell breaks several of them and is one finding. `findings` gives every
contradiction that the laws find in a reading, by source and line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from assay.ingest.schema.reading import Reading
from assay.validate.arithmetic.implied import Arithmetic
from assay.validate.laws import (
    bounds,
    conventions,
    dumps,
    estimators,
    labels,
    logs,
    rowwise,
    same_configuration,
    speedups,
    traces,
    trends,
)
from assay.validate.laws.along import along_logs
from assay.validate.laws.evidence import Evidence
from assay.validate.laws.finding import Finding, Kind, ordered

Find = Callable[[Evidence], list[Finding]]


@dataclass(frozen=True)
class Law:
    """One law: its name is what `--law` takes and findings carry."""

    name: str
    kind: Kind
    ties: tuple[str, ...]  # the quantities it ties together
    rule: str  # when a breach is an error, a warning, a note
    sentence: str
    find: Find
    formula: str = ""  # formula id, or the formula itself


NEXT_VALUE = (
    f"Of more than {trends.ALL_PAIRS} rows each is compared with one of the next larger value."
)

ROUNDING = "error beyond 3 units in the last place or 5 %, note within"

UNITS = "error beyond 3 units in the last place, note within"

EXACT = "error"

BEYOND_NOISE = "warning beyond the measured repeat noise, else note"

LAWS: tuple[Law, ...] = (
    Law("samples-per-second", "identity", ("samples/s", "GBS", "step time"), ROUNDING,
        "Sequences per second are the global batch over the step time.",
        rowwise.row_findings, "samples/s = GBS / t"),
    Law("tokens-per-second", "identity", ("tokens/s", "samples/s", "sequence length"), ROUNDING,
        "Tokens per second are sequences per second times their length.",
        rowwise.row_findings, "tokens/s = samples/s · s"),
    Law("rate-per-gpu", "identity", ("tokens/s per GPU", "tokens/s", "GPUs"), ROUNDING,
        "A rate per GPU times the GPUs is the rate of the job.",
        rowwise.row_findings, "tokens/s/GPU · GPUs = tokens/s"),
    Law("rate-from-time", "identity", ("TFLOPs", "step time or throughput", "model", "GPUs"),
        ROUNDING, "A printed rate follows from time and configuration by a known formula.",
        rowwise.row_findings, "the formula that most rows of the table follow"),
    Law("utilisation-from-throughput", "identity", ("MFU", "HFU", "throughput", "model", "peak"),
        ROUNDING, "A printed utilisation follows from throughput, model and peak.",
        rowwise.row_findings, "the formula that most rows of the table follow"),
    Law("flop-per-token", "identity", ("TFLOPs", "MFU", "HFU", "throughput", "model"), ROUNDING,
        "Rows of one model and sequence count the same FLOP per token, whatever the formula.",
        rowwise.row_findings, "tokens/s/GPU · FLOP per token = TFLOPs, or MFU · peak"),
    Law("batch-accumulation", "identity", ("accumulation", "GBS", "MBS", "DP"), EXACT,
        "Accumulation steps are the global batch over micro-batch and replicas, or rounded up.",
        rowwise.row_findings, "GA = ⌈GBS / (MBS·DP)⌉"),
    Law("batch-tokens", "identity", ("GBS in tokens", "GBS", "sequence length"), EXACT,
        "The batch in tokens is the batch in sequences times their length.",
        rowwise.row_findings, "GBS·s"),
    Law("parallel-degrees", "identity", ("GPUs", "nodes", "DP", "TP", "PP", "CP"), EXACT,
        "The parallel degrees multiply to the number of GPUs, and divide it where one is missing.",
        rowwise.row_findings, "DP·TP·PP·CP = GPUs"),
    Law("heading-against-column", "identity", ("a heading's value", "a column's value"),
        "error where the heading's value satisfies every row and the column's none",
        "Where a statement and a column disagree, the arithmetic of the rows decides.",
        rowwise.row_findings),
    Law("statement-against-rows", "identity", ("a statement's value", "throughput columns"),
        "warning where another value that is stated or usual satisfies the rows",
        "What a statement says of rows is what their numbers need.",
        conventions.contradicted_statements, "tokens/s = samples/s · s"),
    Law("exchanged-cells", "identity", ("step time", "TFLOPs"), EXACT,
        "Two values are exchanged, shown by another row of the same configuration.",
        same_configuration.exchanged),
    Law("size-label", "identity", ("size label", "hidden size", "layers", "vocabulary"),
        "warning beyond 20 % of every way of counting, note beyond 5 %",
        "A size label is near the parameters of the shape.", labels.size_labels, "L(12h² + 13h)"),
    Law("parameters-of-shape", "identity", ("parameters", "hidden size", "layers"),
        "warning: how layers are counted is rarely said",
        "A parameter count is one that layers of its width and depth can have.", labels.counts,
        "L(12h² + 13h)"),
    Law("utilisation-above-one", "identity", ("MFU", "HFU"), EXACT,
        "No utilisation is above 1.", bounds.above_one),
    Law("hfu-below-mfu", "identity", ("HFU", "MFU"), "warning: each is counted in several ways",
        "Hardware utilisation counts all that model utilisation does.", bounds.below_mfu),
    Law("rate-above-peak", "identity", ("TFLOPs", "peak"), EXACT,
        "No rate is above the dense peak of its device.", bounds.above_peak),
    Law("time-below-roofline", "identity", ("time", "operations", "bytes", "peak", "bandwidth"),
        EXACT, "No product is faster than both its compute bound and its memory bound.",
        lambda evidence: [*bounds.below_roofline(evidence), *bounds.faster_than_peak(evidence)]),
    Law("speedup-of-rows", "identity", ("speedup", "step time", "throughput columns"),
        "error where the other rows of the table keep it",
        "A speedup is the speed of its row over that of the row of 1 above it.",
        speedups.speedups, "speedup = rate / rate of the row of 1"),
    Law("formula", "convention", ("TFLOPs", "MFU", "HFU"),
        "warning for rows that follow another formula than their table, note for what it follows",
        "A table follows one formula; which one is found by the most rows.",
        lambda evidence: [
            *conventions.other_formulas(evidence), *conventions.followed_formulas(evidence)
        ]),
    Law("definition", "convention", ("throughput columns",), "note",
        "A column that counts per GPU or per replica does so in every row.",
        conventions.definitions),
    Law("same-configuration", "statistical", ("step time", "throughput", "memory"), BEYOND_NOISE,
        "One configuration measured twice on one date gives one number. Of more than "
        f"{same_configuration.ALL_PAIRS} rows each is compared with those next to it.",
        same_configuration.differing),
    Law("repeat", "statistical", ("all measured values",), "note",
        "A measurement printed again is not a second one.", same_configuration.repeats),
    Law("copied-row", "statistical", ("all measured values",),
        "warning where accident is less likely than 1 in 1000",
        "Rows of different configurations do not print the same measurements.",
        same_configuration.copied),
    Law("memory-in-micro-batch", "statistical", ("memory", "MBS"), BEYOND_NOISE,
        f"Memory does not fall as the micro-batch grows. {NEXT_VALUE}", trends.memory_falls),
    Law("time-in-batch", "statistical", ("step time", "GBS"), BEYOND_NOISE,
        f"Time grows with the batch, less what is paid once a step. {NEXT_VALUE}",
        trends.time_in_batch),
    Law("unit-slip", "statistical", ("any measured value",), "warning",
        "A number is not a thousand times away from all others of its column.",
        bounds.unit_slips),
    Law("timers-above-total", "identity", ("timers", "step time"),
        "error, in logs whose timers are per iteration", "No timer is longer than its iteration.",
        logs.timers),
    Law("nan-not-counted", "identity", ("loss", "gradient norm", "number of nan iterations"),
        "warning: what is counted is the framework's definition",
        "An iteration with a loss that is no number is counted as such.", logs.nans),
    Law("elements-of-shape", "identity", ("elements", "shape"), EXACT,
        "A tensor has as many elements as its dimensions multiply to.", traces.tensors,
        "elements = Π shape"),
    Law("bytes-of-elements", "identity", ("bytes", "elements"), EXACT,
        "A tensor's bytes are its elements times the size of one.", traces.tensors,
        "bytes = elements · itemsize"),
    Law("label-of-shape", "identity", ("symbolic label", "shape"), EXACT,
        "A symbolic label evaluates to the shape beside it.", traces.tensors),
    Law("peak-memory-falls", "identity", ("peak memory", "earlier peak memory"), EXACT,
        "A peak of memory never falls.", traces.peaks),
    Law("estimator-reproduced", "identity", ("any number of an estimator", "its inputs"), UNITS,
        "A number of an estimator follows from its inputs as nine of ten others do.",
        estimators.reproduced),
    Law("estimator-memory", "identity", ("weight memory", "parameters", "bytes per element"),
        "warning: the definition is the estimator's", "Weights take their parameters' bytes.",
        dumps.dumps),
    Law("estimator-total", "identity", ("total", "parts"),
        "error for a sum; warning where the estimator defines what it leaves out",
        "A total is the sum of its parts.", dumps.dumps),
    Law("estimator-time-per-step", "identity", ("time per step", "batch", "sequence"),
        "warning: the definition is the estimator's",
        "A time per step is of the batch that the rest of the dump is of.", dumps.dumps),
    Law("estimator-unit", "identity", ("capacity of a bank", "banks", "size of a memory"),
        "warning: the size that is proven is used", "As many banks are the memory they are of.",
        dumps.corrected_units, "size = banks · capacity"),
    Law("power-shares", "identity", ("power shares",), "warning: they are the estimator's input",
        "Shares of a power budget sum to 1 at most.", dumps.dumps),
    Law("negative-size", "identity", ("sizes", "bandwidths", "times"), EXACT,
        "No size, rate or time is below zero.",
        lambda evidence: [*dumps.dumps(evidence), *estimators.shares(evidence)]),
    Law("share-above-one", "identity", ("shares",), EXACT, "No share is above 1.",
        estimators.shares),
    Law("estimator-definition", "convention", ("rates before a derate", "bytes of a kernel"),
        "note", "What an estimator means by a number may differ from its label.", dumps.dumps),
    Law("memory-overflow", "statistical", ("memory needed", "memory present", "time"), "note",
        "A time is of something that fits into its memory.", dumps.dumps),
)  # fmt: skip

BLIND: tuple[str, ...] = (
    "A changed memory cell, unless it breaks the order in micro-batch, leaves another row of its "
    "configuration, or is a thousand times off: memory follows from no other printed number.",
    "A changed degree, batch, accumulation or node count in a table that prints nothing it "
    "multiplies to, nor a rate of a known formula.",
    "A changed micro-batch or accumulation where only one of the two is printed.",
    "TP and PP exchanged, or DP with either: their product is what it was.",
    "Heads, for formulas that do not count them; sequence length and vocabulary, where another "
    "value changes the rate by less than its last digit.",
    "A step time and its rate exchanged in a row whose configuration occurs once: the product of "
    "the two is what it was.",
    "A whole row copied over another one of the same rate-determining configuration, where the "
    "digits are so few that accident prints the same.",
    "Any cell of a table whose formula is not among those known, or cannot be told from them by "
    "so few rows or digits, unless other rows of its model tell their FLOP per token.",
    "All of a column by the same factor, where nothing else is known of the rows.",
    "Changes within three times the printed interval, and those that a second wrong cell undoes.",
    "Dates, names and remarks.",
)
"""Changes that leave everything printed consistent: no arithmetic sees them."""


def named(names: tuple[str, ...]) -> tuple[Law, ...]:
    """The laws of those names, all where there are none; LookupError lists them."""
    known = {law.name for law in LAWS}
    for name in names:
        if name not in known:
            raise LookupError(f"no law is called {name!r}; there are {', '.join(sorted(known))}")
    return tuple(law for law in LAWS if not names or law.name in names)


def find(evidence: Evidence, laws: tuple[Law, ...] = LAWS) -> list[Finding]:
    """Findings of the laws, each shared function run once."""
    found: list[Finding] = []
    for function in dict.fromkeys(law.find for law in laws):
        found += function(evidence)
    wanted = {law.name for law in laws}
    return [each for each in found if each.law in wanted]


ECHOES = {"unit-slip", "copied-row", "utilisation-above-one", "rate-above-peak",
          "time-below-roofline", "parameters-of-shape",
          "hfu-below-mfu"}  # fmt: skip
"""Laws that see the consequences of what relations between cells explain better."""


def findings(
    reading: Reading, worked: Arithmetic | None = None, *, laws: Iterable[str] = ()
) -> list[Finding]:
    """The findings of a reading, whose arithmetic may have been `worked` out already; `laws`
    restricts them to those names.

    Raises LookupError for a law that does not exist. A row that already has an error of one cell is
    not reported again for the same cell by a weaker law.
    """
    evidence = Evidence.of(reading, worked)
    found = _without_echoes(find(evidence, named(tuple(laws))))
    return ordered(along_logs(evidence, ordered(found)))


def _without_echoes(found: list[Finding]) -> list[Finding]:
    """Findings, each once, without remarks on rows that an identity has already called wrong:
    those say nothing new."""
    wrong = {
        case
        for each in found
        if each.severity == "error" and each.law not in ECHOES
        for case in each.cases
    }
    kept = [each for each in found if each.law not in ECHOES or not wrong.intersection(each.cases)]
    return list({(each.law, each.spans, each.explanation): each for each in kept}.values())
