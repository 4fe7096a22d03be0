"""Tables of the catalog: one rule over rows of known problems, from the file of facts to the finding of a case.

All cases here are synthetic; lines of vobd.log follow the format of the log as hosts of 6.x and 8.x print it.
"""

from __future__ import annotations

import csv
import io
import json
import pickle
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer import rules
from analyzer.archive.backtests.against import load_whole_catalog
from analyzer.archive.backtests.jobs import Version
from analyzer.archive.clusters.worker_protocol import _send_source
from analyzer.authoring.lint import run as lint
from analyzer.cli import main
from analyzer.rules import fact_files, fact_tables
from analyzer.rules.cited_sources import is_day
from analyzer.rules.language.rulefile import BadRuleError, RuleText
from analyzer.rules.run_catalog import Local
from analyzer.rules.sources import RuleSource
from analyzer.runtime.limits import Limits

ROOT = Path(__file__).resolve().parents[2]
HOST = "esx-esx0.lab.example-2017-10-14--16.53-71234"
TOML = """\
meaning = "Drivers with a fault, made up."
source = "made up"
key = ["module", "title"]
ordered = [["since", "fixed_in"]]
[columns.module]
meaning = "name of the VIB"
[columns.since]
kind = "version"
meaning = "first version with the fault"
[columns.fixed_in]
kind = "version"
meaning = "first version without"
needed = true
[columns.title]
meaning = "the fault"
[columns.kb]
meaning = "KB articles"
[columns.text]
meaning = "what happens"
[columns.sign]
meaning = "what a log shows"
pattern = true
"""
HEAD = "module,since,fixed_in,title,kb,text,sign,source,mark"
ROWS = [
    "i40en,1.0,1.7.11,It resets its port,324503,One text.,reset \\d+,the first page,verified",
    "i40en,1.0,1.5.6,It hides LLDP,,Another text.,,the second page,inferred",
    "nvme,1.0,1.2.0,It loses its queue,,,,the third page,verified",
]
RULE = """\
rule: old-driver
title: A driver has a known fault
kb: [7]
source: made up
each: vib in esxi.vib
join:
  bad: {table: kb.driver, by: {name: module}, rows: each}
subject: "{vib.name}: {bad.title}"
object: "{vib.name}"
when: bad.since <= vib.version < bad.fixed_in
outcomes:
  - when: true
    severity: warning
    confidence: exposed
    say: "{bad.fixed_in} has the fix."
evidence: [vib.version, bad.fixed_in]
"""
VIBS = """\
Name   Version                        Vendor  Acceptance Level  Install Date
-----  -----------------------------  ------  ----------------  ------------
i40en  1.3.1-5vmw.650.1.26.5969303    VMW     VMwareCertified   2017-08-01
ntg3   4.1.3.0-1vmw.650.1.36.7388607  VMW     VMwareCertified   2017-08-01
"""


def catalog(
    folder: Path, rows: list[str] | None = None, toml: str | None = TOML, name: str = "driver"
) -> Path:
    """Write a private catalog: the rule, the declaration (unless None) and rows; return its folder."""
    (folder / "facts").mkdir(parents=True, exist_ok=True)
    (folder / "old-driver.yaml").write_text(RULE, encoding="utf-8")
    if toml is not None:
        (folder / "facts" / f"{name}.toml").write_text(toml, encoding="utf-8")
    text = "\n".join([HEAD, *(ROWS if rows is None else rows)]) + "\n"
    (folder / "facts" / f"{name}.csv").write_text(text, encoding="utf-8", newline="")
    return folder


def bundle(folder: Path, files: dict[str, str]) -> Path:
    """Write a case: files of a vm-support bundle, unpacked."""
    for name, text in {
        "commands/vmware_-vl.txt": "VMware ESXi 6.5.0 build-5969303\n",
        **files,
    }.items():
        path = folder / "case" / HOST / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "case"


def triage(folder: Path, files: dict[str, str], *options: str) -> tuple[Any, dict[str, Any]]:
    """Run `backline triage` on a case of these files; return what the command said and the case document."""
    out = folder / "out"
    run = CliRunner().invoke(
        main, ["triage", str(bundle(folder, files)), "-o", str(out), "--no-settings", *options]
    )
    return run, json.loads((out / "case.json").read_text(encoding="utf-8"))


def found(document: dict[str, Any], rule: str) -> dict[str, dict[str, Any]]:
    """Return the findings of a rule by subject."""
    return {one["subject"]: one for one in document["findings"] if one["rule"] == rule}


VIB_LIST = {"commands/localcli_software-vib-list.txt": VIBS}

# -- one rule, many findings


