"""Inputs that nobody prints on purpose: much of one thing, of which there are few elsewhere.

Each function gives an input with `n` of something. `DIMENSIONS` holds them, each with the number
that makes about a megabyte.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

from tests.benchmarks.inputs import ITERATION, arguments


def record(n: int) -> str:
    """One iteration record; its numbers agree with each other."""
    time = 100.0 + n % 10
    return ITERATION.format(
        n=n, samples=2048 * n, tokens=2048 * 2048 * n, time=time, rate=6e-5, batch=2048,
        loss=1.5 + n % 7 / 7, norm=0.174, zeros=0.0, skipped=0, speed=2048 / time,
        flops=15_680 / time,
    ).rstrip("\n")  # fmt: skip


def dump(**said: object) -> str:
    """The arguments of a job as it prints them."""
    return arguments(said)


def _lines(records: range) -> str:
    return "".join(record(n) + "\n" for n in records)


def word(n: int) -> str:
    """A word that no other number has, without digits."""
    letters = ""
    while True:
        n, rest = divmod(n, 26)
        letters = chr(97 + rest) + letters
        if not n:
            return letters


def log_lines(n: int) -> str:
    """Iteration lines of one shape behind their arguments."""
    return dump() + _lines(range(1, n + 1))


def glued_records(n: int) -> str:
    """Iteration records glued on one line."""
    return "".join(record(at) for at in range(1, n + 1)) + "\n"


def glued_behind_arguments(n: int) -> str:
    """The same behind the arguments of the job."""
    return dump() + glued_records(n)


def timers_on_a_line(n: int) -> str:
    """One line of timers with as many names."""
    return "time (ms) | " + " | ".join(f"timer-{word(at)}: {at}.25" for at in range(n)) + "\n"


def min_max_timers(n: int) -> str:
    """A block of timers of all ranks, one a line, with as many names."""
    timers = "".join(f"    {word(at)}-compute: ({at}.25, {at}.75)\n" for at in range(n))
    return "    (min, max) time across ranks (ms):\n" + timers


def shapes(n: int) -> str:
    """Iteration lines of as many shapes: each has a label of its own."""
    return "".join(f"{record(at)} {word(at)} loss: 1.5 |\n" for at in range(1, n + 1))


def cells_on_a_line(n: int) -> str:
    """One iteration record of as many cells."""
    return f"{record(1)} " + " ".join(f"{word(at)} loss: 1.5 |" for at in range(n)) + "\n"


def wordy_shapes(n: int) -> str:
    """Iteration lines with as many words for the same value."""
    return "".join(f"{record(at)} stage: {word(at)} |\n" for at in range(1, n + 1))


TABLE = (
    "| GPUs | TP | PP | DP | MBS | GBS | Sec/it | TFLOPs |\n"
    "| ---: | -: | -: | -: | --: | --: | -----: | -----: |\n"
    "| {gpus} | 8 | {pp} | 1 | 1 | 64 | {time:.2f} | 50.10 |\n\n"
)


def _table(n: int) -> str:
    return TABLE.format(gpus=8 * (1 + n), pp=1 + n, time=10 + n % 100 / 10)


def tables(n: int) -> str:
    """Tables of one row in one document."""
    return "# Runs\n\n" + "".join(_table(at) for at in range(n))


def tables_under_headings(n: int) -> str:
    """Tables of one row, each under a heading of its own."""
    return "".join(f"## Model {word(at)}\n\n{_table(at)}" for at in range(n))


def tables_with_statements(n: int) -> str:
    """Tables of one row, each below a statement."""
    return "".join(f"NHEADS={8 + at % 8} hidden={1024 + at}\n\n{_table(at)}" for at in range(n))


def headings_nested(n: int) -> str:
    """A table below headings that go in as far as headings go, again and again."""
    deep = "".join("#" * (1 + at % 6) + f" Part {word(at)}\n\n" for at in range(n))
    return deep + _table(1)


def table_rows(n: int) -> str:
    """One table of as many rows."""
    head, rule, row, *_ = TABLE.splitlines()
    rows = (row.format(gpus=8 * (1 + at % 8), pp=1 + at % 8, time=10 + at % 100 / 10)
            for at in range(n))  # fmt: skip
    return "\n".join(["# Runs", "", head, rule, *rows]) + "\n"


def table_columns(n: int) -> str:
    """One table of as many columns."""
    head, rule, row, *_ = TABLE.splitlines()
    more = "".join(f" {word(at)} |" for at in range(n)), " - |" * n, " 1 |" * n
    row = row.format(gpus=64, pp=8, time=12.5)
    return f"# Runs\n\n{head}{more[0]}\n{rule}{more[1]}\n{row}{more[2]}\n"


def known_columns(n: int) -> str:
    """One table of as many columns whose headers are the same known one."""
    head, rule, row, *_ = TABLE.splitlines()
    row = row.format(gpus=64, pp=8, time=12.5)
    return f"# Runs\n\n{head}{' TFLOPs |' * n}\n{rule}{' - |' * n}\n{row}{' 1 |' * n}\n"


def csv_sections(n: int) -> str:
    """CSV tables of one row after one another."""
    one = "GPUs,TP,PP,MBS,GBS,Sec/it,TFLOPs\n8,8,{pp},1,64,10.5,50.1\n\n"
    return "".join(one.format(pp=1 + at % 8) for at in range(n))


def device_listings(n: int) -> str:
    """Listings of devices, as a benchmark of collectives prints them."""
    one = (
        "# nThread 1 nGpus 2 minBytes 33554432 maxBytes 536870912 step: 4(factor)\n"
        "# Using devices\n"
        "#   Rank  0 Pid  18075 on   worker-0 device  0 [0x07] NVIDIA A100-SXM4-80GB\n"
        "#   Rank  1 Pid  18075 on   worker-0 device  1 [0x0b] NVIDIA A100-SXM4-80GB\n"
        "#       size         count    type   redop     time   algbw   busbw  error\n"
        "#        (B)    (elements)                     (us)  (GB/s)  (GB/s)\n"
        "    33554432       8388608   float     sum   1438.0   23.33   23.33  0e+00\n"
    )
    return one * n


def runs(n: int) -> str:
    """Jobs one after another in one log: arguments and twenty iterations each."""
    return "".join(dump(lr=at + 1) + _lines(range(20 * at + 1, 20 * at + 21)) for at in range(n))


def restarts(n: int) -> str:
    """One job that begins again and again at the same iteration."""
    return dump() + _lines(range(1, 4)) * n


def statements(n: int) -> str:
    """Statements of configuration, no two alike, above one table."""
    return "".join(f"hidden={1024 + at} NHEADS={at + 1}\n" for at in range(n)) + "\n" + _table(1)


def statements_on_a_line(n: int) -> str:
    """One line of statements above a table."""
    return " ".join(f"hidden={1024 + at}" for at in range(n)) + "\n\n" + _table(1)


def statements_between_rows(n: int) -> str:
    """A statement above every line of a log."""
    return "".join(f"NHEADS={at % 8 + 8}\n{record(at)}\n" for at in range(1, n + 1))


def backward_statements(n: int) -> str:
    """Statements that hold above too, below as many tables."""
    return "".join(f"{_table(at)}all NHEADS={at + 1} (above too)\n\n" for at in range(n))


def arguments_in_a_dump(n: int) -> str:
    """A dump of as many arguments, then one iteration."""
    return dump(**{f"own_{word(at)}": at for at in range(n)}) + _lines(range(1, 2))


def endless_dumps(n: int) -> str:
    """Dumps of arguments that begin and never end."""
    return "".join(dump().split("\n", 4)[0] + f"\n  lr ......... {at}\n" for at in range(n))


def torn_records(n: int) -> str:
    """Iteration records wrapped at eighty characters."""
    whole = "".join(record(at) + "\n" for at in range(1, n + 1))
    return "".join(
        line[at : at + 80] + "\n" for line in whole.splitlines() for at in range(0, len(line), 80)
    )


def heads_alone(n: int) -> str:
    """The beginnings of records, each on a line, and nothing else of them."""
    return "".join(f" iteration {at:8}/ 9000000 |\n" for at in range(1, n + 1))


def refused_lines(n: int) -> str:
    """Iteration lines of which each is refused for another reason."""
    one = " iteration {at:8}/ 9000000 | lm loss: {word} |\n"
    return "".join(one.format(at=at, word=word(at)) for at in range(1, n + 1))


def prefixes(n: int) -> str:
    """Iteration lines, each of another rank and host."""
    return "".join(f"node{word(at)}: [default{at}]:{record(at)}\n" for at in range(1, n + 1))


def prefixes_on_a_line(n: int) -> str:
    """One iteration line behind as many prefixes of launchers."""
    return "".join(f"[default{at}]:" for at in range(n)) + record(1) + "\n"


def carriage_returns(n: int) -> str:
    """Bars of progress written over each other on one line, a record behind the last."""
    bar = "\r" + " 50%|#####     | {at}/999 [00:10<00:10,  1.20s/it]"
    return "".join(bar.format(at=at) for at in range(n)) + "\r" + record(1) + "\n"


def validations(n: int) -> str:
    """Lines of validation losses."""
    return "".join(
        f" validation loss at iteration {at} | lm loss value: 2.5E+00 | lm loss PPL: 1.2E+01 |\n"
        for at in range(1, n + 1)
    )


def brackets(n: int) -> str:
    """Brackets that open and never close, behind the head of a record."""
    return record(1) + "(" * n + "[" * n + "{" * n + "\n"


def json_strings(n: int) -> str:
    """A notebook of as many cells with a line each."""
    import json

    cells = [{"cell_type": "code", "source": [], "outputs": [{"output_type": "stream",
              "text": [record(at) + "\n"]}]} for at in range(1, n + 1)]  # fmt: skip
    return json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {}})


def html_nested(n: int) -> str:
    """Elements inside each other around a table."""
    return "<div>" * n + "<table><tr><th>TP</th></tr><tr><td>8</td></tr></table>" + "</div>" * n


def html_tables(n: int) -> str:
    """HTML tables of one row."""
    one = ("<table><tr><th>GPUs</th><th>TP</th><th>Sec/it</th><th>TFLOPs</th></tr>\n"
           "<tr><td>8</td><td>8</td><td>{time}</td><td>50.1</td></tr></table>\n")  # fmt: skip
    return "".join(one.format(time=10 + at % 100) for at in range(n))


def noise_numbers(n: int) -> str:
    """Lines that are nobody's, with a number beside a unit of performance in each."""
    draw = random.Random(n)
    return "".join(f"{word(at)} reached {draw.random():.3f} TFLOP/s\n" for at in range(n))


