"""A world inside the process, for httpx: a transport for one client, a respx router for all of them.

Import it only where httpx (and, for the router, respx) is installed: the extra `respx`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio
import httpx

from mock_gerrit.exchange import Request, Response
from mock_gerrit.serving.asgi import unpacked
from mock_gerrit.serving.front import host_name
from mock_gerrit.serving.service import Served, serve
from mock_gerrit.world import World

if TYPE_CHECKING:
    import respx


class WorldTransport(httpx.AsyncBaseTransport, httpx.BaseTransport):
    """Hands the requests of one httpx client, synchronous or not, to the hosts of a world.

    Faults look as they do on a network: `httpx.ReadError` for a reset, `httpx.ReadTimeout` after the client's own read
    timeout for silence (at once where it has none, since it would wait for ever), `httpx.ConnectError` for a host that
    is not of the world.

    Args:
        world: the world; set `transport.world` to exchange it.
    """

    def __init__(self, world: World) -> None:
        self.world = world

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer a synchronous client."""
        fate = _fate(request, _serve(self.world, request, request.read()))
        time.sleep(fate.seconds)
        return fate.come(request)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer an asynchronous client."""
        fate = _fate(request, _serve(self.world, request, await request.aread()))
        await anyio.sleep(fate.seconds)
        return fate.come(request)


def respx_router(world: World, **options: Any) -> respx.MockRouter:  # noqa: ANN401 - respx's own options
    """A respx router that answers for the hosts of a world and lets respx complain about all others.

    It answers every httpx client of the process while it is active (`with respx_router(world): …`). No time passes: a
    delay is skipped, and a timeout raised at once.

    Args:
        world: the world.
        **options: what `respx.MockRouter` takes; `assert_all_called` is off unless given.
    """
    import respx  # noqa: PLC0415 - an optional dependency, needed by this function alone

    def answer(request: httpx.Request) -> httpx.Response:
        return _fate(request, _serve(world, request, request.content)).come(request)

    router = respx.MockRouter(**{"assert_all_called": False, **options})
    names = sorted({host_name(authority) for host in world.hosts for authority in host.authorities})
    router.route(host__in=names).mock(side_effect=answer)
    return router


@dataclass(frozen=True, kw_only=True)
class _Fate:
    """What an httpx client meets, after so many seconds."""

    seconds: float
    response: Response | None = None
    error: httpx.TransportError | None = None

    def come(self, request: httpx.Request) -> httpx.Response:
        if self.error is not None:
            raise self.error
        assert self.response is not None  # noqa: S101 - one of the two is there, told to mypy
        return httpx.Response(
            self.response.status,
            headers=list(self.response.headers),
            content=self.response.body,
            request=request,
            extensions={"reason_phrase": self.response.reason.encode("latin-1")},
        )


def _fate(request: httpx.Request, served: Served) -> _Fate:
    patience: float | None = request.extensions.get("timeout", {}).get("read")
    if served.ending == "silence" or (patience is not None and served.delay > patience):
        silent = httpx.ReadTimeout("The simulated Gerrit is silent.", request=request)
        return _Fate(seconds=patience or 0.0, error=silent)
    if served.ending == "reset":
        error = httpx.ReadError("[Errno 104] Connection reset by peer", request=request)
        return _Fate(seconds=served.delay, error=error)
    return _Fate(seconds=served.delay, response=served.response)


def _serve(world: World, request: httpx.Request, body: bytes) -> Served:
    authority = request.url.netloc.decode("ascii")
    host = world.host_for(authority)
    if host is None:
        known = ", ".join(one.authority for one in world.hosts)
        raise httpx.ConnectError(f"{authority} is not a host of this world; it has {known}", request=request)
    return serve(
        host,
        Request(
            method=request.method,
            target=request.url.raw_path.decode("ascii"),
            headers=tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw),
            body=unpacked(body, request.headers.get("content-encoding", "")),
            scheme=request.url.scheme,
            authority=authority,
        ),
    )
