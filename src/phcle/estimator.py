"""PHCLE, the estimator: contexts in, a label embedding out."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from phcle.contexts.alignment import Aligned, Matched, align, match_contexts
from phcle.contexts.protocol import Context
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import (
    ContextError,
    ConvergenceWarning,
    NumericalError,
    OptionError,
    PhcleError,
    did_you_mean,
    some,
)
from phcle.model.checkpoint import Checkpoint, library_versions, read_choice, writing
from phcle.model.choose import choose, pose_chosen, trials_of
from phcle.model.fit import Solver
from phcle.model.foldin import fold_in
from phcle.model.folds import out_of_fold
from phcle.model.label_solve import solve_labels, solves_sample
from phcle.model.paper import PaperSolver
from phcle.model.problem import DeviceProblem, State, penalties_of, samples_for
from phcle.model.start import earlier_embedding, first_state
from phcle.model.trials import Chosen, backend_of, useful_shares
from phcle.model.weights import nie_weights, start_weights
from phcle.options import DEFAULTS, OPTIONS, check_options, parameters_text
from phcle.progress import counted_progress, fit_progress, staged_progress
from phcle.tables.files import ReadContexts
from phcle.tables.matching import LabelMatch, warn_of_match


class PHCLE(BaseEstimator):  # type: ignore[misc]
    """Label embedding from partial heterogeneous contexts.

    Most fits need none of the options. Try those under Parameters first; the others are
    for large data, for reproducing the paper, and for finding out what a result depends
    on.

    Parameters
    ----------
    {main}

    Attributes
    ----------
    embedding_ : LabelEmbedding
        One vector per label, with what is needed to query, explain and extend it.
    history_ : tuple of dict
        Every term of the objective after each sweep.
    weights_ : dict
        α and β by context.
    chosen_ : Chosen
        The settings that were left at "auto": what was chosen, and all that was tried
        with its skill on hidden cells.
    match_ : LabelMatch
        Labels that were joined although contexts spell them differently, labels that
        may be misspelled, and labels that only one context has.

    Other Parameters
    ----------------
    {others}

    Examples
    --------
    >>> from phcle import DescriptiveContext, PHCLE, RelationalContext
    >>> tree = [("cat", "felid"), ("lion", "felid"), ("dog", "canid"),
    ...         ("wolf", "canid"), ("felid", "beast"), ("canid", "beast")]
    >>> tags = {"cat": ["tame"], "dog": ["tame"], "wolf": ["wild"]}
    >>> contexts = [RelationalContext.from_hierarchy(tree),
    ...             DescriptiveContext.from_tags(tags)]
    >>> embedding = PHCLE(dim=3).fit(contexts).embedding_
    >>> embedding.nearest("cat", k=1)[0][0]
    'lion'
    """

    embedding_: LabelEmbedding
    history_: tuple[Mapping[str, float], ...]
    weights_: dict[str, float]
    chosen_: Chosen
    match_: LabelMatch

    def __init__(self, **options: Any) -> None:
        for name in options:
            if name not in DEFAULTS:
                raise TypeError(
                    f"PHCLE() got an unexpected keyword argument {name!r}."
                    f"{did_you_mean(name, DEFAULTS)}"
                )
        for name, value in {**DEFAULTS, **options}.items():
            setattr(self, name, value)

    def set_params(self, **options: Any) -> Self:
        """Change options by name.

        Parameters
        ----------
        **options : object
            New values, which are checked.

        Returns
        -------
        PHCLE
            The estimator itself.
        """
        check_options(options)
        super().set_params(**options)
        return self

    def fit(
        self,
        contexts: Context | Iterable[Context],
        *,
        labels: Iterable[Any] | None = None,
        names: Mapping[str, str] | None = None,
        synonyms: Mapping[str, str] | None = None,
        warm_start: LabelEmbedding | str | Path | None = None,
        choose_again: bool = False,
        on_step: Callable[[State], None] | None = None,
        checkpoint: str | Path | None = None,
        resume: bool = False,
        checkpoint_every: float = 300.0,
        readers: Mapping[str, Any] | None = None,
    ) -> Self:
        """Learn one vector per label.

        Ctrl-C keeps the result of the last whole sweep in `embedding_` before it raises
        `KeyboardInterrupt`.

        Parameters
        ----------
        contexts : Context or iterable of Context
            Any number of relational and descriptive contexts, or what
            `phcle.read_contexts` returned.
        labels : iterable of str, optional
            Labels to embed. Default: every label of any context.
        names : mapping of str to str, optional
            Readable names of labels, and of nodes of a hierarchy.
        synonyms : mapping of str to str, optional
            Labels by other spellings, such as `{"Bedz": "Beds"}`. Contexts that
            `phcle.read_contexts` returned have been matched when they were read.
        warm_start : LabelEmbedding, str or Path, optional
            An earlier embedding of similar data, or its file, to start from. Settings
            are taken from it if it has the same contexts and options, and most of the
            labels.
        choose_again : bool
            With `warm_start`: choose settings anew.
        on_step : callable, optional
            Called with the state after each sweep.
        checkpoint : str or Path, optional
            File to which the fit is written from time to time and when it is stopped.
        resume : bool
            Continue from the checkpoint; options and data must be the same.
        checkpoint_every : float
            Seconds between two checkpoints.
        readers : mapping from str to estimator, optional
            Regressions or classifiers of scikit-learn's kind, by names of yours, that
            read the gaps of tables beside the package's own. Each counts for as much
            as it predicts known cells that it has not seen.

        Returns
        -------
        PHCLE
            The estimator itself, fitted.

        Examples
        --------
        >>> from phcle import PHCLE, RelationalContext
        >>> edges = [("cat", "dog"), ("dog", "wolf"), ("cat", "lion")]
        >>> PHCLE(dim=2).fit(RelationalContext.from_edges(edges)).embedding_.labels
        ('cat', 'dog', 'wolf', 'lion')
        """
        options, own_readers = self._options, _checked_readers(readers)
        if resume and checkpoint is None:
            raise OptionError("resume needs a checkpoint to go on from.")
        given = self._matched(contexts, labels, names, synonyms)
        self.match_ = given.match
        aligned = align(
            given.contexts, labels=given.labels, complete_only=self.complete_only
        )
        path = None if checkpoint is None else Path(checkpoint)
        earlier = None
        if warm_start is not None:
            earlier = earlier_embedding(warm_start, aligned, self.init)
        if path is not None and resume:
            found = read_choice(path)
        else:
            found = choose(aligned, options, None if choose_again else earlier)
        problem, self.chosen_ = pose_chosen(aligned, options, found)
        backend = backend_of(options, problem)
        with writing(path, backend, resume=resume), backend.session():
            device, kept = DeviceProblem(backend, problem), None
            solver = self._solver(device)
            if not resume:
                state = self._started(device, aligned, earlier)
            if path is not None:
                how = self.chosen_, checkpoint_every
                kept = Checkpoint(path, device, options, *how)
                state = kept.read() if resume else state
            files = contexts.sources if isinstance(contexts, ReadContexts) else []
            run, chosen = self._how_it_ran(solver), self.chosen_.to_dict()
            origin = {"run": run, "files": files, "chosen": chosen}
            self._learn(solver, state, kept, on_step, given.names, origin)
            # "ones" is solved in one dimension, but the embedding has more.
            if self.completion != "none" and self.init != "ones":
                self._complete(device, own_readers)
        return self

    @property
    def _options(self) -> dict[str, Any]:
        """All options, checked, with NumPy's numbers as Python's."""
        return check_options({name: getattr(self, name) for name in DEFAULTS})

    def _matched(
        self,
        contexts: Context | Iterable[Context],
        labels: Iterable[Any] | None,
        names: Mapping[str, str] | None,
        synonyms: Mapping[str, str] | None,
    ) -> Matched:
        """Contexts whose labels are spelled alike; those that were read are already."""
        before = None
        if isinstance(contexts, ReadContexts):
            names = {**contexts.names, **(names or {})}
            before = contexts.match
            if before is not None and labels is None and not synonyms:
                own = tuple(contexts)
                return Matched(own, contexts.labels, names, before)
            labels = contexts.labels if labels is None else labels
        found = match_contexts(
            contexts, labels=labels, names=names, mode=self.match, synonyms=synonyms
        )
        warn_of_match(found.match, stacklevel=3)
        if before is not None:
            found = replace(found, match=found.match.after(before))
        return found

    def _started(
        self, device: DeviceProblem, aligned: Aligned, earlier: LabelEmbedding | None
    ) -> State:
        """The state before the first sweep."""
        problem, options, shares = device.problem, self._options, None
        if self.weights == "auto":
            trials, setting = trials_of(aligned, options), self.chosen_.setting
            shares, words = useful_shares(trials, setting, verbose=self.verbose)
            self.chosen_ = replace(self.chosen_, weighing=words)
        weights = start_weights(options, problem, shares)
        unknown = problem.uninformed(weights)
        if unknown:  # their vectors would be zero, and their neighbours arbitrary
            raise ContextError(
                f"nothing tells {some(unknown)} from other labels: they are known only "
                "to contexts of weight 0, or in columns whose values are all equal; "
                "leave them out (labels=, --labels), or describe them in another "
                "context."
            )
        with counted_progress("finding a start", enabled=self.verbose):
            seed = options["random_state"]
            return first_state(device, weights, seed, self.init, earlier)

    def _learn(
        self,
        solver: Solver,
        state: State,
        checkpoint: Checkpoint | None,
        on_step: Callable[[State], None] | None,
        names: Mapping[str, str],
        origin: Mapping[str, Any],
    ) -> None:
        """Sweep to the end, solve W once more, and pack up what was learned.

        If the fit is stopped, the last whole sweep is packed up.
        """
        device, options, stopped = solver.device, self._options, None
        terms: Mapping[str, float]

        def note(new: State) -> None:
            nonlocal state
            state = new
            if checkpoint is not None:
                checkpoint.write(new)
            show(new)
            if on_step is not None:
                on_step(new)

        try:
            with fit_progress(
                enabled=self.verbose, max_iter=self.max_iter, tol=self.tol
            ) as show:
                state = solver.learn(state, max_iter=self.max_iter, on_step=note)
            if checkpoint is not None:
                checkpoint.write(state, now=True)
            if state.risen is not None or not solver.converged(state):
                remedy = "raise max_iter or tol."
                if state.risen is not None:
                    remedy = (
                        f"the loss of context {state.risen!r} rises in the next, also "
                        "with more sampled columns; use mode='exact'."
                    )
                message = f"not converged after {state.iteration} sweeps; {remedy}"
                warnings.warn(message, ConvergenceWarning, stacklevel=3)
            with (
                counted_progress("last solve", enabled=self.verbose),
                solver.naming_overflow(state),
            ):
                solved = solve_labels(
                    device, state.W, state.factors, state.weights, settle=True
                )
            parts = (solved.W, *solved.factors)
            terms = solver.terms(solved.values, state.weights, solved.penalties)
        except (KeyboardInterrupt, NumericalError) as error:
            if not state.history:
                raise
            stopped, terms = error, state.history[-1]
            if checkpoint is not None:
                checkpoint.write(state, now=True)
            parts = device.to_numpy([state.W, *state.factors])
        if self.init == "ones":
            dim = self.chosen_.setting.dim
            parts = tuple(np.repeat(x / dim**0.5, dim, axis=1) for x in parts)
        # The sweeps ran in this precision, so nothing is lost by storing it.
        W, *factors = (part.astype(self.dtype, copy=False) for part in parts)
        final = {**terms, "iteration": state.iteration + 1.0, "seconds": 0.0}
        self.weights_, self.history_ = dict(state.weights), (*state.history, final)
        labels, contexts = device.problem.labels, device.problem.contexts
        self.embedding_ = LabelEmbedding(
            labels=labels,
            vectors=W,
            names=dict(names),
            spellings=self.match_.spellings,
            contexts=tuple(
                context.learned(labels, self.weights_[context.name], factor)
                for context, factor in zip(contexts, factors, strict=True)
            ),
            penalties=vars(penalties_of(options)),
            options=options,
            # Without times, so that the same fit gives the same file.
            history=tuple(
                {key: value for key, value in record.items() if key != "seconds"}
                for record in self.history_
            ),
            versions=library_versions(device.backend.name),
            origin=dict(origin),
        )
        if stopped is not None:
            raise stopped

    def transform(
        self,
        contexts: Context | Iterable[Context],
        *,
        names: Mapping[str, str] | None = None,
    ) -> LabelEmbedding:
        """Embed labels that were not in the fit, from whichever contexts they have.

        Parameters
        ----------
        contexts : Context or iterable of Context
            What is known about the new labels, under the names of the fit's contexts.
        names : mapping of str to str, optional
            Readable names of the new labels.

        Returns
        -------
        LabelEmbedding
            The new labels alone.
        """
        if not hasattr(self, "embedding_"):
            raise PhcleError("transform needs a fit first: call fit(contexts).")
        return fold_in(
            self.embedding_,
            contexts,
            names=names,
            backend=self.backend,
            device=self.device,
            dtype=self.dtype,
        )

    def _solver(self, device: DeviceProblem) -> Solver:
        reweigh = None
        if self.weights == "nie":
            reweigh = partial(nie_weights, device.problem)
        if self.solver == "mm":
            samples = samples_for(device, self.mode, self.random_state)
            return Solver(device, self.tol, reweigh, samples)
        if self.mode == "sampled":
            raise OptionError(
                "mode='sampled' needs solver='mm'; the paper's solver is exact."
            )
        return PaperSolver(device, self.tol, reweigh, step_size=self.step_size)

    def _how_it_ran(self, solver: Solver) -> dict[str, Any]:
        """What "auto" and the machine made of the options."""
        backend = solver.device.backend
        has_sampled_end = solves_sample(backend, solver.device.problem)
        return {
            "backend": backend.name,
            "device": getattr(backend, "device", "cpu"),
            "mode": "exact" if solver.samples is None else "sampled",
            "precision": backend.precision,
            "dtype": self.dtype,
            "processes": backend.processes.size,
        } | ({"last_solve": "sampled"} if has_sampled_end else {})

    def _complete(
        self,
        device: DeviceProblem,
        readers: Mapping[str, Any],
    ) -> None:
        """Predict the gaps of all tables."""
        seed = self._options["random_state"]
        with counted_progress("folds", enabled=self.verbose, unit="fits") as show:
            held = out_of_fold(device, self.weights_, seed=seed, on_fit=show)
        if not held:
            return
        # Only now: the readers' libraries take a second to import.
        from phcle.embedding.completion import complete_tables

        with staged_progress(enabled=self.verbose, unit="columns") as show_field:
            found = complete_tables(
                self.embedding_,
                held,
                effort=self.completion,
                own=readers,
                seed=seed,
                on_field=lambda title, *n: show_field(f"filling gaps, {title}", *n),
            )
        self.embedding_ = replace(self.embedding_, predictions=found)


def _document(estimator: Any) -> None:
    """Fill the signature and docstring of the estimator from the table of options."""
    options = [
        inspect.Parameter(x.name, inspect.Parameter.KEYWORD_ONLY, default=x.default)
        for x in OPTIONS
    ]
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    estimator.__init__.__signature__ = inspect.Signature([own, *options])
    if estimator.__doc__:  # python -OO removes it
        # Python 3.13 removes the indentation of docstrings, earlier ones keep it.
        text = inspect.cleandoc(estimator.__doc__)
        text = text.replace("{main}", parameters_text("main"))
        others = parameters_text("model", "solver", "computing")
        estimator.__doc__ = text.replace("{others}", others)


_document(PHCLE)


def _checked_readers(readers: Mapping[str, Any] | None) -> dict[str, Any]:
    """Refuse what cannot be fitted and asked."""
    found = dict(readers or {})
    for name, reader in found.items():
        if not all(hasattr(reader, x) for x in ("fit", "predict", "get_params")):
            raise OptionError(
                f"reader {name!r} must be an estimator with fit, predict and "
                f"get_params, as scikit-learn's. Got {type(reader).__name__} instead."
            )
    return found
