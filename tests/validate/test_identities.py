"""Arithmetic of printed numbers: which formula, which unknowns, which contradictions."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import polars as pl
import pytest
from assay.validate.arithmetic.identity_check import equal, units_off
from assay.validate.cases.solved_shape import shape
from assay.validate.report import markdown
from assay.validate.report.figures import arithmetic
from assay.validate.score.assess import Report, assess

from tests.conftest import FIXTURES, mostly_slow

PREQUEL = FIXTURES / "markdown_table" / "bloom_prequel.md"
MOSAIC = FIXTURES / "markdown_table" / "mosaic_2022.md"


@cache
def report(path: Path, machine: str | None = None) -> Report:
    return assess([path], machine=machine, models=["constant_mfu"])


def lines(frame: pl.DataFrame) -> list[int]:
    return frame["line"].to_list() if "line" in frame.columns else _lines(frame["case"])


def _lines(cases: pl.Series) -> list[int]:
    return sorted(int(case.rpartition("#")[2]) for case in cases)


def prequel_rates(found: Report) -> None:
    """98 rates with a time: 93 follow under one of two formulas, five do not."""
    rates = found.checks.filter(pl.col("quantity") == "model_flops_rate")
    assert rates.height == 98
    same = rates.filter(equal() & ~pl.col("exchanged"))
    assert same.height == 93
    missed = rates.filter(~equal() | pl.col("exchanged")).with_columns(off=units_off())
    assert lines(missed) == [46, 329, 330, 331, 340]
    assert missed["off"][0] == 1
    assert missed["exchanged"].to_list() == [False, False, False, False, True]
    ratio = (missed["printed"] / missed["implied"]).to_list()
    assert ratio[1:4] == pytest.approx([0.25] * 3, rel=1e-4)
    formulas = dict(same.select("line", "formula_id").iter_rows())
    assert formulas[257] == formulas[341] == "megatron-2021-old"
    assert formulas[278] == formulas[482] == "narayanan-eq3"
    assert set(formulas.values()) == {"megatron-2021-old", "narayanan-eq3"}


def test_the_prequels_rates() -> None:
    prequel_rates(report(PREQUEL))


@pytest.mark.parametrize("machine", mostly_slow([None, "A100-80g"], 2))
def test_the_prequel_as_published(corpus: Path, machine: str | None) -> None:
    (path,) = (corpus / "corpus" / "seeds").glob("002_*.txt")
    prequel_rates(report(path, machine))


def test_layers_follow_from_rates_and_are_marked() -> None:
    found = report(PREQUEL)
    origins = found.cases.origins.filter(
        (pl.col("name") == "layers") & (pl.col("value_origin") == "solved")
    )
    held = dict(zip(_lines(origins["case"]), origins.sort("case")["value"], strict=True))
    assert len(held) == 33
    wide = found.cases.configuration
    layers = dict(wide.select("line", "layers").iter_rows())
    assert [layers[line] for line in (147, 149, 150, 152, 154, 155, 254)] == [
        80, 78, 77, 81, 77, 72, 80,
    ]  # fmt: skip
    assert layers[121] is None, "no time, no layers"


def test_a_number_that_made_its_own_case_is_not_scored() -> None:
    found = report(PREQUEL)
    consumed = dict(found.cases.configuration.select("line", "consumed").iter_rows())
    assert consumed[150] == ["model_flops_rate", "step_time"], "the only row of 191B"
    assert consumed[180] == ["model_flops_rate"], "other rows of 194B say the same"
    assert consumed[278] == []
    scored = set(found.scored.filter(pl.col("quantity") == "step_time")["line"])
    assert 180 in scored
    assert scored.isdisjoint({150, 152})


def test_the_vocabulary_that_rates_single_out() -> None:
    found = report(PREQUEL)
    assert set(found.cases.configuration["vocab"].drop_nulls()) == {250880}
    laws = found.cases.origins.filter(pl.col("name") == "vocab")
    assert set(laws["value_origin"]) == {"solved"}


def test_corrections_are_applied_when_asked() -> None:
    plain = report(PREQUEL).cases.configuration.filter(pl.col("line") == 319).row(0, named=True)
    assert (plain["gpus"], plain["dp"], plain["tp"], plain["pp"]) == (320, 8, 8, 10)
    found = assess([PREQUEL], apply_corrections=True, models=["constant_mfu"])
    row = found.cases.configuration.filter(pl.col("line") == 319).row(0, named=True)
    assert (row["gpus"], row["dp"], row["tp"], row["pp"]) == (320, 4, 8, 10)
    marked = found.cases.origins.filter(pl.col("value_origin") == "corrected")
    assert set(zip(_lines(marked["case"]), marked.sort("case")["name"], strict=True)) == {
        (319, "dp"), (329, "global_batch"), (330, "global_batch"), (331, "global_batch"),
    }  # fmt: skip
    exchanged = found.observations.filter(pl.col("line") == 340)
    assert dict(exchanged.select("quantity", "value").iter_rows())["step_time"] == 134.02
    assert {319, 329, 330, 331} <= set(found.scored["line"])


def test_rows_that_contradict_themselves_are_not_scored() -> None:
    found = report(PREQUEL)
    wrong = {319, 329, 330, 331, 340}
    assert set(_lines(found.contradicted["case"])) == wrong
    assert set(found.scored["line"]).isdisjoint(wrong)
    kept = assess([PREQUEL], keep_contradicted=True, models=["constant_mfu"])
    assert {319, 329, 330, 331} <= set(kept.scored["line"])
    assert kept.contradicted.is_empty()


def test_repeats_are_no_second_measurement() -> None:
    found = report(PREQUEL)
    again = found.repeats.filter(how="again")
    assert _lines(again["case"]) == [168, 169, 170, 171, 179, 188, 197, 206, 253, 410, 422, 431]
    (exchanged,) = found.repeats.filter(how="exchanged").iter_rows(named=True)
    assert exchanged["case"].endswith("#340")
    assert exchanged["of"].endswith("#279")
    assert set(found.scored["line"]).isdisjoint(_lines(again["case"]))


def mosaic_cells(found: Report) -> None:
    cells = found.checks.filter(
        pl.col("quantity").is_in(["mfu", "hfu", "mfu_weights", "hfu_weights"])
    )
    assert cells.height == 348
    assert cells.filter(equal()).height == 348
    assert set(cells["formula_id"]) == {
        "mosaic-2022.mfu", "mosaic-2022.hfu", "mosaic-2022.mfu*", "mosaic-2022.hfu*",
    }  # fmt: skip
    assert set(cells["peak_flops"]) == {312e12}
    assert found.cases.configuration["hidden"].null_count() == 0, "87 of 87 parameter counts"
    assert found.cases.configuration.height == 87


def test_mosaics_utilisations() -> None:
    mosaic_cells(report(MOSAIC))


def test_mosaic_as_published(corpus: Path) -> None:
    (path,) = (corpus / "corpus" / "seeds").glob("004_*.txt")
    mosaic_cells(report(path))


def test_mosaics_later_formula_is_told_apart(corpus: Path) -> None:
    found = report(corpus / "corpus" / "mfu_table" / "mosaic_2023_tables.md")
    cells = found.checks.filter(pl.col("quantity").is_in(["mfu", "hfu"]))
    assert cells.height > 100
    assert set(cells["formula_id"]) == {"mosaic-2023.mfu", "mosaic-2023.hfu"}
    assert cells.filter(equal()).height == cells.height


def test_a_shape_is_inferred_from_a_count_or_not_at_all() -> None:
    assert shape(124439808, 1024) == (768, 12, 50257)
    assert shape(124439809, 1024) is None


def test_another_document_with_other_values(tmp_path: Path) -> None:
    """The same laws on numbers made here: h 6144, 44 layers by rate, one row off.

    Another table, whose layers are told, says which formula the rates are by.
    """
    from assay.model.formulas.flop_formulas import narayanan_eq3

    def row(layers: int, told: str, nodes: int, seconds: float) -> str:
        rate = narayanan_eq3(6144, layers, 4096, 51200) * 1024 / (seconds * nodes * 8) / 1e12
        return f"| {nodes} | {nodes} | 8 | 1 | 2 | 1024 | {told} | {seconds:.2f} | {rate:.2f} |"

    rows = [row(44, "", *run) for run in ((8, 30.25), (16, 15.75), (32, 8.5))]
    rows[2] = rows[2].replace("8.50", "9.50")
    told = [row(n, str(n), 8, s) for n, s in ((20, 15.31), (30, 22.77), (52, 36.43))]
    head = (
        "| Nodes | DP | TP | PP | MBS | GBS | Layers | Sec/it | TFLOPs |\n"
        "| - | - | - | - | - | - | - | - | - |\n"
    )
    path = tmp_path / "other.md"
    path.write_text(
        "NHIDDEN=6144 / SEQ_LEN=4096 / VOCAB_LENGTH=51200\n\n"
        f"{head}" + "\n".join(told) + f"\n\n{head}" + "\n".join(rows) + "\n"
    )
    found = assess([path])
    wide = found.cases.configuration
    assert wide["layers"].to_list() == [20, 30, 52, 44, 44, 44]
    assert wide["gpus"].to_list() == [64, 64, 64, 64, 128, 256]
    rates = found.checks.filter(pl.col("quantity") == "model_flops_rate")
    assert set(rates["formula_id"]) == {"narayanan-eq3"}
    assert rates.filter(equal()).height == 5


def test_a_public_name_has_its_published_shape(corpus: Path) -> None:
    found = report(corpus / "corpus" / "mfu_table" / "megatron_llama_tables.md")
    wide = found.cases.configuration
    assert wide["hidden"].to_list() == [4096, 8192, 16384]
    assert wide["kv_heads"].to_list() == [8, 8, 8]
    origins = found.cases.origins.filter(pl.col("name") == "hidden")
    assert set(origins["value_origin"]) == {"assumed"}
    rates = found.checks.filter(pl.col("quantity") == "model_flops_rate")
    assert set(rates["formula_id"]) == {"megatron-core.gated.gqa.dense.full"}
    assert rates.filter(equal()).height == 2


def test_a_name_that_contradicts_its_row_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "odd.md"
    path.write_text(
        "| Model | NHIDDEN | NLAYERS | Sec/it |\n| - | - | - | - |\n"
        "| LLAMA3-8B | 4096 | 33 | 5.0 |\n| LLAMA3-8B | 4096 | | 5.0 |\n"
    )
    wide = assess([path]).cases.configuration
    assert wide["heads"].to_list() == [None, 32]
    assert wide["layers"].to_list() == [33, 32]


def test_a_machine_is_all_that_the_prequel_needs(tmp_path: Path) -> None:
    """Without a side file: recomputation by the formula of the rates, 16 bits by default."""
    (tmp_path / "prequel.md").write_text(PREQUEL.read_text())
    found = assess([tmp_path / "prequel.md"], machine="A100-80g", models=["constant_mfu"])
    wide = found.cases.configuration
    assert set(wide["recompute"]) == {"full"}
    assert wide["dtype"].null_count() == 0
    origins = found.cases.origins.filter(pl.col("name") == "recompute")
    counts = dict(origins.group_by("value_origin").len().iter_rows())
    assert counts == {"solved": 55, "assumed": 61}
    assert found.scored.height == report(PREQUEL).scored.filter(
        pl.col("model") == "constant_mfu"
    ).height  # fmt: skip


def test_nothing_is_assumed_without_a_machine(tmp_path: Path) -> None:
    (tmp_path / "mosaic.md").write_text("\n".join(
        line for line in PREQUEL.read_text().splitlines() if "02-20" in line or "---" in line
    ))  # fmt: skip
    wide = assess([tmp_path / "mosaic.md"]).cases.configuration
    assert wide["dtype"].null_count() == wide.height
    assert wide["recompute"].null_count() == wide.height


UNKNOWN = """\
| GPUs | SEQ_LEN | NHIDDEN | NLAYERS | VOCAB | TP | GBS | Sec/it | TFLOPs |
| - | - | - | - | - | - | - | - | - |
| 64 | 2048 | 4096 | 32 | 50304 | 4 | 512 | 12.31 | 71.3 |
| 128 | 2048 | 4096 | 32 | 50304 | 4 | 512 | 6.47 | 69.9 |
| 256 | 2048 | 4096 | 32 | 50304 | 4 | 512 | 3.57 | 66.4 |
"""


def test_a_table_that_follows_no_known_formula_is_told_so(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(UNKNOWN)
    found = assess([path])
    assert found.checks.filter(equal()).is_empty()
    section = arithmetic(found)
    assert section is not None
    text = markdown.render([section])
    assert "none of 5; nearest narayanan-eq3, printed 3.3 % below it" in text
    assert text.count("nearest: narayanan-eq3") == 3
    assert found.findings == []
