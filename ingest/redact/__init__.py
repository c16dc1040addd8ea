"""Readings without names of people, hosts, addresses and keys."""
