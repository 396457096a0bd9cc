"""What EXT-SURFACE, EXT-CONFIG and EXT-LOG see of a subject, and what they leave alone."""

from __future__ import annotations

import copy
import json
import pickle
import sys
from collections import ChainMap, UserDict
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import pytest
from pydantic import BaseModel

from conformance.contracts.registry import catalogue
from conformance.contracts.surface import astray
from conformance.examine import Examination
from conformance.outcomes import Finding, Outcome
from conformance.rig.belongings import FIRST_LINE, SETTING, plant_log, plant_settings
from conformance.rig.document import watched
from conformance.rig.frames import Frames
from conformance.rig.surface import Surface, is_mild, is_open
from conformance.settings import Settings
from conformance.targets import resolve_target

EXTENSIONS = Path(__file__).parents[2] / "fixtures" / "extensions"
CONFIG = {"default_gerrit_base_url": "https://a.example", "gerrit_hosts": [{"name": "a"}], "extensions": {"one": {}}}
FORWARDING = "class Own:\n    def __getattr__(self, name):\n        return getattr(ctx, name)\n"


class Told(list):
    """Stands for the channel."""

    def tell(self, kind, **about):
        self.append(about["what"])


class Context:
    mcp = log_path = None

    def load_config(self):
        return self._document

    _document = 1


def frames_of(*modules, folders=()):
    return Frames({"modules": list(modules), "metadata": None, "import_path": list(folders)})


def run(code, *, module="my_ext", **given):
    exec(code, {"__name__": module, **given})


def touched(code, *, module="my_ext"):
    """Give what the code of a module was seen to touch of a context."""

    class Watched(Context):
        pass

    told = Told()
    Surface(told, frames_of("my_ext")).watch_members(Watched, "ctx", frozenset({"mcp", "load_config", "log_path"}))
    with suppress(AttributeError):
        run(code, module=module, ctx=Watched())
    return told


@pytest.mark.parametrize(
    "code",
    [
        "ctx._state",
        "hasattr(ctx, '_state')",
        "from operator import attrgetter\nattrgetter('_state')(ctx)",
        "ctx._state = 1",
        "ctx._state = 1\ndel ctx._state",
        FORWARDING + "Own()._state",
    ],
)
def test_asking_for_an_undocumented_member_is_seen_whatever_way_it_is_asked_for(code):
    assert touched(code) == ["ctx._state"]


@pytest.mark.parametrize(
    "code",
    [
        "ctx.mcp, ctx.log_path, ctx.load_config()",
        "ctx.__class__, ctx.__dict__, hash(ctx), repr(ctx)",
        "import inspect\ninspect.getmembers(ctx)",
        "import copy\ncopy.copy(ctx)",
        FORWARDING + "import inspect\ninspect.iscoroutinefunction(Own())",
    ],
)
def test_documented_members_and_what_libraries_look_for_are_free(code):
    assert touched(code) == []


def test_what_is_made_of_an_exported_class_is_the_subjects_own():
    assert touched("class Own(type(ctx)):\n    pass\nown = Own()\nown._state = 1\nown._state") == []


def test_what_other_modules_touch_is_not_the_subjects():
    assert touched("ctx._document", module="some_library") == []


def test_each_thing_is_told_once():
    assert touched("for _ in range(3):\n    getattr(ctx, '_state', None)") == ["ctx._state"]


def test_what_is_taken_out_of_a_module_of_the_host_is_seen(monkeypatch):
    module = ModuleType("reference_server.urls")
    module.label = len
    monkeypatch.setitem(sys.modules, "reference_server.urls", module)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    for name in [one for one in sys.modules if one.partition(".")[0] in {"gerrit_mcp_server", "reference_server"}]:
        if name != "reference_server.urls":
            monkeypatch.delitem(sys.modules, name)
    told = Told()
    Surface(told, frames_of("my_ext")).watch_modules()
    run("import sys\nsys.modules['reference_server.urls'].label('')")
    run("try:\n    import reference_server.nothing\nexcept ImportError:\n    pass")
    run("import sys\nsys.modules['reference_server.urls'].label('')", module="some_library")
    assert told == ["reference_server.urls.label", "reference_server", "reference_server.nothing"]


