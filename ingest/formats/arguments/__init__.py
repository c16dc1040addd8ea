"""What a job says of its own configuration."""
