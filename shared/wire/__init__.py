"""The wire: what crossed it, who recorded it, and programs that stand on it."""
