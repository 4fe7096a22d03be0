"""A small archive to ask: made-up hosts whose facts are written down here, judged by shipped rules and stored."""

from __future__ import annotations

import copy
import hashlib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from analyzer.archive.entry import Entry
from analyzer.archive.object_store.object_store import FORMAT
from analyzer.archive.packs.encode import encode_case, none_pack
from analyzer.archive.prints import UNJUDGED, source_key
from analyzer.archive.store import Archive
from analyzer.archive.upkeep.compaction import compact_archive
from analyzer.artefacts import parsing
from analyzer.artefacts.tables import Block, Row
from analyzer.commands import archive as commands
from analyzer.facts import Facts
from analyzer.pipeline.case_data import CaseData, conclude
from analyzer.rules import Catalog, run_catalog
from analyzer.rules.run_catalog import Local
from analyzer.rules.settings import Settings
from analyzer.runtime.limits import Limits
from analyzer.scan.hits import Hit, LogScan

READING, JUDGING = "a" * 12, "b" * 12
RULES = ("pnic-loses-packets", "kb-2039495", "beacon-probing")
BEGAN = 1_700_000_000_000
FORMS = ["packs", "segments"]
LOST = "2026-03-01T07:00:00Z: [netCorrelator] 1us: [esx.problem.net.connectivity.lost] Lost network CONNECTIVITY (made up)"


@dataclass
class Host:
    """A made-up host: its NICs as (name, driver, version, missed frames), None where a value was not told."""

    name: str
    version: str = "6.5.0"
    nics: list[tuple[str, str | None, str | None, int | None]] = field(default_factory=list)
    complete: bool = True
    kind: str = "esxi"
    teams: int | None = None  # uplinks of a team with beacon probing
    lines: tuple[str, ...] = ()  # of vobd.log, that a signature hit
    covers: dict[str, tuple[str, str]] = field(default_factory=dict)  # table -> state, why


@cache
def catalog() -> Catalog:
    """Return three of the shipped rules; the one on beacon probing with a made-up article, to search by."""
    every = run_catalog.load_run_catalog(Local(), (), limits=Limits(), drafts=False)
    chosen = Catalog(
        [copy.copy(rule) for rule in every.rules if rule.id in RULES]
    )  # shared by all tests
    chosen["beacon-probing"].kb = [999999999]
    return chosen


def material(name: str, hosts: list[Host], created: str) -> CaseData:
    """Return the material of a case."""
    facts, nodes, tables = Facts(), [], parsing.tables()
    for number, host in enumerate(hosts):
        key = f"n{number}"
        facts.node(key, host.name, host.kind, captured=created)
        if not host.complete:
            facts.incomplete(key)
        nodes.append(
            {
                "id": key,
                "name": host.name,
                "kind": host.kind,
                "product": "VMware ESXi",
                "version": host.version,
            }
        )
        for nic, driver, version, missed in host.nics:
            info = Block(
                [f"{nic} {driver} {version}"],
                1,
                f"{host.name}.tgz!commands/nicinfo.sh.txt",
                order=number,
            ).assign_node(key)
            facts.add(
                Row(
                    tables["esxi.pnic_info"],
                    {"pnic": nic, "driver": driver, "driver_version": version},
                    info,
                    1,
                )
            )
            stats = Block(
                [f"missed {missed}"], 40, f"{host.name}.tgz!commands/nicinfo.sh.txt", order=number
            ).assign_node(key)
            values = {
                "pnic": nic,
                "rx_packets": 10**6,
                "rx_missed_errors": missed,
                "rx_errors": missed,
            }
            facts.add(Row(tables["esxi.pnic_stats"], values, stats, 40))
        if host.teams is not None:
            block = Block(
                ["beacon"], 7, f"{host.name}.tgz!commands/team.txt", taken=created
            ).assign_node(key)
            team = {
                "switch": "vSwitch0",
                "failure_detection": "beacon",
                "load_balancing": "srcid",
                "n_uplinks": host.teams,
            }
            facts.add(Row(tables["esxi.teaming"], team, block, 7))
        if host.lines:
            scan = LogScan("esxi.vobd", f"{host.name}.tgz!var/log/vobd.log", "").assign_node(key)
            scan.hits = [
                Hit("made-up/lost", scan.address, 10 + n, line) for n, line in enumerate(host.lines)
            ]
            scan.counts = {"made-up/lost": len(host.lines)}
            facts.add_hits(scan)
        for table, (state, why) in host.covers.items():
            facts.cover(key, table, state, why)
    return CaseData(
        facts=facts, name=name, files=[], created=created, span=None, complete=all(host.complete for host in hosts),
        nodes=nodes, sources=[], events=[], topology=[], faults=[], faults_total=0, damage=[], limits=[], advice=[],
    )  # fmt: skip


