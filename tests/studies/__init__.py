"""Accuracy under a protocol: what is held out, how often, and how sure the figure is.

`python -m tests.studies build/accuracy.json` scores every model that has a contribution
below, prints the figures and writes them. One module per kind of evidence: `configuration` for step
times, `kernels` for kernels; `statistics`, `splits` and `entries` are shared.
"""