def test_each_row_gives_a_finding_with_its_own_title_kb_text_and_source(tmp_path: Path) -> None:
    """Two rows meet one driver: two findings, each as its row says; the third row and the other driver give none."""
    run, document = triage(tmp_path, VIB_LIST, "--kb", str(catalog(tmp_path / "my-rules")))

    assert run.exit_code in (0, 1), run.output
    told = found(document, "old-driver")
    assert set(told) == {"i40en: It resets its port", "i40en: It hides LLDP"}
    first = told["i40en: It resets its port"]
    assert (first["title"], first["kb"], first["about"]) == (
        "It resets its port",
        [324503, 7],
        "One text.",
    )
    assert first["source"][0] == "kb.driver, i40en It resets its port: the first page (verified)"
    assert told["i40en: It hides LLDP"]["source"][0].endswith("the second page (inferred)")
    assert told["i40en: It hides LLDP"]["kb"] == [7]
    note = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert (
        "WARNING exposed: It resets its port" in note and "WARNING exposed: It hides LLDP" in note
    )
    assert note.index("KB 324503") > note.index("It resets its port")


@pytest.mark.size
def test_ids_of_findings_stay_when_rows_come_and_go(tmp_path: Path) -> None:
    """Both findings are about one object; the id names the row, not its place."""
    _, both = triage(tmp_path / "one", VIB_LIST, "--kb", str(catalog(tmp_path / "one" / "kb")))
    more = ["i40en,1.0,9.9,Another fault,,,,a page,verified", ROWS[1]]
    _, other = triage(
        tmp_path / "two", VIB_LIST, "--kb", str(catalog(tmp_path / "two" / "kb", more))
    )

    ids = {subject: one["id"] for subject, one in found(both, "old-driver").items()}
    assert len(set(ids.values())) == 2
    assert ids["i40en: It hides LLDP"] == found(other, "old-driver")["i40en: It hides LLDP"]["id"]


def test_a_row_is_shown_as_data_of_the_catalog(tmp_path: Path) -> None:
    """Evidence that is a row says which file of the catalog it is, also where another catalog with the same bytes was
    judged by in this process; no line of the customer stands beside it."""
    triage(tmp_path, VIB_LIST, "--kb", str(catalog(tmp_path / "their-rules")))
    _, document = triage(tmp_path, VIB_LIST, "--kb", str(catalog(tmp_path / "my-rules")))
    evidence = found(document, "old-driver")["i40en: It resets its port"]["evidence"]

    assert [one["address"] for one in evidence if one["label"].startswith("bad.")] == [
        "catalog: my-rules/facts/driver.csv"
    ]
    (row,) = [one for one in evidence if one["label"].startswith("bad.")]
    assert (row["line"], row["before"], row["after"], row["node"]) == (2, [], [], "")
    assert any(one["address"].endswith("localcli_software-vib-list.txt") for one in evidence)


def test_rows_are_in_no_node_and_never_missing(tmp_path: Path) -> None:
    """A case whose list of VIBs is not there asks for that list, never for the table of the catalog."""
    _, document = triage(tmp_path, {}, "--kb", str(catalog(tmp_path / "my-rules")))

    (doubt,) = [one for one in document["cannot_tell"] if "old-driver" in str(one)]
    assert "esxi.vib" in json.dumps(doubt) and "kb.driver" not in json.dumps(doubt)
    assert "catalog" not in json.dumps(document["nodes"])


# -- the events of a host


def vobd(*lines: tuple[str, str, str], new: bool = False) -> dict[str, str]:
    """Return vobd.log with (time, id, words), as 6.x writes it or, with `new`, as 8.x does."""
    shape = (
        "{0} In(14) vobd[2097635]:  [netCorrelator] 51us: [{1}] {2}"
        if new
        else "{0}: [netCorrelator] 51us: [{1}] {2}"
    )
    return {"var/run/log/vobd.log": "".join(shape.format(*line) + "\n" for line in lines)}


LOST = "esx.problem.net.connectivity.lost"
BACK = "esx.clear.net.connectivity.restored"
WORDS = 'Lost network connectivity on virtual switch "{0}". Physical NIC vmnic2 is down. Affected port groups: "made up".'
AGAIN = 'Network connectivity restored on virtual switch "{0}", port groups: "made up". Physical NIC vmnic2 is up.'


@pytest.mark.parametrize("new", [False, True])
def test_an_event_without_its_end_is_the_finding_and_one_with_it_is_milder(
    tmp_path: Path, new: bool
) -> None:
    """Of two switches one came back: that one is milder and says so; each has its own lines, first, last and count."""
    lines = [
        ("2017-10-14T09:12:46.002Z", LOST, WORDS.format("vSwitch0")),
        ("2017-10-14T09:13:46.002Z", LOST, WORDS.format("vSwitch1")),
        ("2017-10-14T09:14:46.002Z", LOST, WORDS.format("vSwitch1")),
        ("2017-10-14T09:20:00.000Z", BACK, AGAIN.format("vSwitch1")),
    ]
    _, document = triage(tmp_path, vobd(*lines, new=new))
    told = found(document, "esx-event")

    open_, over = told[f"vSwitch0: {LOST}"], told[f"vSwitch1: {LOST}"]
    assert (open_["severity"], over["severity"]) == ("critical", "warning")
    assert "Not cleared since" in open_["say"] and "Cleared by a later event" in over["say"]
    assert (
        "Logged 2 times, first at 2017-10-14 09:13:46 UTC, last at 2017-10-14 09:14:46 UTC"
        in over["say"]
    )
    assert [one["line"] for one in open_["evidence"]] == [1]
    assert [one["line"] for one in over["evidence"]] == [2, 3, 4]
    assert open_["kb"] == [1009515] and open_["title"].endswith("all uplinks down")
    assert any("for another object" in word for word in open_["also"])


