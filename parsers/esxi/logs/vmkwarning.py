"""`vmkwarning.log`: the warnings and alerts of the VMkernel, a second copy.

Source: `var/run/log/vmkwarning.log` of a vm-support bundle. Every line also is in
vmkernel.log: count an event in one of the two, never in both. A line alone cannot be known
from one of vmkernel.log, so this log is recognised by its name only.
"""

from analyzer.artefacts.tables import Table
from analyzer.forms.logs import log_parser

from .vmkernel import COLUMNS, HEAD

TABLE = Table.of(
    "esxi.vmkwarning",
    "Warnings and alerts of the VMkernel, UTC; the same lines stand in esxi.vmkernel.",
    "var/run/log/vmkwarning.log with its rotated copies",
    *COLUMNS,
    ask="/var/log/vmkwarning.log with its rotated copies",
    log=True,
)


PARSER = log_parser(
    "vmkwarning",
    TABLE,
    stem="vmkwarning",
    head=HEAD,
    default_level="warning",
)
