"""Content of a trial's hosts whose names have to be encoded, and one Change-Id that stands on two branches.

The changes have numbers far from the others', so that they are known wherever they turn up and move none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mock_gerrit.host import Host

PROJECT = "leaf/litter"
BRANCH = "stable/1.0"
NESTED_FILE = "nested/oak+elm.md"
"""No blank in it: put into a URL as it is, it is sent and goes wrong on the way."""
BLANK_FILE = "nested/two words, 50% café.md"
"""Put into a URL as it is, it is refused by curl."""
TOPIC = "wind&rain+hail"
IVY = "ivy+oak@example.com"

ODD_NUMBER = 7301
ODD_CHANGE_ID = "I7e57ab1e00000000000000000000000000007301"
TWIN_NUMBERS = (7302, 7303)
TWIN_PLACES = (("demo", "master"), (PROJECT, BRANCH))
TWIN_SUBJECTS = ("Sweep the yard", "Sweep the old yard")
TWIN_CHANGE_ID = "I7e57ab1efadedbeebadecafedecadeaccedefeed"
"""Holds the number of neither: who repeats it has told of none of the two."""


def add_content(host: Host) -> None:
    """Add a person, a project and three changes to a host of the rig, which has its other content already."""
    ivy = host.account("ivy", name="Ivy Oak", email=IVY)
    host.project(PROJECT, branches=("master", BRANCH))
    host.change(
        PROJECT, branch=BRANCH, owner=ivy, subject="Rake the leaves", topic=TOPIC, hashtags=(TOPIC,),
        files={NESTED_FILE: "Oak and elm.\n", BLANK_FILE: "Two words.\n"},
        number=ODD_NUMBER, change_id=ODD_CHANGE_ID,
    )  # fmt: skip
    for number, (project, branch), subject in zip(TWIN_NUMBERS, TWIN_PLACES, TWIN_SUBJECTS, strict=True):
        host.change(
            project, branch=branch, owner=ivy, subject=subject, files={"yard.md": f"{subject}.\n"},
            number=number, change_id=TWIN_CHANGE_ID,
        )  # fmt: skip