def test_an_end_before_the_last_problem_ends_nothing(tmp_path: Path) -> None:
    """It came back and went again: the finding is as bad as the event."""
    lines = [
        ("2017-10-14T09:12:46.002Z", LOST, WORDS.format("vSwitch0")),
        ("2017-10-14T09:13:00.000Z", BACK, AGAIN.format("vSwitch0")),
        ("2017-10-14T09:14:46.002Z", LOST, WORDS.format("vSwitch0")),
    ]
    _, document = triage(tmp_path, vobd(*lines))
    assert found(document, "esx-event")[f"vSwitch0: {LOST}"]["severity"] == "critical"


@pytest.mark.parametrize(
    "event",
    [
        "esx.problem.scsi.device.io.latency.high",  # fires on any rise; a rule of its own has the bar
        "esx.problem.vmfs.heartbeat.recovered",  # an end, though it is called a problem
        "esx.problem.vobdtestcorrelator.test.1d",  # a test of VMware's own
        "esx.audit.ssh.enabled",
        "vob.net.vmnic.linkstate.down",
    ],
)
def test_what_is_no_problem_gives_no_finding(tmp_path: Path, event: str) -> None:
    """Ends, tests and observations are no findings, and nothing is doubted because of them."""
    _, document = triage(
        tmp_path, vobd(("2017-10-14T09:12:46.002Z", event, "Device naa.6001 made up"))
    )
    assert found(document, "esx-event") == {}
    assert not [one for one in document["cannot_tell"] if "esx-event" in str(one)]


@pytest.mark.size
def test_every_event_of_the_table_is_found_under_its_title(tmp_path: Path) -> None:
    """One log with every id of the table, as often as it asks: as many findings, each with the title of its row.

    The start of paths that are down past the timeout is information: the timeout, which follows, says it.
    """
    table = fact_tables.read_shipped()["kb.esxi_event"]
    assert table.given is not None
    rows = [cells for _, _, cells in table.given.rows]
    lines = [
        (
            f"2017-10-14T{9 + number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}.000Z",
            str(row["event_id"]),
            "(synthetic)",
        )
        for number, row in enumerate(row for row in rows for _ in range(int(str(row["at_least"]))))
    ]
    run, document = triage(tmp_path, vobd(*lines))
    told = found(document, "esx-event") | found(document, "esx-audit-event")

    assert run.exit_code in (0, 1), run.output
    assert len(rows) > 200 and len(told) == len(rows)
    for row in rows:
        one = told[f"{document['nodes'][0]['name']}: {row['event_id']}"]
        outlasted = row["event_id"] in (
            "esx.problem.storage.apd.start",
            "esx.problem.bootdevice.apd.start",
        )
        severity = "info" if outlasted else row["severity"]
        assert (one["title"], one["severity"]) == (row["title"], severity)
    assert len({one["id"] for one in told.values()}) == len(rows)


# -- builds and drivers


@pytest.mark.parametrize(
    ("build", "missing"),
    [(24585382, "lacks 4 fixes"), (24585383, "lacks 3 fixes"), (24784735, "lacks 1 fix;")],
)
def test_a_build_is_exposed_until_the_fix_of_its_own_release(
    tmp_path: Path, build: int, missing: str
) -> None:
    """8.0.3 is fixed by builds of its own; the higher build of 8.0.2 plays no part. A host has one finding."""
    _, document = triage(
        tmp_path, {"commands/vmware_-vl.txt": f"VMware ESXi 8.0.3 build-{build}\n"}
    )
    (told,) = found(document, "esxi-advisory").values()
    assert missing.rstrip(";") in told["say"]
    assert told["confidence"] == "exposed"


# -- affected versions

AFFECTED = """\
rule: made-up
title: A made-up fault
each: nic in esxi.pnic_stats
affected:
  esxi: [">=6.5.0 <6.5.0-7388607", "6.7.0"]
when: nic.rx_crc_errors > 0
outcomes:
  - {when: true, severity: major, say: found}
examples:
"""
EXAMPLE = "  - name: x\n    tables:\n      esxi.pnic_stats: [{{pnic: vmnic0, rx_crc_errors: 1}}]\n      esxi.release: {0}\n    expect: {{result: {1}}}\n"


