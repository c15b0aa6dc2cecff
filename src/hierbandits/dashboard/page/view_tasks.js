// Tasks in a table, a page at a time: the service looks for them, however many there are.

import { ofPolicy } from "./api.js";
import { el, fill, linkTo, table } from "./dom.js";
import { number, whole } from "./format.js";

const SIZE = 25;

export function tasksView({ policy }, again) {
  let [search, sort, offset] = ["", "oldest", 0];
  const list = el("div");
  const count = el("p", { class: "soft", role: "status" });
  const changed = () => { offset = 0; again(); };
  let timer = null;
  const field = el("input", { type: "search", id: "search", autocomplete: "off", maxlength: 1000, oninput: () => {
    clearTimeout(timer);
    timer = setTimeout(() => { search = field.value; changed(); }, 250);
  } });
  const order = el("select", { id: "sort", onchange: () => { sort = order.value; changed(); } },
    [["oldest", "met first"], ["newest", "met last"], ["decisions", "most decisions"]].map(([value, text]) => el("option", { value }, text)));
  const move = (step) => () => { offset = Math.max(offset + step * SIZE, 0); again(); };
  const back = el("button", { type: "button", "data-key": "back", onclick: move(-1) }, "Previous");
  const on = el("button", { type: "button", "data-key": "on", onclick: move(1) }, "Next");
  const root = el("div", {},
    el("h1", {}, "Tasks"),
    el("form", { class: "tools", role: "search", onsubmit: (event) => event.preventDefault() },
      el("label", {}, "Name contains", field), el("label", {}, "Order", order), back, on),
    count, list);
  return {
    root,
    paths: () => [ofPolicy(policy, `/tasks?${new URLSearchParams({ detail: "true", limit: SIZE, offset, sort, search })}`)],
    draw({ total, rows }) {
      const last = offset + rows.length;
      count.textContent = total ? `${whole(offset + 1)} to ${whole(last)} of ${whole(total)} tasks` : search ? "No task has such a name" : "No task was met yet";
      back.disabled = offset === 0;
      on.disabled = last >= total;
      const isArmed = rows.some((row) => row.arm !== undefined);
      const columns = [{ title: "task", text: true }, { title: "decisions" }, { title: "rewards" }];
      if (isArmed) columns.push({ title: "best arm so far", text: true }, { title: "its mean reward" }, { title: "95 % interval", wide: true });
      fill(list, total ? table(columns, rows.map((row) => [
        linkTo(`#/policy/${encodeURIComponent(policy)}/task/${encodeURIComponent(row.key)}`, row.label),
        whole(row.decisions), whole(row.rewards),
        ...(isArmed ? [el("span", { class: "name", dir: "auto", title: String(row.arm) }, String(row.arm)), number(row.mean), `${number(row.low)} to ${number(row.high)}`] : []),
      ]), "Tasks") : null);
    },
  };
}
