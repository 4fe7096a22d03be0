"""Cases beside each other: the lab before and after its fix, a reboot, a vMotion, a replaced NIC, a rename, a series."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.artefacts import parsing
from analyzer.cli import main
from tests.kit.compare_kit import HostMoment, Vm
from tools.case_text import guest_stats, rx_summary

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "samples" / "cases"
Record = dict[str, Any]


def compared(*paths: Path, words: tuple[str, ...] = ()) -> Record:
    """Return the document that the command writes to stdout."""
    result = CliRunner().invoke(main, ["compare", *map(str, paths), "--json", "-", *words])
    assert result.exit_code in (0, 5), result.output
    found: Record = json.loads(result.stdout)
    return found


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compare the lab before its fix with the lab after it."""
    folder = tmp_path_factory.mktemp("lab")
    paths = [str(CASES / name) for name in ("lab-ring-before", "lab-ring-after")]
    result = CliRunner().invoke(main, ["compare", *paths, "-o", str(folder)])
    assert result.exit_code == 0, result.output
    (folder / "terminal.txt").write_text(result.stdout, encoding="utf-8")
    return folder


def document(folder: Path) -> Record:
    """Return what compare.json holds."""
    found: Record = json.loads((folder / "compare.json").read_text(encoding="utf-8"))
    return found


def test_the_page_reads_like_the_conclusion_of_the_lab(lab: Path) -> None:
    """10,370 -> 1,656, ring #1 256 -> 4,096, ring #2 alone remains, 86,715 -> 48, and 18 MB: all of it on top."""
    summary = document(lab)["summary"]
    for words in (
        "Receive ring #1 of iperf-test1 (port 33554467) holds 4,096 descriptors instead of 256.",
        "ran out of receive buffers 1,656 times instead of 10,370, 0.00445% instead of 0.0204%",
        "Only ring #2 still runs full.",
        "iperf-test2 retransmitted 48 TCP segments instead of 86,715",
        "iperf-test1 uses 18 MB more guest memory.",
    ):
        assert words in summary
    for name in ("compare.html", "compare.md", "terminal.txt"):
        text = (lab / name).read_text(encoding="utf-8").replace("\\#", "#")
        assert "Only ring #2 still runs full" in text, name
        assert "18 MB more guest memory" in text, name


def test_every_value_has_its_line_on_both_sides(lab: Path) -> None:
    """The numbers of the counters stand on the very lines that are named, on either side."""
    checked = 0
    for one in [*document(lab)["counters"], *document(lab)["changes"]]:
        for side, value, place in zip(("before", "after"), one["values"], one["at"], strict=True):
            lines = (
                (CASES / f"lab-ring-{side}" / place["address"])
                .read_text(encoding="utf-8")
                .split("\n")
            )
            assert str(value) in lines[place["line"] - 1], one
            checked += 1
    assert checked > 50


def test_counters_that_started_again_are_never_subtracted(lab: Path) -> None:
    """The port of the VM is another one after the restart: no difference, no rate, and the reason is named."""
    for one in document(lab)["counters"]:
        assert one["steps"][0]["state"] == "started again", one
        assert one["steps"][0]["difference"] is None
    buffers = next(one for one in document(lab)["counters"] if one["column"] == "out_of_buffers")
    assert "port 33554464 became port 33554467" in buffers["steps"][0]["why"]
    assert [place["line"] for place in buffers["steps"][0]["why_at"]] == [36, 12]


def test_a_table_of_one_side_alone_is_named(lab: Path) -> None:
    """The second side has no clientStats: the page says so and calls nothing better for it."""
    lacking = {one["table"]: one for one in document(lab)["uncompared"]}
    assert lacking["esxi.client_stats"]["lacks"] == [1]
    assert "clientStats" in lacking["esxi.client_stats"]["ask"]
    assert not [one for one in document(lab)["counters"] if one["table"] == "esxi.client_stats"]
    assert "They may have changed all the same" in (lab / "compare.html").read_text(
        encoding="utf-8"
    )


# -- two days in the life of a host, synthetic ---------------------------------------------------------------

LATER, UP = "2017-10-16 16:53:20", 3_542_400 + 2 * 86_400
MAC = "00:50:56:a6:81:01"
OTHER: Record = {
    "name": "esx82.lab.example",
    "serial": "SYN0000082",
    "nics": {"vmnic0": "00:25:90:aa:82:00"},
}


def counter(made: Record, column: str, subject: str = "") -> Record:
    """Return the counter of that name, of the subject that holds a word."""
    return next(
        one for one in made["counters"] if one["column"] == column and subject in one["subject"]
    )


def test_a_reboot_between_is_no_improvement(tmp_path: Path) -> None:
    """500 CRC errors became 20, but the host was booted and received less: the share is the same, and no one says better."""
    before = HostMoment(crc=500, vms=[Vm("web01", MAC, 33554470, missed=4000)]).write(
        tmp_path / "before"
    )
    vm = Vm("web01", MAC, 33554480, received=50_000, missed=10)
    after = HostMoment(captured=LATER, uptime=7200, crc=20, received=3_000_000, vms=[vm]).write(
        tmp_path / "after"
    )
    made = compared(before, after)

    errors = counter(made, "rx_crc_errors", "vmnic1")
    assert (errors["values"], errors["verdict"]) == ([500, 20], "same")
    assert errors["steps"][0]["difference"] is None
    assert "the host was rebooted in between: up for 2 h" in errors["steps"][0]["why"]
    assert {place["line"] for place in errors["steps"][0]["why_at"]} == {1}
    buffers = counter(made, "out_of_buffers")
    assert (buffers["values"], buffers["verdict"]) == ([4000, 10], "better")
    assert "20.0 times less, relative to the traffic" in buffers["steps"][0]["because"]
    assert made["machines"][0]["steps"][0]["state"] == "started again"


