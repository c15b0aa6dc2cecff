import json
import runpy
from pathlib import Path

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from hierbandits.service.openapi import openapi_document
from hierbandits.service.service_app import OPERATIONS, api_document

DOCS = Path(__file__).parents[2] / "docs"


def test_the_document_is_sound():
    assert list(OpenAPIV31SpecValidator(api_document()).iter_errors()) == []


def test_a_validator_sees_what_is_wrong():
    document = json.loads(json.dumps(api_document()))
    del document["paths"]["/policies/{policy}"]["get"]["parameters"]
    assert list(OpenAPIV31SpecValidator(document).iter_errors()) != []


def test_every_operation_is_in_it_with_its_scope_and_how_it_refuses():
    found = {
        (method.upper(), one["operationId"]): one
        for path in api_document()["paths"].values()
        for method, one in path.items()
    }
    assert set(found) == {(one.method, one.name) for one in OPERATIONS}
    for one in OPERATIONS:
        told = found[one.method, one.name]
        assert told.get("x-scope") == one.scope
        assert (told["security"] == []) == (one.scope is None)
        assert ("requestBody" in told) == (one.takes is not None)
        assert ("401" in told["responses"]) == (one.scope is not None)
        assert "default" in told["responses"]


def test_fields_have_the_words_of_their_source():
    schemas = api_document()["components"]["schemas"]
    words = schemas["DecisionRequest"]["properties"]["best"]["description"]
    assert words == "Take the arm of highest posterior mean: no exploring."
    assert "hierbandits learn" in schemas["PolicySettings"]["description"]


def test_a_part_of_a_round_is_a_decision_or_a_problem():
    items = api_document()["components"]["schemas"]["RoundReply"]["properties"]["decisions"][
        "items"
    ]
    names = [one["$ref"].rpartition("/")[2] for one in items["anyOf"]]
    assert names == ["DecisionReply", "Problem"]


def test_few_operations_make_a_small_document():
    (path,) = openapi_document([one for one in OPERATIONS if one.name == "health"])["paths"]
    assert path == "/health"


@pytest.mark.parametrize("name", ["api"])
def test_the_page_in_the_docs_is_up_to_date(name):
    made = runpy.run_path(str(DOCS / f"{name}.py"))["api_text"](api_document())
    assert (DOCS / f"{name}.md").read_text() == made, f"run `python docs/{name}.py`"
