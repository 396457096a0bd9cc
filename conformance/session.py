"""One certifying pytest run: adds the clauses, hands reports on, writes the certificate, sets the exit code.

Under xdist the workers judge and the controller gathers; the controller alone writes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import Any, TypeVar

import pytest

from conformance import options
from conformance.collection import ClauseItem, clause_items
from conformance.families import kind_of
from conformance.gathering import Gathering
from conformance.plan import Plan, make_plans
from conformance.preparing import needs_building
from conformance.profile import reject_unknown_tools
from conformance.programs import require_curl
from conformance.report.folder import ReportFolder
from conformance.report.model import Certificate
from conformance.report.progress import ProgressLine
from conformance.report.terminal import summary
from conformance.settings import Settings
from conformance.shown import Shown
from conformance.usage import UsageError
from conformance.verdict import ExitCode, Verdict
from conformance.workbench import Workbench

T = TypeVar("T")

WORKER_OUTPUT = "gerrit_conformance_about"
BY_SUBJECT = "gerrit_conformance_by_subject"
"""Under this key a worker tells the controller about the surroundings of its examinations."""
_COLORS = {Verdict.CERTIFIED: "green", Verdict.WAIVED: "yellow", Verdict.INCOMPLETE: "yellow", Verdict.FAILED: "red"}
_WITHOUT_REPORT = frozenset({ExitCode.USAGE, ExitCode.NOTHING_RUN})


class ConformanceRun:
    """The plugin object that is registered when there is something to certify."""

    def __init__(self, config: pytest.Config, *, plans: list[Plan], settings: Settings, chosen: list[str]) -> None:
        """Keep the plan of the run; nothing of a subject is touched yet."""
        self._config = config
        self._plans = plans
        self._settings = settings
        self._chosen = chosen
        self._workbench = Workbench(settings)
        self._gathering = Gathering(plans, strict=settings.strict)
        self._certificates: list[tuple[str, Certificate]] = []
        self._foreseen: set[str] = set()
        self._progress: ProgressLine | None = None
        slugs = tuple(plan.slug for plan in plans)
        self._reports = ReportFolder(root=settings.report_dir, slugs=slugs) if settings.report_dir else None

    @classmethod
    def of(cls, config: pytest.Config) -> ConformanceRun:
        """Read the options, resolve the targets, and take our node ids out of pytest's arguments.

        Raises:
            pytest.UsageError: with the one message for whatever the user got wrong.
        """
        settings, plans = _as_pytest_says(lambda: _understood(config))
        return cls(config, plans=plans, settings=settings, chosen=_take_clause_ids(config))

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Add the clauses, before anything selects among the items."""
        items += _as_pytest_says(
            lambda: clause_items(
                self._plans,
                session=session,
                workbench=self._workbench,
                chosen=self._chosen,
                strict=self._settings.strict,
            )
        )

    def pytest_report_header(self) -> list[str]:
        """Say what is going to be certified, and on which host."""
        return [
            f"conformance: {plan.subject.kind} {plan.subject.name}, {len(plan.clauses)} clauses, "
            f"host {self._settings.host_kind}"
            for plan in self._plans
        ]

    def pytest_sessionstart(self) -> None:
        """Get the progress line ready, where there is a terminal to show it."""
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            self._progress = ProgressLine.on(reporter, total=self._gathering.planned)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """Open what is going to be examined here, so that a subject that cannot be built is one message and no more."""
        if self._config.option.collectonly:
            return
        chosen = Counter(item.plan.slug for item in session.items if isinstance(item, ClauseItem))
        if hasattr(self._config, "workerinput"):
            by_subject = self._config.workerinput.get(BY_SUBJECT, False)
            self._foreseen = {
                one.slug for one in self._plans if not by_subject or 2 * chosen[one.slug] <= len(one.clauses)
            }
            return
        if self._reports:
            _as_pytest_says(self._reports.clear)
        spreads = self._config.pluginmanager.has_plugin("dsession")
        for plan in self._plans:
            # Under xdist the workers examine; one build here fills the cache for all of them.
            if needs_building(plan.subject) if spreads else plan.slug in chosen:
                self._open(plan)
            if plan.profile.tools and (spreads or plan.slug in chosen):
                _as_pytest_says(partial(self._check_tools, plan))
            if not spreads and chosen[plan.slug] > len(plan.clauses) / 2:
                self._workbench.foresee(plan)

    def _open(self, plan: Plan) -> None:
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if plan.subject.build_from is not None and reporter is not None:
            reporter.write_line(
                f"conformance: building {plan.subject.name}, unless it is unchanged since the last time"
            )
        _as_pytest_says(lambda: self._workbench.open(plan))

    def _check_tools(self, plan: Plan) -> None:
        """Refuse a profile that tells of tools which none of the subjects has for which it holds."""
        names = [self._workbench.tool_names(one) for one in self._plans if one.profile == plan.profile]
        if all(names):  # else a subject does not load, and its clauses say so
            reject_unknown_tools(plan.profile, chain(*names))

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Let a worker foresee all that a subject's clauses will want to see, as soon as it is given the first."""
        if (
            hasattr(self._config, "workerinput")
            and isinstance(item, ClauseItem)
            and item.plan.slug not in self._foreseen
        ):
            self._foreseen.add(item.plan.slug)
            self._workbench.foresee(item.plan)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Show on a terminal which clause is at work."""
        if self._progress and options.is_clause_id(nodeid):
            self._progress.show(nodeid.rpartition("::")[2], number=self._gathering.judged + 1)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Gather the record that came with a report, from this process or from a worker."""
        if self._progress and (report.when == "call" or not report.passed):
            self._progress.clear()
        if options.is_clause_id(report.nodeid) and report.failed and isinstance(report.longrepr, str):
            report.longrepr = Shown(report.longrepr)  # a worker could send the text only
        self._gathering.take_report(report)

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Remember Ctrl-C; the end of an xdist run after `-x` arrives here, too, and is none."""
        if not type(excinfo.value).__module__.startswith("xdist"):
            self._gathering.interrupt()

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:  # noqa: ANN401 - xdist's own types
        """Spread a run over workers by subject, unless another way of spreading was asked for."""
        if config.getvalue("dist") != "load":
            return None
        from conformance.spreading import BySubject  # noqa: PLC0415 - needs xdist, which is there now

        return BySubject(config, log)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:  # noqa: ANN401 - as above
        """Tell a worker whether it is going to judge all clauses of a subject, or some of them."""
        node.workerinput[BY_SUBJECT] = node.config.getvalue("dist") == "load"

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:  # noqa: ANN401 - xdist has no public type for it
        """Take what a worker that ends tells of its surroundings, and say it when one is lost."""
        told = getattr(node, "workeroutput", None) or {}
        self._gathering.take_abouts(json.loads(told.get(WORKER_OUTPUT, "{}")))
        if error:
            self._gathering.lose_worker(node.gateway.id, str(error))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Close the examinations; workers then tell the controller, which writes the reports and sets the exit code."""
        abouts = self._workbench.about()
        self._workbench.close()
        if hasattr(self._config, "workeroutput"):  # xdist gives it to workers only
            self._config.workeroutput[WORKER_OUTPUT] = json.dumps(abouts)
            return
        self._gathering.take_abouts(abouts)
        if self._config.option.collectonly or session.exitstatus in _WITHOUT_REPORT:
            return
        self._certificates = self._gathering.certificates()
        if self._reports:
            self._reports.write(self._certificates)
        session.exitstatus = self._gathering.exit_status(int(session.exitstatus), self._certificates)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:  # noqa: ANN401 - pytest keeps its type private
        """Show each subject's summary after pytest's own sections."""
        for slug, certificate in self._certificates:
            terminalreporter.section(f"conformance: {slug}")
            *lines, verdict = summary(certificate, failures_shown=self._config.option.tbstyle != "no")
            for line in lines:
                terminalreporter.write_line(line)
            if self._reports:
                terminalreporter.write_line(f"report      {self._reports.certificate(slug)}")
            terminalreporter.write_line(verdict, bold=True, **{_COLORS[certificate.verdict]: True})


