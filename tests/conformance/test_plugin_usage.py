"""Mistakes of the caller: one clear message, exit code 4, no traceback; and the ini keys."""

from pathlib import Path

import pytest

from conformance import cli, options
from conformance.settings import MEBIBYTE, Settings, parse_seconds, parse_size
from conformance.usage import UsageError, did_you_mean, last_words, nearest

from .running import Certifying


@pytest.mark.parametrize(
    ("argument", "lines"),
    [
        ("--conformance-repot=x", ["there is no option --conformance-repot", "did you mean --conformance-report?"]),
        ("--conformanse=x", ["there is no option --conformanse", "did you mean --conformance?"]),
        (
            "--conformance-as=gerit-host",
            ["--conformance-as=gerit-host cannot be judged", "did you mean gerrit-host?"],
        ),
        ("--conformance-host=referense", ["--conformance-host=referense cannot be used", "did you mean reference?"]),
        ("--conformance-as=protocol", ["--conformance-as=protocol cannot be judged", "this version judges extensions"]),
        (
            "--conformance-host=installed",
            ["--conformance-host=installed cannot be used", "this version loads extensions"],
        ),
        (
            "--conformance-host=my server",
            ["--conformance-host=my server cannot be used", "say factory:MODULE:CALLABLE"],
        ),
        ("--conformance-limit-memory=lots", ["'lots' is no size of memory", "write 512M or 1G"]),
        ("--conformance-limit-seconds=-1", ["'-1' is no time limit", "write 60"]),
        ("--conformance-profile=missing.toml", ["there is no profile *missing.toml"]),
        ("--conformance=my_exd", ["nothing is called my_exd", "did you mean my_ext?"]),
    ],
)
def test_a_mistake_is_one_message_with_the_nearest_right_word(
    certifying: Certifying, argument: str, lines: list[str]
) -> None:
    result = certifying.run(argument)
    assert result.ret == 4
    assert "Traceback" not in result.stderr.str()
    result.stderr.fnmatch_lines([f"*{line}*" for line in lines])


def test_a_waiver_of_no_clause_names_the_nearest(certifying: Certifying) -> None:
    certifying.pytester.makepyprojecttoml('[tool.gerrit-conformance.waivers]\nROUTE-NAME = "known"')
    result = certifying.run()
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*the waiver of ROUTE-NAME names no clause", "*did you mean ROUTE-NAMES?"])


@pytest.mark.parametrize("spread", [(), ("-n1",)])
def test_a_profile_for_a_tool_that_does_not_exist_names_the_nearest(
    certifying: Certifying, spread: tuple[str, ...]
) -> None:
    certifying.pytester.makepyprojecttoml("[tool.gerrit-conformance.tools.gett_a.arguments]\nx = 1")
    result = certifying.run(*spread)
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*the profile has arguments for gett_a, *", "*did you mean get_a?"])
    assert "Traceback" not in result.stderr.str()


def test_a_profile_for_a_tool_that_exists_is_taken(certifying: Certifying) -> None:
    certifying.pytester.makepyprojecttoml("[tool.gerrit-conformance.tools.get_a.arguments]\nx = 1")
    assert certifying.run().ret == 0


@pytest.fixture
def no_curl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PATH on which there is nothing."""
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.mark.parametrize("more", [(), ("--collect-only",)])
@pytest.mark.usefixtures("no_curl")
def test_without_curl_nothing_is_collected(certifying: Certifying, more: tuple[str, ...]) -> None:
    result = certifying.run(*more)
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*curl is not installed", "*", "*install it*"])
    assert "Traceback" not in result.stderr.str()
    assert "collected" not in result.stdout.str()


@pytest.mark.usefixtures("no_curl")
def test_a_host_from_a_factory_may_do_without_curl(certifying: Certifying) -> None:
    assert certifying.run("--conformance-host=factory:my_host:build").ret == 0


@pytest.mark.usefixtures("no_curl")
def test_without_curl_the_self_test_does_not_begin(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["selftest"]) == 4
    assert "curl is not installed" in capsys.readouterr().err


def test_a_misspelt_ini_key_names_the_nearest(certifying: Certifying) -> None:
    certifying.pytester.makeini("[pytest]\nconformance_repot = out\n")
    result = certifying.run()
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*tox.ini: there is no key conformance_repot", "*did you mean conformance_report?"])


def test_every_option_can_stand_in_the_ini_file(certifying: Certifying) -> None:
    certifying.pytester.makeini(
        "[pytest]\nconformance = my_ext\nconformance_report = from-ini\nconformance_strict = true\n"
        "conformance_limit_seconds = 5\nconformance_limit_memory = 256M\n"
    )
    certifying.choose(EXT_NONEMPTY="fail")
    plugins = ("-p", "stand_in", "-p", "conformance.plugin")
    result = certifying.pytester.runpytest_subprocess(*plugins)
    result.assert_outcomes(passed=5, failed=1)
    assert result.ret == 1
    assert (certifying.pytester.path / "from-ini" / "certificate.json").is_file()


def test_each_option_has_an_ini_key_and_a_line_of_help(certifying: Certifying) -> None:
    shown = certifying.pytester.runpytest_subprocess("-p", "conformance.plugin", "--help").stdout.str()
    for option in options.OPTIONS:
        assert f"{option.flag}" in shown
        assert f"{option.key} (" in shown


@pytest.mark.parametrize(
    ("text", "size"), [("512M", 512 * MEBIBYTE), ("1.5GiB", 1536 * MEBIBYTE), ("4096", 4096), ("8 k", 8192)]
)
def test_sizes_are_read_with_their_unit(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "0", "-1", "12 T", "nan"])
def test_what_is_no_positive_size_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_size(text)


@pytest.mark.parametrize("text", ["", "0", "-1", "nan", "inf", "soon"])
def test_what_is_no_positive_time_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_seconds(text)


def test_a_host_command_with_a_credential_is_not_shown_by_repr() -> None:
    settings = Settings(host="my-server --token s3cret")
    assert "s3cret" not in repr(settings)
    assert settings.host_kind == "command"


@pytest.mark.parametrize(
    ("host", "kind"),
    [("reference", "reference"), ("installed", "installed"), ("factory:a:b", "factory"), ("x y", "command")],
)
def test_the_kind_of_host_is_told_by_its_first_word(host: str, kind: str) -> None:
    assert Settings(host=host).host_kind == kind


def test_the_nearest_word_is_found_regardless_of_case() -> None:
    assert nearest("route-name", ["ROUTE-NAMES", "ROUTE-NONE"]) == "ROUTE-NAMES"
    assert nearest("zebra", ["ROUTE-NAMES"]) is None
    assert did_you_mean("zebra", ["one", "two"]) == "known are: one, two"


def test_a_usage_error_reads_what_why_remedy() -> None:
    assert str(UsageError("this", "because", "do that")) == "this\n  because\n  do that"
    assert str(UsageError("this", "", "do that")) == "this\n  do that"


def test_the_last_words_begin_at_the_start_of_a_line() -> None:
    text = "\n".join(f"line {number}" for number in range(100)) + "\n"
    told = last_words(text, 30)
    assert [line.strip() for line in told.splitlines()] == ["line 99", "line 97", "line 98", "line 99"]
    assert last_words("only\n") == "only"
    assert last_words("") == ""
