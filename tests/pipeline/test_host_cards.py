"""Each ESXi host of a case has a card: what it is, from the tables of the case.

All outputs here are synthetic; their forms are those of the parsers.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec import to_builtins

from analyzer.artefacts import parsing
from analyzer.case import case_file
from analyzer.cli import main
from analyzer.pipeline.host_card_rows import ROWS
from analyzer.pipeline.host_cards import COLUMN, fill_cell
from analyzer.report import html

TOP = "esx-esx0.lab.example-2017-10-14--16.53-71234"
FILES = {
    "commands/localcli_hardware-platform-get.txt": """Platform Information:
   UUID: 0x4c 0x4c 0x45 0x44 0x0 0x54 0x33 0x10
   Product Name: Synthetic R000
   Vendor Name: Synth <b>Inc.</b>
   Serial Number: SYN7H3T1C
   Enclosure Serial Number: SYN7H3T1C
   BIOS Asset Tag:
   IPMI Supported: true
""",
    "commands/vmware_-vl.txt": "VMware ESXi 6.5.0 build-5969303\nVMware ESXi 6.5.0 Update 1\n",
    "commands/localcli_system-stats-uptime-get.txt": "345600000000\n",
    "commands/localcli_storage-filesystem-list.txt": """\
Mount Point                                        Volume Name  UUID                                 Mounted  Type            Size          Free
-------------------------------------------------  -----------  -----------------------------------  -------  ------  ------------  ------------
/vmfs/volumes/59d0a1b2-1a2b3c4d-5e6f-001122334455  synth-ds10   59d0a1b2-1a2b3c4d-5e6f-001122334455     true  VMFS-6  549755813888  109951162778
/vmfs/volumes/59d0a1b2-1a2b3c4d-5e6f-001122334456  synth-ds9    59d0a1b2-1a2b3c4d-5e6f-001122334456     true  VMFS-6  549755813888  109951162778
/vmfs/volumes/a1b2c3d4-e5f60718-293a-4b5c6d7e8f90               a1b2c3d4-e5f60718-293a-4b5c6d7e8f90     true  vfat       261853184     107376640
""",
    "commands/localcli_storage-core-adapter-list.txt": """\
HBA Name  Driver  Link State  UID                     Capabilities  Description
--------  ------  ----------  ----------------------  ------------  ----------------------------------------------
""",
    "commands/localcli_system-settings-kernel-list.txt": """\
Name          Type    Configured  Runtime  Default  Description
------------  ------  ----------  -------  -------  -----------------------------------------
iovDisableIR  Bool    TRUE        false    FALSE    (synthetic)
maxVmknics    Uint16  256         256      256      (synthetic)
""",
    "commands/localcli_hardware-cpu-global-get.txt": """\
   CPU Packages: 2
   CPU Cores: 24
   CPU Threads: 48
   Hyperthreading Active: false
   Hyperthreading Supported: true
   Hyperthreading Enabled: true
   HV Support: 3
""",
    "commands/localcli_system-syslog-config-get.txt": """\
   Local Log Output: /scratch/log
   Local Log Output Is Configured: false
   Local Log Output Is Persistent: false
""",
    "commands/ntpq_-p.txt": """\
     remote           refid      st t when poll reach   delay   offset  jitter
==============================================================================
 192.0.2.5       .INIT.          16 u    - 1024    0    0.000    0.000   0.000
*192.0.2.6       .GPS.            1 u  412 1024  377    0.412   -0.113   0.052
""",
    "var/run/log/vobd.log": "".join(
        f"2017-10-{day:02}T08:00:00.000Z: [GenericCorrelator] 91us: [esx.audit.host.boot] Host has booted.\n"
        for day in (1, 5, 10)
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the case of a bundle with some command files and a log."""
    folder = tmp_path_factory.mktemp("card")
    for name, text in FILES.items():
        path = folder / "case" / TOP / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    command = [
        "triage",
        str(folder / "case"),
        "-o",
        str(folder / "out"),
        "--no-settings",
        "--no-packs",
    ]
    done = CliRunner().invoke(main, command)
    assert done.exit_code in (0, 1), done.output
    return case_file.read_case(folder / "out" / "case.json")


