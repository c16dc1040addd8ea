"""Sentences: what each states in words that mean one thing alone."""
