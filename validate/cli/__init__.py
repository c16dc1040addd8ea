"""The command line; heavy imports stay inside the commands."""
