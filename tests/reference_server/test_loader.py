"""Loading extensions from both sources; nothing that one of them does can stop the others or the server."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reference_server.factory import Application, build
from reference_server.names import install
from reference_server.tools.catalogue import READING, WRITING

from .conftest import Configure

CORE_TOOLS = len(READING) + len(WRITING)
_numbers = itertools.count()

GOOD = """
def register(ctx):
    @ctx.mcp.tool()
    async def {tool}(change_id: str) -> str:
        \"\"\"Answer.\"\"\"
        return change_id
"""


class Site:
    """A folder on the import path, with modules and distributions made on the spot."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self._monkeypatch = monkeypatch

    def module(self, text: str, stem: str = "extension") -> str:
        name = f"{stem}_{next(_numbers)}"
        (self.folder / f"{name}.py").write_text(text)
        return name

    def good(self, tool: str) -> str:
        return self.module(GOOD.format(tool=tool), stem="good")

    def distribution(self, name: str, entry_points: str) -> None:
        info = self.folder / f"{name.replace('-', '_')}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(entry_points)

    def entry_point(self, distribution: str, *lines: str) -> None:
        self.distribution(distribution, "\n".join(["[gerrit_mcp_server.extensions]", *lines]))

    def variable(self, *modules: str, text: str | None = None) -> None:
        self._monkeypatch.setenv("GERRIT_MCP_EXTENSIONS", ",".join(modules) if text is None else text)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, configure: Configure) -> Site:
    install()
    configure({"external_url": "https://review.example.com"}, extension_load_seconds=4)
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    return Site(folder, monkeypatch)


def tools(application: Application) -> list[str]:
    names = [tool.name for tool in asyncio.run(application.mcp.list_tools())]
    return names[CORE_TOOLS:]


def loaded(application: Application) -> list[str]:
    return [extension.name for extension in application.loader.loaded]


def test_entry_points_and_the_variable_are_both_loaded_entry_points_first(site: Site) -> None:
    by_variable, by_point, by_attribute = site.good("a"), site.good("b"), site.good("c")
    site.variable(by_variable)
    site.entry_point("one", f"x = {by_point}", f"y = {by_attribute}:register")
    application = build()
    application.load()
    assert loaded(application) == [by_point, by_attribute, by_variable]
    assert tools(application) == ["b", "c", "a"]


def test_blanks_and_empty_items_of_the_variable_are_ignored_and_dotted_names_work(site: Site) -> None:
    (site.folder / "dotted_package").mkdir(exist_ok=True)
    (site.folder / "dotted_package" / "__init__.py").touch()
    (site.folder / "dotted_package" / "deep.py").write_text(GOOD.format(tool="deep"))
    first = site.good("first")
    site.variable(text=f" {first} ,, ,\n dotted_package.deep,")
    application = build()
    application.load()
    assert tools(application) == ["first", "deep"]


def test_names_on_the_left_do_not_matter(site: Site, server_log: Callable[[], str]) -> None:
    modules = [site.good(tool) for tool in ("a", "b", "c", "d")]
    site.entry_point("one", f"same = {modules[0]}", f"With.Dots-And_CAPITALS = {modules[1]}")
    site.entry_point("two", f"same = {modules[2]}", f"other = {modules[3]}")
    application = build()
    application.load()
    assert sorted(tools(application)) == ["a", "b", "c", "d"]
    assert "WARNING" not in server_log()


def test_a_module_found_more_than_once_is_loaded_once_with_one_warning(
    site: Site, server_log: Callable[[], str]
) -> None:
    twice, once = site.good("twice"), site.good("once")
    site.entry_point("one", f"x = {twice}", f"y = {twice}:register")
    site.variable(twice, once)
    application = build()
    application.load()
    warnings = [line for line in server_log().splitlines() if "WARNING" in line]
    assert warnings == [f"[gerrit-mcp-server] extension {twice}: WARNING: discovered 3 times; loading once"]
    assert tools(application) == ["twice", "once"]


