// A chart with its finding as the title, how to read it below, and its numbers as a table.

import { el, fill, nameOf, table } from "./dom.js";
import { unbroken } from "./format.js";

export function panel(caption) {
  const title = el("h2");
  const chart = el("div", { class: "chart" });
  const legend = el("div");
  const numbers = el("div");
  const more = el("details", {}, el("summary", {}, "The numbers"), numbers);
  const words = el("figcaption", {}, unbroken(caption));
  const figure = el("figure", {}, chart, legend, words);
  const root = el("section", { class: "panel" }, title, figure, more);
  let make = null;
  let width = 0;

  function redraw() {
    width = chart.clientWidth;
    if (make && width > 0) {
      const drawn = make(width);
      drawn.setAttribute?.("role", "img");
      drawn.setAttribute?.("aria-label", title.textContent);
      fill(chart, drawn);
    }
  }

  new ResizeObserver(() => {
    if (Math.abs(chart.clientWidth - width) > 1) redraw();
  }).observe(chart);

  return {
    root,
    // What is to be seen: the finding, a function of the width that draws, names, columns and rows.
    show(finding, draw, { legend: names = [], columns = [], rows = [], reading = caption } = {}) {
      words.textContent = unbroken(reading);
      title.textContent = unbroken(finding);
      make = draw;
      fill(legend, names.length ? el("ul", { class: "legend" }, names) : null);
      const named = rows.map((row) => row.map((cell, i) => (columns[i].text && typeof cell === "string" ? nameOf(cell) : cell)));
      fill(numbers, rows.length ? table(columns, named, finding) : null);
      more.hidden = rows.length === 0;
      figure.hidden = false;
      redraw();
      if (!draw) fill(chart);
    },
    // There is nothing to draw, and this is why.
    say(finding, words) {
      title.textContent = finding;
      make = () => el("p", { class: "soft" }, words);
      fill(legend);
      more.hidden = true;
      fill(chart, make());
    },
  };
}
