"""Real hosts and workers under faults."""
