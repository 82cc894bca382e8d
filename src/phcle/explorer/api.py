"""The JSON side of the explorer: every page's answers, described by OpenAPI."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from phcle.explorer import csv_export, page_answers, schemas
from phcle.explorer.attribute_query import Has, HasNot, parse_wanted
from phcle.explorer.map_colours import MapFile, attribute_colouring
from phcle.explorer.new_label import NewLabel, Value, land, landed
from phcle.explorer.uploads import understood
from phcle.explorer.workspace import Workspace
from phcle.uses import named_answers as answers

__all__ = ["api_router"]

Answer = dict[str, Any]

Label = Annotated[
    str, Query(min_length=1, max_length=500, description="A label's id or its name.")
]
Typed = Annotated[str, Query(max_length=200, description="What was typed so far.")]
Count = Annotated[int, Query(ge=1, le=200, description="How many, at most.")]
Format = Annotated[
    Literal["json", "csv"], Query(alias="format", description="How to answer.")
]

FAILURES: dict[int | str, dict[str, Any]] = {
    status: {"model": schemas.Failure, "description": why}
    for status, why in {
        400: "Something that cannot be answered as asked.",
        401: "A token is needed.",
        403: "Asked from another origin.",
        404: "No such label.",
        413: "Too much was sent.",
        421: "Not a name of this server.",
        422: "A parameter that is missing or out of range.",
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


def api_router(workspace: Workspace, map_file: MapFile) -> APIRouter:
    """All routes below /api."""
    router = APIRouter(prefix="/api", responses=FAILURES)
    _add_questions(router, workspace)
    _add_comparisons(router, workspace)
    _add_map(router, workspace, map_file)
    _add_new_labels(router, workspace)
    return router


def _reply(
    answer: Answer,
    as_rows: Callable[[], Iterable[Mapping[str, Any]]],
    form: str,
    name: str,
) -> Response:
    """An answer as JSON, or the table in it as a file."""
    if form == "json":
        return Response(
            json.dumps(answer, ensure_ascii=False, allow_nan=False),
            media_type="application/json",
        )
    return Response(
        csv_export.as_csv(as_rows()),
        media_type="text/csv; charset=utf-8",
        headers={"content-disposition": f'attachment; filename="{name}.csv"'},
    )


def _add_questions(router: APIRouter, workspace: Workspace) -> None:
    """What the command line answers too, and search."""
    opened = workspace.opened

    @router.get("/info", response_model=schemas.Info, responses=AS_TABLE)
    def info(form: Format = "json") -> Response:
        """What the embedding holds and how it was learned; the table: its contexts."""
        answer = page_answers.info(workspace)
        return _reply(answer, lambda: answer["contexts"], form, "contexts")

    @router.get("/search", response_model=schemas.LabelsFound)
    def search(q: Typed = "", limit: Count = 10) -> Answer:
        """Labels that somebody may mean, by id or name, typing slips forgiven."""
        return page_answers.found_labels(opened, q, limit)

    @router.get("/nodes", response_model=schemas.NodesFound)
    def nodes(q: Typed = "", limit: Count = 10) -> Answer:
        """Nodes of the hierarchy that somebody may mean."""
        return page_answers.found_nodes(opened, q, limit)

    @router.get("/attributes", response_model=schemas.AttributesFound)
    def attributes(q: Typed = "", limit: Count = 10) -> Answer:
        """Attributes that somebody may mean."""
        return page_answers.found_attributes(opened, q, limit)

    @router.get("/nearest", response_model=schemas.Nearest, responses=AS_TABLE)
    async def nearest(label: Label, k: Count = 10, form: Format = "json") -> Response:
        """The labels most similar to a label, as `phcle nearest` has them."""
        if opened.neighbours.table is None:  # a search takes long
            answer = await run_in_threadpool(page_answers.nearest, opened, label, k)
        else:
            answer = page_answers.nearest(opened, label, k)
        return _reply(answer, lambda: answer["neighbours"], form, "neighbours")

    @router.get("/describe", response_model=schemas.Described, responses=AS_TABLE)
    def describe(label: Label, k: Count = 6, form: Format = "json") -> Response:
        """Related labels and attributes, as `phcle describe` has them."""
        answer = answers.description(opened.embedding, opened.resolve(label), k)
        return _reply(
            answer, lambda: csv_export.described_rows(answer), form, "attributes"
        )

    @router.get("/explain", response_model=schemas.Explanation, responses=AS_TABLE)
    def explain(a: Label, b: Label, k: Count = 5, form: Format = "json") -> Response:
        """Why two labels are close, as `phcle explain` has it."""
        answer = page_answers.explanation(opened, a, b, k)
        return _reply(
            answer, lambda: csv_export.explained_rows(answer), form, "explanation"
        )

    @router.get("/label", response_model=schemas.LabelPage)
    def label(label: Label, k: Count = 15) -> Answer:
        """All that a label's page shows."""
        return page_answers.label_page(opened, label, k)


