"""`backline mcp`, asked by the client of the official SDK: in memory, and over the pipes of a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from mcp import Client, StdioServerParameters

from analyzer.case import case_file
from analyzer.cli import main
from analyzer.mcp_server import case_answers
from analyzer.mcp_server.open_cases import OpenCases
from analyzer.mcp_server.server import make_server
from analyzer.redact.redaction import Redaction
from tests.kit.case_factory import hostile_case, rich_case

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "samples" / "cases"
STORAGE, RING = CASES / "slow-storage", CASES / "lab-ring-after"
NAMES = ("esx71", "lab.example", "lun-prod-07", "lin-db02", "600508b1001c0000000000000000a107")
Call = tuple[str, dict[str, Any]]
TOOLS = {
    "list_findings", "show_finding", "list_signals", "list_tables", "read_table", "read_log", "list_cases",
}  # fmt: skip


def ask(cases: OpenCases, *calls: Call) -> list[Any]:
    """Return what a client in memory gets for some calls of one session: the answer, or the words of an error."""

    async def talk() -> list[Any]:
        async with Client(make_server(cases)) as client:
            return [await _call(client, *call) for call in calls]

    return asyncio.run(talk())


async def _call(client: Client, name: str, words: dict[str, Any]) -> Any:
    got = await client.call_tool(name, words)
    return str(got.content[0].text) if got.is_error else got.structured_content  # type: ignore[union-attr]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The saved document of a rich case."""
    path = tmp_path_factory.mktemp("saved") / "case.json"
    path.write_text(case_file.write_case(rich_case()), encoding="utf-8")
    yield path


@pytest.mark.size
def test_each_tool_answers_without_a_name_and_with_addresses() -> None:
    """Findings, signals, tables, rows and lines of one bundle; no name of its maker is in any answer."""
    cases = OpenCases([STORAGE], "", Redaction())
    answers = ask(
        cases,
        ("list_cases", {}),
        ("list_findings", {}),
        ("show_finding", {"finding": "2"}),
        ("list_signals", {}),
        ("list_tables", {}),
        ("read_table", {"table": "esxi.vib", "limit": 2}),
        ("read_log", {"around": "2", "limit": 5}),
        ("read_log", {"around": "2017-10-14T15:16:44Z", "seconds": 60}),
    )
    text = json.dumps(answers)
    assert not [name for name in NAMES if name in text]
    listed, findings, shown, _, tables, rows, lines, near = answers
    assert listed["cases"][0]["case"] == "case-1"
    assert all(one["address"].partition("!")[1] for one in findings["findings"])
    assert shown["evidence"][0]["address"].endswith("vmkernel.log:61")
    assert {"esxi.vib"} <= {one["table"] for one in tables["tables"]}
    assert len(rows["rows"]) == 2 and rows["next_offset"] == 2
    assert all(one["address"] for one in (*rows["rows"], *lines["lines"], *near["lines"]))
    assert len(lines["lines"]) == 5 and lines["total"] > 5


@pytest.mark.size
def test_a_pseudonym_in_a_question_means_the_machine() -> None:
    """What an answer called host01anon is found again by that name, in tables and in the log."""
    cases = OpenCases([STORAGE], "", Redaction())
    host = ask(cases, ("list_findings", {}))[0]["findings"][0]["machine"]
    rows, lines, none = ask(
        cases,
        ("read_table", {"table": "esxi.vib", "node": host}),
        ("read_log", {"around": "2", "host": host, "limit": 2}),
        ("read_log", {"around": "2", "host": "no-such-host"}),
    )
    assert rows["total"] > 0 and lines["lines"][0]["machine"] == host
    assert "no host" in none and not [name for name in NAMES if name in none]


