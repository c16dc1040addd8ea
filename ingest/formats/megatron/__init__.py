"""Lines of Megatron and its forks."""
