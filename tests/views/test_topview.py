"""`backline esxtop`: the worst of each metric and all of one VM, through the command.

The captures are synthetic (tests/kit/esxtop_kit.py); what the command says is compared with what the csv module reads.
"""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from analyzer.cli import main
from tests.kit.esxtop_kit import Capture
from tests.kit.memory_kit import peak

SAMPLES = Path(__file__).resolve().parents[2] / "samples"


def top(path: Path, *words: str) -> Result:
    return CliRunner().invoke(main, ["esxtop", str(path), *words])


def said(result: Result, name: str, after: str) -> str:
    """Return the line of a metric below the title of its part."""
    assert result.exit_code == 0, result.output
    part = result.output.partition(f"\n{after}\n")[2].partition("\n\n")[0]
    return next(
        line.strip()
        for line in part.splitlines()
        if line.split()[: len(name.split())] == name.split()
    )


def columns(capture: Capture) -> dict[str, list[tuple[float, str]]]:
    """Return heading -> (value, stamp) of each sample but the first."""
    lines = list(csv.reader(io.StringIO(b"".join(capture.chunks()).decode())))
    found: dict[str, list[tuple[float, str]]] = {}
    for at, heading in enumerate(lines[0][1:-1], 1):
        found[heading] = [(float(line[at]), line[0]) for line in lines[2:]]
    return found


@pytest.mark.parametrize(
    ("name", "part", "group", "counter"),
    [
        ("%RDY", "CPU of VMs, summed over their worlds", "Group Cpu", "% Ready"),
        ("%LAT_C", "CPU of VMs, summed over their worlds", "Group Cpu", "% CPU Latency"),
        (
            "DAVG/cmd",
            "Storage devices",
            "Physical Disk SCSI Device",
            "Average Driver MilliSec/Command",
        ),
        ("SWW/s", "Memory of VMs", "Group Memory", "Swap Written MBytes/sec"),
        ("LAT/wr", "Virtual disks", "Virtual Disk", "Average MilliSec/Write"),
        ("%DRPTX", "Ports of virtual switches", "Network Port", "% Outbound Packets Dropped"),
    ],
)
def test_the_worst_instance_of_a_metric_comes_with_its_time(
    tmp_path: Path, name: str, part: str, group: str, counter: str
) -> None:
    """Value, mean and time are those of the file's worst cell, under the name that esxtop shows."""
    capture = Capture(3_000, 40)
    cells = {
        heading: values
        for heading, values in columns(capture).items()
        if heading.partition("example\\")[2].startswith(group + "(")
        and heading.endswith("\\" + counter)
    }
    if group == "Group Cpu":  # of VMs, which have %VMWAIT
        cells = {heading: values for heading, values in cells.items() if ":sh." not in heading}
    value, stamp = max((one for values in cells.values() for one in values), key=lambda one: one[0])
    line = said(top(capture.write(tmp_path / "esxtop.csv")), name, part)
    found = re.fullmatch(rf"{name} +([\d.,]+) +(?:ms +|MB/s +)?([\d.,]+) +(\S+ \S+)  .*", line)
    assert found, line
    assert float(found[1].replace(",", "")) == pytest.approx(value)
    at = [one for values in cells.values() for one in values if one[0] == value]
    assert found[3] in {f"2021-03-02 {when.partition(' ')[2]}" for _, when in at}
    assert stamp.startswith("03/02/2021")


def test_the_span_interval_and_the_share_per_vcpu_are_told(tmp_path: Path) -> None:
    """40 samples 5 s apart; %RDY of a VM is a sum, so its share of each vCPU stands beside."""
    result = top(Capture(3_000, 40).write(tmp_path / "esxtop.csv"))
    assert (
        "host esx71.lab.example: 40 samples, 2021-03-02 10:00:00 to 2021-03-02 10:03:15 UTC, every 5 s"
        in result.output
    )
    assert "2,999 columns, " in result.output
    line = said(result, "%RDY", "CPU of VMs, summed over their worlds")
    assert line.split("  ")[0] == "%RDY"
    assert re.search(r"VM web-ill +30\.06 per vCPU of 2$", line)


def test_a_metric_that_is_zero_everywhere_is_named_and_takes_no_row(tmp_path: Path) -> None:
    """It was looked at, and it is zero: both are told."""
    result = top(Capture(3_000, 12).write(tmp_path / "esxtop.csv"))
    assert said(result, "0 in all samples:", "Memory of VMs") == "0 in all samples: MCTLSZ, SWCUR"


def test_one_vm_is_told_with_its_worlds_disks_and_ports() -> None:
    """Each cell of the sample holds the number of its column: 267 and on are those of the port."""
    result = top(SAMPLES / "esxtop" / "esxtop_csv" / "all_groups.csv", "--vm", "db (prod): a:b")
    assert "VM db (prod): a:b, 1 vCPUs" not in result.output
    assert "VM db (prod): a:b, 1 vCPU" in result.output
    assert said(result, "%RDY", "vCPUs").split()[:3] == ["%RDY", "92.02", "92.02"]
    assert said(result, "%MLMTD", "vCPUs").endswith("vCPU 0, world 88103")
    assert said(result, "MCTLSZ", "Memory").split()[1] == "1,192.00"
    assert said(result, "N%L", "Memory").split()[1] == "122.01"  # the second cell is -1: no number
    assert said(result, "CMDS/s", "Virtual disks").endswith("db (prod): a:b:scsi0:0")
    assert said(result, "DAVG/cmd", "What its worlds do to devices").split()[1] == "209.02"
    assert said(result, "%DRPRX", "Ports").split()[1] == "274.02"
    assert "65544" not in result.output


def test_a_pasted_screen_is_told_like_a_capture() -> None:
    """It has no time: the number of its sample stands there."""
    result = top(SAMPLES / "esxtop" / "esxtop_screen" / "memory.txt")
    assert said(result, "MCTLSZ", "Memory of VMs").split()[1:3] == ["2,048.00", "MB"]
    assert "sample 1" in said(result, "PMEM free", "Memory of the host")


def test_what_is_not_there_is_refused_in_one_line(tmp_path: Path) -> None:
    """A text without samples names the command that makes some; an unknown VM the nearest that are there."""
    (tmp_path / "mail.txt").write_text("Please look at esxtop, %RDY is high.\n")
    nothing = top(tmp_path / "mail.txt")
    assert (nothing.exit_code, nothing.output.count("\n")) == (3, 1)
    assert "esxtop -b -a -d 5 -n 120 > esxtop.csv" in nothing.output
    other = top(Capture(3_000, 3).write(tmp_path / "esxtop.csv"), "--vm", "web-il")
    assert (other.exit_code, other.output.count("\n")) == (2, 1)
    assert "web-ill" in other.output


def test_a_hostile_name_of_a_vm_changes_no_terminal(tmp_path: Path) -> None:
    """Escape sequences in a VM's name are shown, not sent; `{vm_id}` in it is a name like another."""
    name = "x\x1b[2J{vm_id}"
    path = tmp_path / "esxtop.csv"
    path.write_bytes(Capture(300, 3, ill=name).write(tmp_path / "raw").read_bytes())
    result = top(path)
    assert result.exit_code == 0
    assert "\x1b" not in result.output
    assert "{vm_id}" in result.output


@pytest.mark.release
@pytest.mark.process
def test_a_wide_capture_is_told_in_little_memory(tmp_path: Path) -> None:
    """60,000 columns and 107 MB: below 150 MB."""
    import sys

    path = Capture(60_000, 240).write(tmp_path / "esxtop.csv")
    assert peak(sys.executable, "-m", "analyzer", "esxtop", str(path)) <= 150
