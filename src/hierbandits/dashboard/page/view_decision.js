// One decision, made once more: what the policy believed, what it drew, and why it chose this arm.

import { ofPolicy } from "./api.js";
import { key, rows } from "./charts.js";
import { el, fill, nameOf } from "./dom.js";
import { moment, number, percent, whole } from "./format.js";
import { panel } from "./panel.js";
import { GROUPS } from "./view_decisions.js";

const SCORES = { value: "value in the draw that counted", "best in draws": "best in so many draws", shortfall: "expected loss (shortfall)", insight: "what it would teach (insight)", share: "share in the mixture", bound: "upper bound" };
const KNOWN = "Dots are what the policy expected of each arm at the moment of the decision, with 95 % intervals of their mean rewards.";
const HOW = {
  draws: "Small strokes are the values of an arm in the draws. The triangle is its value in the draw that counted: the arm whose triangle is furthest to the right was chosen.",
  mixture: "Small strokes are the values of an arm in the draws, from which its expected loss and what it would teach were computed.",
  bounds: "The diamond is the bound: the arm whose diamond is furthest to the right was chosen.",
};
const SHARES = new Set(["best in draws", "share"]);

export function decisionView({ policy, rest }) {
  const head = el("div");
  const picture = panel(KNOWN);
  const root = el("div", {}, head, picture.root);
  return {
    root,
    isStill: true, // the past does not change
    paths: () => [ofPolicy(policy, `/decisions/${encodeURIComponent(rest)}/account`)],
    draw(found) {
      const one = found.decision;
      const base = `#/policy/${encodeURIComponent(policy)}`;
      const facts = [
        ["Task", el("a", { href: `${base}/task/${encodeURIComponent(found.key)}` }, nameOf(found.label))],
        ["Arm", nameOf(one.arm)], ["When", moment(one.time)], ["Decided by", GROUPS[one.group ?? "policy"] ?? one.group],
        ["Propensity", percent(one.propensity)], ["Expected reward", number(one.expected)], ["Gap", number(one.gap)],
        ["Reward", one.reward === null ? "waits" : `${number(one.reward)}${one.provisional ? " (the default)" : ""}`],
        ["Version of the policy", one.policy_version], ["Id", nameOf(one.id)],
      ];
      fill(head,
        el("h1", {}, "Why this arm?"),
        el("div", { class: "answer" }, (found.why ?? []).map((words) => el("p", { dir: "auto" }, words))),
        found.problem ? el("p", { class: "error" }, `This decision cannot be made once more. ${found.problem}`) : null,
        el("dl", {}, facts.flatMap(([title, value]) => [el("dt", {}, title), el("dd", {}, value instanceof Node ? value : String(value))])),
      );
      picture.root.hidden = !found.arms?.length;
      if (!found.arms?.length) return;
      const names = Object.keys(found.arms[0].scores);
      const chosen = one.would ?? one.arm;
      const items = found.arms.map((arm, i) => ({
        name: arm.arm === chosen ? `▸ ${arm.arm}` : arm.arm,
        strokes: found.draws?.map((draw) => draw[i]) ?? [],
        marks: [
          { shape: "dot", color: "c0", mean: arm.mean, low: arm.low, high: arm.high, title: `expected ${number(arm.mean)}, 95 % interval ${number(arm.low)} to ${number(arm.high)}` },
          ...("value" in arm.scores ? [{ shape: "star", color: "c1", mean: arm.scores.value, title: `drawn ${number(arm.scores.value)}` }] : []),
          ...("bound" in arm.scores ? [{ shape: "diamond", color: "c1", mean: arm.scores.bound, title: `bound ${number(arm.scores.bound)}` }] : []),
        ],
      }));
      const left = found.num_arms > found.arms.length ? ` (${found.arms.length} of ${whole(found.num_arms)} arms)` : "";
      picture.show(`What the policy saw when it decided${left}`, (width) => rows(width, items, { xLabel: "mean reward" }), {
        legend: [
          key("c0", "expected, 95 % interval", "dot"),
          ...(found.draws ? [key("c8", `drawn, ${found.draws.length} times`, "stroke")] : []),
          ...(names.includes("value") ? [key("c1", "the draw that counted", "star")] : []),
          ...(names.includes("bound") ? [key("c1", "upper bound", "diamond")] : []),
          el("li", {}, "▸ the arm that was chosen"),
        ],
        reading: found.by === "rule" && HOW[found.how] ? `${KNOWN} ${HOW[found.how]}` : KNOWN,
        columns: [{ title: "arm", text: true }, { title: "expected" }, { title: "95 % interval" }, ...names.map((name) => ({ title: SCORES[name] ?? name }))],
        rows: found.arms.map((arm) => [arm.arm, number(arm.mean), `${number(arm.low)} to ${number(arm.high)}`, ...names.map((name) => (SHARES.has(name) ? percent : number)(arm.scores[name]))]),
      });
      picture.root.querySelector("details").open = true;
    },
  };
}
