"""Nothing that is written with --redact says who, where, or with which key."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from assay.ingest.inputs.read import read
from assay.ingest.redact import secrets
from assay.ingest.redact.redact import Redactor

from tests.cli.conftest import IRON, TABLE, Run
from tests.conftest import FIXTURES

PLANTED = (
    "quimby", "gpu-rack-17", "gpu-rack-18", "10.20.30.41", "10.20.30.42", "fe80::1ff:fe23:4567",
    "quimby.z@springfield.edu", "hf_QwErTyUiOpAsDfGhJkLz", "AKIAQWERTYUIOPASDFGH", "s3cr3tv4lue",
    "deadbeef0123456789deadbeef0123456789dead", "b34r3r-t0k3n", "AAAAB3NzaC1yc2EAAAADAQABAAAB",
    "hunter2pass", "aa:bb:cc:dd:ee:0f",
)  # fmt: skip

LINE = IRON.format(n="{n}", s="{s}").strip()


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A job's folder in somebody's home, with a name or a key wherever one can stand."""
    home = tmp_path / "home" / "quimby" / "runs-of-quimby"
    home.mkdir(parents=True)
    lines = [
        "------------------------ arguments ------------------------",
        "  data_path ....................................... /home/quimby/data/text",
        "  global_batch_size ............................... 4",
        "  master_addr ..................................... gpu-rack-17.springfield.edu",
        "  hidden_size ..................................... 1024",
        "  num_layers ...................................... 24",
        "  user ............................................ quimby",
        "  wandb_api_key ............................... deadbeef0123456789deadbeef0123456789dead",
        "  hub_token ....................................... hf_QwErTyUiOpAsDfGhJkLz",
        "  save .................................... s3://AKIAQWERTYUIOPASDFGH:hunter2pass@b/x",
        "-------------------- end of arguments ---------------------",
        f"[gpu-rack-17:0]: {LINE.format(n=1, s=4)}",
        f"[gpu-rack-18:1]: {LINE.format(n=2, s=8)} note: token=s3cr3tv4lue |",
        f"10.20.30.41: {LINE.format(n=3, s=12)} mail: quimby.z@springfield.edu |",
        f"10.20.30.42: {LINE.format(n=4, s=16)} peer: fe80::1ff:fe23:4567 |",
        # refused: the value of a known label is no number, and the rest of the line is kept
        f"[gpu-rack-18:1]: {LINE.format(n='x5', s=20)} seen: quimby@gpu-rack-17:~/x |",
        f"{LINE.format(n=6, s='many')} h: Authorization: Bearer b34r3r-t0k3n |",
        f"{LINE.format(n=7, s='many')} k: ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAB quimby |",
        f"{LINE.format(n=8, s='many')} m: aa:bb:cc:dd:ee:0f on gpu-rack-18 |",
    ]
    (home / "quimby.log").write_text("\n".join(lines) + "\n")
    (home / "table.md").write_text(TABLE + "| 8 | 8 | 1 | 1 | 1 | 64 | quimby | 1 | 2 | 3 |\n")
    (home / "table.toml").write_text('[configuration]\nmodel = "/home/quimby/ckpt"\n')
    return home


def written(folder: Path) -> bytes:
    """Every byte below a folder, names included; Parquet columns are taken out of their pages."""
    parts = []
    for path in sorted(folder.rglob("*")):
        parts.append(path.name.encode())
        if path.is_file():
            parts.append(path.read_bytes())
        if path.suffix == ".parquet":
            parts += [
                text if isinstance(text, bytes) else json.dumps(text, default=repr).encode()
                for column in pl.read_parquet(path)
                for text in column.unique()
            ]
    return b"\n".join(parts)


def clean(text: bytes | str) -> None:
    data = text.encode() if isinstance(text, str) else text
    for secret in PLANTED:
        assert secret.encode() not in data, data[max(0, data.index(secret.encode()) - 200) :][:300]


def test_the_secrets_are_there_without_redaction(assay: Run, planted: Path, tmp_path: Path) -> None:
    assert assay("ingest", planted, "-o", tmp_path / "out", "--max-bad", "90%").code == 0
    data = written(tmp_path / "out")
    missing = [secret for secret in PLANTED if secret.encode() not in data]
    assert not missing


def test_an_ingested_folder_holds_no_secret(assay: Run, planted: Path, tmp_path: Path) -> None:
    done = assay("ingest", planted, "-o", tmp_path / "out", "--max-bad", "90%", "--redact")
    assert done.code == 0, done.err
    clean(written(tmp_path / "out"))
    clean(done.err)
    rows = pl.read_parquet(tmp_path / "out" / "megatron_iteration.parquet")
    assert rows["host"].drop_nulls().to_list() == ["host-3", "host-4", "host-1", "host-2"]
    plain = read([planted]).reading
    saved = read([tmp_path / "out"]).reading
    assert saved.frames.keys() == plain.frames.keys()
    for name, frame in plain.frames.items():
        numbers = [column for column, dtype in frame.schema.items() if dtype.is_numeric()]
        assert saved.frames[name].select(numbers).equals(frame.select(numbers))


@pytest.mark.parametrize("to", ["csv", "ndjson"])
def test_an_export_holds_no_secret(assay: Run, planted: Path, tmp_path: Path, to: str) -> None:
    done = assay(
        "export", planted, "-o", tmp_path / "out", "--to", to, "--max-bad", "90%", "--redact"
    )
    assert done.code == 0, done.err
    clean(written(tmp_path / "out"))


