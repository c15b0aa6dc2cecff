"""A scientist's day: from a messy log to a plan, in one sitting.

    python examples/scientists_day.py          # leaves stores.csv, reports and agent.hb here

The log has 150 stores, four promotions and what customers spent.  Which promotion should a store
offer next, and should stores learn from each other?
"""

from dataclasses import replace

import hierbandits as hb

# %% In the morning a colleague sends the log.  What is in it, and what is wrong with it?
path = hb.datasets.sample_log("stores.csv")
guess = hb.inspect(path)
print("Columns:", dict(guess.proposal))

roles = {**guess.proposal}  # check the guess: here it is right
looked = hb.inspect(path, **roles, reading=guess.suggested)
for problem in looked.problems:
    print(f"{'Problem' if problem.stops else 'Look at this'}: {problem}")

# %% Read it as the inspection suggests; and "FREE SHIPPING" is "free shipping" here.
reading = replace(looked.suggested, merge_names=True)
log = hb.Log.read(path, hb.Columns(**roles), reading=reading)
past = log.sums()
print(f"{past.num_rows:,} orders of {len(past.tasks)} stores, promotions: {list(past.arms)}")

# %% Before lunch: are stores alike, and which of them stand out?
prior, report = hb.learn_prior(log, runs=4, seed=0)  # few runs: a first look
for paragraph in report.verdict:
    print(paragraph)
print("Page:", report.write("results/learn"))

# %% After lunch: what would another policy have earned on these very orders?
evaluation = hb.evaluate(log, ["best arm", "HierOPO", "uniform"])
print(evaluation.verdict)
evaluation.write("results/evaluate")

# %% In the evening: an agent that has learned the log, for the engineers to run.
agent = hb.Agent(report.start, seed=0, draws=100)
for store in (past.tasks[0], "a store that opens tomorrow"):
    decision = agent.decide(store, best=True)
    print(f"{store}: {decision.arm}")
agent.save("agent.hb")
