"""The specification, proved."""
