"""Shortest job first within a class: the priority decides, and among equals the job with the least work.

$ python -m model explore --policy examples/policies/shortest_first.py --slots 1 --jobs 3 --actions admit,complete
verdict: explored
"""

from spec.logic import every, implies
from spec.scheduler import queued, running


def urgency(job):
    return job.priority, -job.work


def no_job_waits_behind_a_longer_one_of_its_class(s):
    """While a job is queued, no job of its priority that brought more work runs."""
    return every(
        queued(s),
        lambda q: every(running(s), lambda r: implies(s.priority[q] == s.priority[r], s.work[r] <= s.work[q])),
    )


CLAIMS = (no_job_waits_behind_a_longer_one_of_its_class,)
