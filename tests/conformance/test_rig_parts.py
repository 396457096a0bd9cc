"""The small parts of the rig, each alone."""

import asyncio
import os
import shutil
import signal
import socket
import subprocess

import pytest

from conformance.rig import landlock, libc, seccomp
from conformance.rig.capture import Capture, Intake
from conformance.rig.control import areceive, asend, receive, send
from conformance.rig.judge import Notes
from conformance.rig.limits import MIB, Limits
from conformance.rig.namespaces import Isolation, available, candidates
from conformance.rig.order import Order
from conformance.rig.pipes import PipeStream
from conformance.rig.processes import ProcessTable, files_below
from conformance.rig.ps import PsTable
from conformance.rig.record import ProcessSeen, Record, redacted
from conformance.wire.stream import ByteStream


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["curl", "--user", "me:pass", "https://h/"], "curl --user … https://h/"),
        (["curl", "-u", "me:pass"], "curl -u …"),
        (["curl", "--user=me:pass"], "curl --user=…"),
        (["curl", "-H", "Authorization: Basic abc"], "curl -H Authorization: …"),
        (["tool", "token=abc"], "tool token=…"),
        (["git", "https://me:pass@h/x"], "git https://…@h/x"),
        (["sleep", "3600"], "sleep 3600"),
    ],
)
def test_a_command_line_is_shown_without_its_credentials(arguments, shown):
    assert redacted(arguments) == shown


def test_a_long_command_line_is_cut():
    assert len(redacted(["x" * 1000])) == 300


def test_a_process_seen_reads_as_one_line():
    seen = ProcessSeen.from_json({"pid": 7, "name": "sleep", "arguments": ["sleep", "9"]})
    assert str(seen) == "7 sleep: sleep 9"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, "ended with exit code 0 by itself after 1.0 s"),
        ({"exit_code": None, "signal": 9, "ended_by": "us"}, "ended by SIGKILL when asked to after 1.0 s"),
        (
            {"exit_code": None, "signal": 9, "ended_by": "limit", "exceeded": ("memory", "file")},
            "ended by SIGKILL past its limit of memory, file after 1.0 s",
        ),
        (
            {"guardian_killed": True, "left_behind": (ProcessSeen(pid=1, name="a", command="a"),)},
            "ended with exit code 0 by itself after 1.0 s, after killing its guardian, leaving 1 process(es)",
        ),
        ({"signal": 99}, "ended by signal 99 by itself after 1.0 s"),
    ],
)
def test_a_record_tells_the_end_in_one_line(changes, told):
    facts = {
        "exit_code": 0, "signal": None, "ended_by": "itself", "peak_memory_bytes": 1, "peak_reserved_bytes": 0,
        "peak_processes": 1, "left_behind": (), "exceeded": (), "seconds": 1.0,
    }  # fmt: skip
    assert Record(**facts | changes).describe() == told


def test_an_order_survives_json():
    order = Order(entry="a:b", folder="/", payload={"x": [1]}, environment={"A": "b"}, limits=Limits(processes=3))
    assert Order.from_json(order.as_json()) == order


@pytest.mark.parametrize("given", [{"entry": "no_function"}, {"kind": "command"}, {}])
def test_an_order_that_names_nothing_to_run_is_refused(given):
    with pytest.raises(ValueError, match="order needs"):
        Order(folder="/", **given)


def test_a_capture_keeps_its_limit_and_counts_the_rest():
    capture = Capture(limit=4)
    capture.add(b"ab", phase="one")
    capture.add(b"c", phase="one")
    capture.add(b"def", phase="two")
    assert [(chunk.phase, chunk.data) for chunk in capture.chunks] == [("one", b"abc"), ("two", b"d")]
    assert (capture.total, capture.flooded, capture.data, capture.in_phase("two")) == (6, True, b"abcd", b"d")


def test_captured_bytes_that_are_no_text_are_shown_as_escapes():
    capture = Capture(limit=9)
    capture.add(b"a\xff", phase="x")
    assert capture.text == "a\\xff"


async def test_an_intake_takes_what_is_there_and_then_the_end():
    reading, writing = os.pipe()
    taken, ended = [], []
    intake = Intake(reading, take=taken.append, ended=lambda: ended.append(1))
    os.write(writing, b"abc")
    intake.drain()
    assert taken == [b"abc"]
    os.close(writing)
    intake.drain()
    intake.close()
    assert ended == [1]
    assert not intake.open


def stream():
    (their_in, our_out), (our_in, their_out) = os.pipe(), os.pipe()
    seen = []
    return PipeStream(reading=our_in, writing=our_out, seen=seen.append), their_in, their_out, seen


async def test_a_stream_gives_whole_lines_and_at_last_the_rest():
    pipes, their_in, their_out, seen = stream()
    os.write(their_out, b"one\ntw")
    assert await pipes.receive() == b"one\n"
    os.write(their_out, b"o\nrest")
    assert await pipes.receive() == b"two\n"
    os.close(their_out)
    assert [await pipes.receive(), await pipes.receive()] == [b"rest", b""]
    assert b"".join(seen) == b"one\ntwo\nrest"
    assert isinstance(pipes, ByteStream)
    pipes.shut()
    os.close(their_in)


