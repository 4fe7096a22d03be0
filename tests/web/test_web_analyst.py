"""The process that triages one case for the page, as a process of its own: orders in, lines out, results written."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.case.verdicts import Finding
from analyzer.ingest.reader import ReadListener
from analyzer.pipeline import triage
from analyzer.pipeline.case import dumps
from analyzer.pipeline.triage import Options
from analyzer.rules import Rule, run_catalog
from analyzer.rules.run_catalog import Local
from analyzer.web.cases.case_manager import COMMAND
from analyzer.web.cases.progress_writer import LIVE, ProgressWriter, describe_finding
from analyzer.workers.line_process import LAST, LONGEST, Ended, LineProcess

ROOT = Path(__file__).resolve().parents[2]
BUNDLE = (
    ROOT
    / "samples"
    / "cases"
    / "slow-storage"
    / "esx-esx71.lab.example-2017-10-14--16.53-71234.tgz"
)
PATIENCE = 120.0
posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

# Synthetic rules of a desk.
MUTE = """[[mute]]
rule = "vm-stopped"
until = 2030-01-01
reason = "made up: the VM is of no interest"
"""


def ask(
    tmp_path: Path, cwd: Path = ROOT, **order: Any
) -> tuple[list[dict[str, Any]], subprocess.CompletedProcess[bytes]]:
    """Give an order to the process; return its lines and how it ended. Its stdin stays open until then."""
    order = {
        "name": "",
        "out": str(tmp_path / "out"),
        "settings": "",
        "parent": os.getpid(),
        **order,
    }
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        COMMAND,
        cwd=cwd,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(json.dumps(order).encode() + b"\n")
        process.stdin.flush()
        lines = [json.loads(line) for line in process.stdout]
        said = process.stderr.read()
        code = process.wait(PATIENCE)
    return lines, subprocess.CompletedProcess([], code, b"", said)


@pytest.mark.process
def test_an_order_becomes_lines_and_results(tmp_path: Path) -> None:
    """The stages come in order, the end is the last line and its counts are those of the document that was written."""
    lines, ended = ask(tmp_path, path=str(BUNDLE))
    assert (ended.returncode, ended.stderr) == (0, b"")
    stages = [line["state"] for line in lines if line["type"] == "stage"]
    assert sorted(set(stages), key=stages.index) == ["reading", "judging", "writing"]
    total = next(line for line in lines if line["type"] == "total")
    assert (total["bytes"], total["files"], total["name"]) == (
        BUNDLE.stat().st_size,
        1,
        BUNDLE.name,
    )
    assert [line["type"] for line in lines].count("end") == 1
    end = lines[-1]
    assert (end["type"], end["state"], end["name"]) == ("end", "done", BUNDLE.name)
    out = tmp_path / "out"
    assert sorted(path.name for path in out.iterdir()) == ["case.json", "report.html", "report.md"]
    document = json.loads((out / "case.json").read_text())
    live = [one for one in document["findings"] if one["verdict"] == "match" and not one["muted"]]
    assert [one["title"] for one in end["findings"]] == [one["title"] for one in live]
    assert end["nodes"][0]["name"] == document["nodes"][0]["name"]


@pytest.mark.process
def test_settings_of_the_current_folder_mute_live_findings_too(tmp_path: Path) -> None:
    """A finding that the settings mute is neither told while it comes nor counted at the end."""
    manager = tmp_path / "desk"
    manager.mkdir()
    (manager / "backline.toml").write_text(MUTE)
    lines, _ = ask(tmp_path, manager, path=str(BUNDLE), settings=None)
    told = {line["finding"].rule for line in lines if line["type"] == "finding"}
    counted = sum(lines[-1]["counts"].values())
    lines, _ = ask(tmp_path, manager, path=str(BUNDLE), settings="")
    unmuted = {line["finding"].rule for line in lines if line["type"] == "finding"}
    assert {"i40en-mdd", "kb-2113956"} <= told
    assert unmuted - told == {"vm-stopped"}
    assert sum(lines[-1]["counts"].values()) == counted + 1


@pytest.mark.process
def test_nothing_is_imported_from_the_current_folder(tmp_path: Path) -> None:
    """Modules that lie where the server was started are not run: downloads lie there."""
    for name in ("duckdb.py", "jinja2.py", "json.py", "analyzer.py"):
        (tmp_path / name).write_text("raise SystemExit('imported')")
    lines, ended = ask(tmp_path, tmp_path, path=str(BUNDLE))
    assert ended.stderr == b""
    assert lines[-1].state == "done"


def test_bad_settings_fail_the_case_in_words(tmp_path: Path) -> None:
    """A settings file that is wrong ends the case as failed, with what and where, and without a traceback."""
    (tmp_path / "backline.toml").write_text("mute = 3\n")
    lines, ended = ask(tmp_path, path=str(BUNDLE), settings=str(tmp_path / "backline.toml"))
    assert lines[-1].state == "failed"
    assert "backline.toml" in json.dumps(lines[-1]["error"])
    assert b"Traceback" not in ended.stderr


def test_a_fault_of_ours_is_told_and_kept_for_the_report(tmp_path: Path) -> None:
    """An exception nobody expected fails the case in a sentence; its traceback goes to stderr only."""
    lines, ended = ask(tmp_path, path=str(BUNDLE), limits={"rules": "no number"})
    error = lines[-1]["error"]
    assert (lines[-1].state, error.what) == ("failed", "the analysis failed")
    assert "internal error, please report it" in error.why
    assert "Traceback" not in json.dumps(lines)
    assert b"Traceback" in ended.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.process
def test_results_that_cannot_be_written_fail_the_case(tmp_path: Path) -> None:
    """When the disk takes no results, none is left half written, and the case says so."""
    (tmp_path / "out").write_text("a file stands in the way")
    lines, _ = ask(tmp_path, path=str(BUNDLE))
    assert lines[-1].state == "failed"
    assert lines[-1]["error"].what == "cannot write the result"
    assert "-o" not in lines[-1]["error"].do


def test_the_process_ends_when_its_stdin_ends(tmp_path: Path) -> None:
    """A process whose server is gone before the order came, or while it works, ends by itself."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    started = subprocess.run(
        COMMAND, cwd=ROOT, env=env, input=b"", capture_output=True, timeout=PATIENCE, check=False
    )
    assert (started.returncode, started.stdout) == (1, b"")
    order = {
        "name": "",
        "out": str(tmp_path / "out"),
        "settings": "",
        "path": str(BUNDLE),
        "parent": 0,
    }
    started = subprocess.run(
        COMMAND, cwd=ROOT, env=env, input=json.dumps(order).encode() + b"\n", capture_output=True,
        timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert started.returncode == 1
    assert not (tmp_path / "out").exists()


@posix
def test_a_process_of_another_parent_does_not_work(tmp_path: Path) -> None:
    """An order from a server that is dead already is not begun: the process would have nobody to end it."""
    if not sys.platform.startswith("linux"):
        pytest.skip("asks the kernel of Linux")
    lines, ended = ask(tmp_path, path=str(BUNDLE), parent=1)
    assert (lines, ended.returncode) == ([], 1)


def test_watching_changes_no_byte() -> None:
    """A triage that is watched member by member and rule by rule gives the same document as one that is not."""
    begun: list[str] = []
    ended: list[tuple[str, int]] = []
    judged: list[tuple[str, int, int]] = []
    later: list[str] = []

    def took(rule: Rule, findings: Any, unknowns: int) -> None:
        judged.append((rule.id, len(findings), unknowns))

    watch = ReadListener(
        begun.append, lambda address, lines: ended.append((address, lines)),
        lambda: later.append("sorts"), lambda: later.append("hashes"),
    )  # fmt: skip
    watched = triage.triage([BUNDLE], Options(watch=watch, on_judged=took))
    plain = triage.triage([BUNDLE])
    assert dumps(watched.document) == dumps(plain.document)
    assert begun == [address for address, _ in ended]
    lines = {
        source.address: source.lines for source in plain.document.sources if source.get("lines")
    }
    assert {address: count for address, count in ended if count} == lines
    assert [rule for rule, _, _ in judged] == [rule.id for rule in run_catalog.load(Local()).rules]
    assert sum(found for _, found, _ in judged) == len(plain.judgement.findings)
    assert sum(unknown for _, _, unknown in judged) == len(plain.judgement.cannot_tell)
    assert later == ["sorts", "hashes"]


FINDING = Finding(
    "id",
    "rule",
    "title",
    [],
    [],
    "stable",
    "node",
    "subject",
    "object",
    "match",
    "major",
    "exposed",
    "say",
)


def test_findings_without_end_are_told_up_to_a_bound() -> None:
    """A flood of findings does not become a flood of lines."""
    out = io.BytesIO()
    listener = ProgressWriter(out)
    for _ in range(LIVE + 300):
        listener.write_finding(FINDING)
    assert len(out.getvalue().splitlines()) == LIVE


def test_progress_is_told_a_few_times_a_second_from_all_threads() -> None:
    """Bytes counted by several threads at once are all counted, and few lines tell of them."""
    out = io.BytesIO()
    listener = ProgressWriter(out)
    threads = [
        threading.Thread(target=lambda: [listener.count_bytes(1) for _ in range(20_000)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    before = len(out.getvalue().splitlines())
    listener.write_progress(at_once=True)
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert lines[-1]["bytes"] == 80_000
    assert before < 200


@given(st.text())
def test_whatever_a_finding_says_is_one_visible_line(text: str) -> None:
    """Text of a finding comes out as one line of JSON and as one visible line of text, whatever is in it."""
    out = io.BytesIO()
    listener = ProgressWriter(out)
    listener.write_line("finding", finding=describe_finding(dict.fromkeys(("rule", "title", "severity", "confidence", "subject", "object", "node", "say"), text)))  # fmt: skip
    assert out.getvalue().count(b"\n") == 1
    told = json.loads(out.getvalue())["finding"]["title"]
    assert told.isprintable() or not any(
        ord(sign) < 32 or 0xD800 <= ord(sign) < 0xE000 for sign in told
    )
    assert len(told) <= 500 * 6


def played(code: str, **options: Any) -> tuple[list[dict[str, Any]], Ended]:
    """Let a Child run some Python; return the lines it passed on and how it ended."""
    lines: list[dict[str, Any]] = []
    ends: list[Ended] = []
    child = LineProcess(
        {"n": 1}, lines.append, ends.append, command=[sys.executable, "-P", "-c", code], **options
    )
    child.start()
    assert child.join(PATIENCE)
    return lines, ends[0]


def test_what_is_no_line_of_ours_is_passed_over() -> None:
    """Text that is no JSON object, and a line that is far too long, are dropped; the lines after them count."""
    code = (
        "import sys; sys.stdin.readline()\n"
        "print('made up'); print('[1]'); print('{\"a\": 1}'); print('[' * 100000)\n"
        f"print('x' * {3 * LONGEST}); print('{{\"b\": 2}}')"
    )
    lines, ended = played(code)
    assert [line for line in lines if line] == [{"a": 1}, {"b": 2}]
    assert ended.code == 0


def test_the_words_of_a_process_are_kept_up_to_a_bound() -> None:
    """Of megabytes on stderr the beginning and the end are kept, and the process does not block on them."""
    code = "import sys; sys.stderr.write('first\\n' + 'x' * (8 << 20) + '\\nlast words\\n'); sys.exit(7)"
    _, ended = played(code)
    assert ended.stderr.startswith("first\n")
    assert ended.stderr.endswith("last words\n")
    assert len(ended.stderr) < 3 * LAST
    assert ended.describe_failure().why == "exit status 7; its last words: last words"


def test_a_process_that_does_not_read_its_order_ends_as_any_other() -> None:
    """An order larger than a pipe holds, to a process that dies at once, blocks nobody."""
    lines: list[dict[str, Any]] = []
    ends: list[Ended] = []
    order = {"x": "y" * (4 << 20)}
    child = LineProcess(
        order, lines.append, ends.append, command=[sys.executable, "-c", "raise SystemExit(5)"]
    )
    child.start()
    assert child.join(PATIENCE)


def test_a_process_that_cannot_be_started_is_told() -> None:
    """A command that is not there ends as «could not be started», with the reason."""
    ends: list[Ended] = []
    done = threading.Event()

    def end(ended: Ended) -> None:
        ends.append(ended)
        done.set()

    LineProcess({}, print, end, command=["/nothing/of/this/name"]).start()
    assert done.wait(PATIENCE)
    assert ends[0].describe_failure().what == "the analysis could not be started"
    assert ends[0].describe_failure().why


def test_a_kill_before_the_start_is_not_lost() -> None:
    """A case cancelled in the moment its process is made leaves no process."""
    ends: list[Ended] = []
    child = LineProcess(
        {}, print, ends.append, command=[sys.executable, "-c", "import time; time.sleep(600)"]
    )
    child.kill("too late")
    child.start()
    assert child.join(PATIENCE)


@posix
def test_a_process_that_takes_too_long_is_ended() -> None:
    """The bound of wall time ends a process, and what is told names it."""
    _, ended = played("import time; time.sleep(600)", seconds=1.0)
    assert ended.describe_failure().why == "it took more than 1 seconds"
