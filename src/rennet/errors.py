"""Every error rennet raises and every reason it gives, in one place.

Errors are for misuse and for failures. *Why a refresh was not incremental* is never an error but an
`Issue`: data that is stored with the refresh, shown by `explain` and `history`, and, under
`REFRESH POLICY INCREMENTAL STRICT` only, turned into a `NotIncrementalError`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class RennetError(Exception):
    """Base of all errors; `code` is stable, `hint` says what to do next."""

    code = "RENNET_ERROR"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"[{self.code}] {self.message}" + (f" {self.hint}" if self.hint else "")


class SessionError(RennetError):
    """The Spark session cannot be used: Spark Connect, no Delta, a locked catalog."""

    code = "SESSION_NOT_USABLE"


class InvalidNameError(RennetError):
    """A view or column name that is malformed, reserved or missing."""

    code = "INVALID_NAME"


class InvalidQueryError(RennetError):
    """The text or function is not a query that can be stored as a view."""

    code = "INVALID_QUERY"


class ViewNotFoundError(RennetError):
    """No materialized view of that name."""

    code = "MATERIALIZED_VIEW_NOT_FOUND"


class AlreadyExistsError(RennetError):
    """The name is taken by something else."""

    code = "ALREADY_EXISTS"


class SourceError(RennetError):
    """A source table is missing or unreadable."""

    code = "SOURCE_NOT_READABLE"


class StatementError(RennetError):
    """A rennet statement that does not parse."""

    code = "PARSE_ERROR"


class DefinitionMissingError(RennetError):
    """The view was defined by a Python function this process has not been given."""

    code = "DEFINITION_NOT_AVAILABLE"


class NotIncrementalError(RennetError):
    """A policy or a forced technique asked for what this refresh cannot do."""

    code = "MATERIALIZED_VIEW_NOT_INCREMENTALIZABLE"


class ConcurrentRefreshError(RennetError):
    """Another refresh of the same view committed first."""

    code = "CONCURRENT_REFRESH"


class ValueNotStorableError(RennetError):
    """A row of the query has a value that the table would not give back as it is."""

    code = "VALUE_NOT_STORABLE"


class PipelineError(RennetError):
    """A pipeline, or a part of one, that cannot be run as it is written."""

    code = "INVALID_PIPELINE"


class PlanError(RennetError):
    """An ill-formed plan: a bug in a rule, caught before anything is written."""

    code = "INVALID_PLAN"


class Technique(StrEnum):
    """How a refresh brought the view up to date (Databricks' maintenance types)."""

    NO_OP = "NO_OP"
    APPEND_ONLY = "APPEND_ONLY"
    GROUP_AGGREGATE = "GROUP_AGGREGATE"
    GENERIC_AGGREGATE = "GENERIC_AGGREGATE"
    WINDOW_FUNCTION = "WINDOW_FUNCTION"
    PARTITION_OVERWRITE = "PARTITION_OVERWRITE"
    ROW_BASED = "ROW_BASED"
    COMPLETE_RECOMPUTE = "COMPLETE_RECOMPUTE"
    # -- rennet's own
    CARRY_OVER = "CARRY_OVER"
    """The definition was replaced, and the stored rows of the old one determine the new ones."""


class Policy(StrEnum):
    """What a view's owner permits (`REFRESH POLICY …`)."""

    AUTO = "AUTO"
    INCREMENTAL = "INCREMENTAL"
    INCREMENTAL_STRICT = "INCREMENTAL STRICT"
    FULL = "FULL"


class IssueType(StrEnum):
    """Why a technique cannot be used. Databricks' names; those below the line are rennet's own."""

    CDF_UNAVAILABLE = "CDF_UNAVAILABLE"
    DATA_SCHEMA_CHANGED = "DATA_SCHEMA_CHANGED"
    PARTITION_SCHEMA_CHANGED = "PARTITION_SCHEMA_CHANGED"
    INPUT_NOT_IN_DELTA = "INPUT_NOT_IN_DELTA"
    DATA_FILE_MISSING = "DATA_FILE_MISSING"
    PLAN_NOT_DETERMINISTIC = "PLAN_NOT_DETERMINISTIC"
    PLAN_NOT_INCREMENTALIZABLE = "PLAN_NOT_INCREMENTALIZABLE"
    SERIALIZATION_VERSION_CHANGED = "SERIALIZATION_VERSION_CHANGED"
    QUERY_FINGERPRINT_CHANGED = "QUERY_FINGERPRINT_CHANGED"
    CONFIGURATION_CHANGED = "CONFIGURATION_CHANGED"
    TIME_ZONE_CHANGED = "TIME_ZONE_CHANGED"
    CHANGE_SET_MISSING = "CHANGE_SET_MISSING"
    DATA_HAS_CHANGED = "DATA_HAS_CHANGED"
    INCREMENTAL_PLAN_REJECTED_BY_COST_MODEL = "INCREMENTAL_PLAN_REJECTED_BY_COST_MODEL"
    PRIOR_TIMESTAMP_MISSING = "PRIOR_TIMESTAMP_MISSING"
    # -- rennet's own
    SOURCE_RECREATED = "SOURCE_RECREATED"
    PLANNING_FAILED = "PLANNING_FAILED"
    EXECUTION_FAILED = "EXECUTION_FAILED"
    REQUESTED = "REQUESTED"
    NOT_THIS_SHAPE = "NOT_THIS_SHAPE"


class IssueSubType(StrEnum):
    """The detail of an issue, again with Databricks' names where they have one."""

    OPERATOR_NOT_SUPPORTED = "OPERATOR_NOT_SUPPORTED"
    AGGREGATE_WITH_UNSUPPORTED_EXPRESSION = "AGGREGATE_WITH_UNSUPPORTED_EXPRESSION"
    SUBQUERY_EXPRESSION = "SUBQUERY_EXPRESSION"
    STREAMING_SOURCE = "STREAMING_SOURCE"
    USER_DEFINED_FUNCTION = "USER_DEFINED_FUNCTION"
    TIME_FUNCTION = "TIME_FUNCTION"
    NON_DETERMINISTIC_EXPRESSION = "NON_DETERMINISTIC_EXPRESSION"
    CHANGESET_SIZE_THRESHOLD_EXCEEDED = "CHANGESET_SIZE_THRESHOLD_EXCEEDED"
    SOURCE_HAS_DELETES = "SOURCE_HAS_DELETES"
    NONE = ""


@dataclass(frozen=True)
class Issue:
    """One reason why a technique was not applicable or not chosen."""

    type: IssueType
    message: str
    subtype: IssueSubType = IssueSubType.NONE

    def __str__(self) -> str:
        name = f"{self.type}.{self.subtype}" if self.subtype else str(self.type)
        return f"{name}: {self.message}"
