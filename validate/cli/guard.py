"""Guard around every command: no traceback, no half-written file, quiet ends.

`Refusal` is how a command says that it cannot go on: a message for stderr and an exit code.
"""

from __future__ import annotations

import contextlib
import gc
import io
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, TextIO, TypeVar

import typer
from assay.validate.cli.exits import Exit
from assay.validate.report.safe import lines

Command = TypeVar("Command", bound=Callable[..., Any])

Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an internal error.")]

MaxMemory = Annotated[
    str | None,
    typer.Option(
        "--max-memory", metavar="SIZE", envvar="ASSAY_MAX_MEMORY",
        help="Refuse what needs more memory than this, such as 8G; three quarters of what is "
        "there if not given.",
    ),
]  # fmt: skip

Force = Annotated[bool, typer.Option("--force", help="Overwrite existing output files.")]


SELDOM = 500_000
"""Objects made, and not yet freed, between two searches for those that only hold each other: a
reading makes many that live to its end, and hardly any such circles. Python's 700 take a tenth to
a fifth of a report."""


class Refusal(Exception):
    """A command that cannot go on: what to say, and with which code to end."""

    def __init__(self, message: str, code: Exit = Exit.USAGE) -> None:
        super().__init__(message)
        self.code = code


def guarded(command: Command) -> Command:
    """The command with every way of ending made clean. It takes a keyword `debug`.

    It returns an `Exit`, or None for OK.
    """

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")  # LANG=C cannot say µ or ≥
        speak_through(str)
        gc.set_threshold(SELDOM, *gc.get_threshold()[1:])
        try:
            with _within(kwargs.get("max_memory")):
                code = command(*args, **kwargs) or Exit.OK
            sys.stdout.flush()
        except Refusal as refusal:
            complain(str(refusal))
            code = refusal.code
        except MemoryError:
            from assay.ingest.inputs.ceiling import Ceiling, blamed, refused

            fewer = "; give it fewer of them at a time" if len(Ceiling.inputs) > 1 else ""
            complain(f"{blamed()}: {refused()}{fewer}")
            _quiet(sys.stdout)
            code = Exit.USAGE
        except BrokenPipeError:
            _quiet(sys.stdout)  # the reader has seen enough
            code = Exit.OK
        except KeyboardInterrupt:
            raise typer.Exit(130) from None
        except typer.Exit:
            raise
        except Exception as fault:
            from assay.ingest.store.disk import disk_is_full

            if full := disk_is_full(fault):
                complain(f"{full}; make room there and run it again")
                _quiet(sys.stdout)
                raise typer.Exit(int(Exit.USAGE)) from None
            if kwargs.get("debug"):
                traceback.print_exc()
            where = _where(fault)
            complain(
                f"internal error: {type(fault).__name__}: {_one_line(fault)} ({where}). "
                "This is a bug of assay; --debug shows the traceback"
            )
            code = Exit.BUG
        raise typer.Exit(int(code))

    return run  # type: ignore[return-value]


def _within(size: str | None) -> contextlib.AbstractContextManager[None]:
    """The ceiling on memory of `--max-memory`; Refusal where its size is none."""
    from assay.ingest.inputs.ceiling import Ceiling, default, parsed, watched

    Ceiling.speaks_alone = sys.stderr is sys.__stderr__
    try:
        return watched(default() if size is None else parsed(size))
    except ValueError:
        raise Refusal(f"--max-memory is a size such as 8G or 500M, not {size!r}") from None


def _quiet(stream: TextIO) -> None:
    """The interpreter must not complain when it flushes what nobody takes."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def complain(message: str) -> None:
    """Words on stderr; whatever of an input is in them, a terminal does not obey it."""
    typer.echo(f"assay: {lines(_SPOKEN.get()(message))}", err=True)


_SPOKEN: ContextVar[Callable[[str], str]] = ContextVar("_SPOKEN", default=str)


def speak_through(change: Callable[[str], str]) -> None:
    """From now on, what a command complains of goes through `change` first."""
    _SPOKEN.set(change)


def say(text: str) -> None:
    """Lines on stdout that hold text of inputs; a terminal does not obey it."""
    typer.echo(lines(text))


def _one_line(fault: Exception) -> str:
    return (str(fault).strip().splitlines() or [""])[0][:200]


def _where(fault: Exception) -> str:
    frames = traceback.extract_tb(fault.__traceback__)
    ours = [f for f in frames if "assay" in f.filename] or list(frames)
    return f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "?"


def refuse_existing(paths: list[Path], *, force: bool) -> None:
    """Refusal where an output file exists and `--force` is not given."""
    for path in paths:
        if path.exists() and not force:
            raise Refusal(f"{path} exists; --force overwrites it")


def write(path: Path, content: str | bytes) -> None:
    """Write a whole file at once, under a temporary name first; Refusal where that cannot be."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with _removed(part):
            part.write_bytes(content.encode() if isinstance(content, str) else content)
            os.replace(part, path)
    except OSError as fault:
        raise Refusal(f"{path} cannot be written: {fault.strerror or fault}") from None


@contextlib.contextmanager
def _removed(part: Path) -> Iterator[None]:
    """Remove a temporary file when the block ends, however it ends."""
    try:
        yield
    finally:
        part.unlink(missing_ok=True)
