"""Every packaged model against the parameter count that its project publishes."""

import re
import tomllib
from importlib import resources

import pytest
from assay.model.formulas import flop_formulas
from assay.model.transformer import shapes
from assay.model.transformer.parameters import (
    gpt_layer,
    megatron_2021_old,
    mosaic,
    parameters,
)
from assay.model.transformer.rank_parameters import rank_parameters
from hypothesis import given
from hypothesis import strategies as st

FACTS = tomllib.loads((resources.files("assay.model.transformer") / "shapes.toml").read_text())[
    "model"
]
EXACT = {name for name, facts in FACTS.items() if isinstance(facts.get("published"), int)}
LABELLED = {name for name, facts in FACTS.items() if "label" in facts}


@pytest.mark.parametrize("name", sorted(EXACT))
def test_counts_published_in_full(name):
    assert parameters(shapes.shapes()[name]).total == FACTS[name]["published"]


@pytest.mark.parametrize("name", sorted(set(FACTS) - EXACT - LABELLED))
def test_counts_published_rounded(name):
    digits = FACTS[name]["published"].removesuffix("B")
    places = len(digits.partition(".")[2])
    assert f"{parameters(shapes.shapes()[name]).total / 1e9:.{places}f}" == digits


@pytest.mark.parametrize("name", sorted(LABELLED))
def test_sizes_in_names(name):
    """A label rounds, and not always to the nearest."""
    meant = 1e9 * float(FACTS[name]["label"].removesuffix("B"))
    assert parameters(shapes.shapes()[name]).total == pytest.approx(meant, rel=0.1)


@pytest.mark.parametrize("name", [name for name in FACTS if "published_active" in FACTS[name]])
def test_active_parameters(name):
    """Some projects count the embedding as active, some do not; labels round and cut."""
    published = float(FACTS[name]["published_active"].removesuffix("B"))
    count = parameters(shapes.shapes()[name])
    found = (count.active / 1e9, (count.active - count.embedding) / 1e9)
    assert min(abs(each / published - 1) for each in found) < 0.025


@pytest.mark.parametrize("name", FACTS)
def test_every_model_says_where_it_is_from(name):
    assert FACTS[name]["source"]


def test_a_dense_model_has_no_unused_parameters():
    for model in shapes.shapes().values():
        count = parameters(model)
        assert (count.active == count.total) == (model.experts is None)


LOGS = {
    "meg_ds_3d_gpt2_perf_n16-ds-off.out": (8192, 64, 4, 16),
    "meg_gpt2_perf_n16.out": (8192, 64, 4, 16),
    "meg_gpt2_base_n16_dp1_tp4_pp16-1809577.out": (9216, 64, 4, 16),
    "meg_gpt2_base_n8_dp1_tp4_pp8-1809562.out": (7168, 48, 4, 8),
    "meg_gpt2_base_n4_dp1_tp4_pp4-1809579.out": (6144, 40, 4, 4),
}


@pytest.mark.parametrize("name", LOGS)
def test_every_rank_of_megatron_jobs(corpus, name):
    """All counts that five jobs print, each for its tensor and pipeline rank."""
    hidden, layers, tp, pp = LOGS[name]
    model = shapes.gpt(hidden=hidden, layers=layers, heads=32, vocab=50257, context=1024)
    text = (corpus / "corpus" / "megatron_log" / name).read_text(errors="replace")
    printed = set(re.findall(r"parallel rank \(\d+, (\d+)\): (\d+)", text))
    expected = {
        (str(stage), str(rank_parameters(model, tp=tp, pp=pp, stage=stage))) for stage in range(pp)
    }
    assert printed == expected


def test_rank_counts_refuse_what_they_do_not_know():
    model = shapes.shapes()["Llama-3-8B"]
    with pytest.raises(ValueError, match="layers do not divide"):
        rank_parameters(model, tp=1, pp=5, stage=0)
    with pytest.raises(ValueError, match="stage 2 of 2"):
        rank_parameters(model, tp=1, pp=2, stage=2)
    with pytest.raises(ValueError, match="experts"):
        rank_parameters(shapes.shapes()["Mixtral-8x7B"], tp=1, pp=1, stage=0)


