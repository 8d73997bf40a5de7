"""WRONG: aging that does not say what it costs. Chat waits behind images that are old enough, which is a policy's right
only if it waives the promise; see linear_aging.py.

$ python -m model explore --policy examples/policies/forgotten_waiver.py --slots 1 --jobs 2 --levels 1,10
violated: chat_never_waits_behind_an_image: No job is queued while one of lower priority runs.
"""

R = 60 * 10**9
ARRIVALS = (0, 9 * R)


def urgency(job):
    return job.priority * R - job.arrived
