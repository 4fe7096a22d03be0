"""Secrets never leave: the forms they come in, and whole runs with planted ones."""

from __future__ import annotations

import io
import itertools
import json
import random
import re
import tarfile
import time
import zipfile
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from analyzer.cli import main
from analyzer.secrets.values import (
    HIDDEN,
    SIGNS,
    find_suspects,
    hide,
    hide_around,
    hide_lines,
    may_hold_secrets,
)
from tests.kit.together import together

# Synthetic lines in the forms in which hosts, guests and managers print secrets; @ is where the secret stands.
LINES = [
    "hostd: vpxuser password @ set for the host",
    "audit: Password changed for user zqpw to '@'",
    "vm: encryption key '@' of the disk",
    "failed to send trap to receiver@162/@",
    "wss://esx01:443/ticket/@",
    "failed backup to sftp://192.0.2.1/dir passphrase @",
    "esxcli system snmp set -t 192.0.2.74@162/@",
    'DICT guestinfo.secretkey = "@"',
    "2021-03-02T10:11:12Z info: &lt;soap:Body&gt;&lt;password&gt;@&lt;/password&gt;&lt;/soap:Body&gt;",
    "answer: &amp;lt;password&amp;gt;@&amp;lt;/password&amp;gt;",
    "answer: {&quot;username&quot;:&quot;admin&quot;,&quot;password&quot;:&quot;@&quot;}",
    "GET /login?data=%7B%22password%22%3A%22@%22%7D HTTP/1.1",
    "answer: {\\u0022password\\u0022:\\u0022@\\u0022}",
    "connect passwd\\u003d@",
    'RemoteDisplay.vnc.password = "@"',
    'RemoteDisplay.vnc.key = "@"',
    "2019-03-01T10:00:00.000Z| vmx| I125: DICT     RemoteDisplay.vnc.password = \"@\"",
    'encryption.keySafe = "vmware:key/list/(pair/(@))"',
    'dataFileKey = "@"',
    "esxcli iscsi adapter auth chap set --adapter=vmhba64 --authname=init --secret=@ --direction=uni",
    "esxcli iscsi adapter auth chap set -A vmhba64 -N init -S @ -l required",
    "vicfg-iscsi -A -c -m chap -w @ vmhba64",
    "esxcli system account add -i audit -p @ -c @",
    "esxcli system account set --id root --password @ --password-confirmation @",
    "esxcli system snmp set --communities @",
    "esxcli system snmp set -c @ -e true",
    "esxcli network ip ipsec sa add --encryption-key 0x@ --integrity-key 0x@",
    "curl -k -u admin:@ https://nsxmgr/api/2.0/vdn/controller",
    "curl -k --user 'admin:@' https://nsxmgr/api",
    "wget --http-password=@ https://depot/index.xml",
    "ovftool vi://root:@@esx01/vm1 vm1.ova",
    "echo @ | passwd --stdin root",
    "sshpass -p @ ssh root@esx01",
    "ipmitool -I lanplus -H bmc -U ADMIN -P @ sel list",
    "snmpwalk -v2c -c @ esx01 .1.3.6",
    "   Communities: @, @",
    "rocommunity @",
    "snmpd: request with community @ from 10.0.0.5",
    'snmpd: bad community name "@" from 10.0.0.5',
    "<communities>@</communities>",
    "<ns2:password>@</ns2:password>",
    '<user name="admin" password="@"/>',
    '{"username": "admin", "password": "@", "remember": false}',
    '{\\"password\\":\\"@\\"}',
    'Cookie: vmware_soap_session="@"; other=1',
    "Set-Cookie: JSESSIONID=@; Path=/; Secure",
    'vmware_soap_session = "@"',
    "Authorization: Basic @",
    "authorization: Bearer @",
    "X-XSRF-TOKEN: @",
    "vmware-api-session-id: @",
    "[Originator@6876 sub=Vimsvc opID=1a user=root sid=@] Task created",
    '(vim.host.InternetScsiHba.AuthenticationProperties) { chapName = "init", chapSecret = "@", }',
    '   password = (string) "@",',
    "root:$6$salt@$hash@:17000:0:99999:7:::",
    "token is @",
    "The password for root is @",
    "userPassword=@;user=root",
    "bindpw @".replace(" ", " = "),
    "passphrase: @",
    "preSharedKey: @",
    "aws_secret_access_key = @",
    "license key: @",
    "openssl pkcs12 -passout pass:@",
    "privatekey=@",
    '<bindPassword value="@"/>',
    "   |----CHAP Secret.........................................@",
    "esxcli system snmp set --users user1/@/@/priv",
    "   Users: user1/@/@/priv",
    "esxcli system snmp hash -A @ -X @ -r",
    'createUser monitor SHA "@" AES "@"',
    "trap2sink 10.0.0.5 @ 162",
    "com2sec readonly default @",
    "bindpw @",
    "ldap_default_authtok = @",
    "nsxcli set user admin password @",
    "nsx-manager> set user admin password @ old-password @",
    "join management-plane 10.0.0.1 username admin password @ thumbprint 11aa",
    "neighbor 10.0.0.1 password 7 @",
    "ip ospf message-digest-key 1 md5 @",
    "<authentication><type>md5</type><value>@</value></authentication>",
    "set backup server sftp passphrase @",
    "curl -sku 'admin:@' https://nsxmgr/api",
    "curl -k -H 'Authorization: Basic @' https://nsxmgr/api",
    '(vim.VirtualMachine.Ticket) { ticket = "@", cfgFile = "x" }',
    "<ds:SignatureValue>@</ds:SignatureValue>",
    "SAMLResponse=@",
    'Authorization: SIGN token="@", signature="@"',
    "Changed password for vpxuser to @",
    "vmkfstools -E @ disk.vmdk",
    '(vim.encryption.CryptoKeyPlain) { algorithm = "AES-256", keyData = "@" }',
    "domainjoin-cli join lab.local administrator @",
    '"dcAccountPassword"    REG_SZ    "@"',
    'ConvertTo-SecureString "@" -AsPlainText -Force',
    '<Property oe:key="nsx_passwd_0" oe:value="@"/>',
    'guestinfo.nsx_passwd_0 = "@"',
    "rootpw --plaintext @",
    "{u'password': u'@', u'user': u'x'}",
    "esxcfg-advcfg -s @ /UserVars/RmqPassword",
    "esxcli system settings advanced set -o /UserVars/RmqPassword -s @",
    "amqp://uw-host-1:@@10.0.0.1:5671/nsx",
    "radius_secret @",
    "0,,The password of the broker,0,0,0,/UserVars/RmqPassword,@,string,*,",
    '[{"DefaultStringValue": "@", "Path": "/UserVars/RmqPassword", "StringValue": "@", "Type": "string"}]',
    '{"value": "@", "name": "password"}',
    '(vim.option.OptionValue) { key = "UserVars.RmqPassword", value = "@" }',
    "Value of RmqPassword is @",
    '<property name="password" value="@"/>',
    '<param value="@" name="db.password"/>',
    '<entry key="nsx_passwd">@</entry>',
    ' xsi:type="xsd:string">@</password>',
    "localhost:5432:vcdb:postgres:@",
    "*:*:*:vc:@",
    "1 MD5 @",
    "10 SHA1 @ # of the lab",
    "aes key: @",
    "Using AES-256 key: @",
    "   2 03/01/19 10:00:00 host/esx01 (aes256-cts-hmac-sha1-96)  (0x@)",
    "ktutil:  addent -key -p host/esx01 -k 1 -e aes256-cts -K @",
    "username admin password hash @",
    " password encrypted @",
    "snmp-server user monitor v3 auth sha @ priv aes 128 @",
    "ip ospf authentication-key @",
    "isis password level-1 @",
    "crypto isakmp key @ address 10.0.0.1",
    "set snmp v3-users monitor auth-password @ priv-password @",
    "radius-server key 7 @",
    '10.0.0.1 10.0.0.2 : PSK "@"',
    ': RSA /etc/ipsec.d/key.pem "@"',
    '"authentication":{"type":"md5","value":"@"}',
    "privateKey=-----BEGIN RSA PRIVATE KEY-----\\nMIIEowIBAAKCAQEA@\\n-----END RSA PRIVATE KEY-----",
    "key loaded -----BEGIN EC PRIVATE KEY----- MHcCAQEE@ -----END EC PRIVATE KEY----- done",
    "<pemEncoding>-----BEGIN RSA PRIVATE KEY-----&#13; MIIE@ -----END RSA PRIVATE KEY-----</pemEncoding>",
    "key -----BEGIN PRIVATE KEY-----\\nMIIEowIBAAKCAQEA@",
    '<Connector port="443" keystorePass="@" truststorePass=\'@\' />',
    "keytool -list -keystore x.jks -storepass @ -keypass @",
    "userPassword:: @",
    "{SSHA}@",
    'usmUser 1 3 0x8000 "mon" "mon" NULL .1.3 0x@ .1.3 0x@ ""',
    "   V3users: monitor/@/@/priv",
    '"V3users": "monitor/@/@/priv"',
    "node.session.auth.password_in = @",
    "vmkiscsi-tool -A -m CHAP -b -z init -w @ vmhba33",
    'guestinfo.userdata = "@"',
    'guestinfo.zq.metadata = "@"',
    "client-key-data: @",
    "user zq authHash 5f4dcc3b5aa765d61d83@",
    "CHAP name zq secret 7@",
    '{default_pass, <<"@">>}',
    "rabbitmqctl change_password uw-host-1 @",
    "requirepass @",
    "erl -setcookie @",
    "esxcli -s vc01 -u root -p @ network nic list",
    "dcli +username root +password @",
    "ansible_ssh_pass=@",
    "admin:$apr1$salt$@",
    "10.0.0.1:1812 @ 3",
    "the secret key is @",
    "GET /share?sv=1&sig=@ HTTP/1.1",
    "stats auth admin:@",
]  # fmt: skip
HARMLESS = [
    "password policy7x was set",
    "Password changed for user root to expire in 90 days",
    "the shared key of disk 7 is read",
    "sshd[123]: Failed password for root from 10.0.0.5 port 22 ssh2",
    "sshd[123]: Accepted keyboard-interactive/pam for root from 10.0.0.5",
    "pam_unix(sshd:session): session opened for user root",
    "password: <unset>",
    "Security.PasswordMaxDays = 99999",
    "Security.PasswordQualityControl: retry=3 min=disabled,disabled,disabled,7,7",
    "cpu3:65822)NFS: 1234: cookie: 0x43091a2b",
    "cpu3:65822)ScsiDeviceIO: 2595: Cmd(0x43) 0x28, CmdSN 0x1 failed H:0x0 D:0x2 P:0x0 Valid sense data: 0x5 0x24 0x0.",
    "token ring: 12",
    "   Key Type: Boolean",
    "   Path: /Net/NetPassRxData",
    'naa.600 reservation key: 0x1234abcd',
    "Enable Password Expiration: false",
    "ssh -u",
    "NIC:  vmnic0  pass-through: yes",
    "A basic collection of strings",
    "vmx Guest: [vgauthservice] SAML_Init: Using xmlsec1 1.2.37 for XML signature support",
    "invalid username or password combination",
    "pam_unix(sshd:auth): username root password check failed",
    "error: the users: list is empty",
    "enable password authentication",
    "server 10.0.0.1 password authentication is off",
    "neighbor 10.0.0.1 remote-as 65000",
    "   Path: /UserVars/SuppressShellWarning",
    "   String Value: 8.8.8.8",
    "/UserVars/ESXiShellTimeOut,0,int",
    "Value of SuppressShellWarning is 1",
    "Value of PasswordMaxDays is 99999",
    '{"name": "Security.PasswordMaxDays", "value": "99999"}',
    '{"name": "mtu", "value": "1500"}',
    '(vim.option.OptionValue) { key = "Security.PasswordQualityControl", value = "retry=3 min=8" }',
    '<Property oe:key="hostname" oe:value="nsxmgr01"/>',
    "tcp    0      0 0.0.0.0:5432      0.0.0.0:*     LISTEN",
    "udp    0      0 0.0.0.0:1812      0.0.0.0:*  7",
    "00:50:56:aa:bb:cc fe80::250:56ff:feaa:bbcc",
    "1 SHA1 x",
    "host key: ssh-rsa",
    "nodes key: 5",
    "modes key: none",
    "default etype: aes256-cts-hmac-sha1-96 (kvno 2)",
    "HMAC: hmac-sha2-256 (negotiated)",
    "snmp-server location lab, rack 3",
    "the authentication-key is not set",
    "requirepass has no effect",
    "esxcli network ip interface add -p Management -i vmk1",
    "ps -u root -p 1234",
    "-----BEGIN CERTIFICATE-----MIIDdzCCAl+gAwIBAgIE-----END CERTIFICATE-----",
    "-----BEGIN RSA PRIVATE KEY-----",
    "mii-tool: eth0: negotiated 100baseTx-FD flow-control",
    "GET /api/2.0/vdn/controller?signature=no HTTP/1.1",
    "2017-10-14--16-53-20 123456-123456",
    "{sha256} digest of the image",
    "V3users: none",
    "Hostd::Session::Create failed in UserToken::Renew",
    "dc=lab, ou=users: 3 entries",
]  # fmt: skip


