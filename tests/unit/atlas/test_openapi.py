"""Whatever the OpenAPI description allows, and what it does not, gets an answer."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable

schemathesis = pytest.importorskip(
    "schemathesis", reason="schemathesis is not installed"
)

from schemathesis import GenerationMode, checks  # noqa: E402

CHECKS = [checks.not_a_server_error]

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
def test_every_operation_answers_or_refuses(operations, mode):
    assert len(operations) >= 15
    failures = []
    for operation in operations:

        @BOUNDED
        @given(case=operation.as_strategy(generation_mode=mode))
        def answers(case):
            case.call_and_validate(checks=CHECKS)

        try:
            answers()
        except Unsatisfiable:  # an operation without parameters has no wrong ones
            assert mode is GenerationMode.NEGATIVE
        except BaseExceptionGroup as failure:
            failures.append(str(failure))
    assert not failures, "\n\n".join(failures)
