"""What is asked for: commands that can be copied and run, remarks beside them, and no noise for a loose file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from markupsafe import escape
from msgspec import structs

from analyzer import rules
from analyzer.artefacts import parsing
from analyzer.case import case_file
from analyzer.case.asks import AskPiece, list_commands, markdown_ask, parse_ask, split_ask
from analyzer.case.document import Ask, CaseDocument
from analyzer.cli import main
from analyzer.pipeline.triage import Options, triage
from analyzer.report import html, markdown, open_asks
from analyzer.report.mail import write_mail
from tests.kit import many_hosts
from tests.kit.case_factory import rich_case
from tests.kit.together import together
from tests.system.test_bundle_names import bundle

ROOT = Path(__file__).resolve().parents[2]

# The programs and calls that a table or a rule may ask for.
RUNNABLE = re.compile(
    r"(?:esxcli|esxtop|esxcfg-\w+|vsish|memstats|vmware|vim-cmd|net-(?:stats|vdr|dvs|vdl2)|summarize-dvfilter|vsipioctl|nsxcli|nsxdp-cli|vm-support|vmkping|hostname|"
    r"uname|date|ntpq|openssl|pam_tally2|stat|vmkload_mod|smbiosDump|vmkchdev|ethtool|netstat|ip|ss|free|lspci|dmesg|iperf3?|grep|cat|ls|zcat|df|vmkfstools|cmmds-tool|vdq|vmkiscsid|partedUtil|python|Get-VM(?:Host)?|get|show|GET|POST|/usr/lib/\S+|/etc/init\.d/\S+)(?=\s|$)"
)
# Words that stand in sentences and never in a command.
PROSE = re.compile(
    r"(?i)\b(?:while|each|every|please|with its|and the|of the|from the|before|after|or on|in the|on the)\b"
)


def asked() -> Iterator[tuple[str, str]]:
    """Yield every text of what to ask for, with its place: of all tables and of the catalog."""
    for parser in parsing.registry().values():
        for table in parser.tables:
            yield table.name, table.ask
    for rule in rules.load().rules:
        for table, text in rule.ask.items():
            yield f"{rule.id} {table}".strip(), text


ASKED = sorted(set(asked()))


@together("place, text", ASKED)
def test_a_command_to_copy_is_bare(place: str, text: str) -> None:
    """A command starts with a program, holds no words of a sentence and ends without a clause."""
    assert text.count("`") % 2 == 0
    for command in list_commands(text):
        assert RUNNABLE.match(command), (place, command)
        assert not PROSE.search(command), (place, command)
        assert "#" not in command
        assert command == command.strip().rstrip(",;.:")
        assert not re.search(r",\s", command), (place, command)


@together("place, text", ASKED)
def test_no_command_stands_unmarked(place: str, text: str) -> None:
    """What is outside the backticks is words: no program with an option, no call of an API."""
    for piece in split_ask(text):
        if not piece.command:
            assert not re.match(
                rf"(?:{RUNNABLE.pattern})\s*(?:-|/|[a-z]+ (?:list|get))", piece.text
            ), f"{place}: put the command into backticks, with remarks outside: {piece.text}"
            assert not re.search(r"\s--?[a-z]\b|\bGET /", piece.text), (place, piece.text)


def test_an_ask_is_cut_into_commands_and_words() -> None:
    """Commands come out bare and in order; signs alone are dropped."""
    text = "`show a` on each node, or `GET /b`; `c`."
    assert split_ask(text) == [
        AskPiece("show a", command=True), AskPiece("on each node, or", command=False), AskPiece("GET /b", command=True),
        AskPiece("c", command=True),
    ]  # fmt: skip
    assert list_commands(text) == ["show a", "GET /b", "c"]
    assert split_ask("the VM's .vmx file") == [AskPiece("the VM's .vmx file", command=False)]
    assert split_ask("") == list_commands("") == []
    assert markdown_ask("`a | b` *now*") == "`a | b` \\*now\\*"


def put_ask(document: dict[str, Any], text: str, *nodes: str) -> None:
    """Let the first question of a document ask for something, for its first finding."""
    group = document.cannot_tell[0]
    asks = [
        Ask(what=item.what, command=item.command, remark=item.remark, nodes=list(nodes))
        for item in parse_ask(text)
    ]
    rule = next(one.rule for one in document.findings if one.verdict == "match" and not one.muted)
    group.ask = text
    group.asks = asks
    group.commands = list_commands(text)
    group.nodes = list(nodes)
    group.settles = [rule]


def test_reports_keep_command_and_remark_apart() -> None:
    """Page, note, mail and document have the command of an ask bare, the remark beside it."""
    document = rich_case()
    command, remark = "esxtop -b -a -d 5 -n 120 > esxtop.csv", "while the trouble lasts"
    put_ask(document, f"`{command}` on the host, {remark}", "esx07.lab")
    page = html.render_page(document)
    assert f"<code>{command.replace('>', '&gt;')}</code>" in page
    copied = re.findall(
        r'class="copyable"><code>([^<]*)</code>',
        page,
    )
    assert copied
    assert not [text for text in copied if remark in text]
    assert f"ask for: `{command}` on the host, {remark}" in markdown.render_note(document)
    assert f"   # on the host, {remark}\n   {command}\n" in write_mail(document)


def test_requests_are_asked_of_the_manager() -> None:
    """`GET /api/…` stands under the NSX Manager that answers it, never among the commands to run on a controller."""
    document = rich_case()
    request = "GET /api/2.0/vdn/controller"
    document.cannot_tell = document.cannot_tell[:1]
    put_ask(document, f"`{request}` on the NSX Manager", "controller-1")
    told = write_mail(document)
    head = "what the API of the NSX Manager nsxmgr01.lab answers to these requests:\n"
    assert re.fullmatch(
        rf"   # Reason: .*\n   {request}", "\n".join(told.partition(head)[2].splitlines()[:2])
    )
    assert told.count(request) == 1
    assert request not in told.partition("Please run")[2].partition("Please send")[0]


def test_the_document_holds_bare_commands(tmp_path: Path) -> None:
    """case.json of a paste: `commands` of each group are those of its ask, without backticks."""
    document = _triaged(_paste(tmp_path), tmp_path)
    found = {command for group in document.cannot_tell for command in group.commands}
    assert "esxtop -b -a -d 5 -n 120 > esxtop.csv" in found
    assert all(group.commands == list_commands(group.ask) for group in document.cannot_tell)


def _paste(tmp_path: Path) -> Path:
    path = tmp_path / "paste.txt"
    path.write_text(many_hosts.session(1, 1, lambda _host, _port: 2000))
    return path


def _triaged(path: Path, tmp_path: Path) -> dict[str, object]:
    done = CliRunner().invoke(
        main, ["triage", str(path), "-o", str(tmp_path / "out"), "--no-packs", "--all"]
    )
    assert done.exit_code == 0, done.output
    (tmp_path / "said.txt").write_text(done.output)
    document: dict[str, object] = case_file.read_case(tmp_path / "out" / "case.json")
    return document


def test_a_paste_asks_for_what_sharpens_its_finding(tmp_path: Path) -> None:
    """One finding, the two files that would sharpen it, each asked for once; all others are one folded line."""
    document = _triaged(_paste(tmp_path), tmp_path)
    page, note = ((tmp_path / "out" / name).read_text() for name in ("report.html", "report.md"))
    said = " ".join((tmp_path / "said.txt").read_text().split())
    assert [block.missing for block in open_asks.list_pressing(document)] == [
        "esxtop.vm",
        "esxi.vm",
    ]
    others = len(open_asks.list_folded(document))
    told = f"{others} more questions that these files cannot answer"
    assert others >= 6
    assert [text.count(told) for text in (note, said)] == [1, 1]
    assert page.count(f"<summary>{told}") == 1
    outside = page.partition('<section id="unknown"')[2].partition("<details")[0]
    assert outside.count("<li data-item") == 2
    assert "esxtop -b" in write_mail(document)
    assert "vmkernel.log" not in write_mail(document)


Told = Callable[[str], tuple[dict[str, Any], str, str, str]]


@pytest.fixture(scope="module")
def told_of(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """Give document, page, note and printed text of a sample case, triaged once."""

    @cache
    def triaged(name: str) -> tuple[str, str, str, str]:
        bundle, out = ROOT / "samples" / "cases" / name, tmp_path_factory.mktemp(name)
        done = CliRunner().invoke(
            main, ["triage", str(bundle), "-o", str(out), "--no-packs", "--all"]
        )
        document, page, note = (
            (out / file).read_text() for file in ("case.json", "report.html", "report.md")
        )
        return document, page, note, " ".join(done.output.split())

    def told(name: str) -> tuple[CaseDocument, str, str, str]:
        document, *texts = triaged(name)
        return case_file.parse_case(document, name), *texts

    return told


def test_a_finding_asks_for_what_would_settle_it_alone(told_of: Told) -> None:
    """A small bundle leaves dozens of questions: with a finding at hand the mail asks for what bears on it."""
    document, *_ = told_of("slow-storage")
    assert len(open_asks.list_questions(document)) > 60
    assert open_asks.list_offers(document) == []
    found = {one.rule for one in document.findings}
    bearing = {
        ask.what for group in document.cannot_tell if found & {*group.settles} for ask in group.asks
    }
    asked = {ask.what for ask in open_asks.list_wanted(document)}
    assert asked and asked <= bearing
    others = {ask.what for group in document.cannot_tell for ask in group.asks} - bearing
    mail = write_mail(document)
    assert len(others) > 10 and not [what for what in others if f" {what}\n" in mail]
    assert len(mail.splitlines()) < 20


def without_findings(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document of a case in which nothing was found."""
    groups = [structs.replace(group, settles=[]) for group in document.cannot_tell]
    return structs.replace(document, findings=[], cannot_tell=groups)


