"""Threads for requests that compute, so that others need not wait for them.

The event loop answers what is quick. What computes runs in a lane: a few threads with
a queue. So a crowd of costly requests can take neither all memory nor all threads.
Which routes are costly is said at the routes alone, by their lane.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from fastapi import APIRouter
from fastapi.routing import APIRoute

__all__ = ["COSTLY", "PICTURES", "costly_paths", "in_lane"]

COSTLY = ThreadPoolExecutor(2, "phcle-costly")
"""For answers that look at all labels. Two at once: each may take some 100 MB at a
million labels, and more would only share the same cores."""

PICTURES = ThreadPoolExecutor(1, "phcle-pictures")
"""For uploaded files. One at a time: a picture of 79 megapixels takes 1.2 GB."""


def in_lane(
    lane: ThreadPoolExecutor,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a route run in the threads of a lane.

    Parameters
    ----------
    lane : ThreadPoolExecutor
        The lane.

    Returns
    -------
    callable
        Turns the function of a route into a coroutine function with the same
        parameters.

    Examples
    --------
    >>> @in_lane(COSTLY)
    ... def double(x: int) -> int:
    ...     return 2 * x
    >>> asyncio.run(double(4))
    8
    """

    def wrapped(work: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(work)
        async def run(*given: Any, **named: Any) -> Any:
            loop = asyncio.get_running_loop()
            call = functools.partial(work, *given, **named)
            return await loop.run_in_executor(lane, call)

        # With types, not their names: FastAPI would look for those in this module.
        run.__signature__ = inspect.signature(work, eval_str=True)  # type: ignore[attr-defined]
        run.lane = lane  # type: ignore[attr-defined]
        return run

    return wrapped


def costly_paths(*routers: APIRouter) -> frozenset[str]:
    """Find the addresses whose answers are computed in the costly lane.

    Parameters
    ----------
    *routers : APIRouter
        Routes of the application.

    Returns
    -------
    frozenset of str
        Their paths; of questions (GET) only.
    """
    return frozenset(
        route.path
        for router in routers
        for route in router.routes
        if isinstance(route, APIRoute)
        and "GET" in (route.methods or ())
        and getattr(route.endpoint, "lane", None) is COSTLY
    )
