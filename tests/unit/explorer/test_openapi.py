"""Whatever the OpenAPI description allows, and what it does not, gets an answer."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable

schemathesis = pytest.importorskip(
    "schemathesis", reason="schemathesis is not installed"
)

from schemathesis import GenerationMode, checks  # noqa: E402
from schemathesis.specs.openapi import checks as openapi_checks  # noqa: E402

CHECKS = [
    checks.not_a_server_error,
    openapi_checks.status_code_conformance,
    openapi_checks.content_type_conformance,
    openapi_checks.response_schema_conformance,
]

BOUNDED = settings(
    max_examples=10,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def operations(app):
    described = schemathesis.openapi.from_asgi("/api/openapi.json", app)
    return [result.ok() for result in described.get_all_operations()]


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_every_operation_answers_as_described(operations, mode):
    assert len(operations) >= 15
    failures = []
    for operation in operations:

        @BOUNDED
        @given(case=operation.as_strategy(generation_mode=mode))
        def answers_as_described(case):
            case.call_and_validate(checks=CHECKS)

        try:
            answers_as_described()
        except Unsatisfiable:  # an operation without parameters has no wrong ones
            assert mode is GenerationMode.NEGATIVE
        except BaseExceptionGroup as failure:
            failures.append(str(failure))
    assert not failures, "\n\n".join(failures)


def test_every_page_has_a_described_twin(client):
    paths = client.get("/api/openapi.json").json()["paths"]
    twins = {"/api/map", "/api/label", "/api/compare", "/api/match", "/api/add"}
    twins |= {"/api/understand", "/api/differences", "/api/info", "/api/search"}
    assert twins <= set(paths)
    assert all(path.startswith("/api/") for path in paths)