def planted(count: int) -> list[str]:
    """Return so many secrets that nothing else looks like."""
    return [f"Kq{number:03d}vZ7xPl" for number in range(count)]


def plant(line: str, secrets: itertools.count[int], known: list[str]) -> str:
    """Put a new secret at each @ that stands alone in its value; `user@host` and heads stay."""

    def one(_: re.Match[str]) -> str:
        known.append(f"Kq{next(secrets):03d}vZ7xPl")
        return known[-1]

    line = (
        line.replace("74@162", "74\000162")
        .replace("Originator@6876", "Originator\0006876")
        .replace("root@esx01", "root\000esx01")
    )
    line = line.replace("receiver@", "receiver\000")
    line = line.replace("vi://root:@@", "vi://root:@\000").replace(
        "uw-host-1:@@", "uw-host-1:@\000"
    )
    return re.sub("@", one, line).replace("\000", "@")


@together("form", LINES)
def test_the_secret_of_a_line_is_hidden_and_the_rest_stays(form: str) -> None:
    """Each form loses its secret and keeps what stands before it; hiding twice changes nothing."""
    known: list[str] = []
    line = plant(form, itertools.count(), known)
    assert known
    shown = hide(line)
    assert not [secret for secret in known if secret in shown]
    assert HIDDEN in shown
    assert shown.startswith(line[: min(6, line.index(known[0]))].split("$")[0][:6])
    assert hide(shown) == shown
    assert may_hold_secrets(line.encode())


