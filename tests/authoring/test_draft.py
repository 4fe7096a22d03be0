"""Drafts from evidence, end to end: the examples hold, the rule matches its case, no customer data stays."""

from __future__ import annotations

import gzip
import io
import json
import re
import time
from pathlib import Path
from urllib.parse import quote

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from analyzer import rules
from analyzer.artefacts import parsing
from analyzer.authoring.draft import draft, finding, pick, source
from analyzer.authoring.draft.draftexamples import MATCHES
from analyzer.authoring.draft.pick import LogLine
from analyzer.authoring.fmt.layout import format_rule
from analyzer.case import case_file
from analyzer.case.verdicts import Evidence
from analyzer.cli import main
from analyzer.pipeline import examples, triage
from analyzer.report import finding_rows
from analyzer.rules import Rule
from analyzer.runtime.errors import UsageError
from tests.kit.case_factory import rich_case
from tools.make_case import tgz, vm_support

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "samples" / "cases"
ATS = "HBX: 2832: ATS Miscompare detected between test and set HB images at offset"


def new(*args: object) -> Result:
    """Run `backline rules new` in this process."""
    return CliRunner().invoke(main, ["rules", "new", *map(str, args)], catch_exceptions=False)


def drafted(folder: Path, *args: object) -> Rule:
    """Draft a rule into a folder and return it, after a look that all its examples hold."""
    done = new("a-draft", "--kb", folder, "--force", *args)
    assert done.exit_code == 0, done.output
    text = (folder / "a-draft.yaml").read_text(encoding="utf-8")
    assert format_rule(text) == text
    rule = rules.parse(text)
    results = examples.run(rule)
    assert list(dict.fromkeys(result.expected["result"] for result in results)) == [
        "match",
        "no_match",
        "cannot_tell",
    ]
    assert all(result.ok for result in results), [result.got for result in results]
    return rule


def matches(folder: Path, case: Path) -> list[str]:
    """Return the ids of what the drafts of a folder find in a case."""
    outcome = triage.triage([case], triage.Options(kb=[folder], with_drafts=True))
    assert not outcome.broken_rules
    return [finding.id for finding in outcome.document.findings if finding.rule == "a-draft"]


def case_of(folder: Path, case: Path) -> Path:
    """Triage a case and return its case.json."""
    done = CliRunner().invoke(
        main, ["triage", str(case), "-o", str(folder), "--quiet"], catch_exceptions=False
    )
    assert done.exit_code in (0, 5), done.output
    return folder / "case.json"


# -- from lines


def test_lines_of_a_log_become_a_rule_that_finds_them(tmp_path: Path) -> None:
    """Four lines of vmkernel.log make one signature; its examples hold and the triage of the case matches."""
    rule = drafted(tmp_path, "--from-lines", "vmkernel.log:61-64", CASES / "slow-storage")

    (log,) = rule.logs.values()
    assert log.table.name == "esxi.vmkernel"
    assert log.main.startswith(
        r"HBX: \d+: ATS Miscompare detected between test and set HB images at offset (?P<offset>\d+)"
    )
    assert matches(tmp_path, CASES / "slow-storage") == [
        "a-draft/59e1f0aa-1b2c3d4e-0007-002590aa7001"
    ]
    assert matches(tmp_path, CASES / "healthy-host") == []


def test_the_author_is_told_how_many_lines_it_finds(tmp_path: Path) -> None:
    """Hits of the whole case are counted, three are shown, and the next commands name the file."""
    done = new(
        "a-draft", "--kb", tmp_path, "--from-lines", "vmkernel.log:62", CASES / "slow-storage"
    )

    assert "sign: 4 of 70 lines in 1 member, 1 of them chosen" in done.stdout
    assert done.stdout.count(ATS) == 3
    assert "in this case: 1 match" in done.stdout
    assert f"backline rules test {tmp_path / 'a-draft.yaml'}" in done.stdout


def test_lines_of_two_sorts_become_a_sequence_with_the_measured_window(tmp_path: Path) -> None:
    """Event and driver reset, 1 ms apart, are a sequence in their order; its window is marked as a guess."""
    rule = drafted(tmp_path, "--from-lines", "vmkernel.log:65-66", CASES / "slow-storage")
    text = (tmp_path / "a-draft.yaml").read_text(encoding="utf-8")

    seen = rule.seen["order"]
    assert seen.sequence
    assert [rule.logs[name].pattern.split(":")[0] for name in seen.logs] == ["i40en", "i40en"]
    assert "Malicious" in rule.logs[seen.logs[0]].pattern
    assert seen.within == 60
    assert "# a guess: less than 1 s from the first to the last of the chosen lines" in text
    assert matches(tmp_path, CASES / "slow-storage")


