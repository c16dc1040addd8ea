"""docs/performance.md: the figures of bench.json beside their limits, and the machine named."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

Figure = Mapping[str, Any]


class Limit(NamedTuple):
    """Limit that a figure must keep to: at least or at most so much."""

    name: str
    means: str
    least: float | None = None
    most: float | None = None

    def met(self, value: float) -> bool:
        """Whether a value keeps to the limit."""
        return (self.least is None or value >= self.least) and (
            self.most is None or value <= self.most
        )


LIMITS = (
    Limit("dense", "iteration lines only, × the `re` loop", least=11),
    Limit("noise95", "95 % of the lines are others, × the `re` loop", least=7),
    Limit("noise998", "99.8 % of the lines are others, × the `re` loop", least=2.5),
    Limit("prefixed_vs_dense", "lines behind a launcher's prefix, × the time without", most=1.5),
    Limit("rss_1gb", "peak memory of `assay ingest` on 1 GB of dense log, MB", most=450),
    Limit("rss_4gb", "the same on 4 GB, MB", most=530),
    Limit("trace_1gb_rate", "JSON of a profiler's trace of 1 GB, `assay ingest`, MB/s", least=40),
    Limit("trace_1gb_rss", "peak memory of it, MB", most=600),
    Limit("dumps_per_s", "dumps with their configurations per second, `assay report`", least=100),
    Limit("report_ratio", "`assay report` of 40 MB behind a job's arguments, × `ingest`", most=2.5),
    Limit("check_ratio", "`assay check` of the same, × `ingest`", most=2.5),
    Limit("watch_ratio", "`assay watch` of the same, once, × `ingest`", most=2.5),
    Limit("diff_ratio", "`assay diff` of the same and itself, × twice `ingest`", most=2.5),
    Limit("report_rss_1gb", "peak memory of `assay report` on 1 GB of such log, MB", most=600),
    Limit("check_rss_1gb", "of `assay check`, MB", most=600),
    Limit("watch_rss_1gb", "of `assay watch`, MB", most=600),
    Limit("diff_rss_1gb", "of `assay diff` of two of them, MB", most=600),
    Limit("fleet_2000", "small logs of different jobs per second, `assay report`", least=60),
    Limit("worst_kb_s", "slowest adversarial input of a megabyte, `assay report`, kB/s", least=100),
    Limit("startup", "`assay ingest` of 100 lines, × importing polars and pandera", most=2),
)

_KINDS = {
    "dense": "iteration lines only",
    "prefixed": "the same behind `[default7]:`",
    "configured": "iteration lines behind their job's arguments",
    "noise95": "95 % other lines",
    "noise998": "99.8 % other lines",
}


ABOUT = """\
Written by `make bench` (and `make bench-4gb`) from build/bench.json. Seconds depend on the machine;
ratios are of the same run, in which everything takes its turn, and are the medians of its rounds.
All is included: every field typed, printed precision kept, provenance, validation, quarantine,
account of lines, Parquet files written. The loop it is compared with is in
tests/benchmarks/baseline.py: a line at a time, one compiled `re` per field, to the same typed
columns, without any of the rest. Rows and columns of both are compared first."""


def page(figures: Sequence[Figure], on: str) -> str:
    """The page as text."""
    by_name = {each["name"]: each for each in figures}
    parts = [
        "# Performance",
        ABOUT,
        on,
        "## Limits",
        _limits(by_name),
        "## Throughput, MB/s",
        _rates(by_name),
    ]
    others = _others(by_name)
    return "\n\n".join([*parts, *others]) + "\n"


def _limits(figures: Mapping[str, Figure]) -> str:
    rows = [
        "| figure | what | limit | measured | rounds: low … high | |",
        "|---|---|--:|--:|---|---|",
    ]
    for limit in LIMITS:
        bound = f"≥ {limit.least:g}" if limit.least is not None else f"≤ {limit.most:g}"
        figure = figures.get(limit.name)
        if figure is None:
            rows.append(f"| {limit.name} | {limit.means} | {bound} | not measured | | |")
            continue
        value = figure["value"]
        spread = f"{figure['n']}: {figure['low']:.3g} … {figure['high']:.3g}"
        met = "met" if limit.met(value) else "**not met**"
        rows.append(f"| {limit.name} | {limit.means} | {bound} | {value:.3g} | {spread} | {met} |")
    return "\n".join(rows)


SAID = """\
Lark, line by line, reads the first half megabyte only. polars' filter cuts the log into lines and
keeps those with the word `iteration`, on all cores; `grep` and `rg` count them, on one: these find
the lines and read nothing from them."""


def _rates(figures: Mapping[str, Figure]) -> str:
    tools = [
        ("assay ingest", "{}_mb_s"), ("`re` loop", "{}_re_mb_s"), ("Lark", "{}_lark_mb_s"),
        ("polars' filter", "{}_lines_mb_s"), ("`grep -cF`", "{}_grep_mb_s"),
        ("`rg -cF`", "{}_rg_mb_s"),
    ]  # fmt: skip
    tools = [(t, n) for t, n in tools if any(n.format(kind) in figures for kind in _KINDS)]
    rows = [
        f"| log | {' | '.join(tool for tool, _ in tools)} |",
        "|---" + "|--:" * len(tools) + "|",
    ]
    for kind, means in _KINDS.items():
        cells = [figures.get(name.format(kind)) for _, name in tools]
        said = [f"{cell['value']:,.3g}" if cell else "" for cell in cells]
        rows.append(f"| {means} | {' | '.join(said)} |")
    return "\n".join([*rows, "", SAID])


def _others(figures: Mapping[str, Figure]) -> list[str]:
    means = {
        "rss_1gb_seconds": "`assay ingest` of 1 GB of dense log, whole process, s",
        "rss_4gb_seconds": "of 4 GB, s",
        "dumps_files_per_s": "files per second of the dumps and configurations, report included",
        "dumps_ingest_files_per_s": "the same by `assay ingest`",
        "report_s": "`assay report` of 40 MB of iteration lines behind their job's arguments, s",
        "report_mb": "its peak memory, MB",
        "report_rss_1gb_seconds": "`assay report` of 1 GB of them, s",
        "fleet_2000_mb": "peak memory of `assay report` on the folder of small logs, MB",
        "worst_mb": "the highest peak memory of one of them, MB",
        "startup_report": "`assay report` of 100 lines, × importing polars and pandera",
        "startup_import_s": "importing polars and pandera, s",
    }  # fmt: skip
    rows = [f"| {text} | {figures[name]['value']:.3g} |" for name, text in means.items()
            if name in figures]  # fmt: skip
    return ["## Besides", "\n".join(["| what | measured |", "|---|--:|", *rows])] if rows else []


def machine() -> str:
    """The machine and the versions, in a sentence."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    versions = ", ".join(f"{name} {version(name)}" for name in ("polars", "pandera", "lark"))
    return (f"Measured on {cores} cores of {_processor()}, {platform.system()}, "
            f"Python {platform.python_version()}, {versions}. {_load(cores)}").strip()  # fmt: skip


def _load(cores: int | None) -> str:
    """A warning where other work was running; seconds and ratios are then worse than they are."""
    load = os.getloadavg()[1] if hasattr(os, "getloadavg") else 0.0
    if cores is None or load < 1.5 * cores:
        return ""
    return (f"**Other work was running (load {load:.1f} on {cores} cores over five minutes): what "
            "uses several cores suffers most; run `make bench` on a quiet machine.**")  # fmt: skip


def _processor() -> str:
    try:
        said = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        said = []
    names = [line.partition(":")[2].strip() for line in said if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
