"""Runs as an engineer asks about them: how fast, how steady, how they differ."""
