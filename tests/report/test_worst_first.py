"""Every output of a case has one order: the worst first, and the same finding, host and number at the top of each."""

from __future__ import annotations

import csv
import io
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from rich.console import Console

from analyzer.case import case_file
from analyzer.case.document import CaseDocument, Tool
from analyzer.case.ranking import order_findings, rank_hosts, severity_rank
from analyzer.case.verdicts import CONFIDENCES, SEVERITIES, Finding, Judgement
from analyzer.cli import main
from analyzer.judge.choosing import MOST_EXCESS, find_gauge, find_gauge_among
from analyzer.pipeline import case
from analyzer.report import (
    finding_rows,
    lists,
    machines,
    markdown,
    objects,
    short_note,
    summary,
    terminal,
)
from analyzer.report.facets import build_facets
from analyzer.report.finding_names import find_finding
from analyzer.watch_folder.work import worst_of
from analyzer.web.questions import stored
from analyzer.web.questions.answers import Library
from tests.kit import many_hosts
from tests.kit.rule_kit import rule

HOSTS, PORTS, WORST_HOST, WORST_PORT = 40, 3, 22, 1
Doc = CaseDocument


def full(host: int, port: int) -> int:
    """Return how many of a million frames a port loses: one of all ports 28.6 %, the others 0.03 to 0.3 %."""
    if (host, port) == (WORST_HOST, WORST_PORT):
        return 400_000
    return 300 + 70 * ((host * 7 + port * 3) % 39)


def run(*words: object, codes: tuple[int, ...] = (0,)) -> str:
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exit_code in codes, done.output
    return done.stdout


