"""The shop behind the labs: a handful of orders, the lesson's own or drawn from a seed."""

from .data import Order, Shipment, Shop, draw_shop, load_shop, sample_shop

__all__ = ["Order", "Shipment", "Shop", "draw_shop", "load_shop", "sample_shop"]
