"""`rules watch`: a rule judged anew at every save, over a case that is read once."""

from __future__ import annotations

import json
import os
import queue
import re
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from analyzer.authoring.explain import watch_text
from analyzer.authoring.explain.watch import RuleSession, WatchRun, record_run
from analyzer.cli import main
from analyzer.runtime.errors import RefusedError

ROOT = Path(__file__).resolve().parents[2]
LAB = ROOT / "samples" / "cases" / "lab-ring-before"
SITE = ROOT / "samples" / "cases" / "nsx-633-site"
WAIT = 30.0  # seconds in which a run must have come

RULE = """\
rule: ring-limit
title: A made-up threshold over the receive ring
each: rx in esxi.vmxnet3_rx_summary
subject: "port {rx.port_id}"
when: rx.ring1_full > LIMIT
outcomes:
  - {when: true, severity: info, confidence: possible, say: "{rx.ring1_full} times"}
examples:
  - name: the ring ran full
    tables:
      esxi.vmxnet3_rx_summary: [{switch: vSwitch0, port_id: 5, ring1_full: 7100}]
    expect: {result: match}
"""
LOGGED = """\
rule: seen-twice
title: A made-up question to the log of the Manager
each: mgr in nsx.manager
subject: NSX Manager
logs:
  failed: {in: nsx.vsm_log, match: 'PATTERN'}
when: failed
outcomes:
  - {when: true, severity: info, confidence: possible, say: "{failed.count} lines"}
"""


def saved(path: Path, text: str) -> None:
    """Save a file as editors do: write aside, then rename over it."""
    aside = path.with_name(f".{path.name}.swp")
    aside.write_text(text, encoding="utf-8")
    aside.replace(path)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return the file of a rule that matches in the lab case: 7,086 over 7,000."""
    path = tmp_path / "ring-limit.yaml"
    path.write_text(RULE.replace("LIMIT", "7000"), encoding="utf-8")
    return path


def text(shown: WatchRun) -> str:
    """Return a run as it is printed in a pipe."""
    return "\n".join(line.text for line in watch_text.write_lines(shown))


# -- the session


def test_a_run_tells_verdicts_tree_examples_and_times(file: Path) -> None:
    """The first run reads the case, judges, runs the examples, and says how long each took."""
    shown = RuleSession(file, [LAB]).run()
    said = text(shown)

    assert (shown.state, shown.explanation.counts if shown.explanation else {}) == (
        "judged",
        {"match": 1},
    )
    assert "rx.ring1_full > 7000" in said
    assert "examples: 1 of 1 ok" in said
    assert re.search(r"case read in \d+\.\d\d s; judged in \d+ ms, examples in \d+ ms", said)


def test_the_case_is_read_once(file: Path) -> None:
    """A new threshold is judged over the facts in memory: nothing is read again, and the verdict changes."""
    session = RuleSession(file, [LAB])
    first = session.run()
    saved(file, RULE.replace("LIMIT", "8000"))
    second = session.run()

    assert first.read_s > 0
    assert (second.read_s, second.reread) == (0.0, "")
    assert second.explanation is not None
    assert second.explanation.counts == {"no_match": 1}
    assert "would match if rx.ring1_full > 8000; it is 7086 (esx0.txt:48)" in text(second)
    assert "case read" not in text(second)


def test_an_example_that_fails_is_named_with_its_difference(file: Path) -> None:
    """The rule's own examples run at each save; a failing one is shown with what it gave."""
    session = RuleSession(file, [LAB])
    saved(file, RULE.replace("LIMIT", "8000"))
    shown = session.run()

    assert [(one.name, one.ok) for one in shown.examples] == [("the ring ran full", False)]
    assert "examples: 0 of 1 ok" in text(shown)
    assert "result is no_match, expected match" in text(shown)