BROKEN = {
    "raises": ("raise ValueError('at import')", "import failed: ValueError: at import"),
    "syntax": ("def register(ctx:", "import failed: SyntaxError"),
    "missing module": (
        "import surely_not_there",
        "import failed: ModuleNotFoundError: No module named 'surely_not_there'",
    ),
    "no register": ("", "missing register(ctx) function"),
    "not callable": ("register = 7", "missing register(ctx) function: `register` is of type int"),
    "register raises": (
        "def register(ctx): raise KeyError('some_option')",
        "register() raised: KeyError: 'some_option'",
    ),
    "exits at import": ("raise SystemExit('bye')", "import failed: SystemExit: bye"),
    "exits in register": ("import sys\ndef register(ctx): sys.exit(0)", "register() raised: SystemExit: 0"),
    "wrong arity": ("def register(): pass", "register() raised: TypeError"),
    "keyword only": ("def register(*, ctx): pass", "register() raised: TypeError"),
    "interrupts": ("raise KeyboardInterrupt", "import failed: KeyboardInterrupt"),
    "cancels": ("import asyncio\nraise asyncio.CancelledError", "import failed: CancelledError"),
    "own kind": (
        "class Odd(BaseException):\n  def __str__(self): raise self\nraise Odd",
        "Odd: (its text cannot be read)",
    ),
    "hangs at import": ("import time\ntime.sleep(60)", "import failed: did not return within 4 s"),
    "hangs in register": (
        "import time\ndef register(ctx): time.sleep(60)",
        "register() raised: did not return within 4 s",
    ),
    "coroutine": ("async def register(ctx): pass", "register() raised: TypeError: it is a coroutine function"),
    "getattr raises": ("def __getattr__(name): raise SystemExit", "missing register(ctx) function"),
}


@pytest.mark.parametrize(("text", "cause"), BROKEN.values(), ids=BROKEN)
def test_a_broken_extension_is_logged_and_the_others_load(
    site: Site, server_log: Callable[[], str], capsys: pytest.CaptureFixture[str], text: str, cause: str
) -> None:
    before, broken, after = site.good("before"), site.module(text, stem="broken"), site.good("after")
    site.variable(before, broken, after)
    application = build()
    application.load()
    assert tools(application) == ["before", "after"]
    line = next(line for line in server_log().splitlines() if broken in line)
    assert line.startswith(f"[gerrit-mcp-server] extension {broken}: ERROR: ")
    assert cause in line
    assert line in capsys.readouterr().err


@pytest.mark.parametrize("value", ["", "not a module!", ":register", "mod:attr:more"])
def test_an_entry_point_that_names_no_module_is_logged_and_skipped(
    site: Site, server_log: Callable[[], str], value: str
) -> None:
    site.entry_point("broken", f"odd = {value}")
    good = site.good("good")
    site.entry_point("fine", f"x = {good}")
    application = build()
    application.load()
    assert tools(application) == ["good"]
    assert "ERROR: " in server_log()


def test_metadata_that_cannot_be_read_hides_nothing_else(site: Site, server_log: Callable[[], str]) -> None:
    good = site.good("good")
    site.distribution("torn", "[gerrit_mcp_server.extensions]\nno equals sign here\n")
    site.entry_point("fine", f"x = {good}")
    (site.folder / "empty-1.0.dist-info").mkdir()
    application = build()
    application.load()
    assert tools(application) == ["good"]
    assert "extension torn: ERROR: its entry_points.txt cannot be read" in server_log()


