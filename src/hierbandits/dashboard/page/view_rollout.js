// How far a policy is rolled out, what watches it, and who changed it; and how to stop it.

import { Refused, ofPolicy, send } from "./api.js";
import { el, fill, nameOf, table } from "./dom.js";
import { ago, duration, moment, number, percent, whole } from "./format.js";

// While a candidate is ramped, it is the policy's newest version, and the one before has the other tasks.
const decides = (one) => one.previous === null ? `the policy decides for ${percent(one.share)} of tasks`
  : `the candidate decides for ${percent(one.share)} of tasks, version ${one.previous} for the others`;
const large = (text) => text[0].toUpperCase() + text.slice(1);
const FINDINGS = {
  none: () => "The policy decides for all tasks that are not held out; no ramp was started",
  ramping: (one) => one.previous === null ? `${large(decides(one))}, and for more soon` : large(decides(one)),
  held: (one) => `The ramp is held: ${decides(one)}`,
  done: (one) => `The ramp is done: ${decides(one)}`,
  "rolled back": (one) => one.share === 1 ? "The candidate is rolled back: the version before it decides for all tasks"
    : "The policy is rolled back: all tasks have the control arm",
};
// What may be done in each phase, beside rolling back: the action, and what its button says.
const ACTIONS = { ramping: [["hold", "Hold"]], held: [["resume", "Resume"]] };

function actions(rollout, control) {
  if (control === null && rollout.previous === null) return [];
  const question = rollout.previous === null ? "Give all tasks the control arm, from the next decision on?"
    : `Let version ${rollout.previous} decide for all tasks, from the next decision on?`;
  return [...(ACTIONS[rollout.phase] ?? []), ...(rollout.share > 0 ? [["rollback", "Roll back", question]] : [])];
}

export function rolloutView({ policy }, again) {
  const root = el("div");
  const refusal = el("p", { class: "error", role: "alert", hidden: true });

  const stepsField = el("input", { type: "text", name: "steps", value: "0.05:1h 0.5:1d 1", autocomplete: "off", "data-key": "steps" });
  const ruleField = el("input", { type: "text", name: "rule", placeholder: "HierTS", autocomplete: "off", "data-key": "rule" });

  async function act(path, body, question) {
    if (question && !window.confirm(question)) return;
    refusal.hidden = true;
    try {
      await send(ofPolicy(policy, path), body());
    } catch (error) {
      refusal.textContent = error.message;
      refusal.hidden = false;
    }
    again();
  }

  const button = (key, title, path, body, question) =>
    el("button", { type: "button", "data-key": key, onclick: () => act(path, body, question) }, title);
  const stepsOf = () => stepsIn(stepsField.value);
  const stepsLabel = () => el("label", {}, "Steps, as share:time", stepsField);

  return {
    root,
    paths: () => ["", "/rollout", "/promotion", "/audit?limit=50"].map((rest) => ofPolicy(policy, rest)),
    draw(shown, rollout, promotion, audit) {
      const control = shown.settings.control_arm;
      const tools = actions(rollout, control).map(([action, title, question]) =>
        button(action, title, "/rollout", () => ({ action, reason: "on the page" }), question));
      const isOpen = !(rollout.phase in ACTIONS);
      const mayStart = isOpen && (control !== null || rollout.previous !== null);
      const mayRamp = isOpen && rollout.previous === null && (control !== null || rollout.share === 1);
      const isRamp = promotion?.next === "ramp";
      if (mayStart && !isRamp) {
        tools.push(stepsLabel(), button("start", "Start a ramp", "/rollout", () => ({ action: "start", steps: stepsOf(), reason: "on the page" })));
      }
      const next = promotion && {
        evaluate: () => [el("label", {}, "Rule of a candidate", ruleField),
          button("evaluate", "Evaluate it", "/promotion", () => ({ step: "evaluate", candidate: { rule: ruleField.value.trim() || null } }))],
        shadow: () => [button("shadow", "Shadow it", "/promotion", () => ({ step: "shadow" }))],
        ramp: () => (mayRamp ? [stepsLabel(), button("ramp", "Ramp it", "/promotion", () => ({ step: "ramp", steps: stepsOf() }),
          "Let the candidate decide for the first tasks?")] : []),
      }[promotion.next]();
      if (promotion && promotion.step !== null) next.push(button("drop", "Drop it", "/promotion", () => ({ step: "drop" })));
      fill(root,
        el("h1", {}, FINDINGS[rollout.phase](rollout)),
        refusal,
        tools.length ? el("div", { class: "tools" }, tools) : null,
        steps(rollout, control),
        guardrails(rollout),
        ratio(rollout.sample_ratio),
        promotion && candidate(promotion, rollout.previous !== null, next),
        audit && changes(audit));
    },
  };
}

const SECONDS = { s: 1, m: 60, h: 3600, d: 86400 };

// "0.05:1h 0.5:1d 1" as the service has it.
function stepsIn(text) {
  return text.trim().split(/\s+/).map((part) => {
    const found = /^([0-9]*\.?[0-9]+)(?::([0-9]*\.?[0-9]+)([smhd]))?$/.exec(part);
    if (!found) throw new Refused(0, `Steps must be like 0.05:1h 0.5:1d 1, got ${part || "nothing"}`);
    return { share: Number(found[1]), seconds: found[2] === undefined ? null : Number(found[2]) * SECONDS[found[3]] };
  });
}

