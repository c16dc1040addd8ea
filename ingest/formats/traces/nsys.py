"""SQLite exports of Nsight Systems (`nsys export --type sqlite`).

In: a database with the tables of CUPTI activities. Out: the frames of
`assay.ingest.formats.traces.trace_frames`. A row stands at the row of its table (`line`), column 1
for kernels, 2 for copies, 3 for fills. NVTX ranges that PyTorch names after operators are
operators, the others annotations; they record no element types, so no shape is known.
"""

from __future__ import annotations

from assay.ingest.formats.traces.collect import COPY, FILL, KERNEL
from assay.ingest.formats.traces.exports import OPERATOR, Tables, opened
from assay.ingest.formats.traces.trace_tables import trace_format
from assay.ingest.schema.format import Made, Whole

KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"
ACTIVITIES = (
    (KERNELS, KERNEL, "kernel"),
    ("CUPTI_ACTIVITY_KIND_MEMCPY", COPY, "gpu_memcpy"),
    ("CUPTI_ACTIVITY_KIND_MEMSET", FILL, "gpu_memset"),
)
"""Tables of what devices did, and the category of their rows."""

RUNTIME, RANGES = "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"
_NAMES = ("demangledName", "shortName", "mangledName", "nameId")
_NO_TIMES = "start and end are no times"


def read(source: Whole) -> Made | None:
    """Read a whole export; None for a file of another kind."""
    with opened(source) as database:
        if database is None or not {KERNELS, RUNTIME} & database[1].keys():
            return None
        return _Export(source.name, *database).read()


class _Export(Tables):
    """One export on its way into `Collected`."""

    def read(self) -> Made:
        """Every table that is known."""
        self.texts = {
            number: text
            for number, text in self.rows("StringIds", ("id", "value"))
            if type(number) is int and isinstance(text, str)
        }
        self._ranges()
        self._launches()
        for column, (table, category, name) in enumerate(ACTIVITIES, 1):
            self._activities(table, category, name, column)
        gpus: dict[int, str | None] = {
            number: str(name)
            for number, name in self.rows("TARGET_INFO_GPU", ("id", "name"))
            if type(number) is int and name
        }
        return self.made(gpus)

    def _ranges(self) -> None:
        columns = ("start", "end", "text", "textId", "globalTid")
        for row, (start, end, text, number, thread) in enumerate(self.rows(RANGES, columns), 1):
            said = text if isinstance(text, str) else self.texts.get(number, "")
            key = "cpu_op" if said.startswith(OPERATOR) else "user_annotation"
            self.counted(key)
            if end is None:  # a mark, not a range
                continue
            times = self.times(start, end)
            if times is None:
                self.refuse(RANGES, row, 1, _NO_TIMES, key)
            else:
                self.range(said, thread, times)

    def _launches(self) -> None:
        columns = ("start", "end", "nameId", "correlationId", "globalTid")
        for row, (start, end, name, number, thread) in enumerate(self.rows(RUNTIME, columns), 1):
            self.counted("cuda_runtime")
            times = self.times(start, end)
            if times is None:
                self.refuse(RUNTIME, row, 1, _NO_TIMES, "cuda_runtime")
            else:
                self.launch(self.texts.get(name, ""), thread, number, times)

    def _activities(self, table: str, category: int, key: str, column: int) -> None:
        columns = ("start", "end", "deviceId", "streamId", "correlationId", "graphNodeId", "bytes",
                   *_NAMES)  # fmt: skip
        for row, (start, end, device, stream, number, graph, size, *names) in enumerate(
            self.rows(table, columns), 1
        ):
            self.counted(key)
            times = self.times(start, end)
            if times is None:
                self.refuse(table, row, column, _NO_TIMES, key)
                continue
            text = next((self.texts[each] for each in names if each in self.texts), key)
            counts = (device, stream, number, size)
            self.activity(text, category, times, counts, (row, column), graphed=bool(graph))


FORMAT = trace_format("nsys", read)
