"""Sorts the invoices that arrive in a folder: valid, invalid, unreadable, each with its report and result beside it.

    inbox.claim() -> Claim -> outbox.sort(claim)

Several programs may watch one folder, also on several machines that share it, if it supports file locks. Each file is
moved, never copied and left, so that it is in exactly one place whatever happens.
"""

from einvoice.watch.inbox import Claim, Inbox
from einvoice.watch.outbox import Outbox, Sorted
from einvoice.watch.watcher import watch

__all__ = ["Claim", "Inbox", "Outbox", "Sorted", "watch"]
