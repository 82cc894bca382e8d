"""The HTTP API: each route is one call. The report stores the same answers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlencode

import numpy as np
from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Body, Query, Request, Response
from fastapi.responses import FileResponse, JSONResponse
from starlette.exceptions import HTTPException

from phcle.arrays import Ints
from phcle.atlas import pages
from phcle.atlas.addresses import Addresses
from phcle.atlas.columns import column_of, columns_of, hierarchy_lists, packed
from phcle.atlas.map import map_values
from phcle.atlas.new_label import NewLabelForm, land, landed
from phcle.atlas.opened import Opened
from phcle.atlas.second import Second
from phcle.atlas.security import CostlyRoute
from phcle.atlas.shared import shared_by
from phcle.atlas.understand import understood
from phcle.errors import OptionError

if TYPE_CHECKING:
    from phcle.images import ImageMap

N_REASONS = 5
"""Columns that are named in each group of an explanation."""

MOST_NAMES = 500
"""Names that are sent at once."""

MOST_COMPARED = 8

PICTURES = CapacityLimiter(1)
"""For uploaded files. One at a time: a picture of 79 megapixels takes 1.2 GB."""

Text = Annotated[str, Query(min_length=1, max_length=500)]
Name = Annotated[str, Query(max_length=1000)]
Typed = Annotated[str, Query(max_length=200, description="What was typed so far.")]


@dataclass
class Workspace:
    """What is served: an embedding, another to compare with, and a map of pictures.

    Attributes
    ----------
    opened : Opened
        The embedding.
    second : Second or None
        The other embedding.
    image_map : ImageMap or None
        The map of pictures.
    """

    opened: Opened
    second: Second | None = None
    image_map: ImageMap | None = None

    def start(self) -> None:
        """Start the background work."""
        self.opened.map.start()
        if self.second is not None:
            self.second.work.start()


def api_routers(workspace: Workspace) -> list[APIRouter]:
    """Make all routes below /api.

    Parameters
    ----------
    workspace : Workspace
        The embeddings to answer about.

    Returns
    -------
    list of APIRouter
        The quick routes, and the costly ones.
    """
    quick = APIRouter(prefix="/api")
    costly = APIRouter(prefix="/api", route_class=CostlyRoute)
    _add_embedding(quick, costly, workspace)
    _add_labels(quick, costly, workspace)
    return [quick, costly]


def _add_embedding(quick: APIRouter, costly: APIRouter, workspace: Workspace) -> None:
    """Add what is said about all labels."""
    opened, second, image_map = workspace.opened, workspace.second, workspace.image_map

    @cache
    def about() -> dict[str, Any]:
        """What does not change."""
        return {
            **pages.about(opened),
            "is_report": False,
            "left_out": [],
            "compared_with": None if second is None else second.title,
            "takes_features": image_map is not None,
            "takes_pictures": image_map is not None and image_map.network is not None,
        }

    @lru_cache(maxsize=1)
    def label_map(*, is_ready: bool) -> dict[str, Any]:
        """The map: a sketch, or the final one, each made once."""
        return map_values(opened)

    @quick.get("/info")
    def info() -> JSONResponse:
        """What the embedding holds, what can be asked, and how far the map is."""
        return JSONResponse({**about(), "map": opened.map.status()})

    @costly.get("/map")
    def places() -> JSONResponse:
        """All labels in two dimensions, and groups to colour them by."""
        is_ready = opened.map.result is not None
        return JSONResponse(label_map(is_ready=is_ready))

    @costly.get("/columns")
    def columns() -> JSONResponse:
        """What columns hold, and how well they are predicted."""
        return JSONResponse(columns_of(opened))

    @costly.get("/column")
    def column(context: Name, column: Name = "", value: Name = "") -> JSONResponse:
        """One column over all labels, and how likely each has a value of it.

        Without a column: the tags that each label has.
        """
        return JSONResponse(column_of(opened.embedding, context, column, value))

    @costly.get("/hierarchy")
    def hierarchy() -> JSONResponse:
        """Parents of all labels, and nodes above them; null without a hierarchy."""
        return JSONResponse(hierarchy_lists(opened))

    @costly.get("/suspicious")
    def suspicious() -> JSONResponse:
        """Known cells that are unlikely, as predicted without themselves."""
        return JSONResponse(pages.suspicions(opened))

    @quick.get("/second")
    def other_map() -> JSONResponse:
        """Places of the labels in the second embedding, and how far each moved."""
        if second is None:
            raise OptionError(
                "there is nothing to compare with; start the explorer with "
                "--compare OTHER.phcle."
            )
        found, now = second.work.result, second.work.status()
        if found is None and now["failed"]:
            raise HTTPException(500, "the second map could not be computed.")
        if found is None:
            why = f"the second map is being computed ({now['stage']})."
            raise HTTPException(503, why, {"retry-after": "1"})
        return JSONResponse(found)


def _add_labels(quick: APIRouter, costly: APIRouter, workspace: Workspace) -> None:
    """Add what is said about some labels, new ones and pictures."""
    opened, embedding = workspace.opened, workspace.opened.embedding
    addresses = Addresses(opened)

    @quick.get("/search")
    def search(
        q: Typed = "", limit: Annotated[int, Query(ge=1, le=200)] = 10
    ) -> JSONResponse:
        """Labels and nodes that match what was typed, despite typing errors."""
        return JSONResponse(pages.found_for(opened, q, limit))

    @costly.get("/names")
    def names(
        row: Annotated[list[int], Query(max_length=MOST_NAMES)] = [],  # noqa: B006
        text: Typed = "",
    ) -> JSONResponse:
        """Names of rows, or rows of all labels with a text in their name or id."""
        rows = embedding.called.containing(text) if text else _checked(embedding, row)
        labels = [embedding.labels[i] for i in rows[:MOST_NAMES].tolist()]
        shown = list(map(embedding.name_of, labels))
        answer = {"rows": packed(rows, "u4"), "labels": labels, "names": shown}
        return JSONResponse(answer)

    @quick.get("/label")
    def label(
        label: Text,
        among: Annotated[list[Text], Query(max_length=MOST_COMPARED)] = [],  # noqa: B006
    ) -> JSONResponse:
        """What is near a label, or how near it is to some, and what is above it."""
        return JSONResponse(pages.label_page(opened, label, among))

    @quick.get("/row")
    def row(label: Text) -> JSONResponse:
        """What the tables know of a label, and what was predicted, with reasons."""
        own = embedding.resolve(label)
        (answer,) = pages.rows_of_labels(opened, [own])
        links = addresses.of(
            own, lambda n, _: f"api/picture?{urlencode({'label': own, 'n': n})}"
        )
        return JSONResponse({**answer, **links})

    @quick.get("/picture")
    def picture(label: Text, n: Annotated[int, Query(ge=0, le=100)] = 0) -> Response:
        """A picture of a label, from the folder of the embedding."""
        found = addresses.pictures_of(embedding.resolve(label))
        if n >= len(found):
            raise HTTPException(404, "there is no such picture.")
        return FileResponse(found[n][2])

    @quick.get("/explain")
    def explain(a: Text, b: Text) -> JSONResponse:
        """Why two labels are similar; the same as `phcle explain --json`."""
        return JSONResponse(embedding.explain(a, b, N_REASONS).to_dict())

    @costly.get("/node")
    def node(node: Text) -> JSONResponse:
        """A node of the hierarchy: its labels, and what they share."""
        return JSONResponse(pages.node_page(opened, node))

    @costly.post("/shared")
    def shared(
        rows: Annotated[list[int], Body(embed=True, max_length=1_000_000)],
    ) -> JSONResponse:
        """What the labels of some rows share."""
        found = _checked(embedding, rows)
        if len(found) < 2:
            raise OptionError("two labels or more share something. Give more of them.")
        return JSONResponse(shared_by(opened, found))

    @costly.post("/add")
    def add(form: NewLabelForm) -> JSONResponse:
        """Where a new label would stand. Nothing is stored."""
        return JSONResponse(landed(opened, *land(opened, form)))

    @quick.post("/understand")
    async def understand(request: Request) -> JSONResponse:
        """Related labels and attributes of a file of features (.npy) or a picture."""
        given = embedding, workspace.image_map, await request.body()
        found = await to_thread.run_sync(understood, *given, limiter=PICTURES)
        return JSONResponse(found)


def _checked(embedding: Any, rows: list[int]) -> Ints:
    """Rows in ascending order, each once; others than those of labels are refused."""
    if rows and not 0 <= min(rows) <= max(rows) < len(embedding):
        raise OptionError(f"rows must be from 0 to {len(embedding) - 1}.")
    return np.unique(np.array(rows, dtype=np.int64))
