"""Label → quantity or configuration field, with its unit, basis and role."""
