"""Goldens under pytest: `pytest --assay-golden DIR` is one test per file, its message the diff.

pytest loads this module whenever it starts, so it imports nothing but pytest until it is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from assay.validate.golden.folder import Case


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options, as `pytest --help` shows them."""
    group = parser.getgroup("assay", "golden files of assay")
    group.addoption(
        "--assay-golden", action="append", default=[], metavar="DIR", type=Path,
        help="check the golden of every file in DIR, one test per file; may be given again",
    )  # fmt: skip
    group.addoption(
        "--assay-max-bad", default=0, type=int, metavar="N",
        help="refused lines that a file may have (default 0)",
    )  # fmt: skip
    group.addoption(
        "--assay-format", action="append", default=[], metavar="FILE",
        help="read lines of this format too (TOML); may be given again",
    )  # fmt: skip


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Add the goldens to what was collected, before -k and -m choose among all."""
    for folder in session.config.getoption("--assay-golden"):
        items.extend(_collected(session, folder))


def _collected(session: pytest.Session, folder: Path) -> Iterator[pytest.Item]:
    from assay.validate.golden.folder import cases  # noqa: PLC0415 - polars only where asked

    if not folder.is_dir():
        raise pytest.UsageError(f"--assay-golden: {folder} is no directory")
    name = folder.as_posix()
    parent = Folder.from_parent(session, name=name, path=folder, nodeid=name)
    found = cases(folder)
    if not found:
        raise pytest.UsageError(f"--assay-golden: {folder} holds no input and no golden")
    for case in found:
        yield Golden.from_parent(parent, name=case.name, case=case)


class Folder(pytest.Collector):
    """A directory of inputs and their goldens."""

    def collect(self) -> Iterable[pytest.Item]:
        """Nothing further: the items are made with the folder."""
        return ()


class Golden(pytest.Item):
    """One input against its golden."""

    def __init__(self, *, case: Case, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.case = case

    def runtest(self) -> None:
        """Raise `Differs` unless golden and input agree and little enough is refused."""
        from assay.ingest.formats.own.fault import BadFormat  # noqa: PLC0415
        from assay.ingest.formats.own.installed import known  # noqa: PLC0415
        from assay.validate.golden.folder import check  # noqa: PLC0415
        from assay.validate.golden.model_entries import settings  # noqa: PLC0415

        try:
            formats = known(tuple(self.config.getoption("--assay-format")))
        except BadFormat as fault:
            raise Differs(str(fault)) from None
        found = check(self.case, settings(formats=formats))
        allowed = self.config.getoption("--assay-max-bad")
        told = [str(found.difference)] if found.difference.reasons else []
        if found.refused > allowed:
            told.append(f"{found.refused} refused lines, {allowed} allowed (--assay-max-bad)")
        if told:
            raise Differs("\n".join(told))

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        """The reasons and the diff alone; a traceback where the fault is ours."""
        if isinstance(excinfo.value, Differs):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the failure is shown to be: the golden."""
        return self.case.golden, None, f"{self.parent.name if self.parent else ''}/{self.name}"


class Differs(AssertionError):
    """An input is not as its golden says; the message is the diff."""
