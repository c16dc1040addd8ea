"""Operation lists against closed formulas, against measured kernels, and under splitting."""

import csv

import pytest
from assay.model.formulas import utilisation
from assay.model.formulas.megatron_core import case_of, formula_id_of
from assay.model.transformer import shapes
from assay.model.transformer.decoder import (
    Kernels,
    Layout,
    block_operations,
    blocks,
    layer,
    logits,
    tokens,
)
from assay.model.transformer.operations import Attention, Gemm, data_gradient, weight_gradient
from assay.model.transformer.parameters import padded_vocabulary, parameters
from assay.model.transformer.passes import flop, passes
from assay.model.transformer.traffic import layer_traffic, logits_traffic
from hypothesis import given
from hypothesis import strategies as st

UNFUSED = Kernels(attention="unfused")
MODELS = shapes.shapes()
HYBRIDS = [name for name, model in MODELS.items() if model.hybrid is not None]
MIXTURES = [name for name, model in MODELS.items() if model.experts is not None]


def training_flop(model, *, seq_len, kernels=UNFUSED, recompute="none", layout=None):
    """Flop per sequence of one rank, all layers and the logits."""
    layout = layout or Layout()
    at = {"micro_batch": 1, "seq_len": seq_len}
    sparse = model.layers - model.dense_layers
    total = flop_of(passes([logits(model, layout, kernels, **at)]))
    for count, is_sparse in ((model.dense_layers, False), (sparse, True)):
        if count:
            found = passes(
                layer(model, layout, kernels, sparse=is_sparse, **at), recompute=recompute
            )
            total += count * flop_of(found)
    return total


def flop_of(found):
    return sum(flop(each) for each in found)


def uncounted(model, seq_len):
    """Parameters that one side counts and the other does not: routers here, inner norms there."""
    difference = 0
    if model.experts:
        sparse = model.layers - model.dense_layers
        difference += 6 * seq_len * sparse * model.hidden * model.experts.routed
    if model.latent:
        norms = model.latent.kv_rank + (model.latent.q_rank or 0)
        difference -= 6 * seq_len * model.layers * norms
    return difference


@pytest.mark.parametrize("name", HYBRIDS)
def test_products_of_a_hybrid_are_twice_its_active_weights(name):
    """Two operations a weight that a token visits; no formula of Megatron's counts them."""
    model, size = MODELS[name], 4096
    at = {"micro_batch": 1, "seq_len": size}
    total = sum(
        share * sum(one.flop for one in block_operations(model, Layout(), Kernels(), block, **at)
                    if isinstance(one, Gemm) and one.weight)
        for block, share in blocks(model)
    )  # fmt: skip
    count = parameters(model)
    weights = count.active - count.embedding - count.head
    assert total * model.layers == pytest.approx(2 * weights * size, rel=0.005)
    assert sum(share for _, share in blocks(model)) == pytest.approx(1.0)
    with pytest.raises(ValueError, match="state-space"):
        formula_id_of(model, mask="full")


EVEN = 61440
"""Tokens of which every expert of every packaged mixture gets a whole number of padded groups."""


@pytest.mark.parametrize("name", sorted(set(MODELS) - set(HYBRIDS)))
def test_sum_over_products_is_the_formula(name):
    model, seq_len = MODELS[name], EVEN
    count = utilisation.formula(formula_id_of(model, mask="full")).count(
        case_of(model, seq_len=seq_len)
    )
    assert training_flop(model, seq_len=seq_len) == count + uncounted(model, seq_len)


@given(heads=st.integers(1, 64), size=st.integers(1, 16), layers=st.integers(1, 96),
       vocab=st.integers(1, 300_000), seq_len=st.integers(1, 4096))  # fmt: skip
def test_full_recomputation_is_narayanan(heads, size, layers, vocab, seq_len):
    hidden = 8 * heads * size
    model = shapes.gpt(hidden=hidden, layers=layers, heads=heads, vocab=vocab, context=seq_len)
    case = {"hidden": hidden, "layers": layers, "seq_len": seq_len,
            "vocab": padded_vocabulary(vocab, 1)}  # fmt: skip
    expected = utilisation.formula("narayanan-eq3").count(case)
    found = training_flop(model, seq_len=seq_len, recompute="full")
    assert found == pytest.approx(expected, rel=1e-12)


