"""What a training run executes: shapes, layouts, parameters, operations, passes."""
