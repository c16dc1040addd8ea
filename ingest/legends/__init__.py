"""Settings that legends, notes, templates of names and conditions in a text give rows of tables."""
