"""Crowds: what real documents hold a few of, in thousands, as logs, tables and dumps print it.

As in `inputs`: each function gives an input with `n` of something. `NAMED` says what a file is
called where its name matters.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable

from tests.adversarial.inputs import Dimension, dump, record, word

HEAD = "| GPUs | TP | Sec/it | TFLOPs |\n| - | - | - | - |\n"
ROW = "| 8 | 8 | {time} | 50.1 |\n"
CLOCKS = (
    "2024-05-{day:02}T10:{minute:02}:07.123Z ", "[2024-05-{day:02} 10:{minute:02}:07,123] ",
    "May {day:2} 10:{minute:02}:07 node7 app[7]: ", "I05{day:02} 10:{minute:02}:07.12 7 a.py:7] ",
    "10:{minute:02}:07 INFO ", "17153358{minute:02}.5 | ", "05/{day:02}/2024 10:{minute:02} PM - ",
)  # fmt: skip


def _each(n: int, line: Callable[[int], str]) -> str:
    return "".join(map(line, range(n)))


def _table(at: int) -> str:
    return HEAD + ROW.format(time=10 + at % 90) + "\n"


def _step(at: int) -> str:
    return f"step {at} | loss: 2.5 | 1,0{at % 90:02} tokens/s\n"


def tsv_rows(n: int) -> str:
    """A file of steps between tabs."""
    return "step\tloss\ttokens/s\n" + _each(n, lambda at: f"{at}\t2.{at % 90}\t1{at % 900:03}\n")


def csv_tiny(n: int) -> str:
    """CSV tables of two columns, no two of a header."""
    return _each(n, lambda at: f"step,{word(at)} loss\n{at},2.5\n\n")


def csv_wide_rows(n: int) -> str:
    """A CSV file of five thousand columns and as many rows."""
    heads = ",".join(word(at) for at in range(5000))
    return f"step,loss,{heads}\n" + _each(n, lambda at: f"{at},2.5{',7' * 5000}\n")


def csv_semicolons(n: int) -> str:
    """A CSV file with commas in its numbers."""
    return "step;loss;tokens/s\n" + _each(n, lambda at: f"{at};2,{at % 90};1{at % 900:03},5\n")


def csv_comments(n: int) -> str:
    """A remark above each row of a CSV file."""
    return "step,loss\n" + _each(n, lambda at: f"# {word(at)} lr={at}\n{at},2.5\n")


def log_keys_each(n: int) -> str:
    """Steps of which each has three labels that no other has."""
    return _each(
        n, lambda at: f"step {at} {word(at)}_a: 1.5 {word(at)}_b=2.5 {word(at)} c 3.5 ms\n"
    )


def log_keys_all(n: int) -> str:
    """Steps of two hundred labels each."""
    said = " | ".join(f"{word(at)}_time: 1.5" for at in range(200))
    return _each(n, lambda at: f"step {at} | {said}\n")


def log_line_of_prose(n: int) -> str:
    """One step in front of as many words of prose."""
    return "step 1 loss: 2.5 " + "the model was then trained on 8 GPUs with " * n + "\n"


def steps_in_units(n: int) -> str:
    """Steps whose rates are in units of any kind."""
    units = [
        "tokens/s",
        "k",
        "tok/s",
        "samples/sec",
        "TFLOP/s/GPU",
        "it/s",
        "s/it",
        "ms/step",
        "GB/s",
        "MiB/s",
        "img/s",
        "%",
    ]
    return _each(n, lambda at: f"step {at} loss 2.5 rate: {at % 97}.5 {units[at % len(units)]}\n")


def steps_in_chinese(n: int) -> str:
    """Steps with labels in Chinese."""
    return _each(
        n, lambda at: f"步数: {at} 损失: 2.5 吞吐量: 1{at % 900:03} tokens/s 耗时: 1.2秒\n"
    )


def table_in_chinese(n: int) -> str:
    """A table with labels in Chinese."""
    head = "| 显卡数 | 张量并行 | 每步时间(秒) | 算力(TFLOPS) |\n| - | - | - | - |\n"
    return head + _each(n, lambda at: f"| {8 + at} | 8 | {10 + at % 90} | 50.1 |\n")


def long_words(n: int) -> str:
    """Words of a thousand letters between numbers with units."""
    return _each(n, lambda at: f"{word(at) * 300} 12.5 tokens/s\n")


def clocks(n: int) -> str:
    """Steps behind clocks of seven kinds."""
    return _each(n, lambda at: CLOCKS[at % 7].format(day=1 + at % 28, minute=at % 60) + _step(at))


def clocks_backwards(n: int) -> str:
    """Steps whose clock goes backwards, a day each time."""
    return _each(n, lambda at: f"20{99 - at % 90}-05-07 10:00:07 {_step(at)}")


def pods(n: int) -> str:
    """Steps behind the names of as many pods."""
    return _each(n, lambda at: f"train-{word(at)}-worker-{at} | {_step(at)}")


def tasks(n: int) -> str:
    """Steps of four thousand tasks of a scheduler, in turns."""
    return _each(n, lambda at: f"{at % 4000}: {_step(at // 4000)}")


def ranks_in_json(n: int) -> str:
    """Lines of JSON of a thousand ranks."""
    return _each(
        n, lambda at: json.dumps({"rank": at % 1000, "step": at // 1000, "loss": 2.5}) + "\n"
    )


def json_namespaces(n: int) -> str:
    """Lines of JSON of which each has its figures under a key of its own."""
    return _each(n, lambda at: json.dumps({word(at): {"step": at, "train": {"loss": 2.5}}}) + "\n")


def json_columns(n: int) -> str:
    """A history as an object of columns."""
    return json.dumps({"step": list(range(n)), "loss": [2.5] * n, "tokens_per_sec": [1000] * n})


def json_arrays_in_lines(n: int) -> str:
    """Lines of JSON with a list of five hundred numbers each."""
    return _each(n, lambda at: json.dumps({"step": at, "loss": [2.5] * 500}) + "\n")


def json_runs(n: int) -> str:
    """A list of runs, each with its configuration and its figures."""
    return json.dumps([
        {"name": word(at), "config": {"hidden_size": 1024 + at, "num_layers": 24, "tp": 8},
         "results": {"step_time": 10.5, "tflops": 50.1}} for at in range(n)
    ])  # fmt: skip


def launchers(n: int) -> str:
    """A command that starts a job above each step."""
    return _each(n, lambda at: f"torchrun --nproc_per_node 8 train.py --tp 8 --lr {at}\n{_step(1)}")


def launchers_of_deepspeed(n: int) -> str:
    """What DeepSpeed's launcher says, again and again."""
    one = "[2024-05-07 10:00:07,1] [INFO] [launch.py:7:main] WORLD INFO DICT: {{'n{}': [0, 1]}}\n"
    return _each(n, lambda at: one.format(at) + _step(1))


