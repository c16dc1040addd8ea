"""Configurations that have not run yet."""
