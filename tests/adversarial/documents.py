"""Documents, files of other programs, and texts in odd letters that nobody makes on purpose.

As in `inputs`: each function gives an input with `n` of something. `NAMED` says what a file is
called where its name matters.
"""

from __future__ import annotations

import json
import random
import sqlite3
import tempfile
from pathlib import Path

from tests.adversarial.inputs import Dimension, dump, record
from tests.conftest import FIXTURES

HTML_HEAD = "<tr><th>GPUs</th><th>TP</th><th>Sec/it</th><th>TFLOPs</th></tr>"
HTML_ROW = "<tr><td>8</td><td>8</td><td>{time}</td><td>50.1</td></tr>"
CSV_HEAD = "GPUs,TP,PP,MBS,GBS,Sec/it,TFLOPs"


def html_wide_spans(n: int) -> str:
    """Cells that say that they span a million rows and columns."""
    cell = '<td rowspan="1000000" colspan="1000000">8</td>'
    return f"<table>{HTML_HEAD}\n" + f"<tr>{cell * 4}</tr>\n" * n + "</table>\n"


def html_rows_that_span(n: int) -> str:
    """Rows of which each begins a cell that spans all below."""
    rows = "".join(
        f'<tr><td rowspan="{n}">8</td><td>8</td><td>{10 + at % 90}</td></tr>\n' for at in range(n)
    )
    return f"<table>{HTML_HEAD}\n{rows}</table>\n"


def html_open_cells(n: int) -> str:
    """Cells and rows that begin and never end."""
    return "<table>" + HTML_HEAD + "<tr><td>8" * n


def html_in_cells(n: int) -> str:
    """Tables in cells of tables."""
    return "<table><tr><td>" * n + "8" + "</td></tr></table>" * n


def html_comments(n: int) -> str:
    """Comments that begin and never end, above a table."""
    table = f"<table>{HTML_HEAD}{HTML_ROW.format(time=10.5)}</table>\n"
    return "<!-- " * n + "\n" + table


def html_attributes(n: int) -> str:
    """A tag with as many attributes."""
    said = " ".join(f'a{at}="{at}"' for at in range(n))
    return f"<table {said}>{HTML_HEAD}{HTML_ROW.format(time=10.5)}</table>\n"


def html_entities(n: int) -> str:
    """A cell of nothing but entities."""
    return f"<table>{HTML_HEAD}<tr><td>{'&nbsp;&amp;' * n}</td></tr></table>\n"


def rst_grid(n: int) -> str:
    """A drawn table of as many rows."""
    rule = "+------+----+--------+--------+\n"
    head = "| GPUs | TP | Sec/it | TFLOPs |\n" + rule.replace("-", "=")
    row = "| 8    | 8  | {:6.2f} | 50.1   |\n"
    return rule + head + "".join(row.format(10 + at % 80) + rule for at in range(n))


def rst_columns(n: int) -> str:
    """A drawn table of as many columns."""
    rule = "+----" * n + "+\n"
    return rule + "| TP " * n + "|\n" + rule.replace("-", "=") + "| 8  " * n + "|\n" + rule


def rst_simple(n: int) -> str:
    """A table between rules of as many columns."""
    rule = " ".join(["===="] * n) + "\n"
    return rule + " ".join(["TP  "] * n) + "\n" + rule + " ".join(["8   "] * n) + "\n" + rule


def rst_rules(n: int) -> str:
    """Rules of tables, and nothing between them."""
    return "==== ==== ====\n" * n


def csv_columns(n: int) -> str:
    """A CSV file of as many columns, with two rows."""
    heads = ",".join(f"c{at}" for at in range(n))
    values = ",".join(str(at) for at in range(n))
    return f"{CSV_HEAD},{heads}\n" + f"8,8,1,1,64,10.5,50.1,{values}\n" * 2


def csv_rows(n: int) -> str:
    """A CSV file of as many rows."""
    rows = "".join(f"8,8,1,1,64,{10 + at % 997 / 100:.2f},50.1\n" for at in range(n))
    return f"{CSV_HEAD}\n{rows}"


def csv_quotes(n: int) -> str:
    """A quoted cell that never ends, of quotes."""
    return f'{CSV_HEAD}\n8,8,1,1,64,"10.5' + '""' * n + "\n"


