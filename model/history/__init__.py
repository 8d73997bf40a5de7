"""Histories, told, played, made small and saved."""
