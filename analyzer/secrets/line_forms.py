"""Forms of secrets in the lines of logs and commands: headers, options, settings and what shows by itself.

`forms` holds those of configuration files; `values` tries both.
"""

from __future__ import annotations

from analyzer.secrets import forms

_ANY_USER = r"(?<!\S)(?:-u|-U|--(?:proxy-)?user(?:name)?)(?:\s*=?\s*)"
# What a form needs to be tried at all (one of these words stands in the line), and the form; group x is the secret.
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
            ("-", "+"),
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
            ("@",),
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
        *forms.FORMS,
    )
)
# Commands whose short options hold secrets: words of which one stands in the line, what names the command, and the
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
