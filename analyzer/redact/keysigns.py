"""Tells names by the key they are the value of: in JSON, XML, query strings, objects of Java, settings, configurations.

A key says what its value is, whatever the form: `vmName=…`, `"hostName":{"value":"…"}`, `<ns1:clusterName>…</`,
`{"key":"guestinfo.hostname","value":"…"}`, `[name=…, externalId=…]`. Entries are those of `placesigns`.
"""

from __future__ import annotations

Places = tuple[tuple[str, tuple[str, ...], str], ...]

# Keys of names, in any capitals; another word may stand before them (`guestHostName`, `compute_cluster_name`).
_KEYS = {
    "host": r"(?:[\w.-]{0,20}[_.-])?(?:\w{0,12}host[_.-]?name|host|fqdn|server[_-]?name|v?center(?:[_-]?server)?)",
    "user": (
        r"(?:[\w.-]{0,20}[_.-])?(?:user(?:[_-]?name)?|login|account(?:[_-]?name)?|principal|owner|samaccountname)"
    ),
    "label": (
        r"(?:\w{0,24}(?:vm|cluster|datastore|network|folder)[_-]?name|(?:[\w.-]{0,20}[_.-])?(?:(?:vm|virtual[_-]?machine|datastore|ds|volume|cluster|network|segment|switch|dvs"
        r"|port[_-]?group|folder|data[_-]?center|resource[_-]?pool|pool|tenant|zone|tz|edge|group|ip[_-]?set|rule|policy)s?"
        r"(?:[_-]?(?:name|label))?|(?:tenant|display|service|profile)[_-]?(?:name|id)|datacenter|dc))"
    ),
}
_ONE_OF = {  # one of them is in a text that has such a key
    "host": ("host", "fqdn", "server", "center"),
    "user": ("user", "login", "account", "principal", "owner"),
    "label": ("vm", "virtual", "datastore", "ds", "volume", "cluster", "network", "segment", "switch", "dvs", "group",
              "folder", "center", "pool", "tenant", "zone", "tz", "edge", "ipset", "rule", "policy", "display",
              "service", "profile", "dc"),
}  # fmt: skip
_QUOTED = r"[^\"'\\<>{}\[\]|\n]{1,100}"
_BARE = r"(?=[\w.$-]*[A-Za-z])[A-Za-z0-9][\w.$-]*\w"
_Q = r"\\{0,3}[\"']"


def _key_signs(kind: str, keys: str) -> Places:
    key, gate = _KEYS[keys], _ONE_OF[keys]
    return (
        # "vmName":"…", "hostName": {"value": "…"}, networkName = "…"
        (
            kind,
            gate,
            rf"(?i){_Q}{key}{_Q} ?[:=] ?(?:\{{ ?{_Q}(?:value|name){_Q} ?: ?)?{_Q}(?P<x>{_QUOTED})(?={_Q})",
        ),
        (kind, gate, rf"(?i)(?<![\w.-]){key} ?= ?\\?\"(?P<x>{_QUOTED})(?=\\?\")"),
        # {"key":"guestinfo.hostname","value":"…"}, <Property oe:key="hostname" oe:value="…"/>; a .vmx writes |22 for "
        (
            kind,
            ("value",),
            rf"(?i)(?:key|name|id)(?:{_Q} ?: ?{_Q}|=(?:[\"']|\|22)){key}(?:{_Q}|\|22)[, ][^<>{{}}\n]{{0,60}}?"
            rf"value(?:{_Q} ?: ?{_Q}|=(?:[\"']|\|22))(?P<x>{_QUOTED})",
        ),
        (
            kind,
            ("value",),
            rf"(?i)<(?:\w+:)?(?:key|name)>{key}</[^<>\n]{{1,40}}> ?"
            r"<(?:\w+:)?value(?: [^<>\n]{0,80})?>(?P<x>[^<>\n]{1,100})",
        ),
        # <hostName>…</hostName>, <property name="HostName">…</property>
        (kind, ("</",), rf"(?i)<(?:\w+:)?{key}(?: [^<>\n]{{0,80}})?>(?P<x>[^<>\n]{{1,100}})(?=</)"),
        (
            kind,
            ("</",),
            rf"(?i)<\w+ [^<>\n]{{0,40}}name=[\"']{key}[\"'][^<>\n]{{0,40}}>(?P<x>[^<>\n]{{1,100}})(?=</)",
        ),
        # ?vmName=…&filter.names=…
        (
            f"url{kind}",
            ("?", "&"),
            rf"(?i)[?&;]{key}=(?P<x>[^&;\s\"'<>=]{{2,200}})(?=[&;\s\"'<>]|$)",
        ),
    )


