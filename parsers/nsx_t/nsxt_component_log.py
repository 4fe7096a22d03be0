"""Logs of the components of NSX-T and NSX 4 nodes: manager, policy, controller, Corfu, cluster manager, proxy, routing.

Sources: the list of support bundle paths of VCF 9 for the names; the NSX CLI guide (GetFileLogFollow) for the line of
manager.log before 3.0; the documents of FRR for `2021/06/04 18:46:02 BGP: …`. corfu-compactor-audit.log
follows compactor_runner.py of the public sources of Corfu. No real line of corfu.9000.log, cbm.log or
reverse-proxy.log was at hand: whatever begins with a time is a line, with its level where a word of it follows.
What a component sends to the syslog as well is in nsxt.syslog, which rules look at; these logs stand in for one that
was not sent.
"""

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.tables import Block, Record, Table, Value
from analyzer.forms.logs import PRI, TS, log_files, log_rows, read_utc

from ..common._nsxt import LOG_COLUMNS, find_node_kind, take_pairs

TABLE = Table.of(
    "nsxt.component_log",
    "Lines of the logs of single components of an NSX-T / NSX 4 node, UTC.",
    "proton/nsxapi.log, policy/policy.log, cbm/cbm.log, corfu/corfu.9000.log, frr/frr.log, … of an NSX node",
    *LOG_COLUMNS,
    ask="NSX support bundle of the node",
    log=True,
)

_STAMP = r"\[?\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d"
_SHAPE = rf"\s*{PRI}(?:{TS}|{_STAMP})"
_FOLDERS = (
    r"(?:^|/)(?:policy/policy|global-manager/gmanager|corfu(?:-nonconfig)?/(?:corfu\.90\d0|tanuki|(?:nonconfig-)?corfu-compactor-audit)|frr/frr"
    r"|rcpm/frr-(?:config|reload)|async-replicator-service/ar|search/elasticsearch|nvpapi/api_server"
    r"|nsx-cli/nsxcli)(?:[.-]\d+)?\.log(?:\.\d+)?(?:\.gz)?$"
)


def _finish_values(record: Record, values: dict[str, Value]) -> None:
    take_pairs(values, str(record.values.get("SD", "")), folded=bool(record.values.get("REPEATED")))
    stamp = str(record.values.get("TIME", ""))
    if "/" in stamp:  # routing daemons
        values["time"] = read_utc(stamp.replace("/", "-"))


def parse_block(block: Block) -> Output:
    """Read lines of a component's log, one row each; a stack trace joins the line before."""
    return log_rows(TABLE, PARSER.name, block, finish=_finish_values)


PARSER = Parser(
    name="nsxt_component_log",
    tables=(TABLE,),
    parse=parse_block,
    kind=find_node_kind,
    files=(
        log_files(
            r"nsx-audit(?:-write)?|nsxapi|nsx-ccp(?:-transaction)?|cbm|reverse-proxy|cm-inventory|upgrade-coordinator"
            r"|nsx-opsagent|cfgAgent"
        ),
        _FOLDERS,
    ),
    head=rf"^{_SHAPE}",
    log=True,
)
