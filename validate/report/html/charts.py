"""How plots look: frames in, Altair charts out. Altair is imported here alone, and lazily.

Every frame has a column `said`, the tooltip of its mark, and where there are several series a
column `series`; `order` lists all series of the page, so that each has one colour and one shape
everywhere, and nobody needs the colour. Errors are fractions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import polars as pl
from assay.validate.report.html.svg import COLOURS, SERIES
from assay.validate.report.safe import visible

WIDTH, HEIGHT = 440, 300

ROW, BAR, LABEL = 22, 430, 380
"""Height of a bar with its gap; width of all bars; room for their labels."""

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-left",
          "triangle-right")  # fmt: skip
"""One fewer than colours: only the seventy-third series looks like the first."""

NEAR = 0.10
"""Half-width of the band around the identity line."""


def against(frame: pl.DataFrame, order: Sequence[str], unit: str) -> Any:
    """Predicted against printed on log axes: identity line, ±10 % band, a mark per pair.

    `frame`: printed, predicted (both in `unit`), series, said.
    """
    alt = _altair()
    values = pl.concat([frame["printed"], frame["predicted"]])
    low, high = float(values.min()) / 1.3, float(values.max()) * 1.3  # type: ignore[arg-type]
    ends = pl.DataFrame({"x": [low, high]}).with_columns(
        y=pl.col("x"), under=pl.col("x") * (1 - NEAR), over=pl.col("x") * (1 + NEAR)
    )
    scale = alt.Scale(type="log", domain=[low * (1 - NEAR), high * (1 + NEAR)], nice=False)
    axis = _log_axis(alt, low, high)
    x = alt.X("x:Q", scale=scale, title=f"printed{unit and ', '}{unit}", axis=axis)
    said = {"scale": scale, "title": f"predicted{unit and ', '}{unit}", "axis": axis}
    band = alt.Chart(ends).mark_area(color=COLOURS["soft"], opacity=0.18, aria=False).encode(
        x=x, y=alt.Y("under:Q", **said), y2="over:Q"
    )  # fmt: skip
    line = alt.Chart(ends).mark_line(color=COLOURS["soft"], strokeWidth=1, aria=False).encode(
        x=x, y=alt.Y("y:Q", **said)
    )  # fmt: skip
    points = _points(alt, frame, order).encode(x=alt.X("printed:Q"), y=alt.Y("predicted:Q"))
    return _finished(alt.layer(band, line, points).properties(width=HEIGHT + 60, height=HEIGHT))


def by_size(frame: pl.DataFrame, order: Sequence[str], title: str) -> Any:
    """Error over size, sizes on a log axis. `frame`: size, error, series, said."""
    alt = _altair()
    points = _points(alt, frame, order).encode(
        x=alt.X("size:Q", scale=alt.Scale(type="log", nice=False, padding=12), title=title,
                axis=_log_axis(alt, frame["size"].min(), frame["size"].max())),
        y=alt.Y("error:Q", title="predicted/printed − 1", axis=alt.Axis(format="+.0%")),
    )  # fmt: skip
    chart = alt.layer(*_around_zero(alt, "y"), points)
    return _finished(chart.properties(width=WIDTH, height=HEIGHT - 40))


def by_label(frame: pl.DataFrame, order: Sequence[str]) -> Any:
    """Mean error and its range, a line per label, in the order of the frame.

    `frame`: label, error, least, most, series, said.
    """
    alt = _altair()
    labels = frame["label"].unique(maintain_order=True).to_list()
    y = alt.Y("label:N", sort=labels, title=None, axis=alt.Axis(labelLimit=LABEL, grid=True))
    shift = alt.YOffset("series:N", sort=_series(frame, order))
    ranges = alt.Chart(frame).mark_rule(strokeWidth=2, opacity=0.6).encode(
        y=y, yOffset=shift, x=alt.X("least:Q"), x2="most:Q", color=_colour(alt, frame, order),
        description="said:N",
    )  # fmt: skip
    points = _points(alt, frame, order).encode(
        y=y, yOffset=shift,
        x=alt.X("error:Q", title="predicted/printed − 1: mean and range",
                axis=alt.Axis(format="+.0%", labelOverlap="greedy", labelSeparation=14)),
    )  # fmt: skip
    chart = alt.layer(*_around_zero(alt, "x"), ranges, points)
    step = ROW + 10 * (len(_series(frame, order)) - 1)
    return _labelled(chart.properties(height=step * len(labels)), labels)


def shares(frame: pl.DataFrame, parts: Sequence[str], title: str) -> Any:
    """Bars of parts of a whole, one per label. `frame`: label, part, share (of 1), said.

    A part that is wide enough has its name written in it.
    """
    alt = _altair()
    labels = frame["label"].unique(maintain_order=True).to_list()
    used = [part for part in parts if part in set(frame["part"])]
    wide = (7.0 * pl.col("part").str.len_chars() + 8.0) / BAR
    rank = {part: at for at, part in enumerate(used)}
    placed = (
        frame.with_columns(rank=pl.col("part").replace_strict(rank, return_dtype=pl.Int64))
        .sort("rank", maintain_order=True)
        .with_columns(end=pl.col("share").cum_sum().over("label"))
        .with_columns(begin=pl.col("end") - pl.col("share"))
        .with_columns(
            middle=(pl.col("begin") + pl.col("end")) / 2,
            name=pl.when(pl.col("share") > wide).then("part").otherwise(pl.lit("")),
        )
    )
    y = alt.Y("label:N", sort=labels, title=None, axis=alt.Axis(labelLimit=LABEL))
    colour = alt.Color(
        "part:N", title=None, sort=used,
        scale=alt.Scale(domain=used, range=[COLOURS[SERIES[at]] for at, _ in enumerate(used)]),
        legend=alt.Legend(orient="top", columns=5, symbolType="square"),
    )  # fmt: skip
    bars = alt.Chart(placed).mark_bar(stroke=COLOURS["paper"], strokeWidth=1).encode(
        y=y,
        x=alt.X("begin:Q", title=title, scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format=".0%", values=[0.0, 0.25, 0.5, 0.75, 1.0])),
        x2="end:Q", color=colour, description="said:N",
    )  # fmt: skip
    names = alt.Chart(placed).mark_text(color=COLOURS["paper"], fontSize=11, aria=False).encode(
        y=y, x="middle:Q", text="name:N"
    )  # fmt: skip
    chart = alt.layer(bars, names)
    return _labelled(chart.properties(height=ROW * len(labels)), labels)


def efficiency(frame: pl.DataFrame) -> Any:
    """Share of the peak over the size of a product. `frame`: flop, share, series, said."""
    alt = _altair()
    order = frame["series"].unique(maintain_order=True).to_list()
    points = _points(alt, frame, order).encode(
        x=alt.X("flop:Q", title="GFLOP of the product",
                scale=alt.Scale(type="log", nice=False, padding=12),
                axis=_log_axis(alt, frame["flop"].min(), frame["flop"].max())),
        y=alt.Y("share:Q", title="share of the dense peak", axis=alt.Axis(format=".0%"),
                scale=alt.Scale(domainMin=0, zero=True)),
    )  # fmt: skip
    return _finished(points.properties(width=WIDTH, height=HEIGHT - 60))


def course(frame: pl.DataFrame, title: str) -> Any:
    """A quantity over iterations. `frame`: iteration, value, least, most, said."""
    alt = _altair()
    x = alt.X("iteration:Q", title="iteration", scale=alt.Scale(zero=False, nice=False, padding=8))
    scale = alt.Scale(zero=False)
    chart = alt.Chart(frame)
    band = chart.mark_area(color=COLOURS["c1"], opacity=0.25, aria=False).encode(
        x=x, y=alt.Y("least:Q", title=title, scale=scale), y2="most:Q"
    )
    line = chart.mark_line(color=COLOURS["c1"], strokeWidth=1.5, aria=False).encode(
        x=x, y="value:Q"
    )
    points = chart.mark_point(color=COLOURS["c1"], filled=True, size=14).encode(
        x=x, y="value:Q", description="said:N"
    )
    return _finished(alt.layer(band, line, points).properties(width=WIDTH, height=HEIGHT - 100))


def shown(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with text that a drawing can hold: inputs name series, labels and tooltips."""
    texts = [name for name, kind in frame.schema.items() if kind == pl.String]
    return frame.with_columns(
        pl.col(name).map_elements(visible, return_dtype=pl.String) for name in texts
    )


