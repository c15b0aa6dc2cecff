"""The script of `IntervalLookup`: it draws bars and finds them by name, and fetches nothing."""

SCRIPT = """
const SHOWN = 60;
const box = [...document.querySelectorAll(".lookup")].find((one) => !one.querySelector("input"));
const data = JSON.parse(box.querySelector("script").textContent);
const make = (kind, text) => {
  const part = document.createElement(kind);
  if (text !== undefined) part.textContent = text;
  return part;
};
const draw = (kind, values) => {
  const part = document.createElementNS("http://www.w3.org/2000/svg", kind);
  for (const [name, value] of Object.entries(values)) part.setAttribute(name, value);
  return part;
};
const short = (value) => String(Number(value.toPrecision(3)));
const search = make("input");
search.type = "search";
search.placeholder = "part of a name";
const group = make("select");
data.groups.forEach((name, place) => {
  const option = make("option", name);
  option.value = place;
  group.append(option);
});
const list = make("ol");
const note = make("p");
note.setAttribute("role", "status");
for (const [word, control] of [[`Find a ${data.item}`, search], [data.group, group]]) {
  const label = make("label", word + ": ");
  label.append(control);
  box.append(label);
}
box.append(list, note);

function bar(mean, reach, homeMean, homeReach, low, high) {
  const at = (value) => 2 + (96 * (value - low)) / (high - low || 1) + "%";
  const svg = draw("svg", { "aria-hidden": "true" });
  const wide = (from, to) => Math.max(0.2, (96 * (to - from)) / (high - low || 1)) + "%";
  svg.append(
    draw("rect", { x: at(homeMean - homeReach), width: wide(homeMean - homeReach,
      homeMean + homeReach), y: 0, height: "100%", fill: "#888", opacity: 0.3 }),
    draw("line", { x1: at(homeMean), x2: at(homeMean), y1: 0, y2: "100%", stroke: "#888" }),
    draw("line", { x1: at(mean - reach), x2: at(mean + reach), y1: "50%", y2: "50%",
      stroke: "var(--accent)", "stroke-width": 2 }),
    draw("circle", { cx: at(mean), cy: "50%", r: 3.5, fill: "var(--accent)" }),
  );
  return svg;
}

function show() {
  const g = Number(group.value);
  const mean = data.mean[g], reach = data.reach[g];
  const home = data.homeMean[g], homeReach = data.homeReach[g];
  const ends = (sign) => [
    ...mean.map((m, i) => m + sign * reach[i]), ...home.map((m, i) => m + sign * homeReach[i]),
  ];
  const low = Math.min(...ends(-1)), high = Math.max(...ends(1));
  const wanted = search.value.toLowerCase();
  const met = data.items.map((_, i) => i)
    .filter((i) => data.items[i].toLowerCase().includes(wanted))
    .sort((i, j) => mean[j] - mean[i]);
  list.replaceChildren(...met.slice(0, SHOWN).map((i) => {
    const line = make("li"), h = data.home[i];
    const name = make("span");
    name.append(make("bdi", data.items[i]));
    if (data.homes.length > 1) name.append(" (", make("bdi", data.homes[h]), ")");
    const span = `${short(mean[i] - reach[i])} to ${short(mean[i] + reach[i])}`;
    line.append(name, bar(mean[i], reach[i], home[h], homeReach[h], low, high),
      make("span", `${short(mean[i])} (${span}), ${data.remarks[i]}`));
    return line;
  }));
  const more = met.length > SHOWN ? ` The ${SHOWN} highest are shown; type more of a name.` : "";
  note.textContent = `${met.length} of ${data.items.length} ${data.item}s, highest mean first, `
    + `on a scale from ${short(low)} to ${short(high)}. Grey: what ${data.item}s have in common.`
    + more;
}
search.addEventListener("input", show);
group.addEventListener("change", show);
show();
"""
