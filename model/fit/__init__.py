"""Parameters from measured times, with bounds, intervals, and what data cannot tell."""
