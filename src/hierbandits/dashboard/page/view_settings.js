// What a policy is told to be, and was before.

import { ofPolicy } from "./api.js";
import { el, fill, table } from "./dom.js";
import { moment, whole } from "./format.js";

const TURNS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g; // they would turn round what stands behind them

export function settingsView({ policy }) {
  const root = el("div");
  return {
    root,
    paths: () => [ofPolicy(policy), ofPolicy(policy, "/versions")],
    draw(shown, versions) {
      const told = Object.entries(shown.settings).filter(([, value]) => value !== null && value !== "");
      const text = (value) => {
        const told = typeof value === "string" ? value : JSON.stringify(value, (_, one) => one ?? undefined);
        const words = told.replace(TURNS, (one) => `\\u${one.charCodeAt(0).toString(16)}`);
        return words.length > 400 ? `${words.slice(0, 400)}… (${whole(words.length)} characters)` : words;
      };
      const hasEvents = versions.some((one) => one.after_event !== undefined); // shared policies have no events
      fill(root,
        el("h1", {}, "Settings"),
        el("dl", {}, told.flatMap(([name, value]) => [el("dt", {}, name), el("dd", { dir: "auto" }, text(value))])),
        el("h2", {}, versions.length === 1 ? "There is one version" : `There are ${versions.length} versions; each has learned the whole log anew`),
        table([{ title: "version" }, { title: "since", text: true }, ...(hasEvents ? [{ title: "after event" }] : []), { title: "what changed", text: true }],
          versions.map((one, i) => [String(one.version), moment(one.created), ...(hasEvents ? [whole(one.after_event)] : []), i ? changes(versions[i - 1].settings, one.settings) : "created"]).reverse(), "Versions"));
    },
  };
}

function changes(before, after) {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name])).join(", ") || "nothing";
}