def _understood(config: pytest.Config) -> tuple[Settings, list[Plan]]:
    options.reject_misspelt_keys(config)
    settings = options.settings(config)
    require_curl(settings)
    plans = make_plans(
        options.targets(config),
        cwd=config.invocation_params.dir,
        root=config.rootpath,
        profile_path=options.profile_path(config),
        baseline_path=options.baseline_path(config),
    )
    for plan in plans:
        _refuse_other_kind(plan, options.as_kind(config))
    return settings, plans


def _refuse_other_kind(plan: Plan, wanted: str | None) -> None:
    kind = "gerrit-host" if kind_of(plan.subject) == "server" else "extension"
    if wanted not in {None, kind}:
        raise UsageError(
            f"{plan.subject.target} cannot be judged as {wanted}", f"it names what is judged as {kind}",
            f"leave --conformance-as out, or say --conformance-as={kind}",
        )  # fmt: skip


def _as_pytest_says(act: Callable[[], T]) -> T:
    """Turn a mistake of the user into pytest's own kind, which it shows without a traceback and with exit code 4."""
    try:
        return act()
    except UsageError as problem:
        raise pytest.UsageError(str(problem)) from None


def _take_clause_ids(config: pytest.Config) -> list[str]:
    """Take our node ids out of pytest's arguments, and every path that the user did not give.

    What is left empty makes pytest collect nothing of its own.
    """
    given = config.args if config.args_source is pytest.Config.ArgsSource.ARGS else []
    config.args = [argument for argument in given if not options.is_clause_id(argument)]
    return [argument for argument in given if options.is_clause_id(argument)]
