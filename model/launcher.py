"""The installed command `slotproof`. In the wheel this file is slotproof/__main__.py, beside it the rooms spec, impl,
model and examples in slotproof/rooms/: names too general for anybody's site-packages.

`slotproof impl ...` does what `python -m impl ...` does in the checkout, and `slotproof prove ...` what
`python -m model prove ...` does; so with every other command of model. Exit codes are those of the command. The
launcher's own are 64 (help, or no such command) and 70 (the extra `verify` or a room is missing): none that a command
of impl could mean as an action, or one of model as a verdict.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

ROOMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rooms")
VERIFY = ("z3", "cvc5", "hypothesis", "rich", "msgspec", "jinja2")
"""What the extra `verify` installs, by the names under which it is imported."""
USAGE, INTERNAL = 64, 70


def main() -> int:
    """Run the command that sys.argv names, with the rooms on the path of this process; the exit code."""
    try:
        sys.path.insert(0, ROOMS)  # `python -m` has put the current folder first, where a spec.py may lie
        code = _run(sys.argv[1:])
    except KeyboardInterrupt:
        return 130
    except BaseException as error:
        error.add_note("slotproof: this is an internal error; nothing was decided, no verdict was reached.")
        sys.__excepthook__(type(error), error, error.__traceback__)
        code = INTERNAL
    if code == INTERNAL:
        os._exit(code)  # what an output did not take would fail once more on the way out, with another exit code
    from impl.__main__ import drop_what_is_stuck

    drop_what_is_stuck()
    return code


def _run(argv: Sequence[str]) -> int:
    if argv[:1] == ["impl"]:
        from impl.__main__ import run

        sys.argv[1:] = argv[1:]
        return run()

    from impl.output import complain, say
    from model.__main__ import COMMANDS
    from model.__main__ import main as run_model

    if argv and argv[0] in COMMANDS:
        if missing := _missing():
            wanted = "install slotproof[verify] instead of slotproof"
            complain(f"slotproof {argv[0]} needs the extra `verify`: {', '.join(missing)} not found; {wanted}.\n")
            return INTERNAL
        return run_model(argv)
    if argv and argv[0] in ("-h", "--help"):
        say(_usage(COMMANDS))
    else:
        complain(f"slotproof: {f'there is no command {argv[0]!a}' if argv else 'no command is given'}.\n")
        complain(_usage(COMMANDS))
    return USAGE


def _missing() -> list[str]:
    from importlib.util import find_spec

    return [name for name in VERIFY if find_spec(name) is None]


def _usage(commands: Mapping[str, str]) -> str:
    width = max(map(len, commands))
    return "\n".join(
        [
            "usage: slotproof impl COMMAND ...",
            f"       slotproof {'|'.join(commands)} ...",
            "",
            f"{'impl':<{width}}  the shipped policies: slotproof impl --help says more",
            *(f"{name:<{width}}  {summary}" for name, summary in commands.items()),
            "",
            "All but impl need the extra `verify`, and say more with --help after their name.",
            "",
            "Exit codes: those of the command; 64 help or no such command; 70 an internal error,",
            "or the extra is missing; 130 an interruption.",
            "",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
