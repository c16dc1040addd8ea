"""The formulas one by one, and what frames and numbers of them must agree on."""

import polars as pl
import pytest
from assay.model.formulas import inverse, throughput, utilisation
from assay.model.formulas.megatron_core import VARIANTS
from assay.model.transformer.parameters import padded_vocabulary
from hypothesis import given
from hypothesis import strategies as st

OLD = "megatron-2021-old"
NEW = "narayanan-eq3"


def test_bloom():
    found = utilisation.measure(
        NEW,
        {"hidden": 14336, "layers": 70, "seq_len": 2048, "vocab": 250880},
        samples_per_second=throughput.samples_per_second(2048, 105.22),
        gpus=384,
        peak_flops=312e12,
        peak_source="A100 bf16 dense",
    )
    assert round(found.value / 1e12, 2) == 149.02
    assert found.formula_id == NEW
    assert found.utilisation == found.value / found.peak_flops


def test_deepseek_v3_operations_are_six_per_active_parameter():
    """37 B active parameters (published); without attention the count is 6 flop for each."""
    case = {
        "hidden": 7168, "layers": 61, "heads": 128, "ffn_hidden": 18432, "seq_len": 4096,
        "vocab": 129280, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_head_dim": 128,
        "rope_head_dim": 64, "v_head_dim": 128, "dense_layers": 3, "moe_ffn_hidden": 2048,
        "experts_per_token": 8, "shared_ffn_hidden": 2048,
    }  # fmt: skip
    total = utilisation.formula("megatron-core.gated.mla.moe.causal").count(case) / 4096
    attention = 6 * 61 * 128 * 2048 * (128 + 64 + 128)
    assert (total - attention) / 6 == pytest.approx(37e9, rel=0.02)


def test_identities_frame():
    cases = pl.DataFrame(
        {
            "case": ["a#1", "a#2"], "hidden": [14336, 14336], "layers": [70, None],
            "seq_len": [2048, 2048], "vocab": [250880, 250880], "global_batch": [2048, 2048],
            "gpus": [384, 384], "step_time": [105.22, 105.22], "peak_flops": [312e12, 312e12],
            "peak_source": ["A100 bf16", "A100 bf16"],
        }
    )  # fmt: skip
    found = utilisation.identities(cases, NEW)
    assert found["case"].to_list() == ["a#1", "a#1"]
    assert found["quantity"].to_list() == ["model_flops_rate", "hfu"]
    assert found["model"].unique().to_list() == [NEW]
    assert found["peak_flops"].to_list() == [None, 312e12]
    assert found["inputs"].to_list() == [["step_time"]] * 2
    assert found["value"][1] == found["value"][0] / 312e12


def test_a_missing_column_gives_no_rate():
    cases = pl.DataFrame({"case": ["a#1"], "hidden": [1024], "global_batch": [8], "step_time": [1]})
    for formula_id in utilisation.FORMULAS:
        assert utilisation.identities(cases, formula_id).is_empty()


def test_recomputation_that_is_not_stated_gives_no_hfu():
    cases = pl.DataFrame(
        {
            "case": ["a", "b", "c", "d"], "recompute": ["full", "none", "selective", None],
            "hidden": 768, "layers": 12, "seq_len": 2048, "parameters": 125_000_000,
        }
    )  # fmt: skip
    hfu = cases.select(utilisation.flop_per_sequence(cases, "mosaic-2022.hfu")).to_series()
    mfu = cases.select(utilisation.flop_per_sequence(cases, "mosaic-2022.mfu")).to_series()
    assert hfu[1] == mfu[1]
    assert hfu[0] > mfu[0]
    assert hfu[2:].to_list() == [None, None]


def test_unknown_formula_names_those_that_exist():
    with pytest.raises(KeyError, match="palm-2022"):
        utilisation.formula("palm")


def test_layers_cannot_be_solved_from_a_parameter_count():
    with pytest.raises(ValueError, match="parameters"):
        inverse.layers("palm-2022", {}, rate=(1, 2), samples_per_second=(1, 2), gpus=1)


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda each: each.formula_id)
def test_every_switch_of_megatron_core_is_in_the_id(variant):
    assert all(switch in variant.formula_id.split(".") for switch in variant if switch)
    assert variant.formula_id in utilisation.FORMULAS


sizes = st.integers(1, 200)


@given(hidden=sizes, layers=sizes, tp=st.sampled_from([1, 2, 4, 8]), vocab=st.integers(1, 10**6))
def test_scalar_and_frame_agree(hidden, layers, tp, vocab):
    case = {
        "hidden": 64 * hidden, "layers": layers, "tp": tp, "seq_len": 2048, "vocab": vocab,
    }  # fmt: skip
    frame = pl.DataFrame([case])
    for formula_id in (OLD, NEW):
        expression = frame.select(utilisation.flop_per_sequence(frame, formula_id)).item()
        assert expression == pytest.approx(utilisation.formula(formula_id).count(case), rel=1e-14)


@given(hidden=sizes, layers=sizes, step=st.floats(1, 1000), gpus=st.integers(1, 4096))
def test_inverse_of_the_rate_is_the_layer_count(hidden, layers, step, gpus):
    case = {"hidden": 64 * hidden, "seq_len": 2048, "vocab": 50304}
    samples = 512 / step
    flop = utilisation.formula(NEW).count(case | {"layers": layers})
    value = flop * samples / gpus
    assert inverse.step_time(flop, 512, gpus, value) == pytest.approx(step)
    window = (value * (1 - 1e-9), value * (1 + 1e-9))
    found = inverse.layers(NEW, case, rate=window, samples_per_second=(samples, samples), gpus=gpus)
    assert list(found) == [layers]


@given(dp=sizes, tp=sizes, micro=sizes, accumulation=sizes)
def test_batch_identities(dp, tp, micro, accumulation):
    batch = throughput.global_batch(micro, accumulation, dp)
    assert throughput.accumulation(batch, micro, dp) == accumulation
    assert throughput.gpus(dp, tp, 1) == dp * tp
    tokens = throughput.tokens_per_second(throughput.samples_per_second(batch, 2.0), 1024)
    assert throughput.samples_from_tokens(tokens, 1024) == pytest.approx(batch / 2.0)


@given(vocab=st.integers(1, 300_000), tp=st.sampled_from([1, 2, 4, 8]))
def test_padding_is_the_least_that_divides(vocab, tp):
    padded = padded_vocabulary(vocab, tp)
    assert padded % (128 * tp) == 0
    assert 0 <= padded - vocab < 128 * tp
