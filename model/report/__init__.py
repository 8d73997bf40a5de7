"""What is known, gathered, weighed and laid out as one page."""
