"""Linear aging: a step of priority is worth R ticks of arrival, so that no image waits for ever.

A chat (priority 10) is 9 steps above an image (priority 1). An image that came 9 * R ticks before a chat is as urgent
as that chat, and waits behind it if the chat reached the scheduler first; one that came 9 * R + 1 ticks before it, or
earlier, does not. The price is waived below: chat waits behind images that are old enough.

$ python -m model explore --policy examples/policies/linear_aging.py --slots 1 --levels 1,10 --actions admit,complete
waived: chat_never_waits_behind_an_image (broken here)
verdict: explored
"""

from impl.jobs import CHAT, IMAGE
from spec.logic import both, every, implies
from spec.scheduler import queued, running

R = 60 * 10**9
"""A minute, where a tick is a nanosecond."""
WORTH = (CHAT - IMAGE) * R
WAIVES = ("chat_never_waits_behind_an_image",)
ARRIVALS = (0, WORTH, WORTH + 1)


def urgency(job):
    return job.priority * R - job.arrived


def no_image_waits_behind_a_chat_that_came_much_later(s):
    """While an image is queued, no chat that came 9 * R + 1 ticks after it, or more, runs."""
    return every(
        queued(s),
        lambda q: every(
            running(s),
            lambda r: implies(
                both(s.priority[q] == IMAGE, s.priority[r] == CHAT),
                s.arrived[r] - s.arrived[q] < WORTH + 1,
            ),
        ),
    )


CLAIMS = (no_image_waits_behind_a_chat_that_came_much_later,)
