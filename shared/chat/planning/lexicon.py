"""What a sentence is about, in Chinese or English: a small lexicon, and plain words beside it.

The lexicon is what lets a Chinese question meet an English description. It knows the matters that
the labs and well-known servers deal with, and no tool by its name. To teach the mock model a new
matter, add a `Concept`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """What part a concept plays when a question is held against a description."""

    SUBJECT = "subject"
    """What is asked about: an order, a repository. Asked of itself, it says little."""
    ATTRIBUTE = "attribute"
    """What is asked of a subject: its status. Means nothing when the subjects differ."""
    TOPIC = "topic"
    """What can be asked on its own: the date, the weather, where a parcel is."""
    ACTION = "action"
    """A deed. A tool that does something is no answer to a question that only asks, and a tool that
    only looks is none to a request to do something."""
    NOTHING = "nothing"
    """Words that look like a concept and are none: `in order to`, a path, an address."""


@dataclass(frozen=True)
class Concept:
    """A matter, and the words that speak of it, as regular expressions in lower case.

    Latin terms match whole words and their plural; Chinese ones match anywhere. Where terms of
    several concepts overlap in a text, the longest wins: `物流状态` is logistics, not a status.
    """

    name: str
    kind: Kind
    terms: tuple[str, ...]


CONCEPTS = (
    Concept("order", Kind.SUBJECT, ("订单", "订单号", "单号", "order", "purchase")),
    Concept(
        "repository",
        Kind.SUBJECT,
        (
            *("仓库", "代码库", "版本库", "工作区", "分支", "提交", "提交记录", "提交历史"),
            *("未提交", "git", "repository", "repositories", "repo", "working tree"),
            *("working directory", "branch", "branches", "commit", "staged", "unstaged"),
            *("commit log", "commit history"),
        ),
    ),
    Concept(
        "status",
        Kind.ATTRIBUTE,
        (
            *("状态", "进度", "发货了吗", "发货没有", "签收了吗", "付款了吗", "退款了吗"),
            *("已取消", "已发货", "已签收", "处理到哪", "怎么样了", "未提交", "改动"),
            *("status", "statuses", "state", "progress", "uncommitted", "cancelled", "shipped yet"),
        ),
    ),
    Concept(
        "amount",
        Kind.ATTRIBUTE,
        (
            *("金额", "多少钱", "价格", "总价", "付了多少", "花了多少"),
            *("amount", "price", "total", "how much", "cost"),
        ),
    ),
    Concept(
        "placed",
        Kind.ATTRIBUTE,
        (
            *("下单", "下单时间", "下单日期", "下的单", "创建时间", "几号下单"),
            *("placed", "placed at", "time it was placed", "when it was placed", "order time"),
            *("order date", "date of the order", "time of the order", "creation time"),
            *("created at", "creation date", "ordered on"),
        ),
    ),
    Concept(
        "logistics",
        Kind.TOPIC,
        (
            *(
                "物流",
                "物流状态",
                "物流进度",
                "快递",
                "快递状态",
                "包裹",
                "包裹状态",
                "轨迹",
                "承运",
            ),
            *("运单", "运单号", "配送", "派送", "运输", "到哪", "到哪了", "走到哪", "送到", "到货"),
            *("几号到", "什么时候到", "何时到", "什么时候能到"),
            *("shipment", "shipping", "ship", "parcel", "courier", "carrier", "track", "tracking"),
            *("logistics", "delivery", "deliveries", "delivered", "waybill", "arrive"),
            *("delivery date", "delivery time", "(?:shipping|shipment|delivery|parcel) status"),
            r"status of (?:the|my|this) (?:parcel|shipment|package|delivery)",
            r"package(?=.{0,40}order)",
            r"where(?: is| are|'s)(?= it\b)",
            r"where(?: is| are|'s)(?=.{0,40}(?:order|parcel|package|shipment|[a-z]+-?\d{4,}))",
        ),
    ),
    Concept(
        "date",
        Kind.TOPIC,
        (
            *("日期", "几号", "几月几", "星期", "周几", "礼拜几"),
            *("date", "weekday", "day of the week", "what day", "what is today", "what's today"),
        ),
    ),
    Concept(
        "time",
        Kind.TOPIC,
        (
            *("几点", "当前时间", "现在时间", "现在的时间", "时区", "报时"),
            *("current time", "what time", "the time in", "local time", "time ?zone", "clock"),
            *("what is the time", "what's the time"),
        ),
    ),
    Concept(
        "conversion",
        Kind.TOPIC,
        ("换算", "转换", "换成", "是几点", "convert", "conversion"),
    ),
    Concept(
        "history",
        Kind.ATTRIBUTE,
        (
            *("提交记录", "提交历史", "提交日志", "最近的提交", "最近一次提交", "最近提交", "历史"),
            *("日志", "log", "history", "histories", "commit log", "commit history"),
            *("(?:last|latest|recent|newest) (?:\\d+ )?commit", "commits? messages?"),
            r"最近(?: ?\d+ ?)[次条个](?=提交)",
        ),
    ),
    Concept(
        "difference",
        Kind.ATTRIBUTE,
        ("差异", "差别", "对比", "diff", "difference", "changed between"),
    ),
    Concept("branches", Kind.ATTRIBUTE, ("分支", "branch", "branches")),
    Concept(
        "knowledge",
        Kind.TOPIC,
        (
            *("知识库", "文档", "手册", "说明书", "政策", "规则", "条款", "错误码", "故障码"),
            *("什么意思", "如何", "怎么(?:办|用|设置|安装|处理|操作|重置|配置)", "型号"),
            *("knowledge base", "document", "documentation", "manual", "policy", "policies"),
            *("error code", "fault code", "how do i", "how to", "faq"),
            r"(?:退货|退款|换货|保修)(?:政策|规则|条款|说明|流程)",
            r"(?:refund|return|warranty) polic(?:y|ies)",
        ),
    ),
    Concept("stock", Kind.TOPIC, ("库存", "有货", "缺货", "stock", "inventory", "inventories")),
    Concept("weather", Kind.TOPIC, ("天气", "气温", "weather", "forecast", "temperature")),
    Concept("sum", Kind.TOPIC, ("求和", "之和", "相加", "加起来", "sum", "adds? two", "plus")),
    Concept(
        "web",
        Kind.TOPIC,
        (
            *("网页", "网址", "网站", "url", "web ?page", "web ?site", "https?://\\S+"),
            *("抓取", "fetch", "fetches"),
        ),
    ),
    Concept("cancel", Kind.ACTION, ("取消", "撤销", "cancel", "cancelling")),
    Concept("refund", Kind.ACTION, ("退款", "退货", "refund", "refunding")),
    Concept("create", Kind.ACTION, ("创建", "新建", "create", "creating")),
    Concept("delete", Kind.ACTION, ("删除", "删掉", "delete", "deleting")),
    Concept("switch", Kind.ACTION, ("切换", "switch", "switches", "checkout")),
    Concept("record", Kind.ACTION, ("records? changes", "提交改动", "提交这些")),
    Concept("stage", Kind.ACTION, ("暂存", "staging area", "unstages?", "adds file contents")),
    Concept(
        "-",
        Kind.NOTHING,
        (
            *("in order to", "in order", "order by", "sort order", "ascending order"),
            *("descending order", "alphabetical order", "怎么样", "up to date"),
            r"(?<![\w:/])(?:~|\.{1,2})?/[^\s，。；、：？！'\"“”（）()]+",
            r"[a-z]:\\[^\s，。；、：？！'\"“”（）()]+",
        ),
    ),
)

ATTRIBUTES = frozenset(one.name for one in CONCEPTS if one.kind is Kind.ATTRIBUTE)

_STOP_WORDS = (
    "a about after again all also an and any are argument arguments as ask at back be been "
    "before by call called can could current do does each find for from function get gets "
    "give given go had has have help here how i if in input into is it its just know let like "
    "list look looks made make may me more most must my need new no not now of on one only "
    "optional or other our output over parameter parameters please provide query required "
    "result results return returned returns see shall should show shows so some such take "
    "tell than that the their them then there these they this those to tool tools two up use "
    "used user uses using value values very want was we were what when where which while who "
    "will with without would you your "
)
STOP_WORDS = frozenset(_STOP_WORDS.split())

# A pair of characters with one of these is a piece of grammar, or of asking, not of a matter.
STOP_CHARACTERS = frozenset(
    "的了吗呢吧啊是我你您他她它们请帮一这那个些和与及或在有就都也把被给按用查要想不没什么怎多少哪几现下"
)
STOP_PAIRS = frozenset(("返回", "获取", "工具", "参数", "结果", "信息", "数据", "可以", "今天"))

_CJK_RUN = re.compile(r"[\u4e00-\u9fff]+")
_WORD = re.compile(r"[a-z]{3,}")


@dataclass(frozen=True)
class Meaning:
    """What a text is about: concepts by their part, and the plain words left to compare."""

    subjects: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()
    topics: frozenset[str] = frozenset()
    actions: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()

    @property
    def asked(self) -> frozenset[str]:
        """The concepts that one can ask for."""
        return self.topics | self.attributes | self.actions


def understand(text: str) -> Meaning:
    """What a text is about. Underscores count as spaces, so that names can be read too."""
    text = text.lower().replace("_", " ")
    spans: list[tuple[int, int, Concept]] = [
        (match.start(), match.end(), concept)
        for concept, pattern in _PATTERNS
        for match in pattern.finditer(text)
    ]
    spans.sort(key=lambda span: (span[0] - span[1], span[0]))  # longest first
    taken: list[tuple[int, int, Concept]] = []
    for start, end, concept in spans:
        if all((start, end) == (s, e) or end <= s or e <= start for s, e, _ in taken):
            taken.append((start, end, concept))
    found = {kind: frozenset(c.name for *_, c in taken if c.kind is kind) for kind in Kind}
    for start, end, concept in taken:
        if concept.kind is Kind.NOTHING:
            text = text[:start] + " " * (end - start) + text[end:]
    return Meaning(
        subjects=found[Kind.SUBJECT],
        attributes=found[Kind.ATTRIBUTE],
        topics=found[Kind.TOPIC],
        actions=found[Kind.ACTION],
        words=_words(text),
    )


def _words(text: str) -> frozenset[str]:
    """English words in their singular, and pairs of neighbouring Chinese characters."""
    english = {word.removesuffix("s") for word in _WORD.findall(text) if word not in STOP_WORDS}
    pairs = {
        run[i : i + 2]
        for run in _CJK_RUN.findall(text)
        for i in range(len(run) - 1)
        if not STOP_CHARACTERS.intersection(run[i : i + 2])
    }
    return frozenset(english | (pairs - STOP_PAIRS))


def _pattern(term: str) -> re.Pattern[str]:
    if term.isascii() and term[0].isalpha():
        return re.compile(rf"(?<![a-z0-9])(?:{term})(?:s|'s)?(?![a-z0-9])")
    return re.compile(term)


_PATTERNS = tuple((concept, _pattern(term)) for concept in CONCEPTS for term in concept.terms)
