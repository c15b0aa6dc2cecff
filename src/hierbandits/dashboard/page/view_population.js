// What tasks have in common, and where what is not known of them comes from.

import { ofPolicy } from "./api.js";
import { halves, key, rows } from "./charts.js";
import { el } from "./dom.js";
import { number, percent, whole } from "./format.js";
import { cut } from "./view_overview.js";
import { panel } from "./panel.js";

const MOST = 40; // rows that a picture has
const PARTS = "How much is not known of a task, as a variance, on average over the first tasks. Blue: only the task's own rewards can remove it. Orange: it comes from not knowing the population, and rewards of any task remove it.";

export function populationView({ policy }) {
  const hyper = panel("What a task of which nothing is known yet is expected to be like: the mean of all tasks, as the policy knows it from all of them. Bars are 95 % intervals of that mean; single tasks lie around it.");
  const parts = panel(PARTS);
  const panels = el("div", { class: "panels" }, hyper.root, parts.root);
  const root = el("div", {}, el("h1", {}, "What tasks have in common"), panels);
  const levels = new Map(); // of a deep hierarchy: a panel for each level between the population and its tasks
  const levelPanel = (level) => {
    if (!levels.has(level)) {
      const made = panel("What a new task of the group is expected to be like. A group lies between those above it and its own tasks. Bars are 95 % intervals.");
      levels.set(level, made);
      panels.append(made.root);
    }
    return levels.get(level);
  };
  return {
    root,
    paths: () => [ofPolicy(policy, "/population")],
    draw(found) {
      const name = (row) => row.arm ?? `feature ${row.feature}`;
      const all = found.rows;
      const isArmed = all.length && all[0].arm !== undefined;
      const ranked = isArmed ? [...all].sort((a, b) => b.mean - a.mean) : all;
      const some = ranked.slice(0, MOST);
      const what = isArmed ? "mean reward of an average task" : "weight of the feature in an average task";
      const [first, second] = ranked;
      const left = all.length > MOST ? ` (the first ${MOST} of ${whole(all.length)})` : "";
      const finding = !isArmed ? `The weights of ${whole(all.length)} features in an average task${left}`
        : all.length < 2 || first.low > second.high ? `“${cut(name(first))}” is best on average: ${number(first.mean)}${left}`
          : `“${cut(name(first))}” looks best on average, but its interval overlaps with others${left}`;
      hyper.show(finding, (width) => rows(width, some.map((row) => ({ name: name(row), marks: [
        { shape: "dot", color: "c0", mean: row.mean, low: row.low, high: row.high, title: `${name(row)}: ${number(row.mean)}, 95 % interval ${number(row.low)} to ${number(row.high)}` },
      ] })), { xLabel: what }), {
        columns: [{ title: isArmed ? "arm" : "feature", text: true }, { title: "mean" }, { title: "95 % interval" }],
        rows: ranked.slice(0, 500).map((row) => [name(row), number(row.mean), `${number(row.low)} to ${number(row.high)}`]),
      });
      for (const [level, some] of byLevel(found.groups)) drawLevel(levelPanel(level), level, some, name, what);
      if (!all.length || all[0].within_var === null) {
        return parts.say("No task was met yet", "Once tasks are met, this shows how much of what is not known is their own.");
      }
      const sum = (key) => all.reduce((one, row) => one + row[key], 0);
      const share = sum("shared_var") / (sum("shared_var") + sum("within_var") || 1);
      parts.show(
        share > 0.5
          ? `${percent(share)} of what is not known is shared: rewards of any task help all others`
          : `${percent(1 - share)} of what is not known is the tasks' own: each must learn it from its own rewards`,
        (width) => halves(width, some.map((row) => ({ name: name(row), parts: [row.within_var, row.shared_var], title: `${name(row)}: own ${number(row.within_var)}, shared ${number(row.shared_var)}` })), { xLabel: found.tasks_looked_at === 1 ? "variance, of one task" : `variance, mean over ${whole(found.tasks_looked_at)} tasks` }),
        {
          legend: [key("c0", "the task's own (within)"), key("c1", "shared with all tasks")],
          reading: left ? `${PARTS} These are${left.replace(/[()]/g, "")}.` : PARTS,
          columns: [{ title: isArmed ? "arm" : "feature", text: true }, { title: "within" }, { title: "shared" }],
          rows: ranked.slice(0, 500).map((row) => [name(row), number(row.within_var), number(row.shared_var)]),
        },
      );
    },
  };
}

function byLevel(groups) {
  const levels = new Map();
  for (const row of groups) {
    const level = row.group.length;
    levels.set(level, [...(levels.get(level) ?? []), row]);
  }
  return levels;
}

function drawLevel(where, level, all, name, what) {
  const groupName = (row) => row.group.join(" / ");
  const count = new Set(all.map(groupName)).size;
  const title = (row) => `${row.group.at(-1)}: ${name(row)}`;
  where.show(`Level ${level}: ${count === 1 ? "one group" : `${whole(count)} groups`} of tasks`,
    (width) => rows(width, all.slice(0, MOST).map((row) => ({ name: title(row), marks: [
      { shape: "dot", color: "c0", mean: row.mean, low: row.low, high: row.high, title: `${groupName(row)}, ${name(row)}: ${number(row.mean)}, 95 % interval ${number(row.low)} to ${number(row.high)}` },
    ] })), { xLabel: what.replace("an average task", "the group's tasks") }), {
      columns: [{ title: "group", text: true }, { title: "arm or feature", text: true }, { title: "mean" }, { title: "95 % interval" }],
      rows: all.slice(0, 500).map((row) => [groupName(row), String(name(row)), number(row.mean), `${number(row.low)} to ${number(row.high)}`]),
    });
}
