"""Studies of the models: what is held out, how often, and how sure the figure is.

`python -m tests.studies build/accuracy.json` scores every model that has a contribution, prints the
figures and writes them. One module per kind of evidence; `statistics`, `splits` and `entries` are
shared. Nothing here is part of the product. `campaigns` reads measured runs of many sites: a
campaign is one site, one software and one period, and its rows err together.
"""
