"""What the scheduler may do, and what is always true of it.

A job is NEW until it is admitted, then QUEUED or RUNNING, at last ENDED or CANCELLED. Everything an event may do is one
of the ACTIONS, guard and step side by side. Slots, jobs, queue places and urgencies are unbounded.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from spec.logic import (
    Action,
    Claim,
    Domain,
    Job,
    Slot,
    Table,
    both,
    each,
    either,
    every,
    implies,
    ite,
    negate,
    numbers,
    some,
    where,
)


class Phase(Enum):
    """Where a job is in its life."""

    NEW = "new"
    QUEUED = "queued"
    RUNNING = "running"
    ENDED = "ended"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class State:
    """The constants, what is fixed of each job, where each job is, and the counts with the seatings that prove them."""

    jobs: Domain[Job]
    slots: Domain[Slot]
    size: int
    capacity: int
    reserve: int
    lowest: int
    number: Table[Slot, int]
    numbered: Table[int, Slot]

    urgency: Table[Job, int]
    priority: Table[Job, int]
    work: Table[Job, int]

    phase: Table[Job, Phase]
    slot: Table[Job, Slot]
    run: Table[Job, int]
    ticket: Table[Job, int]
    remaining: Table[Job, int]
    served: Table[Job, int]
    busy: Table[Slot, bool]
    holder: Table[Slot, Job]
    ticketed: Table[int, Job]
    runner: Table[int, Job]
    next_ticket: int
    next_run: int
    waiting: int

    seat: Table[Job, int]
    seated: Table[int, Job]
    lowest_running: int
    rank: Table[Slot, int]
    ranked: Table[int, Slot]


def initial(s: State) -> Claim:
    """No job has come yet."""
    return both(
        every(s.jobs, lambda j: is_new(s, j)),
        every(s.slots, lambda k: both(negate(s.busy[k]), s.rank[k] == s.number[k])),
        every(numbers(s.size), lambda i: s.ranked[i] == s.numbered[i]),
        s.waiting == 0,
        s.lowest_running == 0,
        s.next_ticket == 0,
        s.next_run == 0,
    )


# Words


def is_new(s: State, job: Job) -> Claim:
    return s.phase[job] == Phase.NEW


def is_queued(s: State, job: Job) -> Claim:
    return s.phase[job] == Phase.QUEUED


def is_running(s: State, job: Job) -> Claim:
    return s.phase[job] == Phase.RUNNING


def is_live(s: State, job: Job) -> Claim:
    return either(is_queued(s, job), is_running(s, job))


def queued(s: State) -> Domain[Job]:
    return where(s.jobs, lambda j: is_queued(s, j))


def running(s: State) -> Domain[Job]:
    return where(s.jobs, lambda j: is_running(s, j))


def live(s: State) -> Domain[Job]:
    return where(s.jobs, lambda j: is_live(s, j))


def free(s: State) -> Domain[Slot]:
    return where(s.slots, lambda k: negate(s.busy[k]))


def in_use(s: State) -> Domain[Slot]:
    return where(s.slots, lambda k: s.busy[k])


def all_slots_are_busy(s: State) -> Claim:
    return every(s.slots, lambda k: s.busy[k])


def nobody_waits(s: State) -> Claim:
    return every(s.jobs, lambda j: negate(is_queued(s, j)))


def some_running_job_is_less_urgent(s: State, job: Job) -> Claim:
    return some(running(s), lambda r: s.urgency[r] < s.urgency[job])


def yields_first(s: State, victim: Job, other: Job) -> Claim:
    """The victim is less urgent, or as urgent and in the lower slot."""
    return either(
        s.urgency[victim] < s.urgency[other],
        both(
            s.urgency[victim] == s.urgency[other],
            s.number[s.slot[victim]] <= s.number[s.slot[other]],
        ),
    )


def inherits_first(s: State, heir: Job, other: Job) -> Claim:
    """The heir is more urgent, or as urgent and earlier in the queue."""
    return either(
        s.urgency[other] < s.urgency[heir],
        both(s.urgency[other] == s.urgency[heir], s.ticket[heir] <= s.ticket[other]),
    )


def is_the_victim(s: State, victim: Job) -> Claim:
    return both(is_running(s, victim), every(running(s), lambda r: yields_first(s, victim, r)))


def is_the_heir(s: State, heir: Job) -> Claim:
    return both(is_queued(s, heir), every(queued(s), lambda q: inherits_first(s, heir, q)))


def is_lowest(s: State, job: Job) -> Claim:
    return s.urgency[job] == s.lowest


def holds_a_lowest(s: State, slot: Slot) -> Claim:
    return both(s.busy[slot], is_lowest(s, s.holder[slot]))


def the_urgency_respects_the_priority(s: State) -> Claim:
    """A job of lower priority never has the same or a higher urgency."""
    return every(
        s.jobs,
        lambda a: every(s.jobs, lambda b: implies(s.priority[a] < s.priority[b], s.urgency[a] < s.urgency[b])),
    )


# Pieces of steps


def start(s: State, job: Job, slot: Slot) -> State:
    """The job runs in the free slot, under a run number never used before."""
    return replace(
        count_lowest(s, slot, is_lowest(s, job)),
        phase=s.phase.put(job, Phase.RUNNING),
        slot=s.slot.put(job, slot),
        run=s.run.put(job, s.next_run),
        runner=s.runner.put(s.next_run, job),
        next_run=s.next_run + 1,
        busy=s.busy.put(slot, True),
        holder=s.holder.put(slot, job),
    )


def stop(s: State, job: Job, phase: Phase) -> State:
    """The running job leaves its slot."""
    return replace(
        uncount_lowest(s, s.slot[job], is_lowest(s, job)),
        phase=s.phase.put(job, phase),
        busy=s.busy.put(s.slot[job], False),
    )


def line_up(s: State, job: Job) -> State:
    """The job takes the last place of the queue."""
    return replace(
        s,
        phase=s.phase.put(job, Phase.QUEUED),
        ticket=s.ticket.put(job, s.next_ticket),
        ticketed=s.ticketed.put(s.next_ticket, job),
        next_ticket=s.next_ticket + 1,
        seat=s.seat.put(job, s.waiting),
        seated=s.seated.put(s.waiting, job),
        waiting=s.waiting + 1,
    )


def step_out(s: State, job: Job, phase: Phase) -> State:
    """The queued job leaves the queue; whoever had the last seat takes over the seat that is left."""
    last = s.seated[s.waiting - 1]
    return replace(
        s,
        phase=s.phase.put(job, phase),
        seat=s.seat.put(last, s.seat[job]),
        seated=s.seated.put(s.seat[job], last),
        waiting=s.waiting - 1,
    )


def count_lowest(s: State, slot: Slot, lowest: Claim) -> State:
    """A job starts in the slot: where it is of the lowest level, the slot takes the first rank behind its like."""
    rank = ite(lowest, s.lowest_running, s.rank[slot])
    return replace(swap_ranks(s, slot, rank), lowest_running=ite(lowest, s.lowest_running + 1, s.lowest_running))


def uncount_lowest(s: State, slot: Slot, lowest: Claim) -> State:
    """A job leaves the slot: where it was of the lowest level, the slot takes the last rank among its like."""
    rank = ite(lowest, s.lowest_running - 1, s.rank[slot])
    return replace(swap_ranks(s, slot, rank), lowest_running=ite(lowest, s.lowest_running - 1, s.lowest_running))


def swap_ranks(s: State, slot: Slot, rank: int) -> State:
    other = s.ranked[rank]
    return replace(
        s,
        rank=s.rank.put(other, s.rank[slot]).put(slot, rank),
        ranked=s.ranked.put(s.rank[slot], other).put(rank, slot),
    )


def book(s: State, job: Job, steps: int) -> State:
    """The steps are served."""
    return replace(
        s,
        remaining=s.remaining.put(job, s.remaining[job] - steps),
        served=s.served.put(job, s.served[job] + steps),
    )


def enter(s: State, job: Job) -> State:
    """The newcomer has all its work before it."""
    return replace(s, remaining=s.remaining.put(job, s.work[job]), served=s.served.put(job, 0))


# Actions


def may_place(s: State, job: Job, slot: Slot) -> Claim:
    return both(
        is_new(s, job),
        negate(s.busy[slot]),
        every(free(s), lambda k: s.number[slot] <= s.number[k]),
    )


def place(s: State, job: Job, slot: Slot) -> State:
    """The newcomer takes the lowest free slot."""
    return start(enter(s, job), job, slot)


def may_preempt(s: State, job: Job, victim: Job) -> Claim:
    return both(
        is_new(s, job),
        all_slots_are_busy(s),
        is_the_victim(s, victim),
        s.urgency[victim] < s.urgency[job],
        s.waiting < s.capacity + s.reserve,
    )


def preempt(s: State, job: Job, victim: Job) -> State:
    """The newcomer takes the slot of the least urgent running job, which returns to the queue with its work intact."""
    vacated = line_up(stop(s, victim, Phase.QUEUED), victim)
    return start(enter(vacated, job), job, s.slot[victim])


def may_enqueue(s: State, job: Job) -> Claim:
    return both(
        is_new(s, job),
        all_slots_are_busy(s),
        negate(some_running_job_is_less_urgent(s, job)),
        s.waiting < s.capacity,
    )


def enqueue(s: State, job: Job) -> State:
    """The newcomer waits: every slot is held by a job at least as urgent."""
    return line_up(enter(s, job), job)


def may_refuse_the_full_queue(s: State, job: Job) -> Claim:
    places = ite(some_running_job_is_less_urgent(s, job), s.capacity + s.reserve, s.capacity)
    return both(is_new(s, job), all_slots_are_busy(s), places <= s.waiting)


def refuse_the_full_queue(s: State, job: Job) -> State:
    """There is no place for the newcomer, or none for the job it would preempt."""
    return s


def may_refuse_the_live_id(s: State, job: Job) -> Claim:
    return is_live(s, job)


def refuse_the_live_id(s: State, job: Job) -> State:
    """The id is in use."""
    return s


def may_work(s: State, job: Job, steps: int) -> Claim:
    return both(is_running(s, job), steps >= 1, steps <= s.remaining[job])


def work(s: State, job: Job, steps: int) -> State:
    """The running job reports steps done."""
    return book(s, job, steps)


def may_refuse_the_steps(s: State, job: Job, steps: int) -> Claim:
    return both(is_running(s, job), either(steps < 1, s.remaining[job] < steps))


def refuse_the_steps(s: State, job: Job, steps: int) -> State:
    """No run can do less than one step, or more than remain."""
    return s


def may_finish_with_an_heir(s: State, job: Job, heir: Job) -> Claim:
    return both(is_running(s, job), is_the_heir(s, heir))


def finish_with_an_heir(s: State, job: Job, heir: Job) -> State:
    """The run ends, what remained is booked as served, and the most urgent waiting job inherits the slot."""
    ended = stop(book(s, job, s.remaining[job]), job, Phase.ENDED)
    return start(step_out(ended, heir, Phase.RUNNING), heir, s.slot[job])


def may_finish_to_idle(s: State, job: Job) -> Claim:
    return both(is_running(s, job), nobody_waits(s))


def finish_to_idle(s: State, job: Job) -> State:
    """The run ends and nobody waits for the slot."""
    return stop(book(s, job, s.remaining[job]), job, Phase.ENDED)


def may_cancel_queued(s: State, job: Job) -> Claim:
    return is_queued(s, job)


def cancel_queued(s: State, job: Job) -> State:
    """The waiting job leaves the queue."""
    return step_out(s, job, Phase.CANCELLED)


def may_cancel_with_an_heir(s: State, job: Job, heir: Job) -> Claim:
    return both(is_running(s, job), is_the_heir(s, heir))


def cancel_with_an_heir(s: State, job: Job, heir: Job) -> State:
    """The running job leaves and the most urgent waiting job inherits the slot at once."""
    return start(step_out(stop(s, job, Phase.CANCELLED), heir, Phase.RUNNING), heir, s.slot[job])


def may_cancel_to_idle(s: State, job: Job) -> Claim:
    return both(is_running(s, job), nobody_waits(s))


def cancel_to_idle(s: State, job: Job) -> State:
    """The running job leaves and nobody waits for the slot."""
    return stop(s, job, Phase.CANCELLED)


def may_cancel_nothing(s: State, job: Job) -> Claim:
    return negate(is_live(s, job))


def cancel_nothing(s: State, job: Job) -> State:
    """No live job has the id."""
    return s


def may_be_stale(s: State, job: Job, slot: Slot, run: int) -> Claim:
    return negate(both(is_running(s, job), s.slot[job] == slot, s.run[job] == run))


def stale(s: State, job: Job, slot: Slot, run: int) -> State:
    """The event belongs to a run that is over."""
    return s


def may_restart(s: State) -> Claim:
    return True


def restart(s: State) -> State:
    """The worker was lost: nobody moves, and every running job gets a new run, so that every earlier lease is stale."""
    return replace(
        s,
        run=each(s.run, running(s), lambda j: s.next_run + s.number[s.slot[j]]),
        runner=each(
            s.runner,
            numbers(s.next_run + s.size, s.next_run),
            lambda run: s.holder[s.numbered[run - s.next_run]],
        ),
        next_run=s.next_run + s.size,
    )


def may_reuse(s: State, job: Job, work: int, urgency: int, priority: int) -> Claim:
    again = reuse(s, job, work, urgency, priority)
    return both(
        either(s.phase[job] == Phase.ENDED, s.phase[job] == Phase.CANCELLED),
        work >= 1,
        s.lowest <= urgency,
        the_urgency_respects_the_priority(again),
    )


def reuse(s: State, job: Job, work: int, urgency: int, priority: int) -> State:
    """The id of a job that is over may name another job."""
    return replace(
        s,
        phase=s.phase.put(job, Phase.NEW),
        work=s.work.put(job, work),
        urgency=s.urgency.put(job, urgency),
        priority=s.priority.put(job, priority),
    )


ACTIONS = (
    Action(may_place, place),
    Action(may_preempt, preempt),
    Action(may_enqueue, enqueue),
    Action(may_refuse_the_full_queue, refuse_the_full_queue),
    Action(may_refuse_the_live_id, refuse_the_live_id),
    Action(may_work, work),
    Action(may_refuse_the_steps, refuse_the_steps),
    Action(may_finish_with_an_heir, finish_with_an_heir),
    Action(may_finish_to_idle, finish_to_idle),
    Action(may_cancel_queued, cancel_queued),
    Action(may_cancel_with_an_heir, cancel_with_an_heir),
    Action(may_cancel_to_idle, cancel_to_idle),
    Action(may_cancel_nothing, cancel_nothing),
    Action(may_be_stale, stale),
    Action(may_restart, restart),
    Action(may_reuse, reuse),
)
