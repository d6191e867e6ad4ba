"""Smoke test of a running appliance over HTTP. Standard library only.

`smoke.py first URL KEY STATE` sends every kind of request and writes the artifact links to the file STATE. After a
restart, `smoke.py again URL KEY SECOND_KEY STATE` verifies that the links still work, for KEY only.
"""

import json
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

API = "/api/external"
SAMPLES = Path(__file__).resolve().parent.parent / "einvoice" / "sample_invoices"
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


class Client:
    """Client of the appliance at a URL; an empty key sends none."""

    def __init__(self, url: str, key: str = "") -> None:
        self._url = url
        self._key = key

    def send(self, path: str, body: bytes | None = None, content_type: str = "") -> tuple[int, str, bytes]:
        """Send GET, or POST if there is a body; return status, media type and body of the response."""
        headers = {"X-API-Key": self._key, "Content-Type": content_type}
        request = urllib.request.Request(
            self._url + path, body, {name: value for name, value in headers.items() if value}
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return response.status, response.headers.get_content_type(), response.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers.get_content_type(), error.read()

    def get(self, path: str) -> Any:
        """Return the JSON at a path."""
        return _json(path, self.send(path))

    def validate(self, name: str, content: bytes, engine: str = "native") -> Any:
        """Return the validation result of a file."""
        field = "--x\r\nContent-Disposition: form-data; name="
        head = f'{field}"engine"\r\n\r\n{engine}\r\n{field}"file"; filename="{name}"\r\n\r\n'.encode()
        path = f"{API}/validate?lang=en"
        return _json(path, self.send(path, head + content + b"\r\n--x--\r\n", "multipart/form-data; boundary=x"))

    def generate(self, draft: dict[str, Any]) -> Any:
        """Return the invoice generated from a draft, and its validation result."""
        path = f"{API}/generate?lang=en"
        return _json(path, self.send(path, json.dumps(draft).encode(), "application/json"))

    def pdf(self, path: str) -> bytes:
        """Return the PDF at a path."""
        status, media_type, body = self.send(path)
        expect(f"PDF {path.rpartition('/')[2]}", (status, media_type, body[:5]), (200, "application/pdf", b"%PDF-"))
        return body


def _json(path: str, response: tuple[int, str, bytes]) -> Any:
    status, media_type, body = response
    if (status, media_type) != (200, "application/json"):
        sys.exit(f"FAILED {path}: {status} {media_type} {body[:500].decode(errors='replace')}")
    return json.loads(body)


def expect(check: str, actual: object, expected: object) -> None:
    """Exit with status 1 unless both values are equal."""
    if actual != expected:
        sys.exit(f"FAILED {check}: {actual!r}, expected {expected!r}")
    print(f"ok {check}")


def expect_unauthorized(client: Client, check: str) -> None:
    """Expect that the client's key is rejected."""
    expect(check, client.send(f"{API}/capabilities")[:2], (401, "application/problem+json"))


def links(response: Any) -> dict[str, str]:
    """Return the paths of the artifact links in a response."""
    available = {name: link for name, link in response["artifacts"].items() if link.get("url")}
    return {name: urlsplit(link["url"]).path for name, link in available.items()}


def first(url: str, key: str, state: str) -> None:
    """Check every kind of request."""
    anonymous, holder = Client(url), Client(url, key)
    expect("liveness", anonymous.get("/healthz"), {"status": "ok"})
    expect("readiness", anonymous.get("/readyz")["status"], "ready")
    for page in ("/", "/docs", "/catalog/BR-CO-10"):
        expect(f"page {page}", anonymous.send(page)[:2], (200, "text/html"))
    expect_unauthorized(anonymous, "401 without a key")
    expect_unauthorized(Client(url, key[:-1] + "~"), "401 with another key")
    expect("capabilities", holder.get(f"{API}/capabilities")["plan_type"], "business")

    for syntax in ("UBL", "CII"):
        sample = (SAMPLES / f"xrechnung-{syntax.lower()}.xml").read_bytes()
        result = holder.validate("invoice.xml", sample)
        expect(f"valid {syntax}", (result["is_valid"], result["validation_format"]), (True, syntax))
    paths = links(result)
    expect("links", sorted(paths), ["readable_invoice_pdf", "validation_report_pdf"])

    wrong = (SAMPLES / "xrechnung-ubl.xml").read_bytes().replace(b">195.00</cbc:Line", b">194.99</cbc:Line")
    expect("wrong sum reported", "BR-CO-10" in [error["code"] for error in holder.validate("a", wrong)["errors"]], True)

    hybrid = holder.generate(DRAFT)
    expect("generated", (hybrid["format"], hybrid["is_valid"]), ("ZUGFERD", True))
    paths |= {"zugferd_pdf": links(hybrid)["zugferd_pdf"]}
    pdfs = {name: holder.pdf(path) for name, path in paths.items()}
    result = holder.validate("rechnung.pdf", pdfs["zugferd_pdf"])
    expect("valid PDF", (result["is_valid"], result["validation_format"]), (True, "CII"))
    Path(state).write_text(json.dumps(paths))


def again(url: str, key: str, second_key: str, state: str) -> None:
    """Check that keys and links survived a restart, and the second key's right to use the reference engine."""
    holder, other = Client(url, key), Client(url, second_key)
    expect("the key is still valid", holder.get(f"{API}/capabilities")["status"], "ok")
    expect("a key from the environment", other.get(f"{API}/capabilities")["status"], "ok")
    for path in json.loads(Path(state).read_text()).values():
        holder.pdf(path)
        expect("not for another key", other.send(path)[0], 404)

    ubl = (SAMPLES / "xrechnung-ubl.xml").read_bytes()
    core = ubl.replace(b"#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0", b"")
    reference = other.validate("a", core, "both")["validation_details"]["reference"]
    expect("the bundled Schematron agrees", reference["agreed"], True)
    warnings = other.validate("a", ubl, "reference")["warnings"]
    expect("an added configuration is applied", "BR-DE-1" in [warning["code"] for warning in warnings], True)


if __name__ == "__main__":
    {"first": first, "again": again}[sys.argv[1]](*sys.argv[2:])
