import re

from hierbandits.service.api_page import api_page, fields, type_words
from hierbandits.service.service_app import OPERATIONS, api_document


def test_the_page_shows_every_operation_and_fetches_nothing():
    page = api_page(api_document())
    for one in OPERATIONS:
        assert f'id="{one.name}"' in page
    assert "<script" not in page
    assert re.findall(r'(?:src|href)="([^"]*)"', page) == ["openapi.json"]
    assert "width=device-width" in page


def test_what_a_document_says_is_text_and_not_html():
    document = api_document() | {"paths": {}}
    one = api_document()["paths"]["/health"]["get"] | {"summary": "<b>&"}
    page = api_page(document | {"paths": {"/<i>": {"get": one}}})
    assert "&lt;b&gt;&amp;" in page
    assert "/&lt;i&gt;" in page


def test_fields_say_their_type_and_whether_they_are_needed():
    rows = fields(api_document(), {"$ref": "#/components/schemas/DecisionRequest"})
    by_name = {row[0]: row[1:] for row in rows}
    assert by_name["task"][0] == "string or integer or list of string or integer"
    assert by_name["best"][0] == "boolean, may be left out"
    assert by_name["best"][1].startswith("Take the arm")


def test_types_in_words():
    assert type_words({"enum": ["live", "shadow"]}) == '"live" or "shadow"'
    assert type_words({"type": "object", "additionalProperties": {"type": "number"}}) == (
        "object of number"
    )
    assert type_words({}) == "anything"
