"""Asks a running appliance what its users would, from outside. Standard library only.

`smoke.py first URL KEY NOTES` asks every kind of request, and writes NOTES. After a restart `smoke.py again URL KEY
SECOND_KEY NOTES` looks whether what they tell of is still there, and for KEY alone.
"""

import json
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

API = "/api/external"
SAMPLES = Path(__file__).resolve().parent.parent / "appliance" / "samples"
DRAFT = {
    "invoice_number": "R-2026-0001",
    "issue_date": "2026-11-20",
    "due_date": "2026-12-20",
    "service_date": "2026-11-18",
    "format": "ZUGFERD",
    "buyer_reference": "04011000-12345-34",
    "seller": {
        "name": "Müller & Söhne GmbH",
        "street": "Werkstraße 1",
        "postal_code": "10115",
        "city": "Berlin",
        "country_code": "DE",
        "tax_id": "DE123456789",
    },
    "buyer": {
        "name": "Amt für Beispiele",
        "street": "Am Markt 2",
        "postal_code": "20095",
        "city": "Hamburg",
        "country_code": "DE",
    },
    "payment": {"iban": "DE02120300000000202051", "payment_means_code": "58", "payment_reference": "R-2026-0001"},
    "lines": [
        {
            "line_id": "1",
            "name": "Beratung",
            "quantity": "2",
            "unit_code": "HUR",
            "unit_price": "100.00",
            "tax_category": "S",
            "tax_rate": "19.00",
        }
    ],
}


class Appliance:
    """An appliance at an address, asked with a key or, if that is "", with none."""

    def __init__(self, url: str, key: str = "") -> None:
        self._url = url
        self._key = key

    def ask(self, path: str, body: bytes | None = None, kind: str = "") -> tuple[int, str, bytes]:
        """Return status, media type and body of the answer."""
        headers = {"X-API-Key": self._key, "Content-Type": kind}
        request = urllib.request.Request(
            self._url + path, body, {name: value for name, value in headers.items() if value}
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.headers.get_content_type(), answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers.get_content_type(), error.read()

    def get(self, path: str) -> Any:
        """Return the JSON at a path."""
        return _json(path, self.ask(path))

    def validate(self, name: str, content: bytes, engine: str = "native") -> Any:
        """Return the verdict on a file."""
        field = "--x\r\nContent-Disposition: form-data; name="
        head = f'{field}"engine"\r\n\r\n{engine}\r\n{field}"file"; filename="{name}"\r\n\r\n'.encode()
        path = f"{API}/validate?lang=en"
        return _json(path, self.ask(path, head + content + b"\r\n--x--\r\n", "multipart/form-data; boundary=x"))

    def generate(self, draft: dict[str, Any]) -> Any:
        """Return the invoice made from a draft, and the verdict on it."""
        path = f"{API}/generate?lang=en"
        return _json(path, self.ask(path, json.dumps(draft).encode(), "application/json"))

    def pdf(self, path: str) -> bytes:
        """Return the PDF at a path."""
        status, kind, body = self.ask(path)
        expect(f"PDF {path.rpartition('/')[2]}", (status, kind, body[:5]), (200, "application/pdf", b"%PDF-"))
        return body


def _json(path: str, answer: tuple[int, str, bytes]) -> Any:
    status, kind, body = answer
    if (status, kind) != (200, "application/json"):
        sys.exit(f"FAILED {path}: {status} {kind} {body[:500].decode(errors='replace')}")
    return json.loads(body)


def expect(what: str, found: object, wanted: object) -> None:
    """End with status 1 unless both are equal."""
    if found != wanted:
        sys.exit(f"FAILED {what}: {found!r} instead of {wanted!r}")
    print(f"ok {what}")


def refused(appliance: Appliance, what: str) -> None:
    """Expect that the appliance lets nobody in."""
    expect(what, appliance.ask(f"{API}/capabilities")[:2], (401, "application/problem+json"))


def links(answer: Any) -> dict[str, str]:
    """Return the paths of the artifacts that an answer offers."""
    offered = {name: link for name, link in answer["artifacts"].items() if link.get("url")}
    return {name: urlsplit(link["url"]).path for name, link in offered.items()}


def first(url: str, key: str, notes: str) -> None:
    """Check every kind of request."""
    nobody, holder = Appliance(url), Appliance(url, key)
    expect("alive", nobody.get("/healthz"), {"status": "ok"})
    expect("ready", nobody.get("/readyz")["status"], "ready")
    for page in ("/", "/docs", "/catalog/BR-CO-10"):
        expect(f"page {page}", nobody.ask(page)[:2], (200, "text/html"))
    refused(nobody, "401 without a key")
    refused(Appliance(url, key[:-1] + "~"), "401 with another key")
    expect("capabilities", holder.get(f"{API}/capabilities")["plan_type"], "business")

    for syntax in ("UBL", "CII"):
        sample = (SAMPLES / f"xrechnung-{syntax.lower()}.xml").read_bytes()
        verdict = holder.validate("invoice.xml", sample)
        expect(f"valid {syntax}", (verdict["is_valid"], verdict["validation_format"]), (True, syntax))
    made = links(verdict)
    expect("links", sorted(made), ["readable_invoice_pdf", "validation_report_pdf"])

    wrong = (SAMPLES / "xrechnung-ubl.xml").read_bytes().replace(b">195.00</cbc:Line", b">194.99</cbc:Line")
    expect("wrong sum found", "BR-CO-10" in [one["code"] for one in holder.validate("a", wrong)["errors"]], True)

    ubl = (SAMPLES / "xrechnung-ubl.xml").read_bytes()
    core = ubl.replace(b"#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0", b"")
    reference = holder.validate("a", core, "both")["validation_details"]["reference"]
    expect("the artefacts of the image agree", reference["agreed"], True)
    told = holder.validate("a", ubl, "reference")
    expect("added artefacts judge", "BR-DE-1" in [one["code"] for one in told["warnings"]], True)

    hybrid = holder.generate(DRAFT)
    expect("generated", (hybrid["format"], hybrid["is_valid"]), ("ZUGFERD", True))
    made |= {"zugferd_pdf": links(hybrid)["zugferd_pdf"]}
    pdfs = {name: holder.pdf(path) for name, path in made.items()}
    verdict = holder.validate("rechnung.pdf", pdfs["zugferd_pdf"])
    expect("valid PDF", (verdict["is_valid"], verdict["validation_format"]), (True, "CII"))
    Path(notes).write_text(json.dumps(made))


def again(url: str, key: str, second_key: str, notes: str) -> None:
    """Check what a restart must leave."""
    holder, other = Appliance(url, key), Appliance(url, second_key)
    expect("the key is still there", holder.get(f"{API}/capabilities")["status"], "ok")
    expect("a key of the environment", other.get(f"{API}/capabilities")["status"], "ok")
    for path in json.loads(Path(notes).read_text()).values():
        holder.pdf(path)
        expect("not for another key", other.ask(path)[0], 404)


if __name__ == "__main__":
    {"first": first, "again": again}[sys.argv[1]](*sys.argv[2:])
