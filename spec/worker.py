"""The closed loop: a controller and the worker that it starts and stops, in a world that crashes, delays, doubles and
lies (`worker_world`).

Two things are taken for true: that a process whose end is told has ended (ENDED; no generation is used twice, so this
stays true however late it is heard), and that demand, where it is known, is what is queued or in flight (TOLD). That a
worker is started and that it is alive is one step (SPAWN-ATOMIC).
"""

from __future__ import annotations

from dataclasses import replace

from spec import worker_world
from spec.logic import Action, Claim, both, each, either, implies, ite, negate
from spec.worker_state import (
    Demand,
    Place,
    State,
    Verdict,
    WorkerPhase,
    doubled,
    in_flight,
    is_cold,
    is_starting,
    is_stopping,
    is_wanted,
    is_warm,
    was_of_use,
)

# Pieces of steps


def stop(s: State) -> State:
    """The worker is told to stop, with whatever is left of its group."""
    return replace(s, phase=WorkerPhase.STOPPING, refusals=0, touched=True)


def fail(s: State) -> State:
    """The worker is lost: what was in flight waits again with its work intact, and unless a job had ended on this
    worker the next start backs off."""
    return replace(hand_back(stop(s)), back_off=ite(was_of_use(s), s.back_off, doubled(s)))


def hand_back(s: State) -> State:
    """What was in flight waits again, under a new lease."""
    return replace(s, place=each(s.place, in_flight(s), lambda _: Place.WAITING))


def at_the_tick(s: State, demand: Demand, now: int) -> State:
    """The clocks of a new instant: touched ones begin, and that of an idle worker begins anew unless nothing is wanted.
    What is not known may be demand, and is no ground to call the worker hung."""
    ticked = replace(
        s,
        now=now,
        since=ite(either(s.touched, both(is_warm(s), negate(demand == Demand.NONE))), now, s.since),
        quiet=ite(either(s.touched, negate(demand == Demand.SOME)), now, s.quiet),
        touched=False,
        blind=ite(is_blind(s, demand), s.blind + 1, 0),
    )
    return replace(ticked, alarm=alarm_is_due(ticked, demand))


def is_blind(s: State, demand: Demand) -> Claim:
    """There is something to decide, and no knowledge to decide on."""
    return both(
        either(is_cold(s), is_warm(s)),
        either(demand == Demand.UNKNOWN, s.seen == Verdict.UNKNOWN),
    )


def a_stranger_answers(s: State) -> Claim:
    """Nothing of ours is left, yet the port answers."""
    return both(is_cold(s), s.seen == Verdict.WARM)


def work_stalls(s: State, demand: Demand) -> Claim:
    """Work is wanted of a warm worker, and for long none has progressed."""
    return both(is_warm(s), demand == Demand.SOME, s.alarm_after <= s.now - s.quiet)


def the_stop_stalls(s: State) -> Claim:
    """A worker was told to stop long ago, and is not gone."""
    return both(is_stopping(s), s.alarm_after <= s.now - s.since)


def alarm_is_due(s: State, demand: Demand) -> Claim:
    return either(
        a_stranger_answers(s),
        work_stalls(s, demand),
        the_stop_stalls(s),
        s.patience <= s.blind,
    )


# What the controller hears


def may_become_ready(s: State) -> Claim:
    return is_starting(s)


def become_ready(s: State) -> State:
    """A probe of a starting worker says WARM: it is ready, has proved nothing yet, and idle time counts from here."""
    return replace(s, phase=WorkerPhase.WARM, seen=Verdict.WARM, touched=True, proven=False)


def may_count_a_refusal(s: State) -> Claim:
    return both(is_warm(s), s.refusals + 1 < s.patience)


def count_a_refusal(s: State) -> State:
    """A warm worker refuses a connection, not yet often enough in a row to be lost."""
    return replace(s, seen=Verdict.COLD, refusals=s.refusals + 1)


def may_lose(s: State) -> Claim:
    return both(is_warm(s), s.patience <= s.refusals + 1)


def lose(s: State) -> State:
    """A warm worker refuses connections again and again: it is lost."""
    return fail(replace(s, seen=Verdict.COLD))


def may_see_nothing(s: State) -> Claim:
    return True


def see_nothing(s: State) -> State:
    """A probe finds out nothing, such as one that timed out; a row of refusals ends with it."""
    return replace(s, seen=Verdict.UNKNOWN, refusals=0)


def may_note(s: State, verdict: Verdict) -> Claim:
    return both(
        negate(verdict == Verdict.UNKNOWN),
        negate(both(is_starting(s), verdict == Verdict.WARM)),
        negate(both(is_warm(s), verdict == Verdict.COLD)),
    )


def note(s: State, verdict: Verdict) -> State:
    """Any other probe is remembered, and moves nothing: no start waits for it, no stop is called off."""
    return replace(s, seen=verdict, refusals=0)


def may_crash(s: State, generation: int) -> Claim:
    return both(
        generation == s.generation,
        either(is_starting(s), is_warm(s)),
        negate(s.runs[generation]),
    )


def crash(s: State, generation: int) -> State:
    """The controller hears that the process of its worker has ended, and stops what is left of it."""
    return fail(s)


def may_confirm(s: State, generation: int, port: Verdict) -> Claim:
    return both(
        generation == s.generation,
        is_stopping(s),
        negate(s.alive[generation]),
        negate(port == Verdict.UNKNOWN),
    )


def confirm(s: State, generation: int, port: Verdict) -> State:
    """The group is confirmed gone, and the port is free or a stranger's: the worker is cold."""
    return replace(s, phase=WorkerPhase.COLD, seen=port, touched=True)


def may_be_late(s: State, generation: int) -> Claim:
    return either(
        generation < s.generation,
        both(generation == s.generation, either(is_cold(s), is_stopping(s))),
    )


