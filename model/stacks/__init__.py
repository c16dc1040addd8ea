"""Calibrated kernels of a machine, packaged or a user's own."""