def _altair() -> Any:
    import altair  # noqa: PLC0415 - an extra

    altair.data_transformers.disable_max_rows()
    return altair


def _series(frame: pl.DataFrame, order: Sequence[str]) -> list[str]:
    """The series of the frame, in the order of the page."""
    return sorted(frame["series"].unique().to_list(), key=_places(order).__getitem__)


def _places(order: Sequence[str]) -> dict[str, int]:
    """Where each series stands in the order of the page, under the name that is drawn."""
    return {visible(name): at for at, name in enumerate(order)}


def _colour(alt: Any, frame: pl.DataFrame, order: Sequence[str]) -> Any:
    names = _series(frame, order)
    places = _places(order)
    colours = [COLOURS[SERIES[places[name] % len(SERIES)]] for name in names]
    return alt.Color(
        "series:N", title=None, scale=alt.Scale(domain=names, range=colours), sort=names,
        legend=alt.Legend(orient="top", columns=2, labelLimit=260, symbolSize=80,
                          columnPadding=36),
    )  # fmt: skip


def _points(alt: Any, frame: pl.DataFrame, order: Sequence[str]) -> Any:
    names = _series(frame, order)
    places = _places(order)
    shapes = [SHAPES[places[name] % len(SHAPES)] for name in names]
    return alt.Chart(frame).mark_point(size=42, strokeWidth=1.4, opacity=0.85).encode(
        color=_colour(alt, frame, order),
        shape=alt.Shape("series:N", title=None, sort=names,
                        scale=alt.Scale(domain=names, range=shapes)),
        description="said:N",
    )  # fmt: skip


