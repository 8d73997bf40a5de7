"""nx_mesh_autoscale.nx in Python, function by function and under its own names. Nothing is mended.

Numbers wrap around as an i64 does in hardware, and division rounds towards zero. What it imports is not at hand: the
bounded connect is a plain one that does not block, and the request is a plain GET. Only the texts of the self-test are
left out, but for its verdict and the status table.
"""

from __future__ import annotations

import select
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TextIO

AM_MAGIC_7861 = 7861
AM_MAGIC_2048 = 2048
AM_MAGIC_2000 = 2000
AM_MAGIC_16384 = 16384
AM_MAGIC_16383 = 16383

AM_HOLD = 0
AM_SPAWN = 1
AM_SERVE = 2
AM_REAP = 3


def i64(value: int) -> int:
    """What 64 bits hold of the number."""
    return value if -(2**63) <= value < 2**63 else (value + 2**63) % 2**64 - 2**63


def am_w(fd: TextIO, s: str) -> None:
    """nx_mesh_autoscale.nx:33"""
    fd.write(s)


def am_wn(fd: TextIO, v: int) -> None:
    """nx_mesh_autoscale.nx:34: of the least i64 only the sign is written."""
    m, digits = v, ""
    if m < 0:
        fd.write("-")
        m = i64(0 - m)
    if m == 0:
        digits = "0"
    while m > 0:
        digits = chr(48 + m % 10) + digits
        m = m // 10
    fd.write(digits)


def am_p(s: str) -> None:
    """nx_mesh_autoscale.nx:47"""
    am_w(sys.stdout, s)


def am_pn(v: int) -> None:
    """nx_mesh_autoscale.nx:48"""
    am_wn(sys.stdout, v)


def am_atoi(s: str) -> int:
    """nx_mesh_autoscale.nx:49: the digits, whatever stands between them."""
    v = 0
    for c in s.encode(errors="surrogateescape"):
        if 48 <= c <= 57:
            v = i64(v * 10 + (c - 48))
    return v


def am_action_name(a: int) -> str:
    """nx_mesh_autoscale.nx:50"""
    return {AM_HOLD: "HOLD", AM_SPAWN: "SPAWN", AM_SERVE: "SERVE", AM_REAP: "REAP"}.get(a, "?")


