"""Workers, each with one way to misbehave, and hosts run as real processes."""
