"""Published label embeddings to compare with; each function returns a LabelEmbedding.

From one context: attributes (ALE), word vectors (WLE), hierarchy (HLE), PMI + SVD. From
several: concatenation (CNC), canonical correlation (CCA), SoftImpute + SVD, TADW, and
variants of PHCLE. CNC and SoftImpute take labels that lack a context, too.
"""

from phcle_paper.baselines.ale import attribute_embedding
from phcle_paper.baselines.cca import cca_embedding
from phcle_paper.baselines.cnc import concatenated_embedding
from phcle_paper.baselines.hle import hierarchy_embedding
from phcle_paper.baselines.pmi_svd import pmi_svd_embedding
from phcle_paper.baselines.reduction import reduce_embedding
from phcle_paper.baselines.soft_impute import soft_impute_embedding
from phcle_paper.baselines.tadw import tadw_embedding
from phcle_paper.baselines.wle import word_vector_embedding

__all__ = [
    "attribute_embedding",
    "cca_embedding",
    "concatenated_embedding",
    "hierarchy_embedding",
    "pmi_svd_embedding",
    "reduce_embedding",
    "soft_impute_embedding",
    "tadw_embedding",
    "word_vector_embedding",
]