def test_a_large_text_holds_a_secret_wherever_it_stands() -> None:
    """Each sign is found in a large text as in a small one, also across the pieces that are read at a time."""
    quiet = b"quux 443 lorem ipsum dolor :70: sit amet\n" * 5000
    assert not may_hold_secrets(quiet)
    for number, sign in enumerate(SIGNS):
        place = (64 << 10) - number % 24
        raw = sign.upper().encode() if sign.isascii() else sign.encode()
        assert may_hold_secrets(quiet[:place] + b"q" + raw + b"q" + quiet[place:]), sign


@together("line", HARMLESS)
def test_what_is_no_secret_stays(line: str) -> None:
    """Counters, options and messages that only speak of passwords and keys are not touched."""
    assert hide(line) == line


def test_a_value_on_the_lines_after_its_name_is_hidden() -> None:
    """Lists, elements and private keys that go over several lines lose their values, up to their end."""
    text = """-->    readOnlyCommunities = (string) [
-->       "Kq001vZ7xPl",
-->       "Kq002vZ7xPl"
-->    ],
-->    port = 161
Communities:
   Kq003vZ7xPl
<password>
  Kq004vZ7xPl
</password>
-----BEGIN RSA PRIVATE KEY-----
Kq005vZ7xPlKq005vZ7xPl
-----END RSA PRIVATE KEY-----
after"""
    shown = hide_lines(text.split("\n"))
    assert "Kq" not in "\n".join(shown)
    assert shown[4] == "-->    port = 161"
    assert shown[-1] == "after"


