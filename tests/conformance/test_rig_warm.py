"""The warm process and its children: what they are given, what is captured, and how they end."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conformance.rig import libc
from conformance.rig.capture import Chunk
from conformance.rig.errors import ChildNotStarted, FactMissing, WarmProcessFailed
from conformance.rig.limits import Limits
from conformance.rig.namespaces import Isolation
from conformance.rig.order import Order
from conformance.rig.warm import WarmProcess

from .rig_bench import FORMS, GUARDIAN_ALONE, HERE, bench, marked, only_lives

pytestmark = pytest.mark.skipif(not libc.ON_LINUX, reason="what is looked at here is Linux's")

PHASES = ("import", "register", "calls")


@pytest.fixture(params=FORMS, name="isolation")
def each_form(request):
    return FORMS[request.param]


async def test_a_child_answers_over_descriptors_of_its_own(tmp_path, isolation):
    async with bench(tmp_path, isolation) as setting:
        child = await setting.start("echoes")
        await child.protocol.send(b"one")
        await child.protocol.write(b"two\nthr")
        await child.protocol.write(b"ee\n")
        assert [await child.protocol.receive() for _ in range(3)] == [b"ONE\n", b"TWO\n", b"THREE\n"]
        record = await child.close()
        assert (record.exit_code, record.ended_by, record.exceeded, record.left_behind) == (0, "us", (), ())
        assert child.stdout.data == b""
        assert await child.protocol.receive() == b""


async def test_every_byte_on_stdout_is_filed_under_its_phase(tmp_path, isolation):
    async with bench(tmp_path, isolation) as setting:
        for _ in range(5):
            child, _ = await setting.run("speaks_in_phases")
            expected = [Chunk(phase=one, data=f"print in {one}\nwrite in {one}\n".encode()) for one in PHASES]
            assert child.stdout.chunks == expected
            assert [chunk.data for chunk in child.stderr.chunks] == [f"error in {one}\n".encode() for one in PHASES]
            assert child.phase == "calls"


async def test_a_child_gets_nothing_but_what_its_order_says(tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_OF_THE_CALLER", "1")
    async with bench(tmp_path, preload=("hostile_entries:built",)) as setting:
        child = await setting.start("describes_itself")
        about = (await child.fact("about", 5)).about
        await child.close()
    assert about["environment"].keys() == {"PATH", "BENCH_MARK"}
    assert about["folder"] == str(tmp_path)
    assert about["umask"] == 0o077
    assert about["session"]
    assert about["preloaded"] == ["hostile_entries:built"]
    assert len(about["descriptors"]) <= 7, "stdin, stdout, stderr, facts, the protocol's two, and the listing itself"
    assert (child.stdout.data, child.stderr.data) == (b"to stdout\n", b"to stderr\n")


async def test_many_children_run_at_once_without_mixing(tmp_path):
    async with bench(tmp_path) as setting:
        children = await asyncio.gather(*(setting.start("echoes") for _ in range(12)))

        async def talk(number, child):
            await child.protocol.send(f"child {number}".encode())
            return await child.protocol.receive()

        answers = await asyncio.gather(*(talk(*pair) for pair in enumerate(children)))
        assert answers == [f"CHILD {number}\n".encode() for number in range(12)]
        records = await asyncio.gather(*(child.close() for child in children))
        assert {record.exit_code for record in records} == {0}


async def test_facts_come_in_order_and_by_kind(tmp_path):
    async with bench(tmp_path) as setting:
        child = await setting.start("speaks_in_phases")
        assert [(await child.next_fact(5)) for _ in range(3)] == [("phase", {"name": name}) for name in PHASES]
        assert (await child.fact("phase", 5)).about["name"] == "import"
        assert (await child.fact("phase", 5)).about["name"] == "register"
        assert (await child.next_fact(5)) == ("done", {})
        assert await child.next_fact(5) is None
        assert child.ended
        with pytest.raises(
            FactMissing, match=r"in phase 'calls' before it told 'never': ended with exit code 0 by itself"
        ):
            await child.fact("never", 5)
        await child.close()


async def test_a_fact_that_does_not_come_is_missing_after_its_time(tmp_path):
    async with bench(tmp_path) as setting:
        child = await setting.start("echoes")
        with pytest.raises(FactMissing, match=r"no 'never' within 0\.05 s; it is in phase 'start'"):
            await child.fact("never", 0.05)
        assert await child.next_fact(5) == ("ready", {})
        assert await child.next_fact(0) is None


async def test_a_crash_is_told_with_its_traceback(tmp_path):
    async with bench(tmp_path) as setting:
        child, _ = await setting.run("crashes")
        told = await child.fact("crash", 1)
        assert told.about["type"] == "ValueError"
        assert "on purpose" in told.about["traceback"]
        assert "ValueError: on purpose" in child.stderr.text


async def test_a_command_speaks_the_protocol_on_its_own_stdin_and_stdout(tmp_path, isolation):
    async with bench(tmp_path, isolation) as setting:
        environment = {"PATH": os.environ["PATH"], "BENCH_MARK": setting.mark}
        order = Order(
            kind="command",
            command=["sh", "-c", "echo oops >&2; exec cat"],
            folder=str(tmp_path),
            environment=environment,
        )
        child = await setting.warm.start(order)
        await child.protocol.send(b"hello")
        assert await child.protocol.receive() == b"hello\n"
        record = await child.close()
        assert (record.exit_code, record.ended_by) == (0, "us")
        assert (child.stdout.data, child.stderr.data) == (b"hello\n", b"oops\n")
        assert child.stdin_read == 0


async def test_a_command_that_does_not_exist_is_told_by_name(tmp_path):
    async with bench(tmp_path) as setting:
        child = await setting.warm.start(Order(kind="command", command=["no-such-program"], folder=str(tmp_path)))
        assert (await child.fact("not-executed", 5)).about["text"] == "no-such-program: No such file or directory"
        assert (await child.close()).exit_code == 127


async def test_a_folder_that_does_not_exist_ends_the_child_with_its_reason(tmp_path):
    async with bench(tmp_path) as setting:
        child = await setting.warm.start(Order(entry="hostile_entries:echoes", folder=str(tmp_path / "none")))
        assert (await child.wait_ended(5)).exit_code == 70
        assert "FileNotFoundError" in child.stderr.text
        await child.close()


async def test_closing_again_gives_the_same_record(tmp_path):
    async with bench(tmp_path) as setting:
        child = await setting.start("echoes")
        assert await child.close() is await child.close()


async def test_leaving_the_warm_process_ends_children_that_nobody_closed(tmp_path, isolation):
    async with bench(tmp_path, isolation) as setting:
        child = await setting.start("ignores_sigterm")
        await child.fact("ready", 5)
    assert child.record.ended_by == "us"
    assert await only_lives(setting.mark, 0)


def open_descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_descriptors_are_given_back(tmp_path):
    async with bench(tmp_path) as setting:
        (await (await setting.start("echoes")).close())
        before = open_descriptors()
        for _ in range(5):
            await (await setting.start("echoes")).close()
        (await setting.warm.listen()).close()
        assert open_descriptors() == before


async def test_a_listener_is_ready_to_accept_at_once(tmp_path, isolation):
    async with bench(tmp_path, isolation) as setting:
        with await setting.warm.listen() as one, await setting.warm.listen() as two:
            assert one.getsockname()[1] != two.getsockname()[1]
            child = await setting.start("reaches_out", payload={"addresses": {"rig": one.getsockname()}})
            connection, _ = await asyncio.get_running_loop().sock_accept(one)
            connection.close()
            assert (await child.fact("reached", 5)).about == {"name": "rig"}
            await child.close()


async def test_without_anything_of_linux_the_guardian_still_ends_all(tmp_path):
    async with bench(tmp_path, GUARDIAN_ALONE, preload=("hostile_entries:pretends_another_system",)) as setting:
        child = await setting.start("echoes")
        await child.protocol.send(b"hello")
        assert await child.protocol.receive() == b"HELLO\n"
        assert (await child.close()).exit_code == 0
        _, record = await setting.run("hangs", limits=Limits(seconds=0.5))
        assert (record.ended_by, record.exceeded) == ("limit", ("seconds",))
        child = await setting.start("spawns_a_helper", payload={"stays": True})
        await child.wait_ended(0.6)
        record = await child.close()
        assert [one.command for one in record.left_behind] == ["sleep 3600"]
        _, record = await setting.run("kills_its_group")
        assert record.signal_name == "SIGKILL"
        assert await setting.at_rest()


@pytest.mark.parametrize(
    ("preload", "message"),
    [
        ("hostile_entries:fails", "RuntimeError: cannot be built"),
        ("hostile_entries:starts_a_thread", "preloading started threads"),
        ("no_such_module:build", "No module named 'no_such_module'"),
    ],
)
async def test_a_warm_process_that_cannot_be_filled_says_why(preload, message):
    with pytest.raises(WarmProcessFailed, match=message):
        async with WarmProcess(preload=(preload,), import_path=[HERE]):
            pass


async def test_when_the_warm_process_is_killed_from_outside_the_children_still_end(tmp_path, isolation):
    async with bench(tmp_path, isolation) as setting:
        child = await setting.start("ignores_sigterm")
        await child.fact("ready", 5)
        setting.warm._process.kill()
        assert await only_lives(setting.mark, 0)
        with pytest.raises(WarmProcessFailed, match="the warm process"):
            await setting.warm.listen()
        assert (await child.close(0.1)) is not None


async def test_a_guardian_that_is_killed_from_outside_leaves_nothing(tmp_path, isolation):
    async with bench(tmp_path, isolation) as setting:
        child = await setting.start("ignores_sigterm")
        await child.fact("ready", 5)
        await noted(child)
        guardian = guardian_of(setting)
        os.kill(guardian, signal.SIGKILL)
        record = await child.close(0.1)
        assert record.guardian_killed
        assert record.peak_processes >= 1, "the guardian's last notes are kept"
        assert await setting.at_rest()


async def noted(child, seconds=5):
    """Wait until the guardian has told that it saw a process."""
    for _ in range(round(seconds / 0.005)):
        if child._notes.get("peak_processes"):
            return
        await asyncio.sleep(0.005)


def guardian_of(setting):
    """The guardian of the child that was started first."""
    return min(children_of(setting.warm._process.pid))


def children_of(parent):
    found = []
    for about in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(about.read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(about.parent.name))
    return found


async def test_a_guardian_that_is_killed_before_its_order_costs_nothing(tmp_path, isolation):
    async with bench(tmp_path, isolation) as setting:
        assert await setting.at_rest()
        for waiting in children_of(setting.warm._process.pid):
            os.kill(waiting, signal.SIGKILL)
        child = await setting.start("echoes")
        await child.protocol.send(b"hello")
        assert await child.protocol.receive() == b"HELLO\n"
        record = await child.close()
        assert (record.exit_code, record.guardian_killed) == (0, False)
        assert await setting.at_rest()


OWNER = """
import asyncio, json, sys
sys.path.insert(0, {root!r})
from tests.conformance.rig_bench import Isolation, bench
from pathlib import Path

