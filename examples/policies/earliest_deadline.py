"""Earliest deadline within a class: the priority decides, and among equals the job whose deadline comes first. A job
without a deadline comes after those that have one.

$ python -m model explore --policy examples/policies/earliest_deadline.py --slots 1 --actions admit,complete
verdict: explored
"""

from spec.logic import every, implies
from spec.scheduler import queued, running


def urgency(job):
    if job.deadline is None:
        return job.priority, 0
    return job.priority, 1, -job.deadline


def no_job_waits_behind_a_later_deadline_of_its_class(s):
    """While a job is queued, no job of its priority with a later deadline runs."""
    return every(
        queued(s),
        lambda q: every(running(s), lambda r: implies(s.priority[q] == s.priority[r], s.deadline[r] <= s.deadline[q])),
    )


CLAIMS = (no_job_waits_behind_a_later_deadline_of_its_class,)
