"""Landlock: what an ordinary Linux process may forbid itself for good.

https://docs.kernel.org/userspace-api/landlock.html

It stands in where there are no namespaces: signals then stay inside the child, and TCP connections go to the rig's
ports only. It does not cover UDP.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable

from conformance.rig import libc

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same on every architecture
CREATE_RULESET_VERSION = 1
RULE_NET_PORT = 2
ACCESS_NET_CONNECT_TCP = 2
SCOPE_ABSTRACT_UNIX, SCOPE_SIGNAL = 1, 2

VERSION_WITH_NETWORK, VERSION_WITH_SCOPES = 4, 6


class RulesetAttributes(ctypes.Structure):
    """`struct landlock_ruleset_attr`."""

    _fields_ = (("handled_fs", ctypes.c_uint64), ("handled_net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class NetPortAttributes(ctypes.Structure):
    """`struct landlock_net_port_attr`."""

    _fields_ = (("allowed", ctypes.c_uint64), ("port", ctypes.c_uint64))


def version() -> int:
    """The version of the kernel's interface; 0 where there is none."""
    if not libc.ON_LINUX:
        return 0
    answer = libc.library().syscall(CREATE_RULESET, None, ctypes.c_size_t(0), CREATE_RULESET_VERSION)
    return max(0, int(answer))


def confine(*, signals: bool, ports: Iterable[int] | None) -> None:
    """Restrict this process and all it will start; it must have given up new privileges before.

    Args:
        signals: no signal and no abstract Unix socket reaches a process outside.
        ports: the only TCP ports to which a connection may be opened; None leaves the network alone.
    """
    if not signals and ports is None:
        return
    attributes = RulesetAttributes(
        0, ACCESS_NET_CONNECT_TCP if ports is not None else 0, SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL if signals else 0
    )
    size = ctypes.c_size_t(ctypes.sizeof(attributes) if signals else RulesetAttributes.scoped.offset)
    ruleset = libc.checked("syscall", CREATE_RULESET, ctypes.byref(attributes), size, 0)
    try:
        for port in ports or ():
            rule = NetPortAttributes(ACCESS_NET_CONNECT_TCP, port)
            libc.checked("syscall", ADD_RULE, ruleset, RULE_NET_PORT, ctypes.byref(rule), 0)
        libc.checked("syscall", RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)