async def main():
    async with bench(Path({folder!r}), Isolation(**{isolation!r})) as setting:
        children = [await setting.start("ignores_sigterm") for _ in range(3)]
        for child in children:
            await child.fact("ready", 10)
        print(setting.mark, flush=True)
        await asyncio.sleep(3600)

asyncio.run(main())
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_nothing_lives_on_when_the_owner_is_ended(tmp_path, isolation, how):
    script = OWNER.format(root=str(HERE.parents[1]), folder=str(tmp_path), isolation=vars(isolation))
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as owner:
        try:
            mark = owner.stdout.readline().decode().strip()
            seen = len(list(marked(mark)))
            owner.send_signal(how)
            owner.wait(10)
        finally:
            owner.kill()
    assert seen >= 4, "at least the warm process and three subjects"
    until = time.monotonic() + 5
    while list(marked(mark)) and time.monotonic() < until:
        time.sleep(0.01)
    assert not list(marked(mark))


async def test_the_containment_in_force_can_be_told(tmp_path):
    async with bench(tmp_path, GUARDIAN_ALONE) as setting:
        assert setting.warm.containment.describe() == "subreaper, guardian"
    async with bench(tmp_path, Isolation(user=False)) as setting:
        assert not setting.warm.containment.user_namespace
        json.dumps(vars(setting.warm.containment))


async def test_a_guardian_that_cannot_work_is_the_rigs_own_error(tmp_path):
    async with bench(tmp_path) as setting:
        child = await setting.start("echoes")
        child._on_guardian(b'{"event": "broken", "text": "OSError: on purpose"}\n')
        with pytest.raises(ChildNotStarted, match="on purpose"):
            await child.close()
