"""JSON bodies of the responses on whole documents: converted, extracted, corrected, read, and compared."""

from typing import Any, Literal

from pydantic import Field

from appliance.contract.schemas import CauseItem, ChangeItem, Response

_VALID = Field(description="Whether the document complies with all mandatory rules.")
_LEFT_OUT = Field(default=0, description="Number of further items: those listed have at most 4 MB.")


class _Document(Response):
    status: Literal["done"]
    xml: str | None = Field(description="The XML document, if it is UTF-8, as nearly all are; otherwise null.")
    xml_base64: str | None = Field(description="The bytes of an XML document in another encoding, as Base64.")


class TermChangeItem(Response):
    """A term that is not the same after the conversion."""

    kind: Literal["lost", "changed", "joined", "moved", "omitted", "added"]
    term: str = Field(description='Business term, or "" for content without one.', examples=["BT-22"])
    name: str = Field(description="Name of the term.")
    new_term: str = Field(description='Term that a moved value has in the converted document, or "".')
    invoice_line: str = Field(description='Number of the invoice line, or "".')
    values: list[dict[str, Any]] = Field(description="Values in the source, with scheme, line and XPath.")
    new_value: str | None = Field(description="Value in the converted document; null if there is none.")


class ConvertResponse(_Document):
    """A converted invoice, and what happened to its terms."""

    xml: str | None = Field(description="The converted document; null if `strict` and it is not faithful.")
    syntax: Literal["UBL", "CII"]
    is_faithful: bool = Field(
        description="Whether no term of EN 16931 was lost, and the document is valid if the source was."
    )
    valid_before: bool = _VALID
    valid_after: bool | None = Field(description="The same for the converted document; null if it is too large.")
    changes: list[TermChangeItem]
    changes_left_out: int = _LEFT_OUT


class AttachmentItem(Response):
    """A file attached to a PDF."""

    name: str = Field(examples=["factur-x.xml"])
    sources: list[str] = Field(description="Where the PDF refers to it.", examples=[["names", "catalog"]])
    relationship: str = Field(description='AFRelationship, or "".', examples=["Alternative"])
    mime: str = Field(examples=["text/xml"])
    size: int | None = Field(description="Unpacked size in bytes; null if it cannot be an invoice.")


class ExtractResponse(_Document):
    """The XML embedded in a hybrid PDF, byte for byte, and what is attached."""

    name: str = Field(description="File name of the attachment.", examples=["factur-x.xml"])
    relationship: str = Field(description='AFRelationship, or "".', examples=["Alternative"])
    profile: str = Field(description='Declared profile; "" if the XML cannot be validated.', examples=["XRechnung"])
    problem: dict[str, Any] | None = Field(description="Why the XML cannot be validated; null if it can.")
    candidates: list[str] = Field(description="Names of the attachments that may be the invoice; the first was chosen.")
    attachments: list[AttachmentItem]


class Stated(Response):
    """What an invoice states: decimal text, as it is written if it is no number, null if it is missing."""

    amount_due: str | None = Field(description="BT-115.", examples=["824.67"])
    total_vat: str | None = Field(description="BT-110.", examples=["131.67"])
    lines: int = Field(description="Number of invoice lines.")


class FixedChangeItem(ChangeItem):
    """A change that was made."""

    applicability: Literal["safe", "unsafe", "question"] = Field(
        description="`safe`: proved by the rest of the invoice. `unsafe`: leaves one thing open."
    )


class RemainingItem(CauseItem):
    """A cause that remains."""

    findings: list[str] = Field(description="Codes of the findings.")  # type: ignore[assignment]
    applicability: Literal["safe", "unsafe", "question"] | None = Field(
        description="What its change may do: `unsafe` is made on request, `question` never. Null: no change is known."
    )


class FixResponse(_Document):
    """A corrected invoice: the new XML, each change, and what remains."""

    is_changed: bool
    valid_before: bool = _VALID
    valid_after: bool
    stated_before: Stated
    stated_after: Stated
    changes: list[FixedChangeItem]
    remaining: list[RemainingItem]
    remaining_left_out: int = _LEFT_OUT
    diff: str = Field(description='Unified diff of the XML; "" without changes.')
    text: str = Field(description="All of it in words.")
    remarks: list[str] = Field(description="What to heed before the corrected XML is used.")


class ReadResponse(Response):
    """An invoice by its business terms."""

    status: Literal["done"]
    syntax: Literal["UBL", "CII"]
    invoice: dict[str, Any] = Field(
        description="Content, nested by the names of the terms, without empty ones; numbers are decimal text, dates "
        "ISO 8601, attached files Base64."
    )


class ComparedItem(Response):
    """A term that is not the same in both invoices."""

    status: Literal["changed", "only_in_a", "only_in_b"]
    term: str = Field(examples=["BT-9"])
    name: str
    group: str
    invoice_line: str
    only_white_space: bool = Field(False, description="Whether only line breaks differ.")
    a: dict[str, Any] | None = Field(description="Value, scheme, line and XPath in the first invoice.")
    b: dict[str, Any] | None = Field(description="The same in the second one.")


class DiffResponse(Response):
    """Two invoices, compared by their business terms."""

    status: Literal["done"]
    same: bool
    equal: int = Field(description="Number of values that are the same.")
    changed: int
    only_in_a: int
    only_in_b: int
    differences: list[ComparedItem]
    differences_left_out: int = _LEFT_OUT
