"""Forms of secrets in the lines of logs and commands: headers, options, settings and what shows by itself.

`forms` holds those of configuration files; `values` tries both.
"""

from __future__ import annotations

import re

# --- configuration ---
#
# Forms of secrets in the configuration of routers, daemons, directories and key files, one pattern each.
#
# Each entry is (words, pattern): the pattern is tried in a line that holds one of the words, in lower case; group x
# is the secret. Sources: NSX command line reference (Edge and Manager), `ipsec.secrets` of strongSwan, `ntp.keys`,
# `klist -K`, `.pgpass`, RFC 2307 (`{SSHA}`), snmpd.conf and snmp.xml, esxcli (7.0: recovery keys of a TPM host),
# format strings of vmkiscsid (`--dump-db`).

# Words that follow "password" in a sentence, and are no password.
_PROSE = (
    r"(?!(?:for|is|was|has|not|must|will|expired|policy|and|or|of|to|from|in|on|with|changed?|reset|failed|age"
    r"|set|check|update|length|required|invalid|enabled|disabled|authentication)\b)"
)
_SECRET_NAME = r"[^\"'<>]{0,100}(?:passw(?:or)?d|passphrase|secret|psk)(?:_\d)?"
_IN_SECRET_NAME = ("pass", "secret", "psk")