def csv_quoted_lines(n: int) -> str:
    """A quoted cell of as many lines."""
    return f'{CSV_HEAD}\n8,8,1,1,64,"10.5' + "\n" * n + '",50.1\n'


def csv_ragged(n: int) -> str:
    """Rows of which each has another number of cells."""
    return f"{CSV_HEAD}\n" + "".join("8," * (at % 60) + "1\n" for at in range(n))


def gemm_rows(n: int) -> str:
    """Products, no two alike."""
    rows = "".join(f"{64 + at},4096,4096,bf16,{0.1 + at / 7:.4f}\n" for at in range(n))
    return f"m,n,k,dtype,time (ms)\n{rows}"


def attention_rows(n: int) -> str:
    """Times of attention, no two alike."""
    rows = "".join(f"{1 + at},16,2048,128,{0.1 + at / 7:.4f}\n" for at in range(n))
    return f"batch,heads,seq_len,head_dim,time (ms)\n{rows}"


def collective_rows(n: int) -> str:
    """Times of collectives, no two alike."""
    rows = "".join(f"H100,all_reduce,{2 + at % 8},{1024 * at + 8},{1 + at / 9:.2f}\n"
                   for at in range(n))  # fmt: skip
    return f"gpu,collective,gpus,bytes,time (us)\n{rows}"


def notebook_outputs(n: int) -> str:
    """A notebook of one cell with as many outputs."""
    outputs = [{"output_type": "stream", "text": [record(at) + "\n"]} for at in range(1, n + 1)]
    cell = {"cell_type": "code", "source": [], "outputs": outputs}
    return json.dumps({"cells": [cell], "nbformat": 4, "nbformat_minor": 5, "metadata": {}},
                      indent=1)  # fmt: skip


def notebook_nested(n: int) -> str:
    """A notebook whose outputs hold outputs."""
    inside = '{"cell_type": "code", "outputs": [{"text": ["a\\n"], "data": ' * n
    return f'{{"cells": [{inside}1' + "}]}" * n + "]}"


def notebook_markdown(n: int) -> str:
    """A notebook of as many cells of text with a table each."""
    table = [
        "| GPUs | TP | Sec/it | TFLOPs |\n",
        "| - | - | - | - |\n",
        "| 8 | 8 | 10.5 | 50.1 |\n",
    ]
    cells = [{"cell_type": "markdown", "source": table} for _ in range(n)]
    return json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {}},
                      indent=1)  # fmt: skip


def json_deep(n: int) -> str:
    """Lists in lists."""
    return "[" * n + "]" * n + "\n"


def json_objects_deep(n: int) -> str:
    """Objects in objects."""
    return '{"step": ' * n + "1" + "}" * n + "\n"


def json_lines(n: int) -> str:
    """A line of JSON a step, as trainers write them for machines."""
    return "".join(
        json.dumps({"step": at, "loss": 2.5, "tokens_per_sec": 1000 + at % 7}) + "\n"
        for at in range(n)
    )


def json_keys(n: int) -> str:
    """One object of as many keys."""
    return json.dumps({f"loss_{at}": at + 0.5 for at in range(n)}) + "\n"


def json_messages(n: int) -> str:
    """Lines of a log, each in an object that a collector wrote."""
    return "".join(
        json.dumps({"log": record(at) + "\n", "stream": "stdout"}) + "\n" for at in range(1, n + 1)
    )