def test_without_a_finding_a_few_commands_answer_most(told_of: Told) -> None:
    """Nothing was found, and the bundle is complete: no second one is asked for, but the commands most rules need."""
    document = without_findings(told_of("slow-storage")[0])
    asked = [offer.ask.what for offer in open_asks.list_offers(document)]
    assert "esxtop -b -a -d 5 -n 120 > esxtop.csv" in asked and "vm-support" not in asked
    assert len(asked) <= open_asks.MOST_OFFERS
    hurt = without_findings(told_of("cut-bundle")[0])
    (bundle, *_) = open_asks.list_offers(hurt)
    assert (bundle.ask.what, bundle.ask.nodes) == ("vm-support", ["esx61.lab.example"])
    assert write_mail(hurt).count("\n   vm-support\n") == 1


@pytest.mark.parametrize("name", ["slow-storage", "cut-bundle", "nsx-633-site"])
def test_no_question_of_a_bundle_is_lost(name: str, told_of: Told) -> None:
    """What is not told one by one stands whole in the page and in case.json, each question once."""
    document, page, _, _ = told_of(name)
    blocks = [*open_asks.list_pressing(document), *open_asks.list_folded(document)]
    told = [block.missing for block in blocks]
    assert sorted(told) == sorted(
        {group.missing for group in document.cannot_tell if not group.muted}
    )
    section = page.partition('<section id="unknown"')[2].partition('<section id="quiet"')[0]
    heads = [(escape(block.heading), block.missing) for block in blocks]
    assert [
        section.count(f'<h3>{said} <span class="rule">{missing}<') for said, missing in heads
    ] == [1] * len(heads)
    rules = {rule for group in document.cannot_tell if not group.muted for rule in group.rules}
    assert {rule for block in open_asks.list_questions(document) for rule in block.rules} == rules


