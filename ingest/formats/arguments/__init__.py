"""Configuration as jobs print it: argument dumps, layout lines, devices."""