def test_without_a_reboot_counters_give_differences_and_rates(tmp_path: Path) -> None:
    """96 errors more in 48 hours are 2 an hour; more of the frames than before, so it got worse."""
    before = HostMoment(crc=500).write(tmp_path / "before")
    after = HostMoment(captured=LATER, uptime=UP, crc=596, received=90_000_000).write(
        tmp_path / "after"
    )
    step = counter(compared(before, after), "rx_crc_errors", "vmnic1")["steps"][0]

    assert (step["state"], step["difference"], step["per_hour"], step["seconds"]) == (
        "went on",
        96,
        2.0,
        172_800,
    )
    assert step["verdict"] == "worse"


@pytest.mark.parametrize(
    ("uptime", "why"),
    [
        (UP, "fell, though the host was not rebooted in between"),
        (
            None,
            "the counter was reset between the two, and it is not known why: there is no uptime of the later side",
        ),
    ],
)
def test_a_counter_that_fell_without_a_reason_is_not_better(
    tmp_path: Path, uptime: int | None, why: str
) -> None:
    """Nor is the finding that rests on it: both say that it cannot be told, and why."""
    before = HostMoment(crc=500).write(tmp_path / "before")
    after = HostMoment(captured=LATER, uptime=uptime, crc=20, received=90_000_000).write(
        tmp_path / "after"
    )
    made = compared(before, after)

    errors = counter(made, "rx_crc_errors", "vmnic1")
    assert errors["verdict"] == "cannot tell"
    assert why in errors["steps"][0]["because"]
    finding = next(one for one in made["findings"] if "vmnic1" in one["subject"])
    assert finding["state"] == "cannot tell"
    assert why in finding["why"]


def test_a_vm_that_moved_is_found_on_the_other_host(tmp_path: Path) -> None:
    """After vMotion the port of the VM counts from zero on another host: moved, not gone there and new here."""
    before = HostMoment(vms=[Vm("web01", MAC, 33554470, missed=4000)]).write(
        tmp_path / "before", HostMoment(**OTHER)
    )
    vm = Vm("web01", MAC, 33554499, received=1_000_000, missed=4100)
    there = HostMoment(captured=LATER, uptime=UP, vms=[vm], **OTHER)
    made = compared(before, HostMoment(captured=LATER, uptime=UP).write(tmp_path / "after", there))

    buffers = counter(made, "out_of_buffers")
    assert buffers["machine"] == "esx82.lab.example"
    assert buffers["steps"][0]["state"] == "started again"
    assert "moved from esx81.lab.example to esx82.lab.example" in buffers["steps"][0]["why"]
    assert buffers["steps"][0]["difference"] is None
    assert {one["state"] for one in made["subjects"]} == {"moved"}
    assert any(
        "esx81.lab.example to esx82.lab.example: web01 moved" in one["text"]
        for one in made["conclusion"]
    )


def test_a_vm_that_left_is_not_told_as_moved(tmp_path: Path) -> None:
    """The check can fail: a VM that is on no host of the later side is gone."""
    before = HostMoment(vms=[Vm("web01", MAC, 33554470)]).write(tmp_path / "before")
    after = HostMoment(
        captured=LATER, uptime=UP, vms=[Vm("db01", "00:50:56:a6:81:02", 33554470, "56 4d 02")]
    )
    made = compared(before, after.write(tmp_path / "after"))

    states = {(one["state"], one["subject"].partition(" ")[0]) for one in made["subjects"]}
    assert ("gone", "web01") in states
    assert ("new", "db01") in states
    assert (
        "The VM web01 is no longer on esx81.lab.example. The VM db01 is new on esx81.lab.example."
        in made["summary"]
    )
    assert not [one for one in made["counters"] if one["table"] == "esxi.vmxnet3_rx_summary"], (
        "port 33554470 is another VM"
    )


def test_a_replaced_nic_is_another_card(tmp_path: Path) -> None:
    """vmnic1 has another MAC address: a new card, whose counters are its own; vmnic0 counted on."""
    before = HostMoment(crc=500).write(tmp_path / "before")
    nics = {"vmnic0": "00:25:90:aa:81:00", "vmnic1": "00:25:90:bb:99:01"}
    after = HostMoment(captured=LATER, uptime=UP, crc=0, received=81_900_000, nics=nics).write(
        tmp_path / "after"
    )
    made = compared(before, after)
    old, new = (
        counter(made, "rx_packets", "vmnic0")["steps"][0],
        counter(made, "rx_packets", "vmnic1")["steps"][0],
    )
    assert (old["state"], old["difference"]) == ("went on", 679_955)
    assert (new["state"], new["difference"]) == ("started again", None)
    assert new["why"] == "vmnic1 is another card: 00:25:90:aa:81:01 became 00:25:90:bb:99:01"
    changed = next(one for one in made["changes"] if one["column"] == "mac")
    assert changed["note"].startswith("another card in its place")
    assert (
        "vmnic1 of esx81.lab.example is another card: 00:25:90:aa:81:01 → 00:25:90:bb:99:01."
        in made["summary"]
    )
    assert "of frames received, counted by another card." in made["summary"]
    errors = counter(made, "rx_crc_errors", "vmnic1")
    assert (errors["verdict"], errors["steps"][0]["because"]) == (
        "replaced",
        "the two cards count separately",
    )
    said = [one["text"] for one in made["conclusion"] if "bad checksum" in one["text"]]
    assert said and all("Counted by another card" in one and "Better" not in one for one in said)
    fewer = HostMoment(captured=LATER, uptime=UP, crc=3, received=900_000, nics=nics).write(
        tmp_path / "fewer"
    )
    (finding,) = [one for one in compared(before, fewer)["findings"] if "vmnic1" in one["subject"]]
    assert finding["state"] == "cannot tell" and "vmnic1 is another card" in finding["why"]