@pytest.mark.parametrize(
    ("release", "result"),
    [
        ("[{version: 6.5.0, build: 7388606}]", "match"),
        ("[{version: 6.5.0, build: 7388607}]", "not_applicable"),
        ("[{version: 6.5.0, build: null}]", "cannot_tell"),
        ("[{version: 6.0.0, build: 1}]", "not_applicable"),
        ("[{version: 6.7.0, build: 99999999}]", "match"),
        ("[{version: 6.7.0, build: null}]", "match"),
        ("[{version: 7.0.0, build: 1}]", "not_applicable"),
        ("[{version: null, build: 7388606}]", "cannot_tell"),
        ("null", "cannot_tell"),
    ],
)
def test_affected_minds_the_version_and_inside_it_the_build(release: str, result: str) -> None:
    """Outside of the ranges a rule does not apply; where what decides is unknown it cannot tell."""
    from analyzer.pipeline import examples

    rule = rules.parse(AFFECTED + EXAMPLE.format(release, result))
    assert [one.got["result"] for one in examples.run(rule)] == [result]


def test_a_host_of_unknown_version_is_asked_for_it(tmp_path: Path) -> None:
    """The doubt names the command that prints the version."""
    (tmp_path / "kb").mkdir()
    (tmp_path / "kb" / "made-up.yaml").write_text(
        AFFECTED + EXAMPLE.format("null", "cannot_tell"), encoding="utf-8"
    )
    stats = "NIC statistics for vmnic0\n   Packets received: 1\n   Receive CRC errors: 5\n"
    session = tmp_path / "case" / "esx0.txt"
    session.parent.mkdir()
    session.write_text(
        f"[root@esx0:~] esxcli network nic stats get -n vmnic0\n{stats}[root@esx0:~] exit\n"
    )
    out = tmp_path / "out"
    CliRunner().invoke(
        main,
        [
            "triage",
            str(session.parent),
            "-o",
            str(out),
            "--no-settings",
            "--kb",
            str(tmp_path / "kb"),
        ],
    )
    document = json.loads((out / "case.json").read_text(encoding="utf-8"))
    (doubt,) = [one for one in document["cannot_tell"] if "made-up" in str(one)]
    assert "vmware -vl" in json.dumps(doubt)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{esxi: ["below 6.7"]}', "is not a bound of a range"),
        ('{esxi: [">=6.7.0 <6.5.0"]}', "no version is in"),
        ('{esxi: [">=6.5.0-10 <6.5.0-10"]}', "no version is in"),
        ('{esxi: ["6.5.0 6.7.0"]}', "is not a range of versions"),
        ("{windows: [10.0]}", "unknown key `windows`"),
        ("{esxi: []}", "1 to 50 versions"),
    ],
)
def test_a_range_that_means_nothing_is_refused(text: str, message: str) -> None:
    """What no host can be in, or no reader understands, is told with its place."""
    broken = AFFECTED.replace('\n  esxi: [">=6.5.0 <6.5.0-7388607", "6.7.0"]', f" {text}")
    with pytest.raises(BadRuleError, match=message) as error:
        rules.parse(broken + EXAMPLE.format("null", "cannot_tell"))
    assert error.value.place.line == 4


def test_a_version_cannot_be_affected_and_fixed() -> None:
    """`fixed_in` inside of `affected` is a slip in one of the two."""
    text = AFFECTED.replace("when: nic", "fixed_in: {esxi: [6.5.0-7388606]}\nwhen: nic")
    with pytest.raises(BadRuleError, match="affected and fixed at once"):
        rules.parse(text + EXAMPLE.format("null", "cannot_tell"))


@pytest.mark.parametrize("name", ["nsx-1961105", "kb-2151719"])
def test_rules_of_one_release_are_gated_as_by_hand(name: str) -> None:
    """The gate comes of `affected` and is the very condition that the author wrote before."""
    rule = rules.load()[name]
    assert rule.only is not None
    assert rule.only.text == 'mgr.version == "6.3.3"'
    assert (rule.affected, rule.fixed_in) == ({"nsx": ["6.3.3"]}, {"nsx": ["6.3.4"]})


# -- catalogs of others


def test_a_private_catalog_adds_rows_to_a_table_of_the_tool(tmp_path: Path) -> None:
    """A CSV file alone, of the columns of kb.esxi_event: its event is found beside ours."""
    kb = catalog(tmp_path / "my-rules")
    head = "event_id,title,severity,at_least,action,source,mark"
    row = "esx.problem.made.up,Our own event,major,1,Ask the team.,the team,verified"
    (kb / "facts" / "esxi_event.csv").write_text(f"{head}\n{row}\n", encoding="utf-8")
    lines = [
        ("2017-10-14T09:12:46.002Z", "esx.problem.made.up", "x"),
        ("2017-10-14T09:12:47.002Z", LOST, "y"),
    ]
    run, document = triage(tmp_path, vobd(*lines), "--kb", str(kb))

    assert run.exit_code in (0, 1), run.output
    titles = {one["title"] for one in found(document, "esx-event").values()}
    assert titles == {"Our own event", "vSwitch lost network connectivity: all uplinks down"}


