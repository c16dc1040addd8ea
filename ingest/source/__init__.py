"""Bytes to lines: inputs opened and expanded, in blocks, with prefixes peeled off."""
