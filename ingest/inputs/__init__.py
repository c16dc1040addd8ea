"""Many inputs to one reading: paths, portions of work, workers, parts put together."""
