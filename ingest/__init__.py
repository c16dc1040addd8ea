"""Text in, typed frames and refusals out: source, carve, parse, decode, accept."""
