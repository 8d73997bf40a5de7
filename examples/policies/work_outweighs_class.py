"""WRONG: work mixed into the class. It looks like shortest job first in one number, but a step of priority is worth no
more than ten steps of work: a chat with 90 more of them than an image no longer comes before it.

$ python -m model explore --policy examples/policies/work_outweighs_class.py --slots 1 --work 12 --actions admit
violated: chat_never_waits_behind_an_image: No job is queued while one of lower priority runs.
urgency(Job(request_id='other', priority=1, work=11, modality='', arrived=0, deadline=None)) returns -1
"""


def urgency(job):
    return 10 * job.priority - job.work