def yaml_deep(n: int) -> str:
    """Keys below keys, each one blank further in."""
    deep = min(n, 1000)
    return "".join(" " * at + f"hidden{at}:\n" for at in range(deep)) * max(n // deep, 1)


def yaml_anchors(n: int) -> str:
    """Lists of lists by reference, each ten times the one above."""
    lists = "".join(f"a{at + 1}: &a{at + 1} [{','.join([f'*a{at}'] * 10)}]\n" for at in range(n))
    return f"a0: &a0 [1]\n{lists}hidden_size: 4096\n"


def python_dicts(n: int) -> str:
    """Dicts as trainers print them, a step a line."""
    one = "{{'loss': {loss}, 'grad_norm': 1.5, 'learning_rate': 1e-05, 'epoch': {at}.0}}\n"
    return "".join(one.format(loss=2 + at % 9 / 10, at=at) for at in range(n))


def python_dict_deep(n: int) -> str:
    """Dicts in dicts behind a step."""
    return "step 1 " + "{'loss': " * n + "1" + "}" * n + "\n"


def generic_glued(n: int) -> str:
    """Steps of any trainer glued on one line."""
    return "".join(f"step {at} loss: 2.5 tokens/s: 1000 " for at in range(n)) + "\n"


def generic_steps(n: int) -> str:
    """Steps of any trainer, one a line."""
    return "".join(f"step {at} | loss: 2.5 | 1,0{at % 90:02} tokens/s\n" for at in range(n))


def generic_shapes(n: int) -> str:
    """Steps of any trainer of which each has labels of its own."""
    return "".join(f"step {at} loss{at}x: 2.5 rate{at}y: 1.5\n" for at in range(n))


def generic_blocks(n: int) -> str:
    """Blocks of a label a line, as some trainers print a step."""
    return "".join(f"Step: {at}\n  loss: 2.5\n  tokens/s: 1000.5\n\n" for at in range(n))


def bars_on_a_line(n: int) -> str:
    """A bar of progress that was written over again and again, and nothing else."""
    bar = "\rtrain: 50%|#####     | {}/99999 [00:10<00:10,  1.20s/it, loss=2.5]"
    return "".join(bar.format(at) for at in range(n)) + "\n"


def bars_in_lines(n: int) -> str:
    """Bars of progress, one a line."""
    bar = "train: 50%|#####     | {}/99999 [00:10<00:10,  1.20s/it, loss=2.5]\n"
    return "".join(bar.format(at) for at in range(n))


def nul_bytes(n: int) -> bytes:
    """A record in zeros."""
    return b"\x00" * n + record(1).encode() + b"\n"


def sixteen_bits(n: int) -> bytes:
    """Lines of a log, two bytes a letter."""
    return "".join(record(at) + "\n" for at in range(1, n + 1)).encode("utf-16")


def marks_of_order(n: int) -> bytes:
    """A mark of byte order before every line."""
    return b"".join(b"\xef\xbb\xbf" + record(at).encode() + b"\n" for at in range(1, n + 1))


def bad_letters(n: int) -> bytes:
    """Bytes that are no letters, in every line."""
    return b"".join(record(at).encode() + b" \xff\xfe |\n" for at in range(1, n + 1))


def colours(n: int) -> str:
    """Escapes of a terminal between all words."""
    return "".join(record(at).replace(" ", "\x1b[1;31m \x1b[0m") + "\n" for at in range(1, n + 1))


def combining_letters(n: int) -> str:
    """A letter under as many accents, behind the head of a record."""
    return record(1) + " e" + "\u0301" * n + " loss: 1 |\n"


def foreign_digits(n: int) -> str:
    """Records in digits of another script."""
    other = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")
    return "".join(record(at).translate(other) + "\n" for at in range(1, n + 1))


def long_exponents(n: int) -> str:
    """Numbers with exponents of many digits."""
    return "".join(f" iteration {at}/ 9 | lm loss: 1E+{'9' * 40} |\n" for at in range(1, n + 1))


def long_numbers(n: int) -> str:
    """Numbers of ten thousand digits."""
    one = "9" * 10_000
    return "".join(f" iteration {at}/ 9 | lm loss: {one} |\n" for at in range(1, n + 1))


def long_number_cells(n: int) -> str:
    """A table of numbers of a thousand digits."""
    row = f"| 8 | 8 | {'1' * 1000}.5 | 50.1 |\n"
    return "| GPUs | TP | Sec/it | TFLOPs |\n| - | - | - | - |\n" + row * n


def long_cell(n: int) -> str:
    """A table with a cell of as many digits."""
    return f"| GPUs | TP | Sec/it | TFLOPs |\n| - | - | - | - |\n| 8 | 8 | {'1' * n} | 50.1 |\n"


def wordy_cell(n: int) -> str:
    """A table with a cell of as many words."""
    return ("| GPUs | Note | Sec/it | TFLOPs |\n| - | - | - | - |\n"
            f"| 8 | {'tp=1 x ' * n} | 10.5 | 50.1 |\n")  # fmt: skip


def wordy_header(n: int) -> str:
    """A table with a label of as many words."""
    return (f"| GPUs | TP | Sec/it | {'tokens per ' * n} |\n| - | - | - | - |\n"
            "| 8 | 8 | 10.5 | 50.1 |\n")  # fmt: skip


def struck_cells(n: int) -> str:
    """A cell in which marks begin and never end."""
    return ("| GPUs | TP | Sec/it | TFLOPs |\n| - | - | - | - |\n"
            f"| 8 | {'<s>' * n} | {'~~' * n} | {'**a' * n} |\n")  # fmt: skip


def ranks_interleaved(n: int) -> str:
    """Lines of two thousand ranks in no order."""
    draw = random.Random(n)
    lines = [f"[default{at % 2000}]:{record(1 + at // 2000)}\n" for at in range(n)]
    draw.shuffle(lines)
    return "".join(lines)


def many_machines(n: int) -> str:
    """A table in which each row is of another device."""
    rows = "".join(f"| X{at}Q | 8 | {10 + at % 90} | 50.1 |\n" for at in range(n))
    return f"| GPU | GPUs | Sec/it | TFLOPs |\n| - | - | - | - |\n{rows}"


def many_models(n: int) -> str:
    """A table in which each row is of another model."""
    rows = "".join(f"| Llama-{at}B | 8 | {10 + at % 90} | 50.1 |\n" for at in range(n))
    return f"| Model | GPUs | Sec/it | TFLOPs |\n| - | - | - | - |\n{rows}"


def measured_lines(n: int) -> str:
    """Jobs of which each has another model, and one iteration."""
    return "".join(
        dump(hidden_size=1024 + 8 * at, num_layers=8 + at % 80) + record(1) + "\n"
        for at in range(n)
    )


def settings_of_a_shell(n: int) -> str:
    """Variables of a shell, and a command that takes them."""
    said = "".join(f"export V{at}=${{V{at - 1}:-{at}}}\n" for at in range(1, n + 1))
    return said + "torchrun train.py --hidden-size $V1 --num-layers ${V2}\n"


def variables_twice_as_long(n: int) -> str:
    """Variables of which each says the one before it twice."""
    said = "".join(f"V{at}=$V{at - 1}$V{at - 1}\n" for at in range(1, n + 1))
    return f"V0=1\n{said}torchrun train.py --hidden-size $V{n}\n"


def flags_of_a_command(n: int) -> str:
    """One command of as many flags."""
    return "torchrun train.py " + " ".join(f"--flag-{at} {at}" for at in range(n)) + "\n"


def continued_command(n: int) -> str:
    """One command on as many lines."""
    return "torchrun train.py \\\n" + "".join(f"  --flag-{at} {at} \\\n" for at in range(n)) + "\n"


def mlperf_lines(n: int) -> str:
    """Lines of MLPerf's log."""
    one = (
        ':::MLLOG {{"namespace": "", "time_ms": {at}, "event_type": "POINT_IN_TIME", '
        '"key": "k{at}", "value": {at}, "metadata": {{"file": "a.py", "lineno": 1}}}}\n'
    )
    return "".join(one.format(at=at) for at in range(n))


def mlperf_deep(n: int) -> str:
    """A line of MLPerf's log whose value goes in without end."""
    return ':::MLLOG {"key": "k", "value": ' + "[" * n + "]" * n + "}\n"


def sizes_of_tensors(n: int) -> str:
    """Lines of sizes with as many numbers in one."""
    return "torch.Size([" + ", ".join(["8"] * n) + "])\n"


def parameters_of_ranks(n: int) -> str:
    """What each rank says of its parameters."""
    one = " > number of parameters on (tensor, pipeline) model parallel rank ({at}, 0): 1024\n"
    return "".join(one.format(at=at) for at in range(n))


def memory_of_ranks(n: int) -> str:
    """What each rank says of its memory."""
    one = ("[Rank {at}] (after 10 iterations) memory (MB) | allocated: 10.5 | max allocated: 20.5 "
           "| reserved: 30.0 | max reserved: 30.0\n")  # fmt: skip
    return "".join(one.format(at=at) for at in range(n))


def bench_lines(n: int) -> str:
    """Results of a benchmark of collectives."""
    return "".join(
        f"The average bandwidth of all_reduce with a {at}.0GB payload ({at} trials, 8 ranks):\n"
        f" algbw: {at}.5 GBps ({at} Gbps)\n busbw: {at}.6 GBps ({at} Gbps)\n"
        for at in range(1, n + 1)
    )


def unclosed_fences(n: int) -> str:
    """Fences of code that begin and never end, above a table."""
    return "```\n" * n + "| GPUs | TP | Sec/it | TFLOPs |\n| - | - | - | - |\n| 8 | 8 | 1 | 5 |\n"


def quotes_of_quotes(n: int) -> str:
    """Quotations in quotations."""
    return "> " * n + "hidden=4096\n"


def lists_in_lists(n: int) -> str:
    """Items of lists that go further in."""
    deep = min(n, 1000)
    return "".join("  " * at + f"- hidden={at + 1}\n" for at in range(deep)) * max(n // deep, 1)


def links(n: int) -> str:
    """A line of links that begin and never end."""
    return "| GPUs | TP |\n| - | - |\n| " + "[a](" * n + " | 8 |\n"


def backslashes(n: int) -> str:
    """A row of nothing but escapes."""
    return "| GPUs | TP |\n| - | - |\n| " + "\\|" * n + " | 8 |\n"


def words_of_performance(n: int) -> str:
    """One line in which the words of performance stand without numbers."""
    return "TFLOPs tokens/s iteration step loss MFU " * n + "\n"


def _event(at: int, **said: object) -> dict[str, object]:
    return {"ph": "X", "cat": "kernel", "name": f"gemm_{at}", "pid": 0, "tid": 7, "ts": 10 * at,
            "dur": 5, "args": {"stream": 7, "correlation": at, "device": 0}} | said  # fmt: skip


def _trace(events: list[dict[str, object]]) -> str:
    return json.dumps({"schemaVersion": 1, "traceEvents": events}, indent=1)


def trace_streams(n: int) -> str:
    """A trace of as many streams."""
    return _trace([_event(at, tid=at, args={"stream": at, "device": 0}) for at in range(n)])


def trace_devices(n: int) -> str:
    """A trace of as many devices and processes."""
    return _trace([_event(at, pid=at, args={"stream": 7, "device": at}) for at in range(n)])


def trace_nested(n: int) -> str:
    """Operators that all begin at once and end one after the other."""
    return _trace([_event(at, cat="cpu_op", ts=0, dur=10 * n - at, args={}) for at in range(n)])


def trace_steps(n: int) -> str:
    """A trace of as many steps, none with a kernel."""
    return _trace([
        _event(at, cat="user_annotation", name=f"ProfilerStep#{at}", args={}) for at in range(n)
    ])  # fmt: skip


def trace_parents(n: int) -> str:
    """Calls in Python of which each is its own parent's child."""
    return _trace([
        _event(at, cat="python_function", args={"Python id": at, "Python parent id": (at + 1) % n})
        for at in range(n)
    ])  # fmt: skip


def trace_flows(n: int) -> str:
    """Arrows that begin at one event."""
    return _trace([
        {"ph": "s" if at % 2 else "f", "id": at // 2, "pid": 0, "tid": 0, "ts": at, "cat": "ac2g",
         "name": "ac2g"} for at in range(n)
    ])  # fmt: skip


def trace_overlaps(n: int) -> str:
    """Kernels that all run at once."""
    return _trace([_event(at, ts=at, dur=10**6, tid=at % 64) for at in range(n)])


def trace_shapes(n: int) -> str:
    """Operators of which each has sizes of another rank."""
    return _trace([
        _event(at, cat="cpu_op", name="aten::mm",
               args={"External id": at, "Input Dims": [[8] * (at % 50), [8, 8]]})
        for at in range(n)
    ])  # fmt: skip


def trace_deep(n: int) -> str:
    """An event whose arguments go in without end."""
    return '{"traceEvents": [{"ph": "X", "args": ' + "[" * n + "]" * n + "}]}"


def nsys_kernels(n: int) -> bytes:
    """A database of as many kernels, all at once, each of another stream."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.sqlite"
        path.write_bytes((FIXTURES / "nsys" / "three_kernels.sqlite").read_bytes())
        base = sqlite3.connect(path)
        table = "CUPTI_ACTIVITY_KIND_KERNEL"
        columns = [row[1] for row in base.execute(f'PRAGMA table_info("{table}")')]
        (first,) = base.execute(f"SELECT * FROM {table} LIMIT 1").fetchall()
        rows = []
        for at in range(n):
            row = dict(zip(columns, first, strict=True))
            row |= {key: at for key in ("streamId", "correlationId") if key in row}
            rows.append(tuple(row.values()))
        places = ",".join("?" * len(columns))
        base.executemany(f"INSERT INTO {table} VALUES ({places})", rows)
        base.commit()
        base.close()
        return path.read_bytes()


NAMED: dict[Dimension, str] = {
    csv_columns: "run.csv", csv_rows: "run.csv", csv_quotes: "run.csv", csv_quoted_lines: "run.csv",
    csv_ragged: "run.csv", gemm_rows: "run.csv", attention_rows: "run.csv",
    collective_rows: "run.csv", notebook_outputs: "run.ipynb", notebook_nested: "run.ipynb",
    notebook_markdown: "run.ipynb", yaml_deep: "run.yaml", yaml_anchors: "run.yaml",
    rst_grid: "run.rst", rst_columns: "run.rst", rst_simple: "run.rst", rst_rules: "run.rst",
    nsys_kernels: "run.sqlite",
}  # fmt: skip
"""What a file is called, where that says how it is read."""

DOCUMENTS: dict[Dimension, int] = {
    html_wide_spans: 5000, html_rows_that_span: 15_000, html_open_cells: 100_000,
    html_in_cells: 30_000, html_comments: 200_000, html_attributes: 70_000, html_entities: 90_000,
    rst_grid: 16_000, rst_columns: 40_000, rst_simple: 40_000, rst_rules: 60_000,
    csv_columns: 50_000, csv_rows: 40_000, csv_quotes: 500_000, csv_quoted_lines: 900_000,
    csv_ragged: 15_000, gemm_rows: 35_000, attention_rows: 35_000, collective_rows: 25_000,
    notebook_outputs: 2000, notebook_nested: 15_000, notebook_markdown: 5000,
    json_deep: 500_000, json_objects_deep: 90_000, json_lines: 18_000, json_keys: 45_000,
    json_messages: 2000, yaml_deep: 2000, yaml_anchors: 17_000,
    python_dicts: 11_000, python_dict_deep: 90_000,
    generic_glued: 25_000, generic_steps: 25_000, generic_shapes: 25_000, generic_blocks: 20_000,
    bars_on_a_line: 14_000, bars_in_lines: 14_000,
    nul_bytes: 1_000_000, sixteen_bits: 1200, marks_of_order: 2400, bad_letters: 2400,
    colours: 900, combining_letters: 500_000, foreign_digits: 2000, long_exponents: 12_000,
    long_numbers: 100, long_number_cells: 1000, long_cell: 1_000_000, wordy_cell: 140_000,
    wordy_header: 90_000, struck_cells: 120_000, ranks_interleaved: 2400, many_machines: 35_000,
    many_models: 30_000, measured_lines: 550, settings_of_a_shell: 40_000,
    variables_twice_as_long: 60_000, flags_of_a_command: 50_000, continued_command: 45_000,
    mlperf_lines: 6000, mlperf_deep: 500_000, sizes_of_tensors: 330_000,
    parameters_of_ranks: 11_000, memory_of_ranks: 7500, bench_lines: 7000,
    unclosed_fences: 250_000, quotes_of_quotes: 500_000, lists_in_lists: 2000, links: 250_000,
    backslashes: 500_000, words_of_performance: 25_000,
    trace_streams: 5000, trace_devices: 5000, trace_nested: 5000, trace_steps: 5000,
    trace_parents: 5000, trace_flows: 7000, trace_overlaps: 5000, trace_shapes: 3000,
    trace_deep: 500_000, nsys_kernels: 8000,
}  # fmt: skip
"""How many of each make about a megabyte."""
