"""What each engine asks of code that may be wrong."""
