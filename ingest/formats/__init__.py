"""One module per format: a pandera schema and a `Format`."""
