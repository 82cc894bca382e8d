"""The HTML pages: templates filled with the answers that the HTTP API gives too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse
from fastapi.routing import APIRoute

from phcle import __version__
from phcle.embedding.cell_texts import interval_text, number_text
from phcle.embedding.search import shown_percentile
from phcle.explorer import page_answers
from phcle.explorer.answers import WantedAttribute
from phcle.explorer.assets import Assets
from phcle.explorer.attribute_query import Has, HasNot, attribute_text, parse_wanted
from phcle.explorer.gaps import gaps_by_column, unknown_cells
from phcle.explorer.label_filters import branch_filter
from phcle.explorer.label_table import AskedTable, label_table
from phcle.explorer.node_page import node_page
from phcle.explorer.security import CostlyRoute
from phcle.explorer.workspace import Workspace
from phcle.web import MAP_SCRIPTS

N_NEIGHBOURS = 15
N_DIFFERENT = 50
N_FITTING = 30

Label = Annotated[str, Query(max_length=500)]
Labels = Annotated[list[str], Query(alias="label", max_length=20)]

SECTIONS = (
    ("/", "Map"),
    ("/table", "Table"),
    ("/compare", "Compare"),
    ("/match", "Describe"),
    ("/complete", "Complete"),
    ("/add", "Add a label"),
    ("/understand", "Understand"),
    ("/embeddings", "Two embeddings"),
    ("/about", "About"),
)


class Pages:
    """All HTML pages.

    Parameters
    ----------
    workspace : Workspace
        The embeddings to show.
    assets : Assets
        The scripts and styles that pages load.
    """

    def __init__(self, workspace: Workspace, assets: Assets) -> None:
        from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

        self.workspace = workspace
        self.environment = Environment(
            loader=ChoiceLoader(
                [PackageLoader(x) for x in ("phcle.explorer", "phcle.web")]
            ),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.environment.globals.update(
            static=assets.address,
            map_scripts=MAP_SCRIPTS,
            version=__version__,
            sections=SECTIONS,
            attribute_text=attribute_text,
            branch_filter=branch_filter,
            title=workspace.opened.title,
        )
        self.environment.filters.update(
            percent="{:.0%}".format,
            percentile=shown_percentile,
            number="{:.3g}".format,
            number_text=number_text,
            interval=lambda x: interval_text(x.low, x.high, x.value),
            pair_label=lambda label: ("label", label),
            pair_wanted=_pair_wanted,
        )

    def render(self, page: str, status: int = 200, **values: Any) -> HTMLResponse:
        """Fill the template of a page.

        Parameters
        ----------
        page : str
            Name of the page, which is that of its template.
        status : int, default=200
            The HTTP status.
        **values : object
            What the template shows.

        Returns
        -------
        HTMLResponse
            The page.
        """
        path = "/" if page == "map" else f"/{page}"
        template = self.environment.get_template(f"{page}.html.j2")
        return HTMLResponse(template.render(page=path, **values), status)

    def failure(
        self, status: int, message: str, instead: Sequence[tuple[str, str]] = ()
    ) -> HTMLResponse:
        """Make a page about an error.

        Parameters
        ----------
        status : int
            The HTTP status.
        message : str
            What went wrong.
        instead : sequence of (str, str), default=()
            Names and addresses of pages that may be meant.

        Returns
        -------
        HTMLResponse
            The page.
        """
        return self.render(
            "error", status, message=message, code=status, instead=instead
        )

    def routers(self) -> list[APIRouter]:
        """Make the routes of all pages.

        Returns
        -------
        list of APIRouter
            The quick routes, and the costly ones.
        """
        router, costly = (
            APIRouter(
                include_in_schema=False,
                default_response_class=HTMLResponse,
                route_class=kind,
            )
            for kind in (APIRoute, CostlyRoute)
        )
        workspace, opened = self.workspace, self.workspace.opened

        @router.get("/")
        def label_map() -> HTMLResponse:
            return self.render("map", info=page_answers.info(workspace))

        @router.get("/label")
        def label(label: Label) -> HTMLResponse:
            answer = page_answers.label_page(opened, label, N_NEIGHBOURS)
            return self.render("label", answer=answer)

        @costly.get("/node")
        def node(node: Label) -> HTMLResponse:
            return self.render("node", answer=node_page(opened, node))

        @costly.get("/table")
        def table(
            asked: AskedTable,
            page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
        ) -> HTMLResponse:
            kept = [
                *(("filter", x) for x in asked.filters),
                *(("column", x) for x in asked.columns),
            ]
            answer = label_table(opened, asked, page)
            return self.render("table", answer=answer, kept=kept)

        @costly.get("/complete")
        def complete(
            label: Label = "",
            column: Annotated[str, Query(max_length=1000)] = "",
            page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
            least_sure_first: bool = False,
        ) -> HTMLResponse:
            answer = None
            if label.strip() or column:
                answer = unknown_cells(
                    opened, label, column, page, least_sure_first=least_sure_first
                )
            return self.render(
                "complete",
                answer=answer,
                columns=gaps_by_column(opened),
                digest=opened.digest,
                is_predicted=bool(opened.embedding.predictions),
                least_sure_first=least_sure_first,
            )

        @costly.get("/compare")
        def compare(labels: Labels = []) -> HTMLResponse:  # noqa: B006
            asked = [label for label in labels if label.strip()]
            found = list(dict.fromkeys(map(opened.embedding.resolve, asked)))
            # A ninth label is left out, and the page says so: the others stay chosen.
            most = page_answers.MOST_COMPARED
            chosen, left_out = (
                [opened.named(x) for x in part] for part in (found[:most], found[most:])
            )
            answer = None
            if len(chosen) > 1:
                answer = page_answers.comparison(opened, found[:most])
            return self.render(
                "compare",
                answer=answer,
                chosen=chosen,
                left_out=left_out,
                most=most,
                examples=() if chosen else page_answers.example_pairs(opened),
            )

        @costly.get("/match")
        def match(has: Has = [], has_not: HasNot = []) -> HTMLResponse:  # noqa: B006
            wanted = parse_wanted(has, has_not)
            fitting = page_answers.fitting_labels
            answer = fitting(opened, wanted, N_FITTING) if wanted else None
            return self.render(
                "match",
                answer=answer,
                info=page_answers.info(workspace),
                examples=_examples(workspace),
            )

        @router.get("/add")
        def add() -> HTMLResponse:
            return self.render("add", info=page_answers.info(workspace))

        @router.get("/understand")
        def understand() -> HTMLResponse:
            info = page_answers.info(workspace)
            return self.render("understand", info=info)

        @costly.get("/embeddings")
        def embeddings(
            label: Label = "",
            start: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
        ) -> HTMLResponse:
            answer = chosen = None
            if workspace.other is not None:
                answer = page_answers.differences(workspace, N_DIFFERENT, start)
                if label.strip():
                    chosen = page_answers.side_by_side(workspace, label, 10)
            return self.render(
                "embeddings", answer=answer, chosen=chosen, start=start, n=N_DIFFERENT
            )

        @router.get("/about")
        def about() -> HTMLResponse:
            return self.render("about", info=page_answers.info(workspace))

        return [router, costly]


def _examples(workspace: Workspace) -> list[dict[str, str]]:
    """A few attributes to start with: the most common of each context."""
    found = []
    for context in workspace.opened.embedding.predicting:
        for i in (-context.presence).argsort(kind="stable")[:8]:
            found.append({"context": context.name, "name": context.columns[i]})
    return found


def _pair_wanted(wanted: WantedAttribute) -> tuple[str, str]:
    """Key and value of a wanted attribute in a URL."""
    key = "has" if wanted.present else "not"
    return key, attribute_text(wanted.context, wanted.name)
