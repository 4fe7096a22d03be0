"""The page judges as the command line does with the same options, and counts as the report does."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from analyzer.archive.query import browse
from analyzer.archive.store import Archive
from analyzer.case import case_file
from analyzer.cli import main
from analyzer.report import view
from analyzer.rules.run_options import RunOptions
from analyzer.web import serving
from analyzer.web.cases.case_manager import CaseManager
from analyzer.web.cases.history import History
from analyzer.web.cases.web_case import OVER
from analyzer.web.guard.place import PrivatePlace
from analyzer.web.questions import answers, stored
from analyzer.web.questions.answers import FieldQuestion, Library
from analyzer.web.rules import rule_editor
from tests.kit.web_kit import client_of, serving_at

ROOT = Path(__file__).resolve().parents[2]
CASE = ROOT / "samples" / "cases" / "config-traps"
PATIENCE = 120.0

# Synthetic rules: two findings each in the sample case, one a NIC.
RULE = """\
rule: {name}
title: A NIC is there
kb: []
source: made up for a test
status: {status}
revised: 2026-01-01
about: Made up for a test.

each: n in esxi.pnic_info
subject: "{{n.pnic}}"
object: "{{n.pnic}}"
let:
  most: 0
when: most < 5

outcomes:
  - when: true
    severity: {severity}
    confidence: {confidence}
    say: "{{n.pnic}} is there."
evidence: [n.driver]

fix:
  - where: the host
    do: Nothing.
not_this:
  - A host without NICs.
ask: esxcli network nic list
"""
RULES = (
    ("lab-nics", "test", "warning", "likely"),
    ("lab-version", "test", "major", "exposed"),
    ("lab-draft", "draft", "critical", "likely"),
    ("lab-quiet", "test", "critical", "likely"),
)
SETTINGS = """\
[[mute]]
rule = "lab-quiet"
until = 2030-01-01
reason = "made up: nobody wants to see it"

[thresholds.lab-nics]
most = 3
reason = "made up: ours are others"
"""


@pytest.fixture
def desk_files(tmp_path: Path) -> tuple[Path, Path]:
    """A folder of made-up rules, and settings that mute one and change another."""
    kb = tmp_path / "my-rules"
    kb.mkdir()
    for name, status, severity, confidence in RULES:
        text = RULE.format(name=name, status=status, severity=severity, confidence=confidence)
        (kb / f"{name}.yaml").write_text(text, encoding="utf-8")
    settings = tmp_path / "desk.toml"
    settings.write_text(SETTINGS, encoding="utf-8")
    return kb, settings


def how_of(kb: Path, settings: Path, *, drafts: bool = False) -> RunOptions:
    """Return what the options `--kb`, `--settings`, `--no-packs` and `--draft` mean to the page."""
    return RunOptions((str(kb),), str(settings), packs=False, drafts=drafts)


def options_of(kb: Path, settings: Path, *, drafts: bool = False) -> list[str]:
    """Return the same options for the command line."""
    return ["--kb", str(kb), "--settings", str(settings), "--no-packs", *["--draft"] * drafts]


def command(*words: str) -> str:
    """Run the command line; return its stdout."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    said = subprocess.run(
        [sys.executable, "-m", "analyzer", *words],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.stdout, said.stderr
    return said.stdout


def judged(folder: Path, how: RunOptions, archive: str = "") -> tuple[dict[str, Any], str]:
    """Let a desk judge the sample case; return its record and its case.json."""

    async def act() -> tuple[dict[str, Any], str]:
        place = PrivatePlace.make_folder(folder)
        manager = CaseManager(place, archive, how)
        try:
            case = manager.add_case("", CASE)
            manager.start_case(case.id)
            async for _, event in manager.follow_events(0):
                if event["kind"] == "state" and event["record"]["state"] in OVER:
                    return dict(event["record"]), manager.find_result(
                        case.id, "case.json"
                    ).read_text(encoding="utf-8")
            raise AssertionError("the events ended")
        finally:
            await manager.close()
            place.remove_all()

    return asyncio.run(asyncio.wait_for(act(), PATIENCE))


# --- the numbers of a case ---


