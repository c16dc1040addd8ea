"""The step lines of the Swift trainer, for assay: where the description of the format is."""

from pathlib import Path

FORMAT = Path(__file__).with_name("swift_step.toml")
