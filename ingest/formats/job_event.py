"""The life of a job: launchers, schedulers and trainers on its checkpoints and its end.

In: lines such as torchrun's `Setting OMP_NUM_THREADS …`, Slurm's `*** JOB … CANCELLED AT … DUE TO
TIME LIMIT ***`, Megatron's `exiting program after … minutes`, `failed (exitcode: 1)`, what any
trainer says of its end (`Training completed`), and tracebacks, whose last line is the error. Out:
one record per line, of a traceback for its last.

A word that a line is looked for by costs every line of every log: the engine that looks for all of
them at once is many times slower from a few words more on. What programs say of an end in words of
their own is therefore looked for among the last lines of an input alone, behind its last step:
there `Received SIGTERM`, `time limit reached` or `exits with return code = 1` are of that run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import pandera.polars as pa
from assay.ingest.lines.lark import Shape, shape, terminal_of
from assay.ingest.lines.records import MOST_KNOWN, Kind, take
from assay.ingest.schema.fields import logged, named
from assay.ingest.schema.format import Closing, Folded, Format, Reach, Region
from assay.ingest.schema.record import Cell, Line, Record

LONGEST = 200
"""Letters of a line that are kept."""


class JobEvent(pa.DataFrameModel):
    """One event of a job's life."""

    event: str = named(
        nullable=False,
        meaning="launched, checkpoint, finished, stopped, time_limit, preempted, cancelled, "
        "out_of_memory or crashed",
    )
    iteration: int = logged(kind="exact", ge=0, nullable=True, meaning="that the line names")
    exit_code: int = logged(kind="exact", nullable=True)
    run_time: float = logged(
        {"run_time": 60.0}, unit="s", ge=0, nullable=True, meaning="after which a job stops itself"
    )
    text: str = named(
        meaning="what is printed, of a traceback its last line; 200 letters, the last … of more"
    )

    class Config:
        """Meaning of the rows."""

        metadata = {"rows": "event"}


class Told(NamedTuple):
    """A kind of line, and the event that it tells of, by its text."""

    kind: Kind
    event: Callable[[str], str]


def _always(event: str) -> Callable[[str], str]:
    return lambda _: event


CAUSES: Mapping[str, str] = {
    "DUE TO TIME LIMIT": "time_limit", "DUE TO PREEMPTION": "preempted",
    "DUE TO NODE FAILURE": "crashed",
}  # fmt: skip
"""Reasons that Slurm gives for a cancelled job; one without any was cancelled by somebody."""


def _cancelled(text: str) -> str:
    return next((event for words, event in CAUSES.items() if words in text), "cancelled")


def _of_task(text: str) -> str:
    if "Out Of Memory" in text:
        return "out_of_memory"
    return "cancelled" if text.rstrip().endswith("Terminated") else "crashed"


def _exiting(text: str) -> str:
    if "after receiving" in text:
        return "cancelled"
    return "time_limit" if "minutes" in text else "stopped"


_SHORT = re.compile(r"OutOfMemoryError|(?:CUDA|HIP)(?: error:)? out of memory")

_ENDED = re.compile(r"KeyboardInterrupt|SignalException: .*signal: (?:2|15)\b")


def _error(text: str) -> str:
    if _SHORT.search(text):
        return "out_of_memory"
    return "cancelled" if _ENDED.search(text) else "crashed"


def _kind(rule: str, head: str) -> Kind:
    return Kind(f"{rule}_line", head, "job_event", JobEvent, alike=True)


KINDS = (
    Told(_kind("cancel", "CANCELLED"), _cancelled),
    Told(_kind("srun", "SRUN"), _of_task),
    Told(_kind("exit", "EXITING"), _exiting),
    Told(_kind("done", "DONE"), _always("finished")),
    Told(_kind("launch", "LAUNCHED"), _always("launched")),
    Told(_kind("saved", "SAVED"), _always("checkpoint")),
    Told(_kind("elastic", "ELASTIC"), _always("crashed")),
    Told(_kind("oom", "OOM"), _always("out_of_memory")),
    Told(_kind("limit", "LIMIT"), _always("time_limit")),
    Told(_kind("fault", "FAULT"), _always("crashed")),
    Told(_kind("term", "TERM"), _always("cancelled")),
    Told(_kind("over", "OVER"), _always("finished")),
)


def _interrupted(text: str) -> str:
    if "preempt" in text.lower():
        return "preempted"
    return "stopped" if re.search(r"(?i)usr[12]|signal 1[02]\b", text) else "cancelled"


def _returned(text: str) -> str:
    """Of an exit code: one of a signal that asks a program to end is no crash."""
    code = re.search(r"-?[0-9]+", _head("RETURNED").sub("", text, count=1))
    said = int(code[0]) if code else 1
    return "finished" if said == 0 else "cancelled" if said in _ASKED else "crashed"


_ASKED = (-2, -15, 128 + 2, 128 + 15)
"""Exit codes of programs that SIGINT or SIGTERM ended."""

LAST_KINDS = (
    Told(_kind("preempt", "PREEMPTED"), _always("preempted")),
    Told(_kind("limited", "LIMITED"), _always("time_limit")),
    Told(_kind("signal", "SIGNALLED"), _interrupted),
    Told(_kind("ended", "ENDED"), _always("finished")),
    Told(_kind("return", "RETURNED"), _returned),
    Told(_kind("killed", "KILLED"), _always("crashed")),
    Told(_kind("kept", "KEPT"), _always("checkpoint")),
)
"""Kinds of lines behind the last step."""