@pytest.mark.process
def test_the_page_counts_as_the_report_everywhere(
    tmp_path: Path, desk_files: tuple[Path, Path]
) -> None:
    """Findings of one rule are one number: at the end of a case, among the cases, in the archive, in a stored case."""
    objects = tmp_path / "archive"
    record, text = judged(tmp_path, how_of(*desk_files), str(objects))
    document = json.loads(text)
    tally = view.tally_case(case_file.parse_case(text, "case"))
    counts = dict(tally.findings)
    live = [one for one in document["findings"] if one["verdict"] == "match" and not one["muted"]]
    assert [one["rule"] for one in live].count("lab-nics") == 2
    assert counts["exposed"] == 1
    assert sum(counts.values()) < len(live)
    assert record["counts"] == counts
    assert (record["worst"], record["unknowns"]) == ("major", tally.questions)
    assert f"{counts['info']} info, 1 exposed" in record["say"]
    place = PrivatePlace.make_folder(tmp_path)
    (past,) = History(str(objects), place).list_newest()
    place.remove_all()
    assert (past["counts"], past["worst"], past["unknowns"]) == (
        counts,
        "major",
        record["unknowns"],
    )
    library = Library(str(objects))
    told = stored.describe_case(library, past["id"])
    assert (told["counts"], told["unknowns"]) == (counts, record["unknowns"])
    (row,) = answers.answer_question(library, FieldQuestion())["rows"]
    assert f"{counts['info']} info, 1 exposed" in row["cells"][5]


@pytest.mark.process
def test_the_list_of_the_command_counts_as_the_report(
    tmp_path: Path, desk_files: tuple[Path, Path]
) -> None:
    """`archive list` counts findings and questions as the report of the case does, exposed ones apart."""
    objects = tmp_path / "archive"
    _, text = judged(tmp_path, how_of(*desk_files), str(objects))
    answer = browse.list_cases(Archive.open(objects), browse.ListFilter())
    (row,) = [dict(zip(answer.head, row, strict=True)) for row in answer.rows]
    tally = view.tally_case(case_file.parse_case(text, "case"))
    assert {word: row[word] for word in view.COUNTED if row[word]} == dict(tally.findings)
    assert (row["exposed"], row["cannot_tell"]) == (1, tally.questions)


# --- the same options, the same case ---


@pytest.mark.process
@pytest.mark.parametrize("drafts", [False, True])
def test_a_case_of_the_page_is_that_of_triage(
    tmp_path: Path, desk_files: tuple[Path, Path], drafts: bool
) -> None:
    """case.json is byte for byte that of `triage` with the same rules, settings and drafts; the history's too."""
    objects = tmp_path / "archive"
    _, text = judged(tmp_path, how_of(*desk_files, drafts=drafts), str(objects))
    assert text == command(
        "triage", str(CASE), "--json", "-", *options_of(*desk_files, drafts=drafts)
    )
    rules = {one["rule"] for one in json.loads(text)["findings"]}
    assert ("lab-draft" in rules, {"lab-nics", "lab-quiet"} <= rules) == (drafts, True)
    place = PrivatePlace.make_folder(tmp_path)
    past = History(str(objects), place)
    (one,) = past.list_newest()
    assert past.find_result(one["id"], "case.json").read_text(encoding="utf-8") == text
    place.remove_all()


@pytest.mark.process
def test_a_stored_case_bears_the_marks_of_a_batch(
    tmp_path: Path, desk_files: tuple[Path, Path]
) -> None:
    """A batch with the same options finds the case done and would store it under the same name; others judge anew."""
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    judged(tmp_path, how_of(*desk_files), str(ours))
    same = ["--layout", "folders", "--json", "-", *options_of(*desk_files)]
    summary = json.loads(command("batch", str(CASE), "--archive", str(ours), *same))
    assert (summary["read"], summary["judged"], summary["done"]) == (0, 0, 1)
    command("batch", str(CASE), "--archive", str(theirs), *same)
    (one,), (other,) = (
        Archive.open(objects).take_snapshot().list_visible_cases() for objects in (ours, theirs)
    )
    assert (one.judged.reading, one.judged.judging) == (other.judged.reading, other.judged.judging)
    assert (one.id, one.judged.source) == (other.id, other.judged.source)
    summary = json.loads(command("batch", str(CASE), "--archive", str(ours), "--layout", "folders", "--json", "-",
                                 "--no-settings"))  # fmt: skip
    assert (summary["read"], summary["judged"]) == (0, 1)


# --- the command ---


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[RunOptions]:
    """Take what the command would serve with, in place of a server."""
    asked: list[RunOptions] = []
    monkeypatch.setattr(serving, "serve_page", lambda *_, how, **__: asked.append(how))
    return asked


def serve(*words: str) -> Any:
    """Run `backline serve`."""
    return CliRunner().invoke(main, ["serve", "--no-open", *words])


