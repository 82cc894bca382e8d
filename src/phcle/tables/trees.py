"""Trees: SKOS vocabularies, OWL ontologies and Newick trees.

rdflib reads Turtle, RDF/XML, JSON-LD and others. Nothing is downloaded: JSON-LD files
with a remote context are refused, and imports of an ontology are ignored.
"""

from __future__ import annotations

import json
import logging
import re
import threading
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np

from phcle.contexts.counts import RelationalContext
from phcle.contexts.hierarchy import Hierarchy
from phcle.contexts.labels import normal
from phcle.contexts.protocol import Context
from phcle.contexts.values import DescriptiveContext
from phcle.errors import ContextError, FileError, some
from phcle.files.reading import naming
from phcle.files.text import read_text
from phcle.optional_imports import import_optional
from phcle.tables.reader import errors_name

FORMATS = {
    **{".ttl": "turtle", ".n3": "n3", ".nt": "nt"},
    **dict.fromkeys((".jsonld", ".json"), "json-ld"),
    **dict.fromkeys((".rdf", ".xml", ".owl"), "xml"),
}
OBO_DEFINITION = "http://purl.obolibrary.org/obo/IAO_0000115"
OBO_SYNONYM = "http://www.geneontology.org/formats/oboInOwl#hasExactSynonym"

NESTED_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)")
"""A reference to another entity in the value of an entity. Entities within entities
grow by powers: ten lines can stand for gigabytes."""

SUPPORT = re.compile(r"[\d.]*")
"""How sure a branching is, which many programs write in the place of its name."""

FARTHEST = 100.0
"""Lengths count as this many times the median at most, and as that part of it at least:
a branch of no length would tie two nodes together for good."""

Texts = dict[Any, list[tuple[int, str, str]]]
"""By node: how far a language is from the one asked for, the language, and the text.
The distance is 0 for "en", 1 for "en-GB", 2 for none and 3 for another one."""

OTHER = 3
"""The distance of another language."""

LOG_LEVEL = threading.Lock()
"""Held while rdflib's messages are off."""


def from_skos(
    source: Any, *, language: str = "en", name: str | None = None
) -> Thesaurus:
    """Read a SKOS vocabulary: broader terms, preferred labels and definitions.

    Parameters
    ----------
    source : path or rdflib.Graph
        A file (.ttl, .rdf, .xml, .jsonld, .json, .nt, .n3) or a graph.
    language : str, default "en"
        Language of names and texts. A concept without a name in this language gets a
        name without a language, or else a name in another language.
    name : str, optional
        Name of the thesaurus. By default it is named after the file.

    Returns
    -------
    Thesaurus
        Nodes are named by the last part of their address, or by the whole address
        where two would be the same. Texts are alternative labels, definitions and
        notes. Blank nodes are skipped: their children become children of their parents.
    """
    graph, name = _graph(source, name)
    from rdflib.namespace import SKOS

    pairs = [*graph.subject_objects(SKOS.broader)]
    pairs += [(low, high) for high, low in graph.subject_objects(SKOS.narrower)]
    texts = (SKOS.altLabel, SKOS.definition, SKOS.scopeNote, SKOS.note)
    with errors_name(source):
        return _thesaurus(graph, name, pairs, (SKOS.prefLabel,), texts, language)


