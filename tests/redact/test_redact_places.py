"""Names in places that no table has: what a line shows is replaced, and what only looks like a name stays as it is.

All lines are synthetic; their forms are those of vmkernel, hostd, sshd, sudo, esxcli and NSX.
"""

from __future__ import annotations

import base64
import io
import tarfile
import urllib.parse
from pathlib import Path

import pytest
from click.testing import CliRunner

from analyzer.cli import main
from analyzer.secrets.values import hide
from tests.kit.redaction_check import left

HOST, VM, SPACED = "zq-esxnode17", "WZQ-SAPdb04", "Kestrel Billing"
KNOWN = f"""[root@{HOST}:~] esxcli vm process list
{VM}
   World ID: 1000
   Process ID: 0
   VMX Cartel ID: 2000
   UUID: 56 4d 12 ab 00 00 00 00-00 11 22 33 44 55 66 77
   Display Name: {VM}
   Config File: /vmfs/volumes/GoldZq/{VM}/{VM}.vmx

{SPACED}
   World ID: 1001
   Process ID: 0
   VMX Cartel ID: 2001
   UUID: 56 4d 12 ab 00 00 00 01-00 11 22 33 44 55 66 77
   Display Name: {SPACED}
   Config File: /vmfs/volumes/GoldZq/{SPACED}/{SPACED}.vmx

"""
# A line, and what of it must not be left; `=` alone says that the line stays as it is.
LINES = [
    # names that the tables know, written in other ways
    ("GET /x/" + urllib.parse.quote(urllib.parse.quote(SPACED)), "Kestrel", "Billing"),
    ("GET /x/" + "".join(f"%25{ord(sign):02X}" for sign in VM), "%2557"),
    ("escaped " + "".join(f"\\x{ord(sign):02x}" for sign in VM), "\\x57"),
    ("escaped " + "".join(f"\\{ord(sign):03o}" for sign in VM), "\\127"),
    ("escaped " + "".join(f"\\\\u{ord(sign):04x}" for sign in VM), "\\u0057", "\\u005a"),
    ("wide \uff37\uff3a\uff31-\uff33\uff21\uff30\uff44\uff42\uff10\uff14", "\uff37\uff3a"),
    ("mount /vmfs/volumes/x/Kestrel\\040Billing/y", "Kestrel", "Billing"),
    ("cd /vmfs/volumes/x/Kestrel\\ Billing", "Kestrel", "Billing"),
    ("name=Kestrel+Billing&x=1 and =?utf-8?Q?Kestrel=20Billing?=", "Kestrel", "Billing"),
    (f"Opening {VM}-000001.vmdk {VM}_1.vswp {VM}-Snapshot12.vmsn vmx-{VM}-123456.vswp", VM),
    ("blob " + base64.b64encode(f"vm {VM} up".encode()).decode(), base64.b64encode(f"vm {VM} up".encode()).decode()[4:16]),
    # VMs that no table has
    ("World: vm 2099123: 1250: Starting world vmm0:Platypus-erp01 of type 8", "Platypus"),
    ("vmx-vcpu-0:Echidna-hr02 is stuck", "Echidna"),
    ("NetPort: 1879: disabled port 0x3000006 client Bandicoot-sql9.eth0", "Bandicoot"),
    ("Vmxnet3: 18576: Bilbymail7.eth1,00:50:56:9a:bb:01, portID(67108870)", "Bilbymail", "9a:bb:01"),
    ("[Originator@6876 sub=Hostsvc] Could not open Wombatfarm-000001.vmdk: busy", "Wombatfarm"),
    ("Failed to lock 'Quokkatest_2-flat.vmdk'", "Quokkatest"),
    ("Event 4711 : Lemurdb on zqevhost.quixfirm.com in ha-datacenter is powered on", "Lemurdb", "zqevhost"),
    ("Event 4712 : Virtual machine Lemurtwo disks consolidated on zqe.quixfirm.com in cluster ZqClu7 in ZqCenter8.", "Lemurtwo",
     "ZqClu7", "ZqCenter8"),
    ('displayName = "Tapir nine"', "Tapir nine"),
    # users
    ("user QUIXDOM\\\\svc_zqvc denied", "QUIXDOM", "svc_zqvc"),
    ("sudo: zqsudo : TTY=pts/0 ; USER=root ; COMMAND=/bin/ls", "zqsudo"),
    ("pam: session opened for user zqsess1 by (uid=0); ruser=zqruser rhost=zqrhost77", "zqsess1", "zqruser", "zqrhost77"),
    ("C:\\Users\\zqwinuser\\AppData /home/zqlinuser", "zqwinuser", "zqlinuser"),
    ("zqshadow:$6$zqsalt$zqHashValueXX/abcdefghijklmnop:18000:0:99999:7:::", "zqshadow", "zqHashValue"),
    ("ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABZQSSHKEY77zz zquser@zqjump01", "ZQSSHKEY", "zquser", "zqjump01"),
    ("bind CN=zq svc esx,OU=Zq Service,DC=quixfirm,DC=com failed; cn=zquser9,dc=zqad,dc=net", "zq svc", "Zq Service", "zquser9", "zqad"),
    ("sshd[2105]: Connection closed by authenticating user zqclosed8 203.0.113.11 port 4242 [preauth]", "zqclosed8"),
    ("sshd[2106]: Disconnected from user zqdisc7 203.0.113.12 port 4242", "zqdisc7"),
    ("su: FAILED SU (to root) zqlwolf on pts/0; shell[2107]: [zqtyper2]: esxcli network nic list", "zqlwolf", "zqtyper2"),
    ("LDAP bind uid=zqoper4,ou=people,dc=zqdirx,dc=example failed for QUIX.DOMAIN.EXAMPLE failed", "zqoper4", "zqdirx"),
    ("<userName>zqxmluser1</userName> <hostName>zqxmlhost1</hostName> on <state>up</state>", "zqxmluser1", "zqxmlhost1"),
    ("CHAP name zqchapname5 secret zqchapsecret1; smbclient -U zqsmbuser3%x //zqfiler9/zqshare9", "zqchapname5", "zqchapsecret1",
     "zqsmbuser3", "zqfiler9", "zqshare9"),
    ("snmpd: SHA1 user zqv3user authHash 5f4dcc3b5aa765d61d8327deb882cf99", "zqv3user", "5f4dcc3b5aa7"),
    # hosts
    ("ntpd: DNS zqntp1 -> 203.0.113.61; Event 812 : Migrating Lemurthree from zqmig01, zqdsone to zqmig02, zqdstwo in ZqCenter8",
     "zqntp1", "zqmig01", "zqmig02", "zqdsone", "zqdstwo"),
    ("esxcli storage nfs41 add -H zqnashost6 -s /zqexport6 -v zqnfslabel6", "zqnashost6", "zqexport6", "zqnfslabel6"),
    ("GET /folder/Zq%20Lohn%20B%C3%BCro/x.vmx?dcPath=ZqDC%20West&dsName=zqstore%20two HTTP/1.1", "zq%20lohn", "zq lohn", "zqdc", "zqstore"),
    ("see https://zqportal2:443/sdk udp://zqloghost4:514 postgresql://zqpg:pw@zqpghost/db", "zqportal2", "zqloghost4", "zqpg"),
    ("NFS: 173: Mount zqnas02:/exports/Zq_Data8, Server: (zqnas04) Path: (/zqvol2)", "zqnas02", "Zq_Data8", "zqnas04", "zqvol2"),
    ("subjectAltName DNS:zqsan1.quixnet.io, DNS:zqsan2", "zqsan1", "zqsan2"),
    ("guestinfo.hostname = \"zqguesthost\"", "zqguesthost"),
    # NSX
    ("path /infra/tier-1s/zqtier1 /infra/domains/default/groups/zqgroup7", "zqtier1", "zqgroup7"),
    ("transport node zqtn-esx07 lost (zqnsxmgr3, 10.77.1.3), backup to sftp://zqbk1@zqsftp2/zqbackups", "zqtn-esx07", "zqnsxmgr3",
     "zqbk1", "zqsftp2", "zqbackups"),
    ('path "/infra/tier-0s/zqT0/locale-services/default/bgp/neighbors/zqPeerA" {\\"display_name\\": \\"zqLS 77\\"}', "zqPeerA", "zqLS 77"),
    ('rule name="zqRule-Pay" of transport zone "zqTZ Overlay", body {"display_name": "zqLS-78"}', "zqRule-Pay", "zqTZ Overlay", "zqLS-78"),
    ("1      1      DR-ZqTenantRed    DISTRIBUTED_ROUTER_TIER0", "ZqTenantRed"),
    # addresses and ids
    ("from ::ffff:0a4d:0316 and 10.77.3.22", "0a4d", "10.77.3.22"),
    ("query 21.3.77.10.in-addr.arpa of 10.77.3.21, 0x0a4d0315, ip_10_77_3_21, 010.077.003.021", "21.3.77", "10.77.3.21", "0a4d0315",
     "10_77_3", "077.003"),
    ("adapter 0050569acc04, 00 50 56 9a cc 05, 00:50:56:9a:cc:06 is 0050-569a-cc06 and 005056-9acc06", "9acc04", "9a cc 05",
     "9a:cc:06", "569a-cc06", "9acc06"),
    ("port mac 0025b5a1c9e7 moved, MAC=0025B5A1C9F8; WWPN 5764611469732290561 out", "0025b5a1c9e7", "0025b5a1c9f8", "5764611469732290561"),
    ("SID S-1-5-21-1111111111-2222222222-3333333333-1104 of an account", "1111111111-2222222222"),
    ("port 0x500a098187654321 50-06-01-60-13-a0-12-99", "87654321", "13-a0-12"),
    ("naa_600a098038304437415d4b6a59676d53 naa600a098038304437415d4b6a59676d54", "59676d53", "59676d54"),
    ("naa.600a0980 38304437 415d4b6a 59676d55, naa.600a0980-38304437-415d4b6a-59676d56", "415d4b6a"),
    ("nvme.0017380012345a1c of nqn.1992-08.com.netapp:sn.3a5f7c9d1122:subsystem.zqnvme9", "12345a1c", "3a5f7c9d", "zqnvme9"),
    ('S/N: CZJ7341ZQX and serial="VMware-56 4d 12 34 aa bb cc dd-11 22 33 44 55 66 77 99"', "CZJ7341ZQX", "55 66 77 99"),
    ("iqn.1998-01.com.vmware:zq-hostx-4f2b8c1d logged in", "zq-hostx", "4f2b8c1d"),
    ("devices of one array, named in a line that is cut in the report: " + "x" * 60 + " naa_600a098038304437415d4b6a59676d57", "415d4b6a"),
    # one number that is an address, in hexadecimal above and in decimal
    ("peer addr=172819221 of 10.77.3.21", "172819221"),
    # JSON whose quotes are escaped, rows of Python, tables without a parser
    ('payload: "{\\"vmName\\": \\"zqfin ledger\\", \\"datastoreName\\": \\"zq-ssd-17\\", \\"user\\": \\"ZQDOM\\\\zqamelie\\"}"', "zqfin ledger",
     "zq-ssd-17", "zqamelie"),
    ("host {'name': 'zqpyhost4', 'addr': '198.51.100.62'}, display_name: \"zqSeg Web Tier\"", "zqpyhost4", "zqSeg Web"),
    ("PUT /nfc/52a8f3aa-11bb-cc22-dd33-99ee00ff1122/zqexport-vm-disk1.vmdk", "zqexport-vm"),
    # shells and logins
    ("esxcli network vswitch standard portgroup add -p 'zqPG Office 12' -v vSwitch0", "zqPG Office"),
    ("esxcli network vswitch standard portgroup set -p zqPGbare -v 7", "zqPGbare"),
    ("esxcli storage vmfs snapshot mount -l zqsnapvol5", "zqsnapvol5"),
    ("esxcfg-nas -a -o 198.51.100.9 -s /zqexport7 zqnfsds7", "zqexport7", "zqnfsds7"),
    ("error: PAM: Authentication failure for zqoper2 from zqjump8.example", "zqoper2"),
    ("FAILED LOGIN 1 FROM 198.51.100.67 FOR zqoper5, Authentication failure", "zqoper5"),
    ('contact "Zqjane Zqworth" of the site', "Zqjane"),
    # events, ports
    ("connected to vMotion traffic eth0 client 'zqcitrix-044.eth0' portID 50331677", "zqcitrix"),
    ("Uplink: vmnic4 is down. Affected portgroup: zqPG-201, zqPG-202. 1 uplinks up. Failed criteria: 128", "zqPG-201", "zqPG-202"),
    ("Event 4457 : Renamed zqold-vm1 from zqold-vm1 to zqnew-vm1 in ha-datacenter", "zqold", "zqnew"),
    ("Event 4458 : Virtual machine zqclone-src is cloned to zqclone-dst on zqhost7 in ha-datacenter", "zqclone-dst"),
    # what problems, moves and neighbours name
    ('Device is permanently inaccessible. Affected datastores (if any): "zqlun 04".', "zqlun"),
    ("Device or filesystem with identifier [zqident-nfs] has entered the All Paths Down Timeout state", "zqident"),
    ("Vol3: 1204: Could not open device 'zqopened:1' for probing: No such device", "zqopened"),
    ("Lost connection to the server 198.51.100.4 mount point zqmounted, mounted as 9d8a-0-x", "zqmounted"),
    ("Finish swapping in migration swap file from zqkranich-vm. (faulted 0 pages)", "zqkranich"),
    ("Net: 2524: connected Zqzoll-VM.eth0 eth0 to x", "Zqzoll"),
    ("Host zqwirt-hu added to cluster Zqclu Spree in datacenter Zqrz Nord", "zqwirt", "Zqclu Spree", "Zqrz"),
    ('Failed to find vm with name "Zqgie\u00dferei"', "Zqgie"),
    ("RecordOp ASSIGN: guest.hostName, 5. value=zqgastname", "zqgastname"),
    ("rename newName=zqnew-neu; resourcePool=Zqrp B\u00f6rse, edge-node=zqkante folder=Zqordner Nord", "zqnew", "Zqrp", "B\u00f6rse", "zqkante",
     "Zqordner"),
    ('annotation = "Kontakt Frau Zqwiebke T."', "Zqwiebke"),
    ("Transport node zqtn-hafen is down, ipset zqips-Drucker member; cdp: neighbor ZQSW-KERN port 1; System Name: zqverteil-e",
     "zqtn-hafen", "zqips", "ZQSW", "zqverteil"),
    ("sudo: \u00f6zqprinz : TTY=pts/0 ; USER=root ; COMMAND=/bin/ls", "zqprinz"),
    ("lwsmd: joined as ZQKREUZ$", "ZQKREUZ"),
    # values of keys, whatever the form
    ("GET /sdk?vmName=zqkeyvm&hostName=zqkeyhost HTTP/1.1", "zqkeyvm", "zqkeyhost"),
    ("GET /api/vcenter/vm?filter.names=zqfiltered&uid=zquid", "zqfiltered", "zquid"),
    ('{"hostName":{"value":"zqnested"},"resourcePool":"zqpool"}', "zqnested", "zqpool"),
    ('{"key":"guestinfo.hostname","value":"zqguestkey"}', "zqguestkey"),
    ('{"vm":{"moid":"vm-3","name":"zqmoidvm"}}', "zqmoidvm"),
    ('{\\"clusterName\\":\\"zqescaped\\"}', "zqescaped"),
    ("<ns1:datastoreName>zqxmlds</ns1:datastoreName><name>Zq Xmlname</name>", "zqxmlds", "Zq Xml"),
    ('<Property oe:key="hostname" oe:value="zqovfhost"/><vm name="zqattr" id="vm-3"/>', "zqovfhost", "zqattr"),
    ("LogicalSwitch{displayName=zqjava-ls, tz=zqjava-tz}", "zqjava-ls", "zqjava-tz"),
    ('(vim.fault.DuplicateName) { name = "Zqtwin Twice", object = 12 }', "Zqtwin"),
    ("failed vmname:zqshort ds=zqshortds pg=zqshortpg", "zqshort"),
    ('{"scope":"zqscope","tag":"zqtag"} {"operator":"EQUALS","value":"zqcrit|zqcrittag"}', "zqscope", "zqtag", "zqcrit"),
    ('"vmwareVmName" : "zqcamel", host.name=zqdothost', "zqcamel", "zqdothost"),
    ("<e:key>hostname</e:key><e:value>zqelement</e:value>", "zqelement"),
    # typed commands
    ('[root]: esxcli vm process list | grep -i "zqgrep one"', "zqgrep"),
    ("[root]: passwd -u zqunlocked", "zqunlocked"),
    ("[root]: ping -c 3 zqpinged", "zqpinged"),
    ("[root]: ssh -l zqsshuser zqsshhost", "zqsshuser", "zqsshhost"),
    ("[root]: scp /tmp/x zqcopier@zqcopyhost:/tmp/y", "zqcopier", "zqcopyhost"),
    ('[root]: esxcli storage nfs add -H zqfiler -s /zqshare/zqsub -v "Zq Store"', "zqfiler", "zqshare", "zqsub", "Zq Store"),
    ("[root]: localcli system hostname set --host=zqnewname --domain=zq.intra", "zqnewname", "zq.intra"),
    ('[root]: vim-cmd vmsvc/snapshot.create 12 "Zq Before" "Zq Text"', "Zq Before", "Zq Text"),
    ("[root]: su - zqadmin", "zqadmin"),
    ("[root]: esxcfg-volume -M zq_vol", "zq_vol"),
    # words before a name
    ("vmrc://clone:cst-VCVA--x@zqvmrc:443/?moid=vm-33 vi://zqviuser@zqvihost/zqvidc/host/zqvicl/", "zqvmrc", "zqvi"),
    ("redirect_uri=https%3A%2F%2Fzqpct%2Fui dest=zqdotted%2Ecorp%2Elan", "zqpct", "zqdotted"),
    ("PATCH /infra/tier-0s/zq-t0/locale-services/zq-ls/bgp/neighbors/zq-peer", "zq-t0", "zq-ls", "zq-peer"),
    ("Security group 'Zq Group' on server zqserver91 of host-10-86-182-80", "Zq Group", "zqserver91", "10-86-182-80"),
    ("ldaps://zqldap:636/ou=zqunit krbtgt/ZQREALM.LAN@X on host zqcolon-30:", "zqldap", "zqunit", "zqrealm", "zqcolon"),
    ("rule at 1 from addrset zq-set-a accept", "zq-set-a"),
    ("subject=C = DE, O = Zq Werke GmbH, CN = zqcert", "Zq Werke", "zqcert"),
    ("client Zq Spaced.eth1 and volume zqvolbare (5f1e2d3c-4b5a6978-8796-a5b4c3d2e1f0)", "Zq Spaced", "zqvolbare"),
    ("Event 9 : Disk failed on zqevhost in cluster zqevcl in zqevdc.", "zqevhost", "zqevcl", "zqevdc"),
    ("VM zqm\u00e4rz-80 failed, failed to power on 'Zq Power'", "zqm\u00e4rz", "Zq Power"),
    # what stays
    ("<component><name>NSX Manager</name></component>, com.vmware.vmkapi@v2_0_0_0, addrset src1011", "="),
    ("toolbox-dnd: Version 10.1, com.vmware.driverAPI@v2_6 of ACPI: SRAT, name=\"toolbox\", folder=group-v3 cluster=4 group=default", "="),
    ("[root]: esxcli network nic list on vmnic4, sata0 and CPU12 of rule 1011", "="),
    ("Affected by 12 uplinks of the host, contact the customer, 1683793210 and 4294967295", "="),
    ("[Originator@6876 sub=Hostsvc] Opening disk of the host on vmk0 through vmnic3", "="),
    ("ESXi 6.7.0 took 0x430b9c721500 from port 0x3000006, H:0x0 D:0x2 P:0x0", "="),
    ("host IPv4 is up, server x86 too, edge i40en; session closed for user root", "="),
    ("Authenticating user failed; from user space to the port 12; a mac address 12 of <user> 5", "="),
    ('state "Virtual Disk", file "vmware.log", Event 12 : Host is up', "="),
]  # fmt: skip


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], str]:
    """The lines of a log as `log --redact` prints them, and a report whose finding has them all as evidence."""
    base = tmp_path_factory.mktemp("places")
    (base / "in").mkdir()
    (base / "in" / "session.txt").write_text(KNOWN, encoding="utf-8")
    head = "cpu25:33994)ALERT: hostd detected to be non-responsive: "
    lines = [f"2021-03-01T04:{at:02}:08.775Z {head}{line[0]}" for at, line in enumerate(LINES)]
    (base / "in" / "vmkernel.log").write_text("\n".join([*lines, ""]), encoding="utf-8")
    log = CliRunner().invoke(
        main, ["log", str(base / "in"), "--redact", "--redact-map", str(base / "map")]
    )
    assert log.exit_code == 0, log.output
    case = CliRunner().invoke(
        main, ["triage", str(base / "in"), "-o", str(base / "out"), "--quiet", "--redact"]
    )
    assert case.exit_code in (0, 5), case.output
    made = [
        line.partition("non-responsive: ")[2]
        for line in log.stdout.splitlines()
        if "non-responsive: " in line
    ]
    return made, "\n".join(path.read_text(encoding="utf-8") for path in (base / "out").iterdir())


