"""The page that documents a run: what is measured, how to repeat it, and every table."""

from bench.mixed import EVENTS
from bench.peers import DOCUMENTED
from bench.results import Results
from bench.tables import (
    adaptive_table,
    agent_table,
    batched_table,
    contest_table,
    history_table,
    learning_table,
    memory_table,
    mixed_table,
    startup_table,
    study_table,
    targets_table,
)
from bench.workload import NUM_ARMS, ROUND

_PAGE = """\
# Benchmarks

This page is written by the benchmarks themselves:

    make bench

which runs `python -m bench`. An event is one decision among {num_arms} arms and the one reward
that follows it. All tasks share one table of arms, covariances are dense, everything runs on one
thread, and each figure is the best of {times} short repetitions that are interleaved with those
it is compared with.

Measured on {date} on {processor} ({cores} cores, {system}) with Python {python},
{versions}.

## Targets

{targets}

## Batched, and the machine's limit

`policy.act` and `policy.learn` of HierTS, {round:,} random tasks in a round. To look up the
features of the chosen arms counts; to make up their rewards does not. The share of `act` in the
time is under "act".

The limit is what a perfect program on this machine would need for an event, the sum of three
parts, measured in the same run and compiled in the same way:

- sums: 22 d² + 2 K d floating-point operations, at the best rate of multiply-adds on numbers in
  the first-level cache, {gigaflops:.0f} GFLOP/s here;
- memory: one read and one write of the d² numbers of a random task, in a table as large as that
  of all tasks;
- normals: d standard normals from numpy. In a round of {round:,} events over {few_tasks:,} tasks
  some tasks repeat and share their draw, so fewer are drawn; the limit counts d for every event.

{batched}

## One event at a time

`agent.decide` and `agent.reward`, with task names, decision ids and argument checks, after every
task has been met. No propensities.

{agent}

## Peers

d = {contest_dim}, {contest_tasks:,} tasks, the same events for all. "Inner" rows call private
functions of a library, past its argument checks and containers. "numpy HierTS" recomputes the
paper's sums over all tasks at every decision; it and ours alone share what tasks have in common.
vowpalwabbit is not Bayesian and keeps one model, crossed with the task. The target counts the
fastest of {documented}, one learner per task, by documented calls{rival}.

{contest}

## Length of the history

Batched, d = {contest_dim}, {contest_tasks:,} tasks.

{history}

## Memory

Bytes that a belief holds, over the 8 (d² + d) bytes of the mean and factor that each of its nodes
must keep: known up front ({memory_tasks:,} tasks at once), and the largest while it grows to that
size one task at a time. A population's root is a node like its tasks, so that a belief of one
task holds two nodes: divided by its tasks alone it is over the target there, as the last column
shows, and under it from two tasks on.

{memory}

## Studies

The paper's synthetic problem, HierTS, ten tasks of 200 interactions in rounds of five: a run by
`simulate` on one thread, {study_runs} runs stepped together, beside Algorithm 1 in plain numpy as
a reader of the paper would write it (sums over tasks by array operations, draws by numpy's
`multivariate_normal`), which the target counts, and the same with draws by a Cholesky factor.
`hierbandits reproduce synthetic` with {figure_runs:,} runs took {figure_seconds:.0f} s on all
cores, kernels compiled on the way.

{study}

## Widths unknown

AdaptiveHierTS, which learns the widths and the noise as it goes, beside HierTS, batched. "First"
is the mean over the first {adaptive_events:,} events, the looks at which candidates come and go
included; "later" is after them, when those without weight are dropped.

{adaptive}

## Learning widths

`fit_prior` with full covariances and no weak priors, the sums of the rows included, beside
statsmodels' MixedLM with its default settings and restricted likelihood, on the same rows: about
{mixed_events} a task. The best of {mixed_times} interleaved repetitions, one thread. "Log
evidence" is that of our widths less that of MixedLM's, by the same function; "apart" is the
largest difference of a variance or covariance, over the largest task variance.

{mixed}

`hb.learn_prior` with full covariances on a Parquet file of a column for each feature, all findings
of its report included (a second pass for the calibration, 200 simulated worlds for the regret
saved), in a process of its own that has two cores; imports are included.

{learning}

## A new process

{startup}
"""


def page(results: Results, machine: dict[str, str], versions: dict[str, str], date: str) -> str:
    """The page as Markdown."""
    contest = results.contest
    return _PAGE.format(
        **machine,
        num_arms=NUM_ARMS,
        round=ROUND,
        times=results.sizes.times,
        date=date,
        versions=", ".join(f"{name} {number}" for name, number in versions.items()),
        targets=targets_table(results).markdown(),
        gigaflops=max(cost.gigaflops for cost in results.batched),
        few_tasks=results.sizes.few_tasks,
        batched=batched_table(results.batched).markdown(),
        agent=agent_table(results.agent).markdown(),
        contest_dim=contest.dim,
        contest_tasks=contest.num_tasks,
        documented=", ".join(DOCUMENTED),
        rival="" if contest.rival is None else f": here {contest.rival}",
        contest=contest_table(contest).markdown(),
        history=history_table(results).markdown(),
        memory_tasks=results.sizes.memory_tasks,
        study_runs=results.study.runs,
        figure_runs=results.study.figure_runs,
        figure_seconds=results.study.figure_seconds,
        study=study_table(results).markdown(),
        memory=memory_table(results).markdown(),
        startup=startup_table(results).markdown(),
        adaptive_events=results.adaptive[0].events,
        adaptive=adaptive_table(results).markdown(),
        mixed_events=EVENTS,
        mixed_times=min(results.sizes.times, 5),
        mixed=mixed_table(results).markdown(),
        learning=learning_table(results).markdown(),
    )
