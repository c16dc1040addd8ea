"""Logs of programs that train nothing: no line of them is a step.

Lines are written after what package managers, test runners, build tools, kernels, servers and
benchmarks print, in runs as long as theirs, with counts that rise, times that vary and bars.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.source.opening import Source, source

from tests.conftest import mostly_slow

LINES = 400
"""Lines of each program."""

PROGRAMS: dict[str, str] = {
    "ninja": "[{n}/{m}] Building CXX object src/CMakeFiles/core.dir/file{n}.cc.o",
    "ninja_bar": "[ {p}%] Linking CXX static library lib{w}.a",
    "make": "make[{k}]: Entering directory '/src/{w}/{n}'",
    "docker": "Step {n}/{m} : RUN apt-get install -y lib{w}{k}-dev",
    "docker_pull": "{h}: Downloading [=======>            ]  {t}MB/{b}MB",
    "buildkit": "#{n} {t} Get:{k} http://archive.example.org jammy/main amd64 {w} [{b} kB]",
    "apt": "Get:{n} http://archive.example.org jammy/main amd64 {w} all {k}.{p} [{b} kB]",
    "apt_unpack": "Selecting previously unselected package lib{w}{k}:amd64.  ({n} files)",
    "pip": "     ━━━━━━━━━━━━━━━━━━ {t}/{b} MB {s} MB/s eta 0:00:{p2}",
    "pip_bar": "Downloading {w}-{k}.{p}.whl ({b} MB): {p}%|####      | {n}/{m} [00:{p2}<00:12, "
    "{s}MB/s]",
    "npm": "npm http fetch GET 200 https://registry.example.org/{w} {n}ms (cache miss)",
    "pnpm": "Progress: resolved {n}, reused {k}, downloaded {p}, added {p}",
    "cargo": "   Compiling {w} v{k}.{p}.{p2}",
    "cargo_test": "test {w}::tests::case_{n} ... ok <{s}s>",
    "rustc_bench": "test bench_{w}_{n} ... bench:  {b} ns/iter (+/- {p})",
    "go_bench": "Benchmark{w}-{k}   {m}   {b} ns/op   {p} B/op   {k} allocs/op",
    "pytest": "tests/test_{w}.py::test_case[{n}-{s}] PASSED                 [ {p}%]",
    "pytest_slow": "{s}s call     tests/test_{w}.py::test_step_{n}",
    "unittest": "Ran {n} tests in {s}s",
    "jest": "  ✓ renders step {n} of {m} ({p} ms)",
    "ctest": "{n}/{m} Test  #{n}: {w}_test ...............   Passed    {s} sec",
    "dmesg": "[ {t}] usb 1-{k}: new high-speed USB device number {n} using xhci_hcd",
    "dmesg_memory": "[ {t}] Memory: {b}K/{m}K available ({p}K kernel code, {n}K rwdata)",
    "syslog": "Nov 22 05:12:{p2} host-{k} systemd[{n}]: Started Session {n} of user {w}.",
    "journal": "Nov 22 05:12:{p2} node{k} kernel: CPU{k}: Core temperature {p}, iteration {n}",
    "nginx": '10.0.{k}.{p} - - [22/Nov/2026:05:12:{p2} +0000] "GET /step/{n}?loss={s} '
    'HTTP/1.1" 200 {b}',
    "access_time": '10.0.{k}.{p} "POST /api/batch/{n}" 200 {b} {s}s',
    "gitlog": "commit {h}{h}\nAuthor: {w} <{w}@example.org>\n\n    step {n}: reduce loss of "
    "time by {p} ms",
    "diffstat": " src/{w}/{n}.py | {p} +++---",
    "rsync": "      {b}  {p}%   {s}MB/s    0:00:{p2} (xfr#{n}, to-chk={k}/{m})",
    "wget": "{n}K .......... .......... .......... {p}% {s}M {p2}s",
    "curl": "{p}  {m}M   {p} {n}M    0     0  {s}M      0  0:00:{p2}  0:00:{p2}  0:00:{p2} {s}M",
    "dd": "{n} bytes ({s} GB, {s} GiB) copied, {t} s, {s} GB/s",
    "fio": "  read: IOPS={n}, BW={s}MiB/s ({b}MB/s)({m}MiB/{p}msec); 0 zone resets",
    "iperf": "[  {k}]  {n}.00-{n}.00  sec  {s} GBytes  {p} Gbits/sec",
    "ping": "64 bytes from 10.0.0.{k}: icmp_seq={n} ttl=64 time={s} ms",
    "top": "{n} {w}      20   0 {b} {m} {p} S  {s}  {p}.0   0:{p2}.{p2} {w}",
    "nvidia_smi": "|   {k}  H100 80GB HBM3    On  |   00000000:{p2}:00.0 Off |   {p}W / 700W | "
    "{n}MiB / 81559MiB |",
    "dcgm": "GPU {k}  {p}  {s}  {n}  {p}.{p}  {b}",
    "slurm": "{n} gpu {w} {w} R {k}-0{k}:{p2}:{p2} {k} node[{p}-{n}]",
    "postgres": "2026-11-22 05:12:{p2} UTC [{n}] LOG:  checkpoint complete: wrote {p} buffers "
    "({s}%); write={s} s",
    "postgres_time": "2026-11-22 05:12:{p2} UTC [{n}] LOG:  duration: {t} ms  statement: SELECT",
    "mysql": "2026-11-22T05:12:{p2}Z {n} [Note] InnoDB: Progress in percents: {p}",
    "redis": "{n}:M 22 Nov 2026 05:12:{p2} * {p} changes in {m} seconds. Saving...",
    "kafka": "[2026-11-22 05:12:{p2}] INFO [Log partition={w}-{k}] Rolled new segment at "
    "offset {n} in {p} ms.",
    "spark": "26/11/22 05:12:{p2} INFO TaskSetManager: Finished task {n}.0 in stage {k}.0 "
    "(TID {n}) in {p} ms on node{k} ({n}/{m})",
    "spark_bar": "[Stage {k}:=========>                         ({n} + {k}) / {m}]",
    "hadoop": "INFO mapreduce.Job:  map {p}% reduce {k}%",
    "kubelet": "I1122 05:12:{p2}.120331   {n} reconciler.go:{p}] operationExecutor.MountVolume "
    "started for volume {w}",
    "etcd": '{"level":"info","ts":"2026-11-22T05:12:{p2}Z","msg":"saved '
    'snapshot","snapshot-index":{n},"took":"{s}ms"}',
    "terraform": "aws_instance.{w}: Still creating... [{n}s elapsed]",
    "ansible": "ok: [node{k}] => (item={n}) took {s}s",
    "gradle": "> Task :{w}:compileJava UP-TO-DATE ({n}/{m}, {s} secs)",
    "maven": "[INFO] Reactor Summary: {w} {n} SUCCESS [  {s} s]",
    "tex": "[{n}] [{p}] Overfull \\hbox ({s}pt too wide) in paragraph at lines {n}--{m}",
    "ffmpeg": "frame={n} fps={p} q={s} size={b}kB time=00:00:{p2}.{p2} bitrate={s}kbits/s "
    "speed={s}x",
    "blender": "Fra:{n} Mem:{s}M (Peak {s}M) | Time:00:{p2}.{p2} | Rendering {k} / {m} samples",
    "gromacs": "step {n}, remaining wall clock time: {p} s",
    "lammps": "   {n}   {s}   {t}   0   {s}   {b}",
    "openfoam": "Time = {n}\nsmoothSolver:  Solving for Ux, Initial residual = {s}, Final "
    "residual = {s}, No Iterations {k}",
    "cfd": "ExecutionTime = {t} s  ClockTime = {n} s",
    "solver": "Iteration {n}: residual = {s}, relative change = {s}",
    "cg": "   {n} KSP Residual norm {s}",
    "optimise": "iter {n}, objective {s}, time {t}s",
    "gurobi": "     {n}     {k}    {b}    0   {p}   {s}   {s}  {p}%   {s}    {t}s",
    "sqlite": "Run Time: real {s} user {s} sys {s}",
    "stress": "stress-ng: info:  [{n}] cpu {m} {t} {s} {s} {b}",
    "hyperfine": "  Time (mean ± σ):      {s} s ±  {s} s    [User: {s} s, System: {s} s]",
    "locust": " GET /{w}  {n}  0(0.00%) |  {p}  {k}  {m}  {p} |  {s}  0.00",
    "wrk": "  Thread {n}   Avg {s}ms   Stdev {s}ms   Max {p}ms   {p}%",
    "nccl": "node{k}:{n}:{m} [{k}] NCCL INFO Channel {p}/0 : {k}[{k}] -> {p}[{k}] via "
    "NET/IB/{k}/GDRDMA",
    "loading": "Loading checkpoint shards: {p}%|###       | {n}/{m} [00:{p2}<00:{p2},  {s}s/it]",
    "tokenise": "Running tokenizer on dataset (num_proc={k}): {p}%|#   | {n}/{m} "
    "[00:{p2}<00:{p2}, {s} examples/s]",
    "generating": "Generating train split: {n} examples [00:{p2}, {s} examples/s]",
    "vllm": "INFO 11-22 05:12:{p2} metrics.py:{p}] Avg prompt throughput: {s} tokens/s, Avg "
    "generation throughput: {t} tokens/s, Running: {k} reqs",
    "llama_cpp": "llama_print_timings:        eval time = {t} ms / {n} runs   ( {s} ms per token, "
    "{p}.{p} tokens per second)",
    "sglang": "[2026-11-22 05:12:{p2} TP0] Decode batch. #running-req: {k}, #token: {n}, "
    "token usage: 0.{p2}, cuda graph: True, gen throughput (token/s): {s}, #queue-req: {k}",
    "gpt_fast": "Time for inference {n}: {s} sec total, {t} tokens/sec",
    "trtexec": "[11/22/2026-05:12:{p2}] [I] Average on 10 runs - GPU latency: {s} ms - "
    "Host latency: {t} ms (enqueue {s} ms)",
    "tgi": '2026-11-22T05:12:{p2}.120331Z  INFO generate{{total_time="{s}s" '
    'time_per_token="{s}ms"}}: success',
    "predict": "{p}/{m} [==============================] - {k}s {p}ms/step",
    "catboost": "{n}:\tlearn: 0.{p2}\ttotal: {p}ms\tremaining: {p}.{p}s",
    "xgboost": "[{n}]\ttrain-rmse:{s}\teval-rmse:{s}",
    "optuna": "[I 2026-11-22 05:12:{p2},120] Trial {n} finished with value: {s} and parameters: "
    "{{'lr': 0.00{p}, 'batch': {k}}}.",
    "loaded": "Loaded shard {n} of {m} in {s} seconds ({t} MB/s)",
    "evaluate": "Evaluating: {p}%|###       | {n}/{m} [00:{p2}<00:{p2}, {s}it/s]",
    "perplexity": "[{n}]{s},",
    "source": "        loss = self.step({n}) * {s}  # time: {t} ms",
    "print": 'print(f"step {n} loss {{loss:.4f}} time {{dt * {k}:.2f}}ms")',
    "csv": "{n},{s},{t},{p},{b}",
    "changelog": "- {w}: {p} % faster step {n} ({s} s instead of {t} s)",
    "prose": "After step {n} the {w} takes {t} s, which is {p} % more than before.",
}  # fmt: skip


def log(line: str, seed: int) -> str:
    draw = random.Random(seed)
    words = ("core", "alpha", "render", "batch", "worker", "index", "queue", "client")
    out, clock = [], 3.0
    for n in range(1, LINES + 1):
        clock += draw.random()
        values: dict[str, Callable[[], str]] = {
            "n": lambda n=n: str(n), "m": lambda: str(LINES * 2),
            "k": lambda: str(draw.randint(1, 8)),
            "p": lambda: str(draw.randint(1, 99)), "p2": lambda: f"{draw.randint(0, 59):02}",
            "s": lambda: f"{draw.uniform(0.1, 90):.2f}", "t": lambda clock=clock: f"{clock:.3f}",
            "b": lambda: str(draw.randint(100, 99999)), "w": lambda: draw.choice(words),
            "h": lambda: f"{draw.randint(0, 2**48):012x}",
        }  # fmt: skip
        text = line
        for name, value in values.items():
            while f"{{{name}}}" in text:
                text = text.replace(f"{{{name}}}", value(), 1)
        out.append(text)
    return "\n".join(out) + "\n"


@pytest.mark.parametrize("program", mostly_slow(PROGRAMS, 8))
def test_another_program_prints_no_steps(program: str) -> None:
    opened = source(f"{program}.log", log(PROGRAMS[program], 7).encode())
    assert isinstance(opened, Source)
    frames = read_source(opened, FORMATS).frames
    found = {name: frames[name] for name in ("generic_step", "trainer_step") if name in frames}
    assert not found, {name: frame.head(2).to_dicts() for name, frame in found.items()}
