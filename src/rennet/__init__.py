"""Incremental materialized views for Apache Spark and Delta Lake."""

from rennet.api import Engine
from rennet.errors import Issue, IssueType, Policy, RennetError, Technique
from rennet.session import configure, session
from rennet.version import __version__

__all__ = [
    "Engine",
    "Issue",
    "IssueType",
    "Policy",
    "RennetError",
    "Technique",
    "__version__",
    "configure",
    "session",
]