def _around_zero(alt: Any, channel: str) -> list[Any]:
    """A line at no error and a band of ±10 % around it, across the whole plot."""
    band = pl.DataFrame({"low": [-NEAR], "high": [NEAR], "zero": [0.0]})
    ends = {channel: "low:Q", f"{channel}2": "high:Q"}
    return [
        alt.Chart(band).mark_rect(color=COLOURS["soft"], opacity=0.18, aria=False).encode(**ends),
        alt.Chart(band).mark_rule(color=COLOURS["soft"], aria=False).encode(**{channel: "zero:Q"}),
    ]


def _log_axis(alt: Any, low: object, high: object) -> Any:
    return alt.Axis(
        format="~g", labelOverlap=True, values=ticks(float(str(low)), float(str(high)))
    )  # fmt: skip


CLOSE = 1.8
"""Ratio of two ends below which powers of ten and their parts leave an axis nearly bare."""


def ticks(low: float, high: float) -> list[float]:
    """Round numbers of a log axis: powers of ten, and 2 and 5 of them where there are few.

    Ends that lie close together have steps of one length between them.

    >>> ticks(0.3, 40.0), ticks(160.0, 205.0)
    ([0.5, 1.0, 2.0, 5.0, 10.0, 20.0], [160.0, 170.0, 180.0, 190.0, 200.0])
    """
    if 1.0 < high / low < CLOSE:
        step = 10.0 ** math.floor(math.log10(high - low))
        step *= 2.0 if (high - low) / step > 5.0 else 1.0
        first, last = math.ceil(low / step), math.floor(high / step)
        close = [float(f"{at * step:.12g}") for at in range(first, last + 1)]
        return [value for value in close if low <= value <= high]
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    decades = math.log10(high / low)
    steps = (
        (1.0,) if decades >= 3 else (1.0, 2.0, 5.0) if decades >= 1 else (1.0, 1.5, 2, 3, 4, 5, 7)
    )
    every = [float(f"{step}e{power}") for power in range(first, last + 1) for step in steps]
    return [value for value in every if low <= value <= high]


def _labelled(chart: Any, labels: Sequence[str]) -> Any:
    """A chart of bars: room at the left for fonts that are wider than the one measured with."""
    longest = min(6.2 * max(map(len, labels), default=0), LABEL)
    room = {"left": 5 + round(0.2 * longest), "right": 5, "top": 5, "bottom": 5}
    return _finished(chart.properties(width=BAR, padding=room))


def _finished(chart: Any) -> Any:
    """One look for all: no frame, quiet grid, colours that the style sheet fills in."""
    ink, soft, grid = (COLOURS[name] for name in ("ink", "soft", "grid"))
    return (
        chart.configure(background="transparent", font="sans-serif")
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=ink, titleColor=ink, gridColor=grid, domainColor=soft, tickColor=soft,
            labelFontSize=12, titleFontSize=12, titleFontWeight="normal", titlePadding=8,
        )
        .configure_legend(labelColor=ink, titleColor=ink, labelFontSize=12)
    )  # fmt: skip
