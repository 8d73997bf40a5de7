"""What ships: pure decisions, with clock, sockets and processes only at the edge. Standard library alone."""