# --- forty hosts, one of them far worse --------------------------------------------------------


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A triaged site of forty hosts; an archive with its case; its results, what was printed, and a comparison."""
    top = tmp_path_factory.mktemp("forty")
    material = many_hosts.write(top / "hosts", HOSTS, PORTS, full)
    before = many_hosts.write(top / "before", HOSTS, PORTS, lambda host, port: 310 + host + port)
    (top / "said.txt").write_text(
        run("triage", material, "-o", top / "out", "--no-packs", "--no-settings")
    )
    run("triage", before, "-o", top / "out-before", "--no-packs", "--no-settings", "--quiet")
    folder = top / "cases"
    folder.mkdir()
    (top / "hosts").rename(folder / "hosts")
    run("batch", folder, "--archive", top / "archive", "--no-packs", "--no-settings")
    return top


@pytest.mark.size
def test_every_output_names_the_worst_host_first(site: Path) -> None:
    """Summary, listing, page, both notes, CSV, JSON lines, list and label list of the archive, comparison and watch agree."""
    worst = many_hosts.host_name(WORST_HOST)
    subject = f"web-{WORST_HOST:02d}-{WORST_PORT:02d}.eth0"
    document = case_file.read_case(site / "out")
    said = (site / "said.txt").read_text()
    page = (site / "out" / "report.html").read_text()
    note = short_note.render_short_note(document)
    rows = list(csv.DictReader(io.StringIO(lists.render_csv(document))))
    records = [json.loads(line) for line in lists.render_json_lines(document).splitlines()]
    listing = run("show", site / "out")
    first_hosts = {
        "document": document.findings[0].node,
        "summary, hosts": re.search(r"^ +worst +(\w+) ", said, re.MULTILINE)[1],  # type: ignore[index]
        "summary, finding 1": re.search(r"^1\. [^\0]*? on (esx\d\d):", said, re.MULTILINE)[1],  # type: ignore[index]
        "listing": re.search(r"on (esx\d\d)", listing.partition("\n1. ")[2])[1],  # type: ignore[index]
        "page, head": re.search(r'The worst: <a href="#h=[^"]*">(\w+)</a>', page)[1],  # type: ignore[index]
        "page, table": re.search(r'<section id="hosts".*?>(esx\d\d)<', page, re.DOTALL)[1],  # type: ignore[index]
        "note": re.search(r"on (esx\d\d)", note.partition("**1.")[2])[1],  # type: ignore[index]
        "markdown": re.search(
            r"\((esx\d\d)\)", markdown.render_note(document).partition("### 1.")[2]
        )[1],  # type: ignore[index]
        "csv": rows[0]["node"],
        "json lines": next(one["node"] for one in records if one["record"] == "finding"),
        "watch": re.search(r" on (\w+)", worst_of(document))[1],  # type: ignore[index]
    }
    listed = json.loads(run("archive", "list", "--archive", site / "archive", "--json"))
    first_hosts["archive list"] = (listed[0] if isinstance(listed, list) else listed)["worst_host"]
    library = Library(str(site / "archive"))
    (identity,) = [one.id for one in library.require_archive().take_snapshot().list_visible_cases()]
    record = stored.describe_case(library, identity)
    first_hosts["labels on the page"] = record["findings"][0]["node"]
    run("compare", site / "out-before", site / "out", "-o", site / "compared", codes=(0, 1))
    compared = json.loads((site / "compared" / "compare.json").read_text())
    first_hosts["comparison"] = compared["findings"][0]["machine"]
    assert first_hosts == dict.fromkeys(first_hosts, worst)
    assert subject in document.findings[0].subject and subject in record["findings"][0]["subject"]
    assert [one["number"] for one in record["findings"]] == [
        *finding_rows.number_findings(document).values()
    ][: len(record["findings"])]


def test_a_label_of_the_worst_finding_stands_first(site: Path) -> None:
    """`archive show` lists labels as the case lists its findings, not by the alphabet."""
    place = ("--archive", site / "archive")
    document = case_file.read_case(site / "out")
    chosen = [document.findings[0], document.findings[-1], document.findings[40]]
    for one in chosen:
        run(
            "archive",
            "label",
            "hosts",
            one.rule,
            *place,
            "--confirm",
            "--subject",
            one.subject,
            "--node",
            one.node,
        )
    told = [
        line
        for line in run("archive", "show", "hosts", *place, codes=(0, 1, 5)).splitlines()
        if line.startswith("label: ")
    ]
    wanted = [one.subject for one in document.findings if one in chosen]
    assert [next(name for name in wanted if name in line) for line in told] == wanted


# --- any case --------------------------------------------------------------------------------

NODES = ("esx1", "esx2", "esx3", "esx10")


@st.composite
def documents(draw: st.DrawFn) -> Doc:
    """A case document of up to twenty findings that explain one another in any way."""
    many = draw(st.integers(1, 20))
    findings = []
    for number in range(many):
        rule = draw(st.sampled_from("abcdef"))
        findings.append(
            Finding(
                id=f"{rule}/{number}", rule=rule, title=f"Trouble {rule}", kb=[], issues=[], status="stable",
                node=draw(st.sampled_from(NODES)), subject=f"vm{number}", object=f"vm{number % 4}",
                verdict="error" if draw(st.integers(0, 9)) == 0 else "match",
                severity=draw(st.sampled_from(SEVERITIES)), confidence=draw(st.sampled_from(CONFIDENCES)),
                say=f"Seen {number} times.", muted="wanted" if draw(st.integers(0, 9)) == 0 else "",
                explained_by=draw(st.lists(st.integers(0, many - 1).map(str), max_size=2)),
                first_seen=draw(st.sampled_from(["", "2017-10-09T13:02:00Z", "2017-10-09T13:58:00Z"])),
                magnitude=draw(st.none() | st.floats(-1e6, 1e6)), excess=draw(st.none() | st.floats(0, 1e6)),
            )
        )  # fmt: skip
    for one in findings:
        one.explained_by = [
            other.id for other in findings if other.id.partition("/")[2] in one.explained_by
        ]
    return made(findings)


def made(findings: list[Finding]) -> Doc:
    nodes = [
        {"id": name, "kind": "esxi", "name": name, "product": "ESXi host", "version": "6.5.0"}
        for name in NODES
    ]
    return case.build_document(
        case={"name": "any"}, tool=Tool(name="backline", version="1", catalog="", rules=0), nodes=nodes, sources=[], judgement=Judgement(findings),
        catalog_rules=[],
    )  # fmt: skip


def printed(render: Any, doc: Doc, **words: Any) -> str:
    out = io.StringIO()
    render(doc, Console(file=out, width=10_000), **words)
    return out.getvalue()


@pytest.mark.size
@given(documents(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_every_output_has_the_order_of_the_one_function(doc: Doc, chance: random.Random) -> None:
    """Outputs of any document, also of one whose findings somebody shuffled, count 1, 2, 3 … down the same order."""
    ids = [one.id for one in doc.findings]
    shuffled = structs.replace(doc, findings=chance.sample(doc.findings, len(ids)))
    assert [one.id for one in order_findings(doc.findings)] == ids
    told = finding_rows.list_stories(shuffled)
    rows = finding_rows.list_story_rows(told)
    assert sorted(one.id for row in rows for one in row.findings) == sorted(
        finding_rows.number_findings(doc)
    )
    severities = [
        (
            all(row.word == "error" for row in story.rows),
            all(row.hollow for row in story.rows),
            min(_badness(row) for row in story.rows),
        )
        for story in told
    ]
    assert severities == sorted(severities)  # what was seen, what a version tells, what broke

    known = finding_rows.number_findings(doc)
    live = [one.id for one in doc.findings if one.id in known]
    assert live == [*known]
    whole = [str(number) for number in range(1, len(rows) + 1)]
    assert [finding_rows.number_row(row, known) for row in finding_rows.list_rows(doc)] == whole
    assert re.findall(r"^(\d+)\. ", printed(terminal.print_case, doc), re.MULTILINE) == whole
    assert re.findall(r"^### (\d+)\. ", markdown.render_note(doc), re.MULTILINE) == whole
    shown = _spread(
        re.findall(r"^ {0,2}(\d+)(?:-(\d+))?\. ", printed(summary.print_summary, doc), re.MULTILINE)
    )
    assert shown == whole[: len(shown)] and (shown or not whole)
    assert [
        one["number"] for one in csv.DictReader(io.StringIO(lists.render_csv(doc))) if one["number"]
    ] == [*known.values()]
    for identity, number in known.items():
        assert find_finding(doc, number).id == identity

    hosts = [*rank_hosts([one for one in doc.findings if not one.muted])]
    assert [row.name for row in machines.list_hosts(doc)][: len(hosts)] == hosts
    seen = {one.node for one in doc.findings if _is_seen(one)}
    named = re.findall(r"(esx\d+) \(", machines.describe_worst(doc, 9))
    assert named == [name for name in hosts if name in seen]
    things = objects.list_objects(doc)
    assert [*build_facets(doc, things).host.counts][: len(hosts)] == hosts
    worst = [min(map(_severity_seen, one.own + one.mentioned)) for one in things]
    assert worst == sorted(worst)
    first = [f"{one.title} on {one.node}" for one in doc.findings if one.id in known][:1]
    assert first[0] in worst_of(doc) if first else worst_of(doc) == "no finding"


def _badness(row: Any) -> int:
    return len(SEVERITIES) if row.word == "error" else severity_rank(row.word)


def _is_seen(finding: Doc) -> bool:
    return finding.verdict == "match" and not finding.muted and finding.confidence != "exposed"


def _severity_seen(finding: Doc) -> tuple[bool, int]:
    return finding.confidence == "exposed", severity_rank(finding.severity)


def _spread(ranges: list[tuple[str, str]]) -> list[str]:
    """Return the numbers that `3` and `4-9` stand for."""
    return [
        str(number)
        for first, last in ranges
        for number in range(int(first), int(last or first) + 1)
    ]


@given(documents())
@settings(max_examples=30, deadline=None)
def test_how_many_objects_there_are_changes_no_order(doc: Doc) -> None:
    """A second object with the same finding moves no story."""
    live = [one for one in doc.findings if not one.muted]
    if not live:
        return
    last = finding_rows.list_story_rows(finding_rows.list_stories(doc))[-1].findings
    more = [
        structs.replace(last[-1], id=f"more/{number}", subject=f"more{number}")
        for number in range(30)
    ]
    grown = structs.replace(doc, findings=[*doc.findings, *more])
    before = [story.row.first.rule for story in finding_rows.list_stories(doc)]
    assert [story.row.first.rule for story in finding_rows.list_stories(grown)] == before


def test_a_stored_order_is_not_trusted_and_names_do_not_break_ties(tmp_path: Path) -> None:
    """A case.json that was sorted otherwise reads as before; in a redacted copy findings keep their numbers."""
    rules = ["zeta", "alpha"]
    findings = [
        Finding(f"{name}/{host}", name, f"Trouble {name}", [], [], "stable", host, host, host, "match", "major", "likely", "So.")
        for name in rules for host in reversed(NODES)
    ]  # fmt: skip
    doc = made(findings)
    ids = [one.id for one in doc.findings]
    path = tmp_path / "case.json"
    reverse = {name: f"host-{9 - number}" for number, name in enumerate(NODES)}
    masked = [structs.replace(one, node=reverse[one.node], object="x") for one in doc.findings]
    path.write_text(case_file.write_case(structs.replace(doc, findings=masked)))
    assert [one.id for one in case_file.read_case(path).findings] == ids
    worse = structs.replace(doc.findings[-1], severity="critical")
    path.write_text(
        case_file.write_case(structs.replace(doc, findings=[*doc.findings[:-1], worse]))
    )
    assert case_file.read_case(path).findings[0].id == worse.id


# --- how bad ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "value", "bar", "excess"),
    [
        ("one.a > 3", 30, 3, 10.0),
        ("one.a < 3", 1, 3, 3.0),
        ("one.a < 3", 0, 3, MOST_EXCESS),
        ("one.a > 0", 30, 0, None),  # nothing is how many times 0
        ("one.a > 3", None, 3, None),
    ],
)
def test_how_many_times_a_figure_is_over_its_bar(
    condition: str, value: Any, bar: Any, excess: float | None
) -> None:
    """Value over bar, or bar over value where less is worse."""
    assert find_gauge(rule(condition)).measure_excess(value, bar) == excess  # type: ignore[union-attr]


def test_the_bar_is_that_of_the_answer_taken() -> None:
    """Of several bars for one figure the first condition that decides gives it."""
    one, other = rule("one.a > 3"), rule("one.a > 10")
    found = find_gauge_among(one, [other.when, one.when])
    assert found is not None and found.bar.text == "10"
