"""How projects count floating-point operations, and what utilisation follows."""
