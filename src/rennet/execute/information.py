"""How a source changed, in the words of the table information of Databricks' event log."""

from __future__ import annotations

from typing import Any

from rennet.storage.changes import ChangeKind, SourceChange

CHANGE_TYPES = {
    ChangeKind.NONE: "NO_CHANGE",
    ChangeKind.APPEND: "APPEND_ONLY",
    ChangeKind.GENERAL: "GENERAL_CHANGE",
}


def table_information(change: SourceChange | None) -> dict[str, Any]:
    """What the log said; nothing if it was not asked, as at the first refresh."""
    if change is None:
        return {}
    return {
        "table_change_type": CHANGE_TYPES[change.kind],
        "full_size": change.full_bytes,
        "change_size": change.changed_bytes,
        "num_changed_rows": change.changed_rows,
        "partition_columns": list(change.partitioned_by),
        "is_row_id_enabled": change.has_row_ids,
        "is_cdf_enabled": change.cdf_enabled,
        "is_deletion_vector_enabled": change.dv_enabled,
    }
