"""Lines of one layout, split into cells that are proven against it.

In: lines with as many separators as the layout. Out: a raw frame (see `assay.ingest.decode`) of the
lines that are of it, and those that are not.
"""

from __future__ import annotations

import polars as pl
from assay.ingest.accept import OTHER
from assay.ingest.layout import Layout, Segment


def split(layout: Layout, lines: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Lines of this layout as a raw frame (see `decode`) and those that are not of it.

    `lines` has the columns line and text, one row per line with as many separators as the layout.
    """
    names = [f"v{i}" for i in range(len(layout.values))]
    body = pl.col("text").str.slice(layout.width) if layout.width else pl.col("text")
    proofs = []
    if layout.width:
        head = pl.col("text").str.head(layout.width)
        proofs.append(head.str.contains(f"^{layout.lead}$"))
    parts = lines.select(
        "line", "text", part=body.str.split_exact(layout.separator, len(layout.segments) - 1)
    ).unnest("part")
    values: list[pl.Expr] = []
    for at, segment in enumerate(layout.segments):
        found, proof = _cells(pl.col(f"field_{at}"), segment)
        values += found
        proofs += proof
    cells = parts.select(
        "line",
        *(value.alias(name) for value, name in zip(values, names, strict=True)),
        *(pl.col("text").str.slice(start, n).alias(name) for name, start, n in layout.places),
        proven=pl.all_horizontal(proofs),
    )
    proven = cells["proven"].fill_null(value=False)
    return raw(layout, cells.filter(proven)), lines.filter(~proven)


def _cells(part: pl.Expr, segment: Segment) -> tuple[list[pl.Expr], list[pl.Expr]]:
    """The values of one segment, and what proves them."""
    if not segment.values:
        blank = part.str.strip_chars(" ") == ""
        return [], [part == segment.after if segment.after else blank]
    values, proofs, rest = [], [], part
    for at, value in enumerate(segment.values):
        if at == 0 and value.before:
            proofs.append(rest.str.starts_with(value.before))
            rest = rest.str.strip_prefix(value.before)
        text, after = rest, segment.after
        if at + 1 < len(segment.values):
            after = segment.values[at + 1].before
            halves = rest.str.splitn(after, 2)
            text, rest = halves.struct.field("field_0"), halves.struct.field("field_1")
        elif after:
            proofs.append(rest.str.ends_with(after))
            text = rest.str.strip_suffix(after)
        # beside a letter, as of a unit, blanks mean something: they are among the label then
        close = after.lstrip(" ")[:1].isalnum() or at + 1 == len(segment.values)
        bare = text.str.strip_chars_start(" ") if after and close else text.str.strip_chars(" ")
        values.append(bare)
        proofs.append(bare.str.contains(f"^(?:{value.pattern})$"))
    return values, proofs


def raw(layout: Layout, cells: pl.DataFrame) -> pl.DataFrame:
    """The proven cells under the names of their columns, with scales where a cell has one."""
    taken: dict[str, pl.Expr] = {name: pl.col(name) for name, _, _ in layout.places}
    for at, value in enumerate(layout.values):
        if value.field:
            taken[value.field] = pl.col(f"v{at}")
            if value.scale != 1.0:
                taken[f"{value.field}@scale"] = pl.lit(value.scale)
    if layout.others:
        taken["other"] = others(layout)
    column = pl.lit(layout.width + 1, dtype=pl.UInt32).alias("column")
    return cells.select("line", column, **taken)


def others(layout: Layout) -> pl.Expr:
    """The cells that no column declares, from the columns of their values."""
    undeclared = [pl.col(f"v{at}") for at, value in enumerate(layout.values) if not value.field]
    texts = [undeclared[s] if isinstance(s, int) else pl.lit(s) for _, s in layout.others]
    pairs = [
        pl.struct(name=pl.lit(label), text=text)
        for (label, _), text in zip(layout.others, texts, strict=True)
    ]
    return pl.concat_list(pairs).cast(OTHER).alias("other")
