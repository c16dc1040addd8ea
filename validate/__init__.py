"""Observations against predictions: join, accuracy, findings, reports, command line."""