def test_a_row_of_the_tool_cannot_be_replaced(tmp_path: Path) -> None:
    """The same key again is told with file and line, and the row of the tool stays as it is."""
    kb = catalog(tmp_path / "my-rules")
    head = "event_id,title,severity,at_least,action,source,mark"
    (kb / "facts" / "esxi_event.csv").write_text(
        f"{head}\n{LOST},Nothing,info,1,x,y,verified\n", encoding="utf-8"
    )
    run, document = triage(tmp_path, vobd(("2017-10-14T09:12:46.002Z", LOST, "x")), "--kb", str(kb))

    assert run.exit_code == 4
    assert f"{LOST} is a row of `kb.esxi_event` already (shipped)" in run.output
    assert "my-rules/facts/esxi_event.csv:2" in run.output
    assert (
        found(document, "esx-event")[f"{document['nodes'][0]['name']}: {LOST}"]["severity"]
        == "critical"
    )


def test_a_second_declaration_is_told_and_its_rows_are_not_taken(tmp_path: Path) -> None:
    """Who names a table as the tool does is told so; the table of the tool stays."""
    kb = catalog(tmp_path / "my-rules", name="esxi_build")
    facts = fact_tables.read_facts(
        [fact_tables.SHIPPED, RuleSource("folder", "my-rules", files=[kb])]
    )
    assert facts.broken[0].message == "table `kb.esxi_build` is declared already (shipped)"
    assert facts.tables["kb.esxi_build"] == fact_tables.read_shipped()["kb.esxi_build"]


@pytest.mark.size
def test_a_copy_of_the_tools_rules_read_alone_has_its_own_tables(tmp_path: Path) -> None:
    """Two versions of the shipped catalog can be compared: each has the rows that it brought, and nothing clashes."""
    kb = shutil.copytree(ROOT / "analyzer" / "kb", tmp_path / "kb-of-march")
    table = kb / "facts" / "esxi_advisory.csv"
    table.write_text(
        "\n".join(table.read_text(encoding="utf-8").splitlines()[:2]) + "\n", encoding="utf-8"
    )
    old, new = rules.load([kb]), rules.load()
    assert (old.broken, new.broken) == ([], [])
    run = CliRunner().invoke(
        main, ["rules", "diff", str(kb), str(ROOT / "analyzer" / "kb"), "--all"]
    )
    assert "esxi-advisory" in run.output and "differs in: kb.esxi_advisory" in run.output, (
        run.output
    )


def test_a_commit_brings_its_facts(tmp_path: Path) -> None:
    """A private catalog of an older commit is compared with the rows it had then."""
    kb = catalog(tmp_path / "rules")
    for words in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", *words], cwd=kb, check=True, capture_output=True)
    catalog(kb, ROWS[:2])
    before = load_whole_catalog("HEAD", kb)
    assert before.broken == []
    then, now = (
        one["old-driver"].fact_tables()["kb.driver"].given for one in (before, rules.load([kb]))
    )
    assert then is not None and now is not None
    assert (len(then.rows), len(now.rows)) == (3, 2)


def test_facts_go_to_a_cluster_with_the_rules(tmp_path: Path) -> None:
    """A worker elsewhere makes the very same catalog of what it is sent."""
    kb = catalog(tmp_path / "my-rules")
    source = rules.load([kb]).sources[0]
    sent = pickle.loads(pickle.dumps(_send_source(source, Limits()))).rule_source()
    there, here = rules.load([sent]), rules.load([kb])
    assert (there.broken, there.hash) == ([], here.hash)
    assert there["old-driver"].fact_tables() == here["old-driver"].fact_tables()


@pytest.mark.size
@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("i40en,2.0,1.5,Wrong order,,,,page,verified", "since 2.0 is not below fixed_in 1.5"),
        ("i40en,1.0,1.5,No source,,,,,verified", "source: the cell is empty"),
        ("i40en,1.0,1.5,No mark,,,,page,", "mark: the cell is empty"),
        (
            "i40en,1.0,1.5,A guess,,,,page,perhaps",
            "'perhaps' is not one of verified, inferred, memory",
        ),
        ("i40en,1.0,unknown,No version,,,,page,verified", "'unknown' is not a version"),
        ("i40en,1.0,1.5,A KB,KB 12,,,page,verified", "is not a list of KB numbers"),
        ("i40en,1.0,1.5,A pattern,,,re(set,page,verified", "not a regular expression"),
        (
            "i40en,1.0,1.5,It hides LLDP,,,,page,verified",
            "i40en, It hides LLDP is in line 3 already",
        ),
        ("i40en,1.0,1.5,Too many,,,,page,verified,more", "10 cells under 9 columns"),
        ('i40en,1.0,1.5,"Two\nlines",,,,page,verified', "a cell holds a line break"),
        ("i40en,1.0,1.5,\x1b[31mred,,,,page,verified", "a control character"),
        ("i40en,1.0,1.5,\u202eturned,,,,page,verified", "a control character"),
        (f"i40en,1.0,1.5,{'x' * 2001},,,,page,verified", "a cell of 2,001 characters"),
        ('i40en,1.0,1.5,"open,,,,page,verified', "not CSV"),
    ],
)
def test_a_file_with_a_fault_is_told_with_its_line_and_not_used_at_all(
    tmp_path: Path, row: str, message: str
) -> None:
    """The other rows are sound, and yet none is used: a rule must not look at a part of a list."""
    kb = catalog(tmp_path / "my-rules", [*ROWS[:2], row, ROWS[2]])
    run, document = triage(tmp_path, VIB_LIST, "--kb", str(kb))

    assert run.exit_code == 4
    assert message in " ".join(run.output.split())
    assert "my-rules/facts/driver.csv:4" in run.output
    assert not [one for one in found(document, "old-driver").values() if one["verdict"] == "match"]
    assert "no parser makes table `kb.driver`" in json.dumps(document)
    complaints = lint.check_files([kb / "old-driver.yaml"], local=Local(packs=False))
    assert [one.place.line for one in complaints if one.code == "R080"][:1] == [4]


