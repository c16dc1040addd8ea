"""Formats of users: one TOML file says what a line is made of, and which columns it fills.

`load` gives the `Format` of a file; `installed` those that other packages bring along.
"""
