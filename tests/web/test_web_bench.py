"""The rule pane: a typed rule judged in a process of its own, bounded in time, and the back-test over an archive."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from analyzer.archive.labels import LabelRequest, give_labels
from analyzer.archive.store import Archive
from analyzer.web.cases.case_manager import CaseManager
from analyzer.web.guard.place import PrivatePlace
from analyzer.web.guard.wire import Refusal
from analyzer.web.questions import library
from analyzer.web.rules import preview_processes, rule_editor
from analyzer.web.rules.preview_processes import PreviewProcesses
from tests.kit.archive_kit import SAMPLES
from tests.kit.ask_kit import Host, id_of, put
from tests.kit.web_kit import client_of, serving_at

ROOT = Path(__file__).resolve().parents[2]
KB = ROOT / "analyzer" / "kb"
CASE = ROOT / "samples" / "cases" / "lab-ring-before"
RULE = """\
rule: lab-beacon
title: A team has few uplinks
kb: []
source: made up for a test
status: draft
revised: 2026-01-01
about: Made up for a test.

each: t in esxi.teaming
subject: "{t.switch}"
object: "{t.switch}"
when: t.n_uplinks < 3

outcomes:
  - when: true
    severity: warning
    confidence: likely
    say: "{t.n_uplinks} uplinks."
evidence: [t.n_uplinks]

fix:
  - where: the switch
    do: Add uplinks.
not_this:
  - A team of three.
