"""Pipelines: views and streaming tables in one graph. `from rennet import pipelines as dp`."""

from rennet.pipelines.api import (
    append_flow,
    create_auto_cdc_flow,
    create_auto_cdc_from_snapshot_flow,
    create_sink,
    create_streaming_table,
    expect,
    expect_all,
    expect_all_or_drop,
    expect_all_or_fail,
    expect_or_drop,
    expect_or_fail,
    materialized_view,
    table,
    temporary_view,
    view,
)

__all__ = [
    "append_flow",
    "create_auto_cdc_flow",
    "create_auto_cdc_from_snapshot_flow",
    "create_sink",
    "create_streaming_table",
    "expect",
    "expect_all",
    "expect_all_or_drop",
    "expect_all_or_fail",
    "expect_or_drop",
    "expect_or_fail",
    "materialized_view",
    "table",
    "temporary_view",
    "view",
]
