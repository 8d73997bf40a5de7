"""Functions on every input."""