ask: esxcli network vswitch standard policy failover get
"""


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    """An archive of two hosts: one with two uplinks, one with four."""
    made = Archive.open(tmp_path / "archive", create=True)
    put(made, "few", [Host("host-a", teams=2)])
    put(made, "many", [Host("host-b", teams=4)])
    return made


@pytest.fixture
def client(tmp_path: Path, archive: Archive) -> Iterator[TestClient]:
    """A browser that is signed in at a server with the real desk and this archive."""
    serving = serving_at(tmp_path)
    serving.archive = str(archive.objects.url)
    serving.manager = CaseManager(serving.place, serving.archive)
    with client_of(serving, library.library_routes, rule_editor.rule_routes) as one:
        yield one
        serving.stopping.set()


def judge(client: TestClient, text: str, case: str) -> Any:
    """Return what the server says of a text over a case."""
    return client.post("/rules/judge", json={"text": text, "case": case}).json()


def test_a_rule_is_judged_over_a_stored_case_at_every_change(client: TestClient) -> None:
    """A threshold that is changed turns the match into no match and a near miss; the case is read once."""
    case = id_of("few")
    first = judge(client, RULE, case)["shown"]
    assert (first["state"], first["counts"]) == ("judged", {"match": 1})
    subject = first["subjects"][0]
    assert (subject["subject"], subject["severity"], subject["reasons"]) == (
        "vSwitch0",
        "warning",
        ["2 uplinks."],
    )
    assert any("team.txt" in item["at"] for item in subject["evidence"])
    second = judge(client, RULE.replace("< 3", "< 2"), case)["shown"]
    assert second["counts"] == {"no_match": 1}
    assert second["subjects"][0]["near"] == 1
    assert second["read_s"] == 0
    assert (
        second["subjects"][0]["evidence"][0]["text"] == "beacon"
    )  # the line, out of what is stored
    assert any("t.n_uplinks" in line for line in second["subjects"][0]["tree"])


def test_a_broken_rule_is_told_with_line_and_caret(client: TestClient) -> None:
    """A wrong column gives line and column, a caret below it and the name that is meant; the verdict before stays."""
    case = id_of("few")
    judge(client, RULE, case)
    shown = judge(client, RULE.replace("t.n_uplinks < 3", "t.n_uplink < 3"), case)["shown"]
    assert (shown["state"], shown["stale"], shown["counts"]) == ("broken", True, {"match": 1})
    wrong = next(one for one in shown["errors"] if "n_uplink" in one["text"])
    assert wrong["line"] == RULE[: RULE.index("when:")].count("\n") + 1
    assert "^" in wrong["text"]
    assert "did you mean `n_uplinks`" in wrong["text"]


@pytest.mark.process
@pytest.mark.parametrize(
    "text",
    ["rule: [", "\0", "a: &a [*a]", "!!python/object:os.system x", "rule: x\n" + "  " * 3000 + "y"],
)
def test_what_is_no_rule_is_told_and_nothing_breaks(client: TestClient, text: str) -> None:
    """Broken YAML, odd signs and tags are complaints; the next text is judged by the same process."""
    assert judge(client, text, id_of("few"))["shown"]["state"] == "broken"
    assert judge(client, RULE, id_of("few"))["shown"]["counts"] == {"match": 1}


@pytest.mark.process
def test_a_case_of_this_machine_is_read_and_searched_for_new_patterns(client: TestClient) -> None:
    """A case that was given by path is judged from its files by an installed rule, as the triage judges it."""
    made = client.post("/cases", json={"path": str(CASE)}).json()["id"]
    text = client.get("/rules/text/kb-2039495").json()["text"]
    shown = judge(client, text, made)["shown"]
    assert shown["counts"]["match"] == 1
    assert all(one["ok"] for one in shown["examples"])


@pytest.mark.process
def test_a_dropped_case_is_read_under_its_labels(client: TestClient) -> None:
    """Uploaded files lie under numbers; a rule over them names the file as it was called."""
    files = sorted(path for path in CASE.rglob("*") if path.is_file())
    names = [{"name": str(path.relative_to(CASE)), "size": path.stat().st_size} for path in files]
    made = client.post("/cases", json={"files": names}).json()["id"]
    early = client.post("/rules/judge", json={"text": RULE, "case": made})
    assert early.status_code == 409
    for number, path in enumerate(files):
        client.put(f"/cases/{made}/files/{number}", content=path.read_bytes()).raise_for_status()
    text = client.get("/rules/text/kb-2039495").json()["text"]
    shown = judge(client, text, made)["shown"]
    places = [item["at"] for one in shown["subjects"] for item in one["evidence"]]
    assert any(str(path.relative_to(CASE)).split("/")[-1] in at for at in places for path in files)


@pytest.mark.parametrize("case", ["", "0" * 32, "../../etc", "a" * 5000])
def test_an_unknown_case_is_refused(client: TestClient, case: str) -> None:
    """What is no id of a case is not found, and no process is started for it."""
    assert client.post("/rules/judge", json={"text": RULE, "case": case}).status_code == 404


def test_a_text_that_is_none_or_too_long_is_refused(client: TestClient) -> None:
    """Nothing, another kind of value and a text beyond the bound are refused before any process sees them."""
    case = id_of("few")
    for sent, status in (({"case": case}, 400), ({"text": 3, "case": case}, 400), ({"text": " ", "case": case}, 400),
                         ({"text": "x" * 300_000, "case": case}, 413)):  # fmt: skip
        assert client.post("/rules/judge", json=sent).status_code == status


@pytest.mark.size
def test_the_catalog_is_listed_with_what_it_found(client: TestClient) -> None:
    """Every shipped rule stands in the list; those that judged the archive with how often they matched."""
    told = client.get("/rules").json()
    rules = {one["rule"]: one for one in told["rules"]}
    assert {path.stem for path in KB.glob("*/*.yaml")} <= set(rules)
    assert rules["beacon-probing"]["hits"]["judged"] == 2
    assert rules["kb-2113956"]["hits"] is None
    assert client.get("/rules/text/..%2f..%2fsetup").status_code == 404


def test_the_text_lies_in_the_private_folder_only_and_goes_with_the_case(
    tmp_path: Path, archive: Archive
) -> None:
    """A typed rule is written below the private folder, the newest only, and removed when its process is let go."""

    async def act() -> None:
        place = PrivatePlace.make_folder(tmp_path)
        made = PreviewProcesses(place)
        order = {"stored": id_of("few"), "archive": str(archive.objects.url)}
        await made.judge_text("few", order, RULE, asyncio.Event().wait)
        await made.judge_text(
            "few", order, RULE.replace("lab-beacon", "lab-other"), asyncio.Event().wait
        )
        files = list(place.folder.rglob("*.yaml"))
        assert [path.name for path in files] == ["lab-other.yaml"]
        pid = made._watches["few"][0].pid
        made.close()
        assert [*place.folder.rglob("*.yaml")] == []
        await gone(pid)
        place.remove_all()

    asyncio.run(act())


async def gone(pid: int | None) -> None:
    """Wait until a process is gone."""
    assert pid is not None
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        await asyncio.sleep(0.02)
    raise AssertionError("the process lives on")


@pytest.mark.process
def test_a_rule_that_takes_too_long_is_killed_and_the_next_starts_afresh(
    tmp_path: Path, archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that does not answer in time is killed, the error says so, and the next text is judged."""

    async def act() -> None:
        place = PrivatePlace.make_folder(tmp_path)
        made = PreviewProcesses(place)
        order = {"stored": id_of("few"), "archive": str(archive.objects.url)}
        await made.judge_text("few", order, RULE, asyncio.Event().wait)
        watch = made._watches["few"][0]
        pid = watch.pid
        assert pid is not None
        os.kill(pid, 19)  # it hangs: SIGSTOP
        with monkeypatch.context() as patch, pytest.raises(Refusal, match="stopped") as caught:
            patch.setattr(preview_processes, "RUN", 0.5)
            await made.judge_text("few", order, RULE + "# changed\n", asyncio.Event().wait)
        assert caught.value.status == 504
        await gone(pid)
        line = await made.judge_text("few", order, RULE, asyncio.Event().wait)
        assert line["shown"]["counts"] == {"match": 1}
        made.close()
        place.remove_all()

    asyncio.run(act())


