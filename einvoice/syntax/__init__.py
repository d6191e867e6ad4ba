"""The syntaxes: parsing, detecting, binding, reading, writing, and the XML schemas."""
