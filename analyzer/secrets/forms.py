"""Forms of secrets in the configuration of routers, daemons, directories and key files, one pattern each.

Each entry is (words, pattern): the pattern is tried in a line that holds one of the words, in lower case; group x
is the secret. Sources: NSX command line reference (Edge and Manager), `ipsec.secrets` of strongSwan, `ntp.keys`,
`klist -K`, `.pgpass`, RFC 2307 (`{SSHA}`), snmpd.conf and snmp.xml, esxcli (7.0: recovery keys of a TPM host),
format strings of vmkiscsid (`--dump-db`).
"""

from __future__ import annotations

# Words that stand behind "password" in a sentence, and are no password.
_PROSE = (
    r"(?!(?:for|is|was|has|not|must|will|expired|policy|and|or|of|to|from|in|on|with|changed?|reset|failed|age"
    r"|set|check|update|length|required|invalid|enabled|disabled|authentication)\b)"
)
_SECRET_NAME = r"[^\"'<>]{0,100}(?:passw(?:or)?d|passphrase|secret|psk)(?:_\d)?"

# Words that stand in such a line; the gate of the filter looks for them first.
SIGNS = (
    ":5432:",
    ":*:",
    "{s",
    "sha1",
    "-hmac",
    "usmuser",
    "rabbitmqctl",
    "guestinfo",
    ":::",
    ":181",
    "sig=",
    "mii",
    "net user ",
)

