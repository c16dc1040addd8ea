"""Statements of a document outside its rows: what each line states, and where it stands."""
