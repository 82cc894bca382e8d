"""Relatives as a prior: a label's vector is pulled to that of its family, not to zero.

- `kinship`: how labels hang on nodes, and nodes on each other, in a tree or a graph;
  and FamilyContext, what the user knows.
- `fitted`: FittedFamily, the same inside a fit or an embedding. The factor is P, one
  vector per node.
- `centre`: the term of W and the update of P.
"""
