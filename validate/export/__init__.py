"""Frames for other tools."""