def test_answers_are_bounded_and_go_on(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages one after the other give every row once; a page ends where its characters do."""
    cases = OpenCases([saved], "", None)
    whole = ask(cases, ("list_findings", {}))[0]
    monkeypatch.setattr(case_answers, "CHARACTERS", 600)
    got: list[Any] = []
    offset: int | None = 0
    while offset is not None:
        page = ask(cases, ("list_findings", {"offset": offset}))[0]
        got += page["findings"]
        offset = page["next_offset"]
        assert len(page["findings"]) < whole["total"]
    assert got == whole["findings"]


def test_hostile_text_stays_one_visible_value(tmp_path: Path) -> None:
    """Signs that steer a terminal are shown as escapes, and no text is longer than its bound."""
    path = tmp_path / "case.json"
    path.write_text(case_file.write_case(hostile_case()), encoding="utf-8")
    answers = ask(
        OpenCases([path], "", None),
        ("list_cases", {}),
        ("list_findings", {}),
        ("list_signals", {}),
        ("show_finding", {"finding": "1"}),
    )
    text = json.dumps(answers, ensure_ascii=False)
    assert "\x1b" not in text and "\u202e" not in text
    assert len(text) < 5 * case_answers.CHARACTERS


def test_what_cannot_be_answered_is_said_in_a_sentence(saved: Path) -> None:
    """A wrong case, table, finding or time, a saved case without tables: what it was and what to do."""
    calls: list[tuple[Call, str]] = [
        (("show_finding", {"finding": "no such words"}), "no finding of the case fits"),
        (("list_findings", {"case": "case-9"}), "no case 'case-9'"),
        (("list_tables", {}), "give the bundle itself"),
        (("read_log", {"around": "never ever"}), "Write a time as"),
        (("read_log", {"around": "1", "seconds": -1}), "`seconds`"),
        (("list_cases", {"archived": True}), "--archive DIR"),
    ]
    said = ask(OpenCases([saved], "", Redaction()), *[call for call, _ in calls])
    for words, (_, wanted) in zip(said, calls, strict=True):
        assert wanted in words and "Traceback" not in words
    gone = ask(
        OpenCases([saved.parent / "acme-secret.tgz"], "", Redaction()), ("list_findings", {})
    )
    assert "acme" not in gone[0]


def test_every_tool_says_that_it_only_reads(saved: Path) -> None:
    """The tools are those that are documented; each is marked read-only, and none reaches another system."""

    async def list_tools(url: str) -> list[Any]:
        async with Client(make_server(OpenCases([saved], url, None))) as client:
            return list((await client.list_tools()).tools)

    plain, archived = asyncio.run(list_tools("")), asyncio.run(list_tools("somewhere"))
    assert {tool.name for tool in plain} == TOOLS
    assert {tool.name for tool in archived} == {*TOOLS, "search_archive"}
    page = (ROOT / "docs" / "handover.md").read_text(encoding="utf-8")
    for tool in archived:
        assert tool.annotations.read_only_hint and not tool.annotations.open_world_hint
        assert f"`{tool.name}`" in page


@pytest.mark.process
def test_a_client_talks_to_the_command_over_its_pipes(tmp_path: Path) -> None:
    """Standard output carries the protocol alone, nothing is written, an archive is searched without its names."""
    archive, run = tmp_path / "archive", tmp_path / "run"
    run.mkdir()
    done = CliRunner().invoke(
        main, ["batch", str(STORAGE), "--archive", str(archive), "--jobs", "1"]
    )
    assert done.exit_code in (0, 5), done.output
    before = sorted(archive.rglob("*"))
    words = ["-P", "-m", "analyzer", "mcp", str(RING), "--archive", str(archive)]
    server = StdioServerParameters(
        command=sys.executable,
        args=words,
        cwd=run,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
    )

    async def talk() -> list[Any]:
        async with Client(server) as client:
            stored = await _call(client, "list_cases", {"archived": True})
            key = stored["rows"][0]["id"][:12]
            return [
                stored,
                await _call(client, "list_findings", {}),
                await _call(client, "search_archive", {"text": "heartbeat"}),
                await _call(client, "search_archive", {"kb": 2113956}),
                await _call(client, "search_archive", {"term": 'nodes: version >= "6"'}),
                await _call(client, "list_findings", {"case": key}),
                await _call(client, "read_table", {"case": key, "table": "esxi.vib", "limit": 3}),
                await _call(client, "search_archive", {}),
            ]

    answers = asyncio.run(talk())
    text = json.dumps(answers)
    assert not [name for name in (*NAMES, "iperf-test1", "slow-storage") if name in text]
    *found, nothing = answers
    assert not [one for one in found if isinstance(one, str)], found
    assert found[2]["rows"] and found[3]["rows"] and found[4]["rows"] and found[6]["rows"]
    assert "nothing to search for" in nothing
    assert sorted(archive.rglob("*")) == before and not list(run.iterdir())


def test_a_missing_extra_says_what_to_install(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the SDK the command names the extra."""
    monkeypatch.delitem(sys.modules, "analyzer.mcp_server.server", raising=False)
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    done = CliRunner().invoke(main, ["mcp", str(saved)])
    assert done.exit_code == 3 and "pip install 'backline[mcp]'" in done.stderr
    assert CliRunner().invoke(main, ["mcp"]).exit_code == 2
