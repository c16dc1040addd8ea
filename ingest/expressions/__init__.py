"""Regular expressions, compiled once and kept."""
