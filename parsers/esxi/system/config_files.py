"""Small configuration files of a host: time service, logging, name resolution, SSH; one row a line that sets something.

Source: `etc/ntp.conf` (`server NAME`), `etc/vmsyslog.conf` (`[section]`, `key = value`), `etc/resolv.conf`,
`etc/hosts`, `etc/ssh/sshd_config` (`Key value`). A key may come more than once.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import MOST_LINE, Output, Parser, fault_at
from analyzer.artefacts.tables import Block, Column, Row, Table

TABLE = Table.of(
    "esxi.config_line",
    "Lines of small configuration files of the host, one row a setting.",
    "etc/ntp.conf, etc/vmsyslog.conf, etc/resolv.conf, etc/hosts, etc/ssh/sshd_config",
    Column(
        "config_file",
        "str",
        "name of the file: ntp.conf, vmsyslog.conf, resolv.conf, hosts, sshd_config",
    ),
    Column("config_section", "str", "section it stands in, where the file has sections"),
    Column(
        "config_key",
        "str",
        "what is set: server, loghost, nameserver, PermitRootLogin; of hosts the address",
    ),
    Column("config_text", "str", "what it is set to; none where the key stands alone"),
    ask="`cat /etc/ntp.conf`",
)

_NAMES = r"ntp\.conf|vmsyslog\.conf|resolv\.conf|hosts|sshd_config"
_TOP = (
    r"(?:esx|vc\w*)-[^/]+-\d{4}-\d\d-\d\d--\d\d\.\d\d(?:-\d+)?"  # other bundles have such files too
)
_FILE = re.compile(rf"(?:^|[/\s])etc/(?:ssh/)?(?P<name>{_NAMES})(?:$|\s)")
_SECTION = re.compile(r"\s*\[(?P<name>[^\[\]]{1,80})\]\s*$")
_SETTING = re.compile(
    r"\s*(?P<key>[A-Za-z0-9_.:%-]{1,80})(?:\s*=\s*(?P<set>.*)|\s+(?P<words>\S+(?:\s+\S+){0,8}))?\s*$"
)


def parse_block(block: Block) -> Output:
    """Read the settings of a file; comments and blank lines are none."""
    found = _FILE.search(block.command) or _FILE.search(block.address)
    section: str | None = None
    for number, line in enumerate(block.lines, block.first_line):
        if not line.strip() or line.lstrip().startswith(("#", ";")):
            continue
        if title := _SECTION.match(line):
            section = title["name"]
        elif len(line) <= MOST_LINE and (setting := _SETTING.match(line)):
            values = {"config_file": found["name"] if found else None, "config_section": section}
            values |= {
                "config_key": setting["key"],
                "config_text": (setting["set"] or setting["words"] or "").strip() or None,
            }
            yield Row(TABLE, {**values}, block, number)
        else:
            yield fault_at(block, number, PARSER.name, "not a setting")


PARSER = Parser(
    name="config_files",
    tables=(TABLE,),
    parse=parse_block,
    node="esxi",
    files=(r"(?:^|/)etc/vmsyslog\.conf$", rf"(?:^|/){_TOP}/etc/(?:ssh/)?(?:{_NAMES})$"),
    commands=(rf"\b(?:cat|more|less)\s+/etc/(?:ssh/)?(?:{_NAMES})\s*$",),
    body=r"^\s*(?:#.*|;.*|\[[^\[\]]{1,80}\]|[A-Za-z0-9_.:%-]{1,80}(?:\s*=.*|\s+\S+(?: \S+){0,8})?)\s*$",
    common=True,
)