@pytest.mark.process
def test_who_does_not_wait_any_more_ends_the_process(tmp_path: Path, archive: Archive) -> None:
    """A browser that goes away while a text is judged leaves nothing running."""

    async def act() -> None:
        place = PrivatePlace.make_folder(tmp_path)
        made = PreviewProcesses(place)
        order = {"stored": id_of("few"), "archive": str(archive.objects.url)}
        await made.judge_text("few", order, RULE, asyncio.Event().wait)
        pid = made._watches["few"][0].pid
        assert pid is not None
        os.kill(pid, 19)
        with pytest.raises(Refusal, match="nobody is waiting"):
            await made.judge_text("few", order, RULE + "# changed\n", lambda: asyncio.sleep(0.1))
        await gone(pid)
        assert made._watches == {}
        place.remove_all()

    asyncio.run(act())


@pytest.mark.process
def test_no_more_than_a_few_cases_are_held(tmp_path: Path, archive: Archive) -> None:
    """The process of the case that was asked longest ago is let go for a new one; a dead one is replaced."""

    async def act() -> None:
        place = PrivatePlace.make_folder(tmp_path)
        made = PreviewProcesses(place)
        order = {"stored": id_of("few"), "archive": str(archive.objects.url)}
        for key in ("a", "b"):
            await made.judge_text(key, order, RULE, asyncio.Event().wait)
        first = made._watches["a"][0].pid
        await made.judge_text("c", order, RULE, asyncio.Event().wait)
        assert list(made._watches) == ["b", "c"]
        await gone(first)
        pid = made._watches["c"][0].pid
        assert pid is not None
        os.kill(pid, 9)
        with pytest.raises(Refusal):
            await made.judge_text("c", order, RULE, asyncio.Event().wait)
        assert (await made.judge_text("c", order, RULE, asyncio.Event().wait))["type"] == "shown"
        made.close()
        place.remove_all()

    asyncio.run(act())


# --- back-test ---


def backtested(client: TestClient, text: str, **more: str) -> list[dict[str, Any]]:
    """Return the lines of a back-test."""
    answer = client.post("/rules/backtest", json={"text": text, **more})
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


@pytest.mark.process
def test_a_back_test_tells_progress_and_its_report(client: TestClient, archive: Archive) -> None:
    """Matches, cannot tell, near misses and precision of a typed rule over all stored cases, after its progress."""
    stored = archive.take_snapshot().find_case(id_of("few"))
    give_labels(archive, stored, LabelRequest("lab-beacon", "host-a", "vSwitch0", force=True))
    lines = backtested(client, RULE)
    assert [line["type"] for line in lines if line["type"] in ("ready", "progress", "report")][
        -1
    ] == "report"
    assert {"type": "progress", "done": 2, "total": 2} in lines
    report = lines[-1]["report"]
    assert [hit["thing"]["case"] for hit in report["hits"]] == ["few"]
    assert (report["judged"], report["released"], report["numbers"]["precision"]) == (
        2,
        "none",
        1.0,
    )
    assert report["near"]
    assert "near misses" in lines[-1]["text"].lower()


