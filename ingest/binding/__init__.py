"""The rows that a document's statements speak for, and what was bound to each."""
