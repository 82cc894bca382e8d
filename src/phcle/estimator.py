"""PHCLE, the estimator: contexts in, a label embedding out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from phcle.backends.protocol import Backend, choose_backend
from phcle.contexts.alignment import Matched, align, match_contexts
from phcle.contexts.protocol import Context
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import (
    ContextError,
    ConvergenceWarning,
    NumericalError,
    OptionError,
    PhcleError,
    some,
)
from phcle.files.atomic import only_writer
from phcle.files.reading import naming
from phcle.model.checkpoint import (
    Checkpoint,
    library_versions,
    read_choice,
    without_times,
)
from phcle.model.column_samples import samples_for
from phcle.model.foldin import fold_in
from phcle.model.folds import out_of_fold
from phcle.model.label_solve import solve_labels, solves_sample
from phcle.model.paper import PaperSolver
from phcle.model.problem import DeviceProblem, Problem, State
from phcle.model.setting_choice import SettingChoice
from phcle.model.settings import Chosen
from phcle.model.start import spread_ones, start_factors
from phcle.model.sweep import (
    MajoriseSolver,
    SweepSolver,
    refuse_broken_algebra,
    run,
)
from phcle.model.warm_factors import serves_as_start, warm_factors
from phcle.model.warm_start import WarmStart
from phcle.model.weights import nie_weights
from phcle.options import check_options
from phcle.progress import counted_progress, fit_progress, staged_progress
from phcle.sklearn_mixin import EstimatorOptions, documents_options
from phcle.tables.files import ReadContexts, SourceFile
from phcle.tables.matching import LabelMatch, warn_of_match


@documents_options
class PHCLE(EstimatorOptions):
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
            are taken from it unless the data changed a lot.
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
        check_options(self.get_params())
        own_readers = _checked_readers(readers)
        if resume and checkpoint is None:
            raise OptionError("resume needs a checkpoint to go on from.")
        given = self._matched(contexts, labels, names, synonyms)
        self.match_ = given.match
        aligned = align(
            given.contexts, labels=given.labels, complete_only=self.complete_only
        )
        path = None if checkpoint is None else Path(checkpoint)
        settings = SettingChoice(self.get_params(), self._backend)
        warm = None
        if warm_start is not None:
            warm = WarmStart.of(warm_start, aligned, self.init, anew=choose_again)
        elif choose_again:
            raise OptionError(
                "choose_again needs warm_start; other fits always choose."
            )
        if path is not None and resume:
            with naming(path, "is not a whole checkpoint", Exception):
                problem, self.chosen_ = settings.resumed(aligned, read_choice(path))
        else:
            problem, self.chosen_ = settings.chosen(aligned, warm)
        backend = self._backend(problem)
        is_writer = backend.processes.rank == 0
        # Every sweep checks for overflow and names the context that caused it.
        with (
            only_writer(path) if path is not None and is_writer else nullcontext(),
            backend.limited_threads(),
            np.errstate(over="ignore", invalid="ignore"),
        ):
            kept = (
                None
                if path is None
                else Checkpoint.of_fit(
                    path,
                    problem,
                    self.get_params(),
                    self.chosen_.to_dict(),
                    every=checkpoint_every,
                    is_writer=is_writer,
                    resume=resume,
                )
            )
            weights = settings.weights(problem, self.chosen_)
            solver = self._solver(DeviceProblem(backend, problem))
            if kept is not None and resume:
                state = _resumed(solver, kept)
            else:
                state = self._started(solver, weights, warm)
            files = contexts.sources if isinstance(contexts, ReadContexts) else ()
            keep = partial(self._keep, solver, names=given.names, files=files)
            state = self._swept(solver, state, kept, on_step, keep)
            # "ones" is solved in one dimension, but the embedding has more.
            if self.completion != "none" and self.init != "ones":
                self._complete(solver.device, state.weights, own_readers)
        return self

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
        self, solver: SweepSolver, weights: Mapping[str, float], warm: WarmStart | None
    ) -> State:
        """The state before the first sweep."""
        backend, problem = solver.device.backend, solver.device.problem
        _refuse_uninformed(problem, weights)
        rng = np.random.default_rng(self.random_state)
        with counted_progress("finding a start", enabled=self.verbose):
            if warm is not None and serves_as_start(warm.embedding, problem):
                start = warm_factors(warm.embedding, problem, weights, rng, backend)
            else:
                start = start_factors(problem, weights, self.init, rng, backend=backend)
        return solver.init(start, weights)

    def _swept(
        self,
        solver: SweepSolver,
        state: State,
        checkpoint: Checkpoint | None,
        on_step: Callable[[State], None] | None,
        keep: Callable[[State], None],
    ) -> State:
        """Sweep to the end, and keep the result; also if the fit is stopped."""
        backend = solver.device.backend
        try:
            with fit_progress(
                enabled=self.verbose, max_iter=self.max_iter, tol=self.tol
            ) as show:

                def remember(new: State) -> None:
                    nonlocal state
                    state = new
                    show(new)
                    if checkpoint is not None:
                        checkpoint.maybe_write(new, backend.to_numpy)
                    if on_step is not None:
                        on_step(new)

                state = run(solver, state, max_iter=self.max_iter, on_step=remember)
            if checkpoint is not None:
                checkpoint.write(state, backend.to_numpy)
        except (KeyboardInterrupt, NumericalError):
            if checkpoint is not None and state.history:
                checkpoint.write(state, backend.to_numpy)
            # The last solve needs all processes, and the others may be gone.
            if state.history and backend.processes.size == 1:
                keep(state)
            raise
        remedy = ""
        if state.risen is not None:
            remedy = (
                f"the loss of context {state.risen!r} rises in the next, also with "
                "more sampled columns; use mode='exact'."
            )
        elif not solver.converged(state):
            remedy = "raise max_iter or tol."
        if remedy:
            warnings.warn(
                f"not converged after {state.iteration} sweeps; {remedy}",
                ConvergenceWarning,
                stacklevel=3,
            )
        keep(state)
        return state

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
        if not self.__sklearn_is_fitted__():
            raise PhcleError("transform needs a fit first: call fit(contexts).")
        return fold_in(
            self.embedding_,
            contexts,
            names=names,
            backend=self.backend,
            device=self.device,
            dtype=self.dtype,
        )

    def _backend(self, problem: Problem) -> Backend:
        return choose_backend(
            self.backend,
            self.device,
            self.dtype,
            precision=self.precision,
            n_pairs=problem.n_pairs,
        )

    def _solver(self, device: DeviceProblem) -> SweepSolver:
        reweigh = None
        if self.weights == "nie":

            def reweigh(
                losses: Mapping[str, float], weights: Mapping[str, float]
            ) -> dict[str, float]:
                return nie_weights(device.problem, losses, weights)

        if self.solver == "paper":
            if self.mode == "sampled":
                raise OptionError(
                    "mode='sampled' needs solver='mm'; the paper's solver is exact."
                )
            return PaperSolver(
                device, tol=self.tol, step_size=self.step_size, reweigh=reweigh
            )
        return MajoriseSolver(
            device,
            tol=self.tol,
            reweigh=reweigh,
            samples=samples_for(device, self.mode, self.random_state),
        )

    def _keep(
        self,
        solver: SweepSolver,
        state: State,
        names: Mapping[str, str],
        files: Sequence[SourceFile],
    ) -> None:
        """Solve W once more, to the end, and pack up what was learned."""
        device, weights = solver.device, state.weights
        problem = device.problem
        interrupted: BaseException | None = None
        terms: Mapping[str, float]
        try:
            with (
                counted_progress("last solve", enabled=self.verbose),
                refuse_broken_algebra(device, state, solver.remedy),
            ):
                solved = solve_labels(
                    device.backend,
                    problem,
                    state.W,
                    state.factors,
                    weights,
                    settle=True,
                    rows=device.labels,
                )
            W, factors = solved.W, solved.factors
            terms = solver.terms(solved.values, weights, solved.penalties)
        except (KeyboardInterrupt, NumericalError) as error:  # the sweeps are not lost
            interrupted, terms = error, state.history[-1]
            (W,), factors = device.to_numpy([state.W]), device.to_numpy(state.factors)
        penalties = problem.penalties
        if self.init == "ones":
            dim = self.chosen_.setting.dim
            W = spread_ones(W, dim)
            factors = tuple(spread_ones(factor, dim) for factor in factors)
            settings = SettingChoice(self.get_params(), self._backend)
            penalties = settings.penalties(self.chosen_.setting)
        final = {**terms, "iteration": state.iteration + 1.0, "seconds": 0.0}
        self.weights_ = dict(weights)
        self.history_ = (*state.history, final)
        self.embedding_ = LabelEmbedding(
            labels=problem.labels,
            vectors=W.astype(self.dtype, copy=False),
            names=dict(names),
            spellings=self.match_.spellings,
            # The sweeps ran in this precision, so nothing is lost by storing it.
            contexts=tuple(
                context.learned(
                    problem.labels,
                    weights[context.name],
                    factor.astype(self.dtype, copy=False),
                )
                for context, factor in zip(problem.contexts, factors, strict=True)
            ),
            penalties=vars(penalties),
            options=self.get_params(),
            history=without_times(self.history_),
            versions=library_versions(device.backend.name),
            origin={
                "run": self._how_it_ran(solver),
                "files": [file.to_dict() for file in files],
                "chosen": self.chosen_.to_dict(),
            },
        )
        if interrupted is not None:
            raise interrupted

    def _how_it_ran(self, solver: SweepSolver) -> dict[str, Any]:
        """What "auto" and the machine made of the options."""
        backend = solver.device.backend
        is_sampled = getattr(solver, "samples", None) is not None
        has_sampled_end = solves_sample(backend, solver.device.problem)
        return {
            "backend": backend.name,
            "device": getattr(backend, "device", "cpu"),
            "mode": "sampled" if is_sampled else "exact",
            "precision": backend.precision,
            "dtype": self.dtype,
            "processes": backend.processes.size,
        } | ({"last_solve": "sampled"} if has_sampled_end else {})

    def _complete(
        self,
        device: DeviceProblem,
        weights: Mapping[str, float],
        readers: Mapping[str, Any],
    ) -> None:
        """Predict the gaps of all tables, and say how good that is."""
        with counted_progress("folds", enabled=self.verbose, unit="fits") as show:
            held = out_of_fold(device, weights, seed=self.random_state, on_fit=show)
        if not held:
            return
        # Only now: scikit-learn takes a second to import.
        from phcle.embedding.completion import complete_tables
        from phcle.embedding.skill import score_columns

        with staged_progress(enabled=self.verbose, unit="columns") as show_field:
            found, scored = complete_tables(
                self.embedding_,
                held,
                effort=self.completion,
                own=readers,
                seed=self.random_state,
                on_field=lambda title, *n: show_field(f"filling gaps, {title}", *n),
            )
        skill = score_columns(self.embedding_, scored)
        origin = {**self.embedding_.origin, "completion": skill.to_dict()}
        self.embedding_ = replace(self.embedding_, predictions=found, origin=origin)


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


def _resumed(solver: SweepSolver, checkpoint: Checkpoint) -> State:
    """The state that a checkpoint holds."""
    found = checkpoint.read()
    state = solver.init(found.factors, found.weights)
    return replace(state, history=found.history)


def _refuse_uninformed(problem: Problem, weights: Mapping[str, float]) -> None:
    """Refuse labels about which nothing that counts is known.

    Their vectors would be zero, and their neighbours arbitrary.
    """
    informed = np.zeros(len(problem.labels), dtype=bool)
    for context in problem.contexts:
        if weights[context.name] > 0:
            is_family = context.turns_with_labels
            informed |= context.observed if is_family else context.informs
    if not informed.all():
        unknown = [problem.labels[i] for i in np.flatnonzero(~informed)]
        raise ContextError(
            f"nothing tells {some(unknown)} from other labels: they are known only to "
            "contexts of weight 0, or in columns whose values are all equal; leave "
            "them out (labels=, --labels), or describe them in another context."
        )
