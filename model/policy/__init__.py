"""Policies from files, and what they change."""
