// One task: what its own rewards say, what the population says, and what the policy makes of both.

import { ofPolicy } from "./api.js";
import { halves, key, rows } from "./charts.js";
import { el, fill } from "./dom.js";
import { number, percent, whole } from "./format.js";
import { cut } from "./view_overview.js";
import { panel } from "./panel.js";

const MOST = 40;
const SHRUNK = "Ring: the mean of the task's own rewards alone; an arm that it never had has none. Diamond: the population, what is known of tasks in general. Dot: what the policy believes, which lies between the two, nearer to the own rewards the more there are. Bars are 95 % intervals.";
const PARTS = "How much is not known of this task, as a variance. Blue: only its own rewards can remove it. Orange: rewards of other tasks remove it too.";

export function taskView({ policy, rest }) {
  const head = el("div");
  const [shrunk, parts] = [panel(SHRUNK), panel(PARTS)];
  const root = el("div", {}, head, shrunk.root, parts.root);
  return {
    root,
    paths: () => [ofPolicy(policy, `/tasks/${encodeURIComponent(rest)}`)],
    draw(found) {
      const all = found.rows;
      const isArmed = all.length && all[0].arm !== undefined;
      const name = (row) => row.arm ?? `feature ${row.feature}`;
      const ranked = isArmed ? [...all].sort((a, b) => b.mean - a.mean) : all;
      const some = ranked.slice(0, MOST);
      const rewards = isArmed ? all.reduce((sum, row) => sum + row.rewards, 0) : all[0]?.rewards;
      fill(head, el("h1", { dir: "auto" }, found.label), el("p", {}, `${whole(found.decisions)} decisions, ${whole(rewards)} rewards.`));
      const pull = pulled(all);
      const left = all.length > MOST ? ` These are the first ${MOST} of ${whole(all.length)} ${isArmed ? "arms" : "features"}.` : "";
      const finding = pull === null ? "The task has no rewards of its own: it is believed to be as tasks are in general"
        : `What is believed lies ${percent(pull)} of the way from the population to the task's own rewards`;
      shrunk.show(finding, (width) => rows(width, some.map((row) => ({ name: name(row), marks: [
        { shape: "dot", color: "c0", mean: row.mean, low: row.low, high: row.high, title: `believed: ${number(row.mean)}, 95 % interval ${number(row.low)} to ${number(row.high)}` },
        { shape: "ring", color: "c1", mean: row.own_mean, title: `own rewards alone: ${number(row.own_mean)}, ${whole(row.rewards)} rewards` },
        { shape: "diamond", color: "c2", mean: row.population_mean, low: row.population_low, high: row.population_high, title: `population: ${number(row.population_mean)}, 95 % interval ${number(row.population_low)} to ${number(row.population_high)}` },
      ] })), { xLabel: isArmed ? "mean reward" : "weight of the feature" }), {
        reading: SHRUNK + left,
        legend: [key("c0", "believed of this task", "dot"), key("c1", "its own rewards alone", "ring"), key("c2", "the population", "diamond")],
        columns: [{ title: isArmed ? "arm" : "feature", text: true }, { title: "rewards" }, { title: "own rewards alone" }, { title: "population" }, { title: "believed" }, { title: "95 % interval" }],
        rows: ranked.slice(0, 500).map((row) => [name(row), whole(row.rewards), number(row.own_mean), number(row.population_mean), number(row.mean), `${number(row.low)} to ${number(row.high)}`]),
      });
      const sum = (part) => all.reduce((one, row) => one + row[part], 0);
      const share = sum("shared_var") / (sum("shared_var") + sum("within_var") || 1);
      parts.show(
        `${percent(share)} of what is not known of this task is shared with others`,
        (width) => halves(width, some.map((row) => ({ name: name(row), parts: [row.within_var, row.shared_var], title: `${name(row)}: own ${number(row.within_var)}, shared ${number(row.shared_var)}` })), { xLabel: "variance" }),
        {
          reading: PARTS + left,
          legend: [key("c0", "the task's own (within)"), key("c1", "shared with all tasks")],
          columns: [{ title: isArmed ? "arm" : "feature", text: true }, { title: "within" }, { title: "shared" }],
          rows: ranked.slice(0, 500).map((row) => [cut(name(row)), number(row.within_var), number(row.shared_var)]),
        },
      );
    },
  };
}

// How far the beliefs have moved from the population to the own rewards, on average over arms.
function pulled(rows) {
  const ways = rows.filter((row) => row.own_mean !== null && Math.abs(row.own_mean - row.population_mean) > 1e-9)
    .map((row) => [row.rewards, (row.mean - row.population_mean) / (row.own_mean - row.population_mean)])
    .filter(([, way]) => way >= 0 && way <= 1);
  const weight = ways.reduce((sum, [n]) => sum + n, 0);
  return weight ? ways.reduce((sum, [n, way]) => sum + n * way, 0) / weight : null;
}
