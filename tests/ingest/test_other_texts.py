"""Texts that few send: none is refused, each is read, shown by its signs, or named as one that nothing reads.

All content is synthetic.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.cli import main

SOFTNET = (
    "0041a2c3 00000000 00000012"
    + " 00000000" * 8
    + "\n00ffe001 0000402a 00000003"
    + " 00000000" * 8
)
VMX = 'scsi0.virtualDev = "lsilogic"\nscsi0.present = "TRUE"\nscsi0:0.fileName = "db.vmdk"\n'
CAPTURE = (
    "10:15:01.123456 IP 10.0.0.5.44312 > 10.0.0.9.443: Flags [S], seq 1, win 64240, length 0\n"
    "10:15:02.133456 IP 10.0.0.9 > 10.0.0.5: ICMP host 10.0.0.9 unreachable, length 36\n"
    "10:15:03.143456 ARP, Request who-has 10.0.0.9 tell 10.0.0.5, length 28\n"
)
PACKETS = (
    "2026-01-02T03:04:05.678Z  8c5b41d2 INET match DROP 1007 OUT 60 TCP 10.0.0.5/44312->10.0.0.9/443 S\n"
    "2026-01-02T03:04:06.678Z  8c5b41d2 INET match DROP 1007 OUT 60 TCP 10.0.0.5/44313->10.0.0.9/443 S\n"
)
TEXTS = {
    "softnet_stat": f"[root@web01 ~]# cat /proc/net/softnet_stat\n{SOFTNET}\n",
    "softnet_stat alone": f"{SOFTNET}\n",
    "tcpdump": f"root@web01:~# tcpdump -ni eth0\n{CAPTURE}",
    "tcpdump alone": CAPTURE,
    "firewallpkt": f"root@edge01:~# tail /var/log/firewallpkt.log\n{PACKETS}",
    "firewallpkt alone": PACKETS,
    "grep of a vmx": f"[root@w2:~] grep -i scsi /vmfs/volumes/ds1/db/db.vmx\n{VMX}",
    "lines of a vmx alone": VMX,
    "one word": "hello\n",
}


def triage_text(folder: Path, text: str) -> tuple[int, dict[str, Any]]:
    path = folder / "ticket.txt"
    path.write_text(text, encoding="utf-8")
    done = CliRunner().invoke(
        main, ["triage", str(path), "--json", "-", "--no-settings", "--no-packs"]
    )
    return done.exit_code, json.loads(done.stdout)


@pytest.mark.parametrize("kind", TEXTS)
def test_none_is_refused(tmp_path: Path, kind: str) -> None:
    """Exit 0 or 5; what is not read is named."""
    code, document = triage_text(tmp_path, TEXTS[kind])
    (source,) = document["sources"]
    assert code in (0, 5)
    assert source["state"] in ("read", "searched") or source["why"]


def test_softnet_stat_is_read(tmp_path: Path) -> None:
    """The packets that a CPU dropped are a sign of the guest."""
    code, document = triage_text(tmp_path, TEXTS["softnet_stat"])
    assert code == 0
    assert document["sources"][0]["read_by"] == "softnet_stat"
    assert [node["kind"] for node in document["nodes"]] == ["guest"]
    found = json.dumps([document["findings"], document["signals"]])
    assert "softnet_dropped" in found


def test_grep_of_a_vmx_is_an_excerpt(tmp_path: Path) -> None:
    """Its settings are read, and a disk that is not among its lines is not missing."""
    code, document = triage_text(tmp_path, TEXTS["grep of a vmx"])
    assert code == 0
    assert document["sources"][0]["read_by"] == "vmx"
    whys = [group["why"] for group in document["cannot_tell"]]
    assert any("filtered by grep" in why for why in whys), whys