def test_a_card_that_took_over_an_address_is_another_one(tmp_path: Path) -> None:
    """A blade gives a new card the address of the old one: the ids of vendor and device tell that it was replaced."""
    sides = []
    for side, at, device, crc in (
        ("before", {}, "10fb", 500),
        ("after", {"captured": LATER, "uptime": UP}, "1572", 3),
    ):
        typed = f"[root@esx81:~] lspci -p -n\n0000:04:00.1 Class 0200: 8086:{device} [vmnic1]\n"
        sides.append(HostMoment(crc=crc, **at).write(tmp_path / side))
        (sides[-1] / "typed.txt").write_text(typed)
    made = compared(*sides)
    errors = counter(made, "rx_crc_errors", "vmnic1")
    assert errors["verdict"] == "replaced"
    assert errors["steps"][0]["why"] == "vmnic1 is another card: 8086:10fb became 8086:1572"
    assert "is another card: 10fb → 1572." in made["summary"]


def test_a_finding_does_not_worsen_while_its_counters_get_better(tmp_path: Path) -> None:
    """A share since the boot grew over a series, but nothing was lost since the capture before: nobody can tell."""
    moments: list[dict[str, Any]] = [
        {"crc": 1000, "received": 4_294_000_000},
        {"crc": 900, "received": 40_000_000, "captured": LATER, "uptime": 18_000},
        {
            "crc": 900,
            "received": 400_000_000,
            "captured": "2017-10-18 16:53:20",
            "uptime": 18_000 + 2 * 86_400,
        },
    ]
    made = compared(
        *(HostMoment(**one).write(tmp_path / f"s{at}") for at, one in enumerate(moments))
    )
    assert counter(made, "rx_crc_errors", "vmnic1")["verdict"] == "better"
    (finding,) = [one for one in made["findings"] if "vmnic1" in one["subject"]]
    assert finding["state"] == "cannot tell" and "its counters are better" in finding["why"]


def test_nics_that_changed_names_are_not_replaced(tmp_path: Path) -> None:
    """vmnic0 and vmnic1 swapped their names: each is known by its address, and its counters go on."""
    before = HostMoment(crc=500).write(tmp_path / "before")
    nics = {"vmnic1": "00:25:90:aa:81:00", "vmnic0": "00:25:90:aa:81:01"}
    after = HostMoment(captured=LATER, uptime=UP, crc=510, crc_of="vmnic0", nics=nics).write(
        tmp_path / "after"
    )
    made = compared(before, after)

    errors = counter(made, "rx_crc_errors")
    assert (errors["values"], errors["steps"][0]["difference"]) == ([500, 510], 10)
    names = {tuple(one["values"]) for one in made["changes"] if one["column"] == "pnic"}
    assert names == {("vmnic0", "vmnic1"), ("vmnic1", "vmnic0")}
    assert "esx81.lab.example: vmnic0 is now vmnic1, vmnic1 is now vmnic0." in made["summary"]
    assert "none before" not in errors["steps"][0]["because"], (
        "500 were there before; no frame passed since"
    )


def test_an_upgrade_and_a_larger_datastore_stand_on_top(tmp_path: Path) -> None:
    """Release, driver and firmware of both NICs, the VIB, the size of the datastore, and a counter that one driver has alone."""
    form = "{:<49}  {:<11}  {:<35}  {:<7}  {:<6}  {:>13}  {:>13}\n"
    head = form.format("Mount Point", "Volume Name", "UUID", "Mounted", "Type", "Size", "Free")
    head += form.format("-" * 49, "-" * 11, "-" * 35, "-" * 7, "-" * 6, "-" * 13, "-" * 13)
    volume = "59e1f0aa-1b2c3d4e-0005-002590aa8101"
    sides = []
    for side, at, build, i40en, version, firmware, size, missed in (
        ("before", {}, 5969303, "1.3.1", "1.4.1", "0x800003df", 1 << 40, 100),
        (
            "after",
            {"captured": LATER, "uptime": UP},
            6765664,
            "1.5.6",
            "1.7.3",
            "0x80000a2c",
            1 << 41,
            4100,
        ),
    ):
        host = HostMoment(build=build, i40en=i40en, **at)
        nics = (
            host.commands()["commands/nicinfo.sh.txt"]
            .replace("1.4.1", version)
            .replace("0x800003df", firmware)
        )
        host.extra = {
            "commands/nicinfo.sh.txt": f"{nics}\nNIC Private statistics:\n     rx_missed_errors: {missed}\n",
            "commands/localcli_storage-filesystem-list.txt": head
            + form.format(
                f"/vmfs/volumes/{volume}", "datastore1", volume, "true", "VMFS-6", size, size // 2
            ),
        }
        sides.append(host.write(tmp_path / side))
    summary = compared(*sides)["summary"]

    for words in (
        "went from ESXi 6.5 U1 (build 5969303) to ESXi 6.5 U1 Express Patch 4 (build 6765664).",
        "Driver version of vmnic0 and vmnic1 on esx81.lab.example went from 1.4.1 to 1.7.3.",
        "Firmware version of vmnic0 and vmnic1 on esx81.lab.example went from 0x800003df to 0x80000a2c.",
        "VIB version of i40en on esx81.lab.example went from 1.3.1 to 1.5.6.",
        "The datastore datastore1 on esx81.lab.example grew from 1.00 TiB to 2.00 TiB.",
        "rx_missed_errors of vmnic1 on esx81.lab.example went from 100 to 4,100: worse",
    ):
        assert words in summary, summary


