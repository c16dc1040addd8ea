"""Observations beside predictions: one join, accuracy, gates."""
