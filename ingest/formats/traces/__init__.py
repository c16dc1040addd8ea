"""Profiler traces: events cut from JSON, operators joined to their kernels, frames of both."""
