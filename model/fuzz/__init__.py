"""Random histories."""
