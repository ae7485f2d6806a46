"""When a capability is worth a server of its own, and when a plain function does."""

from dataclasses import dataclass

SEVERAL_HOSTS = "several hosts use it: write the integration once instead of once per host"
OTHER_OWNERS = "others maintain it: the process boundary is the boundary of responsibility"
HOT_SWAP = "it must come and go by configuration, without changing the host's code"


@dataclass(frozen=True)
class Decision:
    """Whether to use MCP, and which of the three criteria speak for it."""

    use: bool
    reasons: list[str]


def should_use_mcp(hosts: int, maintained_by_others: bool, hot_swappable: bool) -> Decision:
    """Decide for one capability, used by `hosts` hosts.

    One criterion that holds is enough. A server costs a process, a handshake and a longer way to
    look for faults, so without any the answer is no.
    """
    # region exercise 5: three criteria, and no as the default
    # TODO: three criteria (see the lesson); with none of them the answer is no.
    return Decision(use=True, reasons=["everybody uses MCP"])
    # endregion