@pytest.mark.parametrize(
    ("what", "opened", "mild"),
    [
        ("gerrit_mcp_server", True, False),
        ("gerrit_mcp_server.extensions", True, False),
        ("gerrit_mcp_server.extensions.requires_plugin", True, False),
        ("gerrit_mcp_server.extensions.load_config", False, False),
        ("gerrit_mcp_server.plugin_registry", False, True),
        ("gerrit_mcp_server.plugin_registry.requires_plugin", False, True),
        ("gerrit_mcp_server.plugin_registry.fetch", False, False),
        ("gerrit_mcp_server.main", False, False),
        ("reference_server.extensions", False, False),
        ("ctx.plugin_registry", False, False),
    ],
)
def test_what_is_exported_is_open_and_the_module_behind_it_a_lesser_matter(what, opened, mild):
    assert (is_open(what), is_mild(what)) == (opened, mild)


def test_a_module_beside_the_subjects_is_its_own_unless_packages_are_installed_there(tmp_path):
    def owned(folder):
        frames = frames_of("my_ext", folders=[str(folder)])
        code = compile("frame = sys._getframe()", f"{folder}/helper.py", "exec")
        given = {"__name__": "helper", "sys": sys}
        exec(code, given)
        return frames.owns(given["frame"])

    assert owned(tmp_path)
    (tmp_path / "other-1.0.dist-info").mkdir()
    assert not owned(tmp_path)


def test_the_host_is_never_taken_for_the_subject():
    frames = frames_of("gerrit_mcp_server.contrib")
    given = {"__name__": "gerrit_mcp_server.main", "sys": sys}
    exec("frame = sys._getframe()", given)
    assert not frames.owns(given["frame"])


def asked(act):
    seen = []
    document = watched(copy.deepcopy(CONFIG), lambda path, key: seen.append("/".join([*path, key])))
    act(document)
    return seen


@pytest.mark.parametrize(
    ("act", "keys"),
    [
        (lambda it: it["extensions"]["one"], ["extensions", "extensions/one"]),
        (lambda it: it.get("mine"), ["mine"]),
        (lambda it: "mine" in it, ["mine"]),
        (lambda it: it.pop("mine", None), ["mine"]),
        (lambda it: it.setdefault("mine", {}), ["mine"]),
        (lambda it: it.copy().get("mine"), ["mine"]),
        (lambda it: copy.deepcopy(it).get("mine"), ["mine"]),
        (lambda it: copy.copy(it).get("mine"), ["mine"]),
        (lambda it: it["gerrit_hosts"][0]["name"], ["gerrit_hosts", "gerrit_hosts/name"]),
        (lambda it: ChainMap(it).get("mine"), ["mine"]),
        (json.dumps, []),
        (dict, []),
        (lambda it: {**it}, []),
        (lambda it: it | {"a": 1}, []),
        (lambda it: list(it.items()), []),
    ],
)
def test_a_watched_document_tells_what_is_asked_for_by_name(act, keys):
    assert asked(act)[: len(keys)] == keys
    assert bool(asked(act)) == bool(keys)


def test_a_watched_document_is_the_dictionary_that_it_was():
    class Model(BaseModel):
        gerrit_hosts: list[dict[str, str]]

    document = watched(CONFIG, lambda _path, _key: None)
    assert isinstance(document, dict)
    assert document == CONFIG == {**document} == UserDict(document)
    assert json.loads(json.dumps(document)) == CONFIG
    assert copy.deepcopy(document) == document.copy() == CONFIG
    assert type(pickle.loads(pickle.dumps(document))) is dict
    assert repr(document) == repr(CONFIG)
    assert type(document)(document.items()).get("mine") is None
    assert Model.model_validate(document).gerrit_hosts == [{"name": "a"}]
    with pytest.raises(KeyError):
        document.pop("mine")


def reading(spot, *names):
    *path, key = names
    return {"path": path, "key": key, "spot": spot}


def strays(*reads):
    return [[*one["path"], one["key"]] for one in astray(reads)]


def test_a_setting_that_is_not_the_hosts_is_astray():
    reads = [reading("1", "gerrit_hosts"), reading("2", "mine"), reading("3", "extensions"), reading("3", SETTING, "a")]
    assert strays(*reads) == [["mine"], ["extensions"], [SETTING, "a"]]


