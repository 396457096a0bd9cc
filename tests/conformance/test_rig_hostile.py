"""Subjects that mean harm: each ends, leaves evidence in the record, and leaves nothing else."""

import asyncio
import signal
import socket

import pytest

from conformance.rig import libc
from conformance.rig.limits import MIB, Limits

from .rig_bench import FORMS, LANDLOCK, NO_PID_NAMESPACE, bench

pytestmark = pytest.mark.skipif(not libc.ON_LINUX, reason="what is tried here is Linux's")

TIMES = 3


@pytest.fixture(params=FORMS, name="isolation")
def each_form(request):
    return FORMS[request.param]


async def several(setting, entry, times=TIMES, **options):
    return [record for _, record in await asyncio.gather(*(setting.run(entry, **options) for _ in range(times)))]


async def test_a_subject_that_hangs_is_ended_when_its_time_is_over(tmp_path, isolation):
    async with bench(tmp_path, isolation) as setting:
        for record in await several(setting, "hangs", limits=Limits(seconds=0.3)):
            assert record.ended_by == "limit"
            assert record.exceeded == ("seconds",)
            assert record.signal_name == "SIGKILL"
            assert record.seconds < 3


async def test_an_exit_is_the_subjects_own_end(tmp_path, isolation):
    async with bench(tmp_path, isolation) as setting:
        for entry, code in (("raises_system_exit", 3), ("exits_at_once", 5), ("crashes", 1)):
            for record in await several(setting, entry):
                assert (record.exit_code, record.signal, record.ended_by) == (code, None, "itself")
                assert not record.left_behind
                assert not record.exceeded


async def test_words_before_os_exit_are_captured(tmp_path, isolation):
    async with bench(tmp_path, isolation) as setting:
        child, _ = await setting.run("exits_at_once")
        assert child.stdout.data == b"last words\n"


async def test_a_daemon_is_named_and_ended(tmp_path, isolation):
    async with bench(tmp_path, isolation) as setting:
        for entry, name in (("forks_a_daemon_twice", "python"), ("spawns_a_helper", "sleep")):
            for record in await several(setting, entry):
                assert record.ended_by == "itself"
                assert [name in one.command for one in record.left_behind] == [True], record
        assert await setting.at_rest()


async def test_a_fork_bomb_is_counted_and_ended(tmp_path, isolation):
    async with bench(tmp_path, isolation) as setting:
        for record in await several(setting, "fork_bomb", times=1, limits=Limits(processes=20)):
            assert record.ended_by == "limit"
            assert "processes" in record.exceeded
            assert record.peak_processes > 20
            assert record.seconds < 8
        assert await setting.at_rest()


async def test_a_flood_on_stdout_is_bounded_and_ended(tmp_path, isolation):
    async with bench(tmp_path, isolation) as setting:
        children = await asyncio.gather(
            *(setting.start("floods_stdout", limits=Limits(output_bytes=MIB)) for _ in range(TIMES))
        )
        for child in children:
            assert await child.wait_ended(10)
            record = await child.close()
            assert (record.ended_by, record.exceeded) == ("limit", ("output",))
            assert len(child.stdout.data) == MIB < child.stdout.total


@pytest.mark.parametrize("entry", ["floods_a_log", "floods_a_closed_log"])
async def test_a_flooded_log_is_seen_although_the_subject_hides_the_refusal(tmp_path, isolation, entry):
    async with bench(tmp_path, isolation) as setting:
        for number in range(TIMES):
            log = tmp_path / f"{number}.log"
            child = await setting.start(entry, payload={"log": str(log)}, limits=Limits(file_bytes=4 * MIB))
            await child.fact("done", 10)
            record = await child.close()
            assert "file" in record.exceeded, record
            assert log.stat().st_size <= 8 * MIB
            log.unlink()


async def test_a_large_file_that_was_there_before_is_not_the_subjects(tmp_path, isolation):
    old = tmp_path / "old"
    with old.open("wb") as file:
        file.truncate(8 * MIB)
    async with bench(tmp_path, isolation) as setting:
        child = await setting.start("echoes", limits=Limits(file_bytes=4 * MIB))
        await child.fact("ready", 5)
        assert (await child.close()).exceeded == ()


@pytest.mark.parametrize("form", ["namespaces", "guardian-alone"])
@pytest.mark.parametrize("entry", ["spins", "spins_and_ignores_sigxcpu"])
async def test_processor_time_is_limited(tmp_path, form, entry):
    async with bench(tmp_path, FORMS[form]) as setting:
        _, record = await setting.run(entry, limits=Limits(cpu_seconds=1))
        assert (record.ended_by, record.exceeded) == ("limit", ("cpu",))


@pytest.mark.parametrize("entry", ["asks_for_four_gigabytes", "fills_four_gigabytes", "hoards_in_small_pieces"])
async def test_memory_that_was_refused_is_seen_although_the_subject_caught_it(tmp_path, isolation, entry):
    async with bench(tmp_path, isolation) as setting:
        for _ in range(TIMES):
            child = await setting.start(entry, limits=Limits(memory_bytes=48 * MIB))
            await child.fact("caught", 10)
            record = await child.close()
            assert record.exceeded == ("memory",)
            assert record.peak_reserved_bytes > 48 * MIB
            assert (record.ended_by, record.exit_code) == ("us", 0), "it lives on, and can be judged further"


