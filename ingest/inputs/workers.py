"""Work shared among processes: results as they come, and a process that dies costs one input.

In: a function and chunks of inputs. Out: each chunk with its result, in no order, or None where the
process that had it died. Processes are spawned, never forked: polars has threads.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing import connection
from typing import Protocol, TypeVar

from assay.ingest.inputs.ceiling import Ceiling, watched
from assay.ingest.inputs.chunks import Chunk

Result = TypeVar("Result")

Work = Callable[[Chunk], Result]


class Engine(Protocol):
    """Something that does work on chunks: the chunks with their results, in no order."""

    def __call__(
        self, work: Callable[[Chunk], Result], chunks: Sequence[Chunk]
    ) -> Iterator[tuple[Chunk, Result | None]]:
        """Do `work` on every chunk; None where whoever had it died."""
        ...


def processes(workers: int | None) -> Engine:
    """The engine of this machine: so many processes, or as many as the work is worth."""
    return partial(run, workers=workers)


def adequate(chunks: Sequence[Chunk]) -> int:
    """One process per core, or this one where starting others takes longer than the work."""
    size = sum(chunk.size for chunk in chunks)
    if len(chunks) < FEW and size < SMALL:
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_THREADS = "POLARS_MAX_THREADS"

FEW, SMALL = 8, 64 * 2**20
"""Chunks, and bytes in all, below which other processes are not worth their start."""


def run(
    work: Work[Result], chunks: Sequence[Chunk], workers: int | None = None
) -> Iterator[tuple[Chunk, Result | None]]:
    """Do `work` on every chunk with up to `workers` processes; with one, in this process.

    An exception of `work` is raised here.
    """
    workers = workers or adequate(chunks)
    alone = workers <= 1 or len(chunks) == 1
    for chunk in chunks:
        if alone or chunk.here:
            yield chunk, work(chunk)
    waiting = deque(chunk for chunk in chunks if not (alone or chunk.here))
    while waiting:
        lost: list[Chunk] = []
        yield from _shared(work, waiting, min(workers, len(waiting)), lost)
        # whichever of these broke the pool, it must not take the others with it
        yield from _alone(work, deque(part for chunk in lost for part in chunk.parts()))


def _shared(
    work: Work[Result], waiting: deque[Chunk], workers: int, lost: list[Chunk]
) -> Iterator[tuple[Chunk, Result | None]]:
    """Results until all is done or a process dies; then `lost` holds what was under way."""
    with _pool(workers) as pool:
        running: dict[Future[Result], Chunk] = {}
        try:
            while waiting or running:
                while waiting and len(running) < 2 * workers:
                    running[_submitted(pool, work, waiting[0])] = waiting[0]
                    waiting.popleft()
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    result = future.result()
                    yield running.pop(future), result
        except BrokenProcessPool:
            for future, chunk in running.items():
                if future.done() and future.exception() is None:
                    yield chunk, future.result()
                else:
                    lost.append(chunk)


def _alone(work: Work[Result], waiting: deque[Chunk]) -> Iterator[tuple[Chunk, Result | None]]:
    """One chunk at a time: the one that is under way when the process dies is to blame."""
    while waiting:
        with _pool(1) as pool:
            while waiting:
                chunk = waiting.popleft()
                try:
                    yield chunk, _submitted(pool, work, chunk).result()
                except BrokenProcessPool:
                    yield chunk, None
                    break


def _submitted(pool: ProcessPoolExecutor, work: Work[Result], chunk: Chunk) -> Future[Result]:
    """Work handed to a pool; a process that it starts for it does not run the caller's script.

    A script that reads with several processes would otherwise begin anew in each of them, unless
    it is guarded by `if __name__ == "__main__"`; what they do is all in this package.
    """
    main = sys.modules["__main__"]
    told: dict[str, object] = {
        name: main.__dict__[name] for name in ("__file__", "__spec__") if name in vars(main)
    }
    main.__dict__.pop("__file__", None)
    main.__spec__ = None
    try:
        return pool.submit(work, chunk)
    finally:
        main.__dict__.update(told)


@contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """A pool that is gone when the block ends, whatever ended it."""
    pool = ProcessPoolExecutor(
        workers, mp_context=multiprocessing.get_context("spawn"), initializer=_start,
        initargs=(Ceiling.most and Ceiling.most // (workers + 1),),
    )  # fmt: skip
    before = os.environ.get(_THREADS)
    # the processes share the cores: each with threads for all of them is slower
    os.environ.setdefault(_THREADS, str(max(1, (os.cpu_count() or 1) // workers)))
    try:
        yield pool
    except BaseException:
        for process in list((pool._processes or {}).values()):
            process.terminate()
        raise
    finally:
        if before is None:
            del os.environ[_THREADS]
        pool.shutdown(wait=True, cancel_futures=True)


def _start(most: int | None) -> None:
    """In a new process: its part of the memory, Ctrl-C to the parent, and an end with it."""
    gc.set_threshold(250_000)  # as the command line does: a fifth of what reading small files takes
    watched(most).__enter__()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        sentinel = parent.sentinel

        def follow() -> None:
            connection.wait([sentinel])
            os._exit(1)

        threading.Thread(target=follow, daemon=True).start()