def test_lines_of_two_logs_are_ordered_by_their_time(tmp_path: Path) -> None:
    """Given in the wrong order and from two logs, the earlier line still comes first in the sequence."""
    rule = drafted(
        tmp_path,
        "--from-lines",
        "vmkernel.log:65",
        "--from-lines",
        "vobd.log:2",
        CASES / "slow-storage",
    )

    assert [rule.logs[name].table.name for name in rule.seen["order"].logs] == [
        "esxi.vobd",
        "esxi.vmkernel",
    ]
    assert rule.seen["order"].within == 3600
    assert matches(tmp_path, CASES / "slow-storage")


def test_a_signature_of_ordinary_lines_is_called_too_general(tmp_path: Path) -> None:
    """A line that sixty of seventy are like is said to be too general, in the file and on the terminal."""
    done = new(
        "a-draft", "--kb", tmp_path, "--from-lines", "vmkernel.log:3", CASES / "slow-storage"
    )
    text = (tmp_path / "a-draft.yaml").read_text(encoding="utf-8")

    assert "too general: it finds 60 of 70 lines (85.7%)" in done.stdout
    assert "TOO GENERAL" in text
    narrow = re.search(r"# narrower, 12 lines: '(.*)'", text)
    assert narrow is not None
    assert re.search(narrow[1], "x NetPort: 1879: disabled port 0x2000012")


def test_rows_become_conditions_on_the_chosen_columns(tmp_path: Path) -> None:
    """Two lines of an rxSummary dump ask for their two counters; the dump is the example, through the real parser."""
    rule = drafted(tmp_path, "--from-lines", "esx0.txt:46-49", CASES / "lab-ring-before")

    assert rule.each.table.name == "esxi.vmxnet3_rx_summary"
    assert "summary.out_of_buffers > 0" in rule.when.text
    assert "summary.ring1_full > 0" in rule.when.text
    assert rule.examples[0].files
    assert matches(tmp_path, CASES / "lab-ring-before") == ["a-draft/switch-vswitch0-port-33554464"]


def test_rows_of_two_dumps_are_joined_on_what_both_tell(tmp_path: Path) -> None:
    """clientStats and rxSummary of one port meet on switch and port."""
    rule = drafted(
        tmp_path,
        "--from-lines",
        "esx0.txt:24",
        "--from-lines",
        "esx0.txt:48",
        CASES / "lab-ring-before",
    )

    (join,) = rule.joins
    assert [theirs for _, theirs in join.by] == ["switch", "port_id"]
    assert matches(tmp_path, CASES / "lab-ring-before")


def test_a_row_and_log_lines_make_one_rule(tmp_path: Path) -> None:
    """A row of net-stats and a line of vmkernel.log are asked for together; the row is the subject."""
    rule = drafted(
        tmp_path,
        "--from-lines",
        "vmkernel.log:3",
        "--from-lines",
        "net-stats_-l.txt:4",
        CASES / "healthy-host",
    )

    assert rule.each.table.name == "esxi.net_stats"
    assert (
        rule.when.text
        == "stats.type == 5 and stats.subtype == 9 and stats.vnic == 0 and net_port_disabled_port"
    )
    assert matches(tmp_path, CASES / "healthy-host") == ["a-draft/switch-vswitch0-port-33554490"]


# -- what a line names is the subject


