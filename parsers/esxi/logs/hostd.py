"""`hostd.log`: the host agent.

Source: `var/run/log/hostd.log` of a vm-support bundle with its rotated copies, line forms 4.x to
9.0. The stamps of 4.x are local time of the console without a zone; they are taken as UTC.
"""

from analyzer.forms.host_logs import agent_log

PARSER = agent_log(
    "hostd",
    "esxi.hostd",
    "Lines of the host agent, UTC; 4.x prints no zone and is taken as UTC.",
    "[Hh]ostd",
    own_5x=r"(?! ?\[Vpx)",
    section=True,
)