def test_a_rename_is_no_new_host_and_no_new_vm(tmp_path: Path) -> None:
    """The serial number tells the host, the UUID the VM; findings that name them stay the same ones."""
    before = HostMoment(vms=[Vm("web01", MAC, 33554470, missed=4000)]).write(tmp_path / "before")
    vm = Vm("web-new", MAC, 33554470, missed=4000)
    after = HostMoment(name="esx99.lab.example", captured=LATER, uptime=UP, vms=[vm]).write(
        tmp_path / "after"
    )
    made = compared(before, after)

    assert made["machines"][0]["names"] == ["esx81.lab.example", "esx99.lab.example"]
    assert made["machines"][0]["paired_by"] == "serial number or UUID"
    assert made["subjects"] == []
    assert {one["state"] for one in made["findings"]} == {"same"}
    assert ["web01", "web-new"] in [one["values"] for one in made["changes"]]
    assert "esx81.lab.example is now esx99.lab.example" in made["conclusion"][0]["text"]
    assert "The VM web01 on esx99.lab.example is now called web-new." in made["summary"]


def test_serial_numbers_that_nobody_filled_in_pair_nothing(tmp_path: Path) -> None:
    """Two boards "To be filled by O.E.M." with other NICs and names are two hosts, and told as such."""
    one = HostMoment(serial="To be filled by O.E.M.").write(tmp_path / "good")
    two = HostMoment(**{**OTHER, "serial": "To be filled by O.E.M."}).write(tmp_path / "bad")
    assert compared(one, two)["mode"] == "hosts"


def test_three_captures_give_a_rate_for_each_interval(tmp_path: Path) -> None:
    """1 error an hour, then 30: each step has its own difference and rate, in the order of the captures."""
    one = HostMoment(crc=500).write(tmp_path / "mon")
    two = HostMoment(captured=LATER, uptime=UP, crc=548, received=90_000_000).write(
        tmp_path / "wed"
    )
    three = HostMoment(
        captured="2017-10-17 16:53:20", uptime=UP + 86_400, crc=1268, received=95_000_000
    )
    made = compared(three.write(tmp_path / "thu"), one, two)

    assert [side["name"] for side in made["sides"]] == ["mon", "wed", "thu"]
    assert any("in the order of their capture times" in note for note in made["notes"])
    errors = counter(made, "rx_crc_errors", "vmnic1")
    assert errors["values"] == [500, 548, 1268]
    assert [(step["difference"], step["per_hour"]) for step in errors["steps"]] == [
        (48, 1.0),
        (720, 30.0),
    ]
    assert (
        "went 500 → 548 → 1,268: 1.0 an hour, then 30.0 an hour; in the last interval 23.6 times more"
        in made["summary"]
    )
    assert "2 days, then 24 hours lie between the captures." in made["conclusion"][0]["text"]


def test_the_clock_of_a_typed_session_is_the_time_of_its_capture(tmp_path: Path) -> None:
    """`date` is all that tells when something was typed: the order of the sides, the interval, a rate, and that no boot lies between."""
    for day, drops in ((12, 300_100), (10, 100), (11, 100_100)):
        said = (
            ("date", f"Fri Mar {day} 00:00:00 UTC 2023"),
            ("uptime", f" 00:00:00 up {day - 1} days, 00:00, load average: 0.10, 0.12, 0.11"),
        )
        stats = f"NIC statistics for vmnic0\n   Packets received: {day}000000\n   Receive packets dropped: {drops}\n   Total receive errors: 0"
        typed = "\n".join(
            f"[root@esx81:~] {command}\n{answer}"
            for command, answer in (*said, ("esxcli network nic stats get -n vmnic0", stats))
        )
        (tmp_path / f"{day}.txt").write_text(typed + "\n", encoding="utf-8")
    made = compared(*(tmp_path / f"{day}.txt" for day in (12, 10, 11)))
    assert [side["captured"] for side in made["sides"]] == [
        f"2023-03-{day}T00:00:00Z" for day in (10, 11, 12)
    ]
    steps = counter(made, "rx_dropped")["steps"]
    assert [(step["state"], step["per_hour"]) for step in steps] == [
        ("went on", 4167),
        ("went on", 8333),
    ]


def test_a_series_with_a_boot_in_the_middle_has_rates_before_and_after_it(tmp_path: Path) -> None:
    """1 error an hour, then a boot, then 2 an hour: the step over the boot has no difference, the others have theirs."""
    times = ("2017-10-14 16:53:20", LATER, "2017-10-17 16:53:20", "2017-10-18 16:53:20")
    up, errors, frames = (
        (3_542_400, UP, 7200, 93_600),
        (500, 548, 20, 68),
        (81_220_045, 90_000_000, 3_000_000, 9_000_000),
    )
    sides = [
        HostMoment(captured=time, uptime=uptime, crc=crc, received=received).write(
            tmp_path / f"day{number}"
        )
        for number, (time, uptime, crc, received) in enumerate(
            zip(times, up, errors, frames, strict=True)
        )
    ]
    made = compared(*sides)
    told = counter(made, "rx_crc_errors", "vmnic1")
    steps = [(step["state"], step["difference"], step["per_hour"]) for step in told["steps"]]
    assert steps == [("went on", 48, 1.0), ("started again", None, None), ("went on", 48, 2.0)]
    assert "esx81.lab.example was rebooted between day1 and day2." in made["summary"]
    start = next(one for one in made["conclusion"] if one["text"].startswith("Counter reset."))
    assert [place["side"] for place in start["at"]] == [1, 2], (
        "the boot lies between the second and the third"
    )


def test_two_hosts_are_told_apart_and_not_in_time(tmp_path: Path) -> None:
    """The good and the bad host: versions and drivers side by side, nothing new or gone, nothing subtracted."""
    good = HostMoment(build=6765664, crc=3).write(tmp_path / "good")
    bad = HostMoment(**OTHER, crc=3000, crc_of="vmnic0", i40en="1.3.1").write(tmp_path / "bad")
    folder = tmp_path / "out"
    result = CliRunner().invoke(main, ["compare", str(good), str(bad), "-o", str(folder)])
    assert result.exit_code == 0, result.output
    made = document(folder)

    assert made["mode"] == "hosts"
    assert ["6765664", "5969303"] in [one["values"] for one in made["changes"]]
    assert not {"mac", "serial_number", "hostname"} & {one["column"] for one in made["changes"]}
    assert all(one["steps"][0]["difference"] is None for one in made["counters"])
    assert "i40en is only on bad" in result.stdout
    assert (
        "good runs ESXi 6.5 U1 Express Patch 4 (build 6765664); bad runs ESXi 6.5 U1 (build 5969303)."
        in made["summary"]
    )
    assert "of a place that states" not in result.stdout
    page = (folder / "compare.html").read_text(encoding="utf-8")
    assert "only on bad" in page
    assert ">new<" not in page
    assert ">gone<" not in page