def test_what_the_lines_name_is_the_subject_and_their_numbers_are_measured(tmp_path: Path) -> None:
    """Two late devices are two subjects; the microseconds of a line are numbers, the greatest of which is told."""
    line = (
        "2017-10-14T15:1{}:00.212Z: [scsiCorrelator] 35364{}us: [vob.scsi.device.io.latency.high] Device {} performance has "
        "deteriorated. I/O latency increased from average value of 1343 microseconds to {} microseconds.\n"
    )
    devices = [f"naa.60060160{n:024d}" for n in (7, 8)]
    log = "".join(
        line.format(n, n, devices[n % 2], us) for n, us in enumerate((28022, 900, 151909, 70))
    )
    (tmp_path / "vobd.log").write_text(log, encoding="utf-8")
    rule = drafted(tmp_path / "kb", "--from-lines", "vobd.log:1-4", tmp_path / "vobd.log")

    (signature,) = rule.logs.values()
    assert rule.hits[0].per == ("device",)
    assert {one.name: one.kind for one in signature.columns}["microseconds_2"] == "int"
    document = triage.triage(
        [tmp_path / "vobd.log"], triage.Options(kb=[tmp_path / "kb"], with_drafts=True)
    ).document
    said = {one.subject: one.say for one in document.findings if one.rule == "a-draft"}
    assert sorted(said) == devices
    assert [re.findall(r"up to ([\d,]+)", said[device]) for device in devices] == [
        ["1343", "151909"],
        ["1343", "900"],
    ]


def test_a_sequence_is_judged_for_what_its_first_lines_name(tmp_path: Path) -> None:
    """With two sorts of lines the subject is the PF that the earlier one names."""
    rule = drafted(tmp_path, "--from-lines", "vmkernel.log:65-66", CASES / "slow-storage")

    assert rule.hits[0].per == ("pf",)
    assert rule.hits[0].log == rule.seen["order"].logs[0]
    assert rule.when.text == "order"


def test_lines_that_name_nothing_are_judged_for_the_machine(tmp_path: Path) -> None:
    """Where no group looks like a thing that may be ill, the host is the subject; a code or an offset is none."""
    found = draft.draft_rule(
        "kb-1", "", of_lines(["Heap is full, status 0xbad0014 at offset 4096"], [])
    )

    assert rules.parse(found.text).hits[0].per == ("node",)
    assert found.examples[MATCHES]


def test_a_line_of_vmware_log_is_judged_for_its_vm(tmp_path: Path) -> None:
    """The folder of vmware.log names the VM where the line itself names nothing."""
    text = "2017-10-14T15:30:07.000Z| vcpu-0| I125: Guest: the disk was lost\n"
    _top, files = vm_support(
        "esx9",
        "6.5.0",
        5969303,
        {"vmfs/volumes/59aa11bb-22cc33dd-44ee-a83b76112233/web/vmware.log": text},
    )
    (tmp_path / "b.tgz").write_bytes(tgz(files))
    rule = drafted(tmp_path / "kb", "--from-lines", "vmware.log:1", tmp_path / "b.tgz")

    assert rule.hits[0].per == ("vm_folder",)
    assert matches(tmp_path / "kb", tmp_path / "b.tgz") == ["a-draft/web"]


# -- members of all sorts


LOG = "".join(
    f"2017-10-14T15:{n:02d}:00.000Z cpu1:3300{n % 10})NetPort: 1879: disabled port 0x20000{n:02d}\n"
    for n in range(60)
)
BAD = "2017-10-14T15:30:07.000Z cpu3:33017)WARNING: Heap: 2218: Heap netGPHeap already at its maximumSize. Cannot expand.\n"


@pytest.mark.parametrize("form", ["gz", "nested", "transcript", "loose", "crlf", "zip"])
def test_members_of_all_sorts_are_found(form: str, tmp_path: Path) -> None:
    """A rotated .gz, a bundle in an archive, a pasted session, a loose file: the asked line is the one that is drafted."""
    text = LOG + BAD + LOG
    member, line = "vmkernel.log", 61
    case = tmp_path / "case"
    case.mkdir()
    if form == "gz":
        _top, files = vm_support(
            "esx9", "6.5.0", 5969303, {"var/run/log/vmkernel.1.gz": gzip.compress(text.encode())}
        )
        (case / "b.tgz").write_bytes(tgz(files))
        member = "vmkernel.1.gz"
    elif form in ("nested", "zip"):
        top, files = vm_support("esx9", "6.5.0", 5969303, {"var/run/log/vmkernel.log": text})
        if form == "nested":
            (case / "outer.tgz").write_bytes(tgz({"inner.tgz": tgz(files)}))
            member = f"outer.tgz!inner.tgz!{top}/var/run/log/vmkernel.log"
        else:
            import zipfile

            with zipfile.ZipFile(case / "b.zip", "w") as archive:
                for name, body in files.items():
                    archive.writestr(name, body)
    elif form == "transcript":
        text = "[root@esx9:~] hostname\nesx9\n[root@esx9:~] cat /var/log/vmkernel.log\n" + text
        (case / "session.txt").write_text(text, encoding="utf-8")
        member, line = "session.txt", 64
    else:
        body = text.replace("\n", "\r\n") if form == "crlf" else text
        (case / "vmkernel.log").write_bytes(body.encode())
    rule = drafted(tmp_path / "kb", "--from-lines", f"{member}:{line}", case)

    (log,) = rule.logs.values()
    assert log.main == r"Heap: \d+: Heap netGPHeap already at its maximumSize\. Cannot expand\."