@pytest.mark.process
def test_a_back_test_compares_with_the_installed_rule(client: TestClient) -> None:
    """A changed rule of an installed id says what it gains and loses against that."""
    text = client.get("/rules/text/beacon-probing").json()["text"]
    assert backtested(client, text)[-1]["report"]["released"] == "same"
    changed = text.replace("n_uplinks < 3", "n_uplinks < 1")
    assert changed != text
    report = backtested(client, changed)[-1]["report"]
    assert report["compared"]
    assert [hit["thing"]["case"] for hit in report["lost"]] == ["few"]


@pytest.mark.process
def test_a_back_test_of_some_cases_and_of_a_broken_rule(client: TestClient) -> None:
    """Cases are chosen by name; a rule with a mistake is told with its caret; a wrong time is refused."""
    assert backtested(client, RULE, cases="m*")[-1]["report"]["seen"] == 1
    last = backtested(client, RULE.replace("n_uplinks < 3", "n_uplink < 3"))[-1]
    assert last["type"] == "broken"
    assert "^" in last["errors"][0]["text"]
    assert (
        client.post("/rules/backtest", json={"text": RULE, "since": "tomorrow"}).status_code == 400
    )


@pytest.mark.process
def test_a_cancelled_back_test_ends_its_process(tmp_path: Path, archive: Archive) -> None:
    """Whoever does not read on ends the process and frees the place; meanwhile a second one is refused."""

    async def act() -> None:
        place = PrivatePlace.make_folder(tmp_path)
        made = PreviewProcesses(place)
        order = {"archive": str(archive.objects.url), "cases": "", "since": "", "until": ""}
        running = made.run_backtest(order, RULE)
        await anext(running)
        assert made._backtest is not None
        pid = made._backtest.pid
        with pytest.raises(Refusal, match="another"):
            await anext(made.run_backtest(order, RULE))
        await running.aclose()  # type: ignore[attr-defined]
        await gone(pid)
        assert [line["type"] async for line in made.run_backtest(order, RULE)][-1] == "report"
        assert [path for path in place.folder.iterdir() if path.is_dir()] == []
        place.remove_all()

    asyncio.run(act())


def test_without_an_archive_there_is_no_back_test(tmp_path: Path) -> None:
    """A server without an archive says what to start instead; the catalog is there all the same."""
    with client_of(serving_at(tmp_path), rule_editor.rule_routes) as client:
        assert (
            "--archive" in client.post("/rules/backtest", json={"text": RULE}).json()["error"]["do"]
        )
        told = client.get("/rules").json()
        assert told["archive"] is False
        assert len(told["rules"]) >= len(SAMPLES)


def test_a_page_of_another_site_cannot_judge(tmp_path: Path) -> None:
    """A request that a foreign page makes the browser send is refused by the gate."""
    with client_of(serving_at(tmp_path), rule_editor.rule_routes) as client:
        sent = {"origin": "http://evil.example", "sec-fetch-site": "cross-site"}
        assert (
            client.post("/rules/judge", json={"text": RULE, "case": "x"}, headers=sent).status_code
            == 403
        )


def test_the_file_of_a_text_bears_its_rule_and_nothing_else(tmp_path: Path) -> None:
    """An id becomes the name of the file; what is no id (a path, a long name) never does."""
    assert preview_processes.write_rule(tmp_path, "rule: kb-1\n").name == "kb-1.yaml"
    for odd in ("rule: ../../etc/passwd\n", "rule: a/b\n", "rule: " + "x" * 300 + "\n", ""):
        assert preview_processes.write_rule(tmp_path, odd).name == "rule.yaml"
    assert [path.name for path in tmp_path.iterdir()] == ["rule.yaml"]


@pytest.mark.process
def test_a_fresh_draft_has_one_hint_and_no_mistakes(client: TestClient) -> None:
    """The rule that the page opens with says once what is to be filled in; a real mistake in it is told besides."""
    text = client.get("/rules/text/new").json()["text"]
    shown = judge(client, text, id_of("few"))["shown"]
    assert (shown["errors"], shown["warnings"]) == ([], [])
    assert shown["hint"].startswith(
        "To fill in, where it says TO DO: title, source, revised, about"
    )

    wrong = judge(
        client, text.replace("stats.dropped_tx > 0", "stats.dropped_tz > 0"), id_of("few")
    )["shown"]
    assert any("dropped_tz" in one["text"] for one in wrong["errors"])
    assert judge(client, RULE, id_of("few"))["shown"]["hint"] == ""
