"""The version of the engine, written into every refresh's provenance."""

__version__ = "0.1.0"
