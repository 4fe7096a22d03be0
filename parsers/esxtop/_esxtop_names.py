"""Names in the headings and screens of esxtop: groups, worlds of vCPUs, clients of ports."""

from __future__ import annotations

import re
from typing import Any

Key = tuple[Any, ...]
GROUP = re.compile(r"(\d{1,18}):(.*)", re.DOTALL)

_WORLD = re.compile(r"(\d{1,18}):(vmx-vcpu-(\d{1,4})(?::.*)?)", re.DOTALL)
_NAME_AND_WORLD = re.compile(r"(.*?):(\d{1,18}:vmx-vcpu-\d{1,4}(?::.*)?)", re.DOTALL)
_VNIC = re.compile(r"(.+?)(?:\.eth| ethernet)\d{1,2}", re.DOTALL)
# Groups of the vmkernel and of user worlds (`hostd.67591`), as every host lists them.
_NO_VM = re.compile(r"(?:idle|system|helper|drivers|ft|vmotion|init|console)|.*\.\d{4,}")


def read_vcpu(instance: str, names: dict[int, str]) -> Key | None:
    """Return (VM id, VM name, vCPU, world id, world name) of `id:name:world id:world name`."""
    found = GROUP.fullmatch(instance)
    if not found:
        return None
    vm_id = int(found[1])
    rest = found[2]
    name = names.get(vm_id)
    if name is None or not rest.startswith(f"{name}:"):
        split = _NAME_AND_WORLD.fullmatch(rest)
        if split:
            name, rest = (split[1], split[2])
        else:
            name, rest = ("", "")
    else:
        rest = rest[len(name) + 1 :]
    world = _WORLD.fullmatch(rest)
    if world:
        return (vm_id, name, int(world[3]), int(world[1]), world[2])
    return None


def is_system_group(name: str) -> bool:
    """Say whether a group is the vmkernel's or a user world's, by the names every host lists."""
    return bool(_NO_VM.fullmatch(name))


def find_client(used_by: str, vm_names: set[str]) -> tuple[str, str | None]:
    """Return the client's name and, when it is a VM (a world id is in front), the VM's name."""
    found = GROUP.fullmatch(used_by)
    if not found:
        return used_by, None
    name = found[2]
    vnic = _VNIC.fullmatch(name)
    return name, vnic[1] if vnic and name not in vm_names else name
