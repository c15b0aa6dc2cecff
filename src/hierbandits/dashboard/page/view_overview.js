// What a policy has earned, which arms it plays, whether its predictions hold, what is awaited.

import { ofPolicy } from "./api.js";
import { calibration, columns, key, lines, stacks } from "./charts.js";
import { el, fill } from "./dom.js";
import { duration, moment, number, percent, whole } from "./format.js";
import { panel } from "./panel.js";

const OTHERS = "\u0000others";
const NAMED = 8; // arms that have a colour of their own
const Z = 1.96;

export function overviewView({ policy }) {
  const head = el("div");
  const reward = panel("Each point is the mean reward of the decisions made in one span of time, long enough for 20 rewards; a reward counts when its decision was made, so late rewards raise or lower points of the past. Bands are 95 % intervals of these means, as if decisions were independent of each other.");
  const arms = panel("The share of each arm in the decisions of one span of time. Control tasks are left out; in shadow mode it is what the policy would have played.");
  const truth = panel("Decisions are grouped by the reward that the policy expected when it decided. Points on the dashed line came true. Vertical: the mean reward with its 95 % interval. Horizontal, grey: the 95 % interval that the policy gave for the mean reward of a typical decision there; very long ones are cut at the edge.");
  const fate = panel("How long rewards took from decision to arrival; each column is twice as long as the one before.");
  const root = el("div", {}, head, el("div", { class: "panels" }, reward.root, arms.root, truth.root, fate.root));
  const charts = root.lastElementChild;
  charts.hidden = true;
  return {
    root,
    paths: () => [ofPolicy(policy), ofPolicy(policy, "/history")],
    begin(shown) {
      fill(head, heading(shown, null));
    },
    draw(shown, history) {
      fill(head, heading(shown, history));
      charts.hidden = false;
      drawReward(reward, history, shown);
      drawArms(arms, history, shown);
      drawTruth(truth, history, shown);
      drawFate(fate, history, shown);
    },
  };
}

function heading(shown, history) {
  const counts = history?.counts;
  const given = counts?.decisions ? counts.rewarded / counts.decisions : null;
  const tiles = [
    [whole(shown.tasks), "tasks"], [whole(counts?.decisions), "decisions"],
    [whole(shown.rewards), "rewards learned"], [percent(given), "of the decisions have their reward"],
    [whole(shown.pending), "decisions wait for a reward"], [whole(counts?.late), "rewards came after the wait"],
    [whole(counts?.defaulted), "got the default reward"], [whole(counts?.dropped), "were given up"],
  ].filter(([value], i) => i < 5 || (counts && value !== "0"));
  const mode = shown.settings.mode === "shadow" ? "Runs in shadow: you play, it watches." : "Decides live.";
  return [
    el("h1", { dir: "auto" }, shown.name),
    history?.counted_to ? el("p", { class: "soft", role: "status" }, `Older decisions are still being counted. What is drawn goes until ${moment(history.counted_to)}; this page goes on by itself.`) : null,
    el("p", { dir: "auto" }, `${shown.settings.description || ""} ${mode} Version ${shown.version}.`.trim()),
    el("ul", { class: "tiles" }, tiles.map(([value, name]) => el("li", {}, el("b", {}, value), name))),
  ];
}

// The mean of rewards and its 95 % interval from a count, a sum and a sum of squares.
export function mean([, n, sum, squares]) {
  if (n < 1) return null;
  const centre = sum / n;
  const spread = n > 1 ? Math.sqrt(Math.max(squares - n * centre * centre, 0) / (n - 1) / n) : NaN;
  return { n, centre, error: spread, low: centre - Z * spread, high: centre + Z * spread };
}

// Neighbouring spans of time put together until each has rewards enough for an interval.
function spans(curve, groups, width) {
  const least = Math.max(20, total(curve, groups)[1] / 40);
  const found = [];
  let open = null;
  for (const one of curve) {
    open ??= { time: one.time, sum: [0, 0, 0, 0] };
    total([one], groups).forEach((value, i) => (open.sum[i] += value));
    open.span = one.time + width - open.time;
    if (open.sum[1] >= least) {
      found.push(open);
      open = null;
    }
  }
  if (open && found.length) {
    const last = found.at(-1);
    open.sum.forEach((value, i) => (last.sum[i] += value));
    last.span = open.time + open.span - last.time;
  } else if (open) found.push(open);
  return found;
}

function total(curve, groups) {
  const sum = [0, 0, 0, 0];
  for (const one of curve) {
    for (const name of groups) (one.groups[name] ?? []).forEach((value, i) => (sum[i] += value));
  }
  return sum;
}

const GROUPS = { policy: ["policy", "sticky"], control: ["control"], shadow: ["shadow"], previous: ["previous"] };
const TITLES = { policy: "the policy", control: "control", shadow: "your own choices (shadow)", previous: "the version before" };

