"""Four journeys through the house: the files and functions that one piece of work visits.

`python -m tests.journeys docs/architecture.md` writes them into that page: for each journey the
product's files by room, in the order of the first visit. Counted with `sys.setprofile` in the
second of two equal runs, so that caches are warm; what has no name of its own (lambdas,
comprehensions, class and module bodies) is left out. The inputs are fixtures, or cut from them.
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from types import CodeType, FrameType

from tests.conftest import FIXTURES, ROOT

PRODUCT = ("ingest", "model", "validate")
LINE = (
    " iteration       10/    1000 | consumed samples:           40 |"
    " elapsed time per iteration (ms): 5837.9 | learning rate: 1.500E-04 |"
    " global batch size:     4 | lm loss: 8.017406E+00 | loss scale: 16384.0 | grad norm: 73.338 |"
    " number of skipped iterations:   0 | number of nan iterations:   0 |\n"
)
PRODUCTS = 16
MARK = "<!-- what follows is written by `make docs` -->"


class Visits:
    """The functions of the product that were called, in the order of their first call."""

    def __init__(self) -> None:
        self.codes: dict[int, CodeType] = {}

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """A profile function: what it does for each of a million calls is kept to one line."""
        if event == "call":
            self.codes.setdefault(id(frame.f_code), frame.f_code)

    @cached_property
    def seen(self) -> list[tuple[str, str, int]]:
        """Path, name and first line of each."""
        named = (code for code in list(self.codes.values()) if not code.co_name.startswith("<"))
        paths = ((_inside(code.co_filename), code) for code in named)
        found = ((path, code.co_qualname, code.co_firstlineno) for path, code in paths
                 if path.split("/")[0] in PRODUCT)  # fmt: skip
        return list(dict.fromkeys(found))

    @property
    def files(self) -> list[str]:
        """The files of these functions."""
        return list(dict.fromkeys(path for path, _, _ in self.seen))


def _inside(path: str) -> str:
    """A file's path in the house, or "" or another where it lies outside."""
    _, _, inside = path.rpartition("/assay/")
    return inside or path.removeprefix(f"{ROOT}/")


@contextlib.contextmanager
def profiled() -> Iterator[Visits]:
    """Every call of any thread while this is open."""
    visits = Visits()
    threading.setprofile(visits)
    sys.setprofile(visits)
    try:
        yield visits
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]


def assay(*arguments: object) -> None:
    """One command, in this process, its output dropped."""
    from assay.validate.cli import main

    kept, sys.argv = sys.argv, ["assay", *map(str, arguments)]
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    try:
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(io.StringIO()),
            contextlib.suppress(SystemExit),
        ):
            main()
    finally:
        sys.argv = kept


def journeys(folder: Path) -> dict[str, Callable[[], None]]:
    """Title → the journey; inputs and outputs lie in `folder`."""
    one, many = folder / "one.log", folder / "many.log"
    one.write_text(LINE)
    many.write_text(LINE * 60)
    table, products, stack = folder / "table.md", folder / "products.csv", folder / "stack.toml"
    table.write_text(_first_table((FIXTURES / "markdown_table" / "bloom_prequel.md").read_text()))
    whole = next((FIXTURES / "gemm_table").glob("h100*.csv")).read_text().splitlines(keepends=True)
    products.write_text("".join(whole[: PRODUCTS + 1]))
    fitted = ("calibrate", products, "--machine", "H100", "-o", stack, "--force")
    return {
        "One Megatron line, bytes to Parquet": lambda: assay(
            "ingest", one, "-o", folder / "one", "--force"
        ),
        "Sixty such lines: the learnt template": lambda: assay(
            "ingest", many, "-o", folder / "many", "--force"
        ),
        "A table's cells, predicted against printed": lambda: assay(
            "report", table, "--machine", "A100-80g"
        ),
        "`assay calibrate` on sixteen products": lambda: assay(*fitted),
        "`assay report` with that stack": lambda: assay("report", products, "--stack", stack),
    }


def _first_table(text: str) -> str:
    """A document up to the end of its first table."""
    lines = text.splitlines(keepends=True)
    start = next(at for at, line in enumerate(lines) if line.startswith("|"))
    rows = list(takewhile(lambda line: line.startswith("|"), lines[start:]))
    return "".join([*lines[:start], *rows])


def counted() -> dict[str, Visits]:
    """Every journey, made twice and counted the second time."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for title, journey in journeys(Path(folder)).items():
            journey()
            with profiled() as visits:
                journey()
            found[title] = visits
    return found


def page() -> str:
    """The journeys as Markdown: files by room, in the order of the first visit."""
    parts = []
    for title, visits in counted().items():
        rooms: dict[str, list[str]] = {}
        for path in visits.files:
            room, _, name = path.rpartition("/")
            rooms.setdefault(room, []).append(name.removesuffix(".py"))
        parts.append(f"### {title}\n\n{len(visits.files)} files, {len(visits.seen)} functions.\n")
        parts += [f"- `{room}/`: {', '.join(names)}" for room, names in rooms.items()]
        parts.append("")
    return "\n".join(parts)


def main(path: Path) -> None:
    """Write the journeys into the page behind its mark."""
    text = path.read_text(encoding="utf-8")
    path.write_text(text[: text.index(MARK)] + f"{MARK}\n\n{page()}", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
