"""Maps business terms to UBL and CII, in both directions."""
