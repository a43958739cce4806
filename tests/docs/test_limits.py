"""The page of refusals names every code there is, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from rennet.errors import IssueSubType, IssueType, Policy, Technique

PAGE = Path(__file__).parents[2] / "docs" / "limits.md"
CODE = re.compile(r"`\.?([A-Z]+(?:_[A-Z]+)+|REQUESTED)`")
"""Words in capitals with an underscore, alone in a code span."""
FUNCTIONS = {"ANY_VALUE", "MAX_BY", "COLLECT_LIST", "ROW_NUMBER"}


def test_the_page_and_the_code_have_the_same_refusals() -> None:
    named = set(CODE.findall(PAGE.read_text())) - FUNCTIONS
    codes = {str(code) for code in (*IssueType, *IssueSubType) if code}
    others = {str(name) for name in (*Technique, *Policy)}
    assert codes - named == set(), "describe them in docs/limits.md"
    assert named - codes - others == set(), "docs/limits.md names codes that do not exist"
