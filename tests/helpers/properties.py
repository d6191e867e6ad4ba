"""Settings of properties that Hypothesis tests."""

from typing import Any

from hypothesis import settings


def examples(count: int, **others: Any) -> settings:
    """Return settings with a number of examples; the quick tier runs fewer, as ``settings`` alone would not do."""
    is_quick = settings.get_current_profile_name() == "quick"
    return settings(max_examples=min(count, settings.default.max_examples) if is_quick else count, **others)
