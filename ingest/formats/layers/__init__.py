"""Per-layer transformer estimates."""
