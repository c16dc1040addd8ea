"""One source through all formats: scanned, folded, typed, every line accounted for."""
