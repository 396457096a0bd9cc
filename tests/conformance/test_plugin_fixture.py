"""The fixture `gerrit_mcp` in the tests of an extension's author."""

import pytest

EXTENSION = """
    from typing_extensions import TypedDict
    from gerrit_mcp_server.extensions import requires_plugin

    class Subject(TypedDict):
        subject: str

    def register(ctx):
        prefix = ctx.extension_config("greeter").get("prefix", "")

        @ctx.mcp.tool()
        @requires_plugin("task", ctx.plugin_registry)
        async def get_subject(change_id: str, gerrit_base_url: str | None = None) -> Subject:
            import json
            base = ctx.get_base_url(gerrit_base_url)
            change = json.loads(await ctx.run_curl([f"{base}/changes/{change_id}/detail"], base))
            return {"subject": prefix + change["subject"]}
"""


@pytest.fixture
def author(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """The folder of an author with an extension of one tool."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile(greeter=EXTENSION)
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    return pytester


def run(author: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    loaded = ("conformance.plugin", "mock_gerrit.pytest_plugin", "pytest_asyncio.plugin")
    return author.runpytest_subprocess(*(word for name in loaded for word in ("-p", name)), *arguments, timeout=60)


def test_a_test_calls_its_tool_and_sees_answer_requests_and_log(author: pytest.Pytester) -> None:
    author.makepyfile(
        test_greeter="""
        import pytest

        @pytest.fixture
        def gerrit_mcp_extension():
            return "greeter"

        @pytest.fixture
        def gerrit_mcp_settings():
            return {"greeter": {"prefix": "Re: "}}

        def test_answer(gerrit_mcp, gerrit_world):
            reply = gerrit_mcp.call("get_subject", change_id="1")
            assert not reply.is_error, reply.text
            assert reply.structured == {"subject": "Re: A first change"}
            assert [entry.host for entry in gerrit_world.journal] == ["review-a", "review-a"]
            assert gerrit_mcp.refused == []
            assert "greeter" in gerrit_mcp.log
            assert gerrit_mcp.tool("get_subject")["outputSchema"]

        def test_refusal_is_a_reply(gerrit_mcp):
            reply = gerrit_mcp.call("get_subject", change_id="1", gerrit_base_url="https://review-b.example.com")
            assert reply.is_error
            assert "review-a" in reply.text

        async def test_within_a_running_loop(gerrit_mcp):
            assert gerrit_mcp.request("ping").ok

        def test_an_unknown_tool_names_the_known(gerrit_mcp):
            with pytest.raises(LookupError, match="get_subject"):
                gerrit_mcp.tool("get_subjcet")
        """
    )
    run(author, "-o", "asyncio_mode=auto").assert_outcomes(passed=4)


def test_an_extension_that_does_not_load_is_an_error_with_its_cause(author: pytest.Pytester) -> None:
    author.makepyfile(raising="def register(ctx):\n    raise LookupError('no option depth')")
    author.makepyfile(
        test_raising="""
        import pytest

        @pytest.fixture
        def gerrit_mcp_extension():
            return "raising"

        def test_it(gerrit_mcp): ...
        """
    )
    result = run(author)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*register() of raising failed: LookupError: no option depth*"])


def test_without_a_named_extension_the_fixture_says_how_to_name_one(author: pytest.Pytester) -> None:
    author.makepyfile(test_it="def test_it(gerrit_mcp): ...")
    result = run(author)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*override the fixture gerrit_mcp_extension*"])