dense = st.sampled_from([name for name, model in shapes.shapes().items()
                         if model.experts is None and model.hybrid is None
                         and model.vocab % 128 == 0])  # fmt: skip


@given(name=dense)
def test_one_rank_holds_everything(name):
    model = shapes.shapes()[name]
    assert rank_parameters(model, tp=1, pp=1, stage=0) == parameters(model).total


@given(heads=st.integers(1, 64), size=st.integers(1, 32), layers=st.integers(1, 100),
       vocab=st.integers(1, 300_000), context=st.integers(1, 8192))  # fmt: skip
def test_closed_forms_of_gpt(heads, size, layers, vocab, context):
    hidden = heads * size * 4
    model = shapes.gpt(hidden=hidden, layers=layers, heads=heads, vocab=vocab, context=context)
    count = parameters(model)
    assert count.total == mosaic(hidden, layers, vocab, context)
    assert count.without_embedding == layers * gpt_layer(hidden) + 2 * hidden
    assert count.without_embedding == megatron_2021_old(hidden, layers, 1)
    flop = flop_formulas.megatron_2021_old(hidden, layers, 1, context)
    assert flop == 8 * context * count.without_embedding


def test_nonsense_is_refused():
    with pytest.raises(ValueError, match="64 heads over 7 kv heads"):
        shapes.llama(hidden=8192, layers=1, heads=64, kv_heads=7, ffn_hidden=1, vocab=1, context=1)
    with pytest.raises(ValueError, match="'batch' is not one of layer, rms"):
        shapes.Model(name="x", hidden=8, layers=1, heads=1, kv_heads=1, head_dim=8, ffn_hidden=8,
                     vocab=1, context=1, gated=True, norm="batch")  # fmt: skip


def test_a_file_of_ones_own(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        "[model.mine]\nstyle = 'llama'\nhidden = 64\nlayers = 2\nheads = 4\nffn_hidden = 128\n"
        "vocab = 256\ncontext = 128\nsource = 'here'\npublished = 1\n"
    )
    assert shapes.load(path)["mine"].head_dim == 16


NAMED = {
    "Llama3-3B": "Llama-3.2-3B", "LLaMA 33B": "Llama-33B", "Llama 8B": "Llama-3-8B",
    "Llama-1B": "Llama-3.2-1B", "Llama 3.1 8B (full weight)": "Llama-3-8B",
    "llama-13b": "Llama-2-13B", "Llama3-70B-FSDP": "Llama-3-70B",
    "Qwen2_5_7B": "Qwen2-7B", "Qwen2.5-0.5B": "Qwen2-0.5B", "Qwen3_30B_a3B": "Qwen3-30B-A3B",
    "Nemotron-15B": "Nemotron-4-15B", "Nemotron4-340B": "Nemotron-340B",
    "DeepSeek-R1-Distill-Llama-8B": "Llama-3-8B", "DeepSeek-R1-Distill-Qwen-7B": "Qwen2-7B",
    "gemma-2-9b-it": "Gemma-2-9B", "Gemma3-27B": "Gemma-3-27B",
    "Mistral-7B-v0.3": "Mistral-7B-v0.3",
    "mistralai/Mistral-7B-v0.1": "Mistral-7B", "Phi-3.5-mini": "Phi-3-mini", "GLM4-9B": "GLM-4-9B",
    "Llama-4-Maverick-17B-128E": "Llama-4-Maverick", "Command-R 35B": "Command-R-35B",
    "Nemotron-H 56B": "Nemotron-H-56B", "GPT-3 350M": "GPT-3-350M",
    "granite-3.1-8b": "Granite-3.0-8B",
}  # fmt: skip


@pytest.mark.parametrize("text", NAMED)
def test_names_as_people_write_them(text):
    assert shapes.resolve(text) == NAMED[text]


@pytest.mark.parametrize(
    "text", ["175B", "Llama3-21B", "DeepSeek V3 (16B)", "GPT 20B", "Qwen3-57B", "Gemma 3 9B"]
)
def test_names_of_no_known_shape(text):
    with pytest.raises(LookupError):
        shapes.resolve(text)
