"""Scenes for redaction: material of every form with names, addresses and secrets planted in it, each known.

    python -m tests.kit.redaction_scenes            all scenes, every form
    python -m tests.kit.redaction_scenes WORD...    those whose name holds a word

What is true of a scene is read by `redaction_judge.py`, which shares no code with the product.
"""

from __future__ import annotations

import base64
import json
import random
import re
import shutil
import sys
import tempfile
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Formatter
from typing import Any

from click.testing import CliRunner

from analyzer.cli import main
from tests.kit.compare_kit import HostMoment, Vm
from tests.kit.redaction_judge import Made, Truth, judge_made, read_folder
from tools import nsx_site, nsxt_site
from tools.case_pack import pack_tar, tgz
from tools.case_text import esxtop_csv

ROOT = Path(__file__).resolve().parents[2]
FORMS = ("note", "jira", "markdown", "mail", "sarif", "junit", "csv", "jsonl", "html", "text")
Files = dict[str, bytes]

# Words that reports, tables, pages and this program say, or that every host has; machines are called so as well.
PRODUCT_WORDS = (
    "host", "memory", "network", "controller", "Time", "error", "Backline", "vmnic0", "All findings", "warning", "Fix", "finding",
    "critical", "major", "vm", "datastore", "none", "unknown", "report", "case", "log", "rule", "Summary", "esxi", "vmkernel", "nsx",
    "port", "packets", "ring", "Evidence", "true", "null", "10", "1", "2017", "UTC", "VMware ESXi", "root", "admin", "script", "table",
)  # fmt: skip


@dataclass(slots=True)
class Scene:
    """Material that is one case, and what is true of it; `tables`: its tables are judged as well, through an archive."""

    name: str
    files: Files
    truth: Truth
    tables: bool = False
    lines: int = 0  # planted
    fields: int = 0


