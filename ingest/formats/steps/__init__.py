"""Step records of trainers without a format of their own: read by the shape of a file."""
