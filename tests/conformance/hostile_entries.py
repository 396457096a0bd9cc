"""What a subject may do to harm its surroundings: entry functions for children of the rig, one a kind."""

import contextlib
import mmap
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

HOUR = 3600


def hangs(payload, channel):
    channel.phase("import")
    time.sleep(HOUR)


def spins(payload, channel):
    while True:
        pass


def spins_and_ignores_sigxcpu(payload, channel):
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)
    spins(payload, channel)


def raises_system_exit(payload, channel):
    raise SystemExit(3)


def exits_at_once(payload, channel):
    print("last words")
    os._exit(5)


def crashes(payload, channel):
    raise ValueError("on purpose")


def forks_a_daemon_twice(payload, channel):
    """The classic: fork, new session, fork again; the daemon ignores SIGTERM and closes all it inherited."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 64)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(HOUR)
        os._exit(0)
    os.wait()
    channel.tell("done")


def spawns_a_helper(payload, channel):
    subprocess.Popen(["sleep", "3600"], stdin=subprocess.DEVNULL, start_new_session=True)
    channel.tell("done")
    if payload.get("stays"):
        waits_for_the_end(channel)


def fork_bomb(payload, channel):
    while True:
        with contextlib.suppress(OSError):
            os.fork()


def floods_stdout(payload, channel):
    while True:
        os.write(1, b"x" * 65536)


def floods_a_log(payload, channel):
    """Writes until it is refused, and hides that."""
    with Path(payload["log"]).open("ab", 0) as log:
        try:
            while True:
                log.write(b"y" * 1_000_000)
        except OSError as problem:
            channel.tell("done", text=str(problem))
    waits_for_the_end(channel)


def floods_a_closed_log(payload, channel):
    with contextlib.suppress(OSError):
        for _ in range(10_000):
            with Path(payload["log"]).open("ab", 0) as log:
                log.write(b"y" * 1_000_000)
    channel.tell("done")


def asks_for_four_gigabytes(payload, channel):
    """Asks at once, and uses nothing of it."""
    try:
        mmap.mmap(-1, 4 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except (MemoryError, OSError):
        channel.tell("caught")
    waits_for_the_end(channel)


def fills_four_gigabytes(payload, channel):
    try:
        channel.tell("filled", size=len(b"z" * (4 << 30)))
    except MemoryError:
        channel.tell("caught")
    waits_for_the_end(channel)


def hoards_in_small_pieces(payload, channel):
    hoard = []
    try:
        while True:
            hoard.append(b"z" * (1 << 20))
    except MemoryError:
        hoard.clear()
        channel.tell("caught")
    waits_for_the_end(channel)


def fills_shared_memory(payload, channel):
    """Gets round RLIMIT_DATA, which counts private memory only."""
    hoard = []
    while True:
        hoard.append(mmap.mmap(-1, 1 << 20))
        hoard[-1].write(b"z" * (1 << 20))


def runs_forty_threads(payload, channel):
    together = threading.Barrier(41)
    threads = [threading.Thread(target=lambda: (bytearray(1 << 20), together.wait())) for _ in range(40)]
    for thread in threads:
        thread.start()
    time.sleep(0.1)
    together.wait()
    for thread in threads:
        thread.join()


def waits_for_the_end(channel):
    for _ in channel.protocol_in:
        pass


def kills_its_group(payload, channel):
    os.killpg(0, signal.SIGKILL)
    time.sleep(HOUR)


def kills_its_parent(payload, channel):
    """Leaves a daemon behind first, then goes for whoever watches it."""
    forks_a_daemon_twice(payload, channel)
    with contextlib.suppress(OSError):
        os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(0.2)
    channel.tell("survived")


def kills_all_it_sees(payload, channel):
    """Goes for every process, but only once it is sure that the outside cannot be reached."""
    if os.getppid() != 1:
        try:
            os.kill(payload["canary"], 0)
        except PermissionError:
            channel.tell("confined")
        else:
            channel.tell("not-confined")
            return
    for name in [one.name for one in Path("/proc").iterdir()]:
        if name.isdigit() and int(name) != os.getpid():
            with contextlib.suppress(OSError):
                os.kill(int(name), signal.SIGKILL)
    with contextlib.suppress(OSError):
        os.kill(-1, signal.SIGKILL)
    channel.tell("survived")


def ignores_sigterm(payload, channel):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    channel.tell("ready")
    while True:
        time.sleep(1)


def reads_stdin(payload, channel):
    channel.tell("line", text=input())
    try:
        input()
    except EOFError:
        channel.tell("end")
    time.sleep(HOUR)


def closes_every_descriptor(payload, channel):
    os.closerange(0, 4096)
    time.sleep(HOUR)


def reaches_out(payload, channel):
    """Tries the caller's loopback, the world and the rig's own port."""
    for name, address in payload["addresses"].items():
        try:
            with socket.create_connection(tuple(address), timeout=2):
                channel.tell("reached", name=name)
        except OSError as problem:
            channel.tell("refused", name=name, text=str(problem))
    channel.tell("done")


def tells_nonsense(payload, channel):
    channel._facts.sendall(b"\xff\xfe no json\n[1]\n")
    channel.tell("done")


def describes_itself(payload, channel):
    print("to stdout")
    print("to stderr", file=sys.stderr)
    channel.tell(
        "about", environment=dict(os.environ), folder=str(Path.cwd()), umask=os.umask(0o077), arguments=sys.argv,
        descriptors=sorted(int(one.name) for one in Path("/proc/self/fd").iterdir()), parent=os.getppid(),
        session=os.getsid(0) == os.getpid(), preloaded=sorted(channel.preloaded),
    )  # fmt: skip


def speaks_in_phases(payload, channel):
    for phase in ("import", "register", "calls"):
        channel.phase(phase)
        print(f"print in {phase}")
        os.write(1, f"write in {phase}\n".encode())
        print(f"error in {phase}", file=sys.stderr)
    channel.tell("done")


def echoes(payload, channel):
    channel.tell("ready")
    for line in channel.protocol_in:
        channel.protocol_out.write(line.upper())
        channel.protocol_out.flush()


def starts_a_thread_that_stays(payload, channel):
    threading.Thread(target=time.sleep, args=(HOUR,)).start()
    channel.tell("done")


def built():
    return {"built": os.getpid()}


def starts_a_thread():
    threading.Thread(target=time.sleep, args=(HOUR,), daemon=True).start()


def fails():
    raise RuntimeError("cannot be built")


def pretends_another_system():
    """As a preload: the warm process and the guardians do without all that is Linux's own."""
    from conformance.rig import libc

    libc.ON_LINUX = False