def blanks(n: int) -> str:
    """A line of blanks behind the head of a record."""
    return record(1) + " " * n + "x\n"


def digits(n: int) -> str:
    """A number of as many digits."""
    return record(1) + " loss: " + "1" * n + " |\n"


def bars(n: int) -> str:
    """A line of nothing but separators behind the head of a record."""
    return record(1) + "|" * n + "\n"


def headless_rows(n: int) -> str:
    """Rows of a table that has no header."""
    return "".join(f"| {at} | 4096 | 4096 | 4096 | {100 + at % 50}.5 |\n" for at in range(n))


def _rows(rows: Iterable[tuple[object, ...]]) -> str:
    head, rule = "| GPUs | TP | PP | DP | MBS | GBS | Sec/it | TFLOPs |", "| -: " * 8 + "|"
    body = ("| " + " | ".join(map(str, row)) + " |" for row in rows)
    return "\n".join(["# Runs of a 13B model", "", "hidden=5120 layers=40 seq_len=2048", "",
                      head, rule, *body]) + "\n"  # fmt: skip


def same_numbers(n: int) -> str:
    """A table in which runs that differ all print the same speed."""
    return _rows((8 * (at + 1), 8, at + 1, 1, 1, 64, "10.5", "50.1") for at in range(n))


def repeated_rows(n: int) -> str:
    """A table of one configuration, measured again and again."""
    return _rows((8, 8, 1, 1, 1, 64, f"{10 + at % 997 / 100:.2f}", "50.1") for at in range(n))


