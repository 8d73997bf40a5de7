"""Shortest job first within a class: the priority decides, and among equals the job with the least work."""


def urgency(job):
    return job.priority, -job.work
