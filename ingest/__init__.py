"""Text in, typed frames and refusals out: opened, scanned, folded, decoded, accepted."""