def environments(n: int) -> str:
    """Variables of an environment."""
    return _each(n, lambda at: f"export NCCL_{word(at).upper()}={at}\n") + _step(1)


def nccl_lines(n: int) -> str:
    """What NCCL says of its channels."""
    one = "node7:7:9 [{rank}] NCCL INFO Channel {at:02}/0 : {rank}[0] -> 1[1] via P2P/CUMEM/read\n"
    return _each(n, lambda at: one.format(rank=at % 8, at=at)) + _step(1)


def tracebacks(n: int) -> str:
    """Tracebacks between steps."""
    one = 'Traceback (most recent call last):\n  File "a.py", line {at}, in f\n    x = {at}\n'
    return _each(n, lambda at: one.format(at=at) + f"RuntimeError: {word(at)} 1.5\n" + _step(at))


def out_of_memory(n: int) -> str:
    """Jobs that end for want of memory."""
    one = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {at}.00 MiB. GPU 0 has\n"
    return _each(n, lambda at: _step(1) + one.format(at=at))


def epochs(n: int) -> str:
    """Epochs of three steps each."""
    return _each(n, lambda at: f"Epoch {at // 3 + 1}/99999 Step {at % 3}/3 loss: 2.5 time: 1.2s\n")


def evaluations(n: int) -> str:
    """An evaluation behind each step."""
    return _each(n, lambda at: _step(at) + f"eval at step {at}: loss 2.5, perplexity 12.2\n")


def summaries(n: int) -> str:
    """What a run's collector says at its end."""
    return _each(n, lambda at: f"wandb: {word(at):>12} {at}.5\n")


def counters_of_monitors(n: int) -> str:
    """Figures in the form of a monitor, each with labels."""
    return _each(n, lambda at: f'train_loss{{rank="{at % 8}",step="{at}"}} 2.5 17153358{at % 90}\n')