class Names:
    """Gives names, addresses and ids that nothing else is called; `given` are all of them."""

    def __init__(self, seed: int | str) -> None:
        self.dice = random.Random(f"names/{seed}")
        self.given: list[str] = []
        self.number = 0

    def core(self) -> str:
        """Return letters that no word holds."""
        self.number += 1
        dice = self.dice
        letters = "".join(dice.choice("bdfgjkpqvxz") + dice.choice("aeiouy") for _ in range(4))
        return letters + dice.choice("bdfgjkpqvxz")

    def give(self, kind: str) -> str:
        """Return a new name of a kind, and remember what of it must go."""
        dice = self.dice
        word = self.core()
        digits = "".join(dice.choice("0123456789abcdef") for _ in range(32))
        if kind in ("ip", "ipv6", "mac", "uuid", "naa", "wwn", "wwid", "vmfs", "iqn"):
            made = {
                "ip": f"10.{dice.randint(60, 250)}.{dice.randint(60, 250)}.{dice.randint(60, 250)}",
                "ipv6": f"2a01:4f8:{digits[:3]}a:{digits[4:7]}b::{digits[8:11]}c",
                "mac": "00:50:56:" + ":".join(re.findall("..", digits[:6])),
                "uuid": "-".join(
                    (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
                ),
                "naa": f"naa.6006016{digits[:25]}",
                "wwn": ":".join(re.findall("..", f"5006016{digits[:9]}")),
                "wwid": f"5006016{digits[:9]}",
                "vmfs": "-".join((digits[:8], digits[8:16], digits[16:20], digits[20:])),
                "iqn": f"iqn.1998-01.com.vmware:{word}-{digits[:8]}",
            }[kind]
            telling = {
                "naa": made[11:],
                "iqn": word,
                "wwn": made[9:],
                "wwid": made[7:],
                "mac": made,
            }.get(kind, made)
            self.given.append(telling)
            return made
        self.given.append(word)
        return {
            "fqdn": f"{word}{self.number % 90 + 10}.{self.core_again()}.com",
            "email": f"j.{word}@{self.core_again()}.com",
            "account": f"{self.core_again().upper()}\\{word}",
            "host": f"esx-{word}-{self.number % 90 + 10:02d}",
            "vm": f"{word}-web{self.number % 9}",
            "ds": f"{word}_lun{self.number % 90:02d}",
            "pg": f"PG {word} {self.number % 90}",
            "title": f"{word.title()} prod {self.number % 90}",
            "user": f"j{word}",
            "ticket": word,
        }[kind]

    def core_again(self) -> str:
        """Return further letters that must go, for a part of a name."""
        word = self.core()
        self.given.append(word)
        return word

    def fill(self, template: str) -> str:
        """Return a template with a new name in each slot; the same slot twice is the same name."""
        slots = {name for _, name, _, _ in Formatter().parse(template) if name}
        return template.format(**{slot: self.give(slot.rstrip("_")) for slot in sorted(slots)})


# -- lines -----------------------------------------------------------------------------------------------------

HEAD = "2021-03-01T04:{minute:02d}:{second:02d}.775Z cpu25:33994)ALERT: hostd detected to be non-responsive: "
# Lines that say by themselves what is a name: by its form, by a word before it, by its place.
TELLING = (
    "user={user} logged in from {ip}", "User {account} logged out", 'VM "{vm}" is powered on', "/vmfs/volumes/{ds}/{vm}/{vm}.vmx",
    "[{ds}] {vm}/{vm}.vmdk is locked", "duplicate address {ip} at {mac}", "peer {ipv6} is gone", "connect to https://{fqdn}/sdk failed",
    "nfs: mount {fqdn}:/export to /vmfs/volumes/{ds}", "mail to {email} bounced", "initiator {iqn} logged in", "device {naa} lost",
    "path fc.{wwid}:{wwid_} dead", "WWPN {wwn} of vmhba2", "uuid={uuid} opened", 'hostName="{host}" joined', "vmm0:{vm} halted",
    "Event 12 : {vm} on {host} in ha-datacenter is powered on", "Event 77 : User {account}@{ip} logged in as VMware-client",
    "ping {fqdn} failed", "DNS name {fqdn} not found", '"vmName":"{vm}"', '"hostName":{{"value":"{fqdn}"}}',
    "<clusterName>{title}</clusterName>", "<hostName>{fqdn}</hostName>", "CN={fqdn},O={title},C=DE", "ldap://{fqdn}/dc={user}",
    "ssh root@{fqdn} uptime", "scp x root@{fqdn}:/tmp", "\\\\{host}\\share is full", "/home/{user}/x is full", "ticket 202{ip} of {email}",
    "tcp {ip}:443 -> {ip_}:902 reset", "arp {ip} is-at {mac}", "http://{ip}/ui 503", "vi://{user}@{fqdn}/dc", "syslog to udp://{fqdn}:514",
    "ntp server {fqdn} unreachable", "vmotion to {ip} failed", "[root]: esxcli storage nfs add -H {fqdn} -s /x -v {ds}",
    "[root]: esxcli network ip dns server add --server={ip}", "[root]: esxcli system hostname set --fqdn={fqdn}", "[root]: vim-cmd vmsvc/snapshot.create 7 \"{title}\"",
    "vmkping -I vmk1 {ip}", "[root]: vmkfstools -S {ds} /vmfs/devices/disks/x", "sudo: {user} : TTY=pts/0", "Accepted publickey for {user} from {ip} port 22",
    "Failed password for invalid user {user} from {ip} port 22", "pam: authentication failure for {user} from {ip}", "session opened for user {user} by (uid=0)",
    'Datastore "{ds}" is full', 'portgroup "{pg}" has no uplink', "Lost access to volume {vmfs} ({ds}) due to connectivity issues",
    "HA: master {fqdn} at {ip}", "vcenter={fqdn} answered", "domain {fqdn} joined", "snmp trap to {ip}/public", "kerberos principal {user}@{fqdn}",
    "host {fqdn} is down", "server={fqdn};port=443", "from {email} to {email_}", "dst={ip} src={ip_}", "0x0: {mac} -> {mac_}",
    'displayName = "{vm}"', "guestinfo.hostname = \"{fqdn}\"", "log_{ip}.gz rotated", "vmk0 {ip}/24", "route {ip}/24 via {ip_}", "lun {naa}:1 has reservations",
    "({ip}, {ip_}) closed", "at {ip}.", "Cookie of {account}", "VC:{fqdn} HB", "target {iqn}", "mounted {ip}:/vol", "reach {ipv6}/64", "mac={mac};", "id {uuid}:",
    '{{"displayName":"{vm}"}}', "resourcePool={title};", "folder={title};", "Cluster \"{title}\" is red", "network=\"{pg}\"", 'user "{user}" locked',
)  # fmt: skip
# Ways in which lines write a name that a table of the case tells.
SPELLED: tuple[Callable[[str], str], ...] = (
    lambda name: f"lost {name} again", lambda name: f"lost {name.upper()} again", lambda name: f"lost ({name})", lambda name: f"'{name}': gone",
    lambda name: f"x-{name}-y", lambda name: f"/var/{name}.log", lambda name: f"a={name}", lambda name: f"a={name},b", lambda name: f"<{name}>",
    lambda name: f"{name}: 7", lambda name: f"{name}.", lambda name: f"{name.replace('-', '_')} lost", lambda name: f"%2F{name.replace('-', '%2D')}%2F",
    lambda name: f"&quot;{name}&quot;", lambda name: f"\\\"{name}\\\"", lambda name: f"{name}0", lambda name: f"pre{name}post", lambda name: f"{name[:-1]}\u200b{name[-1]}",
    lambda name: "".join(f"\\u{ord(sign):04x}" for sign in name), lambda name: name.encode().hex(), lambda name: base64.b64encode(name.encode()).decode(),
    lambda name: f"{name}_1.vmdk", lambda name: f"{name}@{name}", lambda name: name.title(),
)  # fmt: skip

SECRETS = (
    "passwd --stdin root password={0}", "root:$6$abcdefgh${0}{0}{0}{0}{0}:18000:0:99999:7:::", "Authorization: Bearer {0}", "Authorization: Basic {0}==",
    "echo root:{0} | chpasswd", "echo 'admin:{0}' | sudo chpasswd", 'chpasswd <<< "root:{0}"', "plink -pw {0} root@10.0.0.1", "net use /user:x /pass:{0}", "smbclient -U user%{0}",
    "https://user:{0}@10.0.0.1/x", "ftp://bob:{0}@10.0.0.1/x", "token={0}", "api_key={0}", "apikey: {0}", "secret={0}", "client_secret={0}", "ghp_{0}{0}", "github_pat_{0}{0}",
    "glpat-{0}", "xoxb-{0}", "AIza{0}{0}", "npm_{0}{0}", "pypi-{0}{0}{0}", "sk-{0}A1", "hvs.{0}{0}", "AccountKey={0}==", "SharedAccessKey={0}=", "eyJhbGciOiJIUzI1NiJ9.{0}.{0}",
    "snmp community {0}", "community: {0}", "vmware_soap_session=\"{0}\"", "Cookie: JSESSIONID={0}", "mysql -u root -p{0}", "curl -u admin:{0} https://10.0.0.1", "PGPASSWORD={0} psql",
    "<password>{0}</password>", '"password":"{0}"', "password is {0}", "Password: {0}", "Passwort: {0}", "Kennwort={0}", "mot de passe : {0}", "contrase\u00f1a: {0}", "senha={0}",
    "wachtwoord: {0}", "has\u0142o: {0}", "heslo: {0}", "l\u00f6senord: {0}", "\u043f\u0430\u0440\u043e\u043b\u044c: {0}", "\u30d1\u30b9\u30ef\u30fc\u30c9: {0}", "\u5bc6\u7801\uff1a{0}",
    "\ube44\ubc00\ubc88\ud638: {0}", "adgangskode: {0}", "\u015fifre: {0}", "ipmitool -H 10.0.0.1 -U root -P {0} chassis", "ldapsearch -w {0} -D cn=x", "sshpass -p {0} ssh x",
    "esxcli system account set -i root -p {0} -c {0}", "openssl rsa -passin pass:{0}", "psk \"{0}\"", "chap secret {0}", "aws_secret_access_key={0}", "bindpw {0}", "tacacs-server key {0}",
)  # fmt: skip


def head_line(number: int, text: str) -> str:
    """Return a line of vmkernel.log in which a rule finds something."""
    return HEAD.format(minute=number // 60 % 60, second=number % 60) + text


def encode_files(files: dict[str, Any]) -> Files:
    """Return files as bytes."""
    return {name: body.encode() if isinstance(body, str) else body for name, body in files.items()}


def type_session(host: str, *said: tuple[str, str]) -> str:
    """Return a session of commands and their answers."""
    return "".join(f"[root@{host}:~] {command}\n{answer.rstrip()}\n" for command, answer in said)


def list_processes(names: Sequence[str]) -> str:
    """Return `esxcli vm process list` of VMs of these names."""
    return "".join(
        f"{name}\n   World ID: {1000 + n}\n   Process ID: 0\n   VMX Cartel ID: {2000 + n}\n"
        f"   UUID: 56 4d 12 ab 00 00 00 {n:02x}-00 11 22 33 44 55 66 77\n   Display Name: {name}\n"
        f"   Config File: /vmfs/volumes/gold/{name}/{name}.vmx\n\n"
        for n, name in enumerate(names)
    )


def list_ports(names: Sequence[str]) -> str:
    """Return `net-stats -l` of VMs of these names."""
    rows = (
        f"{33554440 + n}            5       9 vSwitch0         00:50:56:aa:00:{n:02x}  {name}.eth0\n"
        for n, name in enumerate(names)
    )
    return (
        "PortNum          Type SubType SwitchName       MACAddress         ClientName\n"
        + "".join(rows)
    )


def in_log(lines: Sequence[str], host: str) -> dict[str, dict[str, Any]]:
    """Return lines in every form in which they may come: form -> files."""
    text = "".join(f"{head_line(n, line)}\n" for n, line in enumerate(lines))
    bundle = HostMoment(name=f"{host}.lab.example", extra={"var/run/log/vmkernel.log": text})
    return {
        "bundle": dict(bundle.files()),
        "loose": {"vmkernel.log": text},
        "transcript": {"session.txt": type_session(host, ("cat /var/log/vmkernel.log", text))},
    }


def make_telling() -> Iterator[Scene]:
    """Yield lines that say by themselves what is a name, in each form of input."""
    for turn, form in enumerate(("bundle", "loose", "transcript")):
        names = Names(f"telling {form}")
        lines = [names.fill(template) for template in TELLING]
        files = in_log(lines, f"esx{turn + 11}")[form]
        yield Scene(
            f"telling lines, {form}",
            encode_files(files),
            Truth(tuple(names.given)),
            lines=len(lines),
        )


def make_spelled() -> Iterator[Scene]:
    """Yield lines that spell a known name in many ways."""
    names = Names("spelled")
    vms = [names.give("vm") for _ in range(3)]
    lines = [spell(name) for name in vms for spell in SPELLED]
    host = HostMoment(
        name=names.give("fqdn"),
        vms=[
            Vm(name, f"00:50:56:a6:81:{n:02x}", 33554470 + n, f"56 4d {n:02x}", missed=4000)
            for n, name in enumerate(vms)
        ],
        extra={
            "var/run/log/vmkernel.log": "".join(
                f"{head_line(n, line)}\n" for n, line in enumerate(lines)
            )
        },
    )
    yield Scene(
        "spelled lines, bundle",
        encode_files(dict(host.files())),
        Truth(tuple(names.given)),
        lines=len(lines),
    )


def make_secrets() -> Iterator[Scene]:
    """Yield lines that hold secrets of every kind, in each form of input."""
    for form in ("bundle", "loose", "transcript"):
        dice = random.Random(f"secrets/{form}")
        values = [
            "".join(dice.choices("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789", k=18))
            + "7"
            for _ in SECRETS
        ]
        lines = [template.format(value) for template, value in zip(SECRETS, values, strict=True)]
        files = in_log(lines, "esx14")[form]
        yield Scene(
            f"secrets, {form}", encode_files(files), Truth(secrets=tuple(values)), lines=len(lines)
        )


# -- things that are called oddly -------------------------------------------------------------------------------


def spell_odd(core: str) -> dict[str, str]:
    """Return ways to call a thing that are hard on patterns, pages, paths and terminals; each holds the core."""
    return {
        "quotes": f"it's \"{core}\"", "umlauts": f"{core}-m\u00fcnchen-\u00df", "NFD": unicodedata.normalize("NFD", f"{core}-m\u00fcnchen"),
        "right to left": f"{core}-\u05e9\u05e8\u05ea", "arabic": f"\u062e\u0627\u062f\u0645 {core}", "long": core + "x" * (255 - len(core)), "dots": f"{core}.v2.old..bak",
        "brackets": f"[{core}] (x) {{y}}", "regex": f"{core}.*+(y)[z]|^$\\d", "html": f"<b>{core}</b>&co;", "percent": f"100%{core}%20", "backslash": f"C:\\{core}\\x",
        "comma": f"{core}, prod; x", "equals": f"a={core}&b", "dollar": f"${{{core}}}", "hash": f"#{core}#", "japanese": f"{core}\u30b5\u30fc\u30d0", "emoji": f"{core}\U0001f600",
        "formula": f"=cmd|{core}!A0", "at": f"{core}@home", "tilde": f"~{core}~1", "underscore": f"_{core}_", "upper": core.upper(), "star": f"*{core}*", "tick": f"`{core}`",
        "colon": f"{core}:9", "plus": f"{core}+1", "blanks": f"{core}  two  blanks",
    }  # fmt: skip


def case_of_vms(host: str, names: Sequence[str], **more: Any) -> dict[str, Any]:
    """Return the bundle of a host and a session with VMs of these names whose rings are full."""
    vms = [
        Vm(
            name,
            f"00:50:56:a6:82:{n:02x}",
            33554470 + n,
            f"56 4d {n:02x} 77",
            world=35001 + 10 * n,
            missed=4000 + n,
        )
        for n, name in enumerate(names)
    ]
    return dict(HostMoment(name=host, vms=vms, crc=900_000, **more).files())


def make_odd() -> Iterator[Scene]:
    """Yield VMs with hostile names: all in one case, and hosts and VMs one of which begins like another."""
    names = Names("odd")
    odd = [names.core_again() for _ in range(28)]
    called = [list(spell_odd(core).values())[n] for n, core in enumerate(odd)]
    host = names.give("fqdn")
    files = case_of_vms(host, [name for name in called if "/" not in name])
    yield Scene("hostile names, bundle", encode_files(files), Truth(tuple(names.given)))
    names = Names("odd session")
    odd = [names.core_again() for _ in range(28)]
    called = [list(spell_odd(core).values())[n] for n, core in enumerate(odd)]
    text = type_session(
        "esx15",
        ("esxcli vm process list", list_processes(called)),
        ("net-stats -l", list_ports(called)),
    )
    log = "".join(f"{head_line(n, f'VM {name} is slow')}\n" for n, name in enumerate(called))
    text += type_session("esx15", ("cat /var/log/vmkernel.log", log))
    yield Scene(
        "hostile names, transcript",
        encode_files({"session.txt": text}),
        Truth(tuple(names.given)),
        lines=len(called),
    )
    names = Names("prefixes")
    core = names.core_again()
    called = [
        core,
        f"{core}1",
        f"{core}-db",
        f"{core}-db2",
        f"{core}-db2.old",
        f"{core.upper()}-X",
        f"db-{core}",
        f"{core}{core}",
    ]
    yield Scene(
        "names that begin alike",
        encode_files(case_of_vms(f"{core}.{names.core_again()}.com", called)),
        Truth(tuple(names.given)),
    )


def make_words() -> Iterator[Scene]:
    """Yield things called like words of the product, a few in a case and all in one, and hosts called so."""
    for start in range(0, len(PRODUCT_WORDS), 10):
        called = PRODUCT_WORDS[start : start + 10]
        names = Names(f"words {start}")
        files = case_of_vms(names.give("fqdn"), called)
        yield Scene(
            f"words of the product {start}",
            encode_files(files),
            Truth(tuple(names.given), words=called),
        )
    for word in (
        "host",
        "memory",
        "controller",
        "error",
        "backline",
        "localhost",
        "esxi",
        "vmnic0",
    ):
        files = case_of_vms(word, ["error", "host"])
        yield Scene(f"host called {word}", encode_files(files), Truth(words=("error", "host")))
    text = type_session(
        "memory",
        ("esxcli vm process list", list_processes(PRODUCT_WORDS)),
        ("net-stats -l", list_ports(PRODUCT_WORDS)),
    )
    yield Scene(
        "words of the product, transcript",
        encode_files({"session.txt": text}),
        Truth(words=PRODUCT_WORDS),
    )


# -- other forms of input ---------------------------------------------------------------------------------------


def make_captures() -> Iterator[Scene]:
    """Yield a capture of esxtop with names in its headings."""
    names = Names("esxtop")
    host, first, second = names.give("fqdn"), names.give("vm"), names.give("vm")
    text = (
        esxtop_csv(host)
        .replace("lin-app07", first)
        .replace("lin-db,02 (prod)", f"{second},02 (prod)")
    )
    yield Scene(
        "esxtop",
        encode_files({f"{names.core_again()}-esxtop.csv": text}),
        Truth(tuple(names.given)),
    )
    called = ("memory", "error")
    text = esxtop_csv(host).replace("lin-app07", called[0]).replace("lin-db,02 (prod)", called[1])
    yield Scene("esxtop, words", encode_files({"esxtop.csv": text}), Truth(words=called))


def make_managers() -> Iterator[Scene]:
    """Yield bundles of NSX Managers of both products, and what their hosts print."""
    names = Names("nsxv")
    manager, domain, host = names.give("host"), f"{names.core_again()}.com", names.core_again()
    files = {}
    log = (
        nsx_site.format_vsm_log(nsx_site.Site(silent=frozenset((2,)), cut=frozenset((41,))))
        .replace("lab.example", domain)
        .replace("esx41", host)
    )
    log += "".join(
        f"2017-10-02 08:50:{n:02d}.123 UTC  WARN TaskFrameworkExecutor-{n % 9} X:88 - {names.fill(line)}\n"
        for n, line in enumerate(TELLING[:40])
    )
    files[f"{manager}-techsupport.tgz"] = nsx_site.pack_manager(
        f"{manager}-techsupport", "6.3.3 Build 6276725", log
    )
    yield Scene(
        "NSX-V manager", encode_files(files), Truth(tuple(names.given)), tables=True, lines=40
    )
    names = Names("nsxt")
    own = names.give("fqdn")
    lines = "".join(
        nsxt_site.format_line(
            f"0{n // 60 + 3}:{n % 60:02d}:00.100",
            own,
            'comp="nsx-manager" subcomp="manager" errorCode="MP1"',
            names.fill(line),
            level="ERROR",
        )
        for n, line in enumerate(TELLING)
    )
    name, body = nsxt_site.manager_bundle(1, nsxt_site.format_quiet_log(own, "nsx-manager") + lines)
    site: dict[str, Any] = {
        "nsx-support-bundle.tar": pack_tar({name: body}),
        f"{own}.txt": nsxt_site.manager_cli(1).replace(nsxt_site.name_manager(1), own),
    }
    yield Scene(
        "NSX-T manager",
        encode_files(site),
        Truth(tuple(names.given)),
        tables=True,
        lines=len(TELLING),
    )


# Columns that hold names, by what they hold; the fields of a scene are the cells of samples in these columns.
COLUMNS = {
    "word": (
        "host_name", "hostname", "host", "node_name", "ntp_server", "nfs_server", "vm_name", "client_name", "vm_folder", "volume_name", "object_label", "portgroup", "dvportgroup",
        "opaque_network", "virtual_wire", "dvs_name", "dvs", "switch_name", "vdr", "lr_name", "router_name", "cluster_name", "datacenter", "edge_name", "entry_name",
        "port_name", "snapshot_name", "address_set", "user", "username", "peer", "transport_node", "remote_name", "fqdn", "neighbor_name", "backup_server", "ping_target",
        "controller_fqdn", "service_profile", "bridge", "lif", "interface_name", "vasa_provider", "vm_host", "said_by",
    ),
    "ip": (
        "address", "addresses", "broadcast", "controller_ip", "controllers", "destination", "dst", "gateway", "gateway_ip", "host_ip", "ip", "ip_address", "listen_ip", "local_ip",
        "manager_ip", "multicast_ip", "neighbor", "next_hop", "outer_ip", "remote_address", "remote_ip", "router_id", "src", "vtep_ip", "vip", "neighbor_address", "failed_from",
    ),
    "mac": ("mac", "inner_mac", "outer_mac", "gateway_mac", "controller_mac", "next_hop_mac", "holder_mac", "source_mac", "fcf_mac"),
    "uuid": (
        "alarm_id", "bios_uuid", "cluster_id", "controller_uuid", "disk_group_uuid", "dvs_uuid", "edge_uuid", "entity_uuid", "entry_uuid", "member_uuid", "node_uuid",
        "owner_uuid", "partition_guid", "peer_uuid", "remote_uuid", "session_uuid", "vm_uuid", "volume_uuid", "vsan_uuid", "master_uuid", "container_uuid",
    ),
    "naa": ("storage_device", "path_uid", "other_names", "endpoint_id", "disk_group", "target_uid", "hba_uid", "wwnn", "wwpn", "sas_address", "vml_name"),
    "serial": ("serial_number", "array_id"),
}  # fmt: skip


def read_samples() -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the texts of the samples and what is expected of them."""
    for path in sorted((ROOT / "samples").rglob("*.json")):
        if "cases" in path.parts:
            continue
        expected = json.loads(path.read_text(encoding="utf-8"))
        texts = [one for one in path.parent.glob(f"{path.stem}.*") if one.suffix != ".json"]
        if texts and ("command" in expected or "path" in expected):
            yield texts[0], expected


def replace_cell(names: Names, what: str, cell: str) -> str:
    """Return another cell of the same form, "" where the form is not known."""
    if (
        what == "ip"
        and re.fullmatch(r"\d+(\.\d+){3}", cell)
        and not cell.startswith(("0.", "127.", "255.", "22", "23"))
    ):
        return names.give("ip")
    if (
        what in ("mac", "uuid", "naa")
        and re.search(r"(?i)(?:[0-9a-f][ :.-]?){12}", cell)
        and " " not in cell[:2]
    ):
        digits = [sign for sign in cell if sign in "0123456789abcdefABCDEF"]
        made, seen = "", 0
        for sign in cell:
            if sign in "0123456789abcdef" and (seen := seen + 1) > min(8, len(digits) // 2):
                made += names.dice.choice("0123456789abcdef")
            else:
                made += sign
        names.given.append(made)
        return made
    if what == "serial" and re.fullmatch(r"[A-Z0-9]{7,}", cell):
        return names.core_again().upper() + "7"
    if (
        what == "word"
        and re.fullmatch(r"[A-Za-z][\w.-]{2,}", cell)
        and not re.fullmatch(r"(?:vmnic|vmk|vSwitch|eth)\d*|root|admin|localhost", cell)
    ):
        return names.core_again() + "".join(re.findall(r"\d+", cell))[:2]
    return ""


def make_fields() -> Iterator[Scene]:
    """Yield the samples of outputs with other names in their cells, each as it may come; their tables are judged."""
    names = Names("fields")
    wanted = {column: what for what, columns in COLUMNS.items() for column in columns}
    seen: dict[str, int] = {}
    files: dict[str, Any] = {}
    said: list[tuple[str, str]] = []
    members: dict[str, Any] = dict(HostMoment(name="esx16.lab.example").base())
    planted: set[str] = set()
    for path, expected in read_samples():
        text = path.read_text(encoding="utf-8", errors="replace")
        changed = text
        for table, rows in expected.get("rows", {}).items():
            for row in rows if isinstance(rows, list) else ():
                for column, cell in row.items() if isinstance(row, dict) else ():
                    if (
                        column not in wanted
                        or not isinstance(cell, str)
                        or seen.get(f"{table}.{column}", 0) > 2
                    ):
                        continue
                    before = len(names.given)
                    new = replace_cell(names, wanted[column], cell)
                    pattern = rf"(?<![\w.-]){re.escape(cell)}(?![\w-])"
                    if not new or not re.search(pattern, changed):
                        del names.given[before:]
                        continue
                    changed = re.sub(
                        pattern, new, changed
                    )  # letters, digits, dots: no group is in it
                    planted.add(f"{table}.{column}")
                    seen[f"{table}.{column}"] = seen.get(f"{table}.{column}", 0) + 1
        if changed == text:
            continue
        if "command" in expected:
            said.append((expected["command"], changed))
        else:
            members.setdefault(
                expected["path"].partition("/")[2]
                if expected["path"].startswith("esx-")
                else expected["path"],
                changed,
            )
    files["session.txt"] = type_session("esx16", *said)
    files["esx16.tgz"] = tgz(
        {
            f"esx-esx16.lab.example-2017-10-14--16.53-71234/{name}": body
            for name, body in members.items()
        }
    )
    yield Scene(
        "fields", encode_files(files), Truth(tuple(names.given)), tables=True, fields=len(planted)
    )


def make_given() -> Iterator[Scene]:
    """Yield files and folders whose own names tell a customer."""
    for form in (
        "{0}.log",
        "vmkernel-{0}.log",
        "{0} (1).txt",
        "esx-{0}-2017-10-14--16.53-71234.tgz",
        "{0}-esxtop.csv",
        "case {0}/vmkernel.log",
        "{0}.tar.gz",
        "2017-10-14_{0}_vmkernel.log",
    ):
        names = Names(f"given {form}")
        core = names.core_again()
        text = "".join(f"{head_line(n, 'x')}\n" for n in range(3))
        body: Any = esxtop_csv("esx71") if form.endswith("csv") else text
        if form.endswith("gz"):
            body = HostMoment(name="esx17.lab.example").files()["esx17.tgz"]
        yield Scene(f"file called {form}", encode_files({form.format(core): body}), Truth((core,)))


MAKERS: tuple[Callable[[], Iterator[Scene]], ...] = (
    make_telling, make_spelled, make_secrets, make_odd, make_words, make_captures, make_managers, make_fields, make_given,
)  # fmt: skip


def list_scenes() -> list[Scene]:
    """Return all scenes, in their order."""
    return [scene for maker in MAKERS for scene in maker()]


# -- running ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Run:
    """What commands said, and which of them failed."""

    made: Made = field(default_factory=Made)
    wrong: list[str] = field(default_factory=list)

    def call(self, *words: object, text: str | None = None) -> str:
        """Run a command in this process; return what it printed."""
        wide = {"COLUMNS": "1000"}  # a pseudonym broken over two lines is none for the judge
        done = CliRunner(env=wide).invoke(main, [str(word) for word in words], input=text)
        if done.exit_code not in (0, 5):
            said = (
                f"{type(done.exception).__name__}: {done.exception}"
                if done.exit_code == 1 and done.exception
                else ""
            )
            self.wrong.append(
                f"exit {done.exit_code} of {' '.join(map(str, words[:1]))} {words[-3:]}: {said}{done.stderr[-400:]}"
            )
        return done.stdout


def run_scene(scene: Scene, folder: Path, forms: Sequence[str] = FORMS) -> list[str]:
    """Write a scene, run the commands on it, and return what is not as its truth says."""
    source = folder / "in"
    for name, body in scene.files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes(body)
    tops = sorted({source / name.partition("/")[0] for name in scene.files})
    return run_paths(tops, folder, scene.truth, forms, tables=scene.tables)


def run_paths(
    paths: Sequence[Path],
    folder: Path,
    truth: Truth,
    forms: Sequence[str] = FORMS,
    *,
    tables: bool = False,
) -> list[str]:
    """Triage what lies at some paths plain and redacted, show it in all forms, and judge it."""
    run, map_file = Run(), folder / "map.json"
    hidden = ("--redact", "--redact-map", map_file)
    for kept, more in ((run.made.plain, ()), (run.made.redacted, hidden)):
        out = folder / ("redacted" if more else "plain")
        kept["terminal"] = run.call("triage", *paths, "-o", out, "--no-settings", *more)
        kept.update(read_folder(out))
        for form in forms if (folder / "plain/case.json").is_file() else ():
            kept[f"show {form}"] = run.call(
                "show", folder / "plain/case.json", "--format", form, *more
            )
        if forms:
            kept["log"] = run.call("log", *paths, "--no-pager", *more)
        if tables:
            read_export(run, kept, paths, folder, more)
    if run.wrong and "case.json" not in run.made.redacted:
        return run.wrong
    run.made.names = json.loads(map_file.read_text(encoding="utf-8"))["names"]
    run.made.reverse = lambda texts: (
        run.call("redact", "--reverse", map_file, "-", text="\n@@@@@\n".join(texts))
        .removesuffix("\n")
        .split("\n@@@@@\n")
    )
    for kept in (run.made.plain, run.made.redacted):
        for form in ("md", "mail", "text"):
            if f"show {form}" in kept:
                kept[f"show {form}"] = kept.pop(f"show {form}")
    return [*run.wrong, *judge_made(truth, run.made)]


def read_export(
    run: Run, kept: dict[str, str], paths: Sequence[Path], folder: Path, more: Sequence[object]
) -> None:
    """Keep the case in an archive, hand it out with its tables, and read what was handed out."""
    archive, out = folder / "archive", folder / ("handed-out" if more else "handed-plain")
    if not archive.exists():
        for path in paths:
            target = folder / "cases" / "case" / path.name
            target.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if path.is_dir() else shutil.copy)(path, target)
        run.call("batch", folder / "cases", "--archive", archive, "--jobs", 1)
    run.call("archive", "export", "--all", "--archive", archive, "-o", out, "--facts", "csv", *more)
    kept |= {
        f"export/{name}": text
        for name, text in read_folder(out).items()
        if not name.endswith("case.json")
    }


def main_scenes(words: Sequence[str]) -> int:
    """Run all scenes, or those whose name holds a word; print what is wrong, and return an exit code."""
    scenes = [
        scene for scene in list_scenes() if not words or any(word in scene.name for word in words)
    ]
    failed = 0
    for scene in scenes:
        with tempfile.TemporaryDirectory() as folder:
            wrong = run_scene(scene, Path(folder))
        failed += bool(wrong)
        print(f"{'wrong' if wrong else 'right'}  {scene.name}", flush=True)
        for one in wrong:
            print(f"       {one}")
    lines, fields = sum(scene.lines for scene in scenes), sum(scene.fields for scene in scenes)
    print(
        f"{len(scenes) - failed} of {len(scenes)} scenes right; {lines} lines and {fields} fields planted"
    )
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main_scenes(sys.argv[1:]))