def am_decide(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> int:
    """nx_mesh_autoscale.nx:60"""
    if demand == 1:
        if warm == 0:
            return AM_SPAWN
        return AM_SERVE
    if warm == 1:
        if idle_sec >= ttl_sec:
            return AM_REAP
        return AM_HOLD
    return AM_HOLD


def am_savings_permil(warm_sec: int, window_sec: int) -> int:
    """nx_mesh_autoscale.nx:74"""
    if window_sec <= 0:
        return 0
    off = max(i64(window_sec - warm_sec), 0)
    thousandfold = i64(off * 1000)
    return thousandfold // window_sec if thousandfold >= 0 else -(-thousandfold // window_sec)


def am_resp_2xx(buf: bytes, n: int) -> int:
    """nx_mesh_autoscale.nx:84: 1 if "200" stands anywhere in the first line, and something behind it."""
    i = 0
    while i + 3 < n:
        if buf[i] == 50 and buf[i + 1] == 48 and buf[i + 2] == 48:
            return 1
        if buf[i] == 10:
            i = n
        i = i + 1
    return 0


def am_probe_warm(
    a: int, b: int, c: int, d: int, port: int = AM_MAGIC_7861, connect_ms: int = 1000, answer_ms: int = AM_MAGIC_2000
) -> int:
    """nx_mesh_autoscale.nx:100: 1 if one read brings a first line with "200" in it; 0 for all else, silence included.

    Port and times are the original's unless set.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as fd, suppress(OSError):
        fd.setblocking(False)
        fd.connect_ex((f"{a % 256}.{b % 256}.{c % 256}.{d % 256}", port))
        rev = _poll(fd, select.POLLOUT, connect_ms)
        if rev == 0 or rev & (select.POLLERR | select.POLLHUP):
            return 0
        fd.send(b"GET /v1/models HTTP/1.1\r\nHost: worker\r\n\r\n")
        if _poll(fd, select.POLLIN, answer_ms) == 0:
            return 0
        out = fd.recv(AM_MAGIC_16383)
        return am_resp_2xx(out, len(out))
    return 0


def _poll(fd: socket.socket, events: int, timeout_ms: int) -> int:
    poll = select.poll()
    poll.register(fd, events)
    return sum(rev for _, rev in poll.poll(timeout_ms))


def am_gate(status: str = "knowledge/status/mesh_autoscale.tsv") -> int:
    """nx_mesh_autoscale.nx:130: the self-test and its status table; 0 if all ten hold, else 1."""
    t1 = am_decide(0, 1, 0, 60) == AM_SPAWN
    t2 = am_decide(1, 1, 0, 60) == AM_SERVE
    t3 = am_decide(1, 0, 90, 60) == AM_REAP
    t4 = am_decide(1, 0, 30, 60) == AM_HOLD
    t5 = am_decide(0, 0, 999, 60) == AM_HOLD
    t6 = am_decide(0, 1, 999, 60) == AM_SPAWN
    t7 = am_savings_permil(30, 100) == 700
    neg1 = am_decide(1, 1, 999, 60) != AM_REAP
    neg2 = am_decide(1, 0, 30, 60) != AM_REAP
    neg3 = am_decide(1, 1, 0, 60) != AM_SPAWN
    with suppress(OSError), open(status, "w", encoding="ascii") as sfd:
        am_w(sfd, "# nx_mesh_autoscale -- scale-to-zero policy: SPAWN on demand, REAP on idle-TTL, HOLD otherwise\n")
        am_w(sfd, "decision_table_green\t")
        am_wn(sfd, t1)
        am_w(sfd, "\n")
        am_w(sfd, "savings_permil_30of100\t")
        am_wn(sfd, am_savings_permil(30, 100))
        am_w(sfd, "\n")
    if all((t1, t2, t3, t4, t5, t6, t7, neg1, neg2, neg3)):
        am_p("MESHAUTOSCALEGATE verdict=GREEN")
        am_p("\n")
        return 0
    am_p("MESHAUTOSCALEGATE verdict=RED\n")
    return 1


def am_streq(a: str, b: str) -> int:
    """nx_mesh_autoscale.nx:182"""
    return int(a == b)


def main(argv: Sequence[str], probe: Callable[[int, int, int, int], int] = am_probe_warm) -> int:
    """nx_mesh_autoscale.nx:189: the exit code. `argv[0]` is the program; `probe` answers for the worker."""
    argc = len(argv)
    if argc >= 2:
        cmd = argv[1]
        if am_streq(cmd, "decide") == 1:
            if argc < 6:
                am_w(sys.stderr, "usage: nx_mesh_autoscale decide <warm> <demand> <idle_sec> <ttl_sec>\n")
                return 2
            w, dm, idl, tl = map(am_atoi, argv[2:6])
            return _said("decide", w, dm, idl, tl, am_decide(w, dm, idl, tl))
        if cmd == "tick":  # compared by hand there, and read beyond its end where it is shorter
            if argc < 5:
                am_w(sys.stderr, "usage: nx_mesh_autoscale tick <demand> <idle_sec> <ttl_sec> [a b c d]\n")
                return 2
            demand, idle, ttl = map(am_atoi, argv[2:5])
            a, b, c, d = 192, 168, 8, 193
            if argc >= 9:
                a, b, c, d = map(am_atoi, argv[5:9])
            warm = probe(a, b, c, d)
            return _said("tick", warm, demand, idle, ttl, am_decide(warm, demand, idle, ttl))
        am_w(sys.stderr, "usage: nx_mesh_autoscale tick <demand> <idle_sec> <ttl_sec> (no args = gate)\n")
        return 2
    return am_gate()


def _said(cmd: str, warm: int, demand: int, idle: int, ttl: int, act: int) -> int:
    """nx_mesh_autoscale.nx:200 and :217: the line that both commands print."""
    am_p(cmd)
    for s, v in ((" warm=", warm), (" demand=", demand), (" idle=", idle), ("s ttl=", ttl)):
        am_p(s)
        am_pn(v)
    am_p("s -> ACTION=")
    am_p(am_action_name(act))
    am_p("\n")
    return act