def test_only_the_first_distribution_of_a_name_counts_unless_its_folder_is_empty(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, stale = site.good("kept"), site.good("stale")
    site.entry_point("same-name", f"x = {stale}")
    site.entry_point("half-removed", f"x = {kept}")
    earlier = tmp_path / "earlier"
    (earlier / "half_removed-0.9.dist-info").mkdir(parents=True)
    current = earlier / "same_name-2.0.dist-info"
    current.mkdir()
    (current / "METADATA").write_text("Metadata-Version: 2.1\nName: Same_Name\nVersion: 2.0\n")
    monkeypatch.syspath_prepend(earlier)
    application = build()
    application.load()
    assert tools(application) == ["kept"]


def test_an_extension_that_fails_half_way_leaves_nothing_behind(site: Site) -> None:
    half = site.module(
        """
def register(ctx):
    ctx.mcp.tool()(half)
    ctx.mcp.resource("half://x")(half)
    ctx.mcp.prompt()(half)
    ctx.mcp.remove_tool("set_topic")
    raise RuntimeError("half way")
def half() -> str:
    \"\"\"Half.\"\"\"
    return ""
"""
    )
    site.variable(half)
    application = build()
    before = asyncio.run(application.mcp.list_tools())
    application.load()
    assert asyncio.run(application.mcp.list_tools()) == before
    assert asyncio.run(application.mcp.list_resources()) == []  # type: ignore[attr-defined]
    assert asyncio.run(application.mcp.list_prompts()) == []  # type: ignore[attr-defined]


def test_two_extensions_with_one_tool_name_are_warned_of_by_name(site: Site, server_log: Callable[[], str]) -> None:
    first, second = site.good("same"), site.good("same")
    site.variable(first, second)
    build().load()
    (warning,) = [line for line in server_log().splitlines() if "WARNING" in line]
    assert first in warning
    assert second in warning
    assert "'same'" in warning


def test_a_name_of_a_core_tool_is_warned_of(site: Site, server_log: Callable[[], str]) -> None:
    site.variable(site.good("query_changes"))
    build().load()
    assert "tool 'query_changes' is already registered by the core server" in server_log()


def test_loading_twice_registers_nothing_twice(site: Site, server_log: Callable[[], str]) -> None:
    counting = site.module("calls = []\ndef register(ctx): calls.append(1)\n")
    site.variable(counting, site.good("one"), site.module("raise ValueError", stem="broken"))
    application = build()
    application.load()
    log = server_log()
    application.load()
    assert application.loader.loaded[0].module.calls == [1]
    assert server_log() == log


UNLOADABLE = """
import pathlib
def register(ctx): pass
def unregister(ctx):
    with open({trace!r}, "a") as file: file.write(__name__ + "\\n")
    {then}
"""


def test_unloading_goes_backwards_past_every_failure(site: Site, tmp_path: Path, server_log: Callable[[], str]) -> None:
    trace = tmp_path / "trace"
    endings = ["pass", "raise SystemExit", "raise ValueError('at the end')", "import time; time.sleep(60)"]
    modules = [site.module(UNLOADABLE.format(trace=str(trace), then=then)) for then in endings]
    without = site.good("without")
    failed = site.module("def register(ctx): raise ValueError\ndef unregister(ctx): open('/nonexistent/x')\n")
    arity = site.module("def register(ctx): pass\ndef unregister(): pass\n")
    site.variable(*modules, without, failed, arity)
    application = build()
    application.load()
    application.loader.unload()
    assert trace.read_text().split() == modules[::-1]
    assert f"extension {modules[2]}: ERROR: unregister() raised: ValueError: at the end" in server_log()
    assert tools(application) == []
    application.loader.unload()
    assert trace.read_text().split() == modules[::-1], "a second unload has nothing to do"


def test_unloading_withdraws_resources_and_prompts_too(site: Site) -> None:
    site.variable(
        site.module(
            """
def register(ctx):
    ctx.mcp.resource("full://x")(full)
    ctx.mcp.resource("full://{name}")(named)
    ctx.mcp.prompt()(full)
def full() -> str:
    return ""
def named(name: str) -> str:
    return name
"""
        )
    )
    application = build()
    server: Any = application.mcp
    application.load()
    assert len(asyncio.run(server.list_resources())) == len(asyncio.run(server.list_prompts())) == 1
    application.loader.unload()
    assert asyncio.run(server.list_resources()) == asyncio.run(server.list_prompts()) == []
    assert asyncio.run(server.list_resource_templates()) == []


def test_unloading_what_was_never_loaded_is_quiet() -> None:
    build().loader.unload()


def test_an_unloaded_extension_can_be_loaded_again(site: Site) -> None:
    site.variable(site.good("again"))
    application = build()
    application.load()
    application.loader.unload()
    application.load()
    assert tools(application) == ["again"]


def test_an_extension_gets_its_settings_whatever_stands_there(site: Site, configure: Configure) -> None:
    application = build()
    for extensions, expected in [
        ({"mine": {"a": 1}}, {"a": 1}),
        ({"mine": None}, {}),
        ({"mine": [1]}, {}),
        (None, {}),
        ([], {}),
    ]:
        configure({"external_url": "https://h"}, extensions=extensions)
        assert application.context.extension_config("mine") == expected
    configure({"external_url": "https://h"})
    assert application.context.extension_config("mine") == {}


def test_the_log_folder_exists_and_can_be_appended_to(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GERRIT_MCP_LOG_PATH", str(tmp_path / "deep" / "er" / "my.log"))
    with build().context.log_path.open("a") as log:
        log.write("hello\n")
    monkeypatch.delenv("GERRIT_MCP_LOG_PATH")
    assert build().context.log_path == tmp_path / "server.log"


def test_a_configuration_that_cannot_be_read_does_not_stop_the_loading(site: Site, tmp_path: Path) -> None:
    (tmp_path / "gerrit_config.json").write_text("{...}")
    site.variable(site.good("one"))
    application = build()
    application.load()
    assert tools(application) == ["one"]
