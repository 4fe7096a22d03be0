"""`vpxa.log`: the agent of vCenter on the host.

Source: `var/run/log/vpxa.log` of a vm-support bundle with its rotated copies, line forms 4.x to 9.0.
"""

from analyzer.forms.host_logs import agent_log

PARSER = agent_log(
    "vpxa",
    "esxi.vpxa",
    "Lines of the vCenter agent on the host, UTC; 4.x prints no zone and is taken as UTC.",
    "[Vv]pxa",
    own_5x=r"(?= ?\[Vpx)",
)
