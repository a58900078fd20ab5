"""The seccomp profile: closed by default, and its exceptions are the ones we mean."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluator.isolation.spec import PROFILES, seccomp_profile

PROFILE = json.loads((PROFILES / "model.json").read_text())


def rules_for(call: str) -> list[dict[str, Any]]:
    return [rule for rule in PROFILE["syscalls"] if call in rule["names"]]


def test_what_is_not_listed_is_refused() -> None:
    assert PROFILE["defaultAction"] == "SCMP_ACT_ERRNO"


@pytest.mark.parametrize(
    "call",
    [
        "add_key",
        "bpf",
        "chroot",
        "delete_module",
        "fanotify_init",
        "finit_module",
        "fsopen",
        "init_module",
        "ioperm",
        "iopl",
        "kcmp",
        "kexec_load",
        "keyctl",
        "lookup_dcookie",
        "memfd_create",
        "mknod",
        "modify_ldt",
        "mount",
        "move_mount",
        "name_to_handle_at",
        "open_by_handle_at",
        "open_tree",
        "perf_event_open",
        "pivot_root",
        "process_vm_readv",
        "process_vm_writev",
        "ptrace",
        "quotactl",
        "reboot",
        "request_key",
        "setns",
        "settimeofday",
        "socketcall",
        "swapon",
        "syslog",
        "umount2",
        "unshare",
        "userfaultfd",
    ],
)
def test_a_dangerous_call_has_no_rule(call: str) -> None:
    assert rules_for(call) == []


@pytest.mark.parametrize("call", ["clone3", "io_uring_setup", "io_uring_enter", "io_uring_register"])
def test_what_libraries_fall_back_from_does_not_exist(call: str) -> None:
    assert [(rule["action"], rule["errnoRet"]) for rule in rules_for(call)] == [("SCMP_ACT_ERRNO", 38)]


def test_only_unix_and_internet_sockets_may_be_made() -> None:
    families = [[argument["value"] for argument in rule["args"]] for rule in rules_for("socket")]
    assert families == [[1], [2], [10], [16, 0]]  # of netlink, routes alone
    assert [rule["args"][0]["value"] for rule in rules_for("socketpair")] == [1]


def test_no_flag_of_clone_makes_a_namespace() -> None:
    (rule,) = rules_for("clone")
    namespaces = 0x20000 | 0x2000000 | 0x4000000 | 0x8000000 | 0x10000000 | 0x20000000 | 0x40000000
    assert rule["args"] == [{"index": 0, "value": namespaces, "op": "SCMP_CMP_MASKED_EQ", "valueTwo": 0}]


def test_there_is_no_compatibility_mode() -> None:
    assert all(entry["subArchitectures"] == [] for entry in PROFILE["archMap"])


def test_every_rule_says_why_and_the_engine_gets_no_comments() -> None:
    assert all(rule["comment"] for rule in PROFILE["syscalls"])
    assert "comment" not in seccomp_profile()
