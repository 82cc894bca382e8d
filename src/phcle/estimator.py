"""PHCLE, the estimator: contexts in, a label embedding out."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from phcle.backends.protocol import Backend, choose_backend
from phcle.contexts.alignment import Aligned, Matched, align, match_contexts
from phcle.contexts.base import Context, Penalties
from phcle.contexts.label_matching import LabelMatch
from phcle.contexts.match_report import warn_of_match
from phcle.contexts.readers.files_to_contexts import ReadContexts
from phcle.contexts.readers.source_files import SourceFile
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import (
    ContextError,
    ConvergenceWarning,
    NumericalError,
    OptionError,
    PhcleError,
    PhcleWarning,
    some,
)
from phcle.files.writing import only_writer
from phcle.options import check_options
from phcle.progress import counted_progress, fit_progress
from phcle.sklearn_mixin import EstimatorOptions, documents_options
from phcle.solver.calibration import calibrate
from phcle.solver.checkpoint import Checkpoint, read_choice
from phcle.solver.choosing import choose
from phcle.solver.column_samples import ColumnSamples
from phcle.solver.foldin import fold_in, solve_labels, solves_sample
from phcle.solver.paper import PaperSolver
from phcle.solver.problem import DeviceProblem, Problem, State
from phcle.solver.provenance import library_versions, without_times
from phcle.solver.settings import Chosen, Setting, pose_setting
from phcle.solver.start import spread_ones, start_factors
from phcle.solver.sweep import MajoriseSolver, SweepSolver, run
from phcle.solver.trials import Question, Trials
from phcle.solver.useful_weights import useful_weights
from phcle.solver.weights import (
    equal_weights,
    given_weights,
    nie_weights,
    shared_weights,
)

__all__ = ["PHCLE"]

EXACT_PAIRS, GPU_EXACT_PAIRS = 300_000_000, 100_000_000_000
"""mode="auto" samples contexts with more pairs than this, on a CPU and on a GPU, where
an exact sweep would take longer than a few seconds, or than half a second."""

USUAL_TRIALS = 9
"""Settings that are tried at most, for the progress bar."""

SAMPLE, GPU_SAMPLE = 2_048, 32_768
"""Columns in the first sample, on a CPU and on a GPU. It grows with the sweeps, on a
GPU to twice as many: with more, they would take longer than known entries do."""


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
        on_step: Callable[[State], None] | None = None,
        checkpoint: str | Path | None = None,
        resume: bool = False,
        checkpoint_every: float = 300.0,
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
        on_step : callable, optional
            Called with the state after each sweep.
        checkpoint : str or Path, optional
            File to which the fit is written from time to time and when it is stopped.
        resume : bool
            Continue from the checkpoint; options and data must be the same.
        checkpoint_every : float
            Seconds between two checkpoints.

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
        if resume and checkpoint is None:
            raise OptionError("resume needs a checkpoint to go on from.")
        given = self._matched(contexts, labels, names, synonyms)
        self.match_ = given.match
        aligned = align(
            given.contexts, labels=given.labels, complete_only=self.complete_only
        )
        path = None if checkpoint is None else Path(checkpoint)
        problem = self._posed(aligned, path if resume else None)
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
            files = contexts.sources if isinstance(contexts, ReadContexts) else ()
            self._learn(
                problem, backend, given.names, files, on_step, kept, resume=resume
            )
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

    def _posed(self, aligned: Aligned, going_on_from: Path | None) -> Problem:
        """The problem of the settings that are chosen, or were when the fit began."""
        if going_on_from is None:
            chosen = self._chosen(aligned)
        else:
            chosen = self._chosen_before(aligned, read_choice(going_on_from))
        penalties = self._posed_penalties(chosen.setting)
        problem, setting = pose_setting(aligned, chosen.setting, penalties)
        self.chosen_ = replace(chosen, setting=setting)
        if self.weights == "auto" and going_on_from is None:
            self._measure_weights(aligned)
        return problem

    def _learn(
        self,
        problem: Problem,
        backend: Backend,
        names: Mapping[str, str],
        files: Sequence[SourceFile],
        on_step: Callable[[State], None] | None,
        checkpoint: Checkpoint | None,
        *,
        resume: bool,
    ) -> None:
        """Sweep from the start or from a checkpoint, and keep the result."""
        device = DeviceProblem(backend, problem)
        solver = self._solver(device)
        if checkpoint is not None and resume:
            found = checkpoint.read()
            state = solver.init(found.factors, found.weights)
            state = replace(state, history=found.history)
        else:
            weights = self._weights(problem)
            _refuse_uninformed(problem, weights)
            rng = np.random.default_rng(self.random_state)
            with counted_progress("finding a start", enabled=self.verbose):
                start = start_factors(problem, weights, self.init, rng, backend=backend)
            state = solver.init(start, weights)

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

                run(solver, state, max_iter=self.max_iter, on_step=remember)
            if checkpoint is not None:
                checkpoint.write(state, backend.to_numpy)
        except (KeyboardInterrupt, NumericalError):
            if checkpoint is not None and state.history:
                checkpoint.write(state, backend.to_numpy)
            # The last solve needs all processes, and the others may be gone.
            if state.history and backend.processes.size == 1:
                self._keep(solver, state, names, files)
            raise
        if not solver.converged(state):
            warnings.warn(
                f"not converged after {state.iteration} sweeps; raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        self._keep(solver, state, names, files)
        # "ones" is solved in one dimension, but the embedding has more.
        if self.calibrate and self.init != "ones":
            self._calibrate(device, state)

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

    def _chosen_before(
        self, aligned: Aligned, stored: Mapping[str, Any] | None
    ) -> Chosen:
        """The settings of a checkpoint; those of older versions chose nothing."""
        if stored is None:
            reason = "The version that began this fit chose nothing."
            return Chosen(self._given(aligned), reason=reason)
        chosen = Chosen.from_dict(stored)
        if not chosen.trials:
            return chosen
        question = self._question(aligned, self._given(aligned))
        return replace(chosen, used=Trials(question).used())

    def _given(self, aligned: Aligned) -> Setting:
        """What the options say, and defaults for what they leave open."""
        tables = [c.name for c in aligned.contexts if c.relatives() is None]
        given = {
            name: getattr(self, name)
            for name in ("dim", "negatives", "descriptive_weight", "stiffness")
            if getattr(self, name) != "auto"
        }
        if self.shrinkage != "auto":
            given["shrinkage"] = dict.fromkeys(tables, float(self.shrinkage))
        return Setting(**given)

    def _chosen(self, aligned: Aligned) -> Chosen:
        """The settings that the options leave open."""
        setting = self._given(aligned)
        is_open = frozenset(
            x.name for x in fields(Setting) if getattr(self, x.name, "auto") == "auto"
        )
        if not self.choose or self.init == "ones" or self.complete_only:
            return Chosen(setting, reason="Choosing was turned off.")
        question = self._question(aligned, setting, is_open)
        with counted_progress(
            "choosing settings", enabled=self.verbose, unit="trials"
        ) as show:
            n_done = itertools.count(1)
            return choose(question, lambda trial: show(next(n_done), USUAL_TRIALS))

    def _question(
        self, aligned: Aligned, given: Setting, is_open: frozenset[str] = frozenset()
    ) -> Question:
        """What trials on hidden cells need to know."""
        return Question(
            aligned,
            given,
            is_open,
            self._posed_penalties,
            self._trial_weights,
            self._backend,
            self.random_state,
        )

    def _measure_weights(self, aligned: Aligned) -> None:
        """Find out which contexts are useful, at the chosen setting."""
        question = self._question(aligned, self.chosen_.setting)
        with counted_progress(
            "weighing contexts", enabled=self.verbose, unit="contexts"
        ) as show:
            shares, reasons = useful_weights(question, self.chosen_.setting, show)
        if not shares:
            warnings.warn(f"weights='auto': {reasons[0]}", PhcleWarning, stacklevel=3)
        self.chosen_ = replace(self.chosen_, shares=shares, weighing=reasons)

    def _posed_penalties(self, setting: Setting) -> Penalties:
        """The λ's of the problem that is solved."""
        penalties = self._penalties(setting)
        if self.init == "ones":  # √d times the 1-norm of the one dimension that is left
            sparsity = penalties.sparsity * setting.dim**0.5
            penalties = replace(penalties, sparsity=sparsity)
        return penalties

    def _penalties(self, setting: Setting) -> Penalties:
        return Penalties(
            negatives=float(setting.negatives),
            descriptive=float(setting.descriptive_weight),
            sparsity=float(self.sparsity),
            ridge=float(self.ridge),
            context_ridge=float(self.context_ridge),
            stiffness=float(setting.stiffness),
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
            device, tol=self.tol, reweigh=reweigh, samples=self._samples(device)
        )

    def _samples(self, device: DeviceProblem) -> ColumnSamples | None:
        """What draws the columns of a sampled fit; None for an exact one."""
        n_labels = len(device.problem.labels)
        is_gpu = device.backend.is_accelerated
        most = GPU_EXACT_PAIRS if is_gpu else EXACT_PAIRS
        is_large = any(
            n_labels * context.n_dense_columns > most
            for context in device.problem.contexts
        )
        if self.mode == "exact" or (self.mode == "auto" and not is_large):
            return None
        if not is_gpu:
            return ColumnSamples(device.problem, SAMPLE, self.random_state)
        return ColumnSamples(
            device.problem, GPU_SAMPLE, self.random_state, most=2 * GPU_SAMPLE
        )

    def _weights(self, problem: Problem) -> dict[str, float]:
        """The weights that the fit starts with."""
        if self.weights == "auto":
            return shared_weights(problem, self.chosen_.shares)
        return self._trial_weights(problem)

    def _trial_weights(self, problem: Problem) -> dict[str, float]:
        """The weights of a trial, in which none are measured."""
        if isinstance(self.weights, Mapping):
            return given_weights(problem, self.weights)
        return equal_weights(problem)

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
            with counted_progress("last solve", enabled=self.verbose):
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
            penalties = self._penalties(self.chosen_.setting)
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
        return {
            "backend": backend.name,
            "device": getattr(backend, "device", "cpu"),
            "mode": "sampled" if is_sampled else "exact",
            "last_solve": "sampled"
            if solves_sample(backend, solver.device.problem)
            else "exact",
            "precision": backend.precision,
            "dtype": self.dtype,
            "processes": backend.processes.size,
        }

    def _calibrate(self, device: DeviceProblem, state: State) -> None:
        """Learn how sure predictions are, and keep it with the contexts."""
        with counted_progress(
            "calibration", enabled=self.verbose, unit="trials"
        ) as show:
            found, skill = calibrate(
                device,
                state,
                seed=self.random_state,
                used=self.chosen_.used,
                on_trial=show,
            )
        contexts = tuple(
            context.with_calibration(found.get(context.name))
            for context in self.embedding_.contexts
        )
        origin = {**self.embedding_.origin, "completion": skill.to_dict()}
        self.embedding_ = replace(self.embedding_, contexts=contexts, origin=origin)


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
