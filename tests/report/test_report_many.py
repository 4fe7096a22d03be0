"""What an engineer reads when much was found: each reason once, amounts with separators, cautions at their step.

Material is synthetic, in the documented form of the commands.
"""

from __future__ import annotations

import copy
import io
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec import structs
from rich.console import Console

from analyzer.case import case_file
from analyzer.cli import main
from analyzer.pipeline.triage import triage
from analyzer.report import finding_rows, html, markdown, terminal, view
from analyzer.report.mail import write_mail
from tests.catalog.test_nsx_site import FAULT, RESTART
from tests.catalog.test_nsx_site import triage as nsx_site
from tests.kit import many_hosts
from tests.kit.case_factory import rich_case


def read(html_page: str) -> str:
    """Return the words of a page without its scripts and markup."""
    return re.sub(
        r"<[^>]+>",
        "",
        re.sub(r"<script.*?</script>|<style.*?</style>", "", html_page, flags=re.DOTALL),
    )


def reports(doc: dict[str, Any]) -> dict[str, str]:
    """Return the words of a case in each form, with blanks as they are in one line."""
    out = io.StringIO()
    terminal.print_case(doc, Console(file=out, width=200), 0)
    note = markdown.render_note(doc).replace("\\", "")
    told = {"page": read(html.render_page(doc)), "note": note, "terminal": out.getvalue()}
    return {name: re.sub(r"\s+", " ", text) for name, text in told.items()}


