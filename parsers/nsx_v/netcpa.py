"""`netcpa.log`: the NSX control plane agent of an ESXi host.

Source: `var/run/log/netcpa.log` of a vm-support bundle (NSX for vSphere). No real line was at
hand; the forms are those of hostd, which writes with the same library.
"""

from analyzer.forms.host_logs import agent_log

PARSER = agent_log(
    "netcpa",
    "nsx.netcpa",
    "Lines of the NSX-v control plane agent on the host, UTC.",
    "[Nn]etcpa(?:-worker)?",
    ask="/var/log/netcpa.log of the host, with its rotated copies",
)