def late(s: State, generation: int) -> State:
    """A probe, an exit or a report of a worker whose end is known already, delayed or doubled on its way."""
    return s


def may_be_early(s: State, generation: int) -> Claim:
    return both(generation == s.generation, is_starting(s))


def early(s: State, generation: int) -> State:
    """A report of work by a worker that is not ready, such as one adopted by a new controller."""
    return s


# What the controller decides, at a tick


def is_a_tick(s: State, demand: Demand, now: int) -> Claim:
    """Time does not go back, and the demand that is told is true."""
    return both(
        s.now <= now,
        implies(demand == Demand.SOME, is_wanted(s)),
        implies(demand == Demand.NONE, negate(is_wanted(s))),
    )


def spawn_is_due(s: State, demand: Demand) -> Claim:
    return both(is_cold(s), s.seen == Verdict.COLD, demand == Demand.SOME, s.back_off <= s.now - s.since)


def is_hung(s: State, demand: Demand) -> Claim:
    """Work is wanted of a warm worker, and none has progressed for the hang budget; a budget of 0 is none."""
    return both(is_warm(s), demand == Demand.SOME, s.hang_budget >= 1, s.hang_budget <= s.now - s.quiet)


def serve_is_due(s: State, demand: Demand) -> Claim:
    return both(is_warm(s), s.seen == Verdict.WARM, demand == Demand.SOME, negate(is_hung(s, demand)))


def reap_is_due(s: State, demand: Demand) -> Claim:
    return both(is_warm(s), s.seen == Verdict.WARM, demand == Demand.NONE, s.ttl <= s.now - s.since)


def start_is_overdue(s: State) -> Claim:
    return both(is_starting(s), s.start_budget <= s.now - s.since)


def may_spawn(s: State, demand: Demand, now: int) -> Claim:
    return both(is_a_tick(s, demand, now), spawn_is_due(at_the_tick(s, demand, now), demand))


def spawn(s: State, demand: Demand, now: int) -> State:
    """Work is wanted, the port is free and the back-off over: a worker is started, and counts as alive at once."""
    born = s.generation + 1
    return replace(
        at_the_tick(s, demand, now),
        phase=WorkerPhase.STARTING,
        generation=born,
        alive=s.alive.put(born, True),
        runs=s.runs.put(born, True),
        since=now,
    )


def may_serve(s: State, demand: Demand, now: int) -> Claim:
    return both(is_a_tick(s, demand, now), serve_is_due(at_the_tick(s, demand, now), demand))


def serve(s: State, demand: Demand, now: int) -> State:
    """Work is wanted and the worker answers: it is used."""
    return at_the_tick(s, demand, now)


def may_reap(s: State, demand: Demand, now: int) -> Claim:
    return both(is_a_tick(s, demand, now), reap_is_due(at_the_tick(s, demand, now), demand))


def reap(s: State, demand: Demand, now: int) -> State:
    """Nothing was wanted for the ttl: the worker is stopped, which is no failure."""
    return stop(at_the_tick(s, demand, now))


def may_give_up(s: State, demand: Demand, now: int) -> Claim:
    return both(is_a_tick(s, demand, now), start_is_overdue(at_the_tick(s, demand, now)))


def give_up(s: State, demand: Demand, now: int) -> State:
    """The start has used up its budget: the worker is stopped."""
    return fail(at_the_tick(s, demand, now))


def may_renew(s: State, demand: Demand, now: int) -> Claim:
    return both(is_a_tick(s, demand, now), is_hung(at_the_tick(s, demand, now), demand))


def renew(s: State, demand: Demand, now: int) -> State:
    """The worker hangs: it is stopped to be replaced, which is no reap, and its jobs wait again."""
    return fail(at_the_tick(s, demand, now))


def may_hold(s: State, demand: Demand, now: int) -> Claim:
    ticked = at_the_tick(s, demand, now)
    return both(
        is_a_tick(s, demand, now),
        negate(spawn_is_due(ticked, demand)),
        negate(serve_is_due(ticked, demand)),
        negate(reap_is_due(ticked, demand)),
        negate(start_is_overdue(ticked)),
        negate(is_hung(ticked, demand)),
    )


def hold(s: State, demand: Demand, now: int) -> State:
    """There is no reason to do anything, or not enough knowledge."""
    return at_the_tick(s, demand, now)


# The controller itself


def may_restart_the_controller(s: State) -> Claim:
    return True


def controller_restart(s: State) -> State:
    """A new controller finds what the lock file names: a living group is starting, with its budget anew, or stopping if
    a stop had begun; else the worker is cold. It remembers nothing, and all work in flight starts anew."""
    return replace(
        hand_back(s),
        phase=ite(
            s.alive[s.generation],
            ite(is_stopping(s), WorkerPhase.STOPPING, WorkerPhase.STARTING),
            WorkerPhase.COLD,
        ),
        seen=Verdict.UNKNOWN,
        refusals=0,
        since=s.now,
        quiet=s.now,
        touched=True,
        back_off=0,
        proven=False,
        blind=0,
        alarm=False,
    )


ACTIONS = (
    *worker_world.ACTIONS,
    Action(may_become_ready, become_ready),
    Action(may_count_a_refusal, count_a_refusal),
    Action(may_lose, lose),
    Action(may_see_nothing, see_nothing),
    Action(may_note, note),
    Action(may_crash, crash),
    Action(may_confirm, confirm),
    Action(may_be_late, late),
    Action(may_be_early, early),
    Action(may_spawn, spawn),
    Action(may_serve, serve),
    Action(may_reap, reap),
    Action(may_give_up, give_up),
    Action(may_renew, renew),
    Action(may_hold, hold),
    Action(may_restart_the_controller, controller_restart),
)