@given(seq_len=st.integers(1, 8192), batch=st.integers(1, 8), name=st.sampled_from(list(MODELS)))
def test_fused_attention_is_its_products(seq_len, batch, name):
    at = {"micro_batch": batch, "seq_len": seq_len}
    fused = layer(MODELS[name], Layout(), Kernels(causal=False), **at)
    apart = layer(MODELS[name], Layout(), UNFUSED, **at)
    assert flop(fused) == flop(apart)
    masked = layer(MODELS[name], Layout(), Kernels(), **at)
    core = flop(each for each in fused if isinstance(each, Attention))
    assert flop(masked) == flop(fused) - core / 2


def test_fused_backward_is_five_products_for_two():
    fused = Attention("attention", 2, 32, 8, 4096, 4096, 128, 128)
    assert data_gradient(fused).flop == 2.5 * fused.flop
    assert [each.flop for each in passes([fused]).wgrad] == []


@given(m=st.integers(1, 99), n=st.integers(1, 99), k=st.integers(1, 99), count=st.integers(1, 9))
def test_gradients_cost_what_the_product_costs(m, n, k, count):
    gemm = Gemm("any", m, n, k, count)
    backward = data_gradient(gemm)
    assert (backward.m, backward.n, backward.k) == (m, k, n)
    assert backward.flop == weight_gradient(gemm).flop == gemm.flop
    assert data_gradient(backward) == gemm


# kv_heads ≥ TP and no latent attention: elsewhere ranks repeat work, which has its own test
splittable = st.sampled_from([n for n, m in MODELS.items() if not m.latent and m.kv_heads >= 8])


@given(name=splittable, tp=st.sampled_from([1, 2, 4, 8]), cp=st.sampled_from([1, 2, 4]),
       kernels=st.sampled_from([UNFUSED, Kernels(), Kernels(linear_dtype="fp8")]))  # fmt: skip
def test_splitting_conserves_operations(name, tp, cp, kernels):
    model = MODELS[name]
    if model.heads % tp or model.kv_heads % tp:
        return
    at = {"micro_batch": 2, "seq_len": EVEN, "sparse": model.dense_layers == 0}
    whole = flop(layer(model, Layout(), kernels, **at))
    layout = Layout(tp=tp, cp=cp, sequence_parallel=True)
    assert flop(layer(model, layout, kernels, **at)) * tp * cp == whole


@given(name=st.sampled_from(MIXTURES), ep=st.sampled_from([1, 2, 4, 8]))
def test_expert_parallelism_conserves_operations(name, ep):
    at = {"micro_batch": 1, "seq_len": EVEN, "sparse": True}
    if MODELS[name].experts.routed % ep:
        return
    whole = flop(layer(MODELS[name], Layout(), UNFUSED, **at))
    found = layer(MODELS[name], Layout(ep=ep), UNFUSED, **at)
    assert flop(found) == whole
    (routed,) = (each for each in found if each.name == "expert_fc1")
    assert routed.count == MODELS[name].experts.routed // ep


def test_capacity_scales_the_experts():
    at = {"micro_batch": 1, "seq_len": 4096, "sparse": True}
    plain, padded = (
        layer(MODELS["Mixtral-8x7B"], Layout(ep=8), Kernels(), capacity=c, **at)
        for c in (None, 1.25)
    )
    rows = [
        next(each.m for each in found if each.name == "expert_fc1") for found in (plain, padded)
    ]
    assert rows == [8192, 10240]


def test_fewer_kv_heads_than_ranks_are_repeated():
    at = {"micro_batch": 1, "seq_len": 2048}
    qkv = layer(MODELS["Qwen2-72B"], Layout(tp=16), Kernels(), **at)[0]  # 64 heads over 8
    assert qkv.n == (4 + 2) * 128


def test_latent_down_projections_follow_the_sequence():
    at = {"micro_batch": 1, "seq_len": 4096}
    by_name = {
        parallel: {
            each.name: each.m
            for each in layer(
                MODELS["DeepSeek-V3"], Layout(tp=4, sequence_parallel=parallel), UNFUSED, **at
            )
        }
        for parallel in (False, True)
    }
    assert by_name[False]["kv_down"] == 4096
    assert by_name[True]["kv_down"] == 1024
    assert by_name[True]["kv_up"] == 4096


def test_fp8_is_for_weights_inside_layers_only():
    kernels = Kernels(linear_dtype="fp8")
    at = {"micro_batch": 1, "seq_len": 4096}
    found = layer(MODELS["DeepSeek-V3"], Layout(), kernels, sparse=True, **at)
    assert {each.dtype for each in found if each.name in {"attention", "router"}} == {"bf16"}
    others = {each.dtype for each in found if each.name not in {"attention", "router"}}
    assert others == {"fp8"}
    assert logits(MODELS["DeepSeek-V3"], Layout(), kernels, **at).dtype == "bf16"