def _add_comparisons(router: APIRouter, workspace: Workspace) -> None:
    opened = workspace.opened

    @router.get("/compare", response_model=schemas.Comparison, responses=AS_TABLE)
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
        as_rows = (
            csv_export.similarity_rows
            if table == "similarities"
            else csv_export.compared_rows
        )
        return _reply(answer, lambda: as_rows(answer), form, table)

    @router.get("/match", response_model=schemas.FittingLabels, responses=AS_TABLE)
    def match(
        has: Has = [],  # noqa: B006
        has_not: HasNot = [],  # noqa: B006
        k: Count = 20,
        form: Format = "json",
    ) -> Response:
        """Labels that have some attributes and lack others, best first."""
        answer = page_answers.fitting_labels(opened, parse_wanted(has, has_not), k)
        return _reply(answer, lambda: csv_export.fitting_rows(answer), form, "labels")

    @router.get("/differences", response_model=schemas.Differences, responses=AS_TABLE)
    def differences(
        n: Count = 50,
        start: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
        form: Format = "json",
    ) -> Response:
        """Labels whose neighbourhoods differ most between the two embeddings."""
        answer = page_answers.differences(workspace, n, start)
        return _reply(answer, lambda: answer["labels"], form, "differences")

    @router.get("/side-by-side", response_model=schemas.SideBySide, responses=AS_TABLE)
    def side_by_side(label: Label, k: Count = 10, form: Format = "json") -> Response:
        """The neighbours of a label in both embeddings."""
        answer = page_answers.side_by_side(workspace, label, k)
        as_rows = csv_export.side_by_side_rows
        return _reply(answer, lambda: as_rows(answer), form, "side-by-side")


def _add_map(router: APIRouter, workspace: Workspace, map_file: MapFile) -> None:
    opened = workspace.opened

    @router.get("/status", response_model=schemas.Status)
    async def status() -> Answer:
        """How far the preparation is."""
        return workspace.status()

    @router.get("/map", response_model=schemas.MapData)
    def label_map() -> Response:
        """All labels in two dimensions, and ways to colour them."""
        return Response(map_file.content(), media_type="application/json")

    @router.get("/colour", response_model=schemas.Colouring)
    def colour(
        context: Annotated[str, Query(max_length=200)],
        column: Annotated[str, Query(max_length=200)],
    ) -> Answer:
        """The map's colours by an attribute, observed or predicted."""
        return attribute_colouring(opened, context, column)


def _add_new_labels(router: APIRouter, workspace: Workspace) -> None:
    opened = workspace.opened

    @router.post("/add", response_model=schemas.Added)
    def add(form: schemas.NewLabelForm, k: Count = 10) -> Answer:
        """Where a new label lands; nothing is kept."""
        return landed(opened, _new_label(form), k)

    @router.post(
        "/add/export",
        response_class=Response,
        responses={200: {"content": {"application/octet-stream": {}}}},
    )
    def export(form: schemas.NewLabelForm) -> Response:
        """A file of the embedding with the new label in it."""
        whole, _ = land(opened, _new_label(form))
        with TemporaryDirectory(prefix="phcle-") as folder:
            path = Path(folder) / "more.phcle"
            whole.save(path)
            content = path.read_bytes()
        return Response(
            content,
            media_type="application/octet-stream",
            headers={"content-disposition": 'attachment; filename="more.phcle"'},
        )

    @router.post(
        "/understand", response_model=schemas.Understood, openapi_extra=FILE_BODY
    )
    async def understand(request: Request, k: Count = 6) -> Answer:
        """Related labels and attributes of a file of features (.npy) or a picture."""
        content = await request.body()
        return await run_in_threadpool(understood, workspace, content, k)


def _new_label(form: schemas.NewLabelForm) -> NewLabel:
    return NewLabel(
        form.label,
        form.name,
        form.parents,
        [Value(x.context, x.column, x.value) for x in form.values],
        form.texts,
    )
