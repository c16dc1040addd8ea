"""The report as one HTML file: no script, no request; plots where the extra `plots` is there."""
