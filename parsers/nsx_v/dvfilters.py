"""`summarize-dvfilter`: the filters on ports of a host: distributed firewall, swsec, ESXi-Firewall, third parties.

Source: the command on hosts of NSX 6.1 to 6.3, as captured. Slot 2 of a vNIC is the distributed firewall. Lines picked
with `grep` are read too; what is above the first world (fast paths, service VMs) is left out.
"""

from functools import partial

from analyzer.artefacts.signs import NOTHING
from analyzer.artefacts.tables import Column, KeyColumn, Table
from analyzer.forms import template_parser
from analyzer.forms.headings import drop_stale_headings

TABLE = Table.of(
    "esxi.dvfilter",
    "Filters on the ports of a host (DVFilter), one row a filter.",
    "summarize-dvfilter",
    Column("world_id", "int", "world that owns the socket; 0 for none"),
    Column("vm_name", "str", "name of the VM"),
    Column("port_id", "int", "port of the virtual switch"),
    Column("client_name", "str", "what hangs on the port: web-01.eth0, vmk1"),
    Column("slot", "str", "place of the filter: vNic slot 2, dvPort slot 0"),
    KeyColumn("filter", "str", "name of the filter"),
    Column(
        "agent_name",
        "str",
        "vmware-sfw for the distributed firewall, dvfilter-generic-vmware-swsec, …",
    ),
    Column("filter_state", "str", "IOChain Attached, … as printed"),
    Column("vm_state", "str", "Detached, … as printed"),
    Column(
        "failure_policy",
        "str",
        "failClosed drops packets when the filter fails, failOpen lets them pass",
        sign=NOTHING,
    ),
    Column("filter_source", "str", "how the filter came there, as printed"),
    ask="`summarize-dvfilter` on the host",
)

PARSER = template_parser(
    "dvfilters",
    TABLE,
    node="esxi",
    files=(r"(?:^|/)commands/summarize-dvfilter[^/]*\.txt$",),
    commands=(r"\bsummarize-dvfilter\b",),
    shape=r"^\s*world \d+ (?:vmm0:\S|<no world>)|^\s*agent: [\w-]+, refCount: \d+, rev: ",
    body=(
        r"^\s*(?:world \d+ |port \d+ \S|(?:vNic|dvPort|uplink) slot \d+|(?:name|agentName|state|vmState|failurePolicy"
        r"|slowPathID|filter source|agent|moduleName|Fastpaths|ServiceVMs|Filters|slowpath)\b|--$|<only )"
    ),
    answers=partial(
        drop_stale_headings, heading=("world_id", "vm_name"), once=("port_id", "client_name")
    ),
)
