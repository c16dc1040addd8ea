"""Arithmetic that printed numbers must satisfy."""
