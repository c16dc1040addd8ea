"""The Python interface gives what the commands give, and its page is what its docstrings say."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from assay.validate import api
from assay.validate.cli.api_page import page

from tests.conftest import FIXTURES, ROOT

LOG = FIXTURES / "megatron_iteration" / "bloom_176b.log"
GEMM = FIXTURES / "gemm_table" / "microbenchmark.log"
HOSTILE = (
    "| TP | Sec/it | Notes |\n|----|----|----|\n| 8 | 1.5 | <script>alert(1)</script> <script x |\n"
)


def test_the_page_is_up_to_date() -> None:
    said = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert said == page(), "run: python -m assay.validate.cli.api_page > docs/api.md"
    for name in api.__all__:
        assert f"`{name}`" in said


@pytest.fixture(scope="module")
def reported() -> api.Compared:
    return api.report(LOG)


def test_a_report_is_that_of_the_command(reported: api.Compared) -> None:
    from assay.validate.cli import app
    from typer.testing import CliRunner

    done = CliRunner().invoke(app, ["report", str(LOG), "--json"])
    assert json.loads(done.stdout) == json.loads(json.dumps(reported.document()))


def test_steps_one_by_one_give_the_report(reported: api.Compared) -> None:
    found = api.read(LOG)
    one, other = api.compare(found, api.predict(found)), reported
    assert one.document() == other.document() == api.compare(found).document()


def test_a_report_is_saved(tmp_path: Path) -> None:
    found = api.report(GEMM, machine="H100", models=["roofline"])
    found.save(tmp_path / "a.json")
    found.save(tmp_path / "a.md")
    assert json.loads((tmp_path / "a.json").read_text())["sources"][0]["lines"] == 7
    assert (tmp_path / "a.md").read_text() == found.markdown()
    found.save(tmp_path / "a.html")
    assert "roofline" in (tmp_path / "a.html").read_text()
    with pytest.raises(ValueError, match=r"\.json, \.md, \.html"):
        found.save(tmp_path / "a.txt")


def test_forecasts_of_a_mapping_a_file_and_a_reading_agree(tmp_path: Path) -> None:
    run = {"model": "llama-2-7b", "gpus": 8, "tp": 1, "pp": 1, "global_batch": 128,
           "micro_batch": 1, "seq_len": 4096, "dtype": "bf16", "zero_stage": 1}  # fmt: skip
    path = tmp_path / "run.toml"
    path.write_text("\n".join(f"{key} = {json.dumps(value)}" for key, value in run.items()))
    one, other = api.forecast(run, "H100"), api.forecast(path, "H100")
    assert one.drop("case").equals(other.drop("case"))
    parts = [name for name in one.columns if name.startswith("spent_")]
    assert one.select(pl.sum_horizontal(parts)).item() == pytest.approx(one["step_time"][0])
    rows = api.forecast(api.read(LOG), "A100-80g")
    assert rows["machine"].to_list() == ["A100-80g"] * rows.height
    with pytest.raises(api.Unpredictable, match="lacks"):
        api.forecast({"hidden": 64}, "H100")


def test_nothing_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello\n")
    with pytest.raises(api.NothingRead, match="recognised 0 of 1 line"):
        api.read(tmp_path / "a.txt")
    with pytest.raises(api.NothingRead, match="cannot be read"):
        api.read(tmp_path / "none.log")
    with pytest.raises(LookupError, match="`assay machines` lists"):
        api.read(LOG, machine="abacus")
    with pytest.raises(LookupError, match="roofline"):
        api.report(LOG, models=["crystal-ball"])
    with pytest.raises(KeyError, match="megatron_iteration"):
        api.read(LOG)["nope"]


def test_predictions_that_do_not_fit_are_refused() -> None:
    found = api.read(GEMM, machine="H100")
    with pytest.raises(api.Unjoinable, match="value"):
        api.compare(found, pl.DataFrame({"line": [2], "quantity": ["time"]}))
    own = pl.DataFrame({"line": [99], "quantity": ["time"], "value": [1.0], "unit": ["s"]})
    with pytest.raises(api.Unjoinable, match="fits no case"):
        api.compare(found, own)


def test_notebooks_show_text_of_inputs_as_text(tmp_path: Path) -> None:
    name = tmp_path / "<img src=x onerror=alert(1)>.md"
    name.write_text(HOSTILE)
    found = api.read(name, GEMM, machine="H100")
    shown = found._repr_html_() + api.compare(found)._repr_html_()
    shown += found["markdown_table"]._repr_html_()
    assert "<script" not in shown
    assert "<img" not in shown
    assert "&lt;script" in shown
    assert repr(found).startswith("Read(")


def test_a_redacted_reading_names_nobody(tmp_path: Path) -> None:
    home = tmp_path / "home" / "quimby"
    home.mkdir(parents=True)
    lines = LOG.read_text().splitlines(keepends=True)
    (home / "quimby.log").write_text("".join(f"10.2.3.4: {line}" for line in lines))
    found = api.read(home, redact=True)
    for frame in found.frames.values():
        text = str(frame.to_dicts())
        assert "quimby" not in text
        assert "10.2.3.4" not in text
    assert set(found["megatron_iteration"]["host"]) == {"host-1"}


def test_a_list_of_paths_is_no_path() -> None:
    with pytest.raises(TypeError, match="not list"):
        api.read([FIXTURES])  # type: ignore[arg-type]
