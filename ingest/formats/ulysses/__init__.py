"""Traces of sequence-parallel attention."""
