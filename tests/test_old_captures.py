"""What administrators paste of old hosts and from loops over bundles is read by `backline tables`.

The texts are synthetic; their labels are those of parsers/ and samples/.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from analyzer.cli import main


def rows(path: Path, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table as `backline tables PATH TABLE --json` prints them."""
    done = CliRunner().invoke(main, ["tables", str(path), table, "--json"])
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.output.splitlines()]


def test_port_binding_of_a_host_of_4x_is_read(tmp_path: Path) -> None:
    """Each VMkernel adapter of `esxcli swiscsi nic list` is a row; a block that is cut lacks what was cut, and no more."""
    text = "~ # esxcli swiscsi nic list -d vmhba33\n" + "\n\n".join(
        f"vmk{n}\npNic name: vmnic{n + 2}\nipv4 address: 192.0.2.{n}\nlink connected: true\nNIC driver: igb"
        for n in (1, 2)
    )
    file = tmp_path / "binding.txt"
    file.write_text(f"{text.replace('NIC driver: igb', 'NIC driver: igb' + chr(10) + 'firmware version: 1.4-3', 1)}\n")

    found = rows(file, "esxi.swiscsi_nic")
    assert [(row["vmknic"], row["vmnic"], row["driver"], row["firmware_version"]) for row in found] == [
        ("vmk1", "vmnic3", "igb", "1.4-3"),
        ("vmk2", "vmnic4", "igb", None),
    ]
