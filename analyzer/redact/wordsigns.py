"""Tells names by the words before them: of things that have a name, in sentences of ESXi, NSX, directories and tools.

Entries are those of `placesigns`.
"""

from __future__ import annotations

Places = tuple[tuple[str, tuple[str, ...], str], ...]

_NAME = r"[A-Za-z0-9][\w.$-]*\w"
_LETTER = r"(?=[\w.-]*[A-Za-z])"
_NUMBERED = r"(?=[\w.-]*\d)(?=[\w.-]*[A-Za-z])[A-Za-z0-9][\w.-]*\w"  # a word that holds a digit and a letter
_QUOTED = r"(?P<q>[\"'])(?P<x>[^\"'\n]{1,100})(?P=q)"
_ID = r"[0-9a-f]{8}-[0-9a-f]{4,8}-(?:[0-9a-f]{4}-){1,2}[0-9a-f]{12}"
_QUAD = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"

WORDED: Places = (
    # addresses in percent signs; data centers and clusters of vi://user@host/DC/host/CLUSTER
    ("urlhost", ("%2f%2f",), r"%3[aA]%2[fF]%2[fF](?P<x>[A-Za-z0-9][\w.-]*)"),
    ("urlhost", ("%2e",), r"(?<![\w%])(?P<x>[A-Za-z0-9][\w-]*(?:%2[eE][\w-]+){1,5})"),
    ("label", ("vi://",), r"\bvi://[^\s/\"']+/(?P<x>[^\s/\"']+)"),
    ("label", ("vi://",), r"\bvi://[^\s/\"']+/[^\s/\"']+/host/(?P<x>[^\s/\"']+)"),
    # user@host without a domain
    ("label", ("://",), r"(?i)\bldaps?://[^\s/]+/(?:ou|dc|cn|o|uid)=(?P<x>[^,?/\s\"']+)"),
    ("label", ("krbtgt/",), r"\bkrbtgt/(?P<x>[A-Za-z][\w.-]*)"),
    ("user", ("@",), r"(?<![\w.+/@\[-])(?P<x>[A-Za-z][\w.$-]*)@(?=[A-Za-z][\w-]*(?:[: ,;)\"'\]]|$))"),
    ("host", ("@",), r"(?<![\w.+/@-])[A-Za-z][\w.$-]*@(?!v\d+_)(?P<x>[A-Za-z][\w-]*)(?=[: ,;)\"'\]]|$)"),
    ("host", ("@16",), r"(?<![\w.-])(?P<x>[A-Za-z][\w.-]*)@(?=16[12]\b)"),
    # a thing and its name in quotes
    (
        "title",
        (),
        r"(?i)\b(?:rule|segment|collection|section|group|profile|tenant|edge|server|member|pool|node|description|manager"
        rf"|host ?name|policy|zone|service|job|(?:with|by) name|named|called) {_QUOTED}",
    ),
    ("vm", ("power",), rf"(?i)\bpower(?:ed|ing)?[ -]?(?:on|off) {_QUOTED}"),
    ("label", ("-name ",), rf"\b(?:host|domain)-name {_QUOTED}"),
    ("label", ("syscontact", "syslocation", "sysname"), rf"(?i)\bsys(?:contact|location|name) {_QUOTED}"),
    # a thing and its name, which holds a number
    (
        "thing",
        (),
        r"(?i)\b(?:ipset|securitygroup|(?:lb )?pool|member|(?:virtual )?server|manager|vcenter|vm"
        rf"|(?:dv)?portgroup|v?switch|dvs|on|host|proxy) (?=[A-Za-z])(?P<x>{_NUMBERED})(?![\w(/=]|:\S)",
    ),
    # a thing of NSX and its name, any word with a dash; what a switch's neighbour is called
    (
        "title",
        ("-",),
        r"(?i)\b(?:ipset|securitygroup|lb ?pool|transport[ -]node|edge[ -]node|tier-?[01]|cluster member|proxy"
        r"|segment)[ =:]{1,2}"
        r"(?P<x>(?=[\w.]+-)[A-Za-z0-9][\w.-]*\w)(?![\w(/=]|:\S)",
    ),
    (
        "host",
        ("neighbo", "system name", "device id"),
        r"(?i)(?<!bgp )\b(?:neighbou?r(?: is)?|system name|device id)[:=]? "
        rf"{_LETTER}(?P<x>{_NUMBERED}|(?=\w+-){_NAME})(?![\w:])",
    ),
    # what a volume, a device or a datastore is called in problems, and where a file system is mounted
    ("label", ("identifier [",), r"\bidentifier \[(?P<x>[^\]\n]{1,80})\](?= )"),
    (
        "datastore",
        ("affected datastore",),
        r"(?i)\baffected datastores?(?: \(if any\))?: ?\"{1,2}(?P<x>[^\"\n]{1,80})\"",
    ),
    ("label", ("open device '",), r"\bopen device '(?P<x>[^':/\n]{1,80}):\d{1,3}'"),
    ("label", ("mount point",), r"\bmount point (?P<x>[^,/\n]{1,80}), mounted as "),
    ("vm", ("swap file from",), rf"\bswap file from (?P<x>{_NAME})(?=\.? \()"),
    ("label", ("cluster ",), r"\bcluster (?P<x>[^\n,;:\"'=]{2,60}?)(?= in data ?center )"),
    ("label", ("in data",), r"\bin data ?center (?P<x>[A-Z][^\n,;:\"'=]{1,60})$"),
    (
        "host",
        ("added to cluster", "removed from cluster", "moved "),
        rf"\b[Hh]ost (?P<x>{_NAME}) (?:added to|removed from|moved (?:to|into)) cluster ",
    ),
    # a volume and the id behind it, what is mounted
    ("label", ("-",), rf"(?i)(?<![\w.-])(?P<x>{_LETTER}{_NAME}) \((?={_ID}\))"),
    ("label", ("share (",), rf"\bshare \([^()\n]{{1,200}}\) as (?P<x>{_NAME})"),
    ("host", ("nfs",), rf"(?i)\bnfs\w*: [^\n]{{0,160}}? (?P<x>{_LETTER}{_NAME}):(?=/\w)"),
    ("label", ("nfs",), rf"(?i)\bnfs\w*: [^\n]{{0,200}}? label:? (?P<x>{_NAME})"),
    ("vm", (".eth",), r"\bclient '?(?P<x>[^\n'\"]{1,80}?)\.eth\d{1,2}\b"),
    ("user", ("iqn.",), rf"\biqn\.\S+,? user (?P<x>{_NAME})"),
    ("label", ("addrset",), rf"\baddrset (?!r?(?:src|dst)\d+\b|(?:ip|mac)-[a-z]+-\d+\b){_LETTER}(?P<x>{_NAME})"),
    ("label", ("vim.",), r"\bvim\.(?:Datastore|Network):(?:HaNetwork-)?(?P<x>[A-Za-z][^'\"\n]{1,80}?)(?=')"),
    # events, logins, directories, keys
    ("host", ("event ",), rf"\bEvent \d+ : [^\n]{{1,200}}? on (?P<x>{_NAME}) in "),
    ("label", ("event ",), rf"\bEvent \d+ : [^\n]{{1,200}}? in cluster (?P<x>{_NAME})"),
    ("user", ("\\",), r"-- (?:\w+:)?(?P<x>[\w.-]+\\[\w.$-]+)(?= --)"),
    ("label", ("domain",), rf"\bjoin(?:ing|ed)? (?:the )?domain (?P<x>{_NAME})"),
    ("user", ("account",), rf"\bwith account (?P<x>{_NAME})"),
    ("host", ("not found",), rf"\b[Hh]ost name not found:? (?P<x>{_NAME})"),
    (
        "host",
        ("ssh-", "ecdsa-"),
        r"(?<![\w.-])(?P<x>[A-Za-z][\w.-]*)(?:,[\w.:,\[\]-]+)? (?=(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2)[\w-]* )",
    ),
    ("label", ("ssh-", "ecdsa-"), r"\b(?:ssh-\w+|ecdsa-[\w-]+) (?:AAAA)?[\w+/=*]{5,} (?P<x>[A-Za-z][\w.-]*)$"),
    ("host", ("@",), r"(?<![\w/.-])(?:host|HTTP|ldap|nfs|cifs|TERMSRV|MSSQLSvc)/(?P<x>[A-Za-z][\w.-]*)(?=@[A-Z])"),
    (
        "name",
        ("=",),
        r"(?<![\w=])(?P<x>(?:CN|OU|O|L|ST|DC|C) = [^,\"<>/;*\n]{1,80}"
        r"(?:, ?(?:CN|OU|O|L|ST|DC|C) = [^,\"<>/;*\n]{1,80})+)",
    ),
    ("dashed", ("-",), rf"(?i)\b(?:ip|host|server|node|srv|vm)-(?P<x>{_QUAD}(?:-{_QUAD}){{3}})(?![\w-])"),
    ("title", ("policy/",), r"\b(?:Security|Gateway)Policy/(?P<x>[A-Za-z][\w.-]*)"),
    ("policypath", ("infra/",), r"/(?:global-)?infra/(?P<x>[\w-]+(?:/[\w.%-]+)+)"),
)  # fmt: skip
