// Elements of the page.  Whatever comes from the service is put in as text, never as HTML.

export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.flat(Infinity).filter((one) => one !== null && one !== undefined));
  return node;
}

export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.flat(Infinity).filter((one) => one !== null && one !== undefined));
  return node;
}

// A name that somebody else chose: cut where it is too long, whole when pointed at.
export function nameOf(text, attributes = {}) {
  const shown = String(text);
  return el("span", { class: "name", dir: "auto", title: shown, ...attributes }, shown);
}

// A name in a narrow place: where it is too long the middle is left out, since ends tell names apart.
export function narrowName(text) {
  const shown = [...String(text)];
  const isOneWay = !/[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufefc]/.test(text); // parts would change places
  const ends = isOneWay && shown.length > 9 ? shown.slice(-5).join("") : "";
  const start = ends ? shown.slice(0, -5).join("") : shown.join("");
  return el("span", { class: "name narrow", dir: "auto", title: String(text) }, el("span", { class: "start" }, start), ends);
}

export function linkTo(href, text, key) {
  return el("a", { href, "data-key": key ?? href }, nameOf(text));
}

// Put new content in an element; who was at a link or button there, is at the same one again.
export function fill(box, ...children) {
  const key = box.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  box.replaceChildren(...children.flat(Infinity).filter((one) => one !== null && one !== undefined));
  if (key !== undefined) {
    const again = [...box.querySelectorAll("[data-key]")].find((one) => one.dataset.key === key);
    again?.focus({ preventScroll: true });
  }
}

// Rows of cells as a table; columns are {title, text, wide} and cells are texts or nodes.
export function table(columns, rows, caption) {
  const classOf = (column) => [column.text && "text", column.wide && "wide"].filter(Boolean).join(" ") || null;
  const head = columns.map((one) => el("th", { scope: "col", class: classOf(one) }, one.title));
  const body = rows.map((row) =>
    el("tr", {}, row.map((cell, i) => el("td", { class: classOf(columns[i]) }, cell ?? "–"))),
  );
  const whole = el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, body));
  if (caption) whole.setAttribute("aria-label", caption);
  return el("div", { class: "scroll" }, whole);
}
