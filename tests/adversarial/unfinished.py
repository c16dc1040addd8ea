"""Things that begin and never end, begin too often, or are of another kind in every line.

As in `inputs`: each function gives an input with `n` of something.
"""

from __future__ import annotations

from tests.adversarial.inputs import Dimension, record


def html_unclosed_tags(n: int) -> str:
    """Tags of cells that never end."""
    return "<table><tr><td>8" + "<td " * n + "\n"


def html_open_comments(n: int) -> str:
    """Comments inside a cell that never end, each before the end of a tag."""
    return "<table><tr><td>8" + "<!-- > " * n + "\n"


def html_open_sections(n: int) -> str:
    """Marked sections inside a cell that never end."""
    return "<table><tr><td>8" + "<![CDATA[ > " * n + "</td></tr></table>\n"


def html_pieces(n: int) -> str:
    """A caption and a cell that come in pieces."""
    caption = f"<caption>{'a<b>' * n}</caption>"
    return f"<table>{caption}<tr><td>{'a<b>' * n}</td></tr></table>\n"


def html_quoted(n: int) -> str:
    """An attribute that never ends, so that no cell is left."""
    return '<table title="' + "<td>8" * n + "\n"


def headings_underlined(n: int) -> str:
    """Headings with a rule below each."""
    return "".join(f"Part {at:x}\n========\n\n" for at in range(n))


def rst_tables_unknown(n: int) -> str:
    """Tables between rules of which nobody knows a column."""
    return "=== ===\nab  cd\n=== ===\nx   y\n=== ===\n\n" * n


def namespaces(n: int) -> str:
    """Jobs of one line, each behind its arguments on a line."""
    return "".join(
        f"Namespace(hidden_size={1024 + at}, num_layers=24, seq_length=2048)\n{record(1)}\n"
        for at in range(n)
    )


def lengths_of_tables(n: int) -> str:
    """Tables that each contradict the sequence length that is stated above them."""
    head = "| GPUs | Sec/it | Samples/s | Tokens/s |\n| - | - | - | - |\n"
    return "".join(
        f"seq_len={64 + at}\n\n{head}| 8 | {10 + at % 80} | 6.40 | {13107 + at} |\n"
        f"| 8 | {11 + at % 80} | 5.40 | {11059 + at} |\n\n"
        for at in range(n)
    )


def falling_steps(n: int) -> str:
    """Steps that are counted down."""
    return "".join(f"step {n - at} | loss: 2.5 | 1000 tokens/s\n" for at in range(n))


def counts_interleaved(n: int) -> str:
    """Steps of two jobs in turns."""
    return "".join(f"step {at // 2 + 5000 * (at % 2)} | loss: 2.5\n" for at in range(n))


UNFINISHED: dict[Dimension, int] = {
    html_unclosed_tags: 250_000, html_open_comments: 140_000, html_open_sections: 80_000,
    html_pieces: 125_000, html_quoted: 200_000, headings_underlined: 40_000,
    rst_tables_unknown: 25_000, namespaces: 2200, lengths_of_tables: 7000, falling_steps: 25_000,
    counts_interleaved: 35_000,
}  # fmt: skip
"""How many of each make about a megabyte."""