function drawReward(where, { curve, width }, shown) {
  const found = Object.entries(GROUPS)
    .map(([name, groups]) => ({ name, groups, sum: mean(total(curve, groups)) }))
    .filter((one) => one.sum !== null);
  if (!found.length) {
    return where.say("No reward has come yet", "Once rewards come, this shows the mean reward over time, and that of the control group beside it.");
  }
  const series = found.map(({ name, groups }, i) => ({
    name, color: `c${i}`, dash: name === "control" ? "6 4" : null,
    points: spans(curve, groups, width).flatMap(({ time, span, sum }) => {
      const here = mean(sum);
      if (here === null) return [];
      const edge = Number.isFinite(here.error) ? { low: here.low, high: here.high } : {};
      const interval = edge.low === undefined ? "" : `, 95 % interval ${number(here.low)} to ${number(here.high)}`;
      return [{ x: time + span / 2, y: here.centre, ...edge, n: here.n, time,
        title: `from ${moment(time)}, ${duration(span)}, ${TITLES[name]}: ${number(here.centre)}${interval}, ${whole(here.n)} rewards` }];
    }),
  }));
  where.show(
    verdict(found, shown),
    (room) => lines(room, series, { xLabel: "time of the decision", yLabel: "mean reward per decision" }),
    {
      legend: series.map((one) => key(one.color, TITLES[one.name], "line", one.dash)),
      columns: [{ title: "from", text: true }, { title: "who", text: true }, { title: "mean reward" }, { title: "95 % interval" }, { title: "rewards" }],
      rows: series.flatMap((one) => one.points.map((point) => [
        moment(point.time), TITLES[one.name], number(point.y),
        point.low === undefined ? "–" : `${number(point.low)} to ${number(point.high)}`, whole(point.n),
      ])).reverse(),
    },
  );
}

function verdict(found, shown) {
  const [policy, control] = ["policy", "control"].map((name) => found.find((one) => one.name === name)?.sum);
  if (!policy || !control || !Number.isFinite(policy.error) || !Number.isFinite(control.error)) {
    const one = found[0];
    const none = shown.settings.control_share ? "" : "; there is no control group to compare with";
    return `${TITLES[one.name][0].toUpperCase()}${TITLES[one.name].slice(1)} earned ${number(one.sum.centre)} per decision${none}`;
  }
  const gain = policy.centre - control.centre;
  const error = Z * Math.hypot(policy.error, control.error);
  const interval = `95 % interval ${number(gain - error)} to ${number(gain + error)}`;
  if (gain - error > 0) return `The policy earns ${number(gain)} more per decision than control (${interval})`;
  if (gain + error < 0) return `The policy earns ${number(-gain)} less per decision than control (${interval})`;
  return `Policy and control cannot be told apart yet: the difference is ${number(gain)} (${interval})`;
}

function drawArms(where, { curve, width }, shown) {
  const sums = new Map();
  for (const one of curve) {
    for (const [arm, row] of Object.entries(one.arms)) sums.set(arm, (sums.get(arm) ?? 0) + row[0]);
  }
  if (!sums.size) return where.say("No arm was chosen yet", "Once there are decisions, this shows how often each arm is played.");
  const ranked = [...sums].filter(([arm]) => arm !== OTHERS).sort((a, b) => b[1] - a[1]).map(([arm]) => arm);
  const named = ranked.slice(0, NAMED);
  const hasOthers = ranked.length > NAMED || sums.has(OTHERS);
  const bars = curve.flatMap((one) => {
    const all = Object.values(one.arms).reduce((sum, row) => sum + row[0], 0);
    if (!all) return [];
    const parts = named.map((arm) => (one.arms[arm]?.[0] ?? 0) / all);
    parts.push(Math.max(1 - parts.reduce((a, b) => a + b, 0), 0));
    const words = named.map((arm, i) => `${arm}: ${percent(parts[i])}`).concat(hasOthers ? [`all others: ${percent(parts.at(-1))}`] : []);
    return [{ x: one.time, parts, all, title: `${moment(one.time)}, ${whole(all)} decisions\n${words.join("\n")}` }];
  });
  const now = bars.at(-1);
  const top = now.parts.slice(0, named.length).reduce((best, share, i, all) => (share > all[best] ? i : best), 0);
  const verb = shown.settings.mode === "shadow" ? "would be played" : "is played";
  where.show(
    `“${cut(named[top])}” ${verb} most now: ${percent(now.parts[top])} of the latest decisions`,
    (room) => stacks(room, bars, width, { xLabel: "time of the decision", yLabel: "share of decisions" }),
    {
      legend: named.map((arm, i) => key(`c${i}`, arm)).concat(hasOthers ? [key("c8", "all others")] : []),
      columns: [{ title: "from", text: true }, { title: "decisions" }, ...named.map((arm) => ({ title: cut(arm) })), ...(hasOthers ? [{ title: "all others" }] : [])],
      rows: bars.map((one) => [moment(one.x), whole(one.all), ...one.parts.slice(0, named.length + (hasOthers ? 1 : 0)).map(percent)]).reverse(),
    },
  );
}

