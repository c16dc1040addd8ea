"""The DeepFlow estimator: dumps of both generations, and the file beside them."""
