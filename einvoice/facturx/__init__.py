"""The levels of Factur-X / ZUGFeRD (MINIMUM to EXTENDED): which rules judge them, and what their schemas do not know.

- ``level``: the levels and the rules that each keeps of EN 16931; data of ``rules/levels``
- ``structure``: what breaks the XML schema of a level
"""

from einvoice.facturx.profile import Level, level_of
from einvoice.facturx.structure import breaches

__all__ = ["Level", "breaches", "level_of"]
