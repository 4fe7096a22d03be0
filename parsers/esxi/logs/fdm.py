"""`fdm.log`: the agent of vSphere HA on the host.

Source: `var/run/log/fdm.log` of a vm-support bundle; no real sample was at hand, the forms are
those of hostd, which writes with the same library.
"""

from analyzer.forms.host_logs import agent_log

PARSER = agent_log(
    "fdm",
    "esxi.fdm",
    "Lines of the vSphere HA agent, UTC.",
    "[Ff]dm",
)
