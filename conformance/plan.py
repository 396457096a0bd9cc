"""What a run means to do: each subject with the name it has in node ids, its profile, and the clauses to judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.contracts import registry
from conformance.contracts.registry import Clause
from conformance.profile import Profile, load_profile
from conformance.subject import Subject
from conformance.targets import resolve_target
from conformance.usage import UsageError, did_you_mean


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One subject and all that is to be judged about it."""

    slug: str
    """The subject's part of the node ids, unique within the run."""
    subject: Subject
    profile: Profile
    clauses: tuple[Clause, ...]


def make_plans(targets: Sequence[str], *, cwd: Path, root: Path, profile_path: Path | None) -> list[Plan]:
    """Resolve every target and read the profile, before anything is run.

    Args:
        targets: the values of `--conformance`; one that is given twice counts once.
        cwd: the folder from which the command was given.
        root: the folder whose `pyproject.toml` holds the profile of subjects that bring none themselves.
        profile_path: the profile's file, where one is named; it holds for every subject.

    Raises:
        UsageError: if a target or the profile is wrong, or a waiver names no clause.
    """
    clauses = tuple(registry.catalogue())
    plans: list[Plan] = []
    for target in dict.fromkeys(targets):
        subject = resolve_target(target, cwd=cwd)
        profile = load_profile(profile_path, root) if profile_path else _profile_of(subject, root)
        _check_waivers(profile, [one.id for one in clauses])
        slug = _unused(subject.slug, {plan.slug for plan in plans})
        plans.append(Plan(slug=slug, subject=subject, profile=profile, clauses=clauses))
    return plans


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