def meta(name: str, case: str, state: str = "ok", why: str = "") -> dict[str, Any]:
    """Return the meta of a case."""
    return {
        "format": FORMAT, "id": case, "name": name, "source": f"/cases/{name}", "stored": "2026-05-01T00:00:00Z",
        "tool": "0.1.0", "reading": READING, "judging": JUDGING, "catalog": "0" * 12, "settings": "", "state": state,
        "why": why, "searched": [], "seconds": 0.1, "bytes": 10, "files": 1,
    }  # fmt: skip


def id_of(name: str, content: str = "") -> str:
    """Return the id of a case."""
    return hashlib.sha256(f"{name}/{content}".encode()).hexdigest()[:32]


def put(
    archive: Archive,
    name: str,
    hosts: list[Host],
    created: str = "2026-03-01T08:00:00Z",
    content: str = "",
) -> Entry:
    """Judge a made-up case and store it."""
    stuff = material(name, hosts, created)
    outcome = conclude(stuff, catalog(), Settings(), Limits())
    case = id_of(name, content)
    stamp = BEGAN + len(list(archive.objects.list("packs/")))
    entry = Entry(case, source_key(f"/cases/{name}"), READING, JUDGING, stamp, "full")
    state = "ok" if stuff.complete else "partial"
    return archive.put_pack(entry, encode_case(stuff, outcome, meta(name, case, state)))


def refuse(archive: Archive, name: str, why: str = "nothing could be read") -> Entry:
    """Store a case that was refused."""
    case = id_of(name)
    stamp = BEGAN + len(list(archive.objects.list("packs/")))
    entry = Entry(case, source_key(f"/cases/{name}"), READING, UNJUDGED, stamp, "none")
    return archive.put_pack(entry, none_pack(meta(name, case, "refused", why)))


def filled(place: str | Path) -> Archive:
    """Return an archive of six cases, one of which was refused.

    acme-1   host-a: ixgben 1.7.1 on vmnic0, which missed frames, on 6.5: the host of the question; has a lost line
    acme-2   host-b: ixgben 1.8.0 on vmnic0 and 1.7.1 on vmnic1, but only vmnic0 missed frames
    acme-3   host-c: nothing of its NICs came in; host-d: 6.7
    bert-1   host-e: cut; its NIC is fine as far as one sees; beacon probing
    bert-2   a guest alone
    bert-3   refused
    """
    archive = Archive.open(place, create=True)
    a = Host(
        "host-a",
        nics=[("vmnic0", "ixgben", "1.7.1", 9121), ("vmnic1", "ixgben", "1.7.1", 0)],
        lines=(LOST,),
    )
    b = Host("host-b", nics=[("vmnic0", "ixgben", "1.8.0", 77), ("vmnic1", "ixgben", "1.7.1", 0)])
    put(archive, "acme-1", [a], "2026-03-01T08:00:00Z")
    put(archive, "acme-2", [b], "2026-04-02T08:00:00Z")
    d = Host("host-d", "6.7.0", [("vmnic0", "nenic", "1.0.1", 5)])
    put(
        archive,
        "acme-3",
        [Host("host-c", covers={"esxi.pnic_stats": ("read", "")}), d],
        "2025-12-31T23:00:00Z",
    )
    put(
        archive,
        "bert-1",
        [Host("host-e", nics=[("vmnic0", "ntg3", "4.1.0", 0)], complete=False, teams=2)],
        "2024-01-05T08:00:00Z",
    )
    put(archive, "bert-2", [Host("guest-1", "", kind="guest")], "2024-01-06T08:00:00Z")
    refuse(archive, "bert-3")
    return archive


def in_form(form: str, place: Path) -> Path:
    """Return the folder of the same archive as loose packs, or compacted: one of FORMS."""
    stored = filled(place)
    if form == "segments":
        assert compact_archive(stored, older_than=0).cases == 6
    return place


def run(*words: str | Path, stdin: str | bytes | None = None) -> Result:
    """Run `backline archive WORDS` in this process; an internal error is no answer."""
    done = CliRunner().invoke(commands.command, [str(word) for word in words], input=stdin)
    assert "internal error" not in done.stderr, done.stderr
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done
