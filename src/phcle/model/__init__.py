"""Stage 2: learn the factors from the contexts.

- `fit`: the solver, its sweeps and the one loop; `paper`: the paper's solver;
- `problem`: the contexts over common labels, on the host and on a back end, and the
  state of a solution; `objective` is the reference in plain NumPy;
- `choose`: from options to settings; `trials` tries settings on hidden cells, and
  `help` says what each context adds; `weights`: α and β;
- `start`: where factors start, also in a refit;
- `rows`, `balance`, `column_samples`: the parts of a sweep;
- `label_solve`: the last step of a fit, also together with families;
- `foldin`: labels that are added later (`phcle.fold_in`);
- `folds`: what fits say of cells, and of labels, that they have not seen;
- `checkpoint`: storing and recording a fit.

Solvers use contexts through `contexts.protocol` and never ask for their kind. Modules
here may import `embedding`, `contexts`, `backends`, `options`, `files` and `errors`.
`embedding` and `images` never import them, so a saved embedding needs no solver.
`docs/model.md` draws the path of a fit.
"""
