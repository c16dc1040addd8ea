"""Lark grammars, one per format; `common.lark` holds the terminals they share."""
