"""WRONG: one tick too much is claimed of linear_aging.py. An image that came exactly 9 * R ticks before a chat is as
urgent, and equals do not give way to each other.

$ python -m model explore --policy examples/policies/claims_too_much.py --slots 1 --jobs 2 --levels 1,10
violated: no_image_waits_behind_a_chat_that_came_much_later: While an image is queued, no chat that came 9 * R ticks
"""

from impl.jobs import CHAT, IMAGE
from spec.logic import both, every, implies
from spec.scheduler import queued, running

R = 60 * 10**9
WORTH = (CHAT - IMAGE) * R
WAIVES = ("chat_never_waits_behind_an_image",)
ARRIVALS = (0, WORTH, WORTH + 1)


def urgency(job):
    return job.priority * R - job.arrived


def no_image_waits_behind_a_chat_that_came_much_later(s):
    """While an image is queued, no chat that came 9 * R ticks after it, or more, runs."""
    return every(
        queued(s),
        lambda q: every(
            running(s),
            lambda r: implies(
                both(s.priority[q] == IMAGE, s.priority[r] == CHAT),
                s.arrived[r] - s.arrived[q] < WORTH,
            ),
        ),
    )


CLAIMS = (no_image_waits_behind_a_chat_that_came_much_later,)
