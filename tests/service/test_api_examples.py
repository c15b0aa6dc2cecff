import msgspec
import pytest
from openapi_schema_validator import OAS31Validator

from hierbandits.service.api_examples import EXAMPLES
from hierbandits.service.service_app import OPERATIONS, api_document

BY_NAME = {one.name: one for one in OPERATIONS}


def test_every_operation_that_takes_a_body_has_an_example():
    assert {one.name for one in OPERATIONS if one.takes not in (None, bytes)} <= set(EXAMPLES)
    assert set(EXAMPLES) <= set(BY_NAME)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_of_the_types_that_they_show(name):
    operation, (body, reply) = BY_NAME[name], EXAMPLES[name]
    assert (body is None) == (operation.takes is None)
    if body is not None:
        msgspec.convert(body, operation.takes, strict=True)
    document = api_document()
    path = next(
        one
        for methods in document["paths"].values()
        for one in methods.values()
        if one["operationId"] == name
    )
    ((_, content),) = path["responses"][str(operation.status)]["content"].items()
    schema = content["schema"] | {"components": document["components"]}
    assert [error.message for error in OAS31Validator(schema).iter_errors(reply)] == []
