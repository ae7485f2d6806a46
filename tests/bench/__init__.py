"""Benchmarks: `make bench`. They print ratios of things measured in the same run, since machines
differ and are noisy; no test depends on them."""
