"""The kind of a file that is no table: ontologies, vocabularies and vectors."""

from __future__ import annotations

from pathlib import Path

__all__ = ["kind_of_ending"]

ENDINGS = {".owl": "owl", ".bin": "vectors", ".vec": "vectors", ".w2v": "vectors"}

RDF_ENDINGS = (".ttl", ".rdf", ".nt", ".n3", ".xml", ".jsonld")
"""Files that may hold a SKOS vocabulary or an OWL ontology; their beginning tells."""

SKOS_SIGN = b"skos/core#"


def kind_of_ending(path: Path) -> str | None:
    """Guess the kind of a file that is no table.

    Parameters
    ----------
    path : Path
        The file. The beginning of RDF files is read.

    Returns
    -------
    str or None
        "skos", "owl" or "vectors"; None for tables.

    Examples
    --------
    >>> kind_of_ending(Path("wine.owl")), kind_of_ending(Path("wine.csv"))
    ('owl', None)
    """
    suffix = path.suffix.lower()
    if suffix not in RDF_ENDINGS:
        return ENDINGS.get(suffix)
    with path.open("rb") as file:
        return "skos" if SKOS_SIGN in file.read(100_000) else "owl"
