"""The interview questions of day 23: `python selftest.py quiz 23`.

Questions and key points are those of the lesson; a test holds the two together. `proof` names the
code and the test that an answer can be checked by.
"""

from shared.learner.checklist import Entry
from shared.learner.questions import Question
from shared.selftest.api import Text

QUESTIONS: tuple[Question, ...] = (
    Question(
        id="two-hops",
        question=Text(
            en="Why is there MCP, and what is left of function calling once you have it?",
            zh="为什么会有 MCP？有了它，function calling 还剩下什么？",
        ),
        reasoning=(
            Text(
                en='There is one wrong answer that this question is asked for: "MCP is the '
                'better function calling." Put each on its hop before you say anything '
                "else. Function calling lies between model and program; MCP lies between "
                "program and provider. Give the proof in a sentence: what `tools/list` "
                "returns as `inputSchema` is the JSON Schema that goes into `parameters`, "
                "unchanged, and the model never hears of MCP.",
                zh="这道题是冲着一个标准的错误答案来的：“MCP 就是更好的 function calling”。所"
                "以先把两者各自放到自己那段链路上：function calling 在模型和程序之间，MCP "
                "在程序和提供方之间。证据一句话就够：`tools/list` 返回的 `inputSchema` 本来"
                "就是 JSON Schema，原样放进 `parameters`，模型自始至终不知道有 MCP。",
            ),
            Text(
                en="Then the problem: integration. Without a protocol, N hosts and M "
                "abilities are N×M pieces of glue; with one they are N+M. Three things "
                "become uniform: finding tools (ask `tools/list` and hard-code nothing), "
                "calling them (`tools/call`, whether it is Git behind it, a browser or a "
                "database) and reading data (`resources/list`, `resources/read`). The "
                "boundary of the process becomes that of responsibility.",
                zh="接着讲问题，也就是接入成本。没有协议，N 个宿主乘 M 项能力就是 N×M 份胶水；"
                "有了协议是 N+M。统一下来的是三件事：发现（问一句 `tools/list`，什么都不用"
                "写死）、调用（都是 `tools/call`，背后是 Git、浏览器还是数据库都一样）、读"
                "数据（`resources/list` 和 `resources/read`）。进程的边界也就成了责任的边"
                "界。",
            ),
            Text(
                en="What is left of function calling is everything between you and the model. "
                'Expect: "And Skills?" They add method, not actions.',
                zh="function calling 剩下的，是你和模型之间的全部。可能的追问：“Skills 呢？”它"
                "给的是方法，不是动作。",
            ),
        ),
        points=(
            Text(
                en="two hops, stacked; neither replaces the other",
                zh="两段链路，上下游关系，谁也不取代谁",
            ),
            Text(
                en="the schema is carried over, not translated; the model does not know of MCP",
                zh="schema 是搬过去的，不是翻译的；模型不知道有 MCP",
            ),
            Text(
                en="N×M becomes N+M; discovery, calls and data access become uniform",
                zh="N×M 变 N+M；发现、调用、读数据都统一了",
            ),
            Text(
                en="whoever maintains an ability can change it without your release",
                zh="维护能力的人改他的，不用你发版",
            ),
            Text(
                en="name the wrong answer yourself",
                zh="主动点破那个错误答案",
            ),
            Text(
                en="MCP: what an agent can do; Skills: how well",
                zh="MCP 管能做什么，Skills 管怎么做得好",
            ),
        ),
        proof=(
            "solutions/day23_mcp_server/bridge.py#to_function_tool",
            "solutions/day23_mcp_server/checks.py#whole_schema",
            "tests/day23/test_host.py::test_the_model_cannot_tell_local_tools_from_those_of_servers",
        ),
        core=True,
    ),
    Question(
        id="roles",
        question=Text(
            en="What do server, client and host do, what can a server offer, and over which "
            "transports?",
            zh="server、client、宿主各做什么？server 能提供哪几类东西？传输方式有哪些？",
        ),
        reasoning=(
            Text(
                en="It sounds like recall, and it is decided by two details. First: is the "
                "client told apart from the host? One client talks to one server; the host "
                "has several. Who mixes them up cannot say how to connect three servers. "
                "Second: does anything beside tools come up, and who chooses it? Tools are "
                "chosen by the model, resources and prompts by people. Give an example of "
                "why that matters: a long document as a resource leaves the decision to "
                "spend the tokens with a human.",
                zh="听起来是背概念，高下却在两个细节。一是分不分得清 client 和宿主：一个 "
                "client 对一个 server，宿主有好几个 client。混为一谈的人，答不出怎样接三个 "
                "server。二是知不知道工具之外还有别的，以及由谁来选：tools 由模型选，"
                "resources 和 prompts 由人选。最好举个例子说明为什么要紧：把长文档做成 "
                "resource，花不花这些 token 就由人来定。",
            ),
            Text(
                en="Name the client's side without dwelling on it: sampling, roots, "
                "elicitation; say that the first two are deprecated since 2026-07-28. "
                "Transports: stdio and Streamable HTTP; HTTP+SSE is legacy.",
                zh="client 那一侧点到为止：sampling、roots、elicitation，补一句前两样从 "
                "2026-07-28 起已弃用。传输说 stdio 和 Streamable HTTP，并指出 HTTP+SSE 已是"
                "旧方案。",
            ),
            Text(
                en='Expect: "What must a stdio server take care of?" stdout is the '
                "protocol's, logs go to stderr, the end of stdin is the sign to leave, and "
                "the host looks after the process.",
                zh="可能的追问：“stdio 的 server 要注意什么？”stdout 归协议，日志写 stderr，"
                "stdin 结束就该退出，进程由宿主负责收尾。",
            ),
        ),
        points=(
            Text(
                en="server: a program that offers; client: one connection; host: the "
                "application with many clients",
                zh="server：提供能力的程序；client：一条连接；宿主：有许多 client 的应用",
            ),
            Text(
                en="tools (model), resources and prompts (people)",
                zh="tools 归模型选，resources 和 prompts 归人选",
            ),
            Text(
                en="sampling, roots, elicitation exist",
                zh="知道有 sampling、roots、elicitation",
            ),
            Text(
                en="stdio for local, Streamable HTTP for remote; HTTP+SSE is history",
                zh="本地用 stdio，远程用 Streamable HTTP；HTTP+SSE 已成历史",
            ),
            Text(
                en="stdout for JSON-RPC only; the host ends its children",
                zh="stdout 上只能有 JSON-RPC；子进程由宿主收尾",
            ),
        ),
        proof=(
            "solutions/day23_mcp_server/host.py#Host",
            "solutions/day23_mcp_server/mcp_client.py#McpClient",
            "solutions/day23_mcp_server/checks.py#handshake",
            "tests/day23/test_mcp_client.py::test_the_handshake_in_its_order",
            "tests/day23/test_host.py::test_the_tools_of_both_in_the_order_of_the_file",
        ),
        core=True,
    ),
    Question(
        id="criteria",
        question=Text(
            en="A new ability: an MCP server, or a local function? And what does the wrong "
            "choice cost?",
            zh="多了一项能力：做成 MCP server，还是写成本地函数？选错了代价是什么？",
        ),
        reasoning=(
            Text(
                en='"It is more decoupled" is no criterion; the next question would be '
                "whether you have turned every function into a server. Give three that can "
                "be checked: several hosts, another maintainer, come and go without a "
                "change to the host. One is enough. Then give the default, and that it is "
                "no.",
                zh="“更解耦”不是判据，对方马上会问：那你们是不是把每个函数都做成 server 了？要"
                "给三条能核对的：好几个宿主要用、由别人维护、要能增减而不改宿主。命中一条就"
                "够。然后说出默认答案，而且这个默认是不用。",
            ),
            Text(
                en="Be honest about the price: a process, a handshake, three places to look "
                "instead of one (the model did not choose it; the schema got lost; the "
                "server did not start), children to clean up. Add what does not get "
                "cheaper: descriptions in the context at every turn, and models that "
                "choose worse from long lists.",
                zh="代价要老实说：一个进程、一次握手、查问题的地方从一处变成三处（模型没选、"
                "schema 丢了、server 没起来），还有子进程要清理。再补上没有变便宜的部分：描"
                "述每一轮都占上下文，列表一长，模型就选不准。",
            ),
            Text(
                en='Expect: "So never for internal tools?" Not never. An ability of your '
                "own that the editor and the on-call bot should have as well meets the "
                "first criterion.",
                zh="可能的追问：“那内部工具就一概不用？”也不是。自己维护的能力，如果编辑器助手"
                "和值班机器人也要用，第一条就命中了。",
            ),
        ),
        points=(
            Text(
                en="three criteria, one is enough",
                zh="三条判据，命中一条就够",
            ),
            Text(
                en="none holds: write a function",
                zh="一条都没有：写函数",
            ),
            Text(
                en="process, handshake, a longer search for faults",
                zh="进程、握手、更长的排障路径",
            ),
            Text(
                en="token cost and choice among many tools stay as they were",
                zh="token 开销和“工具多了选不准”一点没变",
            ),
            Text(
                en="once others can add tools, your tool list is no longer yours alone",
                zh="别人也能加工具之后，工具列表就不再由你一个人说了算",
            ),
        ),
        proof=(
            "solutions/day23_mcp_server/should_use_mcp.py#should_use_mcp",
            "solutions/day23_mcp_server/checks.py#when_to_use_mcp",
            "tests/selftest/test_mistakes.py::test_a_wrong_answer_fails_its_item_with_its_diagnosis",
        ),
        core=True,
    ),
    Question(
        id="third-party",
        question=Text(
            en="A third party's MCP server is to go into production. What do you look out for?",
            zh="有个第三方的 MCP server 要上生产，你会留意哪些事？",
        ),
        reasoning=(
            Text(
                en="Begin with what you newly trust. Their code runs among your processes; "
                "their text goes into your model's context; their entries stand in your "
                "list of tools. Then take them one at a time.",
                zh="先说清楚新增了哪些信任：他们的代码跑在你的机器上，他们的文本进了模型的上下"
                "文，他们的条目进了你的工具列表。然后逐个应对。",
            ),
            Text(
                en="Code: least privilege. Which files, which network, which user, how long; "
                "a sandbox where it is worth it. Text: every result is untrusted input. A "
                'remark field can contain "ignore your instructions". Results are data, '
                "and the gate that permits a call stands in your process, before the call. "
                "Entries: a list can change at run time "
                "(`notifications/tools/list_changed`). Allow tools by name, let new ones "
                "wait until a person has agreed, and pin the version.",
                zh="代码：最小权限。能读哪些文件、能不能联网、以什么用户运行、最多跑多久，必要"
                "时进沙箱。文本：结果一律视为不可信输入。备注字段里完全可以写着“忽略之前的"
                "指令”。结果是数据，放不放行由你自己进程里的闸门在调用之前决定。条目：列表"
                "在运行中会变（`notifications/tools/list_changed`）。按名字做白名单，新出现"
                "的工具先放着，等人点头；版本要锁定。",
            ),
            Text(
                en="Last, running it: it is a dependency that can be down. Time-outs, a "
                "degraded mode in which the model is told that the ability is unavailable, "
                "and its calls on your dashboards.",
                zh="最后是运维：这是一个会挂的外部依赖。要有超时，要能降级（让模型知道这项能力"
                "眼下用不了，这一轮照样走完），调用情况要进监控。",
            ),
            Text(
                en='Expect: "How do you decide whether it is worth it?" By the three '
                "criteria. If you alone use it and could write it yourself, the risk has "
                "no return.",
                zh="可能的追问：“怎么判断值不值得接？”回到三条判据：只有你自己用，而且自己就能"
                "写，那这份风险换不来什么。",
            ),
        ),
        points=(
            Text(
                en="new trust in code, in text and in entries",
                zh="新增的信任：代码、文本、条目",
            ),
            Text(
                en="least privilege for the process",
                zh="进程按最小权限来管",
            ),
            Text(
                en="results are data; the gate is yours and comes before the call",
                zh="结果是数据；闸门归你，而且在调用之前",
            ),
            Text(
                en="allow-list by name, new tools wait, version pinned",
                zh="按名字做白名单，新工具等审批，锁定版本",
            ),
            Text(
                en="time-outs, degrading, observability",
                zh="超时、降级、可观测",
            ),
        ),
        proof=(
            "shared/processes/supervisor.py#Limits",
            "solutions/day23_mcp_server/agent.py#run_tool",
            "tests/day23/test_host.py::test_the_same_tool_in_two_servers",
            "tests/selftest/test_verdicts.py::test_no_child_is_left",
        ),
        core=True,
    ),
    Question(
        id="transports",
        question=Text(
            en="stdio or Streamable HTTP: what is the difference, and why not HTTP for everything?",
            zh="stdio 和 Streamable HTTP 有什么区别？为什么不全用 HTTP？",
        ),
        reasoning=(
            Text(
                en="Compare by who owns the server's life. With stdio, the host starts it, "
                "owns its streams, and its end is the end of stdin. With HTTP it is "
                "deployed by somebody, serves many, and outlives any host. From that "
                "follows the rest: stdio needs no port, no login and no TLS, and each host "
                "has its own process, so that a crash stays local. HTTP brings users, "
                "authentication, load, and addresses.",
                zh="抓住谁掌管 server 的生命周期来比。stdio 由宿主启动，流归宿主所有，stdin 结"
                "束它就结束；HTTP 则由某个人部署，服务许多人，比任何一个宿主都活得久。其余"
                "都由此推出来：stdio 不要端口、不要登录、不要 TLS，每个宿主有自己的进程，崩"
                "了也只影响自己；HTTP 则带来用户、认证、负载和地址。",
            ),
            Text(
                en="Say how a configuration tells them apart (`command` or `url`), and that "
                "the messages are the same JSON-RPC on both. A dated detail: before "
                "2026-07-28, HTTP could have a session, with an id in a header; now every "
                "request stands for itself.",
                zh="说明配置里怎么区分（`command` 还是 `url`），以及两边走的是同样的 JSON-RPC"
                "。有个带日期的细节：2026-07-28 之前，HTTP 可以有会话，会话 id 放在请求头"
                "里；现在每个请求都独立成立。",
            ),
            Text(
                en='Expect: "Where do the logs go?" stdio: stderr, which the host collects. '
                "HTTP: wherever the service logs.",
                zh="可能的追问：“日志去哪里？”stdio 写 stderr，由宿主收集；HTTP 按服务自己的方"
                "式记录。",
            ),
        ),
        points=(
            Text(
                en="life cycle: child process or deployed service",
                zh="生命周期：子进程，还是部署好的服务",
            ),
            Text(
                en="stdio: simple, private, isolated",
                zh="stdio：简单、私有、互相隔离",
            ),
            Text(
                en="HTTP: shared, remote, with authentication",
                zh="HTTP：共享、远程、要认证",
            ),
            Text(
                en="same messages, another carrier",
                zh="消息相同，载体不同",
            ),
            Text(
                en="HTTP+SSE is a third thing, and legacy",
                zh="HTTP+SSE 是另一回事，而且已经过时",
            ),
        ),
        proof=(
            "shared/mcp_config.py#read_servers",
            "solutions/day23_mcp_server/mcp_client.py#McpClient",
            "tests/day23/test_mcp_client.py::test_closing_ends_a_server_with_its_stdin",
        ),
    ),
    Question(
        id="design",
        question=Text(
            en="Design an MCP server. What do you decide, in which order?",
            zh="让你设计一个 MCP server，要决定哪些事，按什么顺序？",
        ),
        reasoning=(
            Text(
                en="An open question; a fixed order shows experience.",
                zh="开放题，有固定的顺序才显得有经验。",
            ),
            Text(
                en="1. Transport: with the user's files, stdio; for many users, Streamable HTTP.",
                zh="1. 传输：跟用户的文件打交道，用 stdio；给许多人用，用 Streamable HTTP。",
            ),
            Text(
                en="2. Capabilities: declare what you have and nothing else; clients go by "
                "it. (Frameworks may declare more than you have, as ours does.)",
                zh="2. 能力声明：有什么声明什么，没有的不要写；client 会照着办。（框架可能替你"
                "多报，今天这个就是。）",
            ),
            Text(
                en="3. Tools: one task each; strict schemas, with types, required fields and "
                "patterns; descriptions for a model: what it does, when to use it, when "
                "not to.",
                zh="3. 工具：一个工具只做一件事；schema 要严：类型、必填、pattern；描述写给模"
                "型看：做什么，什么时候用，什么时候不用。",
            ),
            Text(
                en="4. Errors: `isError` and a sentence that says what was wrong and what "
                "would work. No stack traces. In the Python SDK: `ToolError`, since other "
                "exceptions lose their text.",
                zh="4. 错误：`isError` 加一句人话，说明哪里不对、怎样才对，不要堆栈。Python "
                "SDK 里用 `ToolError`，别的异常会丢掉文本。",
            ),
            Text(
                en="5. Life cycle: leave when stdin ends, close what you opened, end your "
                "threads; over HTTP, many requests at once.",
                zh="5. 生命周期：stdin 结束就走，打开的要关上，线程要停下；走 HTTP 还要应付并发。",
            ),
            Text(
                en="6. Safety: say in description and annotations what is read-only and what "
                "is destructive, and remember that a host must not trust that.",
                zh="6. 安全：在描述和 annotations 里标明哪些只读、哪些有破坏性，同时记住宿主不"
                "应当轻信这些标注。",
            ),
            Text(
                en='Expect: "How do you test it?" Over the wire: start it, send lines, '
                "compare the answers; also bad arguments, unknown names and the end of "
                "stdin.",
                zh="可能的追问：“怎么测试？”在线路上测：启动它，发几行，比对回复；参数错误、名"
                "字不存在、stdin 结束，都要测到。",
            ),
        ),
        points=(
            Text(
                en="transport by where it runs and for whom",
                zh="传输看它在哪里跑、给谁用",
            ),
            Text(
                en="honest capabilities",
                zh="能力声明要诚实",
            ),
            Text(
                en="narrow tools, strict schemas, descriptions with limits",
                zh="工具要窄，schema 要严，描述要写明边界",
            ),
            Text(
                en="errors that a model can act on",
                zh="错误要让模型能据此行动",
            ),
            Text(
                en="a clean end",
                zh="干净地退出",
            ),
            Text(
                en="safety hints are hints",
                zh="安全标注只是提示",
            ),
        ),
        proof=(
            "solutions/day23_mcp_server/mcp_server.py#find_order",
            "solutions/day23_mcp_server/checks.py#_tools_keep_their_promises",
            "tests/day23/test_sdk_client.py::test_an_unknown_order_is_told_the_nearest",
            "tests/selftest/test_mistakes.py::test_a_stray_line_is_quoted_with_its_number_and_the_advice",
        ),
    ),
    Question(
        id="one-call",
        question=Text(
            en='"Do you use MCP or function calling?" Follow one call from the question to '
            "the answer.",
            zh="“你们用的是 MCP 还是 function calling？”请跟着一次调用，从问题走到回答。",
        ),
        reasoning=(
            Text(
                en='The question is a trap, since the answer is "both, each on its layer". '
                "Then walk: (1) at the start the client asks `tools/list`; (2) the bridge "
                "puts each tool into the form of a function, and local tools join the "
                "list; (3) the model request goes out with that list, and comes back with "
                "`tool_calls`; (4) the agent finds out whose tool it is; a local one is "
                "called as a function, the others go out as `tools/call`; (5) the content "
                "blocks become one text, which goes back as a tool message under the id of "
                "the call; (6) the model answers, or asks for more.",
                zh="问法本身是个陷阱，答案是“都用，各管各的一层”。然后一步一步走：（1）启动时 "
                "client 问 `tools/list`；（2）桥把每个工具改成函数的形状，本地工具也加进列"
                "表；（3）带着这份列表请求模型，拿回 `tool_calls`；（4）agent 判断这是谁的"
                "工具：本地的直接当函数调，其余的发 `tools/call`；（5）内容块压成一段文本，"
                "作为 tool 消息，用那次调用的 id 交回去；（6）模型作答，或者再要一次。",
            ),
            Text(
                en="Local tools are on one layer only; MCP tools are on both. MCP settles "
                "where a tool comes from and how it is carried out, function calling how "
                "the model is told of it and how it chooses.",
                zh="本地工具只走一层，MCP 工具两层都走。工具从哪来、怎样执行，归 MCP；怎样告诉"
                "模型、模型怎样选，归 function calling。",
            ),
            Text(
                en='Expect: "Where does it break?" At 2 (hollow schema), 4 (names), 5 '
                "(failures that are swallowed, ids that do not match).",
                zh="可能的追问：“容易断在哪里？”第 2 步（空壳 schema）、第 4 步（名字）、第 5 "
                "步（失败被吞掉，id 对不上）。",
            ),
        ),
        points=(
            Text(
                en="both, on different layers",
                zh="都用，分属两层",
            ),
            Text(
                en="six steps, with the message that crosses at each",
                zh="六步，每一步都说得出走的是什么消息",
            ),
            Text(
                en="local tools: function calling only; MCP tools: both",
                zh="本地工具只有 function calling；MCP 工具两者都有",
            ),
            Text(
                en="two pairings: JSON-RPC `id`, and `tool_call_id`",
                zh="两套配对：JSON-RPC 的 `id`，和 `tool_call_id`",
            ),
        ),
        proof=(
            "solutions/day23_mcp_server/agent.py#run_agent",
            "solutions/day23_mcp_server/checks.py#whole_chain",
            "tests/day23/test_agent.py::test_a_result_goes_back_under_the_id_of_its_call",
        ),
    ),
)

