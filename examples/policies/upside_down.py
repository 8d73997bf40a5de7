"""WRONG: the sign. Where 1 is the most important priority this would be right; here 10 is chat, and 1 is an image.

$ python -m model explore --policy examples/policies/upside_down.py --slots 1 --jobs 2
violated: chat_never_waits_behind_an_image: No job is queued while one of lower priority runs.
"""


def urgency(job):
    return -job.priority