RECORDS = {
    "text": "   Path: /UserVars/RmqPassword\n   Type: string\n   Int Value: 0\n   Default Int Value: 7\n   String Value: @ @\n"
    "   Default String Value: @\n   Valid Characters: *",
    "json": '{\n   "DefaultIntValue": 0,\n   "DefaultStringValue": "@",\n   "IntValue": 7,\n   "Path": "/UserVars/RmqPassword",\n'
    '   "StringValue": "@",\n   "Type": "string"\n},',
    "xml": '<structure typeName="OptionDefinition">\n<field name="DefaultStringValue"><string>@</string></field>\n'
    '<field name="IntValue"><integer>7</integer></field>\n<field name="Path"><string>/UserVars/RmqPassword</string></field>\n'
    '<field name="StringValue"><string>@</string></field>\n</structure>',
    "esxcfg-info": "   |----Name.............................................RmqPassword\n   |----Int Value........................7\n"
    "   |----String Value.....................................@",
    "option of hostd": '-->    (vim.option.OptionValue) {\n-->       key = "UserVars.RmqPassword",\n-->       value = "@"\n-->    },',
    "value first": '{\n  "value": "@",\n  "name": "admin_password"\n}\n',
    "routing": '"authentication": {\n   "type": "md5",\n   "value": "@"\n},\n"mtu": 7',
    "routing in XML": "<authentication>\n  <type>password</type>\n  <value>@</value>\n</authentication>\n<mtu>7</mtu>",
}


