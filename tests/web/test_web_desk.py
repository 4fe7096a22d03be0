"""The desk of the page with real processes: events, files, what is removed, the archive."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from analyzer.archive.restore.recall import recall_case
from analyzer.archive.store import Archive
from analyzer.case import case_file
from analyzer.report import short_note
from analyzer.rules.run_options import RunOptions
from analyzer.web.cases.events import Events
from analyzer.web.guard.wire import NewFile, Refusal, read_incident, read_title
from tests.kit.desk_kit import (
    BUNDLE,
    PATIENCE,
    ROOT,
    at_desk,
    does,
    posix,
    put,
    run,
    settled,
    triaged,
)


@pytest.mark.process
def test_a_dropped_bundle_is_told_from_the_upload_to_its_report(tmp_path: Path) -> None:
    """An uploaded bundle goes through all states in order, with progress and findings, to the report of the CLI."""

    async def main() -> None:
        async with at_desk(tmp_path, how=RunOptions(settings="")) as (manager, heard):
            case = put(manager, BUNDLE.name, (BUNDLE.name, BUNDLE.read_bytes()))
            manager.start_case(case)
            record = await heard.end(case)
            assert heard.states(case) == ["waiting", "reading", "judging", "writing", "done"]
            assert all(event["record"]["say"] for event in heard.of(case, "state"))
            assert [event["here"] for event in heard.of(case, "upload")] == [1]
            told = [event["finding"] for event in heard.of(case, "finding")]
            assert {one["rule"] for one in told} == {one["rule"] for one in record["findings"]}
            assert {"title", "severity", "subject", "node", "say"} <= told[0].keys()
            assert record["counts"]["major"] >= 3
            assert record["worst"] == "major"
            assert (
                record["progress"]["bytes"] == record["progress"]["total"] == BUNDLE.stat().st_size
            )
            assert record["progress"]["members"] > 5
            assert record["progress"]["lines"] > 50
            assert record["progress"]["judged"] == record["progress"]["rules"] > 0
            text = manager.find_result(case, "case.json").read_text()
            assert text == triaged(BUNDLE)
            document = json.loads(text)
            live = [
                one
                for one in document["findings"]
                if one["verdict"] == "match" and not one["muted"]
            ]
            assert sum(record["counts"].values()) == len(live)
            assert "<html" in manager.find_result(case, "report.html").read_text()
            assert manager.find_result(case, "report.md").stat().st_size > 100

    run(main())


@pytest.mark.process
def test_a_path_of_this_machine_is_read_where_it_lies(tmp_path: Path) -> None:
    """A case given as a path copies nothing, and its document is that of the command line."""

    async def main() -> None:
        async with at_desk(tmp_path, how=RunOptions(settings="")) as (manager, heard):
            case = manager.add_case("", BUNDLE)
            manager.start_case(case.id)
            record = await heard.end(case.id)
            assert (record["state"], record["name"], record["path"]) == (
                "done",
                BUNDLE.name,
                str(BUNDLE),
            )
            folder = manager._place.case_folder(case.id)
            assert [path.name for path in folder.iterdir()] == ["results"]
            assert manager.find_result(case.id, "case.json").read_text() == triaged(BUNDLE)

    run(main())


def test_a_path_that_is_not_there_is_refused_at_once(tmp_path: Path) -> None:
    """A path at which nothing lies makes no case, and the answer says why."""

    async def main() -> None:
        async with at_desk(tmp_path) as (manager, _):
            with pytest.raises(Refusal, match="nothing can be read there") as caught:
                manager.add_case("", tmp_path / "nothing")
            assert (caught.value.status, bool(caught.value.why)) == (404, True)
            assert manager.list_cases() == []

    run(main())


def test_bytes_that_are_nothing_are_refused_with_the_reason(tmp_path: Path) -> None:
    """Random bytes end as refused, with what, why and what to give; there is no report."""

    async def main() -> None:
        async with at_desk(tmp_path) as (manager, heard):
            case = put(manager, "noise", ("noise.bin", bytes(range(256)) * 64))
            manager.start_case(case)
            record = await heard.end(case)
            assert (record["state"], record["report"]) == ("refused", False)
            error = record["error"]
            assert error["what"] == "nothing that Backline can read"
            assert (error["where"], error["why"]) == ("noise.bin", "looks like binary data")
            assert error["do"].startswith("Give a support bundle")
            assert record["say"] == "Nothing that Backline can read: looks like binary data"
            with pytest.raises(Refusal, match="no report"):
                manager.find_result(case, "report.html")

    run(main())


@pytest.mark.process
def test_a_cut_bundle_is_partial_and_says_what_is_missing(tmp_path: Path) -> None:
    """Half an archive gives a report, the state partial and a note of what could not be read."""

    async def main() -> None:
        data = BUNDLE.read_bytes()
        async with at_desk(tmp_path) as (manager, heard):
            case = put(manager, "half", (BUNDLE.name, data[: len(data) // 2]))
            manager.start_case(case)
            record = await heard.end(case)
            assert (record["state"], record["report"]) == ("partial", True)
            assert record["notes"][0].startswith("Not everything could be read: ")
            assert BUNDLE.name in record["notes"][0]

    run(main())


@pytest.mark.process
def test_hostile_names_are_plain_text_in_events(tmp_path: Path) -> None:
    """Names with escapes, markup, newlines, bidi marks and paths upwards come out as visible text of one line."""
    hostile = "../../\x1b[31m<script>\n\u202e\u2028\ud800/../x.tgz"

    async def main() -> None:
        async with at_desk(tmp_path) as (manager, heard):
            case = put(
                manager,
                hostile,
                (hostile, BUNDLE.read_bytes()),
                ("!/../etc/passwd", b"made up text\n" * 9),
            )
            manager.start_case(case)
            record = await heard.end(case)
            assert record["state"] in ("done", "partial")
            for _, event in heard.seen:
                text = json.dumps(event)  # strict JSON, and ASCII
                told = json.dumps(event, ensure_ascii=False)
                assert json.loads(text) == event
                assert not set("\x1b\u202e\u2028\ud800") & set(told)
                assert "\n" not in told
            member = [
                event["progress"]["member"]
                for event in heard.of(case, "progress")
                if event["progress"]["member"]
            ]
            assert any("<script>" in name for name in member)
            assert sorted(path.name for path in manager._place.case_folder(case).iterdir()) == [
                "0",
                "1",
                "results",
            ]

    run(main())


@posix
def test_a_removed_case_leaves_nothing_behind(tmp_path: Path) -> None:
    """Removing a case at work kills its process first; then its folder is gone, and the list does not know it."""

    async def main() -> None:
        async with at_desk(tmp_path, command=does("time.sleep(600)")) as (manager, heard):
            case = put(manager, "gone", ("x", b"x" * 1000))
            manager.start_case(case)
            await heard.until(
                lambda event: event.get("record", {}).get("say") == "Reading the files."
            )
            (child,) = manager._running
            manager.remove_case(case)
            assert manager.list_cases() == []
            with pytest.raises(Refusal, match="no such case"):
                manager.find_case(case)
            assert await asyncio.to_thread(child.join, PATIENCE)
            await settled(manager)
            assert not manager._place.case_folder(case).exists()
            assert [event["kind"] for event in heard.of(case)][-1] == "removed"

    run(main())


def test_a_case_with_missing_files_is_not_started(tmp_path: Path) -> None:
    """A case says how many files it waits for, takes more of them, and is refused a start before all are here."""

    async def main() -> None:
        async with at_desk(tmp_path) as (manager, _):
            case = manager.add_case("two", [NewFile("a", 1), NewFile("b", 1)])
            assert case.say == "It waits for 2 of 2 files."
            manager.file_done(case.id, 0)
            assert manager.add_files(case.id, [NewFile("c", 5)]) == 2
            assert case.say == "It waits for 2 of 3 files."
            with pytest.raises(Refusal, match="still waits for files") as caught:
                manager.start_case(case.id)
            assert caught.value.status == 409
            manager.cancel_case(case.id)
            with pytest.raises(Refusal, match="takes no more files"):
                manager.add_files(case.id, [NewFile("d", 5)])

    run(main())


def test_a_queued_case_that_takes_more_files_leaves_the_queue(tmp_path: Path) -> None:
    """Files for a queued case: it waits again, the case behind it moves up; one that is read takes none."""

    async def main() -> None:
        async with at_desk(tmp_path, command=does("time.sleep(600)")) as (manager, _):
            first, second, third = (
                put(manager, name, ("x", b"x")) for name in ("one", "two", "three")
            )
            for case in (first, second, third):
                manager.start_case(case)
            with pytest.raises(Refusal, match="takes no more files") as caught:
                manager.add_files(first, [NewFile("late", 1)])
            assert caught.value.status == 409
            assert manager.add_files(second, [NewFile("x", 1)]) == 1
            told = {case: manager.find_case(case).record() for case in (second, third)}
            assert (told[second]["state"], told[second]["place"]) == ("waiting", 0)
            assert (told[third]["state"], told[third]["place"]) == ("queued", 1)
            with pytest.raises(Refusal, match="still waits for files"):
                manager.start_case(second)
            manager._place.find_file(second, 1).write_bytes(b"y")
            manager.file_done(second, 1)
            manager.start_case(second)
            assert manager.find_case(second).record()["place"] == 2

    run(main())


def test_thousands_of_files_are_told_in_few_events(tmp_path: Path) -> None:
    """Uploads of small files tell how many are here a few times a second, and always when the last one came."""

    async def main() -> None:
        async with at_desk(tmp_path) as (manager, heard):
            case = manager.add_case("many", [NewFile(f"{number}.log", 1) for number in range(3000)])
            for number in range(3000):
                manager.file_done(case.id, number)
            await heard.until(lambda event: event["kind"] == "upload" and event["here"] == 3000)
            assert len(heard.of(case.id, "upload")) < 300
            assert case.say == "All files are here: it waits to be started."

    run(main())


def test_events_are_resumed_by_their_number(tmp_path: Path) -> None:
    """Who names the last number gets exactly what came after; who names one that is gone, or none, gets everything."""

    async def take(events: AsyncIterator[tuple[int, Any]], count: int) -> list[tuple[int, Any]]:
        return [await asyncio.wait_for(anext(events), PATIENCE) for _ in range(count)]

    async def main() -> None:
        events = Events(lambda: {"kind": "snapshot"}, kept=10)
        for number in range(1, 26):
            events.add_event({"n": number})
        assert await take(events.follow_since(20), 5) == [
            (number, {"n": number}) for number in range(21, 26)
        ]
        assert await take(events.follow_since(15), 1) == [(16, {"n": 16})]
        for since in (0, 14, 26, -3):
            assert await take(events.follow_since(since), 1) == [(25, {"kind": "snapshot"})]
        slow = events.follow_since(25)
        waiting = asyncio.ensure_future(anext(slow))
        await asyncio.sleep(0)
        events.add_event({"n": 26})
        assert await asyncio.wait_for(waiting, PATIENCE) == (26, {"n": 26})
        for number in range(27, 60):
            events.add_event({"n": number})
        assert await take(slow, 1) == [(59, {"kind": "snapshot"})]

    run(main())
    del tmp_path


def test_a_snapshot_tells_all_cases(tmp_path: Path) -> None:
    """A page that comes later gets one event with the record of every case, newest first."""

    async def main() -> None:
        async with at_desk(tmp_path) as (manager, _):
            names = ["first", "second"]
            for name in names:
                put(manager, name, ("x", b"x"))
            _, event = await anext(manager.follow_events(0))
            assert event["kind"] == "snapshot"
            assert [case["name"] for case in event["cases"]] == names[::-1]

    run(main())


@pytest.mark.process
def test_an_archive_keeps_the_case_as_a_batch_would(tmp_path: Path) -> None:
    """With an archive a finished case is stored; a batch then finds it done, and a later desk shows and opens it."""
    archive = tmp_path / "archive"

    async def main() -> None:
        async with at_desk(tmp_path, str(archive), how=RunOptions(settings="")) as (manager, heard):
            case = manager.add_case("", BUNDLE).id
            manager.start_case(case)
            record = await heard.end(case)
            assert record["notes"] == []
            stored = record["stored"]
            await heard.until(lambda event: event["kind"] == "history")
            first = manager.find_result(case, "case.json").read_text()
            dropped = put(manager, "dropped", (BUNDLE.name, BUNDLE.read_bytes()))
            manager.start_case(dropped)
            other = (await heard.end(dropped))["stored"]
        assert len({stored, other}) == 2
        said = subprocess.run(
            [sys.executable, "-m", "analyzer", "batch", str(BUNDLE), "--archive", str(archive), "--no-settings",
             "--json", "-"],
            cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
        )  # fmt: skip
        summary = json.loads(said.stdout)
        assert (summary["read"], summary["done"]) == (0, 1)
        async with at_desk(tmp_path, str(archive)) as (manager, heard):
            past = (await heard.until(lambda event: event["kind"] == "history"))["cases"]
            assert [one["id"] for one in past] == [other, stored]
            assert [one.id for one in manager.list_cases()] == [other, stored]
            assert past[1] | {"created": 0} == {
                "id": stored, "name": BUNDLE.name, "state": "done", "path": str(BUNDLE), "created": 0, "archived": True,
                "time": record["time"],
                "report": True, "notes": [], "error": {}, "worst": "major",
                "counts": record["counts"], "unknowns": record["unknowns"],
            }  # fmt: skip
            assert manager.find_case(stored).record()["name"] == BUNDLE.name
            assert manager.find_result(stored, "case.json").read_text() == first
            assert "<html" in manager.find_result(stored, "report.html").read_text()
            for strange in ("0" * 32, "../../etc", ""):
                with pytest.raises(Refusal, match="no such case"):
                    manager.find_result(strange, "report.html")

    run(main())
    (one,) = [
        one
        for one in Archive.open(archive).take_snapshot().list_visible_cases()
        if Archive.open(archive).read_meta(one)["name"] == "dropped"
    ]
    assert Archive.open(archive).read_meta(one)["source"].startswith("dropped:")


@pytest.mark.process
def test_an_archive_notes_why_a_case_has_no_report(tmp_path: Path) -> None:
    """A refused case is stored as refused, and the history of a later desk says why."""
    archive = tmp_path / "archive"

    async def main() -> None:
        async with at_desk(tmp_path, str(archive)) as (manager, heard):
            case = put(manager, "noise", ("noise.bin", bytes(range(256)) * 64))
            manager.start_case(case)
            assert (await heard.end(case))["state"] == "refused"
        async with at_desk(tmp_path, str(archive)) as (manager, heard):
            (past,) = (await heard.until(lambda event: event["kind"] == "history"))["cases"]
            assert (past["state"], past["report"]) == ("refused", False)
            assert "nothing that Backline can read" in past["error"]["what"]

    run(main())


@pytest.mark.process
def test_an_archive_that_cannot_be_used_costs_no_report(tmp_path: Path) -> None:
    """When the case cannot be stored, the report is there all the same and a note says what happened."""
    strange = tmp_path / "archive"
    strange.mkdir()
    (strange / "holiday.txt").write_text("made up")

    async def main() -> None:
        async with at_desk(tmp_path, str(strange)) as (manager, heard):
            case = manager.add_case("", BUNDLE).id
            manager.start_case(case)
            record = await heard.end(case)
            assert (record["state"], record["stored"]) == ("done", "")
            assert record["notes"][0].startswith("The case is not stored in the archive: ")
            assert manager.find_result(case, "report.html").is_file()

    run(main())


@pytest.mark.process
def test_a_dropped_case_json_opens_as_the_case_it_was(tmp_path: Path) -> None:
    """Alone or with the other results of its triage; nothing is judged anew, and its files are not asked for."""
    text = triaged(BUNDLE)
    whole = [("out/case.json", text.encode()), ("out/report.md", b"# note\n")]

    async def main() -> None:
        async with at_desk(tmp_path, how=RunOptions(settings="")) as (manager, heard):
            for name, files in (("kept", whole[:1]), ("folder", whole)):
                case = put(manager, name, *files)
                manager.start_case(case)
                record = await heard.end(case)
                assert (record["state"], record["opened"]) == ("done", True)
                assert record["name"] == json.loads(text)["case"]["name"]
                assert record["counts"]["major"] >= 3
                assert "judging" not in heard.states(case)
                assert manager.find_result(case, "case.json").read_text() == text
                assert "<html" in manager.find_result(case, "report.html").read_text()
                material = manager.describe_material(case)
                assert material["opened"]
                assert record["no_log"].startswith(
                    "Only its report is here: its case.json was dropped"
                )
                assert material["path"] == str(manager.find_result(case, "case.json"))
            path = tmp_path / "kept.json"
            path.write_text(text)
            there = manager.add_case("", path)
            manager.start_case(there.id)
            assert (await heard.end(there.id))["opened"]

    run(main())


@pytest.mark.process
def test_a_damaged_case_json_is_refused_by_its_own_name(tmp_path: Path) -> None:
    """What is wrong is said at the name that was dropped, not at a place of the server."""
    damaged = triaged(BUNDLE).replace('"findings"', '"finds"', 1).encode()

    async def main() -> None:
        async with at_desk(tmp_path, how=RunOptions(settings="")) as (manager, heard):
            case = put(manager, "", ("case.json", damaged))
            manager.start_case(case)
            record = await heard.end(case)
            assert record["state"] == "refused"
            assert record["error"]["where"] == "case.json"
            assert "findings" in record["error"]["why"]

    run(main())


@pytest.mark.process
def test_a_case_gets_another_name_and_its_sr_number_everywhere(tmp_path: Path) -> None:
    """List, document, report and note have both; signs that steer or are markup stay text on one line."""

    async def main() -> None:
        async with at_desk(tmp_path, how=RunOptions(settings="")) as (manager, heard):
            case = put(manager, BUNDLE.name, (BUNDLE.name, BUNDLE.read_bytes()))
            with pytest.raises(Refusal):
                await manager.rename_case(case, "too early", "")
            manager.start_case(case)
            await heard.end(case)
            name, number = read_title({"name": " <b>rack\n7</b>\x1b[2J ", "sr": " 21700000001 "})
            record = (await manager.rename_case(case, name, number)).record()
            assert record["name"] == "SR 21700000001: <b>rack 7</b>\\x1b[2J"
            assert (record["sr"], record["edits"]) == ("21700000001", 1)
            await heard.until(lambda event: event.get("record", {}).get("name") == record["name"])
            document = case_file.read_case(manager.find_result(case, "case.json"))
            assert document.case.name == record["name"]
            assert "SR 21700000001" in short_note.render_short_note(document)
            page = manager.find_result(case, "report.html").read_text()
            assert "<h1>SR 21700000001: &lt;b&gt;rack 7&lt;/b&gt;" in page
            again = (await manager.rename_case(case, "rack 7", "")).record()
            assert (again["name"], again["own_name"]) == ("rack 7", "rack 7")

    run(main())


@pytest.mark.process
def test_a_case_is_read_again_around_the_time_of_its_incident(tmp_path: Path) -> None:
    """Given before, while and after it is read, the report is of that time; the facts that are stored are of none."""

    async def main() -> None:
        archive = str(tmp_path / "archive")
        async with at_desk(tmp_path, archive, how=RunOptions(settings="")) as (manager, heard):
            case = put(manager, BUNDLE.name, (BUNDLE.name, BUNDLE.read_bytes()))
            assert manager.set_incident(case, "16:40:00").record()["incident"] == "16:40:00"
            manager.start_case(case)
            manager.set_incident(case, "15:17:00")
            record = await heard.end(case)
            assert (record["incident"], record["edits"]) == ("2017-10-14T15:17:00Z", 1)
            await manager.rename_case(case, "rack 7", "21700000001")
            again = manager.set_incident(case, "2017-10-14T16:40:00Z").record()
            assert again["state"] in ("queued", "reading")
            await heard.until(lambda event: event.get("record", {}).get("edits") == 3)
            last = await heard.until(
                lambda event: event["kind"] == "state" and event["record"]["state"] == "done"
                and event["record"]["edits"] == 3
            )  # fmt: skip
            record = last["record"]
            assert (record["own_name"], record["incident"]) == ("rack 7", "2017-10-14T16:40:00Z")
            document = case_file.read_case(manager.find_result(case, "case.json"))
            assert document.case.incident == "2017-10-14T16:40:00Z"
            assert document.case.name == "SR 21700000001: rack 7"
            kept = put(
                manager, "kept", ("case.json", manager.find_result(case, "case.json").read_bytes())
            )
            manager.start_case(kept)
            await heard.end(kept)
            with pytest.raises(Refusal, match="opened from its case"):
                manager.set_incident(kept, "15:17:00")
        store = Archive.open(archive)
        (stored,) = store.take_snapshot().list_visible_cases()
        facts = recall_case(store, stored, ()).facts
        (node,) = facts.nodes
        assert facts.coverage(node, "esxi.vobd").state == "read"

    run(main())


@pytest.mark.parametrize(
    ("given", "time"),
    [({}, ""), ({"incident": " 6:15 "}, "06:15:00"), ({"incident": "2017-10-14 06:15"}, "2017-10-14T06:15:00Z")],
)  # fmt: skip
def test_the_time_of_an_incident_is_read_as_people_type_it(
    given: dict[str, Any], time: str
) -> None:
    """A time of day or a moment, in UTC; what is neither is refused with the forms that are understood."""
    assert read_incident(given) == time
    for wrong in ("24:00", "noon", 7, "6:5", "\x1b[2J"):
        with pytest.raises(Refusal, match=r"no time|must be text"):
            read_incident({"incident": wrong})


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"name": " \n ", "sr": ""}, "needs a name"),
        ({"name": "x", "sr": "<script>"}, "no SR number"),
        ({"name": "x", "sr": "1" * 41}, "no SR number"),
        ({"name": "x", "sr": "12\n34"}, "no SR number"),
        ({"name": 7}, "not understood"),
    ],
)
def test_what_is_no_name_or_number_of_a_case_is_refused(asked: dict[str, Any], why: str) -> None:
    """A name is never empty, a number has the signs of a ticket system."""
    with pytest.raises(Refusal, match=why):
        read_title(asked)
