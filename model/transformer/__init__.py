"""Work of a training run: shapes, layouts, parameters, operations, passes."""
