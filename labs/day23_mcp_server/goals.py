"""The goals of day 23, and the items that tick them off: `python selftest.py progress`."""

from shared.learner.goals import Goal
from shared.selftest.api import Text

GOALS: tuple[Goal, ...] = (
    Goal(
        Text(
            en="name the roles in MCP (server, client, host) and the problem that they solve",
            zh="说得清 MCP 里有哪几个角色（server、client、宿主），它解决的是什么问题",
        ),
        items=(1, 2),
    ),
    Goal(
        Text(
            en="tell MCP from function calling, and say when each is the right choice",
            zh="分得清 MCP 和 function calling，知道各自该用在哪里",
        ),
        items=(3, 6),
    ),
    Goal(
        Text(
            en="write a small MCP server and connect it to an agent of your own",
            zh="能写一个小的 MCP server，并把它接到自己的 agent 上",
        ),
        items=(4, 5),
    ),
)