@pytest.fixture(scope="module")
def three_hosts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the document of twelve ports on three hosts, all with rings that ran full at one weight."""
    folder = tmp_path_factory.mktemp("hosts") / "case"
    many_hosts.write(folder, 3, 4, lambda host, port: 2000 + 10 * host + port)
    done = CliRunner().invoke(main, ["triage", str(folder), "--json", "-"])
    assert done.exit_code == 0, done.output
    return case_file.parse_case(done.stdout, "case")


@pytest.mark.parametrize("form", ["page", "note", "terminal"])
def test_what_could_not_be_checked_is_said_once(three_hosts: dict[str, Any], form: str) -> None:
    """Twelve ports lack the same three sources: three sentences with their count, not 36."""
    text = reports(three_hosts)[form]

    assert text.count("Needs more data") == 3
    assert text.count("Needs more data for 12 objects on esx00, esx01 and esx02: ") == 3
    assert text.count("May be worse or more certain than shown") == 1


@pytest.mark.parametrize("form", ["page", "note", "terminal"])
def test_what_cannot_be_told_is_said_once_for_all_hosts(
    three_hosts: dict[str, Any], form: str
) -> None:
    """A source that three hosts lack is one sentence with their names."""
    text = reports(three_hosts)[form]

    assert text.count("(esxtop.vm) of esx00, esx01 and esx02 is not in the case") == 1


def test_some_subjects_of_a_row_are_counted() -> None:
    """Where only some subjects lack a source the sentence says how many of how many, and where they differ."""
    doc = rich_case()
    row = max((group.findings for group in finding_rows.group_findings(doc)), key=len)
    assert len(row) > 2
    for number, one in enumerate(row):
        one.also = (
            [f"Needs more data: vm.vcpus has no value at a.txt:{number + 1}; could be major."]
            if number < 2
            else []
        )
    said = f"Needs more data for 2 of {len(row)} objects"

    for form, text in reports(doc).items():
        assert text.count("Needs more data: vm.vcpus") == 0, form
        assert text.count(said) == 1, form
        assert "vm.vcpus has no value at a.txt:1 and 1 more place; could be major." in text, form


def test_amounts_have_separators_and_numbers_of_things_have_none(
    three_hosts: dict[str, Any],
) -> None:
    """Times and packets are read in threes; the port, which is a name, stays as the host prints it."""
    [worst] = [one for one in three_hosts.findings if one.subject.startswith("web-02-03")]

    assert "port 33554436" in worst.subject
    assert any("2,023 (ring #1) + 0 (ring #2) = 2,023" in line for line in worst.also)
    assert not any(re.search(r"\b2023\b", text) for text in (worst.say, *worst.also))


def test_no_sentence_of_a_report_has_a_long_number_without_separators(tmp_path: Path) -> None:
    """Of the measured case no amount of four digits or more stands in a sentence as digits alone."""
    sample = Path(__file__).resolve().parents[2] / "samples" / "cases" / "lab-ring-before"
    for one in triage([sample]).document.findings:
        for text in (one.say, *one.also, *(step.note for step in one.fix)):
            amounts = re.sub(r"\bbuild \d+", "build", text)  # a build is a name
            assert not re.search(r"(?<![\w./-])\d{5,}(?![\w./-])", amounts), text


def test_a_caution_stands_with_its_step(tmp_path: Path) -> None:
    """The caution of the restart is where the restart is advised, and nowhere else."""
    for state, advised in (
        ("struck after a restart of the Manager", True),
        ("majority lost", False),
        ("healthy", False),
    ):
        folder = tmp_path / state
        folder.mkdir()
        doc = nsx_site(state, folder)
        steps = [step for one in doc.findings if one.rule == FAULT for step in one.fix]
        assert any(RESTART in step.run for step in steps) is advised
        for form, text in reports(doc).items():
            assert ("interrupts nothing on the data path" in text) is advised, (state, form)


def test_the_caution_of_a_folded_step_is_folded() -> None:
    """A fix that waits for its cause shows its caution with the step, inside the fold."""
    doc = rich_case()
    for one in doc.findings:
        one.caution = ""
        for step in one.fix:
            step.caution = "CAUTION-OF-STEP" if one.explained_by else ""
    page = re.sub(r"<script.*?</script>", "", html.render_page(doc), flags=re.DOTALL)
    open_part = re.sub(r'<details class="later">.*?</details>', "", page, flags=re.DOTALL)

    assert "CAUTION-OF-STEP" in page and "CAUTION-OF-STEP" not in open_part
    assert "CAUTION-OF-STEP" not in reports(doc)["terminal"]


@pytest.mark.parametrize("form", ["page", "note", "terminal"])
def test_a_cut_file_is_asked_for_again(form: str) -> None:
    """What a whole file would answer is asked for first, by its name, and in the mail to the customer as well."""
    sample = Path(__file__).resolve().parents[2] / "samples" / "cases"
    cut, whole = (triage([sample / name]).document for name in ("cut-bundle", "healthy-host"))
    name = "esx-esx61.lab.example-2017-10-14--16.53-71234.tgz"

    assert f"sk for {name} again" in reports(cut)[form]
    assert " again: " not in reports(whole)[form]
    assert f"1. Please send {name} again" in write_mail(cut) and "again" not in write_mail(whole)


@pytest.mark.size
def test_the_page_of_six_hundred_says_the_worst_first(tmp_path: Path) -> None:
    """600 ports on 20 hosts are three rows; each row opens with the worst of its own, in the words of the finding."""
    folder = tmp_path / "case"
    many_hosts.write(folder, 20, 30, lambda host, port: 7 * (30 * host + port) + 13)
    doc = triage([folder]).document
    page = reports(doc)["page"]

    assert page.count("The worst, ") == 3
    assert page.index("458 objects") < page.index("129 objects") < page.index("13 objects")
    assert (
        "The worst, web-19-29.eth0, port 33554462 on vSwitch0 on esx19: Out of receive buffers 4,206 times"
        in page
    )


def test_causes_are_named_in_the_order_to_fix_them() -> None:
    """Of two causes, one of which explains the other, that one is first, whatever order the rule names them in."""
    doc = rich_case()
    first, second, sign = doc.findings[0], doc.findings[1], doc.findings[2]
    sign.explained_by = [second.id, first.id]

    assert view.list_causes(doc, sign) == [
        ("Fix this first", first.id),
        ("Then fix this", second.id),
    ]


@pytest.fixture(scope="module")
def twenty_hosts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the document of 600 ports on twenty hosts, whose losses fall under three severities of one rule."""
    folder = tmp_path_factory.mktemp("twenty") / "case"
    many_hosts.write(folder, 20, 30, lambda host, port: 7 * (30 * host + port) + 13)
    done = CliRunner().invoke(main, ["triage", str(folder), "--json", "-"])
    assert done.exit_code == 0, done.output
    return case_file.parse_case(done.stdout, "case")


