"""Outputs of a host that no rule asks for yet, read through `backline tables`. All texts here are made up."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from analyzer.cli import main
from tests.kit.sample_kit import SAMPLES
from tests.samples.test_esxi_forms import not_understood, rows


def test_csv_of_esxcli_gives_the_rows_of_its_text(tmp_path: Path) -> None:
    """`esxcli --formatter=csv` has labels without blanks in another order and a comma at each end; rows are the same."""
    text = (
        "[root@esx0:~] esxcli system module list\n"
        "Name      Is Loaded  Is Enabled\n--------  ---------  ----------\n"
        "vmkernel       true        true\nixgben         true       false\n[root@esx0:~] \n"
    )
    csv = (
        "[root@esx0:~] esxcli --formatter=csv system module list\n"
        "IsEnabled,IsLoaded,Name,\ntrue,true,vmkernel,\nfalse,true,ixgben,\n[root@esx0:~] \n"
    )

    found = [
        rows(tmp_path, name, one, "esxi.module") for name, one in (("a.txt", text), ("b.txt", csv))
    ]

    told = [
        [{key: cell for key, cell in row.items() if not key.startswith("_")} for row in one]
        for one in found
    ]
    assert told[0] == told[1]
    assert [(row["module"], row["loaded"], row["enabled"], row["_line"]) for row in found[1]] == [
        ("vmkernel", True, True, 3),
        ("ixgben", True, False, 4),
    ]


def test_csv_of_a_block_is_read_from_its_heading_and_a_short_row_is_counted(tmp_path: Path) -> None:
    """A row with fewer cells than the heading is no row: it is counted, and those around it are kept."""
    text = (
        "[root@esx0:~] esxcli --formatter=csv vm process list\n"
        "ConfigFile,DisplayName,ProcessID,UUID,VMXCartelID,WorldID,\n"
        '/vmfs/volumes/ds1/a/a.vmx,"a, old",0,,11,12,\n/vmfs/volumes/ds1/b/b.vmx,b,\n'
        "/vmfs/volumes/ds1/c/c.vmx,c,0,,31,32,\n[root@esx0:~] \n"
    )

    found = rows(tmp_path, "vms.txt", text, "esxi.vm_process")

    assert [(row["vm_name"], row["vm_world_id"]) for row in found] == [("a, old", 12), ("c", 32)]
    assert not_understood(tmp_path, "vms.txt", text) == 1


def test_a_row_of_csv_may_begin_with_an_empty_cell(tmp_path: Path) -> None:
    """esxcli sorts the columns by name: a device has no attached filters, so its row begins with a comma."""
    text = (
        "[root@esx0:~] esxcli --formatter=csv storage core device list\n"
        "AttachedFilters,Device,DisplayName,IsLocal,Model,Size,Status,Vendor,\n"
        ",naa.600508b1001c0000000000000000000a,Local Disk (naa.600508b1001c0000000000000000000a),true,DISK1,2048,on,ATA,\n"
        "[root@esx0:~] \n"
    )

    found = rows(tmp_path, "devices.txt", text, "esxi.scsi_device")

    assert [(row["size_mb"], row["model"], row["_line"]) for row in found] == [(2048, "DISK1", 3)]
    assert not_understood(tmp_path, "devices.txt", text) == 0


def test_a_vm_may_have_any_name(tmp_path: Path) -> None:
    """The line above a block of `vm process list` may look like a label or like a sentence; it costs no row."""
    names = ["web 01 (old)", "db[2]: test", "Please: do not touch.", "World"]
    blocks = "\n".join(
        f"{name}\n   World ID: {number}\n   Process ID: 0\n   VMX Cartel ID: {number - 1}\n   UUID: 56 4d\n"
        f"   Display Name: {name}\n   Config File: /vmfs/volumes/ds1/{number}.vmx\n"
        for number, name in enumerate(names, 2101442)
    )
    text = f"[root@esx0:~] esxcli vm process list\n{blocks}\n[root@esx0:~] \n"

    found = rows(tmp_path, "vms.txt", text, "esxi.vm_process")

    assert [(row["vm_name"], row["vm_world_id"]) for row in found] == [
        (name, number) for number, name in enumerate(names, 2101442)
    ]
    assert not_understood(tmp_path, "vms.txt", text) == 0


def test_a_host_without_a_dump_target_says_so(tmp_path: Path) -> None:
    """Two empty labels are a fact: the host has no active target; without the output there is no row at all."""
    text = "[root@esx0:~] esxcli system coredump partition get\n   Active: \n   Configured: \n[root@esx0:~] \n"

    (found,) = rows(tmp_path, "dump.txt", text, "esxi.coredump_partition_target")

    assert found["has_dump"] is False
    assert (
        rows(tmp_path, "none.txt", "[root@esx0:~] date\n", "esxi.coredump_partition_target") == []
    )


def test_a_profile_that_waits_for_the_next_boot_states_no_version(tmp_path: Path) -> None:
    """The image of the next boot is not what the host runs: it fills no row of esxi.version."""
    text = (
        "[root@esx0:~] esxcli software profile get --rebooting-image\nESXi-6.7.0-8169922-standard\n"
        "   Name: ESXi-6.7.0-8169922-standard\n   Vendor: VMware, Inc.\n[root@esx0:~] \n"
    )

    (found,) = rows(tmp_path, "next.txt", text, "esxi.image_profile")

    assert (found["image"], found["profile"]) == ("next boot", "ESXi-6.7.0-8169922-standard")
    assert rows(tmp_path, "next.txt", text, "esxi.version") == []


def test_a_dump_of_vsish_that_no_parser_knows_gives_its_values(tmp_path: Path) -> None:
    """Path, key and value of an unknown node are rows; a node that has its own table fills that one alone."""
    unknown = "[root@esx0:~] vsish -e get /vmkModules/x/y\nSome info {\n   a:1\n   b:inner {\n      c:0x10\n   }\n}\n"

    found = rows(tmp_path, "unknown.txt", unknown, "esxi.vsish_value")

    assert [(row["vsish_path"], row["vsish_key"], row["vsish_number"]) for row in found] == [
        ("/vmkModules/x/y", "a", 1),
        ("/vmkModules/x/y", "b/c", 16),
    ]
    known = "[root@esx0:~] vsish -e get /config/Net/intOpts/CoalesceTxTimeout\nVmkernel Config Option {\n"
    known += "   Default value:1000\n   Min value:1\n   Max value:9\n   Current value:4000\n}\n"
    assert rows(tmp_path, "known.txt", known, "esxi.vsish_value") == []
    assert rows(tmp_path, "known.txt", known, "esxi.advanced_option")


def test_labels_that_nobody_confirmed_are_rows_as_printed(tmp_path: Path) -> None:
    """An output without a table of its own gives a row a label, with the object above it."""
    text = (
        "[root@esx0:~] esxcli network vswitch dvs vmware lacp status get\n"
        "DVSwitch\n   LAG Name: lag1\n   Uplink:\n      Name: vmnic1\n      State: Bundled\n[root@esx0:~] \n"
    )

    found = rows(tmp_path, "lacp.txt", text, "esxi.command_value")

    assert [(row["of_object"], row["label"], row["cell_text"]) for row in found] == [
        ("DVSwitch", "LAG Name", "lag1"),
        ("DVSwitch", "Uplink/Name", "vmnic1"),
        ("DVSwitch", "Uplink/State", "Bundled"),
    ]


def test_a_certificate_of_a_bundle_tells_when_it_expires_and_a_key_is_not_read(
    tmp_path: Path,
) -> None:
    """`rui.crt` gives owner, issuer and validity; a private key beside it is in no table and in no output."""
    pem = (SAMPLES / "esxi" / "system" / "certificates" / "plain.txt").read_text(encoding="utf-8")
    key = "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49\n-----END PRIVATE KEY-----\n"
    top = tmp_path / "esx-esx0.lab-2018-05-02--09.14-2098114"
    members = {"rui.crt": pem, "rui.key": key, "README": ""}
    for name, text in members.items():
        place = top / ("etc/vmware/ssl" if name != "README" else "") / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")

    done = CliRunner().invoke(main, ["tables", str(top), "esxi.certificate", "--json"])

    assert done.exit_code == 0, done.output
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["subject_name"], row["valid_until"]) for row in found] == [
        ("esx0.lab", "2023-04-04 10:00:01"),
        ("CA of the lab", "2055-04-04 10:00:01"),
    ]
    assert "MIGHAgEAMBMGByqGSM49" not in done.output


def test_the_time_daemon_tells_how_far_off_the_clock_is(tmp_path: Path) -> None:
    """`ntpq -p` names the server that is followed and how many polls were answered; `readvar` the offset."""
    peers = (
        "[root@esx0:~] ntpq -p\n"
        "     remote           refid      st t when poll reach   delay   offset  jitter\n"
        + "="
        * 78
        + "\n"
        "*ntp1.lab        .PPS.            1 u  112  128  377    4.478   -5.543  10.003\n"
        "xtp2.lab         .PPS.            1 u  112  128    1    4.478   -5.543  10.003\n"
        " ntp3.lab        .INIT.          16 u    -   64    0    0.000    0.000   0.000\n[root@esx0:~] \n"
    )
    variables = (
        "[root@esx0:~] ntpq -c readvar\nassocid=0 status=0615 leap_none, sync_ntp, 1 event, clock_sync,\n"
        "leap=00, stratum=2, offset=-75.166, frequency=-10.953\n[root@esx0:~] \n"
    )

    found = rows(tmp_path, "ntp.txt", peers, "esxi.ntp_peer")

    assert [
        (row["ntp_server"], row.get("ntp_tally"), row["ntp_followed"], row["ntp_answered"])
        for row in found
    ] == [
        ("ntp1.lab", "*", True, 8),
        ("tp2.lab", "x", False, 1),
        ("ntp3.lab", None, False, 0),
    ]
    offset = [
        row
        for row in rows(tmp_path, "vars.txt", variables, "esxi.ntp_variable")
        if row["ntp_name"] == "offset"
    ]
    assert [row["ntp_number"] for row in offset] == [-75.166]


def test_what_a_guest_prints_is_no_fact_of_a_host(tmp_path: Path) -> None:
    """`date`, `df`, `lspci`, `ntpq` and configuration files of a Linux machine fill no table of ESXi."""
    text = (
        "root@web01:~# ntpq -p\n     remote           refid      st t when poll reach   delay   offset  jitter\n"
        + "=" * 78
        + "\n*ntp1.lab        .PPS.            1 u  112  128  377    4.478   -5.543  10.003\n"
        "root@web01:~# df -h\nFilesystem      Size  Used Avail Use% Mounted on\n/dev/sda1        20G  5.7G   13G  31% /\n"
        "root@web01:~# date\nWed May  2 09:14:02 UTC 2018\n"
        "root@web01:~# lspci\n00:00.0 Host bridge: Acme Corporation 440BX\n"
        "root@web01:~# cat /etc/ntp.conf\nserver ntp1.lab\n"
        "root@web01:~# openssl x509 -in a.crt -text\n        Not After : Apr  4 10:00:01 2023 GMT\nroot@web01:~# \n"
    )
    tables = ("ntp_peer", "df", "clock", "pci_name", "config_line", "certificate")

    guest = [rows(tmp_path, "guest.txt", text, f"esxi.{table}") for table in tables]
    host = [
        rows(tmp_path, "host.txt", text.replace("root@web01:~#", "[root@esx0:~]"), f"esxi.{t}")
        for t in tables
    ]

    assert guest == [[] for _ in tables]
    assert [len(found) for found in host] == [1, 0, 1, 1, 1, 1]


def test_small_configuration_files_of_a_bundle_are_read_and_those_of_another_tree_are_not(
    tmp_path: Path,
) -> None:
    """`etc/ntp.conf` below the top folder of a vm-support bundle is the host's; elsewhere it may be anybody's."""
    for top in ("esx-esx0.lab-2018-05-02--09.14-2098114", "nsxmgr"):
        place = tmp_path / top / top / "etc" / "ntp.conf"
        place.parent.mkdir(parents=True)
        place.write_text("server 198.51.100.53 iburst\n", encoding="utf-8")

        done = CliRunner().invoke(
            main, ["tables", str(tmp_path / top), "esxi.config_line", "--json"]
        )

        assert done.exit_code == 0, done.output
        assert ("198.51.100.53" in done.stdout) is top.startswith("esx-")