def rows(doc: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the rows of the only card by their titles."""
    (card,) = doc.hosts
    return {row.title: row for row in card.rows}


def test_the_card_tells_the_release_and_how_old_it_was(document: dict[str, Any]) -> None:
    """Build 5969303 was released on 2017-07-27; the bundle was made 79 days later."""
    (item,) = rows(document)["Release"].items

    assert (
        item.text
        == "ESXi 6.5.0 build 5969303, ESXi 6.5 U1, released 2017-07-27, 79 days before the capture"
    )


def test_the_card_tells_uptime_and_the_last_boots_newest_first(document: dict[str, Any]) -> None:
    """Four days of uptime, and three boots that vobd tells of."""
    texts = [item.text for item in rows(document)["Uptime and boots"].items]

    assert texts[0] == "up 4.0 days, since 2017-10-10 16:53 UTC"
    assert texts[1:] == [f"booted 2017-10-{day} 08:00 UTC" for day in ("10", "05", "01")]


def test_the_card_tells_where_the_logs_go(document: dict[str, Any]) -> None:
    """The folder of the logs, and that it is lost at a boot, come from the settings of syslog, not from its log."""
    texts = [item.text for item in rows(document)["Logs"].items]

    assert "/scratch/log" in texts[0] and "lost at a boot" in texts[0]


def test_the_card_tells_which_time_server_the_clock_follows(document: dict[str, Any]) -> None:
    """A bundle holds `ntpq -p` where it does not hold `esxcli system ntp get`; servers that are silent are left out."""
    texts = [item.text for item in rows(document)["Time"].items]

    assert texts == ["follows 192.0.2.6, offset -0.113 ms"]


def test_only_the_end_of_a_serial_number_is_told(document: dict[str, Any]) -> None:
    """The number of the machine is the customer's; its end tells two machines apart."""
    (item,) = rows(document)["Hardware"].items

    assert item.text == "Synth <b>Inc.</b>, Synthetic R000, serial …3T1C"
    assert item.address.endswith("/localcli_hardware-platform-get.txt")
    assert item.line > 0
    assert "SYN7H3T1C" not in json.dumps(document.hosts)


def test_datastores_are_told_with_their_space_in_the_order_of_their_numbers(
    document: dict[str, Any],
) -> None:
    """The boot bank is no datastore, and synth-ds9 comes before synth-ds10."""
    items = [(item.name, item.text) for item in rows(document)["Datastores"].items]

    space = "VMFS-6, 102.4 GB free of 512.0 GB"
    assert items == [("synth-ds9", space), ("synth-ds10", space)]


def test_a_boot_option_that_differs_at_the_next_boot_is_told(document: dict[str, Any]) -> None:
    """iovDisableIR runs as its default and changes with the next boot; maxVmknics differs nowhere."""
    items = [
        (item.name, item.text) for item in rows(document)["Boot options changed from default"].items
    ]

    assert items == [("iovDisableIR", "runs false, next boot TRUE, default FALSE")]


def test_processors_are_told_with_their_units(document: dict[str, Any]) -> None:
    """Numbers have the units that their columns declare."""
    (item,) = rows(document)["Processors"].items

    assert item.text == "2 sockets, 24 cores, 48 threads, no hyperthreading"


def test_a_missing_table_says_what_would_fill_its_row(document: dict[str, Any]) -> None:
    """Nothing was sent of the memory: the row names the command. A list that is empty asks for nothing."""
    found = rows(document)

    assert (found["Memory"].items, found["Memory"].missing) == (
        [],
        ["`esxcli hardware memory get`"],
    )
    page = html.render_page(document)
    assert re.search(r"Unknown or incomplete: [^<]*\bMemory\b", page)
    assert "<code>esxcli hardware memory get</code>" in page


def test_the_page_shows_the_card_and_escapes_it(document: dict[str, Any]) -> None:
    """A vendor's name with markup stays text."""
    page = html.render_page(document)

    assert "The host at a glance" in page
    assert "Synth &lt;b&gt;Inc.&lt;/b&gt;" in page
    assert "<b>Inc.</b>" not in page


def test_a_document_of_an_earlier_version_is_read(document: dict[str, Any]) -> None:
    """A case.json that knows no cards gives its report."""
    old = {key: value for key, value in to_builtins(document).items() if key != "hosts"}
    read = case_file.parse_case(json.dumps(old), "old")

    assert read.hosts == []
    assert "at a glance" not in html.render_page(read)


def test_every_table_and_column_of_the_card_is_declared() -> None:
    """A row that names a table or a column nobody fills would never be told."""
    tables = parsing.tables()
    for row in ROWS:
        for part in row.parts:
            names = {column.name for column in tables[part.table].columns}
            assert not row.by or row.by in names, (row.title, part.table)
            values = dict.fromkeys(names, 1)
            assert all(
                fill_cell(text, values, tables[part.table])
                for text in part.cells
                if "|" not in text
            ), row.title
            used = {name for text in part.cells for name in COLUMN.findall(text)}
            assert {name for name, _ in used} <= names, (row.title, part.table)


def test_what_a_bundle_holds_by_itself_fills_the_card(tmp_path: Path) -> None:
    """Machine, processors and memory come from esxcfg-info, time servers and the place of logs from files of settings."""
    files = {
        "README": f"Bundle name: {TOP}\n",
        "commands/vmware_-vl.txt": FILES["commands/vmware_-vl.txt"],
        "commands/esxcfg-info_-a.txt": """\
   \\==+Hardware Info :
      |----Product Name.............................................Synthetic R000
      |----Vendor Name..............................................Synth Inc.
      \\==+CPU Info :
         |----Num Packages..........................................2
         |----Num Cores.............................................24
         |----Num Threads...........................................48
         |----Hyperthreading Active.................................true
      \\==+Memory Info :
         |----Physical Mem..........................................137438953472 bytes
""",
        "etc/ntp.conf": "driftfile /etc/ntp.drift\nserver 192.0.2.5\nserver 192.0.2.6\n",
        "etc/vmsyslog.conf": "[vmsyslog-global]\nloghost = udp://192.0.2.9:514\nlogdir = /scratch/log\nrotate = 8\n",
    }
    for name, text in files.items():
        (tmp_path / TOP / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / TOP / name).write_text(text, encoding="utf-8")
    done = CliRunner().invoke(
        main, ["triage", str(tmp_path / TOP), "-o", str(tmp_path / "out"), "--no-settings"]
    )
    assert done.exit_code == 0, done.output
    card = rows(json.loads((tmp_path / "out" / "case.json").read_text(encoding="utf-8")))

    said = {title: [one["text"] for one in card[title]["items"]] for title in card}
    assert said["Hardware"] == ["Synth Inc., Synthetic R000"]
    assert said["Processors"] == ["2 sockets, 24 cores, 48 threads"]
    assert said["Memory"] == ["128.0 GB"]
    assert said["Time"] == ["asks 192.0.2.5; asks 192.0.2.6"]
    assert said["Logs"] == ["loghost udp://192.0.2.9:514; logdir /scratch/log"]


def test_services_that_a_paste_tells_of_stand_on_the_card(tmp_path: Path) -> None:
    """What the start scripts of a host say is a row of its own, each service with its state."""
    paste = tmp_path / "paste.txt"
    paste.write_text(
        "[root@esx1:~] /etc/init.d/ntpd status\nntpd is not running\n[root@esx1:~] /etc/init.d/hostd status\nhostd is running.\n"
    )
    command = ["triage", str(paste), "-o", str(tmp_path / "out"), "--no-settings", "--no-packs"]
    assert CliRunner().invoke(main, command).exit_code == 0
    items = rows(case_file.read_case(tmp_path / "out" / "case.json"))["Services"].items
    assert [(one.name, one.text) for one in items] == [
        ("hostd", "runs"),
        ("ntpd", "does not run"),
    ]