def test_a_rule_that_can_no_longer_see_is_not_gone(tmp_path: Path) -> None:
    """The later side has no rxSummary: the finding is "no longer judged", with what to ask for."""
    before = HostMoment(vms=[Vm("web01", MAC, 33554470, missed=4000)]).write(tmp_path / "before")
    after = HostMoment(captured=LATER, uptime=UP, vms=[Vm("web01", MAC, 33554470)]).write(
        tmp_path / "after"
    )
    (after / "esx81.txt").unlink()
    made = compared(before, after)

    finding = next(one for one in made["findings"] if one["rule"] == "kb-2039495")
    assert finding["state"] == "no longer judged"
    assert "rxSummary" in finding["ask"]


def test_a_finding_is_gone_where_its_rule_still_looks(tmp_path: Path) -> None:
    """The check can fail: the same port without a miss since its new start, read again, has no finding any more."""
    before = HostMoment(vms=[Vm("web01", MAC, 33554470, missed=4000)]).write(tmp_path / "before")
    vm = Vm("web01", MAC, 33554475, received=900_000, missed=0)
    made = compared(
        before, HostMoment(captured=LATER, uptime=UP, vms=[vm]).write(tmp_path / "after")
    )

    assert {one["state"] for one in made["findings"] if one["rule"] == "kb-2039495"} == {"gone"}
    assert counter(made, "out_of_buffers")["verdict"] == "better"


def test_too_little_traffic_since_a_restart_proves_nothing(tmp_path: Path) -> None:
    """0 misses in 1,000 frames, where 4 would be expected: neither the counter nor the finding is better."""
    before = HostMoment(vms=[Vm("web01", MAC, 33554470, missed=4000)]).write(tmp_path / "before")
    vm = Vm("web01", MAC, 33554475, received=1_000, missed=0)
    made = compared(
        before, HostMoment(captured=LATER, uptime=UP, vms=[vm]).write(tmp_path / "after")
    )

    assert counter(made, "out_of_buffers")["verdict"] == "cannot tell"
    assert {one["state"] for one in made["findings"] if one["rule"] == "kb-2039495"} == {
        "cannot tell"
    }


def test_a_case_json_gives_findings_and_cards_and_says_what_it_lacks(tmp_path: Path) -> None:
    """Folders of results and a bundle mix: findings and cards are compared, and the page asks for the rest."""
    before = HostMoment(crc=500).write(tmp_path / "before")
    kept = tmp_path / "kept"
    assert CliRunner().invoke(
        main, ["triage", str(before), "-o", str(kept), "--quiet"]
    ).exit_code in (0, 5)
    after = HostMoment(captured=LATER, uptime=UP, build=6765664, crc=900).write(tmp_path / "after")
    for side in (kept, kept / "case.json"):
        made = compared(side, after)
        assert [one["rows"] for one in made["sides"]] == [False, True]
        assert any("give the bundles or files themselves" in note for note in made["notes"])
        assert any("6765664" in str(one["values"]) for one in made["changes"])
        assert made["counters"] == []
        assert made["findings"]


def test_captures_are_compared_by_mean_and_worst(tmp_path: Path) -> None:
    """A tenth of the ready time after the limit was raised: better in those minutes, with the line of the worst sample."""
    text = (CASES / "cpu-limited-vm" / "esxtop.csv").read_text(encoding="utf-8")
    rows = list(csv.reader(io.StringIO(text)))
    ready = [place for place, name in enumerate(rows[0]) if name.endswith("% Ready")]
    assert ready
    later = [rows[0], *([*row] for row in rows[1:])]
    for row in later[1:]:
        for place in ready:
            row[place] = f"{float(row[place]) / 10:.2f}"
    for name, some in (("before", rows), ("after", later)):
        (tmp_path / name).mkdir()
        with (tmp_path / name / "esxtop.csv").open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream, quoting=csv.QUOTE_ALL).writerows(some)
    made = compared(tmp_path / "before", tmp_path / "after")

    one = next(
        one
        for one in made["samples"]
        if one["column"] == "rdy_pct" and one["subject"] == "lin-app07"
    )
    old, new = one["on"]
    assert new["mean"] == pytest.approx(old["mean"] / 10, rel=0.02)
    assert (one["verdict"], old["samples"]) == ("better", 35), (
        "the first sample holds averages since boot"
    )
    assert all(place["line"] > 1 for place in one["at"])
    cells = rows[one["at"][0]["line"] - 1]
    assert any(float(cells[place]) == pytest.approx(old["worst"], abs=0.01) for place in ready)
    assert not [
        other
        for other in made["samples"]
        if other["column"] == "cstp_pct" and other["verdict"] == "better"
    ]


HOSTILE = '</script><img src=x onerror=alert(1)> "|` [x](javascript:1)\x1b[31m\u202e'


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    """A VM whose name is markup, a table cell and an escape code reaches page, Markdown and terminal as text."""
    name = HOSTILE.replace("/", "-")
    before = HostMoment(vms=[Vm(name, MAC, 33554470, missed=4000, path="/vmfs/volumes/x/x/x.vmx")])
    after = HostMoment(
        captured=LATER,
        uptime=UP,
        vms=[Vm(name + "2", MAC, 33554471, missed=9000, path="/vmfs/volumes/x/x/x.vmx")],
    )
    folder = tmp_path / "out"
    paths = [str(before.write(tmp_path / "before")), str(after.write(tmp_path / "after"))]
    result = CliRunner().invoke(main, ["compare", *paths, "-o", str(folder)])
    assert result.exit_code in (0, 5), result.output

    texts = {
        file: (folder / file).read_text(encoding="utf-8")
        for file in ("compare.html", "compare.md", "compare.json")
    }
    assert "onerror=alert" in texts["compare.html"], "the name is shown"
    for text in (*texts.values(), result.stdout):
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "<img" not in texts["compare.html"]
    assert "<img" not in texts["compare.md"].replace("\\<img", "")
    assert "script-src &#39;none&#39;" in texts["compare.html"]


