"""The measuring example, with a stand-in for PyTorch: its output is what assay reads."""

from __future__ import annotations

import importlib.util
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from assay.ingest.inputs.read import read

from .conftest import ROOT


class Event:
    def __init__(self, enable_timing: bool = False) -> None: ...
    def record(self) -> None: ...
    def elapsed_time(self, _: object) -> float:
        return 0.5


class Tensor:
    def __getitem__(self, _: object) -> Tensor:
        return self

    def zero_(self) -> None: ...


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Any:
    torch: Any = types.ModuleType("torch")
    torch.bfloat16 = torch.float16 = torch.float32 = torch.int8 = object()
    torch.empty = torch.randn = lambda *_, **__: Tensor()
    torch.matmul = lambda *_: None
    torch.cuda = types.SimpleNamespace(
        Event=Event, synchronize=lambda: None, is_available=lambda: True,
        get_device_name=lambda _: "NVIDIA H100 80GB HBM3",
    )  # fmt: skip
    fused = types.SimpleNamespace(scaled_dot_product_attention=lambda *_, **__: None)
    torch.nn = types.SimpleNamespace(functional=fused)
    monkeypatch.setitem(sys.modules, "torch", torch)
    spec = importlib.util.spec_from_file_location("measure", ROOT / "examples/measure_gemm.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("form", ["csv", "lines"])
def test_what_it_prints_is_read(
    example: Any, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(sys, "argv", ["measure", "--format", form, "--repeats", "1"])
    monkeypatch.setattr(example, "SIZES", (512, 1024))
    example.main()
    path = tmp_path / f"a.{form}"
    path.write_text(capsys.readouterr().out)
    outcome = read([path])
    account = outcome.reading.accounting[0]
    assert account.refused == account.not_ours == 0
    products = outcome.reading.frames["gemm_table"]
    assert {512, 1024} <= set(products["k"])
    if form == "csv":
        assert set(products["gpu"]) == {"NVIDIA H100 80GB HBM3"}
        assert {100, 150} <= set(products["k"]) | set(products["n"])
        assert outcome.reading.frames["attention_table"].height > 10


def test_it_says_what_is_missing(example: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["measure"])
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(SystemExit, match="needs PyTorch"):
        example.main()
