"""A site of forty hosts with fifty ports each: no host may disappear, the worst stand first, the report stays small."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

from analyzer.case import case_file
from analyzer.cli import main
from analyzer.judge import joining, judge
from analyzer.judge.choosing import find_gauge, pick_worst
from analyzer.report import finding_rows, html
from analyzer.rules import Catalog
from analyzer.runtime.limits import Limits
from tests.kit import many_hosts, rule_kit
from tests.kit.memory_kit import peak
from tests.kit.rule_kit import BASE, PART, Kit, rule

HOSTS, PORTS = 40, 50
RULE = "kb-2039495"


def full(host: int, port: int) -> int:
    """Return how often a ring was full: ever more from host to host, so that the first hosts are the best."""
    return 5 + host * PORTS + port


class Site(NamedTuple):
    """What `backline triage` made of the site."""

    status: int
    document: dict[str, Any]
    page: str
    note: str
    said: str


def triaged(folder: Path, material: Path, *options: str) -> Site:
    """Run the command, return its results."""
    done = CliRunner().invoke(
        main, ["triage", str(material), "-o", str(folder), "--no-packs", "--all", *options]
    )
    texts = [(folder / name).read_text() for name in ("case.json", "report.html", "report.md")]
    return Site(
        done.exit_code, case_file.parse_case(texts[0], "case"), texts[1], texts[2], done.output
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("site")
    return triaged(folder / "out", many_hosts.write(folder / "hosts", HOSTS, PORTS, full))


def test_every_host_keeps_its_findings(site: Site) -> None:
    """2,000 ports match: each of the forty hosts has its fifty findings, with the numbers of its own ports."""
    found = [one for one in site.document.findings if one.rule == RULE]
    assert Counter(one.node for one in found) == {
        many_hosts.host_name(host): PORTS for host in range(HOSTS)
    }
    for one in found:
        host, port = map(int, re.match(r"web-(\d\d)-(\d\d)\.eth0, port", one.subject).groups())  # type: ignore[union-attr]
        assert one.values["rx.out_of_buffers"] == f"{full(host, port):,}"
        assert one.node == many_hosts.host_name(host)


@pytest.mark.size
def test_the_worst_are_told_with_evidence(site: Site) -> None:
    """The worst thousand hold evidence, the worst port of every host among them; the rest is told without."""
    found = [one for one in site.document.findings if one.rule == RULE]
    proven = {one.subject for one in found if one.evidence and one.trace}
    worst_ports = {f"web-{host:02d}-{PORTS - 1:02d}" for host in range(HOSTS)}
    assert len(proven) == 1000
    assert worst_ports <= {subject.partition(".")[0] for subject in proven}
    assert {f"web-{host:02d}-{port:02d}" for host in range(22, HOSTS) for port in range(PORTS)} <= {
        subject.partition(".")[0] for subject in proven
    }


def test_within_a_weight_the_worst_stands_first(site: Site) -> None:
    """Findings of one severity are in the order of what they lose, those with evidence before the others."""
    for row in finding_rows.group_findings(site.document):
        for proven in (True, False):
            lost = [one.magnitude for one in row.findings if bool(one.trace) is proven]
            assert lost == sorted(lost, reverse=True)
    assert finding_rows.group_findings(site.document)[0].first.subject.startswith("web-39-49.")


def test_the_cut_is_said_with_the_count_of_every_host(site: Site) -> None:
    """Exit 5; case.json, page, note and terminal say what is told in short; every host has its count."""
    (cut,) = (one for one in site.document.cuts if one.rule == "kb-2039495")
    assert site.status == 5
    assert (cut.subjects, cut.full, cut.short) == (2000, 1000, 1000)
    assert [row.subjects for row in cut.by_node] == [PORTS] * HOSTS
    assert sum(row.full for row in cut.by_node) == 1000
    assert "2,000 objects on 40 nodes match. The worst 1,000" in cut.say
    assert site.page.count(html.make_visible(cut.say)) >= 2  # the head and the card
    assert cut.say.partition(". For more")[0] in site.note
    assert cut.say[:60] in " ".join(site.said.split())


def test_no_host_is_missing_from_any_report(site: Site) -> None:
    """Page, note and terminal give each host its counts; over the rows of the rule they make fifty."""
    for told in (site.note, " ".join(site.said.split())):
        counted: Counter[str] = Counter()
        for line in re.findall(r"[Oo]bjects per node:? +((?:esx\d\d \d+(?:, )?)+)", told):
            counted.update({name: int(n) for name, n in re.findall(r"(esx\d\d) (\d+)", line)})
        assert counted == {many_hosts.host_name(host): PORTS for host in range(HOSTS)}
    counted = Counter()
    for name, number in re.findall(
        r'data-label="Node">(esx\d\d)</th><td data-label="Objects">(\d+)<', site.page
    ):
        counted[name] += int(number)
    assert counted == {many_hosts.host_name(host): PORTS for host in range(HOSTS)}


def test_the_page_of_two_thousand_matches_is_small(site: Site) -> None:
    """It lists all 2,000 subjects and the values they differ in, in less than 3 MB, and says what it left out."""
    assert (
        len(site.page.encode()) < 3 << 20
    )  # sixty cards, each with the whole way to its verdict and its steps
    assert len(set(re.findall(r'id="f=kb-2039495/([^"]+)"', site.page))) == 2000
    assert ">rx.out_of_buffers</th>" in site.page
    assert "kept in case.json: the case document itself" in site.page


def test_a_trace_names_of_the_steps_only_what_decides(site: Site) -> None:
    """A step that does not fit shows the parts that are false, each named value stands once in full."""
    finding = next(one for one in site.document.findings if one.trace)
    steps = [line for line in finding.trace.children if line.text.startswith("Step ")]
    refused = [line for line in steps if line.value == "false" and " and " in line.text]
    assert refused
    for step in refused:
        assert step.children
        assert {line.value for line in step.children} == {"false"}
    lines = [finding.trace]
    for line in lines:
        lines += line.children
    assert len([line for line in lines if line.text.startswith("ring1: ")]) == 1
    assert {line.note for line in lines if line.text == "ring1"} == {"see above"}
    assert len(case_file.encode_line(finding.trace)) < 10_000


MOST_MB = 200  # of the whole command


@pytest.mark.release
@pytest.mark.process
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak is in KiB on Linux only")
def test_forty_hosts_take_little_memory(tmp_path: Path) -> None:
    """2,000 matches, a thousand of them in full: what they share stands in memory once."""
    material = many_hosts.write(tmp_path / "hosts", HOSTS, PORTS, full)
    command = (
        "-m",
        "analyzer",
        "triage",
        str(material),
        "-o",
        str(tmp_path / "out"),
        "--no-packs",
        "--quiet",
    )
    assert peak(sys.executable, *command, code=5) <= MOST_MB
    assert case_file.read_case(tmp_path / "out" / "case.json").cuts


def test_what_is_beyond_both_limits_is_counted(tmp_path: Path) -> None:
    """With limits of 10 and 20 for 6 hosts of 8 ports: 30 told, 48 counted, each host with its own count."""
    material = many_hosts.write(tmp_path / "hosts", 6, 8, lambda host, port: 20 + port)
    limits = ("--limit", "findings_per_rule=10", "--limit", "findings_in_short=20")
    site = triaged(tmp_path / "out", material, *limits)
    (cut,) = (one for one in site.document.cuts if one.rule == "kb-2039495")
    assert (cut.subjects, cut.full, cut.short) == (48, 10, 20)
    assert [(row.node, row.subjects) for row in cut.by_node] == [(f"esx0{n}", 8) for n in range(6)]
    assert all(row.full for row in cut.by_node)
    assert "18 are only counted" in cut.say
    assert site.status == 5


@pytest.mark.size
def test_few_subjects_are_not_cut(tmp_path: Path) -> None:
    """Six hosts of eight ports are told in full: no cut, exit 0."""
    site = triaged(tmp_path / "out", many_hosts.write(tmp_path / "hosts", 6, 8, full))
    assert (site.status, site.document.cuts) == (0, [])
    assert all(one.trace for one in site.document.findings)


def test_doubts_keep_every_node() -> None:
    """Beyond the limit «cannot tell» names at least one subject of each node, and the exact counts."""
    kit = Kit()
    for node in ("a", "b", "c"):
        kit.add(BASE, [{"key": n, "a": None} for n in range(5)], node=node)
    judgement = judge(Catalog([rule("one.a > 0")]), kit.facts, Limits(findings_per_rule=4))
    named = {one.node for one in judgement.cannot_tell}
    assert named == {kit.facts.name(node) for node in kit.facts.nodes} >= {"a", "b", "c"}
    assert len(judgement.cannot_tell) == 4
    counted = {row.node: (row.subjects, row.short) for row in judgement.cuts[0].by_node}
    assert {node: counted[node] for node in "abc"} == dict.fromkeys("abc", (5, 0))


@pytest.mark.parametrize(
    ("condition", "text", "sign"),
    [
        ("one.a > 3", "one.a", 1),
        ("one.a < 3", "one.a", -1),
        ("3 <= one.a", "one.a", 1),
        ("not (one.a > 3)", "one.a", -1),
        ('one.s == "x" and (one.b >= 2 * 3 or one.a > 1)', "one.b", 1),
        ("count(part) >= 2", "count(part)", 1),
    ],
)
def test_what_measures_a_rule(condition: str, text: str, sign: int) -> None:
    """The first number that is compared by size with something fixed, and which way is worse."""
    found = find_gauge(rule(condition))
    assert found is not None
    assert (found.node.text, found.sign) == (text, sign)


@pytest.mark.parametrize(
    "condition", ['one.s == "x"', "one.a == 3", "one.a > one.b", "any(part.x > 3)"]
)
def test_what_does_not_measure_a_rule(condition: str) -> None:
    """Equality, two moving sides and a fold over rows give no magnitude."""
    assert find_gauge(rule(condition)) is None


def test_the_worst_and_the_first_of_every_group() -> None:
    """The first `most` are kept, and the first of every group even where the groups are more."""
    assert pick_worst(list(range(10)), 4, [lambda n: n // 5]) == {0, 1, 2, 5}
    assert pick_worst(list(range(10)), 2, [lambda n: n // 2]) == {0, 2, 4, 6, 8}
    assert pick_worst([3, 1, 2], 9, []) == {1, 2, 3}


def test_rows_that_all_subjects_share_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight things rest on the same parts: which part decides is looked for once, not for each thing."""
    kit = Kit()
    kit.add(BASE, [{"key": number, "a": 1} for number in range(8)])
    kit.add(PART, [{"key": 1, "x": 7}, {"key": 2, "x": 9}])
    looked: list[str] = []
    look = joining.Aggregate._find_deciding

    def note_look(own: Any, env: Any, group: Any, leaf: Any, *, least: bool) -> int | None:
        looked.append(leaf.text)
        return look(own, env, group, leaf, least=least)

    monkeypatch.setattr(joining.Aggregate, "_find_deciding", note_look)
    text = (
        rule_kit.RULE.replace("by: [key], rows: many", "by: [], rows: many")
        % "when: any(part.x > 8)"
    )
    judgement = kit.judge(rule_kit.full(text))
    assert len(judgement.findings) == 8
    assert all("part.x = 9" in str(one.evidence) for one in judgement.findings)
    assert looked == ["part.x"]