async def test_memory_that_no_limit_of_the_kernel_counts_ends_the_subject(tmp_path, isolation):
    async with bench(tmp_path, isolation) as setting:
        limits = Limits(memory_bytes=64 * MIB, processes=40)
        for record in await several(setting, "fills_shared_memory", times=2, limits=limits):
            assert (record.ended_by, record.exceeded) == ("limit", ("memory",))
            assert record.peak_memory_bytes < 1 << 30


async def test_many_threads_are_no_greed(tmp_path, isolation):
    async with bench(tmp_path, isolation) as setting:
        _, record = await setting.run("runs_forty_threads")
        assert record.exceeded == ()
        assert record.exit_code == 0


async def test_killing_its_own_group_ends_only_the_subject(tmp_path, isolation):
    async with bench(tmp_path, isolation) as setting:
        for record in await several(setting, "kills_its_group"):
            assert (record.signal_name, record.ended_by, record.guardian_killed) == ("SIGKILL", "itself", False)


async def test_killing_its_parent_costs_no_evidence(tmp_path, isolation):
    async with bench(tmp_path, isolation) as setting:
        containment = setting.warm.containment
        for record in await several(setting, "kills_its_parent"):
            if containment.pid_namespace or containment.confined_signals:
                assert not record.guardian_killed
                assert record.ended_by == "itself"
            else:
                assert record.guardian_killed
            assert len(record.left_behind) >= 1
        assert await setting.at_rest()


@pytest.mark.parametrize("form", ["namespaces", "no-own-proc", "no-pid-namespace", "landlock"])
async def test_killing_every_process_reaches_nothing_outside(tmp_path, form):
    canary = await asyncio.create_subprocess_exec("sleep", "60")
    try:
        async with bench(tmp_path, FORMS[form]) as setting:
            held = setting.warm.containment
            if not (held.pid_namespace or held.confined_signals):
                pytest.skip("neither a PID namespace nor Landlock's scopes are to be had here")
            bystander = await setting.start("echoes")
            await bystander.fact("ready", 5)
            for _ in range(TIMES):
                child, record = await setting.run("kills_all_it_sees", payload={"canary": canary.pid})
                assert "not-confined" not in [told.kind for told in child.facts]
                assert record.ended_by == "itself"
                assert not record.guardian_killed
            await bystander.protocol.send(b"alive")
            assert await bystander.protocol.receive() == b"ALIVE\n"
            assert canary.returncode is None
    finally:
        canary.kill()
        await canary.wait()


async def test_ignoring_sigterm_helps_for_half_a_second_only(tmp_path, isolation):
    async with bench(tmp_path, isolation) as setting:
        for _ in range(TIMES):
            child = await setting.start("ignores_sigterm")
            await child.fact("ready", 5)
            record = await child.close(0.1)
            assert (record.signal, record.ended_by) == (signal.SIGKILL, "us")
            assert record.seconds < 2


async def test_a_read_of_stdin_is_noticed_and_does_not_wait_for_ever(tmp_path, isolation):
    async with bench(tmp_path, isolation) as setting:
        for _ in range(TIMES):
            child = await setting.start("reads_stdin")
            assert child.stdin_read == 0 or (await child.fact("line", 5)).about["text"] == ""
            await child.fact("end", 5)
            assert child.stdin_read == 1
            await child.close(0)
            assert child.stdin_read == 1


async def test_closing_every_descriptor_hides_nothing(tmp_path, isolation):
    async with bench(tmp_path, isolation) as setting:
        for _ in range(TIMES):
            child = await setting.start("closes_every_descriptor")
            assert await asyncio.wait_for(child.protocol.receive(), 5) == b""
            record = await child.close(0.1)
            assert (record.signal, record.ended_by) == (signal.SIGTERM, "us")


async def test_nonsense_on_the_line_of_facts_is_kept_as_garbled(tmp_path, isolation):
    async with bench(tmp_path, isolation) as setting:
        child, _ = await setting.run("tells_nonsense")
        assert [told.kind for told in child.facts] == ["garbled", "garbled", "done"]


@pytest.mark.parametrize("form", ["namespaces", "no-pid-namespace", "landlock"])
async def test_a_raw_socket_reaches_only_what_the_rig_listens_on(tmp_path, form):
    async with bench(tmp_path, FORMS[form]) as setting:
        held = setting.warm.containment
        if not (held.network_namespace or held.confined_network):
            pytest.skip("neither a network namespace nor Landlock's network rules are to be had here")
        listener = await setting.warm.listen()
        with listener, socket.create_server(("127.0.0.1", 0)) as callers:
            known = {"rig": listener.getsockname(), "caller": callers.getsockname()}
            addresses = {**known, "world": ("192.0.2.1", 80), "dns": ("192.0.2.1", 53)}
            for _ in range(TIMES):
                child, _ = await setting.run("reaches_out", payload={"addresses": addresses})
                told = {fact.about["name"]: fact.kind for fact in child.facts if "name" in fact.about}
                assert told == {"rig": "reached", "caller": "refused", "world": "refused", "dns": "refused"}


async def test_a_thread_that_stays_is_no_process_left_behind(tmp_path):
    async with bench(tmp_path) as setting:
        child = await setting.start("starts_a_thread_that_stays")
        await child.fact("done", 5)
        record = await child.close(0.1)
        assert (record.signal, record.ended_by, record.left_behind) == (signal.SIGTERM, "us", ())


async def test_without_a_pid_namespace_the_containment_says_so(tmp_path):
    async with bench(tmp_path, NO_PID_NAMESPACE) as setting:
        assert not setting.warm.containment.pid_namespace
        assert "pid namespace" not in setting.warm.containment.describe()
    async with bench(tmp_path, LANDLOCK) as setting:
        assert not setting.warm.containment.network_namespace
