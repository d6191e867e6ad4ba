"""Titles of codes in an overview: true of every file, not only of the example."""

import einvoice


def test_title_of_a_code_has_no_values_of_one_file(sample, tmp_path):
    text = sample("ubl-invoice.xml").read_text(encoding="utf-8")
    for name, code in (("a", "Germany"), ("b", "Austria")):
        pattern = "<cbc:IdentificationCode>DE</cbc:IdentificationCode>"
        changed = text.replace(pattern, pattern.replace("DE", code), 1)
        assert changed != text
        (tmp_path / f"{name}.xml").write_text(changed, encoding="utf-8")
    results = einvoice.validate_many(tmp_path, lang="en")
    overview = results.summary()
    (frequent,) = overview.codes
    assert frequent.files == 2
    assert frequent.title("en") == "Unknown country code"
    assert frequent.finding.title("en") != frequent.title("en")
    for shown in (str(overview), overview._repr_html_(), overview.to_frame(lang="en").to_csv()):
        assert "Unknown country code" in shown
        assert "Germany" not in shown
        assert "Austria" not in shown