@pytest.mark.size
@pytest.mark.parametrize("form", ["page", "note", "terminal"])
def test_twenty_hosts_take_one_line_of_the_head(twenty_hosts: dict[str, Any], form: str) -> None:
    """The head counts the hosts and names the first and the last; the table and the note name all of them as well."""
    text = reports(twenty_hosts)[form]

    assert re.search(r"20 hosts\W+esx00 … esx19", text)
    if form != "terminal":
        head = (
            text[: text.index("Material")]
            if form == "note"
            else text[text.rindex("The hosts at a glance") :]
        )
        assert [f"esx{host:02d}" for host in range(20) if f"esx{host:02d}" not in head] == []


@pytest.mark.size
def test_the_worst_of_many_hosts_stand_in_the_head_and_all_in_a_table(
    twenty_hosts: dict[str, Any],
) -> None:
    """The head has the first, the last and the three worst hosts by name; the table has all twenty, the worst first."""
    page = html.render_page(twenty_hosts)
    head = read(page.partition("<header>")[2].partition("</header>")[0])
    table = page.partition('<section id="hosts"')[2].partition("</section>")[0]
    names = [
        read(row)
        for row in re.findall(r'<th scope="row" data-label="Host">.*?</th>', table, flags=re.DOTALL)
    ]

    assert re.search(r"esx00 … esx19", head)
    names = [name.split()[0] for name in names]
    assert names[:3] == re.findall(r"(esx\d\d) \(", head)
    assert len(names) == 20
    assert set(names) == {f"esx{host:02d}" for host in range(20)}


@pytest.mark.size
def test_a_warning_about_one_of_many_hosts_stays_in_sight(twenty_hosts: dict[str, Any]) -> None:
    """A crowd hides no remark: the host that has one is named with it in every form."""
    nodes = [
        structs.replace(node, warnings=["CLOCK-JUMPED"] if node.name == "esx11" else [])
        for node in twenty_hosts.nodes
    ]
    doc = structs.replace(twenty_hosts, nodes=nodes)
    head = re.sub(
        r"<details.*?</details>",
        "",
        html.render_page(doc).partition("</header>")[0],
        flags=re.DOTALL,
    )

    assert "esx11: CLOCK-JUMPED" in head
    assert all("esx11: CLOCK-JUMPED" in text for text in reports(doc).values())


def test_hosts_of_several_versions_are_counted_by_version() -> None:
    """Twelve hosts of two versions: one line that says how many run which; a single Manager keeps its own line."""
    doc = rich_case()
    host = structs.replace(
        doc.nodes[0], kind="esxi", product="ESXi host", build="", release="", warnings=[]
    )
    doc.nodes = [
        structs.replace(host, id=f"esx{n}", name=f"esx{n}", version="6.5.0" if n % 3 else "6.7.0")
        for n in range(1, 13)
    ]
    doc.nodes.append(
        structs.replace(host, id="mgr", name="mgr", kind="nsx_manager", product="NSX Manager")
    )
    text = reports(doc)["terminal"]

    assert "12 hosts esx1 … esx12; 8 × ESXi host 6.5.0, 4 × ESXi host 6.7.0 mgr NSX Manager" in text


@pytest.mark.size
@pytest.mark.parametrize("form", ["page", "note", "terminal"])
def test_a_fix_that_three_rows_share_is_shown_once(twenty_hosts: dict[str, Any], form: str) -> None:
    """One rule at three severities: the command stands at the worst row, the other two refer to it."""
    text = reports(twenty_hosts)[form]

    assert len(finding_rows.group_findings(twenty_hosts)) == 3
    assert text.count("rx 4096") == 1
    assert (
        text.count(
            "the same as for the major finding above (web-19-29.eth0, port 33554462 on vSwitch0)"
        )
        == 2
    )


@pytest.mark.size
def test_another_fix_or_another_time_for_it_is_shown_in_full(twenty_hosts: dict[str, Any]) -> None:
    """A row with other steps, or whose steps wait for a cause while the first row's do not, shows its own."""
    doc = copy.deepcopy(twenty_hosts)
    major, warning, _ = finding_rows.group_findings(doc)
    for one in warning.findings:
        one.fix = [structs.replace(one.fix[0], do="ANOTHER-STEP"), *one.fix[1:]]
    assert "ANOTHER-STEP" in reports(doc)["page"]

    doc = copy.deepcopy(twenty_hosts)
    major, warning, _ = finding_rows.group_findings(doc)
    for one in warning.findings:
        one.explained_by = [major.first.id]
    assert reports(doc)["page"].count("rx 4096") == 2