def from_owl(
    source: Any, *, language: str = "en", name: str | None = None
) -> Thesaurus:
    """Read an OWL ontology or RDFS schema: subclasses, labels, comments and synonyms.

    Parameters
    ----------
    source : path or rdflib.Graph
        A file (.owl, .ttl, .rdf, .xml, .jsonld, .json, .nt, .n3) or a graph.
    language : str, default "en"
        Language of names and texts, as for `from_skos`.
    name : str, optional
        Name of the thesaurus. By default it is named after the file.

    Returns
    -------
    Thesaurus
        Nodes are named as by `from_skos`. Named members of an intersection are parents
        of the class that it defines; other restrictions are ignored.
    """
    graph, name = _graph(source, name)
    from rdflib import URIRef
    from rdflib.namespace import OWL, RDFS, SKOS

    pairs = [*graph.subject_objects(RDFS.subClassOf)]
    for low, high in [*pairs, *graph.subject_objects(OWL.equivalentClass)]:
        for members in graph.objects(high, OWL.intersectionOf):
            pairs += [(low, member) for member in graph.items(members)]
    pairs = [(low, high) for low, high in pairs if high != OWL.Thing]
    titles = (RDFS.label, SKOS.prefLabel)
    definition, synonym = map(URIRef, (OBO_DEFINITION, OBO_SYNONYM))
    texts = (synonym, SKOS.altLabel, definition, SKOS.definition, RDFS.comment)
    with errors_name(source):
        return _thesaurus(graph, name, pairs, titles, texts, language)


def _texts(graph: Any, terms: Iterable[Any], language: str) -> Texts:
    """Texts of nodes, term by term; references to other nodes are ignored."""
    found: Texts = defaultdict(list)
    wanted = language.lower()
    for term in terms:
        pairs = graph.subject_objects(term)
        for node, text in sorted(pairs, key=lambda pair: str(pair[1])):
            if hasattr(text, "language"):
                own = (text.language or "").lower()
                is_same = own.partition("-")[0] == wanted.partition("-")[0]
                distance = int(own != wanted) if is_same else OTHER if own else 2
                found[node].append((distance, text.language or "", str(text).strip()))
    return found


def _thesaurus(
    graph: Any,
    name: str,
    pairs: Iterable[tuple[Any, Any]],
    of_names: Iterable[Any],
    of_texts: Iterable[Any],
    language: str,
) -> Thesaurus:
    """Collect edges, names and texts of all nodes with an address."""
    titles = _texts(graph, of_names, language)
    texts = _texts(graph, of_texts, language)
    edges = list(dict.fromkeys(_without_blanks(pairs)))
    if not edges:
        raise ContextError(
            f"{name!r} states no node above another; check that the file is a "
            "taxonomy, and that its kind is right (SKOS or OWL)."
        )
    named = list(chain.from_iterable(titles.values()))
    if named and all(distance == OTHER for distance, _, _ in named):
        raise ContextError(
            f"{name!r} has no name in the language {language!r}; it has "
            f"{some(sorted({language for _, language, _ in named}))}."
        )
    short = _short_names(dict.fromkeys(chain.from_iterable(edges)))
    kept = tuple((short[low], short[high]) for low, high in edges)
    Hierarchy.from_edges(kept, name=name)  # refuses cycles, with their nodes
    about: dict[str, str] = {}
    for node, label in short.items():
        near = [x.rstrip(".") for far, _, x in texts.get(node, ()) if far < OTHER]
        about[label] = ". ".join(filter(None, dict.fromkeys(near)))
    names = {x: min(titles[node])[2] for node, x in short.items() if node in titles}
    return Thesaurus(name, kept, _filled(names), _filled(about))


def _filled(texts: Mapping[str, str]) -> dict[str, str]:
    return {label: text for label, text in texts.items() if text}


def _without_blanks(pairs: Iterable[tuple[Any, Any]]) -> Iterator[tuple[Any, Any]]:
    """Edges between named nodes; a chain through blank nodes becomes one edge."""
    from rdflib import URIRef

    above: dict[Any, list[Any]] = {}
    for low, high in pairs:
        above.setdefault(low, []).append(high)
    for low in above:
        if not isinstance(low, URIRef):
            continue
        queue, seen = list(above[low]), set()
        for node in queue:  # grows while we walk it
            if isinstance(node, URIRef):
                yield low, node
            elif node not in seen:
                seen.add(node)
                queue += above.get(node, [])


def _short_names(nodes: Iterable[Any]) -> dict[Any, str]:
    """The last part of each address, or the whole where two would be the same."""
    last = {x: re.split("[/#]", str(x).rstrip("/#"))[-1] for x in nodes}
    n = Counter(last.values())
    return {x: own if own and n[own] == 1 else str(x) for x, own in last.items()}


