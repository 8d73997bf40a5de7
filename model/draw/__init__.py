"""Histories and figures as drawings."""