def exchanged_rows(n: int) -> str:
    """A table in which time and rate are exchanged in every other row."""
    pairs = ((f"{10 + at // 2 / 100:.2f}", "50.10") for at in range(n))
    return _rows((8, 8, 1, 1, 1, 64, *(pair if at % 2 else pair[::-1]))
                 for at, pair in enumerate(pairs))  # fmt: skip


def wrong_rows(n: int) -> str:
    """A table of which each row contradicts itself."""
    return _rows((7 + at % 3, 8, 2, 1, 1, 64, f"{10 + at % 97 / 100:.2f}", f"{at % 97}.1")
                 for at in range(n))  # fmt: skip


def failed_rows(n: int) -> str:
    """A table of runs that ran out of memory."""
    return _rows((8, 8, 1, 1, at + 1, 64, "OOM", "OOM") for at in range(n))


def trending_rows(n: int) -> str:
    """A table of runs of which each has more GPUs than the one above."""
    return _rows((8 * (at + 1), 8, 1, at + 1, 1, 64 * (at + 1), f"{10 + at / 1000:.3f}", "50.1")
                 for at in range(n))  # fmt: skip


def wrong_lines(n: int) -> str:
    """A log whose every line contradicts itself, behind its arguments."""
    return dump() + _lines(range(1, n + 1)).replace("TFLOPs: 1", "TFLOPs: 9")


