"""Published estimators, reproduced to the digit."""
