"""Golden files: what is read from an input and predicted for it, as text under version control.

`document` is the text and its parts, `canonical` makes one of a reading, `agree` and `compare` say
how two differ, `folder` keeps the goldens of a directory, `plugin` runs them under pytest. Nothing
is imported here: pytest loads this package at start-up.
"""
