"""Analytical performance models: pure arithmetic on machine facts and configurations."""
