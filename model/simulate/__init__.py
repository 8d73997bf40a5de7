"""Arrivals over a day."""
