"""`vobd.log`: observations (VOBs) and the events made of them.

Source: `var/run/log/vobd.log` of a vm-support bundle; on 4.x in `var/log/messages`. The counter of
microseconds runs since boot and is not in order with the stamps across correlators.
"""

from analyzer.artefacts.tables import Column, Table
from analyzer.forms.logs import HOST, LEVEL, MASKED, MESSAGE, PRI, SEV, SYSLOG, TIME, TS, log_parser

TABLE = Table.of(
    "esxi.vobd",
    "Observations ([vob.*]) and events ([esx.problem.*], [esx.clear.*], [esx.audit.*]), UTC.",
    "var/run/log/vobd.log with its rotated copies; 4.x: var/log/messages",
    TIME,
    LEVEL,
    Column("correlator", "str", "who saw it: netCorrelator, scsiCorrelator, vmfsCorrelator, …"),
    Column("event_id", "str", "esx.problem.net.redundancy.lost, vob.net.vmnic.linkstate.down, …"),
    Column("uptime_us", "int", "time since boot; not ordered across correlators", "us"),
    MESSAGE,
    ask="/var/log/vobd.log with its rotated copies",
    log=True,
)

_VOB = r" +\[\w+\] \d+us: "
_SHAPE = (
    rf"\s*{PRI}(?:{TS}:{_VOB}|{TS} {HOST}{SEV} +vobd\[\d+\]:|(?:{TS}|{SYSLOG}) {HOST}vobd:{_VOB}"
    rf"|{SYSLOG} {HOST}(?:{SYSLOG} )?vobd: +{SYSLOG}\.\d+: "
    # as people quote them: with a masked stamp, without a stamp, the id of an event alone
    rf"|(?:{MASKED}: +)?(?:vobd(?:\[\d+\])?: +)?\[\w+Correlator\] \d+us: |\[esx\.problem\.[\w.]+\])"
)


PARSER = log_parser(
    "vobd",
    TABLE,
    stem="vobd",
    shape=_SHAPE,
)
