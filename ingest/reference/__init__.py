"""Formats and frames described: pages of columns, JSON Schemas of rows."""
