"""Stage 2: learn the factors from the contexts.

- `fit`: the solver, its sweeps and the one loop; `paper`: the paper's solver;
- `problem`: the contexts over common labels, on the host and on a back end, the state
  of a solution, and samples of columns; `objective` is the reference in plain NumPy;
- `choose`: from options to settings; `trials` tries settings on hidden cells, and says
  what each context adds; `weights`: α and β;
- `start`: where factors start, also in a refit;
- `rows`: the update of rows; `label_solve`: the last step of a fit, also with families;
- `foldin`: labels that are added later (`phcle.fold_in`);
- `folds`: what fits say of cells, and of labels, that they have not seen;
- `checkpoint`: storing and recording a fit.

Solvers use contexts through `contexts.protocol` and never ask for their kind. Modules
here may import `embedding`, `contexts`, `backends`, `options`, `files` and `errors`.
`embedding` and `images` never import them, so a saved embedding needs no solver.
`docs/model.md` draws the path of a fit.
"""