def test_the_same_sides_give_the_same_bytes(lab: Path, tmp_path: Path) -> None:
    """Page, Markdown and JSON of a second run are those of the first."""
    paths = [str(CASES / name) for name in ("lab-ring-before", "lab-ring-after")]
    assert CliRunner().invoke(main, ["compare", *paths, "-o", str(tmp_path)]).exit_code == 0
    for name in ("compare.html", "compare.md", "compare.json"):
        assert (tmp_path / name).read_bytes() == (lab / name).read_bytes(), name


def test_one_path_is_a_usage_error() -> None:
    """There is nothing to compare one case with: exit code 2, and what to type."""
    result = CliRunner().invoke(main, ["compare", str(CASES / "lab-ring-before")])
    assert result.exit_code == 2
    assert "backline compare BEFORE AFTER" in result.output


def test_counters_are_declared_where_they_are_counters() -> None:
    """Each table of counters says since when, counts no key and no gauge; sizes of rings and MTUs are none."""
    counting = {name: table for name, table in parsing.tables().items() if table.counts_since}
    assert len(counting) >= 15
    for name, table in counting.items():
        assert table.counters, name
        assert not {*table.counters} & {*table.key, *table.gauges}, name
        assert not [
            one for one in table.counters if one.endswith(("ring_size", "_pct", "_mb", "mbps"))
        ], name
        assert {*table.gauges} <= {column.name for column in table.columns}, name


def test_a_log_that_begins_later_says_so(tmp_path: Path) -> None:
    """The lines of a finding rotated out: no one can judge it, and the page says from when to when nobody looked."""
    stamp = "[netCorrelator] 3541602000000us: [esx.problem.net.vmnic.watchdog.reset] Uplink vmnic3 has recovered from a "
    line = f"{{}}Z: {stamp}transient failure due to watchdog timeout\n"
    quiet = "{}Z: [netCorrelator] 3541602000000us: [vob.net.vmnic.linkstate.up] vmnic vmnic0 linkstate up\n"
    log = "var/run/log/vobd.log"
    before = HostMoment(extra={log: line.format("2017-10-14T16:40:02.101")}).write(
        tmp_path / "before"
    )
    late = HostMoment(
        captured=LATER, uptime=UP, extra={log: quiet.format("2017-10-16T12:00:00.101")}
    )
    made = compared(before, late.write(tmp_path / "after"))

    finding = next(one for one in made["findings"] if "watchdog" in one["subject"])
    assert finding["state"] == "no longer judged"
    assert "which begins at 2017-10-16T12:00:00Z" in finding["why"]
    assert "nothing covers the time from 2017-10-14T16:53:20Z" in finding["why"]


SEED = ROOT / "../shared/seeds/000-vswitchzero.txt"


@pytest.mark.corpus
@pytest.mark.skipif(not SEED.is_file(), reason="the captured texts are not here")
def test_the_dumps_of_the_post_itself_give_its_conclusion(tmp_path: Path) -> None:
    """The text of the post, cut at "Measuring Improvements" and each `free` on its side: the same conclusion."""
    text = SEED.read_text(encoding="utf-8")
    first, _, rest = text.partition("Increasing the RX Buffer Size in Linux")
    raised, _, measured = rest.partition("Measuring Improvements")
    results, _, memory = measured.partition("After five minutes with the default ring:")
    free, _, after = memory.partition("And again after increasing the RX ring to 4096K:")
    dumps = first[first.index("root@iperf-test2:~# netstat") :]
    for name, part in (
        ("before", dumps + free),
        ("after", raised + results + after.partition("Although")[0]),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "post.txt").write_text(part, encoding="utf-8")
    made = compared(tmp_path / "before", tmp_path / "after")
    for words in (
        "iperf-test1 (port 33554467) ran out of receive buffers 1,656 times instead of 10,370",
        "Only ring #2 still runs full.",
        "iperf-test2 retransmitted 48 TCP segments instead of 86,715",
        "iperf-test1 uses 18 MB more guest memory.",
    ):
        assert words in made["summary"]
    assert any("ring #1 256 → 4,096" in one["text"] for one in made["conclusion"])
    assert made["subjects"] == [], "what nobody dumped a second time is neither gone nor new"
    states = {one["rule"]: one["state"] for one in made["findings"]}
    assert states == {"kb-2039495": "better", "guest-receive-buffers": "same"}, (
        "of the guest a grep: no share, info twice"
    )
    assert counter(made, "segments_retransmitted")["verdict"] == "cannot tell", (
        "no list tells the port of the sender later"
    )


def test_what_was_not_dumped_again_is_neither_gone_nor_new(tmp_path: Path) -> None:
    """Somebody dumped two ports before and one of them after: the other is not gone, nobody asked for it."""
    vms = [
        Vm("web01", MAC, 33554470),
        Vm("db01", "00:50:56:a6:81:02", 33554471, world=35002, uuid="56 4d 02"),
    ]
    before = HostMoment(vms=vms).write(tmp_path / "before")
    after = HostMoment(captured=LATER, uptime=UP, vms=vms).write(tmp_path / "after")
    typed = (after / "esx81.txt").read_text(encoding="utf-8")
    (after / "esx81.txt").write_text(typed[: typed.index("ports/33554471") - 40], encoding="utf-8")
    made = compared(before, after)

    assert made["subjects"] == []
    told = {one["why"] for one in made["uncompared"] if one["table"] == "esxi.vmxnet3_rx_summary"}
    assert told == {"db01 (port 33554471) was not dumped there"}


