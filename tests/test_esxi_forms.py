"""Forms of ESXi's texts that real hosts print, read through the command. All texts here are made up.

Each follows the documented form of its output; the names in them belong to nobody.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from analyzer.cli import main


def rows(folder: Path, name: str, text: str, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table that `backline tables` prints of a file, without empty cells."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    done = CliRunner().invoke(main, ["tables", str(path), table, "--json"])
    assert done.exit_code == 0, done.output
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return [{key: cell for key, cell in row.items() if cell is not None} for row in found]


def not_understood(folder: Path, name: str, text: str) -> int:
    """Return how many lines of a file `backline tables` says were not understood."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    done = CliRunner().invoke(main, ["tables", str(path), "--json"])
    assert done.exit_code == 0, done.output
    return int(json.loads(done.stdout)["lines_not_understood"])


def test_port_groups_of_esxcli_are_rows_with_the_switch_above_them(tmp_path: Path) -> None:
    """`esxcli network vswitch standard list` names port groups: blanks stay in a name, no switch gets another's."""
    keys = "   Class: cswitch\n   Num Ports: 2560\n   Used Ports: 4\n   MTU: 1500\n   Uplinks: vmnic0\n"
    text = (
        f"vSwitch0\n   Name: vSwitch0\n{keys}   Portgroups: VM Network, Management Network\n\n"
        f"vSwitch1\n   Name: vSwitch1\n{keys}   Portgroups: \n\n"
        f"iSCSI\n   Name: iSCSI\n{keys}   Portgroups: iSCSI-A\n"
    )

    found = rows(tmp_path, "switches.txt", text, "esxi.portgroup")

    named = [(row["switch"], row["portgroup"], row["_line"]) for row in found]
    assert named == [("vSwitch0", "VM Network", 8), ("vSwitch0", "Management Network", 8), ("iSCSI", "iSCSI-A", 26)]