@pytest.mark.parametrize("at", range(len(LINES)), ids=[line[0][:40] for line in LINES])
def test_a_name_is_told_by_its_place(shown: tuple[list[str], str], at: int) -> None:
    """Of each line the names are gone from the log and from the report; a line without any is as it was."""
    lines, report = shown
    line, *names = LINES[at]
    made = lines[at].rpartition("  [")[0]
    if names == ["="]:
        assert made == line
        return
    assert [name for name in names if name.lower() in made.lower()] == []
    assert [name for name in names if name.lower() in report.lower()] == []


@pytest.mark.parametrize(
    "line",
    [
        "psk @",
        'pre-shared-key "@"',
        "key 7 0822455D0A16",
        "set communities @,other9",
        "tacacs key @",
        "radius shared-secret @",
        "ntp key 3 M @",
        "net user x @ /add",
        "chap secret zqPskSecret",
    ],
    ids=lambda line: line[:12],
)
def test_keys_of_a_router_are_hidden(line: str) -> None:
    """A shared key behind a blank, a password of type 7 and the communities of a shell are secrets."""
    shown = hide(line.replace("@", "ZqPskSecret1"))
    assert "*****" in shown
    assert (
        "zqpsksecret" not in shown.lower() and "0822455D0A16" not in shown and "other9" not in shown
    )


