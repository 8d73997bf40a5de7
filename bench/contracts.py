"""The shipped `decide` with what it has to keep as contracts in Python (PEP 316), for CrossHair to read."""

from __future__ import annotations

from impl.autoscale import Action, decide


def decided(warm: int, demand: int, idle: int, ttl: int) -> int:
    """
    The shipped decision. Its contracts are the claims of spec/autoscale.py, in their order, then its guards.

    pre: warm == 0 or warm == 1
    pre: demand == 0 or demand == 1
    pre: idle >= 0
    pre: ttl >= 0
    post: demand == 0 if _ == 3 else True
    post: ttl <= idle if _ == 3 else True
    post: warm == 0 if _ == 1 else True
    post: _ == 1 if warm == 0 and demand == 1 else True
    post: warm == 1 if _ == 2 else True
    post: _ == 2 if warm == 1 and demand == 1 else True
    post: demand == 1 if _ == 1 or _ == 2 else True
    post: _ == 3 if warm == 1 and demand == 0 and ttl <= idle else True
    post: _ == 0 if warm == 0 and demand == 0 else True
    post: (_ == 1) == (demand == 1 and warm == 0)
    post: (_ == 2) == (demand == 1 and warm == 1)
    post: (_ == 3) == (demand == 0 and warm == 1 and ttl <= idle)
    post: (_ == 0) == (demand == 0 and (warm == 0 or idle < ttl))
    """
    return decide(warm, demand, idle, ttl)


def upside_down(warm: int, demand: int, idle: int, ttl: int) -> int:
    """
    A wrong decision, which must be refuted, or a verdict on the other says nothing.

    pre: warm == 0 or warm == 1
    pre: demand == 0 or demand == 1
    pre: idle >= 0
    pre: ttl >= 0
    post: ttl <= idle if _ == 3 else True
    """
    action = decide(warm, demand, idle, ttl)
    return Action.REAP if action == Action.HOLD and warm == 1 else action
