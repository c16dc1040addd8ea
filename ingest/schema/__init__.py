"""What ingest is made of: columns and their checks, records, formats, readings."""
