"""What a run means to do: each subject with the name it has in node ids, its profile, and the clauses to judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.contracts import registry
from conformance.contracts.registry import Clause
from conformance.families import about, kind_of
from conformance.profile import Profile, ServerTable, load_profile, shipped_server_table
from conformance.subject import Subject
from conformance.targets import resolve_target
from conformance.usage import UsageError, did_you_mean
from conformance.waiving import Waivers, read_baseline


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One subject and all that is to be judged about it."""

    slug: str
    """The subject's part of the node ids, unique within the run."""
    subject: Subject
    profile: Profile
    clauses: tuple[Clause, ...]
    waivers: Waivers


def make_plans(
    targets: Sequence[str], *, cwd: Path, root: Path, profile_path: Path | None, baseline_path: Path | None = None
) -> list[Plan]:
    """Resolve every target and read the profile, before anything is run.

    Args:
        targets: the values of `--conformance`; one that is given twice counts once.
        cwd: the folder from which the command was given.
        root: the folder whose `pyproject.toml` holds the profile of subjects that bring none themselves.
        profile_path: the profile's file, where one is named; it holds for every subject.
        baseline_path: an earlier certificate of the subject, whose failures are excused.

    Raises:
        UsageError: if a target, the profile or the baseline is wrong, or a waiver names no clause.
    """
    known_ids = registry.catalogue().ids()
    plans: list[Plan] = []
    for target in dict.fromkeys(targets):
        subject = resolve_target(target, cwd=cwd)
        profile = load_profile(profile_path, root) if profile_path else _profile_of(subject, root)
        profile = _with_shipped(profile, subject)
        _check_waivers(profile, known_ids)
        known = read_baseline(baseline_path, kind=subject.kind, name=subject.name) if baseline_path else {}
        waivers = Waivers(told=profile.waivers, baseline=known, name=baseline_path.name if baseline_path else "")
        slug = _unused(subject.slug, {plan.slug for plan in plans})
        clauses = about(registry.catalogue(), kind_of(subject))
        plans.append(Plan(slug=slug, subject=subject, profile=profile, clauses=clauses, waivers=waivers))
    return plans


def _with_shipped(profile: Profile, subject: Subject) -> Profile:
    """Add what the package knows of a server where nobody has told anything about it."""
    if not subject.command or profile.server != ServerTable():
        return profile
    return profile.model_copy(update={"server": shipped_server_table(Path(subject.command[0]).name)})


def _profile_of(subject: Subject, root: Path) -> Profile:
    """Read what the project of the subject says, where it is a project; else what stands in `root`."""
    own = subject.build_from
    brought = load_profile(None, own) if own is not None and own.is_dir() else Profile()
    return brought if brought != Profile() else load_profile(None, root)


def _check_waivers(profile: Profile, known: Sequence[str]) -> None:
    for clause_id in profile.waivers:
        if clause_id not in known:
            raise UsageError(f"the waiver of {clause_id} names no clause", "", did_you_mean(clause_id, known))


def _unused(slug: str, taken: set[str]) -> str:
    number, candidate = 1, slug
    while candidate in taken:
        number += 1
        candidate = f"{slug}-{number}"
    return candidate
