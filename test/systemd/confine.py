"""Runs a command under the system calls, address families, umask, limits and capabilities of a systemd unit.

python3 confine.py UNIT COMMAND..., with libseccomp and systemd-analyze. What needs other mounts isn't tried.
"""

import ctypes
import os
import resource
import socket
import subprocess
import sys

SCMP_ACT_ALLOW = 0x7FFF0000
SCMP_ACT_ERRNO = 0x00050000
SCMP_CMP_EQ = 4
EPERM = 1
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 24, 38


class Argument(ctypes.Structure):
    _fields_ = [
        ("number", ctypes.c_uint),
        ("operator", ctypes.c_int),
        ("value", ctypes.c_uint64),
        ("other", ctypes.c_uint64),
    ]


def settings(path):
    for line in open(path):
        name, found, value = line.strip().partition("=")
        if found and not name.startswith("#"):
            yield name, value


def calls(name):
    """The system calls of a group, or the one of that name."""
    if not name.startswith("@"):
        return {name}
    listed = subprocess.run(
        ["systemd-analyze", "syscall-filter", name], capture_output=True, text=True, check=True
    ).stdout
    words = [line.strip() for line in listed.splitlines()[1:]]
    return set().union(*(calls(word) for word in words if word and not word.startswith("#")))


unit, command = sys.argv[1], sys.argv[2:]
allowed, families, drops_all = set(), [], False
for name, value in settings(unit):
    if name == "SystemCallFilter":
        listed = set().union(*(calls(word) for word in value.lstrip("~").split()))
        allowed = allowed - listed if value.startswith("~") else allowed | listed
    elif name == "RestrictAddressFamilies":
        families = [getattr(socket, word) for word in value.split()]
    elif name == "UMask":
        os.umask(int(value, 8))
    elif name == "LimitCORE":
        resource.setrlimit(resource.RLIMIT_CORE, (int(value), int(value)))
    elif name == "CapabilityBoundingSet":
        drops_all = value == ""

libc = ctypes.CDLL(None, use_errno=True)
if drops_all and os.geteuid() == 0:
    for capability in range(41):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)

seccomp = ctypes.CDLL("libseccomp.so.2")
seccomp.seccomp_init.restype = ctypes.c_void_p
context = ctypes.c_void_p(seccomp.seccomp_init(SCMP_ACT_ERRNO | EPERM))
# systemd allows these to every unit.
for name in allowed | {"execve", "exit", "exit_group", "getrlimit", "rt_sigreturn", "sigreturn"}:
    number = seccomp.seccomp_syscall_resolve_name(name.encode())
    if name == "socket" and families:
        for family in families:
            same = Argument(0, SCMP_CMP_EQ, family, 0)
            seccomp.seccomp_rule_add_array(context, SCMP_ACT_ALLOW, number, 1, ctypes.byref(same))
    elif number >= 0:
        seccomp.seccomp_rule_add(context, SCMP_ACT_ALLOW, number, 0)
if seccomp.seccomp_load(context) != 0:
    sys.exit("the filter of system calls can't be loaded")
os.execvp(command[0], command)