CATALOG_ROW = re.compile(r"\bkb\.\w|catalog: |facts/\S+\.(?:csv|toml)")


def known_to_the_customer(why: str, document: dict[str, Any]) -> bool:
    """Tell whether a reason names a file of the case, the command or file of a table, or says that the catalog lacks it."""
    if CATALOG_ROW.search(why):
        return False
    files = [source.address for source in document.sources]
    tables = [table for parser in parsing.registry().values() for table in parser.tables]
    return any(
        name in why
        for name in (
            "Backline's catalog has no ",
            *files,
            *(f"the archive of {node.name} " for node in document.nodes),
            *(table.words for table in tables if table.source and table.given is None),
        )
    )


@pytest.mark.size
@pytest.mark.parametrize(
    "name", sorted(path.name for path in (ROOT / "samples" / "cases").iterdir() if path.is_dir())
)
def test_every_reason_names_what_a_customer_knows(name: str, told_of: Told) -> None:
    """Why something cannot be told names a command or a file of the customer's; no heading is a name of the rule language."""
    document, *_ = told_of(name)
    reasons = {why for block in open_asks.list_questions(document) for why in block.why}
    assert reasons or name == "healthy-host"
    assert [why for why in reasons if not known_to_the_customer(why, document)] == []
    heads = [block.heading for block in open_asks.list_questions(document)]
    assert [head for head in heads if re.fullmatch(r"[a-z]\w*(\.\w+)+", head)] == []


def test_what_the_catalog_does_not_know_is_said_to_be_so(tmp_path: Path) -> None:
    """The date of a build that no source tells: the reason names the build and no table of the catalog, nothing is asked for."""
    version = "VMware ESXi 6.5.0 build-7526125\nVMware ESXi 6.5.0 Update 1\n"
    head = "Command line: vm-support\nBundle name: esx-synthetic\nCaptured on: 2023-05-02 09:14:00.000000\nOptions: {}\n"
    document = triage(
        [bundle(tmp_path, {"commands/vmware_-vl.txt": version, "README": head})]
    ).document
    (group,) = [one for one in document.cannot_tell if one.missing == "build.date"]
    assert (group.why, group.ask) == ("Backline's catalog has no date for build 7526125", "")
    (block,) = [
        block for block in open_asks.list_questions(document) if block.missing == "build.date"
    ]
    assert (block.title, block.reason) == ("", group.why)
    assert html.render_page(document).count(escape(group.why)) == 1  # as heading alone
    assert not known_to_the_customer(
        "build.date has no value at catalog: facts/esxi_build.csv:283", document
    )
    assert not known_to_the_customer("16 of 17 lines were not understood", document)