FORMS: tuple[tuple[tuple[str, ...], str], ...] = (
    # a setting and its value in one line
    (("value of",), r"\bvalue of [\w./]*(?:passw(?:or)?d|secret|token) is (?P<x>\S.*)"),
    (("uservars",), r"/UserVars/\w*(?:passw(?:or)?d|secret),(?P<x>[^,\r\n]+)"),
    (("=",), rf"\b(?:key|name|id)=[\"']{_SECRET_NAME}[\"'][^<>]{{0,200}}?\bvalue=[\"'](?P<x>[^\"'<>]+)"),
    (("=",), rf"\bvalue=[\"'](?P<x>[^\"'<>]+)[\"'](?=[^<>]{{0,200}}?\b(?:key|name|id)=[\"']{_SECRET_NAME}[\"'])"),
    (("=",), rf"\b(?:key|name|id)=[\"']{_SECRET_NAME}[\"'][^<>]{{0,200}}>(?P<x>[^<]+)</"),
    (("`=",), r"`[^`]{0,100}(?:passw(?:or)?d|secret)[^`]{0,20}`=(?P<q>['\"])(?P<x>(?!(?P=q)\s*$).+?)(?:(?P=q)\s*$|$)"),
    (("</",), r">(?P<x>[^<>]+)</(?:\w+:)?[\w.-]{0,60}(?:passw(?:or)?d|passphrase|secret|psk)>"),
    # routers, edges, VPN
    (("password", "secret"), r"(?<!\S)(?:password|secret)\s+(?:[057]|hash|encrypted|clear|md5)\s+(?P<x>\S+)\s*$"),
    (
        ("auth-password", "priv-password", "authentication-key", "requirepass", "masterauth", "auth_pass", "setcookie",
         "storepass", "keypass"),
        r"(?<![\w.-])-{0,2}(?:(?:auth|priv)-password|authentication-key|requirepass|masterauth|auth_pass|setcookie"
        rf"|(?:src|dest)?(?:store|key)pass)\s+(?:(?:md5|sha\d*|\d)\s+)?{_PROSE}[\"']?(?P<x>[^\s\"':=]+)",
    ),
    (("psk", "pre-shared"), r"(?<![\w.-])(?:psk|pre-?shared-?key)\s+(?=[\"']|\S*\d)[\"']?(?P<x>[^\s\"';,:=]{6,})"),
    (("key 7 ",), r"\bkey\s+7\s+(?P<x>[0-9A-F]{6,})\b"),
    (("set communit",), r"\bset\s+communities\s+(?P<x>[^\s;]+)"),
    (("isis", "ospf"), rf"\b(?:isis|ospf)\s+password\s+(?:(?:level-\d|clear|md5|\d)\s+){{0,2}}{_PROSE}(?P<x>\S+)"),
    (
        ("tacacs", "radius"),
        rf"\b(?:tacacs\+?|radius)\s+(?:shared[- ])?(?:key|secret)\s+(?:[067]\s+)?{_PROSE}(?P<x>[^\s:=]{{5,}})\s*$",
    ),
    (("shared-secret",), rf"(?<!\S)shared-secret\s+(?:[067]\s+)?{_PROSE}(?P<x>[^\s\"':=]{{5,}})\s*$"),
    (("ntp key",), r"\bntp\s+key\s+\d+\s+(?:m|md5|sha\d*|aes\w*)\s+(?P<x>\S+)"),
    (("net user ",), r"\bnet\s+user\s+\S+\s+(?P<x>[^\s/*]\S*)\s+/"),
    (("isakmp",), r"\bisakmp\s+key\s+(?:[06]\s+)?(?P<x>\S+)"),
    (("snmp",), r"\bsnmp\S*\s.{0,200}?\bauth\s+(?:md5|sha\d*)\s+(?P<x>\S+)"),
    (("snmp",), r"\bsnmp\S*\s.{0,300}?\bpriv\s+(?:3?des|aes\d*)\s+(?:(?:128|192|256)\s+)?(?P<x>\S+)"),
    (("psk", "xauth", "ntlm", "eap"), r"(?:^|\s):\s+(?:psk|xauth|eap|ntlm)\s+[\"']?(?P<x>[^\s\"']+)"),
    (("rsa", "ecdsa", "pkcs8"), r"(?:^|\s):\s+(?:rsa|ecdsa|pkcs8|p12)\s+\S+\s+\"(?P<x>[^\"]+)\""),
    (("authentication",), r"\"authentication\"\s*:\s*\{[^{}]{0,200}?\"value\"\s*:\s*\"(?P<x>[^\"]+)"),
    (("stats auth",), r"\bstats\s+auth\s+[^\s:]+:(?P<x>\S+)"),
    (("@16",), r"[\w.-]@16[12]/(?P<x>[^\s/\"',;]+)"),
    (
        ("passphrase",),
        rf"\bpassphrase\s+{_PROSE}(?P<x>(?=[^\s\"',;:=()]*\d)(?=[^\s\"',;:=()]*[a-z])[^\s\"',;:=()]{{8,}})",
    ),
    (("/ticket/",), r"://[^\s\"']{1,200}/ticket/(?P<x>[\w-]{8,})"),
    ((":1812", ":1813"), r"(?<!\S)[\w.-]+:181[23]\s+(?![\d.]+:)(?P<x>\S{3,})\s+\d{1,3}\s*$"),
    # directories, brokers, SNMP users
    (("{s", "{md5}", "{crypt}"), r"\{(?:s?sha\d{0,3}|s?md5|crypt)\}(?P<x>[^\s\"',;]{6,})"),
    (("usmuser",), r"\busmUser\s+(?:\S+\s+){3}(?P<x>\S.*)"),
    (("users",), r"\b(?:v3|remote)[-_ ]?users(?:[\"']?\s*[:=]|[\"']?><string>|>)\s*[\"']?"
     r"(?P<x>[^\s/<\"']+(?:/[^\s/<\"']+){2,}[^<\"'\r\n]*)"),
    (("rabbitmqctl",), r"\brabbitmqctl\b.{0,80}?\b(?:add_user|change_password|authenticate_user)\s+\S+\s+(?P<x>\S+)"),
    (("pass",), r"\{\s*\w*pass(?:word)?\s*,\s*(?:<<)?[\"'](?P<x>[^\"']+)"),
    ((" -u ",), r"\s-u\s+[^\s-]\S*\s+-p\s+[\"']?(?!\d{1,5}\b)(?P<x>[^\s\"'-][^\s\"']*)"),
    # key files and what tools print of them
    ((":5432:", ":*:"), r"(?<!\S)[\w.*-]+:(?:5432|\*):[\w.*-]+:[\w.*-]+:(?P<x>\S+)\s*$"),
    (("md5", "sha1"), r"(?<!\S)\d{1,5}\s+(?-i:MD5|SHA1)\s+(?P<x>[^\s#]{6,})\s*(?:#.*)?$"),
    (("-hmac",), r"\([\w:-]*-hmac[\w-]*\)\s+\((?:0x)?(?P<x>\w{6,})\)"),
    (("addent",), r"\baddent\b.{0,200}?\s(?-i:-K)\s+(?P<x>\S+)"),
    # by form alone: two hashes of Windows, a recovery key of ESXi 7, a private key in base64, a signed address
    ((":::",), r"(?P<x>\b[0-9a-f]{32}:\w{32})(?=:::)"),
    (("-",), r"(?<![\w-])(?P<x>\d{6}(?:-\d{6}){7,})(?![\w-])"),
    (("mii",), r"(?-i:\b(?P<x>MII[A-Za-z0-9+/]{2}[A-Za-z0-9+/]IBA(?:AK|DAN)[A-Za-z0-9+/=]{20,}))"),
    (("sig=",), r"[?&;]sig=(?P<x>[^&\s\"']{8,})"),
    (("signature=",), r"\bsignature=(?P<x>[\w%+/=-]{12,})"),
)  # fmt: skip