# Words that are in such a line; the gate of the filter looks for them first.
CONFIG_SIGNS = (
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

CONFIG_FORMS: tuple[tuple[tuple[str, ...], str], ...] = (
    # a setting and its value in one line
    (("value of",), r"\bvalue of [\w./]*(?:passw(?:or)?d|secret|token) is (?P<x>\S.*)"),
    (("uservars",), r"/UserVars/\w*(?:passw(?:or)?d|secret),(?P<x>[^,\r\n]+)"),
    (_IN_SECRET_NAME, rf"\b(?:key|name|id)=[\"']{_SECRET_NAME}[\"'][^<>]{{0,200}}?\bvalue=[\"'](?P<x>[^\"'<>]+)"),
    (_IN_SECRET_NAME, rf"\bvalue=[\"'](?P<x>[^\"'<>]+)[\"'](?=[^<>]{{0,200}}?\b(?:key|name|id)=[\"']{_SECRET_NAME}[\"'])"),
    (_IN_SECRET_NAME, rf"\b(?:key|name|id)=[\"']{_SECRET_NAME}[\"'][^<>]{{0,200}}>(?P<x>[^<]+)</"),
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


# Prefixes of tokens as public scanners know them: by form alone. Each row: the words of a line, what is behind the prefix.
_TOKENS: tuple[tuple[str, str], ...] = (
    ("github_pat_", r"\w{22,}"),
    ("ghp_", r"[A-Za-z0-9]{30,}"), ("gho_", r"[A-Za-z0-9]{30,}"), ("ghu_", r"[A-Za-z0-9]{30,}"), ("ghs_", r"[A-Za-z0-9]{30,}"),
    ("ghr_", r"[A-Za-z0-9]{30,}"),
    ("glpat-", r"[\w-]{16,}"), ("gldt-", r"[\w-]{16,}"),
    ("xoxb-", r"[\w-]{8,}"), ("xoxp-", r"[\w-]{8,}"), ("xoxa-", r"[\w-]{8,}"), ("xoxr-", r"[\w-]{8,}"), ("xoxs-", r"[\w-]{8,}"),
    ("aiza", r"[\w-]{30,}"),
    ("npm_", r"[A-Za-z0-9]{30,}"), ("pypi-", r"[\w-]{40,}"), ("dckr_pat_", r"[\w-]{20,}"),
    ("sk-", r"(?=[\w-]*\d)(?=[\w-]*[A-Z])[\w-]{20,}"), ("sk_live_", r"\w{16,}"), ("rk_live_", r"\w{16,}"),
    ("hvs.", r"[\w-]{20,}"), ("hvb.", r"[\w-]{20,}"),
    ("asia", r"(?-i:[0-9A-Z]{16})\b"), ("sg.", r"[\w-]{16,}\.[\w-]{16,}"), ("ya29.", r"[\w-]{20,}"),
)  # fmt: skip
TOKEN_SIGNS = tuple(prefix for prefix, _ in _TOKENS)
TOKEN_FORMS = tuple(
    ((prefix,), rf"(?<![\w-])(?P<x>{re.escape(prefix)}{rest})") for prefix, rest in _TOKENS
)

# The word for a password in the languages of consoles and notes (German, French, Spanish, Portuguese, Italian, Dutch,
# Polish, Czech, Swedish, Danish, Turkish, Russian, Japanese, Chinese, Korean), before its value.
PASSWORD_WORDS = (
    "passwort", "kennwort", "mot de passe", "contrase\u00f1a", "contrasena", "senha", "parola d'ordine", "wachtwoord",
    "has\u0142o", "heslo", "l\u00f6senord", "adgangskode", "\u015fifre", "parola", "\u043f\u0430\u0440\u043e\u043b\u044c",
    "\u30d1\u30b9\u30ef\u30fc\u30c9", "\u5bc6\u7801", "\u5bc6\u78bc", "\ube44\ubc00\ubc88\ud638",
)  # fmt: skip
PASSWORD_SIGNS = (
    *PASSWORD_WORDS,
    "accountkey=",
    "/pass",
    " -pw ",
    "%",
    "chpasswd",
    "sharedaccesskey",
)
PASSWORD_FORMS: tuple[tuple[tuple[str, ...], str], ...] = (
    (PASSWORD_WORDS, rf"(?:{'|'.join(map(re.escape, PASSWORD_WORDS))})\s?[=:\uff1a]\s?[\"']?(?P<x>[^\s\"',;]+)"),
    (("accountkey=", "sharedaccesskey"), r"\b(?:AccountKey|SharedAccessKey)=(?P<x>[^\s\"';,]+)"),
    ((" -pw ",), r"\s-pw\s+[\"']?(?P<x>[^\s\"']+)"),
    (("/pass",), r"(?<!\S)/pass(?:word)?:[\"']?(?P<x>[^\s\"']+)"),
    # smbclient and mount.cifs: user%password
    (("%",), r"(?:-U|--user|\buser(?:name)?)[\s=]+[\"']?[\w.\\@-]+%(?P<x>[^\s\"']+)"),
    (("chpasswd",), r"(?<![\w:/.-])[a-z_][\w.-]{0,31}:(?P<x>[^\s:\"'|]+)(?=[\"']?\s*\|\s*(?:sudo\s+)?chpasswd)"),
    (("chpasswd",), r"\bchpasswd\b.{0,40}?<<<\s*[\"']?[a-z_][\w.-]{0,31}:(?P<x>[^\s:\"']+)"),
)  # fmt: skip


_ANY_USER = r"(?<!\S)(?:-u|-U|--(?:proxy-)?user(?:name)?)(?:\s*=?\s*)"
# What a form needs to be tried at all (one of these words is in the line), and the form; group x is the secret.
FORMS = tuple(
    (signs, pattern)
    for signs, pattern in (
        # HTTP: the whole value of these headers is secret
        (
            ("authorization",),
            r"\b(?:proxy-)?authorization[\"']?\s*[:=]\s*[\"']?"
            r"(?:(?:basic|bearer|digest|negotiate|ntlm|remote|saml|sign)\s+)?(?P<x>[^\"'\r\n\]}>]+)",
        ),
        (
            ("cookie",),
            r"\b(?:set-)?cookie[\"']?\s*:\s*(?!(?:0x[0-9a-f]+|\d+)\b)[\"']?(?P<x>[^\"'\s][^'\r\n\]}>]*)",
        ),
        (
            ("basic ", "bearer ", "negotiate ", "ntlm "),
            r"\b(?:basic|bearer|negotiate|ntlm)\s+(?=\S*(?:[\d=]|(?-i:[a-z][A-Z])))(?P<x>[A-Za-z0-9+/=._~-]{6,})",
        ),
        # SNMP
        (("communit",), r"\bcommunit(?:y|ies)\s*[:=]\s*(?P<x>[^\s\"'<\[(*][^\r\n\"'<]*)"),
        (
            ("communit",),
            r"\b(?:r[ow])?communit(?:y|ies)(?:\s+(?:string|name))?\s+(?:is\s+|was\s+)?(?P<q>[\"'])(?P<x>[^\"']+)(?P=q)",
        ),
        (("communit",), r"\br[ow]community6?\s+(?P<x>[^\s\"']+)"),
        (
            ("snmp",),
            r"\bsnmpd?\b[^\r\n]{0,80}?\bcommunity\s+(?!(?:string|name|is|was|list|set)\b)(?P<x>[^\s\"',;:=]+)",
        ),
        (("auth",), r"\b(?:auth|priv)-?hash\s+(?P<x>[\w+/=-]{16,})"),
        (
            ("chap",),
            r"\bchap\b[^\r\n]{0,80}?\bsecret\s+[\"']?(?P<x>(?=[^\s\"',;]*(?:\d|(?-i:[a-z][A-Z])))[^\s\"',;]{6,})",
        ),
        # sentences
        (
            ("pass", "secret", "token"),
            r"\b(?:password|passphrase|passwd|secret(?:\s+key)?|token)(?:\s+(?:for|of)\s+\S+)?"
            r"\s+(?:is|was|set to|changed to)\s+"
            r"(?!(?:not|set|too|expired|invalid|required|incorrect|wrong|empty|valid|correct|missing|weak|changed|being"
            r"|accepted|in|about)\b)"
            r"[\"']?(?P<x>[^\s\"',;]+)",
        ),
        (
            ("pass", "secret"),
            r"\b(?:password|passphrase|passwd|secret)\s+(?P<q>[\"'])(?P<x>[^\"']+)(?P=q)",
        ),
        (("pass",), r"\b(?:password|passphrase)\s+for\s+\S+:\s+(?P<x>\S+)"),
        (
            ("passw",),
            r"\bpassword\s+(?P<x>(?=[^\s\"',;:=()]*\d)(?=[^\s\"',;:=()]*[a-z])[^\s\"',;:=()]{6,})\s+(?:set|changed|updated|accepted)\b",
        ),
        (
            ("passw",),
            r"\bpassword\s+(?:was\s+|is\s+)?(?:changed|set|reset)\s+(?:for|of)\s+(?:user\s+)?\S+\s+to\s+"
            r"(?!(?:expire|never|be|the)\b)[\"']?(?P<x>[^\s\"',;]+)",
        ),
        (
            (" key",),
            r"\b(?:encryption|private|secret|shared|recovery)\s+key[:=]?\s+(?P<q>[\"'])(?P<x>[^\"']{6,})(?P=q)",
        ),
        (
            ("vpxlro",),
            r"\[VpxLRO\]\s+--\s.{1,200}?\s--\s(?P<x>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:\([0-9a-f-]{36}\))?)",
        ),
        # XML
        (
            ("<",),
            r"<(?:\w+:)?[\w.-]*(?:pass(?:word|wd|phrase)|secret|psk|token|communit(?:y|ies)|private-?key|credential"
            r"|presharedkey|cookie|sessionid|apikey|licensekey)\b[^<>]*>(?P<x>[^<]+)",
        ),
        # command lines
        (
            ("pass", "pwd", "secret", "token", "psk", "communit", "key", "hash", "licen"),
            r"(?<!\S)(?:--?|\+)(?:[\w-]*(?:password|passwd|pwd|passphrase|secret|token|psk|communit(?:y|ies)|private-key"
            r"|encryption-key|integrity-key|api-key|licen[cs]e|auth-?hash|priv-?hash)(?:-confirmation)?|pass|key)"
            r"(?:\s*=\s*|\s+)(?!-)[\"']?(?P<x>[^\s\"']+)",
        ),
        (("-u", "--"), rf"{_ANY_USER}(?P<q>[\"'])[^\"':%/]+[:%](?P<x>[^\"']+)"),
        (("-u", "--"), rf"{_ANY_USER}[^\s\"':%/]+[:%](?P<x>[^\s\"']+)"),
        (
            ("echo ",),
            r"\becho\s+(?:-n\s+)?[\"']?(?P<x>[^\s\"'|]+)[\"']?\s*\|"
            r"\s*(?:sudo\s+(?:-S\s+)?)?(?:kinit|passwd|chpasswd|openssl|su\b|sudo)",
        ),
        (("pass:",), r"\bpass(?:in|out)?\s+pass:(?P<x>\S+)"),
        (
            ("<",),
            r"<(?:\w+:)?[\w.-]*(?:pass(?:word|wd|phrase)|secret|psk|cookie|apikey)\b[^<>]*?"
            r"\bvalue=[\"'](?P<x>[^\"'<>]+)",
        ),
        (
            ("pass",),
            r"\bkey=(?:[\"']|\|22)[^\"'|<>]*pass(?:word|wd)[^\"'|<>]*(?:[\"']|\|22)\s[^<>]{0,80}?\bvalue="
            r"(?:[\"']|\|22)(?P<x>[^\"'|<>]+)",
        ),
        (("signature",), r"<(?:\w+:)?SignatureValue\b[^<>]*>(?P<x>[^<]+)"),
        (("sign ",), r"\bauthorization[\"']?\s*[:=]\s*sign\s+(?P<x>[^\r\n]+)"),
        # words of a tree, of a CLI and of configurations, the value behind dots or a blank
        (("secret", "password"), r"\b(?:secret|password)\.{3,}(?P<x>[^\s.]\S*)"),
        (
            ("passw", "passphrase"),
            r"\b(?:set\s+user|username|neighbor|backup\s+server|sftp\s+user|join\s+management-plane)\b[^\r\n|:;=]{0,120}?"
            r"\s(?<!\bor\s)(?<!\band\s)(?:old-)?"
            r"(?:password|passphrase)\s+(?:(?:[057]|hash|encrypted|plain(?:text)?|clear)\s+)?"
            r"(?!(?:for|is|was|has|not|must|will|expired|policy|and|or|of|to|from|in"
            r"|on|with|change[ds]?|reset|failed|age|expir\w*|auth\w*|set|check|attempt\w*|update\w*|length)\b)"
            r"(?P<x>[^\s\"',;:=(]+)",
        ),
        (("passw",), r"\bset\s+user\s.{1,160}?\sold-password\s+(?P<x>\S+)"),
        (
            ("enable password",),
            r"(?<!\S)enable\s+password\s+(?!auth\w*$|expir\w*$|check\w*$)(?P<x>\S+)$",
        ),
        (
            ("message-digest-key", "authentication-key", "trusted key"),
            r"\bkey\s+\d+\s+md5\s+(?P<x>\S+)",
        ),
        (("<type>",), r"<type>(?:md5|password|simple)</type>\s*<value>(?P<x>[^<]+)"),
        (
            ("secret", "tacacs", "radius"),
            r"\b(?:radius_secret|(?:auth|radius|tacacs)-server\s.{0,80}?\b(?:secret|key))\s+(?:[067]\s+)?(?P<x>\S+)",
        ),
        (
            ("bindpw", "rootpw"),
            r"(?<!\S)(?:bindpw|rootpw)\s+(?:--(?:iscrypted|plaintext)\s+)?(?P<x>[^\s=:-]\S*)",
        ),
        (("changed password",), r"\bchanged\s+password\s+(?:for|of)\s+\S+\s+to\s+(?P<x>\S+)"),
        (("reg_sz",), r"password[\"']?\s+REG_SZ\s+[\"']?(?P<x>[^\"'\s]+)"),
        (
            ("convertto-securestring",),
            r"\bConvertTo-SecureString\s+(?:-String\s+)?(?P<q>[\"']?)(?P<x>[^\s\"')-][^\s\"')]*)",
        ),
        (
            ("-ku", "-su", "curl"),
            r"\bcurl\b.{0,200}?\s-[a-zA-Z]{1,5}u\s+[\"']?[^\s\"':]+:(?P<x>[^\s\"']+)",
        ),
        (("domainjoin",), r"\bdomainjoin-cli\s+join\s+(?:--ou\s+\S+\s+)?\S+\s+\S+\s+(?P<x>\S+)"),
        (("vmkfstools",), r"\bvmkfstools\b.{0,200}?\s-E\s+(?P<x>[^\s/]\S*)"),
        # SNMP v3 and traps
        (("snmp",), r"\bsnmp\s+set\b.{0,400}?--(?:remote-)?users[\s=]+(?P<x>\S+)"),
        (("users:",), r"(?<!\S)users:\s+(?P<x>[^\s/]+(?:/[^\s/]+){2,}.*)"),
        (("snmp",), r"\bsnmp\s+hash\b.{0,200}?\s-A\s+(?P<x>\S+)"),
        (("snmp",), r"\bsnmp\s+hash\b.{0,200}?\s-X\s+(?P<x>\S+)"),
        (("createuser",), r"\bcreateUser\s+\S+\s+(?P<x>\S.*)"),
        (("trap",), r"(?<!\S)trap2?(?:sink|sess)\s+\S+\s+(?P<x>\S+)"),
        (("com2sec",), r"\bcom2sec6?\s+\S+\s+\S+\s+(?P<x>\S+)"),
        (
            ("targets",),
            r"(?:--targets[\s=]+|<targets>|(?<!\S)targets:\s+)[^\s<@]+@\d+[/ ](?P<x>[^<\s,]+)",
        ),
        (("snmp",), r"\bsnmp\b.{0,300}?\s-t[\s=]+[^\s<@]+@\d+[/ ](?P<x>[^<\s,]+)"),
        (("esxcfg-advcfg",), r"\besxcfg-advcfg\b.{0,40}?\s-s\s+(?P<x>\S+)\s+\S*(?:passw|secret)"),
        (
            ("settings advanced set",),
            r"\bsettings\s+advanced\s+set\b.{0,80}(?:passw|secret)\w*\s"
            r".{0,40}?(?:-s|--string-value)[\s=]+(?P<x>\S+)",
        ),
        (("cst-",), r"\bcst-(?:VCT-)?(?P<x>[\w-]{6,})"),
        # by form alone
        (("://",), r"\b[a-z][a-z0-9+.-]*://[^/\s:@\"']+:(?P<x>[^/\s@\"']+)@"),
        (("$",), r"(?P<x>\$(?:1|2[abxy]?|5|6|7|y|gy|md5|sha1|apr1)\$[^\s:\"',;]{6,})"),
        (("eyj",), r"\b(?P<x>eyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?)"),
        (("akia",), r"\b(?P<x>AKIA[0-9A-Z]{16})\b"),
        (("-",), r"(?<![\w-])(?P<x>[0-9A-Z]{5}(?:-[0-9A-Z]{5}){4})(?![\w-])"),
        *CONFIG_FORMS,
        *TOKEN_FORMS,
        *PASSWORD_FORMS,
    )
)
# Commands whose short options hold secrets: words of which one is in the line, what names the command, and the
# option with its value.
COMMANDS = tuple(
    (
        signs,
        command,
        rf"(?<=\s)-{options}(?:\s+|=)?[\"']?(?P<x>(?!-)[^\s\"']+)",
    )
    for signs, command, options in (
        (("account",), r"\b(?:esxcli|localcli)\b.{1,200}\baccount\s+(?:add|set)\b", "[pc]"),
        (("chap",), r"\b(?:esxcli|localcli)\b.{1,200}\bchap\s+set\b", "S"),
        (("snmp",), r"\b(?:esxcli|localcli)\b.{1,200}\bsnmp\s+(?:set|test)\b", "[cu]"),
        (("snmp",), r"\bsnmp(?:walk|get|getnext|bulkwalk|bulkget|set|trap|inform)\b", "[cAX]"),
        (
            ("sshpass", "mysql", "ovftool", "redis-cli", "vicfg-"),
            r"\b(?:sshpass|mysql\w*|ovftool|redis-cli|vicfg-\w+)\b",
            "[pa]",
        ),
        (
            ("ipmitool", "ldap", "vicfg-"),
            r"\b(?:ipmitool|ldap(?:search|modify|add)|vicfg-iscsi)\b",
            "[PwW]",
        ),
        (("vmkiscsi", "vmware-cmd"), r"\b(?:vmkiscsi-tool|vmware-cmd)\b", "[Pw]"),
    )
)
COMMAND_WORDS = sorted({word for words, _, _ in COMMANDS for word in words})
