"""A disk that takes no more: told from all else that goes wrong with files.

Nothing heavy is imported here: every command asks.
"""

from __future__ import annotations

import errno
import os

_FULL = {
    errno.ENOSPC: "no space is left on the device",
    errno.EDQUOT: "the quota of the disk is used up",
    errno.EFBIG: "a file would become larger than it may be here",
}

_CUT = "Invalid thrift: transport error"  # polars, where the end of a Parquet file does not fit


def disk_is_full(fault: BaseException | None) -> str | None:
    """Why nothing more can be written, in words; None where something else went wrong.

    >>> disk_is_full(OSError(28, "No space left on device", "out.parquet"))
    'out.parquet: no space is left on the device'
    """
    while fault is not None:
        said = str(fault)
        for number, why in _FULL.items():
            told = isinstance(fault, OSError) and fault.errno == number
            if told or os.strerror(number) in said:  # as polars and DuckDB pass on what they hear
                name = getattr(fault, "filename", None)
                return f"{name}: {why}" if name else why
        if _CUT in said:
            return _FULL[errno.ENOSPC]
        fault = fault.__cause__ or fault.__context__
    return None