def test_recomputation():
    at = {"micro_batch": 1, "seq_len": 2048}
    found = layer(MODELS["GPT-3-175B"], Layout(tp=8), UNFUSED, **at)
    assert passes(found, recompute="full").recompute == found
    names = [each.name for each in passes(found, recompute="selective").recompute]
    assert names == ["scores", "context"]
    assert passes(found).recompute == ()
    with pytest.raises(ValueError, match="none, selective, full"):
        passes(found, recompute="some")


def test_layouts_that_do_not_divide_are_refused():
    at = {"micro_batch": 1, "seq_len": 2048}
    for layout, what in (
        (Layout(tp=3), "heads"),
        (Layout(cp=3), "tokens of a sequence"),
        (Layout(ep=3), "experts"),
    ):
        with pytest.raises(ValueError, match=f"{what} do not divide among 3 ranks"):
            layer(MODELS["Mixtral-8x7B"], layout, Kernels(), sparse=True, **at)
    with pytest.raises(ValueError, match="has no experts"):
        layer(MODELS["Llama-3-8B"], Layout(), Kernels(), sparse=True, **at)
    with pytest.raises(ValueError, match="neither flash nor unfused"):
        layer(MODELS["Llama-3-8B"], Layout(), Kernels(attention="linear"), **at)


PROFILED = {
    "CodeLlama-34b-Instruct-hf": "CodeLlama-34B",
    "Llama-2-70b-hf": "Llama-2-70B",
    "Llama-2-7b-hf": "Llama-2-7B",
    "Meta-Llama-3-70B": "Llama-3-70B",
    "Meta-Llama-3-8B": "Llama-3-8B",
    "Qwen-72B": "Qwen-72B",
}
OPERATORS = {
    "attn_pre_proj": "qkv",
    "attn_post_proj": "proj",
    "mlp_up_proj": "fc1",
    "mlp_down_proj": "fc2",
}


def test_products_are_those_that_were_profiled(corpus):
    """The (n, k) that a profiler met in six models at TP 1, 2, 4 and 8, and no others."""
    measured = set()
    text = (corpus / "measured" / "vidur_gemm_sample.csv").read_text()
    for row in csv.DictReader(text.splitlines()):
        model, operator = row["kernel"].split(":")
        if model in PROFILED:
            measured.add((PROFILED[model], OPERATORS[operator], int(row["n"]), int(row["k"])))
    ours = {
        (name, each.name, each.n, each.k)
        for name in PROFILED.values()
        for tp in (1, 2, 4, 8)
        for each in layer(MODELS[name], Layout(tp=tp), Kernels(), micro_batch=1, seq_len=128)
        if isinstance(each, Gemm)
    }
    assert measured == ours


@given(tp=st.sampled_from([1, 2, 4, 8]), cp=st.sampled_from([1, 2]),
       name=st.sampled_from(["Llama-3-8B", "GPT-3-175B"]))  # fmt: skip
def test_traffic_divides(tp, cp, name):
    at = {"micro_batch": 1, "seq_len": 2048}
    whole = layer_traffic(MODELS[name], Layout(), UNFUSED, **at)
    split = layer_traffic(MODELS[name], Layout(tp=tp, cp=cp, sequence_parallel=True), UNFUSED, **at)
    assert [each.name for each in whole] == [each.name for each in split]
    assert [each.forward for each in whole] == [each.forward * tp * cp for each in split]
    assert [each.backward for each in whole] == [each.backward * tp * cp for each in split]
    alone = layer_traffic(MODELS[name], Layout(tp=tp, cp=cp), UNFUSED, **at)
    norms = {each.name: each.forward for each in alone if "norm" in each.name}
    assert norms["mlp_norm"] == 2 * 2 * MODELS[name].hidden * tokens(Layout(cp=cp), 1, 2048)


def test_cross_entropy_moves_every_logit():
    found = logits_traffic(Layout(), Kernels(), micro_batch=1, seq_len=10, columns=100)
    assert found.forward == 1000 * (2 + 16)


def test_a_window_leaves_its_width_of_the_pairs():
    """By counting, for every query, the keys that it sees."""
    model, layout = MODELS["GPT-OSS-20B"], Layout()
    at = {"micro_batch": 1, "seq_len": 2048}
    for block, _ in blocks(model):
        core = next(
            one for one in block_operations(model, layout, Kernels(), block, **at)
            if isinstance(one, Attention)
        )  # fmt: skip
        seen = sum(min(query + 1, core.window or 2048) for query in range(2048))
        counted = 4 * core.heads * core.qk_dim * seen
        assert core.flop == pytest.approx(counted, rel=0.01)