def test_a_long_log_is_streamed(tmp_path: Path) -> None:
    """Of a log of 9 MB a line near its end is drafted in seconds; only the lines around it are held."""
    path = tmp_path / "vmkernel.log"
    path.write_text(LOG * 2000 + BAD + LOG, encoding="utf-8")
    start = time.process_time()
    picked = pick.pick_lines([path], [pick.read_spec("vmkernel.log:120001")], triage.Options())

    assert [line.text for line in picked.lines] == [BAD.rstrip("\n")]
    assert sum(map(len, picked.quiet.values())) <= 2 * pick.AROUND
    assert time.process_time() - start < 20


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("vmkernel.lg:3", "Did you mean `vmkernel.log`?"),
        ("README:3", "there is no such member"),
        ("run/log:3", "there is no such member"),
        ("vmkernel.log", "it must be MEMBER:FIRST-LAST"),
        ("vmkernel.log:9-3", "the first comes before the last"),
        ("vmkernel.log:0-3", "lines count from 1"),
        ("vmkernel.log:1-999", "takes at most 200"),
        ("vmkernel.log:9999", "nothing was read from line 9999"),
        ("error.log:1", "no parser reads these lines"),
    ],
)
def test_lines_that_are_not_there_are_told(spec: str, told: str, tmp_path: Path) -> None:
    """A wrong member or line ends with 2 and a sentence; nothing is written."""
    _top, files = vm_support("esx9", "6.5.0", 5969303, {})
    files = {name: body for name, body in files.items() if not name.endswith("README")}
    (tmp_path / "b.tgz").write_bytes(tgz(files))
    done = new("a-draft", "--kb", tmp_path / "kb", "--from-lines", spec, tmp_path / "b.tgz")

    assert done.exit_code == 2, done.output
    assert told in done.stderr
    assert not (tmp_path / "kb").exists()


@pytest.mark.size
def test_a_member_told_by_too_little_is_listed(tmp_path: Path) -> None:
    """When the end of an address fits two members both are named; the whole address is enough."""
    done = new(
        "a-draft", "--kb", tmp_path, "--from-lines", "vmkernel.log:3", CASES / "nsx-633-site"
    )

    assert done.exit_code == 2
    assert "esx-esx41" in done.stderr
    assert "esx-esx42" in done.stderr
    top = "esx-esx42.lab.example-2017-10-14--16.53-71234"
    address = f"{top}.tgz!{top}/var/run/log/vmkernel.log"
    assert drafted(tmp_path, "--from-lines", f"{address}:3", CASES / "nsx-633-site").logs


# -- from a finding


def test_a_finding_is_a_starting_point(tmp_path: Path) -> None:
    """From the finding of a full ring comes a rule over the same table with its counters, joins and subject."""
    case = case_of(tmp_path / "out", CASES / "cpu-limited-vm")
    rule = drafted(tmp_path / "kb", "--from", f"{case}#kb-2039495/lin-app07")

    assert rule.each.table.name == "esxi.vmxnet3_rx_summary"
    assert rule.when.text == "rx.ring1_full > 0 and rx.out_of_buffers > 0"
    assert {"port", "q", "who", "cpu"} <= set(rule.aliases)
    assert "lin-app07" not in (tmp_path / "kb" / "a-draft.yaml").read_text(encoding="utf-8")
    assert matches(tmp_path / "kb", CASES / "cpu-limited-vm")


@pytest.mark.size
def test_a_finding_from_a_log_gives_its_signature(tmp_path: Path) -> None:
    """The line of a log in the evidence is a signature of the draft, which matches the case it was made from."""
    case = case_of(tmp_path / "out", CASES / "nsx-633-site")
    rule = drafted(
        tmp_path / "kb", "--from", f"{case}#kb-2127655/nsx-control-cluster", CASES / "nsx-633-site"
    )

    assert [log.table.name for log in rule.logs.values()] == ["nsx.vsm_log"]
    assert matches(tmp_path / "kb", CASES / "nsx-633-site")