def test_a_broken_file_keeps_the_last_verdict_and_says_that_it_is_stale(file: Path) -> None:
    """A mistake is told with place and caret; what stands below is marked as that of the run before."""
    session = RuleSession(file, [LAB])
    session.run()
    saved(file, RULE.replace("rx.ring1_full > LIMIT", "rx.ring1_ful > 7000"))
    shown = session.run()
    said = text(shown)

    assert shown.state == "broken"
    assert "ring-limit.yaml:5:10" in said
    assert re.search(r"\^{9}", said)
    assert "did you mean `ring1_full`?" in said
    assert "(stale)" in said
    assert "1 match" in said
    assert "judged in" not in said


def test_a_file_that_is_broken_from_the_start_reads_nothing(file: Path) -> None:
    """Without a rule there is nothing to read for: the mistake is told at once, the case read with the first good save."""
    session = RuleSession(file, [LAB])
    saved(file, "rule: [")
    broken = session.run()
    saved(file, RULE.replace("LIMIT", "7000"))
    mended = session.run()

    assert (broken.explanation, broken.read_s) == (None, 0.0)
    assert "nothing was judged yet" in text(broken)
    assert mended.read_s > 0
    assert mended.state == "judged"


def test_every_mistake_of_a_broken_file_is_told(file: Path) -> None:
    """Two mistakes in one save are both shown, so that one save mends both."""
    session = RuleSession(file, [LAB])
    broken = RULE.replace("rx.ring1_full > LIMIT", "rx.ring1_ful > 7000").replace(
        "severity: info", "severity: mild"
    )
    saved(file, broken)

    said = text(session.run())
    assert "ring1_ful" in said
    assert "mild" in said


@pytest.mark.size
def test_changed_signatures_search_the_logs_anew(tmp_path: Path) -> None:
    """A new pattern needs the logs once more: they are searched, and the run says so; any other change does not."""
    path = tmp_path / "seen-twice.yaml"
    path.write_text(LOGGED.replace("PATTERN", "NvpStatusCheck"), encoding="utf-8")
    session = RuleSession(path, [SITE])
    first = session.run()
    saved(path, LOGGED.replace("PATTERN", "NvpStatusCheck").replace("info", "warning"))
    second = session.run()
    saved(path, LOGGED.replace("PATTERN", "no such line"))
    third = session.run()

    assert (first.explanation and first.explanation.counts) == {"match": 1}
    assert second.reread == ""
    assert third.reread
    assert third.read_s > 0
    assert "searched again" in text(third)
    assert third.explanation is not None
    assert third.explanation.counts == {"no_match": 1}


def test_the_subject_asked_for_is_the_one_whose_tree_is_shown() -> None:
    """`subject` picks the tree; one that is not there is noted, and the first is shown."""
    path = ROOT / "analyzer" / "kb" / "network" / "kb-2039495.yaml"
    shown = RuleSession(path, [LAB], subject="TEST2").run()
    other = RuleSession(path, [LAB], subject="nobody").run()

    assert shown.chosen is not None
    assert shown.chosen.subject.startswith("iperf-test2")
    assert other.explanation is not None
    assert "nobody" in " ".join(other.explanation.notes)


def test_a_file_that_goes_away_is_broken_not_the_end(file: Path) -> None:
    """A rule file that was deleted is told as missing; the session goes on when it is back."""
    session = RuleSession(file, [LAB])
    session.run()
    file.unlink()
    gone = session.run()
    saved(file, RULE.replace("LIMIT", "7000"))

    assert gone.state == "broken"
    assert "no such file" in text(gone)
    assert session.run().state == "judged"


def test_thresholds_of_the_desk_hold_for_the_case_but_not_for_the_examples(
    file: Path, tmp_path: Path
) -> None:
    """The case is judged as the settings tune the rule; the examples prove it as it is written."""
    from analyzer.rules.run_catalog import Local
    from analyzer.rules.settings import read

    rule = RULE.replace(
        "when: rx.ring1_full > LIMIT", "let: {limit: 7000}\nwhen: rx.ring1_full > limit"
    )
    saved(file, rule)
    (tmp_path / "backline.toml").write_text(
        '[thresholds.ring-limit]\nlimit = 8000\nreason = "a made-up desk"\n',
        encoding="utf-8",
    )
    local = Local(read(tmp_path / "backline.toml"), packs=False)
    shown = RuleSession(file, [LAB], local=local).run()

    assert shown.explanation is not None, shown.errors
    assert shown.explanation.counts == {"no_match": 1}
    assert [one.ok for one in shown.examples] == [True]


