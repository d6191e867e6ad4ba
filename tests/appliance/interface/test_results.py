"""Limits of response bodies."""

import re
from collections import Counter

import einvoice
from appliance.contract.results import MAX_FINDINGS_BYTES, validation_body
from appliance.contract.serialization import to_json
from tests.helpers.served import UBL


def test_findings_of_a_response_are_limited_in_bytes():
    """Values that a finding quotes are escaped: each character may take ten bytes in the response."""
    (line,) = re.findall(rb"<cac:InvoiceLine>.*</cac:InvoiceLine>", UBL, re.DOTALL)
    wrong = re.sub(rb">[^<\s][^<]*<", ">{}<".format("\U000e0001" * 500).encode(), line)
    result = einvoice.validate(UBL.replace(line, wrong * 100))
    body = validation_body(result, "en", None)
    reported = Counter(finding["code"] for finding in body["errors"] + body["warnings"])
    found = Counter(finding.code for finding in result.findings) + Counter(result.omitted)
    assert sum(len(to_json(finding)) for finding in body["errors"]) <= MAX_FINDINGS_BYTES
    assert reported + Counter(body["validation_details"]["findings_left_out"]) == found
    assert reported.keys() == found.keys()
    assert not body["is_valid"]
    assert body["validation_details"]["findings_left_out"] != result.omitted