def test_a_finding_from_two_signatures_gives_both_and_their_order(tmp_path: Path) -> None:
    """Event and reset of the evidence are two signatures and a sequence in their order; the draft matches its case."""
    case = case_of(tmp_path / "out", CASES / "slow-storage")
    rule = drafted(
        tmp_path / "kb", "--from", f"{case}#i40en-mdd/esx71-lab-example", CASES / "slow-storage"
    )

    first, second = (rule.logs[name] for name in rule.seen["order"].logs)
    assert "Malicious Driver Detection" in first.pattern
    assert "PF reset issued" in second.pattern
    assert matches(tmp_path / "kb", CASES / "slow-storage")


@pytest.mark.size
def test_the_lines_of_a_site_become_a_sequence(tmp_path: Path) -> None:
    """Restart and failed calls of a Manager's log are two signatures, a sequence with room for the minutes between them."""
    rule = drafted(tmp_path / "kb", "--from-lines", "vsm.log:21-24", CASES / "nsx-633-site")

    first, second = (rule.logs[name] for name in rule.seen["order"].logs)
    assert (first.table.name, second.table.name) == ("nsx.vsm_log", "nsx.vsm_log")
    assert "Server startup" in first.pattern
    assert "API call failed" in second.pattern
    assert rule.seen["order"].within == 600
    assert matches(tmp_path / "kb", CASES / "nsx-633-site")


@pytest.mark.size
@pytest.mark.parametrize(
    "case_name", ["nsx-633-site", "config-traps", "windows-guest", "lab-ring-before"]
)
def test_every_finding_of_the_sample_cases_can_be_drafted(case_name: str, tmp_path: Path) -> None:
    """Each finding gives a file that loads and whose three examples hold; one of a build and a day alone says why not."""
    case = case_of(tmp_path / "out", CASES / case_name)
    document = case_file.read_case(case)
    numbers = finding_rows.number_findings(document)
    findings = {numbers[one.id]: one for one in document.findings if one.id in numbers}

    assert findings
    for number, one in findings.items():
        if one.rule == "esxi-build-age":
            done = new("a-draft", "--kb", tmp_path / "kb", "--force", "--from", f"{case}#{number}")
            assert "it holds only names, times and ids" in done.output
        else:
            drafted(tmp_path / "kb", "--from", f"{case}#{number}")


def test_a_finding_of_an_unknown_rule_is_drafted_from_what_its_sources_tell(tmp_path: Path) -> None:
    """Without its rule the tables are those of the parsers that read the evidence's members."""
    case = case_of(tmp_path / "out", CASES / "windows-guest")
    document = json.loads(case.read_text(encoding="utf-8"))
    document["findings"][0]["rule"] = "a-rule-nobody-has"
    case.write_text(json.dumps(document), encoding="utf-8")
    rule = drafted(tmp_path / "kb", "--from", f"{case}#1")

    assert rule.each.table.name == "esxi.vmxnet3_rx_summary"


def test_the_fragment_may_be_an_id_encoded_or_a_number_and_is_asked_for(tmp_path: Path) -> None:
    """Without a fragment, or with one that fits none, the ids are listed and the command ends with 2."""
    case = case_of(tmp_path / "out", CASES / "config-traps")
    ids = [finding["id"] for finding in json.loads(case.read_text(encoding="utf-8"))["findings"]]

    for fragment in ("", "#", "#nothing/like-it", "#99"):
        done = new("a-draft", "--kb", tmp_path / "kb", "--from", f"{case}{fragment}")
        assert done.exit_code == 2
        assert all(f"{n}  {one}" in done.stderr for n, one in enumerate(ids, 1)), done.stderr
    texts = set()
    number, chosen = next(
        (n, one) for n, one in enumerate(ids, 1) if one.startswith("pnic-loses-packets/")
    )
    for fragment in (chosen, quote(chosen, safe=""), str(number)):
        drafted(tmp_path / "kb", "--from", f"{case}#{fragment}")
        texts.add((tmp_path / "kb" / "a-draft.yaml").read_bytes())
    assert len(texts) == 1


