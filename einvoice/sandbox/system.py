"""What differs between systems: `einvoice.sandbox.windows` or `einvoice.sandbox.posix`, with the same functions."""

import sys

if sys.platform == "win32":
    from einvoice.sandbox.windows import BOUNDED, alarm, attach, hand_over, launch, peak_memory, set_limits, take_over
else:
    from einvoice.sandbox.posix import BOUNDED, alarm, attach, hand_over, launch, peak_memory, set_limits, take_over

__all__ = ["BOUNDED", "alarm", "attach", "hand_over", "launch", "peak_memory", "set_limits", "take_over"]
