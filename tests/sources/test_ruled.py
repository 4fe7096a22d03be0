"""Outputs of many commands in one text, each below its command between two rules of dashes. All of it is synthetic.

Form: NSX CLI guide, `get support-bundle` without a file (80 dashes) and `on <node> exec <command>` (as long as the line).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.artefacts.parsing import registry
from analyzer.cli import main
from analyzer.sources.prompts import find_prompt
from analyzer.sources.transcript import TranscriptPiece, split

RULE = "-" * 80
EDGE = "bed20842-cfe5-0000-8d3a-df4977f87320 edg nsxt-edge-01"
DF = """Filesystem              Type     1K-blocks     Used Available Use% Mounted on
/dev/sda2               ext4      11287752  4921836   5772796  47% /
/dev/mapper/nsx-var+log ext4      28704764 27100000    120044 100% /var/log
"""
MANAGERS = "- 192.0.2.31       Connected (NSX-RPC) *\n- 192.0.2.32       Disconnected\n"


def head(command: str, rule: str = RULE) -> str:
    """Return a command between its rules."""
    return f"{rule}\n{command}\n{rule}\n"


def bundle(*more: str) -> str:
    """Return what `get support-bundle` prints: outputs that are read, and some that are not."""
    parts = (
        head("/usr/sbin/arp -n"),
        "Address   HWtype  Iface\n192.0.2.1 ether   eth0\n",
        head("/bin/df -lT"),
        DF,
    )
    return "nsxt-manager-01> get support-bundle\n" + "".join(parts + more)


def pieces(text: str) -> list[TranscriptPiece]:
    """Split a text as a run does."""
    return split(text.splitlines(), list(registry().values()))


def outputs(text: str) -> list[tuple[str | None, str, str, str]]:
    """Return parser, host, kind and command of each output of a text."""
    return [
        (one.parser, one.host, one.kind, one.command)
        for one in pieces(text)
        if one.role in ("output", "unread")
    ]


def triage(path: Path, code: int, *options: str) -> dict[str, Any]:
    """Run the command on a text and return its case document."""
    done = CliRunner().invoke(
        main, ["triage", str(path), "-o", str(path.parent / "out"), "--no-settings", *options]
    )
    assert done.exit_code == code, done.output
    document: dict[str, Any] = json.loads((path.parent / "out" / "case.json").read_text("utf-8"))
    return document


def test_each_output_goes_to_the_parser_of_its_command() -> None:
    """The host of the prompt has all outputs below it, those that nobody reads as well."""
    name, kind = "nsxt-manager-01", "nsxt_manager"
    assert outputs(bundle(head("/opt/vmware/nsx-cli/bin/nsxcli -c get managers"), MANAGERS)) == [
        (None, name, kind, "/usr/sbin/arp -n"),
        ("nsxt_df", name, kind, "/bin/df -lT"),
        ("nsxt_managers", name, kind, "/opt/vmware/nsx-cli/bin/nsxcli -c get managers"),
    ]


def test_no_line_of_a_head_is_part_of_an_output_or_lost() -> None:
    """Rules end the output above them, though its rows may be rules; every line is in one piece."""
    text = f"nsxt-manager-01> get support-bundle\n{head('nsxcli -c get managers')}{MANAGERS}{head('/bin/df -lT')}{DF}"
    text = text.replace("nsxcli -c", "/opt/nsxcli -c")
    found = pieces(text)
    assert [line for piece in found for line in piece.lines] == text.splitlines()
    assert all(RULE not in piece.lines for piece in found if piece.role != "command")


def test_answers_of_other_nodes_are_theirs() -> None:
    """`on … exec` asks other nodes: the head names which, and its kind; the command is the one that was sent to it."""
    asked = f"nsxt-manager-01> on {EDGE.split(maxsplit=1)[0]} exec get managers\n"
    text = asked + head(EDGE, "-" * len(EDGE)) + MANAGERS
    assert outputs(text) == [("nsxt_managers", "nsxt-edge-01", "nsxt_edge", "get managers")]


def test_a_ruler_or_a_line_of_words_between_rules_is_no_head() -> None:
    """Rules around words that are no path, rules of other lengths and the rulers of tables stay what they were."""
    for text in (
        head("Summary of the meeting"),
        f"{RULE}\n/bin/df -lT\n{'-' * 79}\n",
        f"{'-' * 20}\n/a\n{'-' * 20}\n",
    ):
        assert not [one for one in pieces(text) if one.role == "command"], text


def test_df_of_any_other_machine_is_not_that_of_a_node() -> None:
    """The same command at the prompt of a Linux guest gives no row of NSX-T."""
    assert "nsxt_df" not in [one.parser for one in pieces(f"root@web01:~# df -lT\n{DF}")]
    assert find_prompt("root@web01:~# df -lT") is not None


def test_a_full_partition_is_found_in_the_text_of_all_commands(tmp_path: Path) -> None:
    """`triage` of that text finds the full log partition, on the manager of the prompt and with the line of `df`."""
    path = tmp_path / "all.txt"
    path.write_text(bundle())
    (finding,) = [
        one for one in triage(path, 0)["findings"] if one["rule"] == "nsxt-partition-full"
    ]
    assert (finding["subject"], finding["object"]) == ("/var/log", "nsxt-manager-01")
    assert [(one["address"], one["line"], one["node"]) for one in finding["evidence"]] == [
        ("all.txt", 12, "nsxt-manager-01")
    ]


@pytest.mark.size
def test_a_text_larger_than_a_stretch_keeps_its_host(tmp_path: Path) -> None:
    """Outputs behind what a session may hold at once are read, and still belong to the manager that was asked."""
    path = tmp_path / "all.txt"
    noise = "".join(f"{head(f'/bin/cat /proc/{n}/maps')}{'x' * 900}\n" * 10 for n in range(500))
    path.write_text(bundle().replace(DF, "") + noise + head("/bin/df -lT /var/log") + DF)
    document = triage(path, 0, "--limit", f"block_bytes={5 << 19}")
    assert path.stat().st_size > 5 << 20
    assert [(one["rule"], one["node"]) for one in document["findings"]] == [
        ("nsxt-partition-full", "nsxt-manager-01")
    ]
    assert document["limits"] == []