def _graph(source: Any, name: str | None) -> tuple[Any, str]:
    """The statements of a file, and the name of the thesaurus."""
    rdflib = import_optional("rdflib", extra="ontologies", purpose="SKOS or OWL")
    if isinstance(source, rdflib.Graph):
        return source, name or "taxonomy"
    path = Path(source)
    text = read_text(path)
    format = FORMATS.get(path.suffix.lower())
    if format is None:
        raise FileError(
            f"{path}: must end in {', '.join(FORMATS)}; the ending says how to read it."
        )
    if format == "xml" and not text.lstrip("\ufeff \t\r\n").startswith("<"):
        format = "turtle"  # .owl may be either
    if format == "json-ld":
        _check_json(text, path)
    if format == "xml":
        _check_xml(text, path)
    # Every format has errors of its own.
    with (
        naming(path, f"cannot be read as {format}", Exception),
        warnings.catch_warnings(),
        _quiet_rdflib(),
    ):
        # rdflib's own parsers use deprecated parts of rdflib.
        warnings.simplefilter("ignore", DeprecationWarning)
        graph = rdflib.Graph().parse(data=text, format=format)
    return graph, name or path.stem


@contextmanager
def _quiet_rdflib() -> Iterator[None]:
    """Drop what rdflib logs: addresses as the file has them, with any control codes.

    One at a time, so that every thread restores the level that it found.
    """
    logger = logging.getLogger("rdflib")
    with LOG_LEVEL:
        level = logger.level
        logger.setLevel(logging.CRITICAL + 1)
        try:
            yield
        finally:
            logger.setLevel(level)


def _check_xml(text: str, path: Path) -> None:
    """Refuse entities that grow, before rdflib joins them piece by piece.

    Ontology editors declare an entity for each namespace, so plain ones are allowed.
    """

    def declared(name: str, is_parameter: bool, value: str | None, *_: Any) -> None:
        if is_parameter or value is None or NESTED_ENTITY.search(value):
            raise FileError(
                f"{path}: declares the XML entity {name[:40]!r} from a file or from "
                "other entities; save it without entities."
            )

    if expat.version_info < (2, 4):
        raise FileError(
            f"{path}: this Python has {expat.EXPAT_VERSION}, which does not refuse "
            "entities that grow without end; 2.4 and later do, so update Python."
        )
    parser = expat.ParserCreate()
    parser.EntityDeclHandler = declared
    with naming(path, "cannot be read as xml", expat.ExpatError):
        parser.Parse(text.encode(), True)


def _check_json(text: str, path: Path) -> None:
    """Refuse JSON-LD that would make rdflib download something."""

    def check(part: dict[str, Any]) -> None:
        given = part.get("@context")
        for address in (
            *(given if isinstance(given, list) else [given]),
            part.get("@import"),
        ):
            if isinstance(address, str):
                raise FileError(
                    f"{path}: its context {address!r} lies elsewhere, and nothing is "
                    "fetched; put the context itself into the file."
                )

    with naming(path, "is not JSON", (ValueError, RecursionError)):
        json.loads(text, object_hook=check)


FEW_TEXTS = 50
"""Below this many texts, words that occur in one text count too: few texts share few
words."""