def test_a_case_without_a_usable_finding_is_told(tmp_path: Path) -> None:
    """A file that is no case, and a case without findings, are a sentence."""
    (tmp_path / "x.json").write_text("{}", encoding="utf-8")
    case = case_of(tmp_path / "out", CASES / "healthy-host")
    document = json.loads(case.read_text(encoding="utf-8"))
    case.write_text(json.dumps(document | {"findings": []}), encoding="utf-8")

    assert (
        "this case document cannot be shown"
        in new("a-draft", "--kb", tmp_path, "--from", f"{tmp_path / 'x.json'}#1").stderr
    )
    assert "no finding" in new("a-draft", "--kb", tmp_path, "--from", f"{case}#1").stderr


@given(st.lists(st.tuples(st.text(max_size=40), st.text(max_size=60)), min_size=1, max_size=4))
@settings(max_examples=20)
def test_any_evidence_gives_a_rule_or_a_sentence(items: list[tuple[str, str]]) -> None:
    """Labels and lines of a strange case document give a draft that loads, or a UsageError; never anything else."""
    labels = [
        "rx.ring1_full = 7",
        'o.text = "x"',
        "burst",
        "q.nothing = 1",
        "rx.ring1_full = unknown",
    ]
    document = rich_case(
        nodes=[{"name": items[0][1], "kind": "esxi", "captured": ""}],
        sources=[{"address": "a.txt", "read_by": "vmxnet3_rx_summary, advcfg, vmkernel"}],
        topology=[],
    )
    evidence = [
        Evidence(labels[n % len(labels)] + label, "a.txt", n, text, [label], [], "", label)
        for n, (label, text) in enumerate(items)
    ]
    strange = structs.replace(document.findings[0], id="x/y", rule=items[0][0], evidence=evidence)
    try:
        made = finding.read_finding(document, strange, None)
    except UsageError:
        return
    assert rules.parse(draft.draft_rule("kb-1", "", made).text).id == "kb-1"


# -- customer data


def customer_case(folder: Path) -> tuple[Path, list[str]]:
    """Write a bundle of a customer that does not exist; return it and what must not leave it."""
    secrets = [
        "prod-esx-17", "corp.acme-bank.com", "payroll-db", "Payroll DB (old)", "10.20.30.41", "a8:3b:76:11:22:33",
        "naa.600601604f0035007a1b2c3d4e5f6071", "59aa11bb-22cc33dd-44ee-a83b76112233", "jdoe", "S3cr3t!pw", "SAN-Payroll-01",
        "4f1c2d3e-aaaa-bbbb-cccc-1234567890ab", "PG-Payroll", "17612345678", "2001:4b98:dc0::17",
    ]  # fmt: skip
    log = (
        LOG[:2000].rsplit("\n", 1)[0] + "\n"
        "2017-10-14T15:30:07.000Z cpu3:33017)NMP: 2217: Path to payroll-db at 10.20.30.41 (a8:3b:76:11:22:33) lost: device "
        '"naa.600601604f0035007a1b2c3d4e5f6071" volume 59aa11bb-22cc33dd-44ee-a83b76112233 SAN-Payroll-01, host '
        "PROD-ESX-17.corp.acme-bank.com user=jdoe password=S3cr3t!pw session 4f1c2d3e-aaaa-bbbb-cccc-1234567890ab "
        "SR 17612345678 from 2001:4b98:dc0::17 after 30 s: 'Payroll DB (old)' on PG-Payroll\n"
    )
    vmx = 'displayName = "Payroll DB (old)"\nguestOS = "debian8-64"\nnumvcpus = "2"\nsched.cpu.max = "800"\n'
    switch = (
        "Switch Name      Num Ports   Used Ports  Configured Ports  MTU     Uplinks\n"
        "vSwitch0         1536        5           128               1500    vmnic0\n\n"
        "  PortGroup Name        VLAN ID  Used Ports  Uplinks\n  PG-Payroll            0        1           vmnic0\n"
    )
    stats = (
        "PortNum          Type SubType SwitchName       MACAddress         ClientName\n"
        "33554480            5       9 vSwitch0         a8:3b:76:11:22:33  payroll-db.eth0\n"
    )
    _top, files = vm_support(
        "prod-esx-17.corp.acme-bank.com", "6.5.0", 5969303,
        {
            "var/run/log/vmkernel.log": log,
            "vmfs/volumes/59aa11bb-22cc33dd-44ee-a83b76112233/payroll-db/payroll-db.vmx": vmx,
            "commands/esxcfg-vswitch_-l.txt": switch,
            "commands/net-stats_-l.txt": stats,
        },
    )  # fmt: skip
    path = folder / "acme.tgz"
    path.write_bytes(tgz(files))
    return path, secrets


