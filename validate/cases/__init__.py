"""Printed numbers and what they are about: observations, cases, the rules that fill them."""
