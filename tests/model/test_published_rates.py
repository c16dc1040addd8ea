"""Every formula against whole documents that print what it gives."""

import csv
import re

import polars as pl
import pytest
from assay.model.formulas import inverse, utilisation
from assay.model.transformer import parameters

MOSAIC_SHAPES = {
    "gpt125m": (768, 12),
    "gpt350m": (1024, 24),
    "gpt760m": (1536, 24),
    "gpt1b": (2048, 24),
    "gpt3b": (2560, 32),
    "gpt7b": (4096, 32),
    "gpt13b": (5120, 40),
    "gpt30b": (7168, 48),
    "gpt70b": (8192, 80),
}
HALF = 0.005  # half a unit of the second decimal
OLD = "megatron-2021-old"
NEW = "narayanan-eq3"


def table_rows(path):
    """Every row of every table of a document: (line, {column: cell}); a second name gets a 2."""
    header = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.startswith("|"):
            header = []
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not header:
            header = [n if n not in cells[:i] else f"{n}2" for i, n in enumerate(cells)]
        elif not set("".join(cells)) <= set("-: "):
            yield number, dict(zip(header, cells, strict=False))


def prequel(corpus):
    """The numeric rows of the BLOOM prequel with the configurations of the anchors."""
    path = next((corpus / "corpus" / "seeds").glob("002*"))
    table = (corpus / "anchors" / "step_time_predictions.csv").read_text()
    anchors = csv.DictReader(table.splitlines())
    printed = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = re.search(r"per iteration \(s\): ([\d.]+) .*TFLOPs: ([\d.]+)", line)
        if found:
            printed[number] = (float(found[1]), float(found[2]))
    for number, row in table_rows(path):
        if re.fullmatch(r"[\d.]+", row.get("Sec/it", "")):
            printed[number] = (float(row["Sec/it"]), float(row["TFLOPs"]), row)
    return printed, {int(each["line"]): each for each in anchors}


def configuration(number, printed, anchors):
    """The anchor of the line itself, or of the row it repeats."""
    if number in anchors:
        return anchors[number]
    time, tflops = printed[number][:2]
    same = [a for n, a in anchors.items() if printed[n][:2] in {(time, tflops), (tflops, time)}]
    return same[0]


@pytest.fixture(scope="module")
def prequel_frame(corpus):
    printed, anchors = prequel(corpus)
    rows = []
    for number in sorted(printed):
        anchor = configuration(number, printed, anchors)
        shape = {k: int(anchor[v]) for k, v in SHAPE.items()}
        cells = printed[number][2] if len(printed[number]) == 3 else {}
        shape["global_batch"] = int(cells.get("GBS", shape["global_batch"]))
        time, tflops = printed[number][:2]
        old = anchor["date"] <= "02-20" or number == 341
        rows.append(
            {"line": number, "time": time, "tflops": tflops, "old": old}
            | shape
            | {"inferred": anchor["L_origin"].startswith("inferred"), "vocab": 250880}
        )
    frame = pl.DataFrame(rows)
    return frame.with_columns(gpus=pl.col("tp") * pl.col("pp") * pl.col("dp"), seq_len=2048)


SHAPE = {
    "hidden": "h",
    "layers": "L",
    "tp": "TP",
    "pp": "PP",
    "dp": "DP",
    "global_batch": "GBS",
}


def bounds(frame, formula_id):
    """Bounds of TFLOP/s per GPU, from the rounding of the printed time."""
    samples = [pl.col("global_batch") / (pl.col("time") + end) for end in (HALF, -HALF)]
    return [utilisation.rate(frame, formula_id, each) / 1e12 for each in samples]


def test_prequel_rates_reproduce(prequel_frame):
    parts = []
    for formula_id, old in ((OLD, True), (NEW, False)):
        part = prequel_frame.filter(pl.col("old") == old)
        low, high = bounds(part, formula_id)
        parts.append(
            part.with_columns(
                misses=(high < pl.col("tflops") - HALF) | (low > pl.col("tflops") + HALF)
            )
        )
    frame = pl.concat(parts).sort("line")
    assert frame.height == 98
    # 46 by one unit; 329 to 331 print another batch. 340 has time and rate exchanged: all that an
    # identity sees is their product, and that is right.
    assert frame.filter("misses")["line"].to_list() == [46, 329, 330, 331]


def test_one_formula_fits_each_row(prequel_frame):
    samples = [pl.col("global_batch") / (pl.col("time") + end) for end in (HALF, -HALF)]
    rates = [(pl.col("tflops") + end) * 1e12 for end in (-HALF, HALF)]
    found = inverse.agreeing(prequel_frame, rate=tuple(rates), samples_per_second=tuple(samples))
    expected = [[OLD] if old else [NEW] for old in prequel_frame["old"]]
    other = {46, 329, 330, 331}
    for line, ids, fits in zip(prequel_frame["line"], found, expected, strict=True):
        assert ids.to_list() == ([] if line in other else fits), line


def test_the_exchanged_row_is_invisible_to_its_product(prequel_frame):
    row = prequel_frame.filter(line=340)
    exchanged = row.with_columns(time=pl.col("tflops"), tflops=pl.col("time"))
    low, high = (exchanged.select(each).item() for each in bounds(exchanged, NEW))
    assert low <= exchanged["tflops"].item() + HALF
    assert high >= exchanged["tflops"].item() - HALF