async def test_a_writer_waits_for_room_and_breaks_when_the_stream_is_closed():
    pipes, their_in, their_out, _ = stream()
    writing = asyncio.create_task(pipes.write(b"x" * MIB))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not writing.done()
    pipes.close_writing()
    with pytest.raises(ConnectionError, match="closed on our side"):
        await writing
    pipes.shut()
    os.close(their_in)
    os.close(their_out)


async def test_a_large_message_arrives_whole():
    pipes, their_in, their_out, _ = stream()
    data = os.urandom(MIB)
    read = asyncio.create_task(asyncio.to_thread(read_all, their_in))
    await pipes.write(data)
    pipes.shut()
    assert await read == data
    os.close(their_out)


def read_all(descriptor):
    with os.fdopen(descriptor, "rb") as reading:
        return reading.read()


async def test_a_reader_that_is_gone_breaks_the_connection():
    pipes, their_in, their_out, _ = stream()
    os.close(their_in)
    with pytest.raises(ConnectionError):
        await pipes.send(b"x")
    pipes.shut()
    os.close(their_out)


async def test_control_messages_carry_descriptors_and_any_size():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        reading, writing = os.pipe()
        await asend(ours, {"do": "x", "text": "y" * 1000}, [reading])
        message, (received,) = receive(theirs)
        assert message["text"] == "y" * 1000
        os.write(writing, b"through")
        assert os.read(received, 10) == b"through"
        assert not os.get_inheritable(received)
        send(theirs, {"n": 1}, [writing])
        message, (again,) = await areceive(ours)
        assert message == {"n": 1}
        for descriptor in (reading, writing, received, again):
            os.close(descriptor)
        theirs.close()
        assert await areceive(ours) is None


def test_the_limits_are_ordered():
    limits = Limits()
    assert limits.memory_bytes < limits.reserved_bytes < limits.data_ceiling(requests_seen=True) < limits.deadly_bytes
    assert limits.data_ceiling(requests_seen=False) > 4 << 30


def test_isolation_is_tried_from_the_most_complete_down():
    tried = list(candidates(Isolation()))
    assert tried[0] == Isolation(user=False)
    assert tried[1] == Isolation(user=True)
    assert len(set(tried)) == len(tried)
    assert all(not one.user for one in candidates(Isolation(user=False)))
    assert not list(candidates(Isolation.none()))


def test_what_is_not_wished_for_is_not_used():
    assert available(Isolation.none()) == Isolation.none()
    assert not available(Isolation(pid=False)).pid


def test_notes_are_worth_sending_when_a_limit_was_passed():
    notes = Notes()
    before = notes.gist()
    notes.exceed("memory")
    notes.exceed("memory")
    assert notes.exceeded == ["memory"]
    assert notes.gist() != before


def test_the_regular_files_below_a_folder_are_found(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_bytes(b"x" * 10)
    (tmp_path / "c").symlink_to("/dev/zero")
    for roots in ([str(tmp_path)], [str(tmp_path / "a" / "b"), str(tmp_path / "none")]):
        assert [about.st_size for about in files_below(roots)] == [10]


@pytest.mark.skipif(not libc.ON_LINUX, reason="/proc is Linux's")
def test_a_process_without_children_has_an_empty_table():
    folder = os.open("/proc", os.O_RDONLY)
    try:
        table = ProcessTable(root=os.getpid(), folder=folder, exclusive=False)
        assert [one for one in table.members() if one.name == "sleep"] == []
        assert table.memory(os.getpid()).resident > MIB
        assert table.memory(2**22 + 1) is None
    finally:
        os.close(folder)


@pytest.mark.skipif(shutil.which("ps") is None, reason="needs ps")
def test_ps_finds_the_same_descendants_as_proc():
    with subprocess.Popen(["sh", "-c", "sleep 60 & echo; wait"], stdout=subprocess.PIPE) as shell:
        shell.stdout.readline()
        try:
            table = PsTable(root=shell.pid)
            (found,) = table.members()
            assert found.name == "sleep"
            assert found.parent == shell.pid
            assert table.memory(found.pid).resident > 0
            assert table.as_evidence(found)["arguments"] == ["sleep", "60"]
            os.kill(found.pid, signal.SIGKILL)
        finally:
            shell.kill()


def test_the_filter_for_requests_jumps_only_inside_itself():
    code = seccomp.program(seccomp.MACHINES["x86_64"], 1 << 29)
    steps = [code[at : at + 8] for at in range(0, len(code), 8)]
    assert len(steps) == 24
    assert all(here + 1 + max(step[2], step[3]) < len(steps) for here, step in enumerate(steps[:-2]))


@pytest.mark.skipif(not landlock.version(), reason="this kernel has no Landlock")
def test_landlock_asked_for_nothing_restricts_nothing():
    landlock.confine(signals=False, ports=None)
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        pass
