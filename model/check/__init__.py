"""Logs held to the specification, line by line."""
