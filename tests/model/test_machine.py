import random
from difflib import get_close_matches
from pathlib import Path

import pytest
from assay.model.machines import datasheets as facts
from assay.model.machines.dtypes import ITEMSIZE, dtype

USER_FILE = """
[machine.X1]
vendor = "Acme"
generation = "one"
peak.half = [1e15, "X1 sheet"]
memory_bandwidth = [2e12, "X1 sheet"]
memory_bytes = [96e9, "X1 sheet"]
sms = [64, "X1 sheet"]
l2_bytes = [1048576, "X1 sheet"]
"""


@pytest.mark.parametrize(
    ("name", "peak", "bandwidth"),
    [
        ("A100-80g", 312e12, 2039e9),
        ("H100", 989e12, 3352e9),
        ("H200", 989e12, 4800e9),
        ("B200", 2250e12, 8000e9),
    ],
)
def test_figures_of_the_scored_machines(name: str, peak: float, bandwidth: float) -> None:
    one = facts.machine(name)
    assert one.peak("bf16") == peak
    assert one.memory_bandwidth == bandwidth


def test_every_figure_has_a_source_and_only_node_facts_are_assumed() -> None:
    for one in facts.machines().values():
        for key, fact in one.facts.items():
            assert len(fact.source) > 10, (one.name, key)
            assert fact.origin == ("assumed" if key in {"gpus_per_node", "node_bandwidth"}
                                   else "datasheet")  # fmt: skip


def test_peaks_are_dense() -> None:
    # Halving the width at most doubles the rate; a sparse figure would stand at four times.
    for one in facts.machines().values():
        peaks = one.peaks
        for wide, narrow in (("tf32", "bf16"), ("bf16", "fp8"), ("bf16", "int8")):
            if wide in peaks and narrow in peaks:
                assert peaks[narrow] <= 2.05 * peaks[wide], one.name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a100_80gb", "A100-80g"),
        ("A100-SXM4-80GB", "A100-80g"),
        ("8xA100_80GB", "A100-80g"),
        ("8x A100-SXM4-40GB", "A100-40g"),
        ("NVIDIA A100 80GB PCIe", "A100-PCIe-80g"),
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("h100_sxm", "H100"),
        ("NVIDIA H100 PCIe", "H100-PCIe"),
        ("Tesla V100-SXM2-32GB", "V100-32g"),
        ("GB200 NVL72", "GB200"),
        ("AMD Instinct MI300X", "MI300X"),
        ("AMD Instinct MI355X OAM", "MI355X"),
        ("NVIDIA H20", "H20"),
        ("NVIDIA H20-3e", "H20-3e"),
        ("8xH200", "H200"),
        ("NVIDIA GH200 480GB", "GH200"),
        ("NVIDIA H100 NVL", "H100-NVL"),
        ("NVIDIA A800 80GB PCIe", "A800-PCIe-80g"),
        ("GB200 NVL4", "GB200-NVL4"),
        ("NVIDIA GB300 NVL72", "GB300"),
        ("NVIDIA GeForce RTX 5090", "RTX-5090"),
        ("NVIDIA RTX 6000 Ada Generation", "RTX-6000-Ada"),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "RTX-PRO-6000"),
        ("AMD Instinct MI250X (GCD)", "MI250X"),
        ("Intel Gaudi 2", "Gaudi2"),
        ("HL-325L", "Gaudi3"),
        ("trn2.48xlarge", "Trainium2"),
        ("TPU v5 lite", "TPU-v5e"),
        ("Trillium", "TPU-v6e"),
        ("TPU7x", "TPU-v7"),
        ("Ascend 910B3", "Ascend-910B"),
        ("Intel Data Center GPU Max 1550", "Max-1550"),
    ],
)
def test_spellings(text: str, name: str) -> None:
    assert facts.resolve(text) == name


@pytest.mark.parametrize("name", list(facts.machines()))
def test_every_name_means_itself(name: str) -> None:
    assert facts.resolve(name) == name
    assert facts.resolve(name.lower()) == name


def test_a_size_is_not_guessed() -> None:
    with pytest.raises(LookupError, match="A100-40g or A100-80g"):
        facts.resolve("A100")


@pytest.mark.parametrize(
    "text", ["A100X", "RTX 1080", "H100-94GB", "RTX 3090 Ti", "Ascend 910B2", "", "A100 or H100"]
)
def test_unknown_machines_are_refused_with_what_would_work(text: str) -> None:
    with pytest.raises(LookupError, match="--machines FILE adds others"):
        facts.resolve(text)


def test_names_alike_are_those_that_difflib_finds() -> None:
    drawn, names = random.Random(3), list(facts.machines())
    for _ in range(300):
        text = list(drawn.choice(names))
        for _ in range(drawn.randint(0, 5)):
            text[drawn.randrange(len(text))] = drawn.choice("ABHX013-")
        word = "".join(text)
        assert facts.machines().alike(word) == get_close_matches(word, names, cutoff=0.6)


def test_a_name_that_is_nearly_one_is_told_it() -> None:
    with pytest.raises(LookupError, match=r"called 'TPU v5q'; near it: TPU-v5"):
        facts.resolve("TPU v5q")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("bfloat16", "bf16"),
        ("amp_bf16", "bf16"),
        ("bf16xbf16->bf16", "bf16"),
        ("bf16xbf16->f32", "bf16"),
        ("torch.float16", "fp16"),
        ("half", "fp16"),
        ("fp8_e4m3", "fp8"),
        ("float8_e4m3fn", "fp8"),
        ("f8e4m3fnxf8e4m3fn->bf16", "fp8"),
        ("float32", "fp32"),
        ("TF32", "tf32"),
        ("int8", "int8"),
    ],
)
def test_dtype_spellings(text: str, name: str) -> None:
    assert dtype(text) == name
    assert name in ITEMSIZE


@pytest.mark.parametrize("text", ["bf17", "bf16xfp8->bf16", ""])
def test_unknown_dtypes_are_refused(text: str) -> None:
    with pytest.raises(LookupError):
        dtype(text)


def test_a_user_adds_a_machine(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(USER_FILE)
    mine = facts.load(path)
    one = facts.machine("Acme X1", mine)
    assert one.peak("fp16") == 1e15
    assert one.link_bandwidth is None
    with pytest.raises(LookupError, match="it has fp16"):
        one.peak("fp8")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("memory_bytes = [96e9", "memory_byte = [96e9"), "lacks memory_bytes"),
        (('[2e12, "X1 sheet"]', "2e12"), "memory_bandwidth must be"),
        (("[64,", "[-64,"), "must be positive"),
        (('[2e12, "X1 sheet"]', '[2000, "X1 sheet"]'), "memory_bandwidth must be in flop/s or B/s"),
        (('vendor = "Acme"', 'maker = "Acme"'), "has maker"),
        (('peak.half = [1e15, "X1 sheet"]', ""), "lacks peak"),
    ],
)
def test_a_bad_machine_file_says_what_is_wrong(
    tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(USER_FILE.replace(*change))
    with pytest.raises(ValueError, match=message):
        facts.load(path)
