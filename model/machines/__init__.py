"""Machine facts from datasheets, and number formats."""