@pytest.mark.parametrize("name", RECORDS)
def test_the_value_of_a_record_that_names_a_secret_is_hidden(name: str) -> None:
    """Name and value are two entries, in either order; numbers of the record and its other lines stay."""
    text = RECORDS[name].replace("@", "Kq001vZ7xPl").split("\n")
    assert may_hold_secrets("\n".join(text).encode())
    shown = hide_lines(text)
    assert "Kq" not in "\n".join(shown)
    assert [line for line, was in zip(shown, text, strict=True) if "Kq" not in was] == [
        line for line in text if "Kq" not in line
    ]
    assert hide_lines(shown) == shown


def test_the_values_of_other_records_stay() -> None:
    """The record beside one of a secret, an int of it and a policy on passwords keep their values."""
    text = [
        "   Path: /UserVars/RmqHost", "   String Value: broker.lab.example", "", "   Path: /UserVars/RmqPassword",
        "   String Value: Kq001vZ7xPl", "", "   Path: /Security/PasswordQualityControl",
        "   String Value: retry=3 min=8,8,8,7,6", "   Path: /Syslog/global/logDir", "   String Value: [] /scratch/log",
        '"value": "kept",', "{", '"name": "password"', "}", '"value": "kept"',
    ]  # fmt: skip
    shown = hide_lines(text)
    assert shown == [line.replace("Kq001vZ7xPl", HIDDEN) for line in text]


def test_a_context_that_begins_in_the_midst_of_a_value_shows_none_of_it() -> None:
    """Two lines around a hit may be the end of a list whose name was not kept: bare strings are hidden there."""
    before, line, after = hide_around(
        ['-->       "Kq001vZ7xPl",'], "-->    port = 161", ['-->       "Kq002vZ7xPl"']
    )
    assert "Kq" not in "".join(before + after)
    assert line == "-->    port = 161"


@given(st.text(max_size=300))
def test_any_text_is_taken(text: str) -> None:
    """No text makes the filter fail, and what it gives is stable."""
    once = hide(text)
    assert hide(once) == once
    assert len(hide_lines(text.split("\n"))) == len(text.split("\n"))


