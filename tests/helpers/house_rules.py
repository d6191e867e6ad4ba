"""A rule set of a customer, on top of EN 16931: a rule, a rule about elements, a code list, a specification."""

import re
from pathlib import Path

RULESET = """\
kind = "cius"
base = "en16931"
name = "ACME"

[title]
de = "ACME, Hausregeln"
en = "ACME, house rules"

[[versions]]
version = "2026-11"
date    = "2026-11-01"
"""
RULE = """\
code     = "ACME-01"
severity = "fatal"
terms    = ["BT-13"]

assert = "matches(invoice.purchase_order, '^4500[0-9]{6}$')"

[de]
title       = "Die Bestellnummer hat nicht die Form 4500…"
explanation = "Angegeben: {actual}."
fix         = "Die Bestellnummer angeben (BT-13)."

[en]
title       = "The order number does not have the form 4500…"
explanation = "Found: {actual}."
fix         = "Enter the order number (BT-13)."

[valid]
"an order number" = { purchase_order = "4500123456" }

[invalid]
"another number" = { purchase_order = "4711" }
"""
ROWS = """\
code,context,check,path,argument,severity,since,until
ACME-02,//cac:AccountingSupplierParty/cac:Party,in_code_list,cbc:EndpointID/@schemeID,acme_schemes,warning,,
"""
LIST = "code,since,until\n0088,,\n"
TEXT = """\
code     = "ACME-02"
severity = "warning"
section  = "seller"
terms    = ["BT-34"]

[de]
title       = "ACME kennt dieses Schema der elektronischen Adresse nicht"
explanation = "Angegeben: {found}."
fix         = "Die GLN angeben (Schema 0088)."

[en]
title       = "ACME does not know this scheme of electronic addresses"
explanation = "Found: {found}."
fix         = "Enter the GLN (scheme 0088)."
"""
IDENTIFIER = "urn:cen.eu:en16931:2017#compliant#urn:acme.example:invoice:1.0"
SPECIFICATION = f"""\
["acme-1.0"]
identifiers = ["{IDENTIFIER}"]
profile = "ACME"
version = "1.0"
kind = "cius"
family = "acme"
rulesets = ["en16931", "acme"]
"""


def write(folder: Path, name: str = "acme", **changes: str) -> Path:
    """Write the rule set into a folder, with some files changed or added; return the folder."""
    files = {
        "ruleset.toml": RULESET,
        "ACME-01.toml": RULE,
        "syntax/ubl.csv": ROWS,
        "codelists/acme_schemes.csv": LIST,
        "texts/ACME-02.toml": TEXT,
        **changes,
    }
    for path, content in files.items():
        target = folder / name / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content, "utf-8")
    return folder


def in_one_language(lang: str) -> dict[str, str]:
    """Return the files of `write` with all texts in one language, those in English being its texts."""
    files = {"ruleset.toml": RULESET, "ACME-01.toml": RULE, "texts/ACME-02.toml": TEXT}
    return {path: _without_german(content).replace("[en]", f"[{lang}]") for path, content in files.items()} | {
        "ruleset.toml": re.sub("(?m)^de = .*\n", "", RULESET).replace("en = ", f"{lang} = ")
    }


def _without_german(content: str) -> str:
    return re.sub(r"\[de\]\n(?:\w.*\n)*\n", "", content)
