"""Wrong code, run by run, and the kill matrix."""
