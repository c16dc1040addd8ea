"""Documents and histories that are all one thing, and every adversarial input there is.

As in `inputs`: each function gives an input with `n` of something. `EVERY` holds those of all
modules, `NAMED` what a file is called where its name matters.
"""

from __future__ import annotations

import json

from tests.adversarial import crowds, documents
from tests.adversarial.crowds import CROWDS
from tests.adversarial.documents import DOCUMENTS
from tests.adversarial.inputs import DIMENSIONS, Dimension, word
from tests.adversarial.unfinished import UNFINISHED

HEAD = "| GPUs | TP | Sec/it | TFLOPs |\n| - | - | - | - |\n"


def states_on_a_line(n: int) -> str:
    """The state of a trainer in JSON without line ends, each step with a key of its own."""
    steps = [{"step": at, f"k{at}": 1.5, "loss": 1.0} for at in range(n)]
    return json.dumps({"log_history": steps})


def rst_csv_tables(n: int) -> str:
    """Tables of reStructuredText that are written as CSV."""
    one = ".. csv-table:: T\n   :header: GPUs,TP,Sec/it,TFLOPs\n\n   8,8,{time},50.1\n\n"
    return "".join(one.format(time=10 + at % 90) for at in range(n))


def footnoted_cells(n: int) -> str:
    """A table whose cells have a footnote each, and what the notes say."""
    rows = "".join(f"| 8 | 8 | {10 + at % 90}[^{at}] | 50.1[^{at}] |\n" for at in range(n))
    return HEAD + rows + "".join(f"\n[^{at}]: hidden={1024 + at}\n" for at in range(n))


def fences_alone(n: int) -> str:
    """Tables in fences, with nothing between them."""
    return "".join(f"```\n{HEAD}| 8 | 8 | {10 + at % 90} | 50.1 |\n```\n\n" for at in range(n))


def spanning_first(n: int) -> str:
    """A table whose first column is blank below its first row."""
    rows = "".join(f"| | {8 * (1 + at % 8)} | {10 + at % 90} | 50.1 |\n" for at in range(n))
    return "| Model | GPUs | Sec/it | TFLOPs |\n| - | - | - | - |\n" + rows


def counts_in_labels(n: int) -> str:
    """A table with a rate for each of as many numbers of devices."""
    labels = "".join(f" tokens/s ({at} GPUs) |" for at in range(n))
    return f"|{labels}\n|{' - |' * n}\n" + f"|{' 1.5 |' * n}\n" * 3


def sides_of_two(n: int) -> str:
    """A table with two quantities for each of as many devices, side by side."""
    labels = "".join(f" TFLOPs (A{at}) | Sec/it (A{at}) |" for at in range(n))
    return f"| GPUs |{labels}\n|{' - |' * (2 * n + 1)}\n" + f"| 8 |{' 50.1 | 10.5 |' * n}\n" * 28


def rows_by_columns(n: int) -> str:
    """A table of one quantity whose rows and columns are both settings."""
    rows = "".join(f"| {at} |{''.join(f' {at + by} |' for by in range(n))}\n" for at in range(90))
    labels = "".join(f" MBS={at} |" for at in range(n))
    return f"# Throughput (tokens/s) on H100\n\n| TP |{labels}\n|{' - |' * (n + 1)}\n{rows}"


def rst_grids_open(n: int) -> str:
    """Drawn tables of which none has a rule below its last row."""
    head = "+------+--------+\n| GPUs | Sec/it |\n+======+========+\n"
    return f"{head}| 8    | 10.5   |\n" * n


def metrics_of_one(n: int) -> str:
    """A table whose first column names one thing, and its second another in each row."""
    rows = "".join(f"| 5B | {word(at)} | {8 + at % 8} | {10 + at % 90}.5 |\n" for at in range(n))
    return "| Model | Metric | 8 GPUs | 16 GPUs |\n| - | - | - | - |\n" + rows


def header_rows(n: int) -> str:
    """A table of as many header rows, whose labels are all of them together."""
    heads = "".join(
        f"<tr><th>GPUs {word(at)}</th><th>TP</th><th>Sec/it</th></tr>\n" for at in range(n)
    )
    return f"<table><thead>{heads}</thead><tr><td>8</td><td>2</td><td>10.5</td></tr></table>\n"


def monitors_drawn(n: int) -> str:
    """Boxes of a monitor of devices, one below the other, whose corners do not meet."""
    one = (
        "|   {at}  NVIDIA A100-SXM...  On   | 00000000:07:00.0 Off |                    0 |\n"
        "| N/A   {warm}C    P0    97W / 400W |   {used:5}MiB / 81920MiB |     93%      Default |\n"
        "+-------------------------------+----------------------+----------------------+\n"
    )
    return "".join(one.format(at=at % 8, warm=10 + at % 80, used=at % 81920) for at in range(n))


FURTHER: dict[Dimension, int] = {
    states_on_a_line: 23_000, rst_csv_tables: 13_000, footnoted_cells: 16_000,
    fences_alone: 10_000, spanning_first: 40_000, counts_in_labels: 22_000, sides_of_two: 2200,
    rows_by_columns: 1700, rst_grids_open: 14_000, metrics_of_one: 36_000,
    header_rows: 17_000, monitors_drawn: 4300,
}  # fmt: skip
"""How many of each make about a megabyte."""

EVERY = DIMENSIONS | DOCUMENTS | UNFINISHED | FURTHER | CROWDS

NAMED = documents.NAMED | crowds.NAMED | {
    states_on_a_line: "run.json", rst_csv_tables: "run.rst",
}  # fmt: skip
