"""The means of containment, as the certificate names them, and the limits of a child."""

from __future__ import annotations

from dataclasses import fields

from _parts.errors import NotTold
from _parts.markdown import code, table
from _parts.words import as_phrase, beside_fields
from conformance.rig.limits import MIB, Limits
from conformance.rig.namespaces import Containment

_MEANS = {
    "pid_namespace": (
        "each child has a PID namespace: nothing outlives its first process, and nothing outside can be signalled",
        "Linux, as root or where users may make namespaces",
    ),
    "network_namespace": (
        "all children share a network of their own, in which nothing listens but the rig's proxies",
        "as above",
    ),
    "user_namespace": ("the two above were had by way of a user namespace", "Linux, for users who are not root"),
    "own_process_table": (
        "a child's `/proc` shows its own processes only",
        "a PID namespace in which `/proc` can be mounted",
    ),
    "confined_signals": (
        "Landlock keeps signals and abstract Unix sockets inside the child",
        "Linux 6.12; only used where there is no PID namespace",
    ),
    "confined_network": (
        "Landlock lets TCP connections reach the rig's ports only",
        "Linux 6.7; only used where there is no network namespace",
    ),
    "subreaper": ("what a child abandons comes to its guardian, which lists and ends it", "Linux"),
    "guardian": ("a process of the rig's own watches the child, keeps the record and ends it", "everywhere"),
}
_KERNEL = {
    "memory_bytes": "recorded; requests past it are refused where seccomp can; three times as much ends the child",
    "processes": "ends the child",
    "file_bytes": "recorded; from twice as much on the kernel refuses more",
    "open_files": "refused by the kernel, and not recorded",
    "protocol_bytes": "ends the child",
    "output_bytes": "ends the child",
    "seconds": "ends the child",
    "cpu_seconds": "ends the process",
}


def means(_: str) -> str:
    """Render what each field of `containment` says, and what it takes."""
    _same_names("Containment", [one.name for one in fields(Containment)], list(_MEANS))
    return table(("field", "what it holds", "where"), [(code(name), *told) for name, told in _MEANS.items()])


def limits(_: str) -> str:
    """Render the limits of a child and what becomes of one that passes them."""
    _same_names("Limits", [one.name for one in fields(Limits)], list(_KERNEL))
    words = {name: as_phrase(text.partition(";")[0]) for name, text in beside_fields(Limits).items()}
    rows = [(words[one.name], _figure(one.name, one.default), _KERNEL[one.name]) for one in fields(Limits)]
    return table(("what", "limit", "past it"), rows)


def _figure(name: str, value: object) -> str:
    if name.endswith("_bytes") and isinstance(value, int):
        return f"{value // MIB} MiB"
    return f"{value:g} s" if "seconds" in name and isinstance(value, int | float) else str(value)


def _same_names(what: str, there: list[str], told: list[str]) -> None:
    if there != told:
        raise NotTold(f"{what} has {', '.join(there)}; docs/_parts/containment.py tells of {', '.join(told)}")
