"""Independent pieces of work, on one process or on several."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from phcle.errors import OptionError

__all__ = ["in_parallel"]

Result = TypeVar("Result")


def in_parallel(
    function: Callable[..., Result], calls: Sequence[tuple[object, ...]], jobs: int = 1
) -> Iterator[tuple[int, Result]]:
    """The number and the result of every call, as they finish.

    The function must be one that another process can import. Large arrays among the
    arguments are shared, not copied.
    """
    if jobs < 1:
        raise OptionError(f"jobs must be 1 or more. Got {jobs!r} instead.")
    if jobs == 1 or len(calls) < 2:
        for number, arguments in enumerate(calls):
            yield number, function(*arguments)
        return
    from joblib import Parallel, delayed

    # One thread each: small products gain nothing from more, and threads that wait
    # for each other on a busy machine cost more than the work.
    yield from Parallel(
        n_jobs=jobs, return_as="generator_unordered", inner_max_num_threads=1
    )(
        delayed(_numbered)(function, number, arguments)
        for number, arguments in enumerate(calls)
    )


def _numbered(
    function: Callable[..., Result], number: int, arguments: tuple[object, ...]
) -> tuple[int, Result]:
    return number, function(*arguments)
