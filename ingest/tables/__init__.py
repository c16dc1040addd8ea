"""Tables to records: headers, cells, what a table is of, what stands above it."""