def bars_with_words(n: int) -> str:
    """Bars of progress of which each has a label of its own."""
    bar = "Epoch 1: 50%|#####     | {}/99999 [00:10<00:10,  1.20s/it, {}=2.5]\n"
    return _each(n, lambda at: bar.format(at, word(at)))


def dicts_with_words(n: int) -> str:
    """Dicts as trainers print them, each with a key of its own."""
    return _each(n, lambda at: f"{{'loss': 2.5, 'step': {at}, '{word(at)}': 1.5}}\n")


def boxes_of_steps(n: int) -> str:
    """A drawn box a step."""
    rule = "+---------+---------+\n"
    return _each(n, lambda at: f"{rule}| step    | {at:7} |\n| loss    | 2.5     |\n{rule}\n")


def columns_under_headers(n: int) -> str:
    """Steps in columns whose header stands above each."""
    return _each(n, lambda at: f"  step    loss   tokens/s\n{at:6}   2.500   1000\n")


def rules_drawn(n: int) -> str:
    """A table drawn with lines of a terminal."""
    rule = "├──────┼────┼────────┤\n"
    return ("┌──────┬────┬────────┐\n│ GPUs │ TP │ Sec/it │\n"
            + _each(n, lambda at: f"{rule}│ 8    │ 8  │ {10 + at % 90:6} │\n")
            + "└──────┴────┴────────┘\n")  # fmt: skip


def tables_drawn(n: int) -> str:
    """Drawn tables of one row."""
    rule = "+------+--------+\n"
    return _each(
        n, lambda at: f"{rule}| GPUs | Sec/it |\n{rule}| 8    | {10 + at % 80}.5   |\n{rule}\n"
    )


def tables_in_turns(n: int) -> str:
    """Tables of Markdown, of reStructuredText and of HTML in turns."""
    rst = "==== ======\nGPUs Sec/it\n==== ======\n8    10.5\n==== ======\n\n"
    html = "<table><tr><th>GPUs</th><th>Sec/it</th></tr><tr><td>8</td><td>9</td></tr></table>\n\n"
    return _each(n, lambda at: (_table(at), rst, html)[at % 3])


def html_on_a_line(n: int) -> str:
    """A table of HTML of as many rows on one line."""
    row = "<tr><td>8</td><td>8</td><td>{}</td><td>50.1</td></tr>"
    head = "<tr><th>GPUs</th><th>TP</th><th>Sec/it</th><th>TFLOPs</th></tr>"
    return f"<table>{head}" + _each(n, lambda at: row.format(10 + at % 90)) + "</table>\n"


def html_tables_on_a_line(n: int) -> str:
    """Tables of HTML on one line."""
    one = "<table><tr><th>GPUs</th><th>Sec/it</th></tr><tr><td>8</td><td>{}</td></tr></table>"
    return _each(n, lambda at: one.format(10 + at % 90)) + "\n"


def tables_of_two_axes(n: int) -> str:
    """A table of step times with GPUs downwards and degrees across."""
    across = range(1, 33)
    head = "| Sec/it, GPUs | " + " | ".join(f"TP={at}" for at in across) + " |\n"
    rows = _each(n, lambda at: f"| {8 * at + 8} |" + f" {10 + at % 90} |" * len(across) + "\n")
    return head + "| - " * (len(across) + 1) + "|\n" + rows


def tables_upright(n: int) -> str:
    """A table of two rows in which each configuration is a column."""
    columns = range(n)
    return ("| Run | " + " | ".join(map(word, columns)) + " |\n" + "| - " * (n + 1) + "|\n"
            "| GPUs | " + " | ".join("8" for _ in columns) + " |\n"
            "| Sec/it | " + " | ".join(f"{10 + at % 90}" for at in columns) + " |\n")  # fmt: skip


def layouts_in_cells(n: int) -> str:
    """A table whose cells say layouts, no two alike."""
    head = "| Layout | GPUs | Sec/it |\n| - | - | - |\n"
    return head + _each(n, lambda at: f"| TP{1 + at % 8} PP{1 + at % 64} DP{1 + at} | 8 | 9.5 |\n")


def units_in_cells(n: int) -> str:
    """A table whose cells have units."""
    head = "| GPUs | Throughput | Time |\n| - | - | - |\n"
    return head + _each(n, lambda at: f"| 8x H100 | {at}.5 tokens/s/GPU | {at} ms |\n")


def breaks_in_cells(n: int) -> str:
    """A table whose cells hold several values, a line each."""
    head = "| GPUs | Sec/it | TFLOPs |\n| - | - | - |\n"
    return head + _each(
        n, lambda at: f"| 8<br>16<br>32 | {at}.5<br>2.5<br>3.5 | 50<br>51<br>52 |\n"
    )


