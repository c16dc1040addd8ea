"""The per-input work on a dask.distributed cluster that somebody runs; needs the extra `dask`.

In: the address of a scheduler. Out: an engine (see `assay.ingest.inputs.workers`). Workers see the
same files under the same paths as the caller, and write parts into the output folder; only names
travel.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from importlib import import_module
from typing import Any, TypeVar

from assay.ingest.inputs.chunks import Chunk
from assay.ingest.inputs.workers import Engine

Result = TypeVar("Result")

PATIENCE = "30s"
"""How long a scheduler may take to answer."""


class NoEngine(RuntimeError):
    """The engine cannot be used, and why."""


def cluster(address: str) -> Engine:
    """The engine of the cluster whose scheduler is at `address`, such as `tcp://host:8786`.

    Raises `NoEngine` where the extra is not installed or no scheduler answers.
    """
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise NoEngine("--engine dask=… needs the extra: pip install 'assay[dask]'") from None
    try:
        client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as fault:
        raise NoEngine(f"no Dask scheduler at {address}: {fault}") from None
    if not client.scheduler_info()["workers"]:
        client.close()
        raise NoEngine(f"the Dask cluster at {address} has no workers")

    def run(
        work: Callable[[Chunk], Result], chunks: Sequence[Chunk]
    ) -> Iterator[tuple[Chunk, Result | None]]:
        for chunk in chunks:
            if chunk.here:
                yield chunk, work(chunk)
        try:
            lost = yield from _round(distributed, client, work, [c for c in chunks if not c.here])
            # one of these killed its workers: one at a time, none takes others with it
            for part in [part for chunk in lost for part in chunk.parts()]:
                if (yield from _round(distributed, client, work, [part])):
                    yield part, None
        finally:
            client.close()

    return run


def _round(
    distributed: Any, client: Any, work: Callable[[Chunk], Result], chunks: Sequence[Chunk]
) -> Generator[tuple[Chunk, Result | None], None, list[Chunk]]:
    """Results as they come; returns the chunks on which worker after worker died."""
    # not pure: what a chunk holds may have changed since a cluster last saw its name
    futures = {
        future.key: (future, chunk)
        for chunk in chunks
        for future in [client.submit(work, chunk, pure=False)]
    }
    lost: list[Chunk] = []
    if not futures:
        return lost
    for future in distributed.as_completed([f for f, _ in futures.values()], loop=client.loop):
        _, chunk = futures.pop(future.key)
        fault = future.exception() if future.status == "error" else None
        if isinstance(fault, distributed.KilledWorker):
            lost.append(chunk)
            continue
        yield chunk, future.result()
    return lost
