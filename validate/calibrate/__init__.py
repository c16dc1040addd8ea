"""Stacks from measurements: kernels of a machine, residuals of a site."""