function steps(rollout, control) {
  const begin = control === null && rollout.previous === null
    ? el("p", { class: "soft" }, "A ramp of the policy needs the setting control_arm: what tasks have that it does not decide for. A ramp of a candidate does not.")
    : null;
  if (!rollout.steps.length) return begin;
  const rows = rollout.steps.map((one, i) => [
    String(i + 1), percent(one.share), one.seconds === null ? "stays" : duration(one.seconds),
    rollout.phase === "rolled back" ? "stopped" : i < rollout.step ? "done" : i > rollout.step ? "to come" : "now",
  ]);
  const next = rollout.next_step === null ? null : el("p", {}, `The next step begins at ${moment(rollout.next_step)}.`);
  return el("section", { class: "panel" }, el("h2", {}, "Steps of the ramp"), next,
    table([{ title: "step" }, { title: "share of tasks" }, { title: "for" }, { title: "state", text: true }], rows, "Steps"), begin);
}

function guardrails({ guardrails: found, phase, previous }) {
  const other = previous === null ? "control" : `version ${previous}`;
  if (!found.length) return null;
  const crossed = found.filter((one) => one.is_crossed);
  const title = crossed.length ? `Crossed: ${crossed.map((one) => one.name).join(", ")}`
    : phase === "rolled back" ? "Guardrails: none is crossed" : "All guardrails hold";
  const rows = found.map((one) => {
    const share = Math.min(one.evidence / one.needed, 1);
    const bar = el("meter", { min: 0, max: 1, value: Math.max(0, Math.log(Math.max(one.evidence, 1)) / Math.log(one.needed)),
      high: 0.5, optimum: 0, "aria-label": `evidence that ${one.name} is crossed` });
    const bound = one.at_most === null ? `at least ${number(one.at_least)}` : `at most ${number(one.at_most)}`;
    return [nameOf(one.name), share >= 1 ? "crossed" : "holds", el("span", {}, bar, ` ${number(Math.max(one.evidence, 0), 2)} to 1`),
      one.control_count ? `${number(one.mean)}, ${other} ${number(one.control_mean)}` : number(one.mean),
      one.against === "control" ? `${other} + ${bound}` : bound, whole(one.count)];
  });
  return el("section", { class: "panel" }, el("h2", {}, title),
    table([{ title: "metric", text: true }, { title: "state", text: true }, { title: "evidence", text: true },
      { title: "mean" }, { title: "bound" }, { title: "values" }], rows, "Guardrails"),
    el("p", { class: "soft" }, `At ${whole(found[0].needed)} to 1 the policy is rolled back; that happens by mistake to at most one sound policy in a hundred.`));
}

function ratio(found) {
  if (found === null) return null;
  const rows = found.arms.map((one) => [nameOf(one.arm), whole(one.seen), one.expected < 100 ? number(one.expected) : whole(one.expected), percent(one.seen / one.expected - 1)]);
  return el("section", { class: "panel" },
    el("h2", {}, found.is_off ? "Exposures of some arm are missing" : "Arms are seen as often as their propensities say"),
    table([{ title: "arm", text: true }, { title: "seen" }, { title: "expected" }, { title: "difference" }], rows, "Sample ratio"),
    el("p", { class: "soft" }, `${number(found.evidence, 2)} to 1 that some are missing; there is an alarm at ${whole(found.needed)} to 1.`));
}

function candidate(found, ramps, tools) {
  const reached = ["evaluate", "shadow", "ramp"].map((step) =>
    el("li", { "aria-current": step === found.next ? "step" : null }, step === found.next ? el("b", {}, `${step} is next`) : step));
  const words = found.step === null ? (ramps ? "No other candidate waits" : "There is no candidate") : `A candidate has reached: ${found.step}`;
  return el("section", { class: "panel" }, el("h2", {}, words), el("ol", { class: "legend" }, reached),
    found.verdict ? el("p", {}, found.verdict) : null,
    found.shadow ? el("p", {}, "In the shadow: ", el("a", { href: `#/policy/${encodeURIComponent(found.shadow)}`, "data-key": "shadow" }, found.shadow),
      `, which would have done the same in ${whole(found.agreed)} of ${whole(found.shown)} decisions.`) : null,
    found.step === "evaluate" ? el("p", { class: "soft" }, `Its evaluation is ${found.evaluation}.`) : null,
    el("div", { class: "tools" }, tools));
}

function changes(audit) {
  const rows = audit.changes.map((one) => {
    const rest = Object.entries(one).filter(([name]) => !["event", "time", "what", "by"].includes(name));
    const plain = (name, value) => name === "steps" ? value.map(([share, time]) => percent(share) + (time === null ? "" : ` for ${duration(time)}`)).join(", then ")
      : typeof value === "number" ? number(value) : typeof value === "string" ? value : JSON.stringify(value);
    const text = rest.map(([name, value]) => `${name} ${plain(name, value)}`).join(", ");
    return [el("span", { title: moment(one.time) }, ago(one.time)), one.what, nameOf(one.by ?? "not known"), el("span", { dir: "auto" }, text)];
  });
  return el("section", { class: "panel" },
    el("h2", {}, audit.total === 1 ? "One change so far" : `${whole(audit.total)} changes so far`),
    table([{ title: "when", text: true }, { title: "what", text: true }, { title: "by", text: true }, { title: "details", text: true }], rows, "Changes"));
}