def pages_of_others(n: int) -> str:
    """Tables in the marks of other tools: a wiki, Org, LaTeX."""
    return _each(n, lambda at: (
        f"||GPUs||Sec/it||\n|8|{at}.5|\n\n", f"|GPUs|Sec/it|\n|----+------|\n|8|{at}.5|\n\n",
        f"\\begin{{tabular}}{{ll}}\nGPUs & Sec/it \\\\\n8 & {at}.5 \\\\\n\\end{{tabular}}\n\n",
    )[at % 3])  # fmt: skip


def captions(n: int) -> str:
    """Tables under captions that say their settings."""
    return _each(
        n, lambda at: f"Table {at}: 13B on {8 * at + 8} GPUs, seq_len=2048\n\n{_table(at)}"
    )


def configurations_by_name(n: int) -> str:
    """Parts that each configure two runs by name in a table, and measure them in another."""
    said = (
        "| Run | TP | PP | Hidden |\n| - | - | - | - |\n"
        "| big | 8 | {} | 4096 |\n| small | 4 | 1 | 2048 |\n\n"
    )
    rows = "| Run | GPUs | Sec/it |\n| - | - | - |\n| big | 64 | {} |\n| small | 8 | 9.5 |\n\n"
    return _each(n, lambda at: said.format(1 + at % 8) + rows.format(10 + at % 90))


def footnotes(n: int) -> str:
    """A table whose rows have a note each, in stars and numbers below it."""
    rows = _each(n, lambda at: f"| 8 | 8 | {10 + at % 90} ({at}) | 50.1 |\n")
    return HEAD + rows + "\n" + _each(n, lambda at: f"({at}) with hidden={1024 + at}\n")


def glossary(n: int) -> str:
    """A glossary above a table."""
    return _each(n, lambda at: f"- **{word(at).upper()}**: degree of {word(at)} parallelism\n") + (
        "\n" + _table(1)
    )


def sentences(n: int) -> str:
    """A sentence of configuration, again and again, above a table."""
    return (
        "The model has 96 layers, hidden 12288, and 8-way tensor parallelism.\n" * n
        + "\n"
        + _table(1)
    )


def sentences_of_tables(n: int) -> str:
    """Tables below sentences, no two alike."""
    said = "We train {} layers with hidden size {}, a sequence length of 2048 and TP8 PP4.\n\n"
    return _each(n, lambda at: said.format(8 + at % 88, 1024 + at) + _table(at))


def setups(n: int) -> str:
    """Set-ups in lists under headings, a table under each."""
    one = "### Setup {}\n\n- GPUs: 8x A100 80GB\n- hidden size: {}\n- layers: 24\n\n"
    return _each(n, lambda at: one.format(word(at), 1024 + at) + _table(at))


def yaml_keys(n: int) -> str:
    """A configuration in YAML of as many keys."""
    return _each(n, lambda at: f"{word(at)}:\n  hidden_size: {1024 + at}\n  {word(at)}_lr: 1e-4\n")


def ini_sections(n: int) -> str:
    """Sections of settings above a step."""
    return _each(n, lambda at: f"[{word(at)}]\nhidden_size = {1024 + at}\n") + _step(1)


def notebook_pages(n: int) -> str:
    """A notebook whose outputs are pages with a table each."""
    html = "<table><tr><th>GPUs</th><th>Sec/it</th></tr><tr><td>8</td><td>9.5</td></tr></table>"
    cells = [{"cell_type": "code", "source": [], "outputs": [
        {"output_type": "display_data", "data": {"text/html": [html], "text/plain": ["a"]}}]}
        for _ in range(n)]  # fmt: skip
    return json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {}})


def trace_stacks(n: int) -> str:
    """A trace of calls in calls."""
    events = [{"ph": "X", "cat": "python_function", "name": word(at), "pid": 0, "tid": 7,
               "ts": at, "dur": 2 * n - 2 * at, "args": {}} for at in range(n)]  # fmt: skip
    return json.dumps({"schemaVersion": 1, "traceEvents": events}, indent=1)


def trace_counters(n: int) -> str:
    """A trace of counters and names of processes."""
    events = [{"ph": "CM"[at % 2], "name": "process_name", "pid": at, "tid": 0, "ts": at,
               "args": {"name": word(at)}} for at in range(n)]  # fmt: skip
    return json.dumps({"schemaVersion": 1, "traceEvents": events}, indent=1)