@pytest.mark.parametrize(
    "raw", [b"\xff\xfe\x00", b"", b"\x00" * 50, b"a,b\n1,2\n", HEAD.encode() + b"\n"]
)
def test_what_is_no_table_is_refused(tmp_path: Path, raw: bytes) -> None:
    """Bytes, nothing at all, other columns and no rows are told, and break nothing else."""
    kb = catalog(tmp_path / "my-rules")
    (kb / "facts" / "driver.csv").write_bytes(raw)
    found_ = rules.load([*rules.default_paths(), kb])
    assert any("driver.csv" in error.file for error in found_.broken)
    assert "esx-event" in found_.known


@pytest.mark.size
@pytest.mark.parametrize(
    "toml",
    ["meaning = ", "x = 1", TOML.replace('kind = "version"', 'kind = "date"'), TOML.replace("[columns.kb]", "[columns.node]"),
     TOML.replace('key = ["module", "title"]', 'key = ["modul"]'), "a = " + "[" * 5000, TOML + "[columns.mark]\nmeaning = 'x'\n"],
)  # fmt: skip
def test_a_declaration_that_is_none_is_refused(tmp_path: Path, toml: str) -> None:
    """Whatever stands in the TOML file, it is told, and the rules of the tool are used."""
    kb = catalog(tmp_path / "my-rules", toml=toml)
    found_ = rules.load([*rules.default_paths(), kb])
    assert any(error.file == "my-rules/facts/driver.toml" for error in found_.broken)
    assert "esx-event" in found_.known


def test_a_table_has_at_most_so_many_rows(tmp_path: Path) -> None:
    """One more is refused with its line, and nothing of the file is used."""
    rows = [f"m{number},1.0,1.5,x,,,,page,verified" for number in range(fact_files.ROWS + 1)]
    facts = fact_tables.read_facts(
        [RuleSource("folder", files=[catalog(tmp_path / "kb", rows)])], Limits(rule_file=1 << 24)
    )
    assert [error.place.line for error in facts.broken] == [fact_files.ROWS + 2]
    assert "kb.driver" not in facts.tables


def test_cells_are_text_in_every_output(tmp_path: Path) -> None:
    """Markup and formulas of a cell reach the page, the note and the list as text."""
    evil = 'i40en,1.0,1.7.11,"<img src=x onerror=alert(1)> =cmd|x",,"</script><b>",,"[a](javascript:alert(1))",verified'
    run, document = triage(tmp_path, VIB_LIST, "--kb", str(catalog(tmp_path / "my-rules", [evil])))

    assert run.exit_code in (0, 1), run.output
    assert len(found(document, "old-driver")) == 1
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert (
        "<img src=x" not in page and "</script><b>" not in page and 'href="javascript' not in page
    )
    note = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert not re.search(r"(?<!\\)(?:<img src=x|\]\(javascript)", note)


@pytest.mark.size
def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    """A file of facts that is a link to elsewhere is told, its content is not."""
    (tmp_path / "secret.csv").write_text("password,of,the,desk\n", encoding="utf-8")
    kb = catalog(tmp_path / "my-rules")
    (kb / "facts" / "driver.csv").unlink()
    (kb / "facts" / "driver.csv").symlink_to(tmp_path / "secret.csv")
    run = CliRunner().invoke(main, ["rules", "list", "--kb", str(kb), "--no-settings"])
    assert "a link that leads out of its folder" in run.output and "password" not in run.output


# -- what is made of rows elsewhere


def test_the_hash_of_the_catalog_covers_the_rows(tmp_path: Path) -> None:
    """Stored cases are judged again when a row changed."""
    one = rules.load([catalog(tmp_path / "a" / "kb")])
    same = rules.load([catalog(tmp_path / "b" / "kb")])
    other = rules.load([catalog(tmp_path / "c" / "kb", ROWS[:2])])
    assert one.hash == same.hash != other.hash


