"""What the tests of the rig share: warm processes in each form of containment, and a look at what is left."""

import asyncio
import contextlib
import os
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from conformance.rig.namespaces import Isolation
from conformance.rig.order import Order
from conformance.rig.record import Record
from conformance.rig.warm import Child, WarmProcess

HERE = Path(__file__).parent
BEST = Isolation()
NO_PROCESS_TABLE = Isolation(process_table=False)
NO_PID_NAMESPACE = Isolation(pid=False)
LANDLOCK = Isolation(pid=False, network=False, user=False)
GUARDIAN_ALONE = Isolation.none()
FORMS = {
    "namespaces": BEST, "no-own-proc": NO_PROCESS_TABLE, "no-pid-namespace": NO_PID_NAMESPACE,
    "landlock": LANDLOCK, "guardian-alone": GUARDIAN_ALONE,
}  # fmt: skip


class Bench:
    """One warm process, whose descendants are known by a mark in their environment."""

    def __init__(self, warm: WarmProcess, mark: str, folder: Path) -> None:
        self.warm = warm
        self.mark = mark
        self.folder = folder

    async def start(self, entry: str, *, payload: dict | None = None, **options: object) -> Child:
        order = Order(
            entry=f"hostile_entries:{entry}", folder=str(self.folder), payload=payload or {},
            environment={"PATH": os.environ["PATH"], "BENCH_MARK": self.mark}, **options,
        )  # fmt: skip
        return await self.warm.start(order)

    async def run(
        self, entry: str, *, seconds: float = 20, grace: float = 0.5, **options: object
    ) -> tuple[Child, Record]:
        """Start a child and wait for its own end; one that goes on is closed."""
        child = await self.start(entry, **options)
        await child.wait_ended(seconds)
        return child, await child.close(grace)

    async def at_rest(self) -> bool:
        """Wait until nothing lives but the warm process and the guardian that waits for the next order."""
        return await only_lives(self.mark, 3 if self.warm.containment.pid_namespace else 2)


@contextlib.asynccontextmanager
async def bench(folder: Path, isolation: Isolation = BEST, **options: object) -> AsyncIterator[Bench]:
    mark = uuid.uuid4().hex
    environment = {"PATH": os.environ["PATH"], "BENCH_MARK": mark}
    async with WarmProcess(import_path=[HERE], isolation=isolation, environment=environment, **options) as warm:
        yield Bench(warm, mark, folder)
    assert not list(marked(mark)), "processes are left after the warm process was closed"


def marked(mark: str) -> Iterator[str]:
    """Give the living processes that were started with this mark."""
    for about in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark.encode() in (about / "environ").read_bytes():
                yield f"{about.name} {(about / 'comm').read_text().strip()}"


async def only_lives(mark: str, count: int, seconds: float = 5) -> bool:
    """Wait until no more than so many marked processes live; a guardian is still on its way out after its record."""
    for _ in range(round(seconds / 0.01)):
        if len(list(marked(mark))) <= count:
            return True
        await asyncio.sleep(0.01)
    return False
