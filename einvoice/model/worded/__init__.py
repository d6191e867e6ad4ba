"""Content that EN 16931 has no term for, as text of a term: down payments (BT-22), retentions and discounts (BT-20).

Drafts write the texts, and the invoice page reads them again, in whatever language they were written.

- `phrase`: a sentence with values, from the message files
- `down_payments`, `payment_terms`: the sentences
"""
