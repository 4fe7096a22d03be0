"""The recipe of docs/rules-ci.md, run as CI runs it: over a catalog in git, with stored cases."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

if shutil.which("git") is None or os.name == "nt":
    pytest.skip("the recipe is a shell script that asks git", allow_module_level=True)

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "rules-ci.md").read_text(encoding="utf-8")
STEPS = ("rules lint", "rules fmt", "rules test", "rules diff", "rules backtest")
# Synthetic: the rule of a team, over lines of vobd.log as KB 2007236 names them; ids and times are made up.
TEAM_RULE = r"""rule: kb-2007236
title: A storage device answers much later than it used to
kb: [2007236]
source: ["VMware KB 2007236, Storage device performance deteriorated",
         the bar of one second is that of the alert in VMware's log content pack for vSphere]
status: test
revised: 2026-11-21
about: >-
  The host compares the latency of each device with its own average and writes an event when it rises far above. The
  cause is mostly outside the host: the array, the fabric, a path, or a neighbour that floods the same disks.

each: dev in late per device
join: {hit: {table: late, by: [device], rows: many}}
subject: "{dev.device}"
logs:
  late:
    in: esxi.vobd
    match: '\[esx\.problem\.scsi\.device\.io\.latency\.high\] Device (?P<device>\S+) performance has deteriorated\. .* to (?P<latency_us>\d+) microseconds'
    columns: {latency_us: int}
let: {bar_us: 1000000, events: count(hit.device), worst_us: max(hit.latency_us)}
when: events >= 1
outcomes:
  - {when: worst_us >= bar_us, severity: major, confidence: confirmed,
     say: "The host saw I/O of {worst_us:,} microseconds; {events} events, the first at {dev.time}."}
  - {when: true, severity: info, confidence: possible,
     say: "Latency rose to {worst_us:,} microseconds in {events} events, below the bar of {bar_us:,}; often only a busy moment."}
evidence: [hit.latency_us]
fix:
  - {where: storage array and fabric, do: "Look for load, a failing path or a rebuild at the time of the events."}
  - {where: host, run: esxtop,
     note: "Press u; DAVG/cmd is the time in the array and the fabric, KAVG/cmd the time in the host."}
not_this:
  - The average starts at nearly nothing after a boot, so the first events of an idle device say little.
  - A backup or a Storage vMotion at the same time explains a single event.
explained_by: storage-latency-over-a-second
ask: /var/log/vobd.log and vmkernel.log with their rotated copies, of the hours before and after

examples:
  - name: two seconds
    logs: {esxi.vobd: "2017-10-14T15:15:01.213Z: [scsiCorrelator] 3536701000801us: [esx.problem.scsi.device.io.latency.high] Device naa.60000000000000000000000000000001 performance has deteriorated. I/O latency increased from average value of 16880 microseconds to 2377218 microseconds."}
    expect: {result: match, severity: major, say: "2,377,218"}
  - name: one second to the microsecond
    logs: {esxi.vobd: "2017-10-14T15:15:01.213Z: [scsiCorrelator] 3536701000801us: [esx.problem.scsi.device.io.latency.high] Device naa.60000000000000000000000000000001 performance has deteriorated. I/O latency increased from average value of 16880 microseconds to 1000000 microseconds."}
    expect: {result: match, severity: major}
  - name: just below
    logs: {esxi.vobd: "2017-10-14T15:15:01.213Z: [scsiCorrelator] 3536701000801us: [esx.problem.scsi.device.io.latency.high] Device naa.60000000000000000000000000000001 performance has deteriorated. I/O latency increased from average value of 16880 microseconds to 999999 microseconds."}
    expect: {result: match, severity: info}
  - name: another device has its own verdict
    logs:
      esxi.vobd: |
        2017-10-14T15:15:01.213Z: [scsiCorrelator] 3536701000801us: [esx.problem.scsi.device.io.latency.high] Device naa.60000000000000000000000000000001 performance has deteriorated. I/O latency increased from average value of 16880 microseconds to 1000001 microseconds.
        2017-10-14T15:17:46.213Z: [scsiCorrelator] 3536866000801us: [esx.problem.scsi.device.io.latency.high] Device naa.60000000000000000000000000000002 performance has deteriorated. I/O latency increased from average value of 300 microseconds to 3200 microseconds.
    expect: {result: match, count: 2}
  - name: an ordinary day
    logs: {esxi.vobd: "2017-10-14T14:02:02.101Z: [netCorrelator] 3532322000000us: [vob.net.vmnic.linkstate.up] vmnic vmnic4 linkstate up"}
    expect: {result: no_match}
  - {name: the log was not sent, logs: {esxi.vobd: null}, expect: {result: cannot_tell, missing: esxi.vobd}}
  - name: the whole way, as a file of a case
    files:
      - path: esx-host/var/run/log/vobd.log
        text: |
          2017-10-14T15:15:01.213Z: [scsiCorrelator] 3536701000801us: [esx.problem.scsi.device.io.latency.high] Device naa.60000000000000000000000000000001 performance has deteriorated. I/O latency increased from average value of 16880 microseconds to 2377218 microseconds.
    expect: {result: match, severity: major}
"""


def script() -> str:
    """Return the script of the page."""
    (found,) = re.findall(r"^```sh file=check-rules.sh\n(.*?)^```$", PAGE, re.M | re.S)
    return str(found)


def git(folder: Path, *words: str) -> None:
    who = (
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@example.com",
        "-c",
        "commit.gpgsign=false",
        "-c",
        "tag.gpgsign=false",
    )
    subprocess.run(["git", "-C", folder, *who, *words], check=True, capture_output=True)


@pytest.fixture
def team(tmp_path: Path) -> Path:
    """Return the repository of a team: a rule of theirs, released as v1, and an archive with a case of it."""
    repo = tmp_path / "repo"
    (repo / "rules" / "storage").mkdir(parents=True)
    (repo / "rules" / "storage" / "kb-2007236.yaml").write_text(TEAM_RULE, encoding="utf-8")
    (repo / "check-rules.sh").write_text(script(), encoding="utf-8")
    git(tmp_path, "init", "-q", "repo")
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "one")
    git(repo, "tag", "v1")
    shutil.copytree(
        ROOT / "samples" / "cases" / "slow-storage", tmp_path / "cases" / "slow-storage"
    )
    done = run(repo, "backline batch ../cases --kb rules --archive ../archive --no-settings")
    assert done.returncode == 0, done.stderr
    return repo


def run(
    repo: Path, command: str = "sh check-rules.sh", **over: str
) -> subprocess.CompletedProcess[str]:
    """Run the script, or a step of it, with the `backline` of this environment."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = {
        **os.environ,
        "PATH": path,
        "NO_COLOR": "1",
        "ARCHIVE": str(repo.parent / "archive"),
        **over,
    }
    return subprocess.run(
        command,
        cwd=repo,
        env=env,
        shell=True,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def change(repo: Path, *pairs: tuple[str, str]) -> None:
    """Change the rule of the team."""
    path = repo / "rules" / "storage" / "kb-2007236.yaml"
    text = path.read_text(encoding="utf-8")
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")


def steps() -> list[str]:
    """Return the commands of the script, one a step."""
    return [line.strip() for line in script().splitlines() if line.strip().startswith("backline ")]


@pytest.mark.process
def test_each_step_passes_for_the_released_catalog(team: Path) -> None:
    """Every step of the recipe ends with 0 over what was released: the script, which ends with the first that does not."""
    assert [
        next(step for step in STEPS if f"backline {step} " in line) for line in steps()
    ] == list(STEPS)
    whole = run(team)
    assert whole.returncode == 0, whole.stdout + whole.stderr
    assert "No finding differs." in whole.stdout


@pytest.mark.process
def test_each_step_can_fail(team: Path) -> None:
    """A change that each step is there for ends it with another code than 0, and the script with it."""
    lint, fmt, test, diff, _ = steps()
    breaks = {
        lint: [("not_this:", 'not_this: []\nobject: "{dev.device}"\n# not_this:')],
        fmt: [("when: events >= 1", "when:    events >= 1")],
        test: [
            ("expect: {result: match, severity: info}", "expect: {result: match, severity: major}")
        ],
        diff: [("when: events >= 1", "when: events >= 1 and worst_us >= bar_us")],
    }
    for line, pairs in breaks.items():
        git(team, "checkout", "-q", ".")
        change(team, *pairs)
        done = run(team, line, RULES="rules", RELEASED="v1")
        assert done.returncode in (1, 4), (line, done.stdout, done.stderr)
        if line in (lint, diff):  # the first and the last: the script ends as its step does
            assert run(team).returncode == done.returncode


@pytest.mark.process
def test_a_lost_finding_stops_a_release_and_another_confidence_does_not(team: Path) -> None:
    """Another confidence is told and lets the release pass; a rule that speaks later loses a stored finding and ends it."""
    change(team, ("confidence: possible", "confidence: likely"))
    changed = run(team, steps()[3], RULES="rules", RELEASED="v1")
    assert changed.returncode == 0 and "1 changed" in changed.stdout
    change(team, ("when: events >= 1", "when: events >= 100"))
    lost = run(team, steps()[3], RULES="rules", RELEASED="v1")
    assert lost.returncode == 1 and "slow-storage" in lost.stdout
