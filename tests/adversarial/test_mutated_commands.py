"""Damaged files of every format through the command, under limits of time and memory.

`make test-slow` tries 5,000 and prints what became of them; a few are tried with the other tests.
`python -m tests.adversarial.test_mutated_commands 5000 --only trainers tables` tries so many of the
fixtures in each of these folders, and `--begin` goes on with the seeds of a later batch.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.adversarial.test_full_disk import PROGRAM
from tests.conftest import FIXTURES

FILES = sorted(
    path
    for path in FIXTURES.glob("*/*")
    if path.suffix not in (".golden", ".toml") and path.stat().st_size < 60_000
)
QUICK, MANY, BATCH = 8, 5000, 50
SECONDS, MEMORY = 300, "1G"
"""Limits of a batch: six seconds a file, a gigabyte."""


def damaged(data: bytes, other: bytes, draw: random.Random) -> bytes:
    """Bytes with one to four pieces lost, doubled, exchanged, foreign, or written over."""
    for _ in range(draw.randrange(1, 5)):
        a, b = sorted(draw.randrange(len(data) + 1) for _ in range(2))
        b = min(b, a + draw.choice((1, 8, 80, 800)))
        piece = data[a:b]
        at = draw.randrange(len(other) + 1)
        data = data[:a] + draw.choice((
            b"", piece * 2, piece[::-1], other[at : at + 200], draw.randbytes(len(piece)),
            b"\n", b"\r", b"\x00" * 40, b"9" * 400, b"|" * 40, b"\xff\xfe", b"\t",
        )) + data[b:]  # fmt: skip
    return data


def batch(folder: Path, seed: int, count: int, files: Sequence[Path] = FILES) -> list[str]:
    """Names of files, damaged each in its own way with pieces of any other, in a folder."""
    draw = random.Random(seed)
    folder.mkdir()
    for at in range(count):
        one, other = draw.choice(files), draw.choice(FILES)
        name = f"{seed:03}-{at:03}{''.join(one.suffixes[-2:])}"
        (folder / name).write_bytes(damaged(one.read_bytes(), other.read_bytes(), draw))
    return sorted(path.name for path in folder.iterdir())


def tried(folder: Path, names: list[str]) -> Counter[str]:
    """What became of the files of a folder: each is in the account of an ingest, or refused."""
    into = folder.with_suffix(".out")
    command = [sys.executable, "-c", PROGRAM, "ingest", str(folder), "-o", str(into), "-j", "1",
               "--max-bad", "100%", "--max-memory", MEMORY]  # fmt: skip
    found = Counter(tried=len(names), refused=0, lost=0, crashed=0, over_limit=0)
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        found["over_limit"] += 1
        return found
    if done.returncode not in (0, 3, 4) or "a bug of assay" in done.stderr:
        found["crashed"] += 1
        print(done.returncode, signal.strsignal(max(-done.returncode, 1)), done.stderr[-2000:])
        return found
    found["over_limit"] += done.stderr.count("it needs more memory")
    said = json.loads((into / "manifest.json").read_text("utf-8"))
    known = {Path(each["name"]).name for each in said["sources"]}
    refused = {Path(each["name"]).name for each in said["unreadable"]}
    found["lost"] += len(set(names) - known - refused)
    found["refused"] += len(refused)
    for each in said["sources"]:
        parts = ("claimed", "refused", "blank", "not_ours")
        found["lost"] += sum(each[part] for part in parts) != each["lines"]
        found["refused"] += each["refused"] > 0
    shutil.rmtree(into)
    return found


def outcome(folder: Path, many: int, files: Sequence[Path] = FILES, begin: int = 0) -> Counter[str]:
    """What became of `many` damaged files, of seeds from `begin` on."""
    found: Counter[str] = Counter()
    for seed in range(begin, begin + many, BATCH):
        here = folder / f"batch{seed}"
        found.update(tried(here, batch(here, seed, min(BATCH, begin + many - seed), files)))
        shutil.rmtree(here)
    return found


@pytest.mark.parametrize("many", [QUICK, pytest.param(MANY, marks=pytest.mark.slow)])
def test_damaged_files_are_read_or_refused(
    tmp_path: Path, many: int, capsys: pytest.CaptureFixture[str]
) -> None:
    found = outcome(tmp_path, many)
    with capsys.disabled():  # the summary of the run
        print("\n" + ", ".join(f"{name} {found[name]:,}" for name in found))
    assert found["tried"] == many
    assert (found["lost"], found["crashed"], found["over_limit"]) == (0, 0, 0)


def main() -> None:
    """Try what is asked for, folder by folder, and print what became of it."""
    asked = argparse.ArgumentParser(prog="python -m tests.adversarial.test_mutated_commands")
    asked.add_argument("many", type=int, nargs="?", default=MANY)
    asked.add_argument("--only", nargs="*", default=[], help="folders of fixtures")
    asked.add_argument("--begin", type=int, default=0, help="the first seed")
    told = asked.parse_args()
    for name in told.only or [""]:
        files = [path for path in FILES if not name or path.parent.name == name]
        if not files:
            raise SystemExit(f"no small fixture is in fixtures/{name}")
        with TemporaryDirectory() as folder:
            found = outcome(Path(folder), told.many, files, told.begin)
        print(f"{name or 'all'}: " + ", ".join(f"{n} {found[n]:,}" for n in found), flush=True)


if __name__ == "__main__":
    main()
