"""Orders of a shop: where they come from, and how a server finds one."""

from __future__ import annotations

import difflib
import json
import os
import random
from dataclasses import asdict, dataclass
from pathlib import Path

SHOP_DATA = "SHOP_DATA"
"""Environment variable: path of a JSON file of orders, read in place of the lesson's own."""

STATUSES = ("待付款", "待发货", "已发货", "派送中", "已签收", "已取消")
CARRIERS = ("顺丰速运", "中通快递", "圆通速递", "韵达快递", "京东物流")
CITIES = ("杭州", "深圳", "成都", "武汉", "西安", "青岛", "长沙", "苏州")


@dataclass(frozen=True)
class Shipment:
    """Where the parcel of an order is: carrier, waybill number, and its stations, oldest first."""

    carrier: str
    waybill: str
    stations: tuple[str, ...]


@dataclass(frozen=True)
class Order:
    """One order: `SO` and eight digits, its status, its amount in yuan, and when it was placed
    (`YYYY-MM-DD HH:MM`)."""

    order_id: str
    status: str
    amount: float
    placed_at: str
    shipment: Shipment


@dataclass(frozen=True)
class Shop:
    """All orders of a shop, found by their number."""

    orders: dict[str, Order]

    def find(self, order_id: str) -> Order | None:
        """The order with this number, or None."""
        return self.orders.get(order_id)

    def nearest(self, order_id: str) -> str:
        """The order number that looks most like `order_id`, as a hint for a mistyped one."""
        return max(
            sorted(self.orders),
            key=lambda known: difflib.SequenceMatcher(None, known, order_id).ratio(),
        )

    def save(self, path: Path) -> None:
        """Write the orders as the JSON file that `load_shop` reads."""
        orders = [asdict(order) for order in self.orders.values()]
        path.write_text(json.dumps(orders, ensure_ascii=False, indent=1), encoding="utf-8")


def _shop(orders: list[Order]) -> Shop:
    return Shop({order.order_id: order for order in orders})


def sample_shop() -> Shop:
    """The orders that the lesson speaks of."""
    return _shop(
        [
            Order(
                "SO20260901",
                "已发货",
                329.0,
                "2026-09-01 10:24",
                Shipment("顺丰速运", "SF1029384756", ("杭州已揽收", "武汉中转", "成都派送中")),
            ),
            Order(
                "SO20260915",
                "待发货",
                58.5,
                "2026-09-15 21:07",
                Shipment("中通快递", "ZT5566778899", ("等待揽收",)),
            ),
            Order(
                "SO20261003",
                "已签收",
                1299.0,
                "2026-10-03 08:55",
                Shipment("京东物流", "JD7788990011", ("深圳已揽收", "长沙中转", "西安已签收")),
            ),
        ]
    )


def draw_shop(seed: int, size: int = 6) -> Shop:
    """Orders drawn from a seed: the same seed gives the same shop.

    Numbers lie so far apart that a number with one digit changed is nearest to its own original,
    and every order has another status than its neighbours, so that an answer written into the code
    cannot hold for long.
    """
    draw = random.Random(seed)
    statuses = draw.sample(STATUSES, k=min(size, len(STATUSES)))
    orders: list[Order] = []
    while len(orders) < size:
        order_id = f"SO{draw.randrange(10_000_000, 100_000_000)}"
        if any(_digits_apart(order_id, order.order_id) < 5 for order in orders):
            continue
        first, second, third = draw.sample(CITIES, k=3)
        carrier = draw.choice(CARRIERS)
        orders.append(
            Order(
                order_id,
                statuses[len(orders) % len(statuses)],
                draw.randrange(1_000, 200_000) / 100,
                f"2026-{draw.randrange(1, 13):02}-{draw.randrange(1, 29):02}"
                f" {draw.randrange(24):02}:{draw.randrange(60):02}",
                Shipment(
                    carrier,
                    f"YD{draw.randrange(10**9, 10**10)}",
                    (f"{first}已揽收", f"{second}中转", f"{third}派送中"),
                ),
            )
        )
    return _shop(orders)


def _digits_apart(one: str, other: str) -> int:
    return sum(a != b for a, b in zip(one, other, strict=True))


def load_shop() -> Shop:
    """The shop that this process serves: the file that `SHOP_DATA` names, else the lesson's own.

    Raises OSError when the file cannot be read, ValueError when it is not what `Shop.save` writes.
    """
    path = os.environ.get(SHOP_DATA)
    if not path:
        return sample_shop()
    rows = json.loads(Path(path).read_text(encoding="utf-8"))
    try:
        return _shop(
            [
                Order(
                    row["order_id"],
                    row["status"],
                    row["amount"],
                    row["placed_at"],
                    Shipment(
                        row["shipment"]["carrier"],
                        row["shipment"]["waybill"],
                        tuple(row["shipment"]["stations"]),
                    ),
                )
                for row in rows
            ]
        )
    except (KeyError, TypeError) as error:
        raise ValueError(
            f"{path} does not hold orders as Shop.save writes them: {error!r}"
        ) from error