CHECKLIST: tuple[Entry, ...] = (
    Entry(
        Text(
            en="I can name the roles in MCP and the problem that they solve.",
            zh="说得清 MCP 有哪几个角色，解决什么问题。",
        ),
        questions=("roles",),
    ),
    Entry(
        Text(
            en="I can tell MCP from function calling, and say when to use which.",
            zh="分得清 MCP 和 function calling，知道什么时候用哪个。",
        ),
        questions=("two-hops", "criteria"),
    ),
    Entry(
        Text(
            en="I can write a small MCP server and connect it to an agent.",
            zh="写得出一个小的 MCP server，并接到 agent 上。",
        ),
        items=(1, 2, 3, 4, 5),
    ),
    Entry(
        Text(
            en="In one sentence: MCP is for what an agent can do, Skills for how well.",
            zh="一句话：MCP 管能做什么，Skills 管怎么做得好。",
        ),
        key="skills",
        ask=Text(
            en="In one sentence: what is MCP for, and what are Skills for?",
            zh="用一句话说：MCP 管什么，Skills 管什么？",
        ),
        model=Text(
            en="With MCP an agent can do more; with a skill it does the same things better.",
            zh="有了 MCP，agent 会做的事更多；有了 skill，同样的事它做得更好。",
        ),
    ),
    Entry(
        Text(en="All six items of the self-test are green.", zh="自检六项全绿。"),
        items=(1, 2, 3, 4, 5, 6),
    ),
    Entry(
        Text(
            en="Of the first four questions I can answer at least three without looking.",
            zh="前四道面试题，不看要点至少能答出三道。",
        ),
        questions=tuple(question.id for question in QUESTIONS if question.core),
        at_least=3,
    ),
)
