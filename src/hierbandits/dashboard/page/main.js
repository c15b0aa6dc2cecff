// The page as a whole: which view is shown, and how it stays up to date.

import { Refused, get, keepToken, takeTokenFromLink, token } from "./api.js";
import { el, fill } from "./dom.js";
import { ago, moment } from "./format.js";
import { policiesView } from "./view_policies.js";
import { overviewView } from "./view_overview.js";
import { populationView } from "./view_population.js";
import { tasksView } from "./view_tasks.js";
import { taskView } from "./view_task.js";
import { decisionsView } from "./view_decisions.js";
import { decisionView } from "./view_decision.js";
import { rolloutView } from "./view_rollout.js";
import { settingsView } from "./view_settings.js";

// Views of a policy, in the order of the navigation; one more view is one more line.
const TABS = [
  ["overview", "Overview", overviewView],
  ["population", "Population", populationView],
  ["tasks", "Tasks", tasksView],
  ["decisions", "Decisions", decisionsView],
  ["rollout", "Rollout", rolloutView],
  ["settings", "Settings", settingsView],
];
const PARTS = { task: taskView, decision: decisionView };
const EVERY = 2000; // milliseconds between two looks
const LONGEST = 30000; // and at most, while the service does not answer

const main = document.getElementById("main");
const nav = document.getElementById("nav");
const statusLine = document.getElementById("status");
const alarm = document.getElementById("alarm");
let shown = null; // the view, its controller, when it was last up to date

// "#/policy/NAME/VIEW/REST": every part may hold any character.
function route() {
  const parts = location.hash.replace(/^#\/?/, "").split("?")[0].split("/").map(decodeURIComponent);
  if (parts[0] !== "policy" || !parts[1]) return { view: policiesView, policy: null };
  const [, policy, name = "overview", rest = null] = parts;
  const tab = TABS.find(([key]) => key === name);
  return { view: PARTS[name] ?? tab?.[2] ?? overviewView, policy, rest, name };
}

function drawNavigation({ policy, name }) {
  if (policy === null) return fill(nav);
  const current = { task: "tasks", decision: "decisions" }[name] ?? name ?? "overview";
  fill(
    nav,
    el("span", { class: "policy", dir: "auto" }, policy),
    TABS.map(([key, title]) =>
      el("a", {
        href: `#/policy/${encodeURIComponent(policy)}/${key}`, "data-key": key,
        "aria-current": key === current ? "page" : null,
      }, title),
    ),
  );
}

function open() {
  shown?.controller.abort();
  clearTimeout(shown?.timer);
  const where = route();
  const controller = new AbortController();
  const box = el("div");
  shown = { controller, wait: EVERY, failed: null, at: null, timer: null };
  document.title = where.policy ? `${where.policy} · hierbandits` : "hierbandits";
  drawNavigation(where);
  main.replaceChildren(box);
  alarm.hidden = true;
  box.append(el("p", { class: "soft", id: "waiting" }, "Asking the service …"));
  shown.view = where.view(where, () => look(shown));
  shown.box = box;
  look(shown);
}

// Ask for all that the view needs, and draw it; whatever happens, look again later.
async function look(view) {
  clearTimeout(view.timer);
  if (view !== shown) return;
  try {
    const paths = view.view.paths();
    const asked = paths.map((path) => get(path, view.controller.signal));
    if (view.last === undefined && view.view.begin) asked[0].then((one) => begin(view, one), () => {});
    const answers = await Promise.all(asked);
    if (view !== shown) return;
    view.box.querySelector("#waiting")?.remove();
    if (view.view.root.parentNode !== view.box) view.box.replaceChildren(view.view.root);
    const isNew = view.last === undefined || answers.some((one, i) => one !== view.last[i]);
    if (isNew) view.view.draw(...answers);
    view.last = answers;
    Object.assign(view, { wait: EVERY, failed: null, at: Date.now() / 1000 });
  } catch (error) {
    if (error.name === "AbortError" || view !== shown) return;
    view.box.querySelector("#waiting")?.remove();
    view.failed = error;
    view.wait = Math.min(view.wait * 2, LONGEST);
    if (!(error instanceof Refused)) console.error(error);
    if (error.status === 401) return askForToken();
    if (error.status === 404) view.wait = LONGEST;
  }
  drawAlarm(view);
  tell();
  if (view.view.isStill && !view.failed) return;
  view.timer = setTimeout(() => (document.hidden ? waitUntilSeen(view) : look(view)), view.wait);
}

// Show what comes first, while the rest is on its way.
function begin(view, answer) {
  if (view !== shown || view.last !== undefined || view.view.root.parentNode === view.box) return;
  view.view.begin(answer);
  view.box.prepend(view.view.root);
}

function waitUntilSeen(view) {
  document.addEventListener("visibilitychange", () => look(view), { once: true });
}

function drawAlarm(view) {
  alarm.hidden = view.failed === null;
  if (view.failed === null) return;
  const old = view.at ? " What you see is older." : "";
  const again = el("button", { type: "button", "data-key": "retry", onclick: () => look(view) }, "Try again");
  fill(alarm, `${view.failed.message}${old}`, again);
}

function tell() {
  if (!shown) return;
  if (shown.failed) statusLine.textContent = `${shown.failed.status ? "Refused" : "No answer"}; the next try is in ${Math.round(shown.wait / 1000)} s`;
  else if (shown.view.isStill) statusLine.textContent = "";
  else if (shown.at) statusLine.textContent = `Updated ${ago(shown.at)}`;
}

function askForToken() {
  const field = el("input", { type: "password", name: "token", autocomplete: "off", required: true, id: "token" });
  const form = el("form", { class: "tools", onsubmit: (event) => {
    event.preventDefault();
    keepToken(field.value.trim());
    open();
  } }, el("label", {}, "Token", field), el("button", { type: "submit" }, "Show me"));
  alarm.hidden = true;
  fill(
    main,
    el("h1", {}, "This service needs a token"),
    el("p", {}, "It may be a token with the scope read: whoever runs the service makes one with"),
    el("pre", {}, "hierbandits token create visitor --data FOLDER --scope read --link ADDRESS"),
    token() ? el("p", { class: "error", role: "alert" }, "The token that you gave is not known, was revoked, or has expired.") : null,
    form,
    el("p", { class: "soft" }, "It stays in this tab, and goes with it."),
  );
  statusLine.textContent = "";
  shown = null;
  field.focus();
}

document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
window.addEventListener("hashchange", () => {
  takeTokenFromLink();
  open();
  main.focus({ preventScroll: true });
  window.scrollTo(0, 0);
});
setInterval(tell, 1000);
window.addEventListener("beforeprint", () => {
  if (shown?.at) statusLine.textContent = `As of ${moment(shown.at)}`; // "just now" says nothing on paper
});
takeTokenFromLink();
open();
