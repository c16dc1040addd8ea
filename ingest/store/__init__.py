"""Readings on the disk: Parquet, quarantine and manifest, written and read back."""