def test_a_case_that_holds_nothing_ends_it(file: Path, tmp_path: Path) -> None:
    """Material without content is refused when it is read, as everywhere."""
    (tmp_path / "empty").mkdir()
    with pytest.raises(RefusedError):
        RuleSession(file, [tmp_path / "empty"]).run()


def test_a_record_is_plain_json(file: Path) -> None:
    """A run as JSON holds the state, the times, the examples and the whole explanation."""
    document = json.loads(json.dumps(record_run(RuleSession(file, [LAB]).run())))

    assert (document["run"], document["state"], document["stale"], document["chosen"]) == (
        1,
        "judged",
        False,
        0,
    )
    assert document["explanation"]["subjects"][0]["trace"]["children"]
    assert document["judge_ms"] > 0


# -- the command


def run(*args: str) -> Result:
    """Run the command once in this process."""
    return CliRunner().invoke(
        main, ["rules", "watch", *args, "--no-settings", "--no-packs"], catch_exceptions=False
    )


def test_once_ends_with_the_state_of_the_rule(file: Path) -> None:
    """--once: 0 when all is well, 1 when an example fails, 4 when the file is broken."""
    codes = []
    for limit in ("7000", "8000", "rx."):
        saved(file, RULE.replace("LIMIT", limit))
        codes.append(run(str(file), str(LAB), "--once").exit_code)

    assert codes == [0, 1, 4]


def test_an_unknown_rule_is_refused() -> None:
    """A rule that is no file and no id ends with 2."""
    done = run("no-such-rule", str(LAB), "--once")

    assert done.exit_code == 2
    assert "no-such-rule" in done.stderr


