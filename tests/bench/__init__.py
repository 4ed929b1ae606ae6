"""Benchmarks: each figure is a ratio within one run, as machines are noisy."""
