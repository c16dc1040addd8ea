"""`make bench`: how fast and in how much memory, beside what one would write without assay.

In: nothing; inputs are drawn with a seed into build/bench. Out: build/bench.json, a list of {name,
value, unit, n, low, high}, medians of several rounds in which everything takes its turn, and, with
--page, docs/performance.md. Results are compared before a ratio is believed.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from operator import itemgetter
from pathlib import Path

import polars as pl

from tests.adversarial.further import EVERY as ADVERSARIAL
from tests.adversarial.further import NAMED
from tests.adversarial.inputs import Dimension, record
from tests.benchmarks import inputs
from tests.benchmarks.baseline import FIELDS
from tests.benchmarks.page import machine, page
from tests.conftest import ROOT

BUILD = ROOT / "build" / "bench"
ASSAY = str(Path(sys.executable).parent / "assay")
LARK_SLICE = 500_000
MEGA, GIGA = 10**6, 10**9
AGAIN = 1.3
"""Times the rate of the slowest adversarial input, below which inputs are measured again."""


class Failed(RuntimeError):
    """A measurement that cannot be believed."""


def entry(name: str, values: Sequence[float], unit: str) -> dict[str, object]:
    """One line of bench.json: the median, and the range of the rounds."""
    return {"name": name, "value": statistics.median(values), "unit": unit, "n": len(values),
            "low": min(values), "high": max(values)}  # fmt: skip


def child(*arguments: str | Path) -> list[float]:
    """Figures that a process of its own prints."""
    command = [sys.executable, "-m", "tests.benchmarks.child", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(done.stderr)
    return [float(figure) for figure in done.stdout.splitlines()[-1].split()]


def whole(command: Sequence[str | Path], *, ends: Sequence[int] = (0,)) -> tuple[float, float]:
    """Seconds and peak memory (MB) of a whole process and those it waited for."""
    seconds, peak, _ = child("whole", ",".join(map(str, ends)), *command)
    return seconds, peak


def fresh(name: str) -> Path:
    """A place to write that is not there."""
    path = BUILD / "out" / name
    shutil.rmtree(path, ignore_errors=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def same(folder: Path, loop: Path) -> None:
    """Raise `Failed` unless both have the same rows, and the same values in every column."""
    ours = pl.read_parquet(folder / "megatron_iteration.parquet")
    theirs = pl.read_parquet(loop)
    if ours.height != theirs.height:
        raise Failed(f"{ours.height} rows by assay, {theirs.height} by the loop")
    for name in FIELDS:
        if not ours[name].equals(theirs[name]):
            raise Failed(f"column {name} differs: {ours[name].sum()}, {theirs[name].sum()}")


def logs(size: int, rounds: int) -> list[dict[str, object]]:
    """Each kind of log by assay, by the loop, by Lark and by grep, in turns."""
    found: list[dict[str, object]] = []
    seconds: dict[str, list[float]] = {}
    for kind in inputs.KINDS:
        path = inputs.log(BUILD, kind, size)
        mega = path.stat().st_size / MEGA
        ours, loops = [], []
        for _ in range(rounds):
            ours.append(child("ingest", path, fresh("ingest"))[0])
            loops.append(child("loop", path, fresh("loop.parquet"))[0])
            same(BUILD / "out" / "ingest", BUILD / "out" / "loop.parquet")
        seconds[kind] = ours
        if kind not in ("prefixed", "configured"):
            ratios = [loop / own for loop, own in zip(loops, ours, strict=True)]
            found.append(entry(kind, ratios, "×"))
        found.append(entry(f"{kind}_mb_s", [mega / s for s in ours], "MB/s"))
        found.append(entry(f"{kind}_re_mb_s", [mega / s for s in loops], "MB/s"))
        taken = [child("lines", path)[0] for _ in range(rounds)]
        found.append(entry(f"{kind}_lines_mb_s", [mega / s for s in taken], "MB/s"))
        for tool in ("grep", "rg"):
            if shutil.which(tool):
                taken = [whole([tool, "-cF", "iteration", path], ends=(0, 1))[0]
                         for _ in range(rounds)]  # fmt: skip
                found.append(entry(f"{kind}_{tool}_mb_s", [mega / s for s in taken], "MB/s"))
    ratios = [a / b for a, b in zip(seconds["prefixed"], seconds["dense"], strict=True)]
    found.append(entry("prefixed_vs_dense", ratios, "×"))
    dense = inputs.log(BUILD, "dense", size)
    part = min(LARK_SLICE, size)
    taken = [part / MEGA / child("lark", dense, str(part))[0] for _ in range(rounds)]
    return [*found, entry("dense_lark_mb_s", taken, "MB/s")]


def memory(name: str, size: int) -> list[dict[str, object]]:
    """Peak memory of `assay ingest` on one large log."""
    path = inputs.log(BUILD, "dense", size)
    out = fresh("large")
    seconds, peak = whole([ASSAY, "ingest", path, "-o", out])
    path.unlink()
    shutil.rmtree(out)
    return [entry(name, [peak], "MB"), entry(f"{name}_seconds", [seconds], "s")]


def traces(size: int) -> list[dict[str, object]]:
    """JSON per second and peak memory of `assay ingest` on one large trace of a profiler."""
    path = inputs.trace(BUILD, size)
    out = fresh("trace")
    seconds, peak = whole([ASSAY, "ingest", path, "-o", out])
    megabytes = path.stat().st_size / MEGA
    path.unlink()
    shutil.rmtree(out)
    return [entry("trace_1gb_rate", [megabytes / seconds], "MB/s"),
            entry("trace_1gb_rss", [peak], "MB")]  # fmt: skip


def many(count: int) -> list[dict[str, object]]:
    """Dumps with their configurations per second, the report and the start included."""
    folder = inputs.dumps(BUILD, count)
    seconds, _ = whole([ASSAY, "report", folder], ends=(0, 1))
    out = fresh("dumps")
    taken, _ = whole([ASSAY, "ingest", folder, "-o", out])
    said = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    if len(said["sources"]) != 2 * count or any(each["refused"] for each in said["sources"]):
        raise Failed("not every dump was read")
    rows = said["frames"]["deepflow_dump"]["rows"], said["frames"]["deepflow_config"]["rows"]
    if rows != (count, count):
        raise Failed(f"{rows} dumps and configurations of {count}")
    return [
        entry("dumps_per_s", [count / seconds], "1/s"),
        entry("dumps_files_per_s", [2 * count / seconds], "1/s"),
        entry("dumps_ingest_files_per_s", [2 * count / taken], "1/s"),
    ]


def report(size: int) -> list[dict[str, object]]:
    """A report on a long log of a known job: every line predicted, scored and checked."""
    seconds, peak = whole([ASSAY, "report", inputs.log(BUILD, "configured", size),
                           "--machine", "A100-80g"])  # fmt: skip
    return [entry("report_s", [seconds], "s"), entry("report_mb", [peak], "MB")]


def long(size: int, rounds: int) -> list[dict[str, object]]:
    """Commands that look at a long log of a known job beside its ingest, whole processes in turns.

    Bytes for the ratios are `size`; the peaks of memory are those of a gigabyte. `diff` reads the
    log twice, and is held to twice the time.
    """
    path = inputs.log(BUILD, "configured", size)
    taken: dict[str, list[float]] = {}
    for _ in range(rounds):
        base = whole([ASSAY, "ingest", path, "-o", fresh("long")])[0]
        for name, command in looking(path).items():
            reads = command.count(path)
            seconds = whole(command, ends=(0, 1))[0] / reads
            taken.setdefault(name, []).append(seconds / base)
    large = inputs.log(BUILD, "configured", GIGA)
    found = [entry(f"{name}_ratio", values, "×") for name, values in taken.items()]
    for name, command in looking(large).items():
        seconds, peak = whole(command, ends=(0, 1))
        found += [entry(f"{name}_rss_1gb", [peak], "MB"),
                  entry(f"{name}_rss_1gb_seconds", [seconds], "s")]  # fmt: skip
    large.unlink()
    return found


def looking(path: Path) -> dict[str, list[str | Path]]:
    """The commands that look at a log, by their names."""
    machine = ["--machine", "A100-80g"]
    return {
        "report": [ASSAY, "report", path, *machine],
        "check": [ASSAY, "check", path, *machine],
        "watch": [ASSAY, "watch", path, *machine, "--updates", "1"],
        "diff": [ASSAY, "diff", path, path, *machine],
    }


def fleet(count: int) -> list[dict[str, object]]:
    """Small logs of different jobs per second, the report and the start included."""
    folder = inputs.fleet(BUILD, count)
    seconds, peak = whole([ASSAY, "report", folder, "--machine", "A100-80g"])
    return [entry("fleet_2000", [count / seconds], "1/s"), entry("fleet_2000_mb", [peak], "MB")]


def startup(rounds: int) -> list[dict[str, object]]:
    """The whole process on a log of a hundred lines, to importing polars and pandera."""
    text = inputs.log(BUILD, "noise95", 10**5).read_text(encoding="utf-8")
    path = BUILD / "hundred.log"
    dense = inputs.log(BUILD, "dense", 10**4).read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join([*text.splitlines(keepends=True)[:90], *dense[:10]]), encoding="utf-8")
    imports = [sys.executable, "-c", "import polars, pandera.polars"]
    found: dict[str, list[float]] = {"startup": [], "startup_report": [], "startup_import_s": []}
    for _ in range(2 * rounds + 1):
        base = whole(imports)[0]
        found["startup_import_s"].append(base)
        found["startup"].append(whole([ASSAY, "ingest", path, "-o", fresh("hundred")])[0] / base)
        # nothing can be predicted for it, which is an exit code of its own
        found["startup_report"].append(whole([ASSAY, "report", path], ends=(0, 4))[0] / base)
    units = {"startup_import_s": "s"}
    return [entry(name, values, units.get(name, "×")) for name, values in found.items()]


def worst() -> list[dict[str, object]]:
    """The slowest report of the adversarial inputs, about a megabyte each.

    An input whose report ends in another way than with an exit code of a report has a rate of 0.
    By processor seconds without those of the start, so that as many run at once as there are
    processors. Two of these may be halves of one core, which slow each other: the slowest inputs
    are measured again, alone, and the better figure counts. build/worst.tsv has every input, the
    slowest first.
    """
    folder = BUILD / "adversarial"
    fresh_start = folder / "start.txt"
    folder.mkdir(parents=True, exist_ok=True)
    fresh_start.write_text(record(1) + "\n", encoding="utf-8")
    start = statistics.median(_of_report(fresh_start)[1] for _ in range(3))

    def measured(dimension: Dimension) -> tuple[str, float, float, float]:
        path = folder / dimension.__name__ / NAMED.get(dimension, "input.txt")
        path.parent.mkdir(exist_ok=True)
        text = dimension(ADVERSARIAL[dimension])
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        kilobytes = path.stat().st_size / 1000
        try:
            peak, seconds = _of_report(path)
        except Failed as fault:  # killed, say: the table is to have all the others
            print(f"{dimension.__name__}: {fault}", file=sys.stderr, flush=True)
            return dimension.__name__, 0.0, math.inf, math.inf
        finally:
            path.unlink()
        return dimension.__name__, kilobytes / max(seconds - start, 1e-3), seconds - start, peak

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        together = dict(zip(ADVERSARIAL, pool.map(measured, ADVERSARIAL), strict=True))
    least = min(rate for _, rate, _, _ in together.values())
    for dimension, (_, rate, _, _) in together.items():
        if 0.0 < rate < AGAIN * least:
            together[dimension] = max(together[dimension], measured(dimension), key=itemgetter(1))
    found = sorted(together.values(), key=itemgetter(1))
    shutil.rmtree(folder)
    lines = [f"{name}\t{rate:.0f} kB/s\t{seconds:.2f} s\t{peak:.0f} MB\n"
             for name, rate, seconds, peak in found]  # fmt: skip
    (ROOT / "build" / "worst.tsv").write_text("".join(lines), encoding="utf-8")
    _, rates, _, peaks = zip(*found, strict=True)
    slowest = {**entry("worst_kb_s", rates, "kB/s"), "value": min(rates)}
    return [slowest, {**entry("worst_mb", peaks, "MB"), "value": max(peaks)}]


def _of_report(path: Path) -> tuple[float, float]:
    """Peak memory (MB) and processor seconds of a report."""
    _, peak, seconds = child("whole", "0,2,3,4", ASSAY, "report", path)
    return peak, seconds


def main() -> None:
    """Measure what is asked for; figures of an earlier run that are not measured again stay."""
    asked = argparse.ArgumentParser(prog="python -m tests.benchmarks")
    asked.add_argument("--size", type=float, default=400, help="of the logs for ratios, MB")
    asked.add_argument("--rounds", type=int, default=3)
    asked.add_argument("--dumps", type=int, default=2000)
    asked.add_argument(
        "--only",
        nargs="*",
        help="logs, startup, dumps, report, long, fleet, worst, rss_1gb, rss_4gb, trace",
    )
    asked.add_argument("--page", action="store_true", help="write docs/performance.md")
    told = asked.parse_args()
    todo: dict[str, Callable[[], list[dict[str, object]]]] = {
        "logs": lambda: logs(int(told.size * MEGA), told.rounds),
        "startup": lambda: startup(told.rounds),
        "dumps": lambda: many(told.dumps),
        "report": lambda: report(40 * MEGA),
        "long": lambda: long(40 * MEGA, told.rounds),
        "fleet": lambda: fleet(told.dumps),
        "worst": worst,
        "rss_1gb": lambda: memory("rss_1gb", GIGA),
        "rss_4gb": lambda: memory("rss_4gb", 4 * GIGA),
        "trace": lambda: traces(GIGA),
    }
    written = ROOT / "build" / "bench.json"
    known = json.loads(written.read_text(encoding="utf-8")) if written.is_file() else []
    figures = {each["name"]: each for each in known}
    every = ["logs", "startup", "dumps", "report", "long", "fleet", "worst", "rss_1gb", "trace"]
    for name in told.only or every:
        for each in todo[name]():
            figures[str(each["name"])] = each
            print(f"{each['name']:28} {each['value']:12.3f} {each['unit']}", flush=True)
        written.write_text(json.dumps(list(figures.values()), indent=1) + "\n", encoding="utf-8")
    shutil.rmtree(BUILD / "out", ignore_errors=True)
    if told.page:
        text = page(list(figures.values()), machine())
        (ROOT / "docs" / "performance.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
