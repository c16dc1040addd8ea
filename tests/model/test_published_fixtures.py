"""Rates and utilisations that projects and papers print, from `tests/published_rates`."""

from pathlib import Path

import polars as pl
import pytest
from assay.model.formulas import utilisation
from assay.model.formulas.megatron_core import case_of, formula_id_of
from assay.model.transformer.shapes import shapes

FIXTURES = Path(__file__).parents[1] / "published_rates"
A100 = 312e12


def interval_meets(low, high, printed, half):
    return low <= printed + half and high >= printed - half


@pytest.fixture(scope="module")
def megatron_bridge():
    """Rows with the printed flop per token, and ours under two ids."""
    rows = []
    for row in pl.read_csv(FIXTURES / "megatron_bridge_25_11.csv").iter_rows(named=True):
        model = shapes()[row["model"]]
        case = case_of(model, seq_len=row["seq_len"])
        flop, further = (
            utilisation.formula(formula_id_of(model, mask="causal") + suffix).count(
                case | {"mtp_layers": 1}
            )
            / row["seq_len"]
            for suffix in ("", ".mtp")
        )
        tokens, rate = row["tokens_per_s_per_gpu"], row["tflops_per_gpu"] * 1e12
        low, high = flop * (tokens - 0.5), flop * (tokens + 0.5)
        rows.append(
            row
            | {
                "meets": interval_meets(low, high, rate, 0.5e12),
                "off": flop * tokens / rate - 1,
                "off_with_further": further * tokens / rate - 1,
            }
        )
    return pl.DataFrame(rows)


@pytest.mark.parametrize(
    ("family", "met", "rows"), [("Llama", 15, 15), ("Qwen", 6, 7), ("DeepSeek", 2, 5)]
)
def test_megatron_bridge_rates(megatron_bridge, family, met, rows):
    part = megatron_bridge.filter(pl.col("model").str.starts_with(family))
    assert (part["meets"].sum(), part.height) == (met, rows)


def test_megatron_bridge_rates_that_miss_are_close(megatron_bridge):
    missed = megatron_bridge.filter(~pl.col("meets"))
    best = missed.select(pl.min_horizontal(pl.col("off").abs(), pl.col("off_with_further").abs()))
    assert best.to_series().max() < 0.005


@pytest.mark.parametrize("quantity", ["mfu", "hfu"])
def test_korthikanti(quantity):
    rows = pl.read_csv(FIXTURES / "korthikanti_2022.csv")
    for row in rows.iter_rows(named=True):
        flop = utilisation.formula(f"korthikanti-2022.{quantity}").count(row)
        low, high = (
            100 * flop * row["global_batch"] / ((row["step_time"] + end) * row["gpus"] * A100)
            for end in (0.005, -0.005)
        )
        assert interval_meets(low, high, row[quantity], 0.05), row["model"]


def test_plain_megatron_core_is_korthikanti():
    for row in pl.read_csv(FIXTURES / "korthikanti_2022.csv").iter_rows(named=True):
        case = row | {
            "kv_heads": row["heads"],
            "head_dim": row["hidden"] // row["heads"],
            "ffn_hidden": 4 * row["hidden"],
        }
        core = utilisation.formula("megatron-core.plain.gqa.dense.full").count(case)
        assert core == pytest.approx(
            utilisation.formula("korthikanti-2022.mfu").count(case), rel=1e-12
        )


def test_palm():
    for row in pl.read_csv(FIXTURES / "palm_2022.csv").iter_rows(named=True):
        found = utilisation.measure(
            "palm-2022",
            row,
            samples_per_second=row["tokens_per_s"] / row["seq_len"],
            gpus=row["chips"],
            peak_flops=row["peak_flops"],
            peak_source="palm_2022.csv",
        )
        assert 100 * found.utilisation == pytest.approx(row["mfu"], abs=0.06)
