"""Forms: artefacts that are declared by what they print, and need no code of their own.

A bundle names the file of a command by rule and prints most of them in a few shapes. A form takes the labels of an
output and gives the parser: table, files, commands, what to ask for, the TextFSM template and the JSON twin.
CONTRIBUTING.md shows one from the command to its samples.
"""

from __future__ import annotations

from analyzer.forms.blocks import get_block, get_blocks, key_value, vsish_block
from analyzer.forms.columns import Field, Key, Made, Param
from analyzer.forms.form import record_parser, template_parser
from analyzer.forms.tables import localcli_table, text_table

__all__ = [
    "Field",
    "Key",
    "Made",
    "Param",
    "get_block",
    "get_blocks",
    "key_value",
    "localcli_table",
    "record_parser",
    "template_parser",
    "text_table",
    "vsish_block",
]
