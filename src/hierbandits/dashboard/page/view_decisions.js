// The latest decisions, with how probable each was and what came of it.

import { ofPolicy } from "./api.js";
import { el, fill, linkTo, nameOf, table } from "./dom.js";
import { moment, number, percent } from "./format.js";

export const GROUPS = { policy: "policy", previous: "version before", control: "control", sticky: "keeps its arm", shadow: "shadow" };

export function decisionsView({ policy }) {
  const list = el("div");
  const base = `#/policy/${encodeURIComponent(policy)}`;
  const root = el("div", {},
    el("h1", {}, "The latest decisions"),
    el("p", { class: "soft" }, "The propensity is how probable the arm was when it was chosen. The gap is what the choice was expected to cost, against the arm of highest expected reward. Choose a time to see why."),
    list);
  return {
    root,
    paths: () => [ofPolicy(policy, "/recent?limit=50")],
    draw({ decisions }) {
      const columns = [{ title: "time", text: true }, { title: "task", text: true }, { title: "arm", text: true }, { title: "propensity" }, { title: "why", text: true }, { title: "expected", wide: true }, { title: "gap", wide: true }, { title: "reward" }];
      fill(list, decisions.length ? table(columns, decisions.map((one) => [
        el("a", { href: `${base}/decision/${encodeURIComponent(one.id)}`, "data-key": one.id }, moment(one.time)),
        linkTo(`${base}/task/${encodeURIComponent(one.key)}`, one.label, `task ${one.id}`),
        nameOf(one.arm), percent(one.propensity), GROUPS[one.group] ?? one.group, number(one.expected), number(one.gap),
        one.reward === null ? "waits" : `${number(one.reward)}${one.provisional ? " (default)" : ""}`,
      ]), "The latest decisions") : el("p", {}, "No decision was made yet."));
    },
  };
}
