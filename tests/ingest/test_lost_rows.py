"""A table that may have lost rows proves nothing by a row that is not there; the rows that are there are judged.

All outputs are synthetic, written below in the form that `esxcli network nic list` has on ESXi 6.5.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from analyzer.cli import main

RULE = """\
rule: {name}
title: A test of lost rows
source: [a test]
status: test
revised: 2026-11-21
about: A test of lost rows.
{body}
subject: host
outcomes:
  - {{when: true, severity: major, confidence: confirmed, say: NICs were counted}}
evidence: [{evidence}]
"""
HOST = "each: esx in esxi.version\njoin:\n  nic: {table: esxi.pnic, by: [], rows: many}\n"
RULES = {
    "few": (f"{HOST}when: count(nic) < 5", "esx.version"),
    "none": (f"{HOST}when: count(nic) == 0", "esx.version"),
    "some": (f"{HOST}when: any(not nic.link_up)", "esx.version"),
    "down": ("each: nic in esxi.pnic\nwhen: not nic.link_up", "nic.link_up"),
    "odd": ("each: nic in esxi.pnic\nwhen: nic.driver == 'nobody'", "nic.driver"),
}
PROMPT = "[root@esx01:~] "
HEAD = [
    "Name    PCI Device    Driver  Admin Status  Link Status  Speed  Duplex  MAC Address         MTU  Description",
    "------  ------------  ------  ------------  -----------  -----  ------  -----------------  ----  -----------",
]
# Masked in a way that no one foresaw: the whole line is of no form that the list is known to have.
STRANGE = (
    "vmnic2  <removed by us> igbn Up Up 1000 Full 00:50:56:00:00:02 1500 Intel Corporation I350"
)


def nic(number: int, link: str = "Up") -> str:
    """Return the line of a NIC."""
    name, pci, mac = f"vmnic{number}", f"0000:{number:02x}:00.0", f"00:50:56:00:00:{number:02x}"
    return f"{name:<6}  {pci}  igbn    Up            {link:<11}   1000  Full    {mac}  1500  Intel Corporation I350"


def verdicts(folder: Path, lines: list[str]) -> tuple[dict[str, str], str]:
    """Run `backline triage` over a session with a list of NICs; return rule -> verdict, and why nothing can be told."""
    case, kb = folder / "case", folder / "kb"
    case.mkdir()
    kb.mkdir()
    told = [
        f"{PROMPT}esxcli network nic list",
        *lines,
        f"{PROMPT}vmware -v",
        "VMware ESXi 6.5.0 build-4564106",
        PROMPT,
    ]
    (case / "session.txt").write_text("\n".join(told) + "\n", encoding="utf-8")
    for name, (body, evidence) in RULES.items():
        (kb / f"{name}.yaml").write_text(
            RULE.format(name=name, body=body, evidence=evidence), encoding="utf-8"
        )
    done = CliRunner().invoke(
        main, ["triage", str(case), "--kb", str(kb), "--no-packs", "--json", "-"]
    )
    assert done.exit_code in (0, 5), done.output
    document = json.loads(done.stdout)
    found = dict.fromkeys(RULES, "no_match")
    found |= {name: "cannot_tell" for group in document["cannot_tell"] for name in group["rules"]}
    found |= {one["rule"]: "match" for one in document["findings"]}
    own = [
        group for group in document["cannot_tell"] if not RULES.keys().isdisjoint(group["rules"])
    ]
    return {name: found[name] for name in RULES}, " ".join(group["why"] for group in own)


WHOLE = [*HEAD, nic(0), nic(1, "Down"), nic(3)]
LOST = {
    "between": [*HEAD, nic(0), nic(1, "Down"), STRANGE, nic(3)],
    "below": [*HEAD, nic(0), nic(1, "Down"), nic(3), STRANGE],
    "far below": [
        *HEAD,
        nic(0),
        nic(1, "Down"),
        nic(3),
        "",
        "..",
        STRANGE,
        STRANGE.replace("vmnic2", "vmnic4"),
    ],
    "no other row": [*HEAD, STRANGE],
}


@pytest.mark.parametrize("where", LOST)
def test_a_lost_row_makes_its_absence_unknown(tmp_path: Path, where: str) -> None:
    """Wherever the strange line stands: how many NICs there are, or that none is odd, is not known; those read count."""
    found, why = verdicts(tmp_path, LOST[where])
    seen = "cannot_tell" if where == "no other row" else "match"
    assert found == {
        "few": "cannot_tell",
        "none": "cannot_tell",
        "odd": "cannot_tell",
        "some": seen,
        "down": seen,
    }
    assert "not understood" in why


BESIDE = {
    "nothing": WHOLE,
    "heading above": ["NICs of the host", *WHOLE],
    "remark below": [
        *WHOLE,
        "The NIC vmnic1 has no cable, which our colleagues in the data centre know about.",
    ],
    "short remark below": [*WHOLE, "(end of list)"],
    "ruler between": [*HEAD, nic(0), "..", nic(1, "Down"), nic(3)],
    "ruler below": [*WHOLE, "======"],
    "masked address": [
        *HEAD,
        nic(0),
        nic(1, "Down"),
        nic(3).replace("00:50:56:00:00:03", "XX:XX:XX:XX:XX:XX"),
    ],
}


@pytest.mark.parametrize("what", BESIDE)
def test_a_remark_beside_a_table_loses_nothing(tmp_path: Path, what: str) -> None:
    """A heading, a sentence, a ruler or a masked cell is no row: the table is known whole."""
    found, _ = verdicts(tmp_path, BESIDE[what])
    assert found == {
        "few": "match",
        "none": "no_match",
        "odd": "no_match",
        "some": "match",
        "down": "match",
    }