_FINDS = (
    r"(?i)sig(?:term|int|usr[12]|hup)|signal (?:1|2|6|7|8|10|11|12|15)\b|keyboard ?interrupt"
    r"|interrupted (?:by|at) |(?:training|run|job) (?:was |has been |is |will be )?"
    r"(?:interrupted|cancell?ed|aborted|terminated)|terminated\s*$"
    r"|(?:time|duration)[ _](?:limit|budget|reached|exceeded|is |was )|timed out"
    r"|cumulative_training_time|preempted|preemption |spot (?:instance )?(?:interrupt|terminat)"
    r"|(?:complete|finished|done|ended|end of).*(?:train|tuning)|num_updates: "
    r"|(?:train|training|tuning|job|run) (?:[a-z]+ ){0,3}(?:complete|finished|done|ended)"
    r"|(?:steps|iterations|iters|epochs|updates)\b.*reached|reached .*(?:steps|iter|epochs|updates)"
    r"|(?:exit|return)(?:s|ed)?[ _-]?(?:with )?(?:exit |return )?(?:code|status)"
    r"|^\s*(?:\[[0-9]+\].*)?(?:killed|aborted)|line [0-9]+:\s+[0-9]+ |segmentation fault|bus error"
    r"|illegal instruction|fatal python|terminate called"
    r"|(?:checkpoint|ckpt|weights|state).*(?:saved|wrote|written|stored)"
    r"|(?:saved|wrote|written|stored) .*(?:checkpoint|ckpt|weights|state)"
)
"""Found in every line of these kinds, and in few others: a kind is looked for where it is."""

ERROR = Told(_kind("error", "ERROR"), _error)
"""The last line of a traceback."""

HEADER = "Traceback (most recent call last):"

REACH = 200
"""Lines of a traceback, at most."""

_CHAINED = re.compile(
    r"$|During handling of the above|The above exception was|Traceback \(most recent"
)
"""A line that stands inside a traceback though it is not indented."""


@cache
def _head(name: str) -> re.Pattern[str]:
    return re.compile(terminal_of("job_event", name))


def fold(region: Region) -> Folded:
    """Every event of a region; a traceback is claimed whole, from its header to the error."""
    folded = Folded(parts=set())
    for at, line in enumerate(region.lines):
        if line.number in folded.claimed or line.number in region.read:
            continue
        if line.text.startswith(HEADER):
            whole = list(_traceback(region.lines[at:]))
            if whole and _head(ERROR.kind.head).match(whole[-1].text):
                _told(folded, region, whole[-1], ERROR)
                for each in whole:
                    folded.claimed.add(each.number)
                    folded.parts.add((each.number, each.column))  # type: ignore[union-attr]
        elif told := _kind_of(line.text):
            _told(folded, region, line, told)
        elif _SHORT.search(line.text) and _head(ERROR.kind.head).match(line.text):
            _told(folded, region, line, ERROR)
    return folded


def _kind_of(text: str) -> Told | None:
    """The kind of a line, which its digits do not change: one line of each shape is asked."""
    key = shape(text)
    if key not in _KINDS_OF:
        if len(_KINDS_OF) >= MOST_KNOWN:
            _KINDS_OF.clear()
        heads = (one for one in KINDS if _head(one.kind.head).match(text))
        _KINDS_OF[key] = next(heads, None)
    return _KINDS_OF[key]


_KINDS_OF: dict[Shape, Told | None] = {}


def last_lines(region: Region) -> Folded:
    """Every event that the last lines behind a run's steps tell of."""
    folded = Folded(parts=set())
    for line in region.lines:
        kinds = (one for one in LAST_KINDS if _head(one.kind.head).match(line.text))
        if told := next(kinds, None):
            _told(folded, region, line, told)
    return folded


def _told(folded: Folded, region: Region, line: Line, told: Told) -> None:
    """The record of one line, with the event that it tells of."""
    before = len(folded.records)
    take(folded, region, line, "job_event", told.kind)
    for record in folded.records[before:]:
        _say(record, line, told.event(line.text))


def _say(record: Record, line: Line, event: str) -> None:
    text = " ".join(line.text.split())
    record.cells["event"] = Cell(event, line.number, line.column)
    short = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    record.cells["text"] = Cell(short, line.number, line.column)


def _traceback(lines: Sequence[Line]) -> Iterator[Line]:
    """The lines of a traceback of one rank, the error last; those of others are passed over."""
    who = lines[0].prefix.get("host"), lines[0].prefix.get("rank")
    yield lines[0]
    for line in lines[1 : REACH + 1]:
        if (line.prefix.get("host"), line.prefix.get("rank")) != who:
            continue
        yield line
        if line.column <= lines[0].column and not _CHAINED.match(line.text):
            return


FORMAT = Format(
    name="job_event",
    heads=(
        "CANCELLED AT", "srun: error: ", "exiting program ", "[after training is done]",
        "successfully saved checkpoint", "failed (exitcode: ", "oom-kill event", "oom_kill event",
        "PBS: job killed", "TERM_RUNLIMIT", "noticed that process rank", "Watchdog caught",
        "Main process received SIGTERM", "Setting OMP_NUM_THREADS", "Setting CUDA_VISIBLE_DEVICES",
        "has been allocated resources", "salloc: Granted job",
        HEADER, "out of memory", "OutOfMemoryError",
        "raining complete", "stopped: `max_",
    ),
    schemas={"job_event": JobEvent},
    origin="measured",
    fold=fold,
    reach={r"Traceback \(most recent call last\):": Reach(REACH)},
    binds=False,
    closing=Closing(_FINDS, last_lines),
)  # fmt: skip
