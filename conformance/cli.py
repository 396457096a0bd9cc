"""The command `gerrit-conformance`: list the clauses, explain one, put the suite itself to the test."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TextIO

from conformance.contracts import registry
from conformance.contracts.registry import Clause
from conformance.families import select, title_of
from conformance.usage import USAGE_EXIT_CODE, UsageError, did_you_mean, nearest
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.selftest import Tally

    _Commands = argparse._SubParsersAction["_Parser"]  # noqa: SLF001 - the only name of this type

PROGRAM = "gerrit-conformance"
_WIDTH = 100


class _Parser(argparse.ArgumentParser):
    """An argparse parser that raises instead of exiting."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, "", f"see {self.prog} --help")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: the words after the program's name; those of the process where they are left out.

    Returns:
        The exit code: 0, 1 if the self-test does not hold, 2 after Ctrl-C, 4 after a mistake of the caller.
    """
    try:
        parsed = _parse(sys.argv[1:] if arguments is None else list(arguments))
        command: Callable[[argparse.Namespace], int] = parsed.command
        code = command(parsed)
        sys.stdout.flush()  # here, where a reader that is gone is no error
    except UsageError as problem:
        _print(f"{PROGRAM}: {problem}", to=sys.stderr)
        return USAGE_EXIT_CODE
    except KeyboardInterrupt:
        _print(f"{PROGRAM}: interrupted", to=sys.stderr)
        return ExitCode.INTERRUPTED
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = _Parser(prog=PROGRAM, description=__doc__, allow_abbrev=False)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    parsers = {
        "list": _list_parser(commands),
        "explain": _explain_parser(commands),
        "profile": _profile_parser(commands),
        "selftest": _selftest_parser(commands),
    }
    if arguments and not arguments[0].startswith("-") and arguments[0] not in parsers:
        raise UsageError(f"{arguments[0]} is no command", "", did_you_mean(arguments[0], parsers))
    parsed, left_over = parser.parse_known_args(arguments)
    if left_over:
        known = list(parsers[arguments[0]]._option_string_actions)  # noqa: SLF001 - argparse has no other list of them
        raise UsageError(f"{arguments[0]} does not know {left_over[0]}", "", did_you_mean(left_over[0], known))
    return parsed


def _list_parser(commands: _Commands) -> argparse.ArgumentParser:
    parser = commands.add_parser("list", help="list the clauses", allow_abbrev=False)
    parser.add_argument("--json", action="store_true", help="as JSON")
    _add_family(parser)
    parser.set_defaults(command=_list)
    return parser


def _explain_parser(commands: _Commands) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        "explain", help="tell what a clause demands, why, and how to keep it", allow_abbrev=False
    )
    parser.add_argument("id", metavar="ID", help="a clause, for example ROUTE-NAMES")
    parser.set_defaults(command=_explain)
    return parser


def _profile_parser(commands: _Commands) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        "profile", help="write a first profile for an extension by looking at its tools", allow_abbrev=False
    )
    parser.add_argument("target", metavar="TARGET", help="as for --conformance: a module, a distribution, a folder")
    parser.add_argument("--output", metavar="FILE", type=Path, help="write it there instead of showing it")
    parser.set_defaults(command=_profile)
    return parser


def _selftest_parser(commands: _Commands) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        "selftest", help="run the suite on extensions whose verdict is known", allow_abbrev=False
    )
    parser.add_argument("--json", action="store_true", help="print the tally as JSON")
    _add_family(parser)
    parser.add_argument("--without", metavar="ID", action="append", default=[], help="leave this clause out")
    parser.add_argument("--full", action="store_true", help="judge every clause on every specimen")
    parser.add_argument("--alone", action="store_true", help="judge a bad specimen by its own clause and no other")
    parser.add_argument("--pyc", action="store_true", help="take the source of the specimens away first")
    parser.add_argument(
        "--jobs", metavar="N", type=_jobs, default=2 * max(2, os.cpu_count() or 2), help="how many at a time"
    )
    parser.add_argument(
        "--part",
        metavar="K/N",
        type=_part,
        default=(1, 1),
        help="deal the specimens out to N runs; be the K-th of them",
    )
    parser.add_argument("--table", metavar="FILE", type=Path, help="with --full: write every outcome into FILE (JSON)")
    parser.add_argument("--specimens", metavar="DIR", type=Path, help="try the specimens in DIR/extensions instead")
    parser.set_defaults(command=_selftest)
    return parser


def _add_family(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--family", metavar="WORDS", help="letters of families or beginnings of ids: A,EXT-,ROUTE-N")


def _jobs(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(f"--jobs={text} is no number of specimens", "expected a whole number from 1", "say --jobs=2")
    return int(text)


def _part(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", text)
    if found is None or int(found[1]) > int(found[2]):
        raise UsageError(
            f"--part={text} is no part", "expected two whole numbers K/N with K from 1 to N", "say --part=1/2"
        )
    return int(found[1]), int(found[2])


def _list(parsed: argparse.Namespace) -> int:
    clauses = select(registry.catalogue(), parsed.family)
    if parsed.json:
        listed = [
            {"id": one.id, "family": one.family, "level": one.level, "source": str(one.source), "summary": one.summary}
            for one in clauses
        ]
        _print(json.dumps({"catalogue": registry.CATALOGUE_VERSION, "clauses": listed}, indent=2))
        return 0
    for line in _table(clauses):
        _print(line)
    return 0


def _table(clauses: Sequence[Clause]) -> Iterator[str]:
    family, width = None, max(len(one.id) for one in clauses) + 1
    for clause in clauses:
        if clause.family != family:
            yield title_of(clause.family) if family is None else f"\n{title_of(clause.family)}"
            family = clause.family
        lead = f"  {clause.id:<{width}} {clause.level.upper():<8}"
        yield textwrap.fill(clause.summary, _WIDTH, initial_indent=lead, subsequent_indent=" " * len(lead))


def _explain(parsed: argparse.Namespace) -> int:
    clause = _clause(parsed.id)
    _print(f"{clause.id} ({clause.level.upper()})")
    _paragraph(clause.summary)
    for part in filter(None, clause.details.split("\n\n")):
        _paragraph(part)
    _print(f"source    {clause.source}")
    _print(f"fix       {clause.fix}")
    if clause.example:
        _print(f"example   {textwrap.indent(clause.example, ' ' * 10).lstrip()}")
    if clause.needs:
        _print(f"needs     {', '.join(clause.needs)} to be kept first")
    if clause.excused_by:
        _print(f"excused   where {' or '.join(clause.excused_by)} is broken, which explains it")
    if broken_by := _specimens_of(clause):
        _print(f"broken by {', '.join(broken_by)}")
    return 0


def _specimens_of(clause: Clause) -> list[str]:
    from conformance.specimens import bad_specimens  # noqa: PLC0415 - reads the specimens' files; `list` does without

    return [specimen.name for specimen in bad_specimens(clause_id=clause.id)]


def _clause(clause_id: str) -> Clause:
    catalogue = registry.catalogue()
    if clause_id.upper() in catalogue:
        return catalogue[clause_id.upper()]
    near = nearest(clause_id, catalogue.ids())
    remedy = f"did you mean {near}?" if near else f"{PROGRAM} list shows them all"
    raise UsageError(f"there is no clause {clause_id}", "", remedy)


def _profile(parsed: argparse.Namespace) -> int:
    from conformance.outcomes import Verdictless  # noqa: PLC0415 - brings the whole rig; `list` and `explain` do without
    from conformance.programs import require_curl  # noqa: PLC0415
    from conformance.settings import Settings  # noqa: PLC0415

    require_curl(Settings())
    if parsed.output and parsed.output.exists():
        raise UsageError(f"{parsed.output} is there already", "a profile is never overwritten", "name another file")
    try:
        text = asyncio.run(_written_profile(parsed.target))
    except Verdictless as why_not:
        raise UsageError(f"nothing can be seen of {parsed.target}", str(why_not), "") from None
    if parsed.output:
        parsed.output.write_text(text, encoding="utf-8")
        _print(f"written to {parsed.output}: try it with --conformance-profile={parsed.output}")
    else:
        _print(text.rstrip("\n"))
    return 0


async def _written_profile(target: str) -> str:
    from conformance.examine import Examination  # noqa: PLC0415 - brings the whole rig
    from conformance.first_profile import first_profile  # noqa: PLC0415
    from conformance.targets import resolve_target  # noqa: PLC0415

    async with Examination(resolve_target(target, cwd=Path.cwd())) as examination:
        return await first_profile(examination)


def _selftest(parsed: argparse.Namespace) -> int:
    from conformance import matrix, selftest  # noqa: PLC0415 - brings the whole rig; `list` and `explain` do without
    from conformance.programs import require_curl  # noqa: PLC0415
    from conformance.report.progress import CountingLine  # noqa: PLC0415
    from conformance.settings import Settings  # noqa: PLC0415

    require_curl(Settings())
    scope = selftest.Scope(
        clauses=tuple(select(registry.catalogue(), parsed.family)),
        without=frozenset(_clause(one).id for one in parsed.without),
        full=parsed.full,
        alone=parsed.alone,
        bytecode=parsed.pyc,
        part=parsed.part,
        jobs=parsed.jobs,
        rows=[] if parsed.table else None,
    )
    if parsed.full and parsed.alone:
        raise UsageError(
            "--full and --alone exclude each other", "one judges by every clause, the other by one", "drop one"
        )
    if parsed.table and not parsed.full:
        raise UsageError("--table shows the full square", "without --full a part of it is judged", "add --full")
    with CountingLine(sys.stderr) as line:
        tally = asyncio.run(
            selftest.run(
                scope,
                progress=lambda number, total, specimen: line.show(f"{number} of {total}  {specimen.label}"),
                root=parsed.specimens,
            )
        )
    if scope.rows is not None:
        tally.survived += matrix.write(parsed.table, scope.rows).leaning
    if parsed.json:
        _print(json.dumps({name: told for name, told in asdict(tally).items() if name != "why"}, indent=2))
    else:
        for told in _told(tally):
            _print(told)
    return ExitCode.CERTIFIED if tally.holds else ExitCode.FAILED


def _told(tally: Tally) -> Iterator[str]:
    for kind, labels in (("survived    ", tally.survived), ("false alarm ", tally.false_alarms)):
        for label in labels:
            yield f"{kind} {label}"
            if why := tally.why.get(label):
                yield f"             {why}"
    yield (
        f"{tally.clauses} clauses, {tally.specimens} bad specimens: {tally.killed} killed, "
        f"{len(tally.survived)} survived, {len(tally.false_alarms)} false alarms, "
        f"{tally.skipped_for_sdk} skipped for the other SDK"
    )


def _paragraph(text: str) -> None:
    _print(textwrap.fill(" ".join(text.split()), _WIDTH) + "\n")


def _print(text: str, *, to: TextIO | None = None) -> None:
    (to or sys.stdout).write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main())
