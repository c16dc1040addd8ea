"""Registered models: functions from cases to predictions."""
