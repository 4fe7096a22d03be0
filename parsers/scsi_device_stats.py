"""vsish `/storage/scsifw/devices/<device>/stats`: commands, blocks and reservations of a storage device.

The device stands in the path of the command alone.
"""

from __future__ import annotations

from analyzer.parsing import Output, Parser, rows, typed
from analyzer.tables import Block, Column, Table

from ._vsish import body

TABLE = Table(
    name="esxi.scsi_device_stats",
    meaning="Counters of a storage device: commands, blocks, reservations.",
    source="vsish -e get /storage/scsifw/devices/<device>/stats",
    ask="`vsish -e get /storage/scsifw/devices/<device>/stats`",
    key=("storage_device",),
    columns=(
        Column("storage_device", "str", "storage device: naa.…, eui.…, t10.…, mpx.…"),
        Column("cmds", "int", "commands", "times"),
        Column("blocks_read", "int", "blocks read", "blocks"),
        Column("blocks_written", "int", "blocks written", "blocks"),
        Column("read_ops", "int", "reads", "times"),
        Column("write_ops", "int", "writes", "times"),
        Column("reserve_ops", "int", "SCSI reservations asked for", "times"),
        Column("reservation_conflicts", "int", "commands refused for a reservation of another host", "times"),
        Column("cmds_split", "int", "commands that were split", "times"),
        Column("cmds_pae", "int", "commands counted as PAE", "times"),
    ),
)


def parse(block: Block) -> Output:
    """Read one dump: one row a device."""
    return rows(TABLE, PARSER.name, block, typed(block.params, TABLE))


PARSER = Parser(
    name="scsi_device_stats",
    tables=(TABLE,),
    parse=parse,
    node="esxi",
    commands=(r"\b(?:get|cat)\s+\S*?/storage/scsifw/devices/(?P<storage_device>[^/\s]+)/stats\b",),
    body=body("Statistics"),
)