@pytest.mark.parametrize(
    "specs",
    [
        ["vmkernel.log:23-40"], ["net-stats_-l.txt:2"], ["payroll-db.vmx:4"], ["esxcfg-vswitch_-l.txt:5"],
        ["README:1-3"], ["uname_-a.txt:1"], ["esx.conf:1"], ["vmkernel.log:23-40", "net-stats_-l.txt:2"],
    ],
    ids="+".join,
)  # fmt: skip
def test_no_customer_data_stays_in_the_file(specs: list[str], tmp_path: Path) -> None:
    """Names, addresses, ids and secrets of lines, dumps and rows are nowhere in the file: pattern, comments, examples."""
    case, secrets = customer_case(tmp_path)
    done = new(
        "a-draft",
        "--kb",
        tmp_path,
        *(part for spec in specs for part in ("--from-lines", spec)),
        case,
    )
    assert done.exit_code == 0, done.output
    text = (tmp_path / "a-draft.yaml").read_text(encoding="utf-8").lower()

    assert [secret for secret in [*secrets, "acme", "payroll"] if secret.lower() in text] == []
    assert "# masked: " in text
    assert matches(tmp_path, case)


@given(
    st.lists(
        st.from_regex(r"[a-z]{3,6}-[a-z]{4,8}[0-9]{2}", fullmatch=True), min_size=1, max_size=4
    ),
    st.lists(
        st.sampled_from(
            [
                "lost path to {}",
                "{} is down",
                "vm '{}' stopped 12 ms",
                "{}.eth0: port {} full",
                "x={},y",
            ]
        ),
        min_size=1,
        max_size=4,
    ),
)
@settings(max_examples=10)
def test_no_known_name_survives_in_any_part_of_a_draft(names: list[str], forms: list[str]) -> None:
    """Whatever lines the names stand in, the drafted file does not hold them, and its first example matches."""
    lines = [form.replace("{}", names[n % len(names)]) for n, form in enumerate(forms)]
    found = draft.draft_rule("kb-1", "", of_lines(lines, names))

    assert [name for name in names if name in found.text.lower()] == []
    assert found.examples[MATCHES]


# -- hostile lines


def of_lines(lines: list[str], names: list[str]) -> source.DraftSource:
    """Return the material of vmkernel lines of one host, a second apart."""
    table = parsing.tables()["esxi.vmkernel"]
    made = source.DraftSource(("host", parsing.tables()["esxi.bundle"]))
    source.judge_machine(made)
    head = "2017-10-14T15:30:{:02d}.000Z cpu3:33017)"
    made.lines = [
        LogLine(
            table,
            head.format(n) + line,
            "vmkernel.log",
            n + 1,
            "esx",
            len(head.format(n)),
            0,
            1507995000.0 + n,
        )
        for n, line in enumerate(lines)
    ]
    made.names = {"vm": set(names)}
    made.by_hits = True
    return made


NASTY = st.one_of(
    st.text(max_size=80),
    st.text("'\"#:-{}[]&*!|>%@`,?\\ \t~=", max_size=40),
    st.sampled_from(
        [
            "a: b", "# no", "- x", "%YAML 1.2", "---", "...", "!!python/object", "&a *a", "null", "'", '"', "|", ">", "{a: 1}",
            "[root@esx]", "\\", "\\N", "\x00", "\x1b[31m", "\u202e", "\u2028", "\x85", "\ufeff", "\ud800", "\udcff", "=cmd|' /C'!A0",
            "<script>", "a" * 300, "${x}", "{{x}}", "{host.node}", "%s", "\ta", "  a", "a  ", "0x", "1e5", "yes", "on: 1", "<<: *a",
        ]
    ),
)  # fmt: skip


