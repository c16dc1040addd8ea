"""The time and the memory of a training step."""
