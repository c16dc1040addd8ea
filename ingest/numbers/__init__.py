"""Kinds of printed numbers, the intervals that their digits leave open, and printed units."""
