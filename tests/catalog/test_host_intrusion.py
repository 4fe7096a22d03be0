"""What an intruder does on a host is told from what an administrator does; all lines here are synthetic."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from analyzer import kb
from analyzer.artefacts.tables import Block, Row
from parsers.esxi.logs.host_deed import parse_block, read_signs

PATTERNS = yaml.safe_load((Path(kb.__file__).parent / "shared.yaml").read_text(encoding="utf-8"))
BEFORE_PARSING = re.compile(PATTERNS["patterns"]["host_deed"])

TYPED = {
    "acceptance-shell": ["esxcli software acceptance set --level CommunitySupported"],
    "account-shell": [
        "esxcli system account add -i op -p secret -c secret",
        "esxcli system permission set -i op -r Admin",
    ],
    "admins-group": [
        "vim-cmd hostsvc/advopt/update Config.HostAgent.plugins.hostsvc.esxAdminsGroup string x"
    ],
    "chmod-shell": [
        "chmod +x /tmp/enc",
        "chmod 777 ./enc",
        "chmod a+rwx /vmfs/volumes/datastore1/enc",
    ],
    "exec-shell": [
        "esxcli system settings advanced set -o /User/execInstalledOnly -i 0",
        "esxcli system settings kernel set -s execinstalledonly -v FALSE",
        "esxcli system settings encryption set --require-exec-installed-only=F",
    ],
    "files-encrypted": ["ls vm1.vmdk.locked", "mv vm1.vmx vm1.vmx.encrypted"],
    "firewall-shell": [
        "esxcli network firewall set --enabled false",
        "esxcli network firewall set -e=false",
        "esxcli network firewall unload",
        "esxcli network firewall set --default-action true",
    ],
    "history-shell": [
        "rm -f /.ash_history",
        "history -c",
        "> /var/log/shell.log",
        "unset HISTFILE",
    ],
    "lockdown-shell": ["vim-cmd -U dcui vimsvc/auth/lockdown_mode_exit"],
    "logs-removed": [
        "rm -rf /var/log/*",
        "rm /scratch/log/hostd.log",
        "/etc/init.d/vmsyslogd stop",
    ],
    "nosigcheck-shell": ["esxcli software vib install -v /tmp/x.vib --no-sig-check"],
    "ransom-note": [
        'esxcli system welcomemsg set -m "your files are encrypted"',
        "echo all files were encrypted > /etc/motd",
    ],
    "run-over-volumes": [
        "/tmp/enc /vmfs/volumes",
        "nohup ./enc -t 20 /vmfs/volumes/ &",
        "chmod +x enc; ./enc /vmfs/volumes/datastore1",
    ],
    "snapshots-removed-loop": [
        "for i in $(vim-cmd vmsvc/getallvms | awk '{print $1}'); do vim-cmd vmsvc/snapshot.removeall $i; done"
    ],
    "ssh-key": ["echo ssh-ed25519 AAAA >> /etc/ssh/keys-root/authorized_keys"],
    "vm-killed": ["esxcli vm process kill --type=force --world-id=2101200"],
    "vms-stopped-loop": [
        "for i in 1 2 3; do vim-cmd vmsvc/power.off $i; done",
        "esxcli vm process list | grep 'World ID' | awk '{print $3}' | xargs -n1 esxcli vm process kill -t=force -w",
        "pkill -9 vmx-",
    ],
    "welcome-shell": ["esxcli system welcomemsg set -m hello", "echo hello > /etc/motd"],
}
EVENTS = {
    "acceptance-event": ["esx.audit.esximage.hostacceptance.changed"],
    "exec-event": ["esx.audit.uw.security.User.ExecInstalledOnly.disabled"],
    "exec-violation": ["esx.audit.uw.security.execInstalledOnly.violation"],
    "firewall-event": ["esx.audit.net.firewall.disabled"],
    "lockdown-event": ["esx.audit.lockdownmode.disabled"],
    "nosigcheck-event": [
        "esx.audit.esximage.install.nosigcheck",
        "esx.audit.esximage.install.securityalert",
    ],
    "shell-opened": ["esx.audit.ssh.enabled", "esx.audit.shell.enabled"],
    "supershell": ["esx.audit.supershell.access"],
}
AGENT = (
    "2025-06-01T02:11:40.001Z info hostd[2099995] [Originator@6876 sub=Vimsvc.ha-eventmgr] "
    "Event 137 : Account op was created on host esx0.lab.example"
)
ORDINARY = [
    "esxcli network nic list",
    "esxcli network firewall get",
    "esxcli network firewall set --enabled true",
    "esxcli network firewall ruleset set -e true -r httpClient",
    "esxcli software vib install -d /vmfs/volumes/datastore1/patch.zip",
    "esxcli software acceptance get",
    "esxcli software acceptance set --level PartnerSupported",
    "esxcli system settings advanced set -o /User/execInstalledOnly -i 1",
    "esxcli system settings advanced list -o /User/execInstalledOnly",
    "esxcli system account list",
    "esxcli system welcomemsg get",
    "esxcli vm process list",
    "esxcli vm process kill --type=soft --world-id=2101200",
    "vim-cmd vmsvc/snapshot.removeall 12",
    "vim-cmd vmsvc/power.off 12",
    "for i in $(esxcli network nic list | awk '{print $1}'); do ethtool -i $i; done",
    "ls -l /vmfs/volumes",
    "find /vmfs/volumes -name '*.vmdk'",
    "cd /vmfs/volumes/datastore1",
    "/vmfs/volumes/datastore1/ghettoVCB.sh -g /vmfs/volumes/datastore1/ghettoVCB.conf -f list",
    "./report.sh /vmfs/volumes",
    "tail -f /var/log/vmkernel.log",
    "grep -i encrypted /var/log/hostd.log",
    "less /var/log/shell.log",
    "rm /tmp/patch.zip",
    "cat /etc/ssh/keys-root/authorized_keys",
    "chmod 644 /tmp/notes.txt",
    "vmkfstools -i a.vmdk /vmfs/volumes/datastore2/a.vmdk",
    "history",
]


def list_lines() -> list[tuple[str, str]]:
    """Return the name of each sign with the lines that show it."""
    found = [("account-event", AGENT)]
    for sign, commands in TYPED.items():
        for command in commands:
            found.append(
                (sign, f"2025-06-01T02:11:40.001Z In(14) shell[2101010]: [root]: {command}")
            )
    for sign, events in EVENTS.items():
        for event in events:
            line = f"2025-06-01T02:11:40.101Z: [GenericCorrelator] 8640001us: [{event}] (synthetic)"
            found.append((sign, line))
    return found


def read_line(line: str) -> list[str | None]:
    """Return the signs that the parser finds in one line."""
    found = []
    for item in parse_block(Block([line], 1, "shell.log")):
        if isinstance(item, Row):
            found.append(str(item.values["deed_sign"]))
    return found


def test_every_sign_has_a_line_here() -> None:
    assert {sign for sign, _ in list_lines()} == {sign.name for sign in read_signs()}


def test_a_line_is_read_as_its_sign() -> None:
    for sign, line in list_lines():
        assert read_line(line) == [sign], line


def test_what_the_parser_reads_is_found_in_the_log_first() -> None:
    for _, line in list_lines():
        assert BEFORE_PARSING.search(line), line


@pytest.mark.parametrize("command", ORDINARY)
def test_ordinary_work_is_no_deed(command: str) -> None:
    assert read_line(f"2025-06-01T02:11:40.001Z shell[2101010]: [root]: {command}") == []
