"""Networks that documents print, as the cards of a node: what a bare rate is of."""

import polars as pl
import pytest
from assay.validate.cases.programs import with_networks
from assay.validate.score.assess import assess

PRINTED = [
    ("InfiniBand HDR 200 Gb/s (per GPU", "H100", 8, 200e9),
    ("4 * 100Gb RoCE", "A100-80g", 8, 50e9),
    ("1600 Gbps node-node interconnect", "A100-40g", 8, 200e9),
    ("InfiniBand 200 Gb/s", "A100-80g", 8, 200e9),  # the card that each of a DGX's has
    ("200 Gb/s InfiniBand", "H100", 8, 200e9),
    ("InfiniBand 100 Gb/sec", "V100-16g", 8, 12.5e9),  # no such card for each
    ("100 Gb/s Ethernet", "A100-80g", 8, 12.5e9),
    ("400 Gbps EFA", "A100-40g", 8, 50e9),  # more than its card: of all
    ("3.2 Tb/s EFA", "H100", 8, 400e9),
    ("400 Gb/s InfiniBand per GPU", "GB200", None, 3600e9),
    ("4x 400 Gb/s InfiniBand", "GB200", None, 3600e9),  # of a tray of four
    ("NVLink 900 GB/s", "H100", 8, None),
]


@pytest.mark.parametrize(("text", "machine", "node", "cards"), PRINTED)
def test_the_cards_of_a_node(text, machine, node, cards):
    types = {"network": pl.String, "machine": pl.String, "gpus_per_node": pl.Int64,
             "node_bandwidth": pl.Float64}  # fmt: skip
    wide = pl.DataFrame([(text, machine, node, None)], types, orient="row")
    assert with_networks(wide)["node_bandwidth"].to_list() == [cards]


def test_a_slower_network_slows_what_is_sharded_over_it(tmp_path):
    text = (
        "# Llama-2-7B on A100-SXM4-80GB, bf16\n\n{}\n\n"
        "| GPUs | ZeRO | Micro batch size | Sequence length | Tokens/s/GPU |\n"
        "|---|---|---|---|---|\n| 32 | 3 | 1 | 2048 | 2000 |\n"
    )
    found = []
    for line in (
        "Nodes are connected by 8x 200 Gb/s InfiniBand.",
        "100 Gb/s Ethernet between nodes.",
    ):
        path = tmp_path / "a.md"
        path.write_text(text.format(line), encoding="utf-8")
        pairs = assess([path]).comparison.pairs.filter(pl.col("model") == "step")
        found += pairs["predicted"].to_list()
    assert found[0] > 1.5 * found[1]
