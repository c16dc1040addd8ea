"""Documents drawn at random, whose configuration is known, against what is understood of them."""