def test_words_about_keys_stay() -> None:
    """A sentence about a shared key tells none."""
    for line in (
        "PSK authentication failed",
        "psk mismatch of peer",
        "radius secret not set",
        "chap secret missing",
        "key 7 of 12 was read",
    ):
        assert hide(line) == line


def test_names_of_a_syslog_and_of_a_log_in_utf16_are_gone(tmp_path: Path) -> None:
    """The host behind the time of a line that nobody reads, and names of a log in UTF-16, are replaced in every result."""
    alert = "2021-03-01T04:01:08.775Z cpu25:33994)ALERT: hostd detected to be non-responsive: world vmm0:Pangolin-hr01 of type 8"
    syslog = [
        '<190>1 2021-03-01T04:20:08.775Z zqnsxmgr9 NSX 4711 SYSTEM [nsx@6876 comp="nsx-manager" username="zqadm" level="INFO"] x',
        "Mar  1 04:22:08 zqlinux5 sshd[99]: Failed password for zqfail from 10.88.3.1 port 22 ssh2",
    ]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "vmkernel.log").write_bytes(b"\xff\xfe" + alert.encode("utf-16-le"))
    (tmp_path / "in" / "syslog-nsx.log").write_text("\n".join(syslog), encoding="utf-8")
    done = CliRunner().invoke(
        main, ["triage", str(tmp_path / "in"), "-o", str(tmp_path / "out"), "--quiet", "--redact"]
    )
    assert done.exit_code in (0, 5), done.output
    assert "sshd[99]: Failed password for user0" in (tmp_path / "out" / "case.json").read_text(
        encoding="utf-8"
    )
    assert (
        left(
            tmp_path / "out", ["Pangolin", "zqnsxmgr9", "zqadm", "zqlinux5", "zqfail", "10.88.3.1"]
        )
        == []
    )


def test_a_log_names_no_archive_that_it_was_read_from(tmp_path: Path) -> None:
    """The archive in a folder is named behind each line of the log; its name is replaced there as in a report."""
    with tarfile.open(tmp_path / "zqcustomer-mule.tgz", "w:gz") as packed:
        raw = b"2021-03-01T04:01:08.775Z cpu25:33994)ALERT: hostd detected to be non-responsive\n"
        member = tarfile.TarInfo("esx-zqe-2021-03-01--04.00-1/var/run/log/vmkernel.log")
        member.size = len(raw)
        packed.addfile(member, io.BytesIO(raw))
    done = CliRunner().invoke(
        main, ["log", str(tmp_path), "--redact", "--redact-map", str(tmp_path / "map")]
    )
    assert done.exit_code == 0, done.output
    assert (
        "non-responsive" in done.stdout
        and "zqcustomer" not in done.stdout
        and "mule" not in done.stdout
    )