class Watcher:
    """The real command in a process of its own; its lines arrive in a queue."""

    def __init__(self, *args: str) -> None:
        command = [
            sys.executable,
            "-u",
            "-m",
            "analyzer",
            "rules",
            "watch",
            *args,
            "--no-settings",
            "--no-packs",
        ]
        self.process = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.lines: queue.Queue[str] = queue.Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for raw in self.process.stdout:
            self.lines.put(raw.decode())

    def next(self) -> dict[str, Any]:
        """Return the next run."""
        found: dict[str, Any] = json.loads(self.lines.get(timeout=WAIT))
        return found

    def until(self, wanted: str) -> list[str]:
        """Return the lines up to the first that holds a text."""
        found: list[str] = []
        while not found or wanted not in found[-1]:
            found.append(self.lines.get(timeout=WAIT))
        return found

    def stop(self) -> int:
        """Press Ctrl-C and return the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=WAIT)


@pytest.fixture
def watchers() -> Iterator[list[Watcher]]:
    """Return a list; what a test puts into it is ended after it."""
    started: list[Watcher] = []
    yield started
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
        one.process.wait()
        one.reader.join(timeout=WAIT)
        for stream in (one.process.stdout, one.process.stderr):
            if stream is not None:
                stream.close()


@pytest.mark.process
@pytest.mark.skipif(os.name == "nt", reason="SIGINT cannot be sent to one process there")
def test_three_saves_give_three_runs(file: Path, watchers: list[Watcher]) -> None:
    """Good, broken, good with another threshold, each saved by rename: each run shows it; Ctrl-C ends with 0."""
    watcher = Watcher(str(file), str(LAB), "--json")
    watchers.append(watcher)
    first = watcher.next()
    saved(file, RULE.replace("rx.ring1_full > LIMIT", "rx.ring1_ful > 7000"))
    second = watcher.next()
    saved(file, RULE.replace("LIMIT", "8000"))
    third = watcher.next()
    status = watcher.stop()

    assert [one["run"] for one in (first, second, third)] == [1, 2, 3]
    assert first["explanation"]["counts"] == {"match": 1}
    assert (second["state"], second["stale"]) == ("broken", True)
    assert "did you mean `ring1_full`?" in second["errors"][0]
    assert third["explanation"]["counts"] == {"no_match": 1}
    assert (third["read_s"], third["judge_ms"] > 0) == (0.0, True)
    assert status == 0


@pytest.mark.process
@pytest.mark.skipif(os.name == "nt", reason="SIGINT cannot be sent to one process there")
def test_plain_text_tells_the_runs_apart(file: Path, watchers: list[Watcher]) -> None:
    """In a pipe each run begins with its number and ends with the time of judging; no escape sequence is sent."""
    watcher = Watcher(str(file), str(LAB))
    watchers.append(watcher)
    first = watcher.until("judged in")
    file.write_text(RULE.replace("LIMIT", "8000"), encoding="utf-8")  # saved in place
    second = watcher.until("judged in")
    watcher.stop()

    assert first[0] == "-- run 1: ring-limit\n"
    assert second[0] == "-- run 2: ring-limit\n"
    assert any("NO MATCH" in line for line in second)
    assert not any("\x1b" in line for line in [*first, *second])


@pytest.mark.process
@pytest.mark.skipif(os.name == "nt", reason="SIGINT cannot be sent to one process there")
def test_a_save_without_a_change_is_no_run(file: Path, watchers: list[Watcher]) -> None:
    """Touching the file or saving the same text again judges nothing; the next real change does."""
    watcher = Watcher(str(file), str(LAB), "--json")
    watchers.append(watcher)
    watcher.next()
    saved(file, RULE.replace("LIMIT", "7000"))
    os.utime(file)
    (file.parent / "other.yaml").write_text("rule: other\n", encoding="utf-8")
    time.sleep(1.5)
    saved(file, RULE.replace("LIMIT", "8000"))
    then = watcher.next()

    assert then["run"] == 2
    assert then["explanation"]["counts"] == {"no_match": 1}


@pytest.mark.process
@pytest.mark.skipif(os.name == "nt", reason="there is no pseudo-terminal")
def test_on_a_terminal_it_is_coloured_and_ends_cleanly(file: Path) -> None:
    """On a terminal the run is coloured, Ctrl-C typed there ends it with 0 and leaves no colour and no mode on."""
    import pty
    import termios

    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    environment.pop("NO_COLOR", None)
    command = [
        sys.executable,
        "-m",
        "analyzer",
        "rules",
        "watch",
        str(file),
        str(LAB),
        "--no-settings",
        "--no-packs",
    ]
    process, end = pty.fork()
    if not process:
        os.chdir(ROOT)
        os.execve(command[0], command, environment)
    try:
        before = termios.tcgetattr(end)
        said = _until(end, b"Ctrl-C ends")
        os.write(end, b"\x03")
        said += _rest(end)
        after = termios.tcgetattr(end)
    finally:
        status = _ended(process)
        os.close(end)

    assert status == 0, said.decode(errors="replace")
    assert b"\x1b[" in said
    assert b"Traceback" not in said
    assert re.findall(rb"\x1b\[[0-9;]*m", said)[-1] == b"\x1b[0m"
    assert before == after
    assert b"\x1b[?25l" not in said or said.rindex(b"\x1b[?25h") > said.rindex(b"\x1b[?25l")


def _ended(process: int) -> int:
    """Return the exit code of a process, killed when it does not end."""
    stop = time.monotonic() + WAIT
    while time.monotonic() < stop:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.kill(process, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def _until(end: int, wanted: bytes) -> bytes:
    said = b""
    stop = time.monotonic() + WAIT
    while wanted not in said and time.monotonic() < stop:
        if select.select([end], [], [], 0.2)[0]:
            said += os.read(end, 65536)
    return said


def _rest(end: int) -> bytes:
    said = b""
    while select.select([end], [], [], WAIT)[0]:
        try:
            piece = os.read(end, 65536)
        except OSError:  # the other side is gone
            break
        if not piece:
            break
        said += piece
    return said
