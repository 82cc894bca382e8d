"""The HTTP API of the explorer.

FastAPI derives its schemas from the dataclasses of `phcle.answers`. See them at
`/api/openapi.json`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.concurrency import run_in_threadpool

from phcle.answers import Answer, Description, Explanation, Nearest
from phcle.explorer import answers, csv_export, page_answers
from phcle.explorer.attribute_query import Has, HasNot, parse_wanted
from phcle.explorer.filter_counts import Facets, facets
from phcle.explorer.gaps import Gaps, unknown_cells
from phcle.explorer.label_filters import Filters, found_rows, parse_filters
from phcle.explorer.label_table import (
    N_ROWS,
    AskedTable,
    LabelTable,
    csv_of_table,
    label_table,
)
from phcle.explorer.map_colours import (
    MapFile,
    attribute_colouring,
    difference_colouring,
)
from phcle.explorer.new_label import NewLabelForm, land, landed
from phcle.explorer.node_page import NodePage, node_page
from phcle.explorer.security import CostlyRoute
from phcle.explorer.suspicions import Suspicions, suspicions
from phcle.explorer.two_maps import TwoMaps, TwoMapsFile
from phcle.explorer.uploads import understood
from phcle.explorer.workspace import Workspace

A = TypeVar("A", bound=Answer)

Label = Annotated[
    str, Query(min_length=1, max_length=500, description="A label's id or its name.")
]
OptionalLabel = Annotated[
    str, Query(max_length=500, description="A label's id or its name, or nothing.")
]
Typed = Annotated[str, Query(max_length=200, description="What was typed so far.")]
Count = Annotated[int, Query(ge=1, le=200, description="Number of results, at most.")]
Format = Annotated[
    Literal["json", "csv"],
    Query(alias="format", description="JSON, or the table of the answer as CSV."),
]

FAILURES: dict[int | str, dict[str, Any]] = {
    status: {"model": answers.Failure, "description": why}
    for status, why in {
        400: "The request cannot be answered.",
        401: "A token is required.",
        403: "The request comes from another origin.",
        404: "No such label.",
        413: "The request is too large.",
        421: "The Host header does not name this server.",
        422: "A parameter is missing or out of range.",
        503: "The answer is being prepared; ask again in a second.",
    }.items()
}
AS_TABLE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/csv": {"schema": {"type": "string"}}}}
}
FILE_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/octet-stream": {
                "schema": {"type": "string", "format": "binary"}
            }
        },
    }
}


PICTURES = CapacityLimiter(1)
"""For uploaded files. One at a time: a picture of 79 megapixels takes 1.2 GB."""


def api_routers(workspace: Workspace, map_file: MapFile) -> list[APIRouter]:
    """Make all routes below /api.

    Parameters
    ----------
    workspace : Workspace
        The embeddings to answer about.
    map_file : MapFile
        The map.

    Returns
    -------
    list of APIRouter
        The quick routes, and the costly ones.
    """
    router = APIRouter(prefix="/api", responses=FAILURES)
    costly = APIRouter(prefix="/api", responses=FAILURES, route_class=CostlyRoute)
    _add_questions(router, workspace)
    _add_comparisons(router, costly, workspace)
    _add_table(costly, workspace)
    _add_completion(costly, workspace)
    _add_map(router, costly, workspace, map_file)
    _add_new_labels(router, costly, workspace)
    return [router, costly]


def _reply(
    answer: A,
    rows: Callable[[A], Iterable[csv_export.Row | csv_export.Pairs | Answer]],
    form: str,
    name: str,
) -> Response:
    """Send an answer as JSON, or the table in it as a CSV file."""
    if form == "json":
        return JSONResponse(answer.to_dict())
    return Response(
        csv_export.as_csv(rows(answer)),
        media_type="text/csv; charset=utf-8",
        headers={"content-disposition": f'attachment; filename="{name}.csv"'},
    )


def _add_questions(router: APIRouter, workspace: Workspace) -> None:
    """Add what the command line answers too, and search."""
    opened = workspace.opened

    @router.get("/info", response_model=answers.ExplorerInfo, responses=AS_TABLE)
    def info(form: Format = "json") -> Response:
        """What the embedding holds and how it was learned. CSV lists its contexts."""
        answer = page_answers.info(workspace)
        return _reply(answer, attrgetter("contexts"), form, "contexts")

    @router.get("/search")
    def search(q: Typed = "", limit: Count = 10) -> answers.LabelsFound:
        """Labels that match what was typed, by id or name, despite typing errors."""
        return page_answers.found_labels(opened, q, limit)

    @router.get("/nodes")
    def nodes(q: Typed = "", limit: Count = 10) -> answers.NodesFound:
        """Nodes of the hierarchy that match what was typed."""
        return page_answers.found_nodes(opened, q, limit)

    @router.get("/attributes")
    def attributes(q: Typed = "", limit: Count = 10) -> answers.AttributesFound:
        """Attributes that match what was typed."""
        return page_answers.found_attributes(opened, q, limit)

    @router.get("/nearest", response_model=Nearest, responses=AS_TABLE)
    async def nearest(label: Label, k: Count = 10, form: Format = "json") -> Response:
        """The labels most similar to a label; the same as `phcle nearest --json`."""
        if opened.finds_quickly(label, k):
            (answer,) = opened.embedding.neighbours([label], k)
        else:  # a search among all labels must not hold up the event loop
            search = opened.embedding.neighbours
            (answer,) = await run_in_threadpool(search, [label], k)
        return _reply(answer, attrgetter("neighbours"), form, "neighbours")

    @router.get("/describe", response_model=Description, responses=AS_TABLE)
    def describe(label: Label, k: Count = 6, form: Format = "json") -> Response:
        """Related labels and attributes; the same as `phcle describe --json`."""
        answer = opened.embedding.describe(label, k)
        return _reply(answer, csv_export.described_rows, form, "attributes")

    @router.get("/explain", response_model=Explanation, responses=AS_TABLE)
    def explain(a: Label, b: Label, k: Count = 5, form: Format = "json") -> Response:
        """Why two labels are similar; the same as `phcle explain --json`."""
        answer = opened.embedding.explain(a, b, k)
        return _reply(answer, csv_export.explained_rows, form, "explanation")

    @router.get("/label")
    def label(label: Label, k: Count = 15) -> answers.LabelPage:
        """All that the page of a label shows."""
        return page_answers.label_page(opened, label, k)


def _add_comparisons(
    router: APIRouter, costly: APIRouter, workspace: Workspace
) -> None:
    """Add comparisons of labels and of embeddings, and search by attributes."""
    opened = workspace.opened

    @costly.get("/compare", response_model=answers.Comparison, responses=AS_TABLE)
    def compare(
        label: Annotated[
            list[Annotated[str, Query(min_length=1, max_length=500)]],
            Query(min_length=2, max_length=8, description="Ids or names."),
        ],
        table: Literal["similarities", "attributes"] = "similarities",
        form: Format = "json",
    ) -> Response:
        """A few labels side by side."""
        answer = page_answers.comparison(opened, label)
        if table == "similarities":
            return _reply(answer, csv_export.similarity_rows, form, table)
        return _reply(answer, csv_export.compared_rows, form, table)

    @costly.get("/match", response_model=answers.FittingLabels, responses=AS_TABLE)
    def match(
        has: Has = [],  # noqa: B006
        has_not: HasNot = [],  # noqa: B006
        k: Count = 20,
        form: Format = "json",
    ) -> Response:
        """Labels that have some attributes and lack others, best first."""
        answer = page_answers.fitting_labels(opened, parse_wanted(has, has_not), k)
        return _reply(answer, csv_export.fitting_rows, form, "labels")

    @costly.get("/differences", response_model=answers.Differences, responses=AS_TABLE)
    def differences(
        n: Count = 50,
        start: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
        form: Format = "json",
    ) -> Response:
        """Labels whose neighbours differ most between the two embeddings."""
        answer = page_answers.differences(workspace, n, start)
        return _reply(answer, attrgetter("labels"), form, "differences")

    @router.get("/side-by-side", response_model=answers.SideBySide, responses=AS_TABLE)
    def side_by_side(label: Label, k: Count = 10, form: Format = "json") -> Response:
        """The neighbours of a label in both embeddings."""
        answer = page_answers.side_by_side(workspace, label, k)
        return _reply(answer, csv_export.side_by_side_rows, form, "side-by-side")

    two_maps_file = TwoMapsFile(workspace)

    @costly.get("/two-maps", response_model=TwoMaps)
    def two_maps(request: Request) -> Response:
        """Both embeddings as maps in the same coordinates, and what changed."""
        return two_maps_file.content().response(request)


def _add_table(costly: APIRouter, workspace: Workspace) -> None:
    """Add the table of all labels, and what passes filters."""
    opened = workspace.opened

    @costly.get("/table", response_model=LabelTable, responses=AS_TABLE)
    def table(
        asked: AskedTable,
        page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
        size: Annotated[int, Query(ge=1, le=500)] = N_ROWS,
        form: Format = "json",
    ) -> Response:
        """Labels with their attributes. CSV lists all that pass the filters."""
        if form == "csv":
            return StreamingResponse(
                _joined(csv_of_table(opened, asked)),
                media_type="text/csv; charset=utf-8",
                headers={"content-disposition": 'attachment; filename="labels.csv"'},
            )
        return JSONResponse(label_table(opened, asked, page, size).to_dict())

    @costly.get("/rows")
    def rows(filters: Filters = []) -> answers.FoundRows:  # noqa: B006
        """Rows of the labels that pass filters, for the map."""
        return found_rows(opened, parse_filters(filters))

    @costly.get("/facets")
    def counts(filters: Filters = []) -> Facets:  # noqa: B006
        """Labels by the values of each field, under the filters of the others."""
        return facets(opened, parse_filters(filters))

    @costly.get("/node")
    def node(node: Label) -> NodePage:
        """A node of the hierarchy: its labels, what they share, and what is odd."""
        return node_page(opened, node)


def _add_completion(costly: APIRouter, workspace: Workspace) -> None:
    """Add unknown cells, and known ones that are unlikely."""
    opened = workspace.opened

    @costly.get("/gaps")
    def gaps(
        label: OptionalLabel = "",
        column: Annotated[str, Query(max_length=1000)] = "",
        page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
        least_sure_first: bool = False,
    ) -> Gaps:
        """Unknown cells of a label, or of a column given as ["context","name"]."""
        return unknown_cells(
            opened, label, column, page, least_sure_first=least_sure_first
        )

    @costly.get("/suspicious")
    def suspicious() -> Suspicions:
        """Known cells that are unlikely, as predicted without themselves."""
        return suspicions(opened)


def _joined(lines: Iterable[str], n: int = 500) -> Iterator[str]:
    """Lines in larger pieces, which are faster to send."""
    lines = iter(lines)
    while piece := "".join(islice(lines, n)):
        yield piece


def _add_map(
    router: APIRouter, costly: APIRouter, workspace: Workspace, map_file: MapFile
) -> None:
    """Add the map, its colours and the state of the background work."""
    opened = workspace.opened

    @router.get("/status")
    async def status() -> answers.Status:
        """How far the background work is."""
        return workspace.status()

    @costly.get("/map", response_model=answers.MapData)
    def label_map(request: Request) -> Response:
        """All labels in two dimensions, and ways to colour them."""
        return map_file.content().response(request)

    @costly.get("/colour")
    def colour(
        context: Annotated[str, Query(max_length=200)],
        column: Annotated[str, Query(max_length=200)],
    ) -> answers.MapColouring:
        """Colours of the map by an attribute, observed or predicted."""
        return attribute_colouring(opened.on_map, context, column)

    @router.get("/place")
    def place(label: Label) -> answers.Place:
        """Where a label is on the map, or would be if the map showed all labels."""
        found = opened.embedding.resolve(label)
        x, y = opened.places_of([found])[0].tolist()
        return answers.Place(found, opened.embedding.name_of(found), x, y)

    @costly.get("/colour/differences")
    def colour_differences() -> answers.MapColouring | None:
        """Colours of the map by the neighbours that two embeddings share.

        Null while they are being computed.
        """
        return difference_colouring(workspace)


def _add_new_labels(router: APIRouter, costly: APIRouter, workspace: Workspace) -> None:
    """Add new labels and pictures."""
    opened = workspace.opened

    @costly.post("/add")
    def add(form: NewLabelForm, k: Count = 10) -> answers.LandedLabel:
        """Where a new label would stand. Nothing is stored."""
        return landed(opened, form, k)

    @costly.post(
        "/add/export",
        response_class=Response,
        responses={200: {"content": {"application/octet-stream": {}}}},
    )
    def export(form: NewLabelForm) -> Response:
        """The embedding with the new label, as a file."""
        whole, _ = land(opened, form)
        with TemporaryDirectory(prefix="phcle-") as folder:
            path = Path(folder) / "more.phcle"
            whole.save(path)
            content = path.read_bytes()
        return Response(
            content,
            media_type="application/octet-stream",
            headers={"content-disposition": 'attachment; filename="more.phcle"'},
        )

    @router.post("/understand", openapi_extra=FILE_BODY)
    async def understand(request: Request, k: Count = 6) -> answers.UnderstoodFile:
        """Related labels and attributes of a file of features (.npy) or a picture."""
        content = await request.body()
        return await to_thread.run_sync(
            understood, workspace, content, k, limiter=PICTURES
        )
