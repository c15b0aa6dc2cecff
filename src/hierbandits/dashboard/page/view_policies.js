// All policies; where there are none, how to make one.

import { el, fill, linkTo, table } from "./dom.js";
import { whole } from "./format.js";

const COMMANDS = [
  ["Create a policy with its arms:", "hierbandits policy create banners --arm winter --arm gift --set rewards=bernoulli"],
  ["Ask for a decision, here for the task CH:", `curl -s URL/policies/banners/decisions -d '{"task": "CH", "id": "visit-1"}'`],
  ["Say what came of it, when you know:", `curl -s URL/policies/banners/decisions/visit-1/reward -d '{"value": 1}'`],
];

export function policiesView() {
  const root = el("div");
  return {
    root,
    paths: () => ["policies"],
    draw(policies) {
      if (!policies.length) return fill(root, empty());
      const rows = policies.map((one) => [
        linkTo(`#/policy/${encodeURIComponent(one.name)}`, one.name),
        el("span", { class: "tag" }, one.settings.mode === "shadow" ? "shadow" : "live"),
        one.settings.control_share ? `${+(100 * one.settings.control_share).toFixed(2)} %` : "none",
        whole(one.tasks), whole(one.events), whole(one.rewards), whole(one.pending),
      ]);
      const head = [
        { title: "policy", text: true }, { title: "mode", text: true }, { title: "control" },
        { title: "tasks" }, { title: "events", wide: true }, { title: "rewards" }, { title: "waiting for a reward" },
      ];
      const count = policies.length === 1 ? "One policy decides here" : `${whole(policies.length)} policies decide here`;
      fill(root, el("h1", {}, count), table(head, rows, "Policies"));
    },
  };
}

function empty() {
  const url = location.href.split("/dashboard")[0];
  const steps = COMMANDS.flatMap(([words, command]) => [
    el("li", {}, el("p", {}, words), el("pre", {}, command.replace("URL", url))),
  ]);
  return [
    el("h1", {}, "There is no policy yet"),
    el("p", {}, "Three commands make one, and this page shows it at once, without a reload:"),
    el("ol", {}, steps),
    el("p", {}, "Where the service needs tokens, add -H 'Authorization: Bearer TOKEN', and give the first command --token or HIERBANDITS_TOKEN."),
    el("p", {}, "Or look at a simulated shop first:"),
    el("pre", {}, "hierbandits serve --demo"),
  ];
}