def test_what_stands_in_an_entry_of_a_host_is_free():
    assert strays(reading("1", "gerrit_hosts", "name"), reading("1", "curl_timeout_seconds")) == []


def test_a_walk_through_the_whole_configuration_is_after_no_setting():
    keys = ("gerrit_hosts", "extensions", SETTING)
    walk = [reading("walk", key) for key in keys] + [reading("walk", SETTING, "lines")]
    scrub = [reading("scrub", key, "auth_token") for key in keys]
    assert strays(*walk, *scrub) == []


def test_a_look_up_by_a_helper_is_no_walk():
    assert strays(reading("get", "gerrit_hosts"), reading("get", "gerrit_hosts", "name"), reading("get", "mine")) == [
        ["mine"]
    ]


def test_what_is_planted_leaves_what_was_there(tmp_path):
    config, log = tmp_path / "gerrit_config.json", tmp_path / "server.log"
    config.write_text(json.dumps(CONFIG))
    plant_settings(config)
    plant_log(log)
    planted = json.loads(config.read_text())
    assert {key: planted[key] for key in CONFIG if key != "extensions"}.items() <= CONFIG.items()
    assert planted["extensions"].items() >= CONFIG["extensions"].items()
    assert SETTING in planted
    assert log.read_text().startswith(FIRST_LINE)
    assert log.stat().st_size > 10 * 1024**2
    assert log.stat().st_blocks * 512 < 4 * 1024**2


def examination_of(place, host="reference"):
    subject = resolve_target(f"path:{EXTENSIONS / place}", cwd=EXTENSIONS)
    return Examination(subject, settings=Settings(host=host))


async def judged(place, clause, host):
    async with examination_of(place, host) as examination:
        return await examination.judge(catalogue()[clause])


async def test_a_finding_tells_what_was_touched_and_where():
    async with examination_of("bad/EXT-SURFACE/imports_a_private_module.py") as examination:
        with pytest.raises(Finding) as raised:
            await catalogue()["EXT-SURFACE"].check(examination.observed)
    assert raised.value.saw.startswith("gerrit_mcp_server.gerrit_api, ")
    assert [(one.kind, one.text) for one in raised.value.evidence] == [
        ("fact", "asked for gerrit_mcp_server.gerrit_api: line 3 of imports_a_private_module, in <module>"),
        ("line", "imports_a_private_module.py:3 in <module>: asked for gerrit_mcp_server.gerrit_api"),
    ]


@pytest.mark.parametrize(
    ("specimen", "line"),
    [
        ("EXT-LOG/begins_the_log_anew.py", "begins_the_log_anew.py:20 in register: it was opened to be written anew"),
        ("EXT-CONFIG/opens_the_file_by_itself", "opens_the_file_by_itself/settings.py:12 in read: the configuration"),
    ],
)
async def test_a_finding_about_the_log_or_the_settings_tells_the_line(specimen, line):
    async with examination_of(f"bad/{specimen}") as examination:
        with pytest.raises(Finding) as raised:
            await catalogue()[specimen.partition("/")[0]].check(examination.observed)
    assert any(one.kind == "line" and one.text.startswith(line) for one in raised.value.evidence)


@pytest.mark.parametrize("clause", ["EXT-IMPORT", "EXT-RETURNS", "TOOL-WORKS"])
def test_what_fails_for_want_of_a_private_part_is_excused_by_it(clause):
    assert "EXT-SURFACE" in catalogue()[clause].excused_by


async def test_a_log_that_the_suite_cannot_prepare_leaves_the_question_open():
    host = "factory:tests.conformance.faulty_hosts:with_its_own_log"
    judgement = await judged("good/guide_first_mended.py", "EXT-LOG", host)
    assert judgement.outcome is Outcome.INCONCLUSIVE
    assert "GERRIT_MCP_LOG_PATH" in judgement.supply


async def test_a_host_that_rotates_its_log_is_not_held_against_an_extension():
    host = "factory:tests.conformance.faulty_hosts:rotating_its_log"
    judgement = await judged("bad/EXT-LOG/begins_the_log_anew.py", "EXT-LOG", host)
    assert (judgement.outcome, judgement.blocked_by) == (Outcome.BLOCKED, "host")
