"""Everything that phcle can answer, as frozen dataclasses.

The library fills these classes. The tables of the command line, `--json`, the HTTP API
and the pages of the explorer only show them: `Answer.to_dict` gives the JSON, and
FastAPI derives the API's schemas from the same fields. A new field is therefore one
edit here, one where it is filled, and one where a table or page shows it. Each module
has one family of answers; import them from `phcle.answers`.

`LabelEmbedding` answers in ids (`Description`, `Explanation`). Output for people also
has readable names (`DescribedLabel`, `ExplainedPair`); `phcle.uses.named_answers` adds
them. These modules import nothing but the standard library.
"""

from phcle.answers.answer import (
    Answer,
    Named,
    ValueSort,
    as_json,
)
from phcle.answers.comparisons import (
    AttributeChance,
    ComparedAttribute,
    ComparedCell,
    ComparedContext,
    Comparison,
    Differences,
    DifferentLabel,
    FittingLabel,
    FittingLabels,
    SharedNeighbour,
    SideBySide,
    WantedAttribute,
)
from phcle.answers.completed_cells import (
    ColumnSkill,
    CompletedCell,
    Completion,
    CompletionSkill,
    SuspiciousCell,
)
from phcle.answers.descriptions import (
    Attribute,
    DescribedLabel,
    Description,
    RelatedLabel,
    SimilarLabel,
)
from phcle.answers.explanations import (
    ContextPart,
    ExplainedColumn,
    ExplainedContext,
    ExplainedGroup,
    ExplainedPair,
    Explanation,
    ExplanationLine,
    ReasonGroup,
    SharedNode,
)
from phcle.answers.explorer_state import (
    AttributeSet,
    ExplorerInfo,
    Failure,
    FailureText,
    Progress,
    Status,
)
from phcle.answers.file_contents import (
    CheckpointInfo,
    ChosenSettings,
    ContextSummary,
    EmbeddingInfo,
    EmbeddingSummary,
    FileInfo,
    FitSummary,
    HierarchyRecipe,
    ImageMapInfo,
)
from phcle.answers.label_groups import (
    ClusteredLabels,
    DrawnClusters,
)
from phcle.answers.label_map import (
    MapColouring,
    MapData,
    MapRegion,
    Shade,
)
from phcle.answers.label_pages import (
    KnownContext,
    LabelCell,
    LabelPage,
    LandedLabel,
    TaxonomyPlace,
)
from phcle.answers.measurements import (
    ContextHelp,
    Evaluation,
    LeftOutContext,
)
from phcle.answers.neighbours import (
    AddedLabels,
    Nearest,
    NearestToVector,
    Neighbour,
)
from phcle.answers.typed_search import (
    AttributeName,
    AttributesFound,
    LabelsFound,
    Node,
    NodeFound,
    NodesFound,
)
from phcle.answers.understood_pictures import (
    LearnedImageMap,
    UnderstoodAttribute,
    UnderstoodFile,
    UnderstoodPicture,
)
from phcle.answers.written_files import (
    CompletedFile,
    ExportedFile,
    FilledTable,
    WrittenReport,
)

__all__ = [
    "AddedLabels",
    "Answer",
    "Attribute",
    "AttributeChance",
    "AttributeName",
    "AttributeSet",
    "AttributesFound",
    "CheckpointInfo",
    "ChosenSettings",
    "ClusteredLabels",
    "ColumnSkill",
    "ComparedAttribute",
    "ComparedCell",
    "ComparedContext",
    "Comparison",
    "CompletedCell",
    "CompletedFile",
    "Completion",
    "CompletionSkill",
    "ContextHelp",
    "ContextPart",
    "ContextSummary",
    "DescribedLabel",
    "Description",
    "Differences",
    "DifferentLabel",
    "DrawnClusters",
    "EmbeddingInfo",
    "EmbeddingSummary",
    "Evaluation",
    "ExplainedColumn",
    "ExplainedContext",
    "ExplainedGroup",
    "ExplainedPair",
    "Explanation",
    "ExplanationLine",
    "ExplorerInfo",
    "ExportedFile",
    "Failure",
    "FailureText",
    "FileInfo",
    "FilledTable",
    "FitSummary",
    "FittingLabel",
    "FittingLabels",
    "HierarchyRecipe",
    "ImageMapInfo",
    "KnownContext",
    "LabelCell",
    "LabelPage",
    "LabelsFound",
    "LandedLabel",
    "LearnedImageMap",
    "LeftOutContext",
    "MapColouring",
    "MapData",
    "MapRegion",
    "Named",
    "Nearest",
    "NearestToVector",
    "Neighbour",
    "Node",
    "NodeFound",
    "NodesFound",
    "Progress",
    "ReasonGroup",
    "RelatedLabel",
    "Shade",
    "SharedNeighbour",
    "SharedNode",
    "SideBySide",
    "SimilarLabel",
    "Status",
    "SuspiciousCell",
    "TaxonomyPlace",
    "UnderstoodAttribute",
    "UnderstoodFile",
    "UnderstoodPicture",
    "ValueSort",
    "WantedAttribute",
    "WrittenReport",
    "as_json",
]
