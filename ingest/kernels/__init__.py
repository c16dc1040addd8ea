"""Tables and lines of kernels: a row is a measured call, or several."""
