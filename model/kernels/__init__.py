"""Times of single kernels: products, attention, collectives, memory-bound operations."""
