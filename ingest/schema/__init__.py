"""Building blocks of ingest: columns and their checks, records, formats, readings."""
