"""The command line as the other tests run it."""

from tests.cli.conftest import assay, log

__all__ = ["assay", "log"]