def test_layers_follow_from_the_rate(prequel_frame):
    part = prequel_frame.filter("inferred")
    batch, time, tflops, gpus = (
        part[name].to_numpy() for name in ("global_batch", "time", "tflops", "gpus")
    )
    low, high = inverse.layer_bounds(
        OLD,
        {name: part[name].to_numpy() for name in ("hidden", "tp", "seq_len")},
        rate=((tflops - HALF) * 1e12, (tflops + HALF) * 1e12),
        samples_per_second=(batch / (time + HALF), batch / (time - HALF)),
        gpus=gpus,
    )
    assert low.tolist() == high.tolist() == part["layers"].to_list()
    assert set(part["layers"].to_list()) == {80, 78, 77, 81, 72}


def test_layers_of_one_row(prequel_frame):
    row = prequel_frame.row(by_predicate=pl.col("line") == 149, named=True)
    found = inverse.layers(
        OLD,
        {name: row[name] for name in ("hidden", "tp", "seq_len")},
        rate=((row["tflops"] - HALF) * 1e12, (row["tflops"] + HALF) * 1e12),
        samples_per_second=tuple(row["global_batch"] / (row["time"] + e) for e in (HALF, -HALF)),
        gpus=row["gpus"],
    )
    assert list(found) == [78]


def mosaic_frame(path):
    rows = [
        {
            "case": f"{path.name}#{number}",
            "seq_len": int(row["SeqLen (T)"]),
            "hidden": MOSAIC_SHAPES[row["Model"]][0],
            "layers": MOSAIC_SHAPES[row["Model"]][1],
            "parameters": int(row["ParamCount"]),
            "tokens_per_s": float(row["Throughput (T/s)"]),
            "gpus": int(row["NumGPUs"]),
            "recompute": "full" if row["ActCkpt"].lower() == "true" else "none",
            **{name: float(row[name]) for name in ("MFU*", "MFU", "HFU*", "HFU")},
        }
        for number, row in table_rows(path)
        if row.get("Model") in MOSAIC_SHAPES
    ]
    return pl.DataFrame(rows).with_columns(peak_flops=312e12, peak_source=pl.lit("A100 bf16"))


def cells_that_reproduce(frame, year, half):
    """Cells whose printed interval meets the interval computed from the tokens per second."""
    good = 0
    for name in ("MFU*", "MFU", "HFU*", "HFU"):
        formula_id = f"mosaic-{year}.{name.lower()}"
        low, high = (
            frame.select(
                utilisation.rate(
                    frame, formula_id, (pl.col("tokens_per_s") + end) / pl.col("seq_len")
                )
                / pl.col("peak_flops")
            ).to_series()
            for end in (-half, half)
        )
        good += ((low <= frame[name] + 5e-5) & (high >= frame[name] - 5e-5)).sum()
    return good


@pytest.mark.parametrize(
    ("where", "year", "rows"),
    [("seeds/004*", 2022, 87), ("mfu_table/mosaic_2023_tables.md", 2023, 77)],
)
def test_mosaic_tables_reproduce(corpus, where, year, rows):
    frame = mosaic_frame(next((corpus / "corpus").glob(where)))
    assert frame.height == rows
    assert cells_that_reproduce(frame, year, HALF) == 4 * rows
    counted = frame.select(
        parameters.mosaic(pl.col("hidden"), pl.col("layers"), pl.lit(50257), pl.col("seq_len"))
    ).to_series()
    assert (counted == frame["parameters"]).sum() == rows


def test_years_are_not_interchangeable(corpus):
    frame = mosaic_frame(corpus / "corpus" / "mfu_table" / "mosaic_2023_tables.md")
    assert cells_that_reproduce(frame, 2022, HALF) < 4 * frame.height


LLAMA3 = {
    "LLAMA3-8B": (32, 4096, 14336, 32),
    "LLAMA3-70B": (80, 8192, 28672, 64),
    "LLAMA3-405B": (126, 16384, 53248, 128),
}


def test_megatron_llama_table(corpus):
    rows = [
        row
        for _, row in table_rows(corpus / "corpus" / "mfu_table" / "megatron_llama_tables.md")
        if row.get("Model") in LLAMA3
    ]
    met = {}
    for row in rows:
        layers, hidden, ffn_hidden, heads = LLAMA3[row["Model"]]
        seq_len = int(row["Seq Length"])
        case = {
            "layers": layers,
            "hidden": hidden,
            "ffn_hidden": ffn_hidden,
            "heads": heads,
            "kv_heads": 8,
            "head_dim": 128,
            "seq_len": seq_len,
            "vocab": 128256,
        }
        count = utilisation.formula("megatron-core.gated.gqa.dense.full").count(case) / seq_len
        low, high = ((float(row["Tokens/sec/GPU"]) + end) * count / 1e12 for end in (-0.5, 0.5))
        printed = float(row["TFLOP/sec/GPU"])
        met[row["Model"]] = low <= printed + 0.5 and high >= printed - 0.5
    # The 405B row prints 834 where its own tokens give 827: no variant of the count explains it.
    assert met == {"LLAMA3-8B": True, "LLAMA3-70B": True, "LLAMA3-405B": False}
