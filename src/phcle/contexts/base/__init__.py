"""What every kind of context offers. No other code asks which kind a context is.

A kind is two classes in a package of its own:

- a `Context` is what the user gives: labels, columns and numbers in the user's units;
- a `FittedContext` is the same context inside a fit or an embedding. `Context.in_fit`
  arranges its numbers by the labels of the problem and scales them. The solver then
  learns its `factor`, and `FittedContext.learned` drops what only the solver needs.

A factor holds the vectors that belong to the context, one per column. Its context
starts, updates, penalises and stores it.

- `context`: the interface of the user's context;
- `solver_side`: the half of a fitted context that the solver uses;
- `fitted_context`: the other half, for embedding, storage and fold-in;
- `predicting_context`: what a fitted context offers that predicts values for people.
"""
