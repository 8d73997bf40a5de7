"""`python -m impl`: whatever fails, be it an import, ends in an exit code that is no action."""

import sys


def run() -> int:
    """The exit code: the command's own, 130 when interrupted, 70 for any other failure, be it a module that exits."""
    try:
        from impl.command import main

        return main(sys.argv[1:])
    except KeyboardInterrupt:
        return 130
    except BaseException as error:
        error.add_note("python -m impl: this is an internal error; no action was decided.")
        sys.__excepthook__(type(error), error, error.__traceback__)
        return 70


def drop_what_is_stuck() -> None:
    """Lose what standard error does not take: held back, it would fail once more when the process ends, with 120."""
    try:
        if sys.stderr is not None:
            sys.stderr.flush()
    except OSError:
        sys.stderr = None


if __name__ == "__main__":
    status = run()
    drop_what_is_stuck()
    sys.exit(status)