@pytest.mark.parametrize(
    "word",
    [
        "password=",
        "snmp community ",
        "-u a:",
        "<password ",
        "://a:b",
        "$6$",
        "token is ",
        "esxcli chap set -S ",
        '{"value": "',
        'value="a" password ',
        'key="password" ',
        " -u a -p ",
        "a:5432:",
        "snmp auth md5 ",
        "-----BEGIN PRIVATE KEY-----",
        "MIIEvQIBADAN",
        "name: password, ",
        ">a</password",
        "1 MD5 ",
    ],
)
def test_the_work_grows_with_the_length_of_the_line(word: str) -> None:
    """A hostile line of 64 KiB costs at most a second."""
    begun = time.process_time()
    hide((word * (65536 // len(word)))[:65536])
    assert time.process_time() - begun < 1


# --- whole runs ---

VMKERNEL = "2017-10-14T16:41:0{n}.000Z cpu1:65822)made up: {text}"
HOSTD = "2017-10-14T16:41:0{n}.000Z info hostd[FFA2B70] [Originator@6876 sub=Default opID=1] made up: {text}"
SHELL = "2017-10-14T16:41:0{n}.000Z shell[65822]: [root]: {text}"
VMX_LOG = "2017-10-14T16:41:0{n}.000Z| vmx| I125: {text}"
RULE = """rule: every-{name}
title: A line of a log
source: made up for a test
status: test
revised: 2026-11-21
about: Made up for a test; it takes every line.
each: host in esxi.host
subject: "{{host.hostname}}"
logs:
  line:
    in: {table}
    match: '(?P<all>.+)'
seen:
  met: {{log: line, at_least: 1}}
when: met
outcomes:
  - severity: warning
    confidence: possible
    say: "It stands there {{met.count}} times."
evidence: [line]
ask: {{{table}: the log}}
"""
TABLES = {
    "vmkernel": "esxi.vmkernel",
    "hostd": "esxi.hostd",
    "shell": "esxi.shell_log",
    "vm": "esxi.vm_log",
}


def planted_case(folder: Path) -> tuple[Path, list[str]]:
    """Write a case with secrets in every kind of text: the folder, and the secrets."""
    known: list[str] = []
    numbers = itertools.count()
    forms = [plant(line, numbers, known) for line in LINES]

    def log(head: str) -> str:
        lines = []
        for n, form in enumerate(forms):
            lines += [
                head.format(n=n % 10, text=form),
                head.format(n=n % 10, text="beside it"),
                f"--> {form}",
            ]
        return "\n".join(
            [
                *lines,
                "-->    readOnlyCommunities = (string) [",
                '-->       "Kq900vZ7xPl"',
                "-->    ]",
                "",
            ]
        )

    known.append("Kq900vZ7xPl")
    top = "esx-esx01-2017-10-14--16.53-71234"
    members = {
        "var/run/log/vmkernel.log": log(VMKERNEL),
        "var/run/log/hostd.log": log(HOSTD),
        "var/run/log/shell.log": log(SHELL),
        "vmfs/volumes/5a/vm1/vmware.log": log(VMX_LOG),
        "vmfs/volumes/5a/vm1/vm1.vmx": "\n".join(
            ['displayName = "vm1"', 'guestOS = "other"', *forms]
        ),
        "etc/vmware/esx.conf": "\n".join(['/adv/Misc/HostName = "esx01"', *forms]),
        "commands/esxcfg-info_-a.txt": "\n".join(forms),
        "commands/uname_-a.txt": "VMkernel esx01 6.5.0 #1 SMP Release build-5969303 Jul  5 2017 21:29:49 x86_64\n",
        "commands/esxcli_network_nic_list.txt": "\n".join(forms),
        "etc/shadow": "root:Kq901vZ7xPl:1:0",
        "etc/vmware/ssl/rui.key": "Kq902vZ7xPl",
    }
    known += ["Kq901vZ7xPl", "Kq902vZ7xPl"]
    folder.mkdir()
    with tarfile.open(folder / f"{top}.tgz", "w:gz") as tar:
        for name, text in members.items():
            info = tarfile.TarInfo(f"{top}/{name}")
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
    prompts = "".join(f"[root@esx01:~] {form}\n" for form in forms)
    nics = "[root@esx01:~] esxcli network nic stats get -n vmnic0\nNIC statistics for vmnic0\n   Packets received: 1\n"
    (folder / "session.txt").write_text(prompts + nics + "".join(f"   {form}\n" for form in forms))
    (folder / "notes.txt").write_text("\n".join(forms))
    return folder, sorted(set(known))


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalog whose rules take every line of every log as evidence."""
    folder = tmp_path_factory.mktemp("kb")
    for name, table in TABLES.items():
        (folder / f"every-{name}.yaml").write_text(RULE.format(name=name, table=table))
    return folder


def survivors(texts: dict[str, str], known: list[str]) -> list[str]:
    """Return each secret that stands in a text, with where."""
    return [
        f"{secret} in {where}"
        for where, text in texts.items()
        for secret in known
        if secret in text
    ]


@pytest.mark.size
def test_no_planted_secret_reaches_report_document_or_tables(tmp_path: Path, rules: Path) -> None:
    """Every form in every kind of text: on the hit line, beside it, on a line nobody understood; none comes out."""
    case, known = planted_case(tmp_path / "case")
    run = CliRunner().invoke(
        main,
        ["triage", str(case), "--kb", str(rules), "-o", str(tmp_path / "out"), "--no-settings"],
    )
    assert run.exit_code in (0, 5), run.output
    document = json.loads((tmp_path / "out" / "case.json").read_text())
    met = {finding["rule"] for finding in document["findings"]}
    assert {f"every-{name}" for name in TABLES} <= met, (
        "the logs were not searched: the test would prove nothing"
    )
    assert document["faults"]
    texts = {path.name: path.read_text() for path in (tmp_path / "out").iterdir()}
    texts["terminal"] = run.output
    listed = json.loads(CliRunner().invoke(main, ["tables", str(case), "--json"]).stdout)
    for table in [*listed["rows"], *listed["log_lines"]]:
        texts[table] = CliRunner().invoke(main, ["tables", str(case), table, "--json"]).stdout
    texts["log"] = CliRunner().invoke(main, ["log", str(case), "--format", "jsonl"]).stdout
    assert len(texts) > 10
    assert HIDDEN in texts["case.json"]
    assert HIDDEN in texts["log"]
    assert survivors(texts, known) == []


@pytest.mark.size
def test_no_planted_secret_reaches_the_archive(tmp_path: Path, rules: Path) -> None:
    """What `batch` stores, table by table and unpacked, holds none of them."""
    case, known = planted_case(tmp_path / "cases")
    archive = tmp_path / "archive"
    run = CliRunner().invoke(
        main,
        [
            "batch",
            str(case),
            "--archive",
            str(archive),
            "--kb",
            str(rules),
            "--jobs",
            "1",
            "--no-settings",
        ],
    )
    assert run.exit_code in (0, 5), run.output
    texts = {"terminal": run.output}
    for path in (path for path in archive.rglob("*") if path.is_file()):
        texts[path.name] = path.read_bytes().decode("latin-1")
        if not zipfile.is_zipfile(path):
            continue
        with zipfile.ZipFile(path) as pack:
            for name in pack.namelist():
                raw = pack.read(name)
                texts[f"{path.name}!{name}"] = (
                    _unpacked(tmp_path, raw) if raw.startswith(b"PAR1") else raw.decode("latin-1")
                )
    assert any(name.endswith("hits.parquet") or "hit" in name for name in texts)
    assert survivors(texts, known) == []


def _unpacked(folder: Path, raw: bytes) -> str:
    file = folder / "one.parquet"
    file.write_bytes(raw)
    rows = duckdb.sql(f"SELECT * FROM read_parquet('{file}')").fetchall()
    return repr(rows)


@pytest.mark.parametrize(
    "name",
    [
        "shadow",
        "rui.key",
        "id_rsa",
        "store.p12",
        "krb5.keytab",
        "ntp.keys",
        ".pgpass",
        "ipsec.secrets",
        "krb5cc_0",
    ],
)
def test_a_file_of_credentials_is_not_opened(tmp_path: Path, name: str) -> None:
    """By its name alone, in a folder and given itself, such a file is listed and never read."""
    (tmp_path / "case").mkdir()
    (tmp_path / "case" / name).write_text("Kq001vZ7xPl")
    (tmp_path / "case" / "nics.txt").write_text(
        "[root@esx01:~] uname -a\nVMkernel esx01 6.5.0 #1 SMP Release build-5969303 x\n"
    )
    run = CliRunner().invoke(
        main, ["triage", str(tmp_path / "case"), "--json", "-", "--no-settings"]
    )
    why = {
        source["address"].rsplit("/", 1)[-1]: source["why"]
        for source in json.loads(run.stdout)["sources"]
    }
    assert why[name] == "holds credentials, not opened"
    alone = CliRunner().invoke(
        main, ["triage", str(tmp_path / "case" / name), "-o", str(tmp_path / "out")]
    )
    assert alone.exit_code == 3
    assert "holds credentials" in alone.output


def test_a_value_below_a_line_of_another_host_is_hidden() -> None:
    """In a collector's file the lines of other hosts are blank beside a hit: name and value may stand apart."""
    head = "2017-10-14T16:41:00Z esx1 Hostd: "
    for name, value in (
        (head + "password:", "Kq001vZ7xPl"),
        (head + '{"password":', '   "Kq001vZ7xPl",'),
        ("", '    "Kq001vZ7xPl",'),
    ):
        before, line, after = hide_around([name, ""], "", ["", value])
        assert "Kq" not in "".join([*before, line, *after])
        assert before[0] == name


def test_no_secret_leaves_through_a_collectors_file_or_a_log_in_utf16(
    tmp_path: Path, rules: Path
) -> None:
    """Interleaved hosts, a private key and JSON over several lines, a log in UTF-16: none comes out."""
    secret = [f"Kq{number}vZ7xPl" for number in range(910, 915)]
    head = "2017-10-14T16:41:0{n}.000Z esx0{host} Hostd: info hostd[FFA2B70] [Originator@6876 sub=Default opID=1] {text}"
    key = [
        "made up: -----BEGIN RSA PRIVATE KEY-----",
        f"  {secret[0]}" + "A" * 53,
        "  -----END RSA PRIVATE KEY-----",
    ]
    parts = [
        "made up: password:",
        f"   {secret[1]}",
        "made up: {",
        '  "secret":',
        f'    "{secret[2]}"',
        *key,
    ]
    lines = []
    for n, part in enumerate(parts):
        own = part if part.startswith(" ") else head.format(n=n, host=1, text=part)
        lines += [own, *(head.format(n=n, host=host, text="made up: beside it") for host in (2, 3))]
    case = tmp_path / "case"
    case.mkdir()
    (case / "session.txt").write_text(
        "[root@esx01:~] uname -a\nVMkernel esx01 6.5.0 #1 SMP Release build-5969303 x\n"
    )
    (case / "collected.log").write_text("\n".join(lines) + "\n")
    texts = [f"password={secret[3]}", "beside it", f"secret: {secret[4]}"]
    wide = [
        f"2017-10-14T16:41:0{n}.000Z esx01 vmkernel: cpu1:65822)made up: {text}"
        for n, text in enumerate(texts)
    ]
    (case / "other.log").write_text("\n".join(wide) + "\n", encoding="utf-16")
    run = CliRunner().invoke(
        main,
        ["triage", str(case), "--kb", str(rules), "-o", str(tmp_path / "out"), "--no-settings"],
    )
    shown = {path.name: path.read_text() for path in (tmp_path / "out").iterdir()} | {
        "terminal": run.output
    }
    shown["log"] = CliRunner().invoke(main, ["log", str(case), "--format", "jsonl"]).output
    assert "made up: beside it" in shown["log"]
    met = {finding["rule"] for finding in json.loads(shown["case.json"])["findings"]}

    assert {"every-hostd", "every-vmkernel"} <= met
    assert HIDDEN in shown["case.json"]
    assert survivors(shown, secret) == []


def test_the_suspects_of_many_lines_are_those_that_each_line_by_itself_is() -> None:
    """One pass a word over all lines names the same lines as a look at each, beginnings and ends of lines included."""
    dice = random.Random(11)
    words = [
        *SIGNS,
        "sid=",
        "x.sid",
        "phpsessid",
        "abcde-abcde-",
        "abcd-abcde-",
        "İ",
        "ſecret",
        "Key",
        "--",
        "ok",
        " ",
    ]
    texts = [
        "".join(
            dice.choice(words) if dice.random() < 0.3 else "n0 " for _ in range(dice.randrange(4))
        )
        for _ in range(3000)
    ]
    alone = {at for at, text in enumerate(texts) if find_suspects([text])}
    assert find_suspects(texts) == alone
    words = [sign for sign in SIGNS if sign != "sid"]
    assert {
        at for at, text in enumerate(texts) if any(word in text.lower() for word in words)
    } <= alone
    assert {at for at, text in enumerate(texts) if hide(text) != text} <= alone
    assert 0 < len(alone) < len(texts)