def gzip_members(n: int) -> bytes:
    """A compressed log of as many members, a line each."""
    return b"".join(gzip.compress(f"{record(at)}\n".encode(), 1) for at in range(1, n + 1))


def gzip_in_gzip(n: int) -> bytes:
    """A log that was compressed again and again."""
    data = "".join(f"{record(at)}\n" for at in range(1, 2000)).encode()
    for _ in range(n):
        data = gzip.compress(data, 1)
    return data


def diffs_of_logs(n: int) -> str:
    """Lines of a log in a difference of two."""
    return dump() + _each(n, lambda at: f"{'-+'[at % 2]}{record(at + 1)}\n")


def logs_quoted(n: int) -> str:
    """Lines of a log, quoted in a letter."""
    return _each(n, lambda at: f"> {record(at + 1)}\n")


def ends_of_lines(n: int) -> str:
    """Steps whose lines end in three ways."""
    return _each(n, lambda at: _step(at)[:-1] + ("\n", "\r\n", "\r")[at % 3])


def labels_in_turns(n: int) -> str:
    """Steps that each tell of eight out of thousands of figures."""
    told = [" ".join(f"k{(at * 7 + by) % 5000}={by}.5" for by in range(8)) for at in range(n)]
    return _each(n, lambda at: f"step {at} {told[at]} loss=2.5\n")


def settings_before_steps(n: int) -> str:
    """Steps behind a setting of their own each: as many runs."""
    return _each(n, lambda at: f"world size: {at + 1}\n{_step(at)}")


def products_in_prose(n: int) -> str:
    """Times of products, one a line."""
    return _each(n, lambda at: f"m={64 + at} n=4096 k=4096: 1.{at} ms, {at % 300}.5 TFLOPS\n")


NAMED: dict[Dimension, str] = {
    tsv_rows: "run.tsv", csv_tiny: "run.csv", csv_wide_rows: "run.csv", csv_semicolons: "run.csv",
    csv_comments: "run.csv", json_columns: "run.json", json_runs: "run.json",
    yaml_keys: "run.yaml", notebook_pages: "run.ipynb", gzip_members: "run.log.gz",
    gzip_in_gzip: "run.log.gz",
}  # fmt: skip
"""What a file is called, where that says how it is read."""

CROWDS: dict[Dimension, int] = {
    tsv_rows: 70_000, csv_tiny: 45_000, csv_wide_rows: 95, csv_semicolons: 55_000,
    csv_comments: 45_000, log_keys_each: 20_000, log_keys_all: 260, log_line_of_prose: 24_000,
    steps_in_units: 25_000, steps_in_chinese: 13_000, table_in_chinese: 40_000, long_words: 800,
    clocks: 16_000, clocks_backwards: 16_000, pods: 18_000, tasks: 24_000, ranks_in_json: 24_000,
    json_namespaces: 20_000, json_columns: 45_000, json_arrays_in_lines: 400, json_runs: 7500,
    launchers: 11_000, launchers_of_deepspeed: 9000, environments: 45_000, nccl_lines: 12_000,
    tracebacks: 7000, out_of_memory: 8500, epochs: 20_000, evaluations: 13_000,
    summaries: 35_000, counters_of_monitors: 21_000, bars_with_words: 14_000,
    dicts_with_words: 23_000, boxes_of_steps: 11_000, columns_under_headers: 20_000,
    rules_drawn: 7500, tables_drawn: 11_000, tables_in_turns: 13_000, html_on_a_line: 19_000,
    html_tables_on_a_line: 12_000, tables_of_two_axes: 6000, tables_upright: 65_000,
    layouts_in_cells: 32_000, units_in_cells: 25_000, breaks_in_cells: 18_000,
    pages_of_others: 24_000, captions: 9500, configurations_by_name: 6500, footnotes: 17_000,
    glossary: 23_000, sentences: 14_000, sentences_of_tables: 6500, setups: 7000, yaml_keys: 23_000,
    ini_sections: 38_000, notebook_pages: 4500, trace_stacks: 6500, trace_counters: 7000,
    gzip_members: 2500, gzip_in_gzip: 12, diffs_of_logs: 2500, logs_quoted: 2500,
    ends_of_lines: 27_000, products_in_prose: 22_000, settings_before_steps: 19_000,
    labels_in_turns: 10_000,
}  # fmt: skip
"""How many of each make about a megabyte."""
