"""`esxcli storage san iscsi stats get`: sessions of software iSCSI, and what went wrong in them."""

from analyzer.forms import Field, get_blocks

from ._san import HBA

PARSER = get_blocks(
    "iscsi_stats",
    "storage san iscsi stats get",
    "esxi.iscsi_stats",
    "Counters of software iSCSI adapters.",
    HBA,
    Field("Total Number of Sessions", "sessions", "int", "sessions"),
    Field("Total Number of Connections", "iscsi_connections", "int", "connections of the sessions"),
    Field("IO Data Sent", "io_sent_bytes", "int", "data written", "bytes"),
    Field("IO Data Received", "io_received_bytes", "int", "data read", "bytes"),
    Field("Command PDUs", "command_pdus", "int", "commands sent", "times"),
    Field("Response PDUs", "response_pdus", "int", "answers received", "times"),
    Field("Task Mgmt Request PDUs", "task_requests", "int", "aborts and resets sent", "times"),
    Field("Login Request PDUs", "login_requests", "int", "logins tried", "times"),
    Field("Login Response PDUs", "login_responses", "int", "logins answered", "times"),
    Field("Logout Request PDUs", "logout_requests", "int", "logouts sent", "times"),
    Field("NOP-Out PDUs", "nop_out", "int", "pings sent", "times"),
    Field("NOP-In PDUs", "nop_in", "int", "pings received", "times"),
    Field(
        "Async Event PDUs",
        "async_events",
        "int",
        "events the target told: it may drop the session",
        "times",
    ),
    Field("Reject PDUs", "rejects", "int", "commands the target refused", "times"),
    Field(
        "Digest Errors", "digest_errors", "int", "wrong checksums: the network spoils data", "times"
    ),
    Field("Timeouts", "iscsi_timeouts", "int", "answers that did not come in time", "times"),
    begins="Adapter",
    head=r"iScsi\w+",  # localcli prints the name of its structure
    counts_since="boot",
    gauges=("sessions", "iscsi_connections"),
)
