"""The exit codes of `python -m model`."""

HOLDS = 0
VIOLATED = 1
USAGE = 2
UNDETERMINED = 3
INTERNAL = 70


def worst(*codes: int) -> int:
    """Of several verdicts: violated if any is, else undetermined if any is, else holds."""
    return next((code for code in (VIOLATED, UNDETERMINED) if code in codes), HOLDS)
