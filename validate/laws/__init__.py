"""Laws that printed numbers must keep, by family, and what breaks them."""
