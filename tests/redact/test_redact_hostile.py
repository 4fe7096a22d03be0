"""Names that are hard to tell from other words: of the product, of patterns, of pages, of one another."""

from __future__ import annotations

import base64
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.cli import main
from analyzer.redact import shapes as address_shapes
from analyzer.redact.redaction import Redaction
from analyzer.redact.shapes import AddressShapes
from tests.kit.case_factory import rich_case
from tests.kit.every_form import render_forms
from tests.kit.redaction_check import left

ODD = [
    "<b>evil</b>&co",
    "x.*+(y)[z]",
    "m\u00fcnchen-dc",
    "esx01-db",
    "esx01-db2",
    'it\'s "quoted"',
    "C:\\ledger",
    "\u65e5\u672c\u30b5\u30fc\u30d0",
    "host01anon",
    "vm02anon",
]
WORDS = ["root", "vmnic0", "error", "a", "10", "server", "100%", "sha256", "script"]


def transcript() -> str:
    """What a host prints of its VMs (a synthetic session); it logs words that some of them are called."""
    lines = ["[root@esx01:~] esxcli vm process list"]
    for number, name in enumerate([*ODD, *WORDS]):
        lines += [
            name, f"   World ID: {1000 + number}", "   Process ID: 0", f"   VMX Cartel ID: {2000 + number}",
            f"   UUID: 56 4d 12 ab 00 00 00 {number:02x}-00 11 22 33 44 55 66 77", f"   Display Name: {name}",
            f"   Config File: /vmfs/volumes/gold one/{name}/{name}.vmx", "",
        ]  # fmt: skip
    lines += [
        "[root@esx01:~] net-stats -l",
        "PortNum          Type SubType SwitchName       MACAddress         ClientName",
    ]
    for number, name in enumerate([*ODD, *WORDS]):
        lines.append(
            f"{33554440 + number}            5       9 vSwitch0         00:50:56:aa:00:{number:02x}  {name}.eth0"
        )
    lines += ["[root@esx01:~] tail /var/log/vmkernel.log"]
    lines += [
        "2021-03-01T04:19:08.775Z cpu25:33994)ALERT: hostd detected to be non-responsive: error 10 of a root server",
        "2021-03-01T04:10:10.775Z cpu25:33994)ALERT: hostd detected to be non-responsive: at 04:10:10",
        f"2021-03-01T04:19:09.775Z cpu25:33994)ALERT: Bootbank cannot be found at path '/vmfs/volumes/gold one/{ODD[2]}/x'",
    ]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The document of the transcript, redacted, and the folder of its results."""
    base = tmp_path_factory.mktemp("hostile")
    (base / "t.txt").write_text(transcript(), encoding="utf-8")
    words = ["triage", str(base / "t.txt"), "-o", str(base / "out"), "--quiet", "--redact"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    return json.loads((base / "out" / "case.json").read_text(encoding="utf-8")), base / "out"


def test_every_vm_has_a_pseudonym_of_its_own(hostile: tuple[dict[str, Any], Path]) -> None:
    """Whatever a VM is called, its ports name a pseudonym, each another, and none is the name of a real VM."""
    document, _ = hostile
    shown = [port["vm"] for port in document["topology"]]
    assert len(shown) == len({name.lower() for name in shown}) == len(ODD) + len(WORDS)
    assert all(re.fullmatch(r"(?i)vm\d\d+anon", name) for name in shown)
    assert not {*shown} & {*ODD, *WORDS}


def test_names_with_signs_and_letters_of_any_kind_are_gone(
    hostile: tuple[dict[str, Any], Path],
) -> None:
    """HTML, regex, quotes, other scripts, a name inside another name: none is left in a result."""
    _, folder = hostile
    assert (
        left(
            folder,
            [name for name in ODD if name not in ("host01anon", "vm02anon")]
            + ["esx01", "gold one"],
        )
        == []
    )
    text = (folder / "case.json").read_text(encoding="utf-8")
    assert '"host01anon"' not in text and '"vm02anon"' not in text


@pytest.mark.size
def test_names_that_are_words_are_told(
    hostile: tuple[dict[str, Any], Path], tmp_path: Path
) -> None:
    """The map lists the names that running text keeps, with why; the command says how many, not which."""
    _, folder = hostile
    kept = json.loads((folder.parent / "out.redact-map.json").read_text(encoding="utf-8"))
    (listed,) = (value for key, value in kept.items() if "left in running text" in key)
    assert {"error": "vm", "server": "vm", "10": "vm", "a": "vm"}.items() <= listed.items()
    assert not {"esx01-db", "x.*+(y)[z]"} & listed.keys()
    done = CliRunner().invoke(
        main, ["triage", str(folder.parent / "t.txt"), "-o", str(tmp_path / "out"), "--redact"]
    )
    told = f"{len(listed)} names are words or numbers, and left in running text; the map lists them"
    assert told in done.output
    shown = [
        "show",
        str(tmp_path / "plain" / "case.json"),
        "--redact",
        "--redact-map",
        str(tmp_path / "map.json"),
    ]
    CliRunner().invoke(
        main, ["triage", str(folder.parent / "t.txt"), "-o", str(tmp_path / "plain"), "--quiet"]
    )
    assert (
        "names are words or numbers, and left in running text"
        in CliRunner().invoke(main, shown).stderr
    )


def test_words_of_a_log_stay_where_they_are_no_names(hostile: tuple[dict[str, Any], Path]) -> None:
    """A VM called error, 10, a, root or server changes no log line that uses the word, and no number."""
    document, folder = hostile
    assert "hostd detected to be non-responsive: error 10 of a root server" in json.dumps(document)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "<script" in page and "script-src &#39;sha256-" in page
    paths = set(re.findall(r"/vmfs/volumes/[^/\"]+/[^/\"]+/[^\"]+\.vmx", json.dumps(document)))
    found = [
        re.fullmatch(r"(?i)/vmfs/volumes/(datastore\d+anon)/(vm\d+anon)/\2\.vmx", path)
        for path in paths
    ]
    assert len({one[1] if one else "" for one in found}) == 1 and all(found), paths
    spots = re.findall(
        r"\b(?:error|server|root|script)(?:\.eth\d|, network adapter)", page + json.dumps(document)
    )
    assert spots == []
    for word in ("error", "server", "root"):
        assert f'/{word}"' not in json.dumps(document), "the id of a finding"


SECRETS = {
    "hash": "$6$Qx9z8Y7w$abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrst",
    "licence": "MH0J2-4K1E5-L8Z88-0A9U4-AMKL3",
    "community": "s3cr3tComm77",
    "session": "52f1c0de-9a7b-8c6d-5e4f-0123456789ab",
    "token": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0In0.sIgNaTuReXyZ123456",
    "key": "MIIEowIBAAKCAQEAu1SU1LfVLPHCozMxH2Mo4lgOEePzNm0tRgeLezV6ffAt0gunVTLw",
}


def test_six_kinds_of_secrets_are_gone_redacted_or_not(tmp_path: Path) -> None:
    """Lines that findings show beside a hash, a key, a licence, a community, a session and a token show none of them."""
    head = "cpu25:33994)ALERT: hostd detected to be non-responsive"
    tails = [
        f"root:{SECRETS['hash']}:18000:0:99999:7:::", f"license key: {SECRETS['licence']}", f"snmp community {SECRETS['community']}",
        f'vmware_soap_session="{SECRETS["session"]}"', f"Authorization: Bearer {SECRETS['token']}",
    ]  # fmt: skip
    lines = [f"2021-03-01T04:1{number}:08.775Z {head}: {tail}" for number, tail in enumerate(tails)]
    lines += [
        f"2021-03-01T04:19:08.775Z {head}",
        "-----BEGIN RSA PRIVATE KEY-----",
        SECRETS["key"],
        "-----END RSA PRIVATE KEY-----",
    ]
    (tmp_path / "t.txt").write_text(
        "\n".join(["[root@esx01:~] cat /var/log/vmkernel.log", *lines, ""]), encoding="utf-8"
    )
    for folder, words in (("plain", ()), ("redacted", ("--redact",))):
        done = CliRunner().invoke(
            main,
            ["triage", str(tmp_path / "t.txt"), "-o", str(tmp_path / folder), "--quiet", *words],
        )
        assert done.exit_code == 0, done.output
        assert "*****" in (tmp_path / folder / "case.json").read_text(encoding="utf-8")
        assert left(tmp_path / folder, list(SECRETS.values())) == []


def test_addresses_and_hosts_that_only_lines_tell_are_gone(tmp_path: Path) -> None:
    """An address, a MAC address, a host called like a word and a user of a log line are in no table, and are replaced."""
    head = "2021-03-01T04:1{}:08.775Z cpu25:33994)ALERT: hostd detected to be non-responsive: "
    tails = [
        "duplicate of 10.1.1.7 at 00:50:56:12:34:56", 'The host "loghost.acme-intern.com" has become unreachable',
        "user=ACMECORP\\jdoeson2 from 10.1.1.9", "peer 2a01:4f8:12:34::57 of iqn.1998-01.com.vmware:esx-prod-3f2a1b",
        "ticket 20211234567, mail j.doeson@acme-intern.com", "driver version 1.4.28.7",
        "ARP of 00:50:56:12:34:57: twice, mac:00:50:56:12:34:58, 0050.5612.3459.", "peer 2a01:4f8:12:35::58: reset, ip:2a01:4f8:12:36::59",
        "for acme%2Dintern, ACME_INTERN and " + base64.b64encode(b"host loghost.acme-intern.com").decode(), "\\\\fileserver9\\share",
        "CN=web.acme-intern.com,O=Acme Holding AG,C=DE", "fc.5006016013a01234:5006016033a01235", "/home/kblack/x",
        "2a01:04f8:0012:0034:0000:0000:0000:0057 is ::ffff:10.1.1.11", "port 20:00:00:25:b5:12:34:5a: down, log_10.1.1.12.gz",
    ]  # fmt: skip
    lines = [head.format(f"{number:02}"[-1]) + tail for number, tail in enumerate(tails)]
    (tmp_path / "t.txt").write_text(
        "\n".join(["[root@esx01:~] cat /var/log/vmkernel.log", *lines, ""]), encoding="utf-8"
    )
    done = CliRunner().invoke(
        main,
        ["triage", str(tmp_path / "t.txt"), "-o", str(tmp_path / "out"), "--quiet", "--redact"],
    )
    assert done.exit_code == 0, done.output
    names = ["10.1.1.7", "10.1.1.9", "00:50:56:12:34:56", "loghost.acme-intern.com", "acme-intern", "jdoeson", "ACMECORP", "2a01:4f8",
             "2a01:04f8", "00:50:56:12:34:57", "00:50:56:12:34:58", "0050.5612.3459", "10.1.1.11", "10.1.1.12", "b5:12:34:5a", "acme%2d", "acme%nd", "acme_i", "YWNtZS",
             "Acme Holding", "fileserver9", "16013a01234", "16033a01235", "kblack", "esx-prod-3f2a1b", "20211234567"]  # fmt: skip
    text = (tmp_path / "out" / "case.json").read_text(encoding="utf-8")
    assert [name for name in names if name.lower() in text.lower()] == []
    assert left(tmp_path / "out", [name for name in names if not name.startswith("loghost")]) == []
    assert "1.4.28.7" in text


def test_times_and_numbers_stay_where_vms_are_called_by_numbers(
    hostile: tuple[dict[str, Any], Path],
) -> None:
    """A VM called 10 changes no time, no counter and no quoted value; every time of the document still is one."""
    document, folder = hostile
    text = (folder / "case.json").read_text(encoding="utf-8")
    assert not re.findall(r"\d:vm-|vm-\d+:\d\d|\dT\d\d:vm", text)
    stamp = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
    assert all(stamp.fullmatch(event["time"]) for event in document["timeline"])
    assert "2021-03-01T04:10:10.775Z" in text


def test_an_id_of_another_length_costs_nothing_behind_it() -> None:
    """Ids of several lengths in one case: what stands behind the shorter one stays, also at the end of a run of digits."""
    long, short = "60060164cea8b38defdf50f8aabbccdd", "60060164cea8b38defdf50f7"
    shapes = AddressShapes(lambda _kind, name: "f" * len(name))
    for name in (long, short):
        shapes.take_name("device", name)
    spans = [(one.start, one.end) for one in shapes.find_shaped(f"naa.{short} h:0x0 d:0x2, {long}")]
    assert spans == [(4, 28), (42, 74)]


def test_runs_of_digits_hold_all_that_a_whole_text_shows() -> None:
    """Addresses are sought in runs of their signs alone; each that the whole text shows lies in one, and is the same there."""
    signs = random.Random(7)
    for _ in range(150):
        text = "".join(signs.choice("0123afex:::.. _-\0zg") for _ in range(80))
        text += signs.choice(
            ("", "a::1", "0x0a4d0315", "foo::bar", "00:50:56:9a:cc:06", "x 0a14 60060164-cea8b38d")
        )
        runs = address_shapes._SPOT_OF_COLONS if "::" in text else address_shapes._SPOT
        spans = [one.span() for one in runs.finditer(text)]
        for shape in address_shapes.SHAPE.finditer(text):
            (span,) = [one for one in spans if one[0] <= shape.start() < one[1]]
            found = address_shapes.SHAPE.search(text, shape.start(), span[1] + 1)
            assert found and found.span() == shape.span(), (text, shape)


def test_a_name_without_its_digits_is_not_found_in_a_column_of_the_product() -> None:
    """`edge_N`, as a kind of line shows edge-1, is a part of `edge_name`: no name is left where a finding has that column."""
    document = rich_case()
    document.nodes[0].name = document.findings[0].node = "edge-1"
    document.findings[0].values = {"e.edge_name": "edge-1"}
    document.findings[0].say = "edge-1 and edge_N"
    redaction = Redaction()
    made = redaction.redact_document(document)
    assert "edge_name" in "".join(made.findings[0].values)
    assert "edge" not in made.findings[0].say
    redaction.check_results(render_forms(made))


def test_a_name_with_bytes_that_are_no_text_has_a_pseudonym() -> None:
    """A name is taken as documents write it, with `\\xNN` for a byte that is no text, and is gone from all results."""
    document = rich_case()
    document.nodes[0].name = "esx\\xc301"
    document.findings[0].say = "esx\\xc301 is ill"
    redaction = Redaction()
    redaction.begin_taking().take_cell("vm", "esx\udcc301")
    made = redaction.redact_document(document)
    assert "xc301" not in made.findings[0].say
    redaction.check_results(render_forms(made))