export function cut(text, most = 30) {
  return String(text).length > most ? `${[...String(text)].slice(0, most).join("")}…` : String(text);
}

function drawTruth(where, { calibration: bins }, shown) {
  if (!bins.length) {
    const words = shown.settings.draws === 0
      ? "The policy was told to make no draws (draws = 0): then it notes no predictions."
      : "Once rewards come, this compares them with what the policy expected.";
    return where.say("No prediction can be checked yet", words);
  }
  const joined = together(bins);
  const most = Math.max(...joined.map((one) => one[0]));
  const points = joined.map(([n, expected, squares, sum, sumSquares]) => {
    const here = mean([n, n, sum, sumSquares]);
    const error = Number.isFinite(here.error) ? here.error : 0;
    const [x, std] = [expected / n, Math.sqrt(Math.max(squares / n, 0))];
    return { n, x, left: x - Z * std, right: x + Z * std, y: here.centre, error, low: here.centre - Z * error, high: here.centre + Z * error,
      size: 2.5 + 4 * Math.sqrt(n / most),
      title: `expected ${number(x)}, came ${number(here.centre)} (95 % interval ${number(here.low)} to ${number(here.high)}), ${whole(n)} rewards` };
  });
  const judged = points.filter((one) => one.n >= 30);
  const kept = judged.filter((one) => Math.abs(one.y - one.x) <= Z * one.error + (one.right - one.x)).length;
  const finding = judged.length
    ? `Predictions agree with rewards in ${kept} of ${judged.length} groups of decisions`
    : "Too few rewards yet to judge the predictions";
  where.show(finding, (room) => calibration(room, points, { xLabel: "expected reward when it decided", yLabel: "mean reward that came" }), {
    legend: [key("c0", "mean reward, 95 % interval", "dot"), key("c8", "what the policy gave as its 95 % interval", "line")],
    columns: [{ title: "expected" }, { title: "its 95 % interval" }, { title: "came" }, { title: "95 % interval" }, { title: "rewards" }],
    rows: points.map((one) => [number(one.x), `${number(one.left)} to ${number(one.right)}`, number(one.y), `${number(one.low)} to ${number(one.high)}`, whole(one.n)]),
  });
}

// Neighbouring groups put together until each has 30 rewards, where there are so many.
function together(bins) {
  const found = [];
  let open = null;
  for (const one of bins) {
    open = open ? open.map((value, i) => value + one[i]) : [...one];
    if (open[0] >= 30) {
      found.push(open);
      open = null;
    }
  }
  if (open && found.length) found.push(found.pop().map((value, i) => value + open[i]));
  else if (open) found.push(open);
  return found;
}

function drawFate(where, { delays, counts }, shown) {
  const wait = shown.settings.reward_wait;
  const rule = wait === null
    ? "Decisions wait for their rewards for ever."
    : `After ${duration(wait)} a decision ${shown.settings.default_reward === null ? "is given up" : `gets the default reward ${number(shown.settings.default_reward)}, until its own comes`}.`;
  if (!delays.length) return where.say(`${whole(shown.pending)} decisions wait for a reward`, `No reward has come yet. ${rule}`);
  const all = delays.reduce((sum, [, n]) => sum + n, 0);
  let [sum, half] = [0, delays.at(-1)[0]];
  for (const [until, n] of delays) {
    sum += n;
    if (sum >= all / 2) { half = until; break; }
  }
  const found = new Map(delays);
  const bars = [];
  for (let until = delays[0][0]; until <= delays.at(-1)[0]; until *= 2) {
    const n = found.get(until) ?? 0;
    bars.push({ text: until < 0.001 ? "at once" : `< ${short(until)}`, value: n, title: `up to ${duration(until)}: ${whole(n)} rewards` });
  }
  const late = counts.late ? `, ${whole(counts.late)} came after the wait` : "";
  where.show(
    `Half of the rewards come within ${duration(half)}; ${whole(shown.pending)} decisions wait${late}`,
    (room) => columns(room, bars, { xLabel: "time from decision to reward", yLabel: "rewards" }),
    { legend: [el("li", { class: "soft" }, rule)], columns: [{ title: "up to" }, { title: "rewards" }], rows: bars.map((one) => [one.title.split(":")[0], whole(one.value)]) },
  );
}

function short(seconds) {
  const [size, unit] = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"], [0.001, "ms"]].find(([size]) => seconds >= size) ?? [1, "s"];
  return `${number(seconds / size, 2)} ${unit}`;
}
