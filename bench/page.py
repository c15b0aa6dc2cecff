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

The benchmarks measure every figure below and write this page:

    make bench

This runs `python -m bench`. An event is one decision among {num_arms} arms and the reward that
follows it. All tasks share one table of arms, and covariances are dense. Unless the text says
otherwise, everything runs on one thread and each figure is the best of {times} short repetitions.
Figures that are compared with each other take their repetitions in turn.

Measured on {date} on {processor} ({cores} cores, {system}) with Python {python},
{versions}.

## Targets

{targets}

## Batched, and the machine's limit

HierTS, by `policy.act` and `policy.learn`, with {round:,} random tasks in a round. The time counts
the look-up of the chosen arms' features, but not the making of their rewards. The column "act" is
the share of `act` in the time.

The limit is the time that a perfect program on this machine would need for an event. It is the sum
of three parts, which are measured in the same run and compiled in the same way:

- sums: 22 d² + 2 K d floating-point operations, at the best rate of multiply-adds on numbers in
  the first-level cache, {gigaflops:.0f} GFLOP/s here;
- memory: one read and one write of the d² numbers of a random task, in a table as large as that
  of all tasks;
- normals: d standard normals from numpy. The limit counts d for every event. In a round of
  {round:,} events over {few_tasks:,} tasks some tasks repeat and share a draw, so we draw fewer.

{batched}

## One event at a time

`agent.decide` and `agent.reward`, with task names, decision ids and argument checks. The agent has
met every task before. It computes no propensities.

{agent}

## Peers

d = {contest_dim}, {contest_tasks:,} tasks, the same events for all. "Inner" rows call private
functions of a library, past its argument checks and containers. "numpy HierTS" recomputes the
paper's sums over all tasks at every decision. Only it and hierbandits share what tasks have in
common. vowpalwabbit is not Bayesian and keeps one model, crossed with the task. The target is
judged by the fastest of {documented}, one learner per task, by documented calls{rival}.

{contest}

## Length of the history

Batched, d = {contest_dim}, {contest_tasks:,} tasks.

{history}

## Memory

The bytes that a belief holds for each node, over the 8 (d² + d) bytes of the mean and factor that
a node must keep. "Known up front" makes {memory_tasks:,} tasks at once. "Growing" adds them one
at a time and shows the largest ratio on the way. The root of a population is a node too. The last
column is a belief of one task: it holds two nodes, and all its bytes count for the one task.

{memory}

## Studies

HierTS on the paper's synthetic problem: ten tasks of 200 interactions in rounds of five. The first
row is a run by `simulate` on one thread, when {study_runs} runs step together. The second is
Algorithm 1 in plain numpy, as a reader of the paper would write it: sums over tasks by array
operations, draws by numpy's `multivariate_normal`. It is the one that the target compares with. The
third draws by a Cholesky factor instead. `hierbandits reproduce synthetic` with {figure_runs:,}
runs took {figure_seconds:.0f} s on all cores; this includes compiling the kernels.

{study}

## Widths unknown

AdaptiveHierTS, which learns the widths and the noise as it goes, beside HierTS, both batched.
"First" is the mean over the first {adaptive_events:,} events, and "later" is after them, both with
the looks at the widths that fall due.

{adaptive}

One at a time, over {long_events:,} events in {long_tasks:,} tasks at random, the longest `decide`
or `reward` of an agent with 16 features took {long_ms:.1f} ms of its thread's time, after
`hb.warm_up()`. The agent held at most {long_gb:.2f} GB at any time.

## Learning widths

`hb.fit_prior` with full covariances and no weak priors, beside statsmodels' MixedLM with default
settings and restricted likelihood. Both get the same rows, about {mixed_events} a task; our time
includes summing them. Each figure is the best of {mixed_times} repetitions. "Log evidence" is that
of our widths less that of MixedLM's, by the same function. "Apart" is the largest difference of a
variance or covariance, over the largest task variance.

{mixed}

`hb.learn_prior` with full covariances on a Parquet file that has a column for each feature. It runs
in a process of its own, on two cores. The time includes imports and all findings of the report: a
second pass for the calibration, and 200 simulated worlds for the regret saved.

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
        long_events=results.long_calls.events,
        long_tasks=results.long_calls.num_tasks,
        long_ms=results.long_calls.milliseconds,
        long_gb=results.long_calls.gigabytes,
        mixed_events=EVENTS,
        mixed_times=min(results.sizes.times, 5),
        mixed=mixed_table(results).markdown(),
        learning=learning_table(results).markdown(),
    )
