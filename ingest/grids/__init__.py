"""Tables as grids, whatever they are written in: one grid, and an adapter for each syntax."""