def test_the_options_reach_the_desk(
    tmp_path: Path,
    desk_files: tuple[Path, Path],
    served: list[RunOptions],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`serve` takes the rules and settings of `triage`; without any it looks at the current folder for each case."""
    monkeypatch.chdir(tmp_path)
    assert serve(*options_of(*desk_files, drafts=True)).exit_code == 0
    assert serve("--no-settings").exit_code == 0
    assert serve().exit_code == 0
    assert served == [how_of(*desk_files, drafts=True), RunOptions(settings=""), RunOptions()]


def test_what_is_wrong_is_told_before_the_first_case(
    tmp_path: Path, desk_files: tuple[Path, Path], served: list[RunOptions]
) -> None:
    """A folder that is not there, bad settings and contrary options stop the start; a broken rule is told."""
    kb, settings = desk_files
    missing = serve("--kb", str(tmp_path / "nothing"))
    assert (missing.exit_code, "no such file or folder" in missing.output) == (2, True)
    assert serve("--settings", str(settings), "--no-settings").exit_code == 2
    odd = tmp_path / "odd.toml"
    odd.write_text("mute = 3\n", encoding="utf-8")
    assert "odd.toml" in serve("--settings", str(odd)).output
    unknown = serve("--settings", str(settings))  # it speaks of a rule that only --kb brings
    assert unknown.exit_code == 2
    assert "lab-quiet" in unknown.output
    assert served == []
    (kb / "lab-broken.yaml").write_text("rule: lab-broken\n", encoding="utf-8")
    told = serve("--kb", str(kb), "--no-settings")
    assert "lab-broken.yaml" in told.output
    assert len(served) == 1


def test_the_real_desk_gets_them(
    tmp_path: Path, desk_files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The desk and the rooms of one server share one way of judging."""
    seen: list[Any] = []
    monkeypatch.setattr(serving, "make_application", lambda shared, *_: seen.append(shared))
    monkeypatch.setattr(
        serving, "Server", lambda *_, **__: type("Stopped", (), {"run": lambda *_: None})()
    )
    how = how_of(*desk_files)
    serving.serve_page(work_dir=tmp_path, say=lambda _: None, open_browser=False, how=how)
    (shared,) = seen
    assert (shared.how, shared.manager._how) == (how, how)


# --- the rules page ---


@pytest.fixture
def client(tmp_path: Path, desk_files: tuple[Path, Path]) -> Iterator[TestClient]:
    """A browser at a server without an archive, with further rules and settings."""
    shared = serving_at(tmp_path)
    shared.how = how_of(*desk_files)
    shared.manager = CaseManager(shared.place, "", shared.how)
    with client_of(shared, rule_editor.rule_routes) as one:
        yield one
        shared.stopping.set()


@pytest.mark.size
def test_the_rules_page_lists_further_rules_as_settings_change_them(client: TestClient) -> None:
    """Rules of --kb stand in the catalog with where they come from and their mutes, and their text can be opened."""
    told = client.get("/rules").json()
    rules = {one["rule"]: one for one in told["rules"]}
    assert {name for name, *_ in RULES} <= set(rules)
    assert rules["lab-nics"]["from"] == "folder my-rules"
    assert "nobody wants to see it" in rules["lab-quiet"]["muted"][0]
    assert client.get("/rules/text/lab-nics").json()["text"].startswith("rule: lab-nics")
    assert (told["archive"], "--archive" in told["note"]) == (False, True)


def test_a_rule_is_tried_on_a_case_of_this_start_without_an_archive(client: TestClient) -> None:
    """A case of this server is judged while the rule is typed, with the thresholds of the settings."""
    case = client.post("/cases", json={"path": str(CASE)}).json()["id"]
    text = client.get("/rules/text/lab-nics").json()["text"]
    shown = client.post("/rules/judge", json={"text": text, "case": case}).json()["shown"]
    assert shown["counts"] == {"match": 2}
    strict = text.replace("most < 5", "most < 2")  # 0 as it is written, 3 as the settings have it
    assert client.post("/rules/judge", json={"text": strict, "case": case}).json()["shown"][
        "counts"
    ] == {"no_match": 2}


def test_a_rule_is_tried_on_its_own_examples_without_any_case(client: TestClient) -> None:
    """Without a case a text is checked and its examples are run; mistakes have their line as ever."""
    text = client.get("/rules/text/kb-2039495").json()["text"]
    shown = client.post("/rules/judge", json={"text": text, "case": "examples"}).json()["shown"]
    assert (shown["state"], shown["counts"], shown["subjects"], shown["counted"]) == (
        "judged",
        {},
        [],
        "",
    )
    assert shown["examples"]
    assert all(one["ok"] for one in shown["examples"])
    broken = text.replace("each: ", "eech: ", 1)
    shown = client.post("/rules/judge", json={"text": broken, "case": "examples"}).json()["shown"]
    assert (shown["state"], shown["stale"], shown["errors"][0]["line"] > 0) == (
        "broken",
        False,
        True,
    )
    after = client.post("/rules/judge", json={"text": text + "\n", "case": "examples"}).json()[
        "shown"
    ]
    assert after["state"] == "judged"


# --- a rule that names shared parts ---

_KINDS = """\
meaning = "Drivers and what we call them."
source = "made up for a test"
key = ["driver"]

[columns.driver]
kind = "str"
meaning = "the driver"

[columns.call]
meaning = "what we call it"
needed = true
"""


@pytest.fixture
def sharing(tmp_path: Path) -> Iterator[TestClient]:
    """A browser at a server with two catalogs: rules in folders by subject below a `shared.yaml`, and facts in one."""
    for name, bar in (("first", 9), ("second", 2)):
        folder = tmp_path / name
        (folder / "nics").mkdir(parents=True)
        text = RULE.format(
            name=f"lab-{name}", status="test", severity="warning", confidence="likely"
        )
        (folder / "nics" / f"lab-{name}.yaml").write_text(
            text.replace("most: 0", "most: $bar"), encoding="utf-8"
        )
        part = f"{{is: {bar}, unit: NICs, reason: made up}}"
        shared = f"thresholds:\n  bar: {part}\n  only_{name}: {part}\n"
        (folder / "shared.yaml").write_text(shared, encoding="utf-8")
    (tmp_path / "first" / "facts").mkdir()
    (tmp_path / "first" / "facts" / "lab_driver.toml").write_text(_KINDS, encoding="utf-8")
    rows = "driver,call,source,mark\nixgben,the common one,made up for a test,inferred\n"
    (tmp_path / "first" / "facts" / "lab_driver.csv").write_text(rows, encoding="utf-8")
    serving = serving_at(tmp_path)
    kb = (str(tmp_path / "first"), str(tmp_path / "second"))
    serving.how = RunOptions(kb=kb, settings="", packs=False)
    serving.manager = CaseManager(serving.place, "", serving.how)
    with client_of(serving, rule_editor.rule_routes) as one:
        yield one
        serving.stopping.set()


def judged_text(client: TestClient, text: str) -> dict[str, Any]:
    """Return what the page shows of a typed text over the sample case."""
    case = client.post("/cases", json={"path": str(CASE)}).json()["id"]
    shown: dict[str, Any] = client.post("/rules/judge", json={"text": text, "case": case}).json()[
        "shown"
    ]
    return shown


@pytest.mark.parametrize(
    ("rule", "counts"), [("lab-first", {"no_match": 2}), ("lab-second", {"match": 2})]
)
def test_a_typed_rule_sees_the_shared_parts_of_its_own_catalog(
    sharing: TestClient, rule: str, counts: dict[str, int]
) -> None:
    """Two catalogs have a bar of the same name: the rule under work takes that beside it, and lint finds no fault."""
    shown = judged_text(sharing, sharing.get(f"/rules/text/{rule}").json()["text"])
    assert (shown["state"], shown["counts"]) == ("judged", counts)
    assert not [one for one in shown["errors"] if "R012" in one["text"]]


@pytest.mark.process
def test_a_new_rule_may_name_what_any_own_catalog_shares(sharing: TestClient) -> None:
    """A rule of a new name is read beside the catalog that knows its names; one that none has is told with its line."""
    text = RULE.format(name="lab-new", status="draft", severity="warning", confidence="likely")
    assert judged_text(sharing, text.replace("most: 0", "most: $only_second"))["counts"] == {
        "match": 2
    }
    assert judged_text(sharing, text.replace("most: 0", "most: $only_first"))["counts"] == {
        "no_match": 2
    }
    broken = judged_text(sharing, text.replace("most: 0", "most: $only_frist"))
    assert broken["state"] == "broken"
    (wrong,) = [
        one for one in broken["errors"] if "no threshold `only_frist` is shared" in one["text"]
    ]
    assert wrong["line"] == text[: text.index("most: 0")].count("\n") + 1


def test_a_typed_rule_may_name_facts_of_an_own_catalog(sharing: TestClient) -> None:
    """A table of facts beside the rules of one catalog is known to verdict and lint, as in a run."""
    text = RULE.format(name="lab-second", status="test", severity="warning", confidence="likely")
    text = text.replace(
        "subject:", "join:\n  kind: {table: kb.lab_driver, by: {driver: driver}}\nsubject:"
    )
    shown = judged_text(sharing, text.replace('is there."', 'is there: {kind.call}."'))
    assert (shown["state"], shown["counts"]) == ("judged", {"match": 2})
    assert not [one for one in shown["errors"] if "R010" in one["text"]]