@pytest.mark.size
def test_stored_rules_stay_when_rows_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither rows nor tables of a private catalog make the rules of the tool be read anew; a rule has the new rows."""
    monkeypatch.setenv("BACKLINE_CACHE", str(tmp_path / "cache"))
    kb = catalog(tmp_path / "my-rules")
    rules.load()
    rules.load([*rules.default_paths(), kb])
    catalog(kb, ROWS[:2])
    monkeypatch.setattr(
        RuleText, "read_tree", lambda text: pytest.fail(f"{text.name} was read anew")
    )
    given = rules.load([*rules.default_paths(), kb])["old-driver"].fact_tables()["kb.driver"].given
    assert given is not None and len(given.rows) == 2


def test_an_archive_finds_a_row_by_its_kb(tmp_path: Path) -> None:
    """`archive search --kb` lists the findings of the row that names the article, none of other rows of the rule."""
    lines = [
        ("2017-10-14T09:12:46.002Z", LOST, WORDS.format("vSwitch0")),
        (
            "2017-10-14T09:12:47.002Z",
            "esx.problem.net.vmnic.linkstate.down",
            "Physical NIC vmnic2 linkstate is down.",
        ),
    ]
    case, archive = bundle(tmp_path, vobd(*lines)), str(tmp_path / "archive")
    batch = CliRunner().invoke(
        main, ["batch", str(case), "--archive", archive, "--no-settings", "--jobs", "1"]
    )
    assert batch.exit_code in (0, 1), batch.output
    told = CliRunner().invoke(main, ["archive", "search", "--archive", archive, "--kb", "1009515"])
    assert LOST in told.output and "linkstate.down" not in told.output, told.output


def test_a_rule_goes_to_other_processes_with_its_rows(tmp_path: Path) -> None:
    """A back-test builds the rule elsewhere: of a private catalog, with the very rows."""
    rule = rules.load([catalog(tmp_path / "kb")])["old-driver"]
    again = pickle.loads(pickle.dumps(Version.from_rule(rule))).build_rule(Limits())
    assert again.fact_tables() == rule.fact_tables()
    other = rules.load([catalog(tmp_path / "kb2", ROWS[:2])])["old-driver"]
    assert Version.from_rule(other) != Version.from_rule(rule)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "each: vib in esxi.vib",
            "each: vib in kb.driver",
            "is a table of the catalog, not of the case",
        ),
        ("rows: each}", "rows: each, nodes: any}", "belongs to no node"),
        (
            "rows: each}",
            'rows: each, where: bad.title == "x"}',
            "`where` does not go with `rows: each`",
        ),
        (
            "{table: kb.driver, by: {name: module}",
            "{table: esxi.version, by: []",
            "`rows: each` does not go with",
        ),
        ("kb: [7]", "kb: [7]\nfact: vib", "no row of the catalog is called `vib`"),
        ("kb.driver", "kb.drivers", "did you mean `kb.driver`"),
    ],
)
def test_a_rule_that_misuses_a_table_is_told_where(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    """Tables of the catalog have rules of their own, and each refusal says which."""
    kb = catalog(tmp_path / "kb")
    (kb / "old-driver.yaml").write_text(RULE.replace(old, new), encoding="utf-8")
    (error,) = rules.load([kb]).broken
    assert message in str(error)


def test_examples_give_no_rows_of_the_catalog(tmp_path: Path) -> None:
    """The rows are those that a case meets; an example with others would prove nothing."""
    kb = catalog(tmp_path / "kb")
    own = "examples:\n  - name: x\n    tables: {kb.driver: []}\n    expect: {result: match}\n"
    (kb / "old-driver.yaml").write_text(RULE + own, encoding="utf-8")
    (error,) = rules.load([kb], examples=True).broken
    assert "no parser makes table `kb.driver`" in error.message


@pytest.mark.size
def test_the_catalog_tells_of_its_tables(tmp_path: Path) -> None:
    """`rules show`, `rules list --table` and `rules doc` name the table, its rows and its columns."""
    kb = str(catalog(tmp_path / "my-rules"))
    show = CliRunner().invoke(main, ["rules", "show", "old-driver", "--kb", kb, "--no-settings"])
    assert "each row, with a verdict of its own, of kb.driver" in " ".join(show.output.split())
    assert "of 3 rows of the catalog" in " ".join(show.output.split())
    listed = CliRunner().invoke(
        main, ["rules", "list", "--table", "kb.driver", "--kb", kb, "--no-settings"]
    )
    assert "old-driver" in listed.output and "1 of" in listed.output
    doc = CliRunner().invoke(main, ["rules", "doc", "--kb", kb, "-o", str(tmp_path / "pages")])
    assert doc.exit_code == 0, doc.output
    page = (tmp_path / "pages" / "tables.md").read_text(encoding="utf-8")
    assert "## kb.driver" in page and "- the catalog's own: 3 rows" in page


def test_shipped_facts_are_sound() -> None:
    """Every table of the tool is read whole, every row has its source, and none in a match is from memory."""
    facts = fact_tables.read_facts([], thorough=True)
    assert facts.faults == []
    without_rows = {"kb.background"}  # none was measured: users bring their own
    assert set(facts.tables) | without_rows == set(facts.declared)
    assert without_rows.isdisjoint(facts.tables)
    matched = [rule.aliases[rule.fact].table for rule in rules.load().rules if rule.fact]
    assert len(matched) >= 3
    for table in matched:
        assert table.given is not None
        assert {cells["mark"] for _, _, cells in table.given.rows} <= {"verified", "inferred"}


def test_no_shipped_row_is_surer_than_its_text() -> None:
    """A row whose source says that a part of it is inferred, or from memory, is not marked as verified."""
    weak = re.compile(r"\b(?:is|are|be) inferred\b|from memory\b|not verified|shows? the form\b")
    for path in sorted((ROOT / "analyzer" / "kb" / "facts").glob("*.csv")):
        rows = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline=""))
        sure = [
            row["source"]
            for row in rows
            if row["mark"] == "verified" and weak.search(f"{row['source']} {row.get('status')}")
        ]
        assert sure == [], path.name


def test_every_shipped_table_says_when_its_sources_were_read() -> None:
    """A table of facts with rows has its day, which the list of stale sources needs; a day that is none is refused."""
    for name, table in fact_tables.read_facts([], thorough=True).tables.items():
        assert is_day(table.checked), name
    with pytest.raises(BadRuleError, match="`checked` is no day"):
        fact_files.read_declaration(
            RuleText("facts/driver.toml", TOML.replace("key =", 'checked = "last week"\nkey ='))
        )
    made = fact_files.read_declaration(
        RuleText("facts/driver.toml", TOML.replace("key =", 'checked = "2026-11-20"\nkey ='))
    )
    assert made.table.checked == "2026-11-20"


def test_files_of_facts_are_plain_csv() -> None:
    """A spreadsheet reads them: no line break in a cell, no blank at an end, the same number of cells in each row."""
    for path in sorted((ROOT / "analyzer" / "kb" / "facts").glob("*.csv")):
        text = path.read_text(encoding="utf-8")
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
        assert {len(row) for row in rows} == {len(rows[0])}
        assert all(cell == cell.strip() for row in rows for cell in row)
        assert text.count("\n") == len(rows)


# -- noise


@pytest.mark.size
@pytest.mark.parametrize(
    "case", sorted((ROOT / "samples" / "cases").iterdir()), ids=lambda path: path.name
)
def test_samples_give_nothing_worse_than_a_warning(case: Path, tmp_path: Path) -> None:
    """No sample holds an event, a driver or a build that these rules call major or critical."""
    CliRunner().invoke(main, ["triage", str(case), "-o", str(tmp_path / "out"), "--no-settings"])
    document = json.loads((tmp_path / "out" / "case.json").read_text(encoding="utf-8"))
    for rule in ("esx-event", "driver-fault", "esxi-advisory"):
        bad = [
            one["say"]
            for one in found(document, rule).values()
            if one["severity"] in ("critical", "major")
        ]
        assert bad == []


def test_rows_that_name_a_cause_name_rules_of_the_catalog() -> None:
    """`explained_by` of a row holds ids of rules; of the shipped ones none is missing."""
    known = {path.stem for path in (ROOT / "analyzer" / "kb").glob("*/*.yaml")}
    named: set[str] = set()
    for path in (ROOT / "analyzer" / "kb" / "facts").glob("*.csv"):
        for row in csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))):
            named |= set((row.get("explained_by") or "").split())
    assert {"nsxt-tunnels-down", "nsxt-partition-full"} <= named <= known


def test_a_rule_that_a_row_is_explained_by_has_to_exist(tmp_path: Path) -> None:
    """Of two ids in one cell the mistyped one is told, with its line; the shipped one is known."""
    kb = tmp_path / "my-rules"
    (kb / "facts").mkdir(parents=True)
    (kb / "facts" / "word.toml").write_text(
        'meaning = "Words, synthetic."\nsource = "none"\nkey = ["word"]\n[columns.word]\nmeaning = "a word"\n'
        '[columns.explained_by]\nmeaning = "rules, separated by spaces"\n',
        encoding="utf-8",
    )
    rows = "word,explained_by,source,mark\na,nsxt-tunnels-down,page,verified\nb,nsxt-tunnels-down nsxt-tunels-down,page,verified\n"
    (kb / "facts" / "word.csv").write_text(rows, encoding="utf-8")
    (kb / "old-driver.yaml").write_text(RULE, encoding="utf-8")
    told = [
        one
        for one in lint.check_files([kb / "old-driver.yaml"], local=Local(packs=False))
        if one.code == "R081"
    ]

    assert [(one.place.line, one.message) for one in told] == [
        (3, "explained_by: there is no rule `nsxt-tunels-down`")
    ]
