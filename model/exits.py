"""The exit codes of `python -m model`."""

HOLDS = 0
VIOLATED = 1
USAGE = 2
UNDETERMINED = 3
INTERNAL = 70
