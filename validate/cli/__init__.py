"""The command line: `app`. Heavy imports stay inside the commands, so that `--help` is quick."""

from __future__ import annotations

import typer
from assay.validate.cli import (
    calibrate,
    check,
    diff,
    export,
    formats,
    golden,
    ingest,
    machines,
    predict,
    report,
    watch,
)

app = typer.Typer(
    name="assay",
    help="Read the numbers that training jobs and performance models print, and say how far "
    "apart they are.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
report.register(app)
check.register(app)
ingest.register(app)
export.register(app)
golden.register(app)
predict.register(app)
calibrate.register(app)
machines.register(app)
formats.register(app)
diff.register(app)
watch.register(app)

__all__ = ["app"]