@dataclass(frozen=True)
class Thesaurus:
    """A taxonomy with names and texts, as vocabularies and ontologies have.

    Attributes
    ----------
    name : str
        Name of the thesaurus and of its taxonomy as a context.
    edges : tuple of (str, str)
        Pairs of child and parent.
    names : mapping
        Readable names by node.
    texts : mapping
        Texts by node; nodes may lack one.

    Examples
    --------
    >>> pets = Thesaurus("pets", (("cat", "pet"), ("dog", "pet")))
    >>> pets.hierarchy().labels
    ('cat', 'dog')
    """

    name: str
    edges: tuple[tuple[str, str], ...] = field(repr=False)
    names: Mapping[str, str] = field(default_factory=dict, repr=False)
    texts: Mapping[str, str] = field(default_factory=dict, repr=False)

    def hierarchy(self, **options: Any) -> RelationalContext:
        """Return the taxonomy as a context.

        Parameters
        ----------
        **options : object
            Arguments of `RelationalContext.from_hierarchy`.

        Returns
        -------
        RelationalContext
            The context, with the name of the thesaurus unless `name` is given.
        """
        return RelationalContext.from_hierarchy(
            self.edges, **{"name": self.name, **options}
        )

    def descriptions(self, **options: Any) -> DescriptiveContext:
        """Return the texts as a context.

        Parameters
        ----------
        **options : object
            Arguments of `DescriptiveContext.from_texts`.

        Returns
        -------
        DescriptiveContext
            The context, named after the thesaurus unless `name` is given.
        """
        own = {"name": f"{self.name} texts", **options}
        return DescriptiveContext.from_texts(self.texts, **own)

    def contexts(self, *, min_count: int = 2, **options: Any) -> list[Context]:
        """Return the taxonomy, and the texts if there are any, as contexts.

        Parameters
        ----------
        min_count : int, default 2
            Words in fewer texts are left out, unless there are few texts.
        **options : object
            Arguments of `RelationalContext.from_hierarchy`.

        Returns
        -------
        list of contexts
            One or two.
        """
        found: list[Context] = [self.hierarchy(**options)]
        if self.texts:
            least = 1 if len(self.texts) < FEW_TEXTS else min_count
            found.append(self.descriptions(min_count=least))
        return found


def read_newick(path: Path) -> Hierarchy:
    """Read the trees of a Newick file as one hierarchy.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    Hierarchy
        An underscore in a name without quotation marks is a space. Nodes without a
        name, or with a number in its place, are called after their first and last leaf.
        Without lengths, or if all are equal, it has none. A missing length is the
        median of the others, and none is more than 100 times shorter or longer than
        that.
    """
    newick = import_optional("newick", extra="trees", purpose=f"reading {path}")
    text = normal(read_text(path))
    try:
        trees = [x for x in newick.loads(text) if x.name or x.descendants]
        nodes = [node for tree in trees for node in tree.walk()]
        # A node has the length 0 also if there is none.
        given = {x: None if x._length is None else x.length for x in nodes}
    except (ValueError, RecursionError) as error:
        raise FileError(
            f"{path}: is not a tree in Newick notation ({error})."
        ) from error
    ends: dict[Any, tuple[str, str]] = {}
    names: dict[Any, str] = {}
    for node in reversed(nodes):  # children first
        name, below = (node.unquoted_name or "").strip(), node.descendants
        if name == node.name:  # without quotation marks
            name = name.replace("_", " ")
        ends[node] = (ends[below[0]][0], ends[below[-1]][1]) if below else (name, name)
        is_named = not (below and SUPPORT.fullmatch(name))
        names[node] = name if is_named else " + ".join(ends[node])
    if "" in names.values():
        raise FileError(f"{path}: a leaf has no name; name every leaf.")
    if again := [name for name, n in Counter(names.values()).items() if n > 1]:
        raise FileError(f"{path}: several nodes are called {some(again)}; rename them.")
    lengths: dict[tuple[str, str], float | None] = {}
    for node in filter(lambda x: x.ancestor is not None, nodes):
        length = given[node]
        if length is not None and not 0 <= length < np.inf:
            raise FileError(
                f"{path}: the branch of {names[node]!r} has the length {length:g}; "
                "lengths must be zero or more."
            )
        lengths[names[node], names[node.ancestor]] = length
    found = Hierarchy.from_edges(list(lengths), name=path.stem)
    middle = float(np.median([x for x in lengths.values() if x] or [0.0]))
    usable = {
        edge: min(max(middle if x is None else x, middle / FARTHEST), middle * FARTHEST)
        for edge, x in lengths.items()
    }
    return found.measured(usable if len({*usable.values()}) > 1 else {})