def test_a_case_with_few_questions_has_each_told(told_of: Told) -> None:
    """Up to six questions of a bundle are told one by one, and nothing is offered in their place."""
    document, _, _, _ = told_of("slow-storage")
    document.cannot_tell = document.cannot_tell[-open_asks.FEW :]
    assert open_asks.list_pressing(document) == open_asks.list_questions(document)
    assert open_asks.list_folded(document) == open_asks.list_offers(document) == []


def test_one_option_is_not_asked_for_beside_the_whole_list(told_of: Told) -> None:
    """Eight rules look at one advanced option each: the list that holds them all is asked for once."""
    document, _, _, _ = told_of("slow-storage")
    (asks,) = [
        block.asks
        for block in open_asks.list_questions(document)
        if block.missing == "esxi.advanced_option"
    ]
    assert [ask.what for ask in asks] == ["esxcli system settings advanced list -d"]
    told = {group.ask for group in document.cannot_tell if group.missing == "esxi.advanced_option"}
    assert len(told) > 5


def test_an_esxtop_file_asks_for_nothing_of_nsx(tmp_path: Path) -> None:
    """A loose capture: nothing of NSX in page, note, mail or terminal; its findings ask for two things, the rest is one line."""
    path = tmp_path / "esxtop.csv"
    path.write_bytes(
        (ROOT / "samples" / "esxtop" / "esxtop_csv" / "three_samples.csv").read_bytes()
    )
    document = _triaged(path, tmp_path)
    page, note = ((tmp_path / "out" / name).read_text() for name in ("report.html", "report.md"))
    section = page.partition('<section id="unknown"')[2].partition('<section id="quiet"')[0]
    for text in (section, note.partition("## Cannot tell")[2], write_mail(document)):
        hosts = r"\bnsxt?-[a-z][a-z-]+"  # ids of rules: some look at outputs of a host, which any host has
        assert "nsx" not in re.sub(hosts, "", text.lower())
    assert not [
        block.missing
        for block in open_asks.list_questions(document)
        if block.missing.startswith("nsx")
    ]
    others = len(open_asks.list_folded(document))
    assert others >= 7
    assert [block.missing for block in open_asks.list_pressing(document)] == [
        "esxi.vm",
        "esxi.vmxnet3_rx_summary",
    ]
    assert section.count(f"<summary>{others} more questions that these files cannot answer") == 1
    assert section.partition("<details")[0].count("<li data-item") == 2


def _rules_of_nsx() -> set[str]:
    return {
        path.stem
        for folder in ("nsx", "nsxt")
        for path in (ROOT / "analyzer" / "kb" / folder).glob("*.yaml")
    }


def test_a_host_without_nsx_is_asked_for_nothing_of_nsx(told_of: Told) -> None:
    """No rule about NSX has an open question on a bundle without NSX, also none over outputs and logs that any host has."""
    document, _, _, _ = told_of("healthy-host")
    open_rules = {rule for group in document.cannot_tell for rule in group.rules}
    assert open_rules and not open_rules & _rules_of_nsx()


@pytest.mark.parametrize(
    ("vib", "rules"),
    [
        ("esx-nsxv", {"nsx-netcpa-not-connected", "nsx-vtep-no-ip"}),
        ("nsx-esx-datapath", {"crc-errors-and-tunnel-flaps", "kb-438918"}),
    ],
)
def test_a_vib_of_nsx_opens_the_questions_of_its_product_alone(
    vib: str, rules: set[str], tmp_path: Path
) -> None:
    """The VIB tells that the host runs the product: its connections and its vmkernel.log are asked for then."""
    wide = len(vib)
    vibs = (
        f"{'Name':{wide}}  Version               Vendor     Acceptance Level    Install Date\n"
        f"{'-' * wide}  --------------------  ---------  ------------------  ------------\n"
        f"{vib}  6.4.6-0.0.13168956    VMware     VMwareCertified     2021-03-08  \n"
    )
    path = bundle(tmp_path, {"commands/localcli_software-vib-list.txt": vibs})
    document = triage([path], Options()).document
    open_rules = {rule for group in document.cannot_tell for rule in group.rules}
    assert rules <= open_rules
