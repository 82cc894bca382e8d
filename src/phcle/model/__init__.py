"""Stage 2: learn the factors from the contexts.

- `problem`: the contexts over common labels, on the host and on a back end, and the
  state of a solution; `objective` is the reference in plain NumPy;
- `start`: where factors start; `weights`: weights of the contexts;
- `settings`, `choosing`, `trials`: settings that are chosen on hidden cells;
- `left_out`, `useful_weights`, `context_help`: what each context adds;
- `sweep`: the default solver and the loop; `paper`: the paper's solver;
- `rows`, `balance`, `column_samples`: the parts of a sweep;
- `label_solve`, `joint_solve`: the last step of a fit, also together with families;
- `foldin`: labels that are added later (`phcle.fold_in`);
- `folds`: what fits say of cells, and of labels, that they have not seen;
- `checkpoint`: storing and recording a fit.

Solvers use contexts through `contexts.protocol` and `contexts.terms` and never ask for
their kind. Modules here may import `embedding`, `contexts`, `backends`, `options`,
`files` and `errors`. `uses` never imports them, so a saved embedding needs no solver.
"""