def test_a_port_nobody_names_goes_by_its_number_or_its_guest(tmp_path: Path) -> None:
    """Without a list of ports a number is all there is; the guest that counts the very same misses tells more."""
    for name, port, missed in (("before", 33554470, 5_000), ("after", 33554477, 6_000)):
        host = (
            f"[root@esx81:~] vsish -e get /net/portsets/vSwitch0/ports/{port}/vmxnet3/rxSummary\n"
        )
        typed = host + rx_summary(lro=0, pkts=1_000_000, full1=missed, full2=0)
        (tmp_path / name).mkdir()
        (tmp_path / name / "typed.txt").write_text(
            typed + guest_stats("web01", (missed,), (0,)), encoding="utf-8"
        )
    made = compared(tmp_path / "before", tmp_path / "after")
    assert counter(made, "out_of_buffers")["values"] == [5_000, 6_000]
    assert "web01 (port 33554477)" in counter(made, "out_of_buffers")["subject"]

    (tmp_path / "after" / "typed.txt").write_text(
        typed, encoding="utf-8"
    )  # without the guest: two strange numbers
    made = compared(tmp_path / "before", tmp_path / "after")
    assert not [one for one in made["counters"] if one["column"] == "out_of_buffers"]
    assert made["subjects"] == []


@pytest.mark.size
def test_a_redacted_comparison_holds_no_name(tmp_path: Path) -> None:
    """Hosts, VMs, addresses and serial numbers become pseudonyms in all results and what is printed; numbers stay."""
    before = HostMoment(crc=500, vms=[Vm("web01-prod", MAC, 33554470, missed=4000)]).write(
        tmp_path / "one"
    )
    vm = Vm("web01-prod", MAC, 33554480, received=50_000, missed=10)
    after = HostMoment(captured=LATER, uptime=7200, crc=20, received=3_000_000, vms=[vm]).write(
        tmp_path / "two"
    )
    plain = compared(before, after)
    folder = tmp_path / "shared"
    words = ["compare", str(before), str(after), "-o", str(folder), "--redact"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output

    texts = [file.read_text(encoding="utf-8") for file in folder.iterdir()] + [result.stdout]
    for name in ("esx81", "web01", MAC, MAC[9:], "SYN0000081", "aa:81:01"):
        assert not [name for text in texts if name.lower() in text.lower()], name
    assert (tmp_path / "shared.redact-map.json").is_file()
    masked = document(folder)
    assert [one["values"] for one in masked["counters"]] == [
        one["values"] for one in plain["counters"]
    ]
    assert [one["verdict"] for one in masked["counters"]] == [
        one["verdict"] for one in plain["counters"]
    ]
    assert [one["state"] for one in masked["findings"]] == [
        one["state"] for one in plain["findings"]
    ]


def test_machines_of_one_case_are_compared_as_hosts(tmp_path: Path) -> None:
    """--node takes the sides out of one case: the good and the bad host of a cluster, each under its own name."""
    bad = HostMoment(**OTHER, crc=3000, crc_of="vmnic0", i40en="1.3.1")
    case = HostMoment(build=6765664, crc=3).write(tmp_path / "cluster", bad)
    nodes = ("--node", "esx81.lab.example", "--node", "ESX82*")
    made = compared(case, words=nodes)
    apart = compared(
        HostMoment(build=6765664, crc=3).write(tmp_path / "one"), bad.write(tmp_path / "two")
    )

    assert (made["mode"], [side["name"] for side in made["sides"]]) == (
        "hosts",
        ["esx81.lab.example", "esx82.lab.example"],
    )
    for key in ("changes", "counters", "findings", "subjects"):
        values = [
            [one.get("values") or one.get("state") for one in some[key]] for some in (made, apart)
        ]
        assert values[0] == values[1] != [], key
    texts = [one["text"] for one in made["conclusion"]]
    assert any(
        "6765664 on esx81.lab.example, 5969303 on esx82.lab.example" in text for text in texts
    ), texts
    assert not [text for text in texts if "→" in text or "became" in text]
    i40en = [
        one["why"] for one in made["findings"] if "i40en" in one["subject"] and one["on"][0] is None
    ]
    assert i40en and not [
        why for why in i40en if why
    ]  # judged on both: only the bad host has the driver
    for at, host in enumerate(("esx81.lab.example", "esx82.lab.example")):
        own = [one for one in made["conclusion"] if one["text"].startswith(f"Only on {host}: ")]
        assert {place["side"] for one in own for place in one["at"]} <= {at}, own
    assert [
        one
        for one in made["conclusion"]
        if one["text"].startswith("Only on esx82.lab.example: ") and one["at"]
    ]
    assert not [text for text in texts if "first side" in text or "as before" in text]
    for words, told in (
        (("--node", "esx81.lab.example"), "two machines"),
        (("--node", "esx8*", "--node", "esx82*"), "fits esx81.lab.example, esx82.lab.example"),
        (("--node", "esx81*", "--node", "esx99"), "no machine of this case is called esx99"),
        (("--node", "esx81*", "--node", "esx81.lab.example"), "twice"),
    ):
        refused = CliRunner().invoke(main, ["compare", str(case), *words])
        assert (refused.exit_code, told in refused.output) == (2, True), refused.output


@pytest.mark.size
def test_a_stored_case_is_a_side(tmp_path: Path) -> None:
    """--archive: a side may be named as `archive show` names it, beside one on disk; the page is that of the folders."""
    for name in ("lab-ring-before", "lab-ring-after"):
        shutil.copytree(CASES / name, tmp_path / "in" / name)
    archive = str(tmp_path / "archive")
    batch = CliRunner().invoke(
        main, ["batch", str(tmp_path / "in"), "--archive", archive, "--jobs", "1", "--quiet"]
    )
    assert batch.exit_code == 0, batch.output
    plain = compared(CASES / "lab-ring-before", CASES / "lab-ring-after")
    for first in (Path("lab-ring-before"), CASES / "lab-ring-before"):
        assert compared(first, Path("lab-ring-after"), words=("--archive", archive)) == plain
    refused = CliRunner().invoke(
        main, ["compare", "lab-ring-before", "lab-ring", "--archive", archive]
    )
    assert refused.exit_code == 2
    assert "no case" in refused.output


def edge(received: int, dropped: int, errors: int) -> str:
    """What an NSX Edge and, under it, an NSX-T edge print of their interfaces (synthetic)."""
    return (
        "NSX-edge-7-0> show interface\nInterface vNic_0 is up, line protocol is up\n"
        "  index 3 metric 1 mtu 1500 <UP,BROADCAST,RUNNING,MULTICAST>\n  HWaddr: 00:50:56:00:74:93\n  inet 192.0.2.241/24\n"
        f"    input packets {received}, bytes 4017743, dropped {dropped}, multicast packets 4540\n"
        f"    input errors {errors}, length 0, overrun 0, CRC 0, frame 0, fifo 0, missed {errors}\n"
        "    output packets 44431, bytes 7692037, dropped 0\n"
        "    output errors 0, aborted 0, carrier 0, fifo 0, heartbeat 0, window 0\n    collisions 0\n"
    )


def typed_on_host(evals: int, errors: int) -> str:
    """What somebody typed on esx81 beside the bundle: a rule of the firewall, the designated instance (synthetic)."""
    return (
        "[root@esx81:~] vsipioctl getfwrules -f nic-35662-eth0-vmware-sfw.2 -s\n"
        f"rule  1002: {evals} evals, in 2959418 out 3212647 pkts, in 648188117 out 719943929 bytes\n"
        f"[root@esx81:~] net-vdr --di --stats\nVDR Designated Instance Statistics:\n\n"
        f"        RX Pkts:                        {evals}\n        Err Instance Not Found:         {errors}\n"
    )


def test_counters_of_nsx_are_counters(tmp_path: Path) -> None:
    """An Edge's drops are held against what it received; counters of a host have rates, and one that fell no difference."""
    moments = (
        ("before", {}, (20_000, 1_000, 3), (4_800, 4_000)),
        ("after", {"captured": LATER, "uptime": UP}, (80_000, 1_003, 0), (9_600, 4_000)),
    )
    for name, when, counts, typed in moments:
        folder = HostMoment(**when).write(tmp_path / name)
        (folder / "edge.txt").write_text(edge(*counts), encoding="utf-8")
        (folder / "typed.txt").write_text(typed_on_host(*typed), encoding="utf-8")
    made = compared(tmp_path / "before", tmp_path / "after")

    evals = counter(made, "evals")["steps"][0]
    assert (evals["state"], evals["difference"], evals["per_hour"], evals["verdict"]) == (
        "went on",
        4_800,
        100.0,
        "",
    )
    errors = counter(made, "value", "Err Instance Not Found")
    assert (errors["bad"], errors["verdict"]) == (True, "better")
    drops = counter(made, "rx_dropped")
    assert (drops["machine"], drops["verdict"]) == ("nsx-edge-7-0", "cannot tell")
    assert (
        "the counter was reset between the two" in drops["steps"][0]["because"]
    )  # rx_errors beside it fell
    (tmp_path / "after" / "edge.txt").write_text(edge(80_000, 1_003, 3), encoding="utf-8")
    drops = counter(compared(tmp_path / "before", tmp_path / "after"), "rx_dropped")
    assert (drops["values"], drops["verdict"], drops["steps"][0]["difference"]) == (
        [1_000, 1_003],
        "better",
        3,
    )
    assert drops["steps"][0]["of_words"] == "packets received"
    assert (
        drops["steps"][0]["per_hour"] is None
    )  # nothing tells that the Edge was not booted in between
    counting = {
        name
        for name, table in parsing.tables().items()
        if name.startswith("nsx") and table.counts_since
    }
    assert counting >= {
        "nsx.edge_interface",
        "nsxt.interface",
        "nsxt.port_stats",
        "nsxt.port_counter",
        "nsx.dfw_rule_stats",
    }


@pytest.mark.parametrize(
    ("received", "crc", "verdict", "told"),
    [
        (82_000_000, 1_500, "worse", "this holds even if the counter was reset in between"),
        (
            90_000_000,
            510,
            "cannot tell",
            "better if the counter went on, same if it was reset in between",
        ),
        (162_440_090, 1_000, "same", "this holds even if the counter was reset in between"),
    ],
)
def test_a_verdict_says_what_an_unknown_restart_would_change(
    tmp_path: Path, received: int, crc: int, verdict: str, told: str
) -> None:
    """Without the later uptime each verdict is held against the other possibility, and the page says what is missing."""
    before = HostMoment(crc=500).write(tmp_path / "before")
    after = HostMoment(captured=LATER, uptime=None, crc=crc, received=received).write(
        tmp_path / "after"
    )
    made = compared(before, after)
    errors = counter(made, "rx_crc_errors", "vmnic1")
    assert errors["verdict"] == verdict, errors["steps"]
    assert told in errors["steps"][0]["because"]
    texts = [one["text"] for one in made["conclusion"]]
    sentence = "It is unknown whether esx81.lab.example was rebooted in between: there is no uptime of the later side."
    assert any(text.startswith(sentence) for text in texts), texts
    for finding in made["findings"]:
        assert (
            finding["state"] != "worse"
            or "nothing shows whether its counters were reset" in finding["why"]
        )
    known = compared(
        before,
        HostMoment(captured=LATER, uptime=UP, crc=crc, received=received).write(tmp_path / "known"),
    )
    assert "was reset in between" not in json.dumps(known)