KEYED: Places = (
    *_key_signs("host", "host"),
    *_key_signs("user", "user"),
    *_key_signs("title", "label"),
    ("urluser", ("uid=",), r"[?&;]uid=(?P<x>[^&;\s\"'<>]{2,100})"),
    ("urllabel", ("names=",), r"[?&;](?:filter\.)?names(?:\.\d+)?=(?P<x>[^&;\s\"'<>]{2,200})"),
    # "vm":{"moid":"vm-3","name":"…"}, <vm name="…">, <obj …><name>…</name>
    (
        "label",
        ("name",),
        rf"(?i){_Q}(?:vm|host|cluster|datastore|network|folder|group|segment|edge){_Q} ?: ?\{{[^{{}}\n]{{0,200}}?"
        rf"{_Q}name{_Q} ?: ?{_Q}(?P<x>{_QUOTED})(?={_Q})",
    ),
    (
        "label",
        ("name=",),
        r"(?i)<(?:\w+:)?(?:vm|virtualmachine|host|cluster|datastore|network|portgroup|ipset|securitygroup|edge|group|tenant)"
        r" (?:[^<>\n]{0,80} )?name=[\"'](?P<x>[^\"'\n]{1,100})",
    ),
    ("title", ("name>",), r"<(?:\w+:)?name>(?P<x>[^<>\n]{1,100})(?=</)"),
    ("title", ("description>",), r"<(?:\w+:)?description>(?P<x>[^<>\n]{1,100})(?=</)"),
    # objects of Java and of hostd: LogicalSwitch{displayName=…, tz=…}, [name=…, hostName=…], (vim.fault…) { name = "…"
    (
        "label",
        ("name=", "tz="),
        rf"(?<=[\[{{(, ])(?:name|displayName|hostName|tz|vmName|[a-z]+Name)=(?P<x>{_BARE})(?=[,\]}})])",
    ),
    ("title", ("name = ",), r"\bname = \"(?P<x>[^\"\n]{1,100})\"(?=,| ?\})"),
    ("title", ("display_name=",), r"\bdisplay_name=[\"'](?P<x>[^\"'\n]{1,100})"),
    # what NSX puts on machines: tags with their scope, criteria of a group
    ("label", ("tag", "scope"), rf"{_Q}(?:tag|scope){_Q} ?: ?{_Q}(?P<x>{_QUOTED})(?={_Q})"),
    (
        "tag",
        ("operator",),
        rf"{_Q}operator{_Q} ?: ?{_Q}\w+{_Q}, ?{_Q}value{_Q} ?: ?{_Q}(?P<x>[^\"'\\\n]{{1,100}})(?={_Q})",
    ),
    # without quotes up to the next sign between values: newName=…, resourcePool=RP Gold; folder=…
    (
        "title",
        ("name=", "pool=", "folder=", "group=", "node=", "segment=", "cluster=", "center="),
        r"(?i)(?<![\w.-])(?:(?:new|display|old|dest)_?name|resource_?pool|folder|security_?group|group|(?:edge|transport)[-_]?node"
        r"|segment|cluster|data_?center)=(?!vim\.|group-)(?P<x>[A-Za-z0-9][^\n;,=\"'<>{}()\[\]|&/\\]{1,60}?)"
        r"(?=[;,\])}]|$| [\w.-]{1,24}=)",
    ),
    # what somebody wrote on it
    (
        "title",
        ("annotation", "notes", "comment"),
        r"(?i)\b(?:annotation|notes?|comment)[\"']? ?[=:] ?\"(?P<x>[^\"\n]{1,200})\"",
    ),
    # RecordOp ASSIGN: guest.hostName, 5. value=…
    (
        "host",
        ("value",),
        r"(?i)\b\w*host_?name\b[^\n=]{1,24}[ .]value ?= ?\"?(?P<x>[A-Za-z0-9][\w.-]*\w)",
    ),
    # short keys without a blank: vmname:…, ds=…, pg=…
    (
        "label",
        ("vmname", "host", "datastore", "portgroup", "ds=", "pg=", "network", "cluster"),
        rf"(?i)(?<![\w.-])(?:vm_?name|host[._]name|datastore(?:_?name)?|port_?group(?:_?name)?|ds|pg|network_?name|cluster_?name)"
        rf"[:=](?!vim\.){_BARE.replace('(?=', '(?P<x>(?=', 1)})(?![\w:/])",
    ),
)  # fmt: skip