@pytest.mark.size
@given(st.lists(NASTY, min_size=1, max_size=3))
@settings(max_examples=25)
def test_a_draft_of_any_lines_loads_and_can_be_printed(lines: list[str]) -> None:
    """Quotes, YAML signs, control characters, NUL, bidi, lone surrogates: the file loads, is formatted and printable."""
    # a line of a log has no line end and, as the scanner gives it, no NUL
    lines = ["".join(line.splitlines()).replace("\0", "") + " lost" for line in lines]
    found = draft.draft_rule("kb-1", "", of_lines(lines, [lines[0][1:6]]))
    rule = rules.parse(found.text)

    assert all(sign in "\n\t" or sign.isprintable() for sign in found.text)
    assert format_rule(found.text) == found.text
    for line in lines:
        assert any(re.search(log.pattern, line) for log in rule.logs.values())
    assert all(result.ok for result in examples.run(rule))
    assert found.examples[MATCHES]


@given(st.text(max_size=60))
@settings(max_examples=10)
def test_any_title_can_be_given(title: str) -> None:
    """A title of any signs gives a file that loads."""
    assert (
        rules.parse(draft.draft_rule("kb-1", title, of_lines(["path lost"], [])).text).id == "kb-1"
    )


def test_a_line_of_64_kib_is_drafted(tmp_path: Path) -> None:
    """A log line as long as the limit allows gives a small file whose examples hold."""
    log = LOG + BAD.rstrip("\n") + " " + "very long, " * 5900 + "\n" + LOG
    (tmp_path / "vmkernel.log").write_text(log, encoding="utf-8")
    rule = drafted(tmp_path / "kb", "--from-lines", "vmkernel.log:61", tmp_path / "vmkernel.log")

    assert len(rule.text.text) < 8000


def test_more_sorts_of_lines_than_a_sequence_takes_are_told() -> None:
    """Of twelve sorts of lines ten become signatures, and the author is told."""
    lines = [
        f"{word} was lost"
        for word in ("ab", "bc", "cd", "de", "ef", "fg", "gh", "hi", "ij", "jk", "kl", "lm")
    ]
    found = draft.draft_rule("kb-1", "", of_lines(lines, []))

    assert len(found.signatures) == 10
    assert any("12 kinds" in note for note in found.notes)


def test_a_spec_takes_the_last_colon() -> None:
    """MEMBER may hold colons, blanks and `!`; a path with a leading `./` is the same."""
    assert pick.read_spec("b.tgz!a b/x:y.log:7") == pick.Spec("b.tgz!a b/x:y.log", 7, 7)
    assert pick.read_spec("./x.log:7-9").is_address("b.tgz!a/x.log")
    assert not pick.read_spec("x.log:7").is_address("b.tgz!a/yx.log")
    with pytest.raises(UsageError):
        pick.read_spec("x.log:")


def test_the_same_evidence_gives_the_same_bytes(tmp_path: Path) -> None:
    """Two drafts of the same lines are equal byte by byte."""
    texts = set()
    for _ in range(2):
        drafted(tmp_path, "--from-lines", "vobd.log:2-9", CASES / "slow-storage")
        texts.add((tmp_path / "a-draft.yaml").read_bytes())
    assert len(texts) == 1


def test_the_stream_of_a_member_is_counted_like_an_editor_does() -> None:
    """Lines are numbered by line feeds, whatever the chunks; NUL bytes and carriage returns are no part of a line."""
    data = b"one\r\ntwo\0\n\nfour\nfive"
    for size in (1, 2, 3, 100):
        keeper = pick._Keeper([(2, 5)], 1, 1000)
        stream = io.BytesIO(data)
        while chunk := stream.read(size):
            keeper.feed_bytes(chunk)
        keeper.end_line()
        assert {n: line for n, line in keeper.lines.items() if line} == {
            2: "two",
            4: "four",
            5: "five",
        }


def test_a_log_that_lies_here_needs_no_bundle(tmp_path: Path) -> None:
    """`--from-lines LOG:1` of a file of its own drafts the rule of that line; the log is the material."""
    log = tmp_path / "vmkernel.log"
    line = "2021-03-08T14:49:00.123Z cpu1:2097)WARNING: ixgben: indrv_UplinkReset:1520: indrv vmnic3 device reset requested"
    log.write_text(f"{line}\n", encoding="utf-8")
    done = CliRunner().invoke(
        main, ["rules", "new", "nic-reset", "--kb", str(tmp_path), "--from-lines", f"{log}:1"]
    )
    assert done.exit_code == 0, done.output
    assert "device reset requested" in (tmp_path / "nic-reset.yaml").read_text(encoding="utf-8")