def test_a_report_holds_no_secret(assay: Run, planted: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    options = [each for name in ("a.md", "a.json", "a.html") for each in ("-o", out / name)]
    done = assay("report", planted, *options, "--redact", "--junit", out / "junit.xml",
                 "--max-mape", "1%", "--machine", "A100-80g")  # fmt: skip
    assert done.code == 4, done.err
    clean(written(out))
    clean(done.out)
    clean(done.err)
    assert "user-1" in (out / "a.md").read_text()


def test_findings_hold_no_secret(assay: Run, planted: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for options in ([], ["--json"], ["--sarif", out / "a.sarif"],
                    ["--write-baseline", out / "b.toml"]):  # fmt: skip
        done = assay("check", planted, "--severity", "note", "--redact", *options)
        clean(done.out)
        clean(done.err)
    clean(written(out))


@pytest.mark.parametrize(
    "text",
    [
        "nccl 2.18.3.1", "torch==2.1.0.1", "driver version: 535.104.05.01", "127.0.0.1",
        "token=512", "tokens=4096 max_tokens: 12", "eos_token='</s>'", "12:30:45", "c10::Error",
        "layers.0.mlp.weight", "commit=deadbeef0123456789deadbeef0123456789dead", "A100-SXM4-80GB",
        "time per token: 0.12 ms", "iteration 7/ 9 | lm loss: 6.1E+00 |", "std::vector",
        "sort-key=time", "host: 12", "kv_key=3", "token_dropping: False",
        "layer1: 3", "gpu0: 12", "[default7]:", "user 1m3.4s", "6.1e+00", "fp8@H100",
    ],
)  # fmt: skip
def test_numbers_and_labels_are_left(text: str) -> None:
    assert Redactor(text).text(text) == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("C:\\Users\\quimby\\x", "C:\\Users\\user-1\\x"),
        ("https://quimby:hunter2pass@git.x.org/a", "https://user-1:secret-1@git.x.org/a"),
        ("Rank 3 Pid 12 on nid001234 device 3", "Rank 3 Pid 12 on host-1 device 3"),
        ("ssh quimby@gpu-rack-17:~/x", "ssh user-1@host-1:~/x"),
        ("ip-10-0-1-2.ec2.internal up", "host-1 up"),
        ("--token s3cr3tv4lue", "--token secret-1"),
        ("AZURE_STORAGE_KEY=ab/d+==", "AZURE_STORAGE_KEY=secret-1"),
        ("SLURM_JOB_NODELIST=gpu-a-[7,8]", "SLURM_JOB_NODELIST=host-1"),
        ("node001: iteration 1 | lm loss: 2", "host-1: iteration 1 | lm loss: 2"),
        ("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA quimby@box", "secret-1"),
        ("Namespace(user='quimby', lr=0.1)", "Namespace(user='user-1', lr=0.1)"),
        ("a 10.20.30.41:6000 b", "a ip-1:6000 b"),
        ("log-10.20.30.41.txt per10.20.30.41_0", "log-ip-1.txt perip-1_0"),
        ("https://wandb.ai/quimby/p", "https://wandb.ai/user-1/p"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc", "secret-1"),
    ],
)
def test_what_stands_for_what(text: str, said: str) -> None:
    assert Redactor(text).text(text) == said


def test_pseudonyms_are_consistent_and_new() -> None:
    """Whatever the order, the same name has the same pseudonym; one that stands there is not taken.

    A host is one host by its short name and by its long one.
    """
    texts = ["host-1 and /home/zed/x", "[n-7.lab.edu:0]: hi", "MASTER_ADDR=n-7", "/home/ada/zed"]
    one, other = Redactor(texts), Redactor(texts[::-1])
    said = [one.text(text) for text in texts]
    assert said == [other.text(text) for text in texts]
    assert said == ["host-1 and /home/user-2/x", "[host-2:0]: hi", "MASTER_ADDR=host-2",
                    "/home/user-1/user-2"]  # fmt: skip


SAMPLES = ("arguments", "deepspeed", "gemm_table", "markdown_table", "megatron_iteration",
           "nccl_tests", "step_rate", "ulysses_trace")  # fmt: skip


def test_samples_of_formats_lose_their_hosts_and_nothing_else() -> None:
    reading = read([FIXTURES / name for name in SAMPLES]).reading
    hidden = Redactor(reading).redacted(reading)
    for name, frame in reading.frames.items():
        assert hidden.frames[name].drop("host").equals(frame.drop("host")), name
        hosts = frame["host"].is_not_null()
        assert hidden.frames[name]["host"].is_not_null().equals(hosts)
    assert hidden.provenance.equals(reading.provenance)


def test_redacting_twice_changes_nothing_more(planted: Path) -> None:
    once = Redactor(reading := read([planted]).reading).redacted(reading)
    twice = Redactor(once).redacted(once)
    assert twice.refused == once.refused
    assert twice.raw == once.raw
    for name, frame in once.frames.items():
        assert twice.frames[name].equals(frame)


def test_what_names_nobody_is_the_same_object(log: Path) -> None:
    frame = read([log]).reading.frames["megatron_iteration"].drop("source")
    assert Redactor(frame).redacted(frame) is frame


def test_every_category_has_a_pseudonym() -> None:
    assert {pattern.category for pattern in secrets.PATTERNS} <= set(secrets.CATEGORIES)