def word_without_end(n: int) -> str:
    """One word of as many letters."""
    return "x" * n


def pairs_on_a_line(n: int) -> str:
    """One line of as many pairs of labels and values."""
    return "step: 1, " + ", ".join(f"{word(at)}: {at}.5" for at in range(n)) + "\n"


Dimension = Callable[[int], str | bytes]

DIMENSIONS: dict[Dimension, int] = {
    log_lines: 3000,
    glued_records: 2500,
    glued_behind_arguments: 2500,
    timers_on_a_line: 30_000,
    min_max_timers: 25_000,
    shapes: 2500,
    cells_on_a_line: 50_000,
    wordy_shapes: 2500,
    tables: 6000,
    tables_under_headings: 5500,
    tables_with_statements: 5000,
    headings_nested: 60_000,
    table_rows: 22_000,
    table_columns: 60_000,
    known_columns: 60_000,
    csv_sections: 16_000,
    device_listings: 1800,
    runs: 110,
    restarts: 800,
    statements: 40_000,
    statements_on_a_line: 80_000,
    statements_between_rows: 2500,
    backward_statements: 4000,
    arguments_in_a_dump: 16_000,
    endless_dumps: 10_000,
    torn_records: 2500,
    heads_alone: 30_000,
    refused_lines: 20_000,
    prefixes: 2400,
    prefixes_on_a_line: 60_000,
    carriage_returns: 18_000,
    validations: 12_000,
    brackets: 300_000,
    json_strings: 2000,
    html_nested: 90_000,
    html_tables: 6500,
    noise_numbers: 30_000,
    blanks: 1_000_000,
    digits: 1_000_000,
    bars: 1_000_000,
    headless_rows: 25_000,
    same_numbers: 22_000,
    repeated_rows: 25_000,
    exchanged_rows: 25_000,
    wrong_rows: 25_000,
    failed_rows: 25_000,
    trending_rows: 20_000,
    wrong_lines: 3000,
    word_without_end: 1_000_000,
    pairs_on_a_line: 70_000,
}
"""How many of each make about a megabyte."""

BY_NAME = {dimension.__name__: dimension for dimension in DIMENSIONS}
