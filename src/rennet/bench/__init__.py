"""Benchmarks: data and workloads to measure rennet with. Nothing of the engine depends on this."""
